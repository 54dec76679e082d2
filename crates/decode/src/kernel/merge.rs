//! Events that the merge step of a recording adds: identities of images, volumes, system paths.

use etwkit_etl::Guid;
use etwkit_etl::bytes::{Cursor, guid_at, u32_at, u64_at, utf16_fixed_text};

/// Class of the image identities.
pub const IMAGE_ID: Guid = Guid::literal("b3e675d7-2554-4f18-830b-2762732560de");
/// Class of volumes, paths and versions of the system.
pub const SYSTEM_CONFIG_EX: Guid = Guid::literal("9b79ee91-b5fd-41c0-a243-4248e266e9d0");

/// Types of [`IMAGE_ID`].
pub mod image_id {
    /// PE header of an image.
    pub const INFO: u8 = 0;
    /// Identity of its PDB.
    pub const RSDS: u8 = 36;
    /// Identity of the PDB of the IL image that it was compiled from.
    pub const IL_RSDS: u8 = 37;
    /// Version resource.
    pub const FILE_VERSION: u8 = 64;
}

/// Types of [`SYSTEM_CONFIG_EX`].
pub mod config_ex {
    /// Install date, build and product name.
    pub const BUILD_INFO: u8 = 32;
    /// System and Windows directory.
    pub const SYSTEM_PATHS: u8 = 33;
    /// A volume without a drive letter.
    pub const UNKNOWN_VOLUME: u8 = 34;
    /// NT and DOS path of a volume.
    pub const VOLUME_MAPPING: u8 = 35;
    /// A network interface.
    pub const NETWORK_INTERFACE: u8 = 36;
}

/// `ImageID Info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageInfo {
    /// Base address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// Process.
    pub pid: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Name in the version resource.
    pub original_name: String,
}

impl ImageInfo {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            base: c.pointer(pointer_size)?,
            size: c.pointer(pointer_size)?,
            pid: c.u32()?,
            time_date_stamp: c.u32()?,
            original_name: c.text(),
        })
    }
}

/// Identity of a PDB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdb {
    /// Its GUID.
    pub guid: Guid,
    /// Its age.
    pub age: u32,
    /// Its name, often with the path of the build machine.
    pub name: String,
}

/// `DbgID_RSDS` or `DbgID_ILRSDS`: base address, process, identity.
#[must_use]
pub fn parse_rsds(payload: &[u8], pointer_size: usize) -> Option<(u64, u32, Pdb)> {
    let mut c = Cursor::new(payload);
    let base = c.pointer(pointer_size)?;
    let pid = c.u32()?;
    let guid = c.guid()?;
    let age = c.u32()?;
    Some((
        base,
        pid,
        Pdb {
            guid,
            age,
            name: String::from_utf8_lossy(c.ansi()).into_owned(),
        },
    ))
}

/// `FileVersion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// Size of the image in bytes.
    pub size: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Original file name.
    pub original_name: String,
    /// Description of the file.
    pub description: String,
    /// Numeric version.
    pub binary_version: String,
    /// Product.
    pub product_name: String,
    /// Company.
    pub company_name: String,
    /// Version of the product.
    pub product_version: String,
}

impl FileVersion {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let size = c.u32()?;
        let time_date_stamp = c.u32()?;
        let mut next = || c.text();
        let (original_name, description, _text_version, binary_version) =
            (next(), next(), next(), next());
        let (_language, product_name, company_name, product_version) =
            (next(), next(), next(), next());
        Some(Self {
            size,
            time_date_stamp,
            original_name,
            description,
            binary_version,
            product_name,
            company_name,
            product_version,
        })
    }
}

/// `NetworkInterface`: a documented structure of Windows (`MIB_IF_ROW2`) in its memory layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkInterface {
    /// Index of the interface.
    pub index: u32,
    /// Its GUID.
    pub guid: Guid,
    /// Name of the connection.
    pub alias: String,
    /// Description.
    pub description: String,
    /// Hardware address.
    pub mac: Vec<u8>,
    /// Largest packet.
    pub mtu: u32,
    /// Kind by its IANA number.
    pub kind: u32,
    /// True if it is operational.
    pub is_up: bool,
    /// Speeds in bits per second, sending and receiving; all bits set if unknown.
    pub speeds: (u64, u64),
}

impl NetworkInterface {
    /// Bytes of the structure.
    const LEN: usize = 1352;

    /// Reads a payload; `None` for another structure.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let p = (payload.len() == Self::LEN).then_some(payload)?;
        let mac_len = (u32_at(p, 1056)? as usize).min(32);
        Some(Self {
            index: u32_at(p, 8)?,
            guid: guid_at(p, 12)?,
            alias: utf16_fixed_text(p.get(28..542)?),
            description: utf16_fixed_text(p.get(542..1056)?),
            mac: p.get(1060..1060 + mac_len)?.to_vec(),
            mtu: u32_at(p, 1124)?,
            kind: u32_at(p, 1128)?,
            is_up: u32_at(p, 1156)? == 1,
            speeds: (u64_at(p, 1192)?, u64_at(p, 1200)?),
        })
    }
}

/// Two consecutive texts (`SystemPaths`, `VolumeMapping`).
#[must_use]
pub fn parse_two_texts(payload: &[u8]) -> (String, String) {
    let mut c = Cursor::new(payload);
    (c.text(), c.text())
}
