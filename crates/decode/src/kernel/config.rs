//! System configuration (group 11): the machine, its disks, network cards and services.
//!
//! Texts of fixed width end at their first NUL.

use etwkit_etl::bytes::{Cursor, pointer_at};

/// Types of these events.
pub mod opcode {
    types! {
        CONFIG {
            /// Processors, memory, names.
            CPU = 10, "CPU";
            /// A physical disk.
            PHYSICAL_DISK = 11, "PhyDisk";
            /// A partition or volume.
            LOGICAL_DISK = 12, "LogDisk";
            /// A network card.
            NIC = 13, "NIC";
            /// A service.
            SERVICE = 15, "Services";
            /// A device.
            PNP = 22, "PnP";
            /// Processors of each NUMA node.
            NUMA = 24, "NumaNode";
            /// Manufacturer and BIOS.
            PLATFORM = 25, "Platform";
            /// Processors of each group.
            PROCESSOR_GROUP = 26, "ProcessorGroup";
            /// Group and number of each processor.
            PROCESSOR_NUMBER = 27, "ProcessorNumber";
            /// A logical processor.
            PROCESSOR = 35, "Processors";
        }
    }
}

/// `SystemConfig_CPU`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// Clock speed in MHz.
    pub mhz: u32,
    /// Number of logical processors.
    pub count: u32,
    /// Memory in MB.
    pub memory_mb: u32,
    /// Page size in bytes.
    pub page_size: u32,
    /// Granularity of virtual addresses.
    pub allocation_granularity: u32,
    /// Name of the computer.
    pub computer_name: String,
    /// Domain of the computer.
    pub domain_name: String,
}

impl Cpu {
    /// Reads a payload of any version.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            mhz: c.u32()?,
            count: c.u32()?,
            memory_mb: c.u32()?,
            page_size: c.u32()?,
            allocation_granularity: c.u32()?,
            computer_name: c.fixed_text(512)?,
            domain_name: c.fixed_text(264)?,
        })
    }
}

/// Bit mask of the logical processors that share their core with another one, from
/// `SystemConfig_CPU`.
#[must_use]
pub fn hyper_threads(payload: &[u8], version: u8, pointer_size: usize) -> Option<u64> {
    // From version 2 on the name of the domain has two characters more.
    pointer_at(payload, if version >= 2 { 800 } else { 796 }, pointer_size)
}

/// Processors of a NUMA node in one group (`GROUP_AFFINITY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumaNode {
    /// Bit mask of their numbers.
    pub mask: u64,
    /// The group.
    pub group: u16,
}

/// The NUMA nodes in their order.
#[must_use]
pub fn numa_nodes(payload: &[u8]) -> Vec<NumaNode> {
    let mut c = Cursor::new(payload);
    let Some(count) = c.u32() else {
        return Vec::new();
    };
    // The claimed count only ends the list: it takes no memory, however large it is.
    let mut node = || {
        let node = NumaNode {
            mask: c.u64()?,
            group: c.u16()?,
        };
        c.take(6)?;
        Some(node)
    };
    std::iter::from_fn(&mut node).take(count as usize).collect()
}

/// Group and number in it of each processor, by index.
#[must_use]
pub fn processor_numbers(payload: &[u8]) -> Vec<(u16, u8)> {
    let mut c = Cursor::new(payload);
    let Some(count) = c.u32() else {
        return Vec::new();
    };
    let mut number = || {
        let number = (c.u16()?, c.u8()?);
        c.u8()?;
        Some(number)
    };
    std::iter::from_fn(&mut number)
        .take(count as usize)
        .collect()
}

/// `SystemConfig_PhyDisk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalDisk {
    /// Disk number.
    pub number: u32,
    /// Bytes per sector.
    pub bytes_per_sector: u32,
    /// Sectors per track.
    pub sectors_per_track: u32,
    /// Tracks per cylinder.
    pub tracks_per_cylinder: u32,
    /// Number of cylinders.
    pub cylinders: u64,
    /// Manufacturer and model.
    pub manufacturer: String,
    /// Number of partitions.
    pub partitions: u32,
    /// True if writes are cached.
    pub write_cache: bool,
    /// Letter of the boot drive.
    pub boot_drive: String,
}

impl PhysicalDisk {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let number = c.u32()?;
        let bytes_per_sector = c.u32()?;
        let sectors_per_track = c.u32()?;
        let tracks_per_cylinder = c.u32()?;
        let cylinders = c.u64()?;
        c.take(16)?; // SCSI address
        let manufacturer = c.fixed_text(512)?.trim().to_owned();
        let partitions = c.u32()?;
        let write_cache = c.u8()? != 0;
        let _pad = c.u8()?;
        let boot_drive = c.fixed_text(6)?;
        Some(Self {
            number,
            bytes_per_sector,
            sectors_per_track,
            tracks_per_cylinder,
            cylinders,
            manufacturer,
            partitions,
            write_cache,
            boot_drive,
        })
    }
}

