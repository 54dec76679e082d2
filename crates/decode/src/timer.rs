//! Resolution of the system timer: requests, and the resolution in force, reported by
//! Microsoft-Windows-Kernel-Power.

use etwkit_etl::RawEvent;

use crate::Decoder;
use crate::kernel::power_setting::KERNEL_POWER;
use crate::named::{NamedFields, Values};

/// IDs of these events.
pub mod id {
    /// A process requests a resolution.
    pub const REQUEST: u16 = 63;
    /// The resolution in force changes.
    pub const UPDATE: u16 = 95;
    /// The resolution in force when the recording starts or ends.
    pub const RUNDOWN: u16 = 96;
    /// An earlier request of a process.
    pub const REQUEST_RUNDOWN: u16 = 97;
    /// The kernel or a driver requests a resolution.
    pub const KERNEL_REQUEST: u16 = 98;
    /// All IDs of timer events.
    pub const ALL: &[u16] = &[REQUEST, UPDATE, RUNDOWN, REQUEST_RUNDOWN, KERNEL_REQUEST];
}

/// The requester of a resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requester {
    /// A process requested it; with the path of its program, if the event has it.
    Process(u32, Option<String>),
    /// The kernel or a driver requested it.
    Kernel,
    /// It is in force.
    System,
}

/// A resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The requester.
    pub whose: Requester,
    /// Time between two ticks in units of 100 ns; 0 for a withdrawn request.
    pub resolution: u32,
    /// True if it was in effect before the recording.
    pub is_rundown: bool,
    /// True if the system ignores the request.
    pub is_ignored: Option<bool>,
}

const NAMES: [&str; 7] = [
    "RequestedResolution",
    "RequestedPeriod",
    "NewResolution",
    "CurrentPeriod",
    "Pid",
    "AppName",
    "RequestIgnored",
];

/// Reads these events.
#[derive(Debug)]
pub struct TimerReader(NamedFields<{ NAMES.len() }>);

impl Default for TimerReader {
    fn default() -> Self {
        Self(NamedFields::new(NAMES))
    }
}

impl TimerReader {
    /// Reads an event. `None` for all others, and for the oldest version of requests, which does
    /// not contain the requested resolution.
    pub fn read(&mut self, event: &RawEvent<'_>, decoder: &mut Decoder) -> Option<Resolution> {
        if !event.kind.is_manifest() || event.provider() != KERNEL_POWER {
            return None;
        }
        let id = event.descriptor().id;
        if !id::ALL.contains(&id) {
            return None;
        }
        self.0.read(event, decoder, |values| resolution(id, values))
    }
}

fn resolution(id: u16, values: Values<'_, { NAMES.len() }>) -> Option<Resolution> {
    let process = || Some(Requester::Process(values.u32(4)?, values.text(5)));
    let (whose, resolution) = match id {
        id::REQUEST => (process()?, values.u32(0)?),
        id::REQUEST_RUNDOWN => (process()?, values.u32(1)?),
        id::UPDATE => (Requester::System, values.u32(2)?),
        id::RUNDOWN => (Requester::System, values.u32(3)?),
        _ => (Requester::Kernel, values.u32(0)?),
    };
    Some(Resolution {
        whose,
        resolution,
        is_rundown: matches!(id, id::REQUEST_RUNDOWN | id::RUNDOWN),
        is_ignored: values.u32(6).map(|ignored| ignored != 0),
    })
}
