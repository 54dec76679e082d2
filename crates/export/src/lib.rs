//! Writes the contents of an extract in formats of other programs, one file for each format. [`wpa`]
//! writes tables of CSV, as Windows Performance Analyzer's exporter does.
//!
//! The numbers equal the numbers of the dumps: the same requests are run, and tables are read,
//! never events. For all formats but those tables, the caller decides on the destination of the
//! bytes.

#![forbid(unsafe_code)]

mod chrome;
mod cpuprofile;
mod dictionary;
mod error;
mod firefox;
mod folded;
mod json;
mod otlp;
mod packets;
mod pcapng;
mod perfetto;
mod pprof;
mod profile;
mod protobuf;
mod recording;
mod report;
mod speedscope;
mod stacks;
mod svg;
mod text;
mod timeline;
pub mod wpa;

pub use error::{Error, Result};
pub use packets::{Direction, Interface, Link, Packet, PacketSums, Packets};
pub use profile::{
    ExportRequest, Format, Head, Owner, Samples, Takes, WeighedStack, Writer, WrittenProfile,
};
pub use recording::Recording;
pub use stacks::Names;
pub use timeline::{
    Io, Item, Order, Process, Ready, Readying, Sample, Scene, Slice, SwitchOut, Thread, Timeline,
    TimelineSums, Wait, What, processes,
};

/// All formats, in the order in which help lists them; the first one is the default.
pub static FORMATS: &[&dyn Format] = &[
    &speedscope::Speedscope,
    &folded::Folded,
    &svg::Svg,
    &pprof::Pprof,
    &otlp::Otlp,
    &cpuprofile::CpuProfile,
    &perfetto::Perfetto,
    &firefox::Firefox,
    &chrome::Chrome,
    &pcapng::Pcapng,
];

/// Returns the format of that name.
#[must_use]
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}