/// `SystemConfig_LogDisk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicalDisk {
    /// First byte on the disk.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
    /// Disk number.
    pub disk: u32,
    /// 1 partition, 2 volume, 3 or 4 extent.
    pub drive_type: u32,
    /// Drive letter with colon.
    pub letter: String,
    /// Partition number.
    pub partition: u32,
    /// Sectors per cluster.
    pub sectors_per_cluster: u32,
    /// Bytes per sector.
    pub bytes_per_sector: u32,
    /// Number of free clusters.
    pub free_clusters: i64,
    /// Total number of clusters.
    pub total_clusters: i64,
    /// File system.
    pub file_system: String,
}

impl LogicalDisk {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let start = c.u64()?;
        let size = c.u64()?;
        let disk = c.u32()?;
        let _size = c.u32()?;
        let drive_type = c.u32()?;
        let letter = c.fixed_text(8)?;
        let (_pad, partition, sectors_per_cluster, bytes_per_sector) =
            (c.u32()?, c.u32()?, c.u32()?, c.u32()?);
        let _pad = c.u32()?;
        let free_clusters = c.i64()?;
        let total_clusters = c.i64()?;
        let file_system = c.fixed_text(32)?;
        Some(Self {
            start,
            size,
            disk,
            drive_type,
            letter,
            partition,
            sectors_per_cluster,
            bytes_per_sector,
            free_clusters,
            total_clusters,
            file_system,
        })
    }
}

/// `SystemConfig_NIC` from version 2 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// Hardware address.
    pub mac: Vec<u8>,
    /// Interface index for IPv4.
    pub ipv4_index: u32,
    /// Interface index for IPv6.
    pub ipv6_index: u32,
    /// Description.
    pub description: String,
    /// Its addresses.
    pub addresses: Vec<String>,
    /// Addresses of its DNS servers.
    pub dns: Vec<String>,
}

impl Nic {
    /// Reads a payload; `None` for versions 0 and 1, which have another layout.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let address = c.array::<8>().filter(|_| version >= 2)?;
        let len = c.u32()? as usize;
        Some(Self {
            mac: address.iter().copied().take(len).collect(),
            ipv4_index: c.u32()?,
            ipv6_index: c.u32()?,
            description: c.text(),
            addresses: list(&c.text()),
            dns: list(&c.text()),
        })
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(';')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// `SystemConfig_Services`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Process that hosts it, 0 if it does not run.
    pub pid: u32,
    /// Service state (1 stopped, 4 running); `None` in versions 0 and 1.
    pub state: Option<u32>,
    /// Tag that its threads carry.
    pub tag: Option<u32>,
    /// Name.
    pub name: String,
    /// Display name.
    pub display_name: String,
    /// File name of the process.
    pub process: String,
}

impl Service {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        if version < 2 {
            let name = c.fixed_text(68)?;
            let display_name = c.fixed_text(512)?;
            let process = c.fixed_text(68)?;
            return Some(Self {
                pid: c.u32()?,
                state: None,
                tag: None,
                name,
                display_name,
                process,
            });
        }
        Some(Self {
            pid: c.u32()?,
            state: Some(c.u32()?),
            tag: Some(c.u32()?),
            name: c.text(),
            display_name: c.text(),
            process: c.text(),
        })
    }
}

/// `SystemConfig_Platform`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// Manufacturer of the machine.
    pub manufacturer: String,
    /// Its product name.
    pub product: String,
    /// Date of the BIOS.
    pub bios_date: String,
    /// Version of the BIOS.
    pub bios_version: String,
}

impl Platform {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Self {
        let mut c = Cursor::new(payload);
        let mut next = || c.text();
        Self {
            manufacturer: next(),
            product: next(),
            bios_date: next(),
            bios_version: next(),
        }
    }
}

/// `SystemConfig_Processors`: one logical processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// Processor index.
    pub index: u32,
    /// Clock speed in MHz.
    pub mhz: u32,
    /// Name.
    pub name: String,
    /// Vendor.
    pub vendor: String,
    /// Family, model and stepping.
    pub identifier: String,
}

impl Processor {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let index = c.u32()?;
        let _features = c.u32()?;
        let mhz = c.u32()?;
        Some(Self {
            index,
            mhz,
            name: c.fixed_text(128)?.trim().to_owned(),
            // Traces of Windows 10 and 11 have the identifier before the vendor.
            identifier: c.fixed_text(256)?,
            vendor: c.fixed_text(32)?,
        })
    }
}
