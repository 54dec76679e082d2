//! The provider Microsoft-Windows-Kernel-Process: the same facts as the kernel logger's process,
//! thread and image events, for sessions without a kernel logger.

use etwkit_base::path::file_name;
use etwkit_etl::Guid;
use etwkit_etl::bytes::Cursor;

use super::image::Image;
use super::process::Process;
use super::thread::Thread;
use super::{image, process, thread};

/// Microsoft-Windows-Kernel-Process.
pub const KERNEL_PROCESS: Guid = Guid::literal("22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716");

/// IDs of [`KERNEL_PROCESS`].
pub mod id {
    /// A process starts.
    pub const PROCESS_START: u16 = 1;
    /// A process stops.
    pub const PROCESS_STOP: u16 = 2;
    /// A thread starts.
    pub const THREAD_START: u16 = 3;
    /// A thread stops.
    pub const THREAD_STOP: u16 = 4;
    /// An image is loaded.
    pub const IMAGE_LOAD: u16 = 5;
    /// An image is unloaded.
    pub const IMAGE_UNLOAD: u16 = 6;
    /// A process that exists at the start of the session.
    pub const PROCESS_RUNDOWN: u16 = 15;

    /// IDs of events that describe processes.
    pub const PROCESSES: &[u16] = &[PROCESS_START, PROCESS_STOP, PROCESS_RUNDOWN];
    /// IDs of events that describe images.
    pub const IMAGES: &[u16] = &[IMAGE_LOAD, IMAGE_UNLOAD];
}

/// An event of the provider, with the type that the kernel logger has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A process event.
    Process(u8, Process),
    /// A thread event.
    Thread(u8, Thread),
    /// An image event.
    Image(u8, Image),
}

impl Event {
    /// Reads the payload of event `id`; `None` for other IDs and short payloads.
    #[must_use]
    pub fn parse(id: u16, version: u8, payload: &[u8], pointer_size: usize) -> Option<Self> {
        let ids = || Thread::parse(payload, 1);
        Some(match id {
            id::PROCESS_START => Self::Process(process::opcode::START, start(payload, version)?),
            // The rundown event was added later, and its first version has the third layout of the
            // start event.
            id::PROCESS_RUNDOWN => Self::Process(
                process::opcode::DC_START,
                start(payload, version.saturating_add(2))?,
            ),
            id::PROCESS_STOP => Self::Process(process::opcode::END, stop(payload, version)?),
            id::THREAD_START => Self::Thread(thread::opcode::START, ids()?),
            id::THREAD_STOP => Self::Thread(thread::opcode::END, ids()?),
            id::IMAGE_LOAD => Self::Image(image::opcode::LOAD, read_image(payload, pointer_size)?),
            id::IMAGE_UNLOAD => {
                Self::Image(image::opcode::UNLOAD, read_image(payload, pointer_size)?)
            }
            _ => return None,
        })
    }
}

/// Layouts 0 to 5 of the start event.
fn start(payload: &[u8], layout: u8) -> Option<Process> {
    let sequence_numbers = layout >= 3;
    let mut c = Cursor::new(payload);
    let mut p = Process {
        pid: c.u32()?,
        ..Process::default()
    };
    if sequence_numbers {
        p.unique_key = c.u64()?;
    }
    c.u64()?; // create time
    p.parent_pid = Some(c.u32()?);
    if sequence_numbers {
        c.u64()?;
    }
    p.session_id = Some(c.i32()?);
    if layout >= 1 {
        c.u32()?; // flags
    }
    if sequence_numbers {
        c.take(8)?; // elevation
        // The label is a SID. Only its length matters here, because the name follows it.
        let sub_authorities = usize::from(*c.rest().get(1)?);
        c.take(8 + 4 * sub_authorities)?; // mandatory label
    }
    // The kernel logger has file names, this provider whole paths: a process has one name, whoever reports
    // it.
    p.name = file_name(&c.text()).to_owned();
    if layout >= 2 {
        c.take(8)?; // checksum, time stamp
        p.package = c.text();
        p.app_id = c.text();
    }
    Some(p)
}

fn stop(payload: &[u8], version: u8) -> Option<Process> {
    let mut c = Cursor::new(payload);
    let mut p = Process {
        pid: c.u32()?,
        ..Process::default()
    };
    if version >= 2 {
        p.unique_key = c.u64()?;
    }
    c.take(16)?; // create and exit time
    p.exit_status = c.u32()?;
    c.take(8)?; // elevation, handles
    c.take(16)?; // commit charge and peak
    if version >= 1 {
        c.take(8 + 5 * 4)?; // cycles, operations, kilobytes, hard faults
    }
    p.take_ansi_name(c.ansi());
    // In other code pages a separator may be a part of a character.
    if p.ansi_name.is_none() {
        p.name = file_name(&p.name).to_owned();
    }
    Some(p)
}

fn read_image(payload: &[u8], pointer_size: usize) -> Option<Image> {
    let mut c = Cursor::new(payload);
    let base = c.pointer(pointer_size)?;
    let size = c.pointer(pointer_size)?;
    let pid = c.u32()?;
    let checksum = c.u32()?;
    let time_date_stamp = c.u32()?;
    c.pointer(pointer_size)?; // default base
    Some(Image {
        base,
        size,
        pid: Some(pid),
        checksum,
        time_date_stamp,
        path: c.text(),
    })
}
