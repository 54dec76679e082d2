//! Section `sysconfig`: the machine as the trace describes it.

use std::collections::BTreeMap;

use etwkit_decode::kernel::config::{
    Cpu, LogicalDisk, Nic, PhysicalDisk, Platform, Processor, Service, opcode,
};
use etwkit_decode::kernel::merge::{self, NetworkInterface, config_ex};
use etwkit_decode::kernel::{Hook, group, image, sample};
use etwkit_etl::RawEvent;
use etwkit_etl::bytes::{Cursor, i64_at, pointer_at, tail};
use etwkit_etl::clock::{Clock, utc_text};
use serde_json::{Map, Value, json};

use crate::declared::Events;

/// Kernel events that describe the machine.
pub(crate) const LEARNS: &[Events] = &[
    Events::KernelBetween(group::CONFIG, 0, u8::MAX),
    Events::Kernel(group::IMAGE, &[image::opcode::KERNEL_BASE]),
    Events::Kernel(group::PERFINFO, &[sample::opcode::MARK]),
];

/// The data of the configuration events.
#[derive(Debug, Default)]
pub struct SystemConfig {
    /// Processors, memory, names.
    pub cpu: Option<Cpu>,
    /// Logical processors by index.
    pub processors: BTreeMap<u32, Processor>,
    /// Physical disks by number.
    pub physical_disks: BTreeMap<u32, PhysicalDisk>,
    /// Partitions and volumes by disk, start and letter.
    pub logical_disks: BTreeMap<(u32, u64, String), LogicalDisk>,
    /// Network cards by IPv4 index, IPv6 index, description and hardware address.
    pub nics: BTreeMap<(u32, u32, String, Vec<u8>), Nic>,
    /// Network interfaces by index.
    pub interfaces: BTreeMap<u32, NetworkInterface>,
    /// Services by name; the last event of a name wins.
    pub services: BTreeMap<String, Service>,
    /// Number of service events.
    pub service_events: u64,
    /// Number of device events.
    pub pnp_devices: u64,
    /// Manufacturer and BIOS.
    pub platform: Option<Platform>,
    /// Base address of the kernel.
    pub kernel_base: Option<u64>,
    /// Raw time and text of the marks that users set.
    pub marks: Vec<(i64, String)>,
    /// Build of Windows.
    pub build_lab: Option<String>,
    /// Product name of Windows.
    pub product_name: Option<String>,
    /// FILETIME at which Windows was installed.
    pub install_time: Option<i64>,
    /// System and Windows directory.
    pub directories: Option<(String, String)>,
    /// NT path and DOS path of volumes and other prefixes.
    pub volumes: BTreeMap<String, String>,
    /// Volumes without a drive letter, in the order of the trace.
    pub unknown_volumes: Vec<String>,
}

impl SystemConfig {
    /// Takes one event.
    #[inline]
    pub(crate) fn observe(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        match hook {
            Some(Hook {
                group: group::CONFIG,
                opcode,
                version,
            }) => {
                self.config(opcode, version, event.payload());
            }
            Some(Hook {
                group: group::IMAGE,
                opcode: image::opcode::KERNEL_BASE,
                ..
            }) => {
                self.kernel_base =
                    self.kernel_base
                        .or(pointer_at(event.payload(), 0, event.pointer_size()));
            }
            Some(Hook {
                group: group::PERFINFO,
                opcode: sample::opcode::MARK,
                ..
            }) => {
                let text =
                    String::from_utf8_lossy(Cursor::new(event.payload()).ansi()).into_owned();
                self.marks.push((event.timestamp, text));
            }
            None if event.kind.is_classic() && event.provider() == merge::SYSTEM_CONFIG_EX => {
                self.extension(event.opcode(), event.payload());
            }
            _ => {}
        }
    }

    fn config(&mut self, op: u8, version: u8, payload: &[u8]) {
        match op {
            opcode::CPU => self.cpu = self.cpu.take().or_else(|| Cpu::parse(payload)),
            opcode::PHYSICAL_DISK => {
                self.physical_disks
                    .extend(PhysicalDisk::parse(payload).map(|d| (d.number, d)));
            }
            opcode::LOGICAL_DISK => {
                let disk = LogicalDisk::parse(payload);
                self.logical_disks
                    .extend(disk.map(|d| ((d.disk, d.start, d.letter.clone()), d)));
            }
            opcode::NIC => {
                let nic = Nic::parse(payload, version);
                let key = |n: &Nic| {
                    (
                        n.ipv4_index,
                        n.ipv6_index,
                        n.description.clone(),
                        n.mac.clone(),
                    )
                };
                self.nics.extend(nic.map(|n| (key(&n), n)));
            }
            opcode::SERVICE => {
                self.service_events += 1;
                self.services
                    .extend(Service::parse(payload, version).map(|s| (s.name.clone(), s)));
            }
            opcode::PNP => self.pnp_devices += 1,
            opcode::PLATFORM => self.platform = Some(Platform::parse(payload)),
            opcode::PROCESSOR => self
                .processors
                .extend(Processor::parse(payload).map(|p| (p.index, p))),
            _ => {}
        }
    }

