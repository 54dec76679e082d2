//! The recording, the machine, and notes for readers of the numbers.

use etwkit_decode::eventinfo;
use etwkit_decode::kernel::config::{Platform, Service as Listed, opcode};
use etwkit_decode::kernel::merge::SYSTEM_CONFIG_EX;
use etwkit_decode::kernel::{event_trace, group};
use etwkit_etl::Session;
use etwkit_etl::clock::{Clock, utc_text};
use etwkit_etl::session::TraceFile;
use serde_json::Value;

use crate::declared::{Events, sums};
use crate::directory::Directory;
use crate::import::pipeline::{Context, Declaration, Importer, Learned, key};
use crate::processors::Processors;
use crate::sink::{Sink, SinkError};
use crate::system_config::SystemConfig;
use crate::table::{Disk, Row, Service, SystemConfigItem, Trace, Volume};

pub(crate) const DECLARATION: Declaration = Declaration {
    // All of these were read by the first pass.
    takes: &[
        Events::Kernel(
            group::CONFIG,
            &[
                opcode::CPU,
                opcode::LOGICAL_DISK,
                opcode::NIC,
                opcode::NUMA,
                opcode::PHYSICAL_DISK,
                opcode::PLATFORM,
                opcode::PROCESSOR,
                opcode::PROCESSOR_NUMBER,
                opcode::SERVICE,
            ],
        ),
        Events::Kernel(group::EVENT_TRACE, &[event_trace::opcode::HEADER]),
        // Events of the merge step describe paths and layouts.
        Events::Class(SYSTEM_CONFIG_EX),
        Events::Class(eventinfo::CLASS),
    ],
    tables: &[
        sums(SystemConfigItem::TABLE),
        sums(Disk::TABLE),
        sums(Volume::TABLE),
        sums(Service::TABLE),
    ],
    make: |_| Box::new(Machine),
    ..Declaration::EMPTY
};

/// Prefix of a date that was not set.
const NO_DATE: &str = "1970-01-01T00:00:00";

/// Writes the data of the first pass about the machine.
struct Machine;

impl Importer for Machine {
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let config = &learned.collected.config;
        let directory = &learned.collected.directory;
        // Written in the end: the merge step appends the description of the machine after all
        // events.
        context
            .tables
            .push_all(items(config, learned.session.clock()), sink)?;
        context.tables.push_all(disks(config), sink)?;
        context.tables.push_all(volumes(config), sink)?;
        context.tables.push_all(services(config, directory), sink)
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.trim())
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// Every fact of the section `sysconfig` that has no table of its own.
fn items(config: &SystemConfig, clock: &Clock) -> Vec<SystemConfigItem> {
    let mut rows = Vec::new();
    let Value::Object(section) = config.section(clock) else {
        return rows;
    };
    for (topic, value) in section {
        match value {
            // These topics have a table of their own, and a fact is stored once.
            _ if [
                "physical_disks",
                "logical_disks",
                "volumes",
                "services",
                "marks",
            ]
            .contains(&&*topic) => {}
            // The registry of some machines does not say when Windows was installed.
            Value::String(date) if topic == "install_utc" && date.starts_with(NO_DATE) => {}
            // A topic with several named parts, such as network cards: the name is a fact of its
            // item like all others.
            Value::Object(parts) if parts.values().all(Value::is_object) => {
                for (item, (name, part)) in parts.iter().enumerate() {
                    push(&mut rows, &topic, item, "name", &Value::from(name.as_str()));
                    facts(&mut rows, &topic, item, part);
                }
            }
            Value::Array(parts) => {
                for (item, part) in parts.iter().enumerate() {
                    facts(&mut rows, &topic, item, part);
                }
            }
            Value::Object(_) => facts(&mut rows, &topic, 0, &value),
            value => push(&mut rows, "machine", 0, &topic, &value),
        }
    }
    rows
}

fn facts(rows: &mut Vec<SystemConfigItem>, topic: &str, item: usize, part: &Value) {
    match part {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| push(rows, topic, item, name, value)),
        value => push(rows, topic, item, "value", value),
    }
}

fn push(rows: &mut Vec<SystemConfigItem>, topic: &str, item: usize, name: &str, value: &Value) {
    let value = match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts = list
                .iter()
                .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            Some(texts.collect::<Vec<_>>().join(";"))
        }
        // A semicolon, as in other columns with several texts.
        other => Some(other.to_string()),
    };
    rows.push(SystemConfigItem {
        topic: topic.to_owned(),
        item: item as i32,
        name: name.to_owned(),
        value,
    });
}

fn disks(config: &SystemConfig) -> impl Iterator<Item = Disk> + '_ {
    config.physical_disks.values().map(|d| {
        let sectors = [
            d.tracks_per_cylinder,
            d.sectors_per_track,
            d.bytes_per_sector,
        ];
        // Multiplied with checks: a malicious geometry would overflow 64 bits, and then there is no
        // size.
        let size = sectors
            .into_iter()
            .try_fold(d.cylinders, |size, n| size.checked_mul(n.into()));
        Disk {
            disk: d.number as i32,
            model: text(&d.manufacturer),
            size_bytes: size.and_then(|size| i64::try_from(size).ok()),
            sector_size_bytes: Some(d.bytes_per_sector.into()),
            boot_drive_letter: text(&d.boot_drive),
            is_write_cache_enabled: Some(d.write_cache),
        }
    })
}

