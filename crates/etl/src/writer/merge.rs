//! Records that a merge step adds: identities of images, names of volumes and paths, event
//! metadata.
//!
//! All are classic events. Events of images carry the time of the image event that they describe.

use std::io::{Seek, Write};

use super::TraceWriter;
use super::error::Result;
use super::record::{ClassicEvent, Width};
use crate::guid::Guid;

/// Class of the identities of images.
const IMAGE_ID: Guid = Guid::literal("b3e675d7-2554-4f18-830b-2762732560de");
/// Class of the events that describe the system.
const SYSTEM_CONFIG: Guid = Guid::literal("9b79ee91-b5fd-41c0-a243-4248e266e9d0");
/// Class of event metadata.
const EVENT_INFO: Guid = Guid::literal("bbccf6c1-6cd1-48c4-80ff-839482e37671");

/// A record of the merge step (`KernelTraceControl`).
#[derive(Debug, Clone, Copy)]
pub enum MergeRecord<'a> {
    /// Facts from the header of an image.
    ImageInfo {
        /// Address of the image.
        image_base: u64,
        /// Bytes in memory.
        image_size: u64,
        /// Process that loaded it.
        process_id: u32,
        /// Link time of the image.
        time_date_stamp: u32,
        /// Its original file name.
        original_file_name: &'a str,
    },
    /// Identity of the PDB of an image.
    DbgIdRsds {
        /// Address of the image.
        image_base: u64,
        /// Process that loaded it.
        process_id: u32,
        /// GUID of the PDB.
        guid: Guid,
        /// Age of the PDB.
        age: u32,
        /// Path of the PDB.
        pdb_name: &'a str,
    },
    /// Version resource of an image.
    FileVersion {
        /// Bytes in memory.
        image_size: u32,
        /// Link time of the image.
        time_date_stamp: u32,
        /// Original file name, description, version as text, version as four numbers, language,
        /// product name, company name, product version, file ID, program ID.
        strings: [&'a str; 10],
    },
    /// Build of Windows.
    BuildInfo {
        /// FILETIME of the installation.
        install_date: i64,
        /// Build lab string.
        build_lab: &'a str,
        /// Name of the edition.
        product_name: &'a str,
    },
    /// Folders of Windows.
    SystemPaths {
        /// `C:\Windows\System32\`.
        system_directory: &'a str,
        /// `C:\Windows\`.
        windows_directory: &'a str,
    },
    /// The drive of a volume.
    VolumeMapping {
        /// `\Device\HarddiskVolume3\`.
        nt_path: &'a str,
        /// `C:\`.
        dos_path: &'a str,
    },
    /// A serialized `TRACE_EVENT_INFO`.
    EventInfo(&'a [u8]),
}

impl MergeRecord<'_> {
    /// Class, type and version.
    const fn identity(&self) -> (Guid, u8, u16) {
        match self {
            Self::ImageInfo { .. } => (IMAGE_ID, 0, 2),
            Self::DbgIdRsds { .. } => (IMAGE_ID, 36, 2),
            Self::FileVersion { .. } => (IMAGE_ID, 64, 0),
            Self::BuildInfo { .. } => (SYSTEM_CONFIG, 32, 0),
            Self::SystemPaths { .. } => (SYSTEM_CONFIG, 33, 0),
            Self::VolumeMapping { .. } => (SYSTEM_CONFIG, 35, 0),
            Self::EventInfo(_) => (EVENT_INFO, 32, 0),
        }
    }

    fn write_payload(&self, width: Width, out: &mut Vec<u8>) {
        // Pointers of the trace's own width, as readers expect by its header.
        let pointer = |value: u64, out: &mut Vec<u8>| {
            out.extend(value.to_le_bytes().iter().take(width.pointer_size()));
        };
        match *self {
            Self::ImageInfo {
                image_base,
                image_size,
                process_id,
                time_date_stamp,
                original_file_name,
            } => {
                pointer(image_base, out);
                pointer(image_size, out);
                out.extend(process_id.to_le_bytes());
                out.extend(time_date_stamp.to_le_bytes());
                utf16(original_file_name, out);
            }
            Self::DbgIdRsds {
                image_base,
                process_id,
                guid,
                age,
                pdb_name,
            } => {
                pointer(image_base, out);
                out.extend(process_id.to_le_bytes());
                out.extend(guid.to_bytes());
                out.extend(age.to_le_bytes());
                // Unlike all other texts here, the path of the PDB is 8-bit text.
                out.extend_from_slice(pdb_name.as_bytes());
                out.push(0);
            }
            Self::FileVersion {
                image_size,
                time_date_stamp,
                strings,
            } => {
                out.extend(image_size.to_le_bytes());
                out.extend(time_date_stamp.to_le_bytes());
                strings.iter().for_each(|text| utf16(text, out));
            }
            Self::BuildInfo {
                install_date,
                build_lab,
                product_name,
            } => {
                out.extend(install_date.to_le_bytes());
                utf16(build_lab, out);
                utf16(product_name, out);
            }
            Self::SystemPaths {
                system_directory: first,
                windows_directory: second,
            }
            | Self::VolumeMapping {
                nt_path: first,
                dos_path: second,
            } => {
                utf16(first, out);
                utf16(second, out);
            }
            Self::EventInfo(info) => out.extend_from_slice(info),
        }
    }
}

fn utf16(text: &str, out: &mut Vec<u8>) {
    out.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Writes a record of the merge step, with no thread and no process in its header.
    ///
    /// # Errors
    /// The errors of [`TraceWriter::write`].
    pub fn write_merge_record(
        &mut self,
        cpu: u16,
        timestamp: i64,
        record: &MergeRecord<'_>,
    ) -> Result<()> {
        let (class, opcode, version) = record.identity();
        let width = self.width;
        self.write_with_payload(
            |out| record.write_payload(width, out),
            |writer, payload| {
                let event = ClassicEvent {
                    width,
                    timestamp,
                    class,
                    opcode,
                    version,
                    // All bits set mean that no thread and no process logged the event. 0 would be
                    // the idle process.
                    thread_id: u32::MAX,
                    process_id: u32::MAX,
                    payload,
                    ..ClassicEvent::default()
                };
                writer.write(cpu, event)
            },
        )
    }

    /// Builds a payload in the memory that the writer keeps for it and writes its record.
    pub(super) fn write_with_payload(
        &mut self,
        payload: impl FnOnce(&mut Vec<u8>),
        write: impl FnOnce(&mut Self, &[u8]) -> Result<()>,
    ) -> Result<()> {
        // Taken out while `write` borrows the writer, and put back so that its memory is reused.
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        payload(&mut scratch);
        let written = write(self, &scratch);
        self.scratch = scratch;
        written
    }
}