    fn extension(&mut self, op: u8, payload: &[u8]) {
        match op {
            config_ex::BUILD_INFO => {
                self.install_time = self.install_time.or(i64_at(payload, 0));
                let (lab, product) = merge::parse_two_texts(tail(payload, 8));
                self.build_lab.get_or_insert(lab);
                self.product_name.get_or_insert(product);
            }
            config_ex::SYSTEM_PATHS => {
                self.directories
                    .get_or_insert_with(|| merge::parse_two_texts(payload));
            }
            config_ex::UNKNOWN_VOLUME => {
                let volume = Cursor::new(payload).text();
                if !self.unknown_volumes.contains(&volume) {
                    self.unknown_volumes.push(volume);
                }
            }
            config_ex::NETWORK_INTERFACE => {
                self.interfaces.extend(
                    NetworkInterface::parse(payload).map(|interface| (interface.index, interface)),
                );
            }
            config_ex::VOLUME_MAPPING => {
                let (nt, dos) = merge::parse_two_texts(payload);
                self.volumes.insert(nt, dos);
            }
            _ => {}
        }
    }

    /// Returns the edition of Windows. The registry of Windows 11 still says Windows 10, so the build
    /// decides.
    pub(crate) fn edition(&self, build: u32) -> Option<String> {
        const FIRST_BUILD_OF_WINDOWS_11: u32 = 22_000;
        let name = self.product_name.as_deref()?;
        let rest = name
            .strip_prefix("Windows 10 ")
            .filter(|_| build >= FIRST_BUILD_OF_WINDOWS_11);
        Some(rest.map_or_else(|| name.to_owned(), |rest| format!("Windows 11 {rest}")))
    }

    pub(crate) fn section(&self, clock: &Clock) -> Value {
        let mut s = Map::new();
        let mut put = |key: &str, value: Value| s.insert(key.to_owned(), value);
        put("volumes", json!(self.volumes));
        put("unknown_volumes", json!(self.unknown_volumes));
        if let Some((system, windows)) = &self.directories {
            put("system_directory", json!(system));
            put("windows_directory", json!(windows));
        }
        if let Some(lab) = &self.build_lab {
            put("build_lab", json!(lab));
            put("product_name", json!(self.product_name));
            put("install_utc", json!(self.install_time.and_then(utc_text)));
        }
        if let Some(cpu) = &self.cpu {
            put("cpu", cpu_value(cpu));
        }
        put(
            "processors",
            table(
                self.processors.values(),
                |p| p.index.to_string(),
                processor_value,
            ),
        );
        put(
            "physical_disks",
            table(
                self.physical_disks.values(),
                |d| d.number.to_string(),
                physical_disk_value,
            ),
        );
        put(
            "logical_disks",
            self.logical_disks
                .values()
                .map(logical_disk_value)
                .collect(),
        );
        put("nics", self.nics.values().map(nic_value).collect());
        put("service_events", json!(self.service_events));
        put(
            "services",
            table(self.services.values(), |s| s.name.clone(), service_value),
        );
        put("pnp_devices", json!(self.pnp_devices));
        if let Some(p) = &self.platform {
            let date = &p.bios_date;
            let version = &p.bios_version;
            put(
                "platform",
                json!({ "manufacturer": p.manufacturer, "product": p.product, "bios_date": date, "bios_version": version }),
            );
        }
        put(
            "kernel_base",
            json!(self.kernel_base.map(|base| format!("{base:#x}"))),
        );
        let mark =
            |(time, text): &(i64, String)| json!({ "time_s": clock.seconds(*time), "text": text });
        put("marks", self.marks.iter().map(mark).collect());
        Value::Object(s)
    }
}

fn table<'a, T: 'a>(
    rows: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> String,
    value: impl Fn(&T) -> Value,
) -> Value {
    Value::Object(rows.map(|row| (key(row), value(row))).collect())
}

fn cpu_value(c: &Cpu) -> Value {
    json!({
        "mhz": c.mhz,
        "count": c.count,
        "memory_mb": c.memory_mb,
        "page_size": c.page_size,
        "allocation_granularity": c.allocation_granularity,
        "computer_name": c.computer_name,
        "domain_name": c.domain_name,
    })
}

fn processor_value(p: &Processor) -> Value {
    json!({ "mhz": p.mhz, "name": p.name, "identifier": p.identifier, "vendor": p.vendor })
}

fn physical_disk_value(d: &PhysicalDisk) -> Value {
    json!({
        "bytes_per_sector": d.bytes_per_sector,
        "sectors_per_track": d.sectors_per_track,
        "tracks_per_cylinder": d.tracks_per_cylinder,
        "cylinders": d.cylinders,
        "manufacturer": d.manufacturer,
        "partitions": d.partitions,
        "write_cache": d.write_cache,
        "boot_drive": d.boot_drive,
    })
}

fn logical_disk_value(d: &LogicalDisk) -> Value {
    json!({
        "disk": d.disk,
        "start": d.start,
        "size": d.size,
        "letter": d.letter,
        "drive_type": d.drive_type,
        "partition": d.partition,
        "sectors_per_cluster": d.sectors_per_cluster,
        "bytes_per_sector": d.bytes_per_sector,
        "free_clusters": d.free_clusters,
        "total_clusters": d.total_clusters,
        "file_system": d.file_system,
    })
}

fn nic_value(n: &Nic) -> Value {
    let mac: Vec<String> = n.mac.iter().map(|b| format!("{b:02x}")).collect();
    json!({
        "description": n.description,
        "ipv4_index": n.ipv4_index,
        "ipv6_index": n.ipv6_index,
        "mac": mac.join(":"),
        "addresses": n.addresses,
        "dns": n.dns,
    })
}

fn service_value(s: &Service) -> Value {
    json!({ "pid": s.pid, "state": s.state, "tag": s.tag, "display_name": s.display_name, "process": s.process })
}