fn volumes(config: &SystemConfig) -> Vec<Volume> {
    let drive = |dos: &str| text(dos.trim_end_matches('\\'));
    let mut rows: Vec<Volume> = Vec::new();
    for (nt, dos) in &config.volumes {
        // The kernel writes device paths with and without the last backslash.
        let nt_path = text(nt.trim_end_matches('\\'));
        rows.push(Volume {
            drive: drive(dos),
            nt_path,
            ..Volume::default()
        });
    }
    // The merge step has the kernel paths, the kernel logger has sizes and file systems. Both have
    // the drive.
    for d in config.logical_disks.values() {
        let letter = drive(&d.letter);
        // A volume without a letter never matches another one: two of them would be taken for the
        // same.
        let same = |row: &&mut Volume| letter.is_some() && row.drive == letter;
        let cluster = i64::from(d.sectors_per_cluster).checked_mul(i64::from(d.bytes_per_sector));
        let known = rows
            .iter()
            .position(|row| letter.is_some() && row.drive == letter);
        if known.is_none() {
            rows.push(Volume {
                drive: letter.clone(),
                ..Volume::default()
            });
        }
        let row = if known.is_some() {
            rows.iter_mut().find(same)
        } else {
            rows.last_mut()
        };
        if let Some(row) = row {
            row.disk = Some(d.disk as i32);
            row.file_system = text(&d.file_system);
            row.size_bytes = i64::try_from(d.size).ok();
            row.free_bytes = cluster
                .and_then(|c| d.free_clusters.checked_mul(c))
                // A file system that reports no clusters does not report its free space either.
                .filter(|_| d.total_clusters > 0);
        }
    }
    rows
}

fn services<'c>(
    config: &'c SystemConfig,
    directory: &'c Directory,
) -> impl Iterator<Item = Service> + 'c {
    running(config).map(|s| Service {
        name: s.name.clone(),
        display_name: text(&s.display_name),
        process_name: text(&s.process),
        pid: s.pid as i32,
        // Services are listed when the recording ends, so their process is the last one with that
        // ID.
        process_key: key(directory.process_at(s.pid, i64::MAX)),
    })
}

/// Returns the services that run. The recorder also lists those that do not, with process 0.
fn running(config: &SystemConfig) -> impl Iterator<Item = &Listed> {
    config.services.values().filter(|s| s.pid != 0)
}

/// Revision of a build: the second number of `22621.4890.amd64fre.ni_release.220506-1250`.
fn revision(build_lab: &str) -> Option<i32> {
    build_lab.split('.').nth(1)?.parse().ok()
}

/// Manufacturers of machines that are always virtual: prefixes of the name, in lower case.
const VIRTUAL_MANUFACTURERS: [&str; 8] = [
    "amazon ec2",
    "bochs",
    "innotek",
    "nutanix",
    "openstack",
    "parallels",
    "qemu",
    "vmware",
];

/// Products that are virtual machines, from any manufacturer: parts of the name, in lower case.
const VIRTUAL_PRODUCTS: [&str; 8] = [
    "virtual machine",
    "virtualbox",
    "virtual platform",
    "hvm domu",
    "kvm",
    "standard pc (",
    "bhyve",
    "google compute engine",
];

/// True if the firmware describes a virtual machine.
fn is_virtual(platform: &Platform) -> bool {
    // Firmware writes names in any case, and some pad them with blanks.
    let manufacturer = platform.manufacturer.to_lowercase();
    let product = platform.product.to_lowercase();
    VIRTUAL_MANUFACTURERS
        .iter()
        .any(|name| manufacturer.trim().starts_with(name))
        || VIRTUAL_PRODUCTS.iter().any(|name| product.contains(name))
}

/// The row of the recording, as far as the headers describe it.
pub(crate) fn trace(
    session: &Session,
    config: &SystemConfig,
    processors: Processors,
    end: i64,
) -> Trace {
    // A session without files has no header; the row then has its empty values.
    let Some(first) = session.earliest() else {
        return Trace::default();
    };
    let h = first.header();
    let clock = session.clock();
    let sum = |of: fn(&TraceFile) -> u64| {
        session
            .files()
            .iter()
            .map(of)
            // Sizes of many large files are summed; the column is signed.
            .fold(0, u64::saturating_add)
            .min(i64::MAX as u64) as i64
    };
    let [major, minor, ..] = h.version;
    let cpu = config.cpu.as_ref();
    Trace {
        files: session.files().len() as i32,
        size_bytes: sum(TraceFile::size),
        session_name: text(&h.session_name),
        computer: cpu.and_then(|c| text(&c.computer_name)),
        os_version: Some(format!("{major}.{minor}.{}", h.build)),
        os_name: config.edition(h.build).as_deref().and_then(text),
        os_revision: config.build_lab.as_deref().and_then(revision),
        is_virtual_machine: config.platform.as_ref().map(is_virtual),
        // Empty if the start was not recorded: the column has no null.
        start_utc: utc_text(clock.start).unwrap_or_default(),
        start_filetime: clock.start,
        time_zone_bias_minutes: Some(h.time_zone.bias_at(clock.start)),
        boot_filetime: Some(h.boot_time).filter(|boot| *boot > 0),
        duration_ns: clock.nanoseconds(end),
        clock: clock.kind.name().to_owned(),
        clock_frequency: clock.frequency,
        processors: processors.count().cast_signed(),
        cpu_mhz: Some(h.cpu_mhz as i32).filter(|mhz| *mhz > 0),
        pointer_size: session.pointer_size() as i32,
        memory_bytes: cpu.map(|c| i64::from(c.memory_mb) << 20),
        lost_events: sum(|f| f.header().events_lost.into()),
        lost_buffers: sum(|f| f.header().buffers_lost.into()),
        missing_buffers: i64::try_from(session.missing_buffers()).ok(),
        ..Trace::default()
    }
}

#[cfg(test)]
mod tests {
    use etwkit_etl::wire::trace_header::TraceHeader;

    use super::*;

    /// A registry without the date of installation gives zero, which is not a date.
    #[test]
    fn an_unknown_day_of_installation_is_no_fact() {
        let days = |install_time| {
            let build_lab = Some("22621.1".to_owned());
            let config = SystemConfig {
                build_lab,
                install_time: Some(install_time),
                ..SystemConfig::default()
            };
            let facts = items(&config, &Clock::new(&TraceHeader::default(), 0)).into_iter();
            facts
                .filter(|fact| fact.name == "install_utc")
                .filter_map(|fact| fact.value)
                .collect::<Vec<_>>()
        };
        const UNIX_EPOCH: i64 = 116_444_736_000_000_000;
        assert_eq!(days(UNIX_EPOCH), Vec::<String>::new());
        assert_eq!(
            days(UNIX_EPOCH + 864_000_000_000),
            ["1970-01-02T00:00:00.0000000Z"]
        );
    }

    #[test]
    fn a_service_that_does_not_run_is_left_out() {
        let listed = |name: &str, pid| {
            let service = Listed {
                pid,
                state: None,
                tag: None,
                name: name.to_owned(),
                display_name: String::new(),
                process: String::new(),
            };
            (name.to_owned(), service)
        };
        let config = SystemConfig {
            services: [("Dnscache", 800), ("Fax", 0), ("Spooler", 900)]
                .map(|(name, pid)| listed(name, pid))
                .into(),
            ..SystemConfig::default()
        };
        let names: Vec<_> = running(&config).map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["Dnscache", "Spooler"]);
    }

    #[test]
    fn windows_11_is_called_so_though_its_registry_says_windows_10() {
        let edition = |name: &str, build| {
            let config = SystemConfig {
                product_name: Some(name.to_owned()),
                ..SystemConfig::default()
            };
            config.edition(build)
        };
        for (name, build, expected) in [
            ("Windows 10 Pro", 26_100, "Windows 11 Pro"),
            ("Windows 10 Enterprise", 22_000, "Windows 11 Enterprise"),
            ("Windows 10 Pro", 19_045, "Windows 10 Pro"),
            ("Windows 11 Pro", 26_100, "Windows 11 Pro"),
            (
                "Windows Server 2025 Standard",
                26_100,
                "Windows Server 2025 Standard",
            ),
        ] {
            assert_eq!(edition(name, build).as_deref(), Some(expected), "{build}");
        }
        assert_eq!(SystemConfig::default().edition(26_100), None);
    }

    /// The examples of `docs/numbers/machine.md`.
    #[test]
    fn firmware_shows_whether_a_machine_is_virtual() {
        for (manufacturer, product, expected) in [
            ("Microsoft Corporation", "Virtual Machine", true),
            ("Microsoft Corporation", "Surface Pro 7", false),
            ("VMware, Inc.", "VMware7,1", true),
            ("innotek GmbH", "VirtualBox", true),
            ("QEMU", "Standard PC (Q35 + ICH9, 2009)", true),
            ("Amazon EC2", "t3.xlarge", true),
            ("Xen", "HVM domU", true),
            ("Dell Inc.", "PowerEdge R440", false),
            ("ASUS", "System Product Name", false),
        ] {
            let platform = Platform {
                manufacturer: manufacturer.to_owned(),
                product: product.to_owned(),
                bios_date: String::new(),
                bios_version: String::new(),
            };
            assert_eq!(is_virtual(&platform), expected, "{manufacturer} {product}");
        }
    }

    #[test]
    fn the_revision_is_the_second_number_of_a_build() {
        assert_eq!(
            revision("26100.4652.amd64fre.ge_release.240331-1435"),
            Some(4652)
        );
        assert_eq!((revision("22621"), revision("")), (None, None));
    }
}
