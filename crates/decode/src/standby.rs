//! Connected standby (modern standby): entry and exit of the machine, reported by
//! Microsoft-Windows-Kernel-Power.
//!
//! The entry (ID 506) is documented in its manifest. For the exit (ID 507), names and order of the
//! first fields come from the Windows event log; later versions append more.

use etwkit_etl::RawEvent;

use crate::Decoder;
use crate::kernel::power_setting::KERNEL_POWER;
use crate::named::{NamedFields, Values};

/// IDs of these events.
pub mod id {
    /// The machine enters connected standby.
    pub const ENTER: u16 = 506;
    /// The machine leaves connected standby.
    pub const EXIT: u16 = 507;
}

/// The machine enters connected standby.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Enter {
    /// The reason, see [`reason_name`].
    pub reason: u32,
    /// Number of the stay.
    pub scenario: Option<u64>,
    /// True if the lid is open.
    pub is_lid_open: Option<bool>,
    /// True if there is an external monitor.
    pub has_external_monitor: Option<bool>,
    /// Charge of the battery.
    pub remaining_capacity: Option<u32>,
    /// Charge of the full battery.
    pub full_capacity: Option<u32>,
}

/// The machine leaves connected standby.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exit {
    /// The reason, see [`reason_name`].
    pub reason: u32,
    /// Microseconds of the whole stay.
    pub duration_us: u64,
    /// Microseconds in the deepest idle state of the platform (DRIPS).
    pub drips_us: u64,
    /// Microseconds up to the first time in that state.
    pub first_drips_us: u64,
    /// Number of transitions into that state.
    pub drips_transitions: u32,
    /// Microseconds outside that state that activators account for.
    pub activated_us: u64,
    /// Microseconds in which the machine was active.
    pub active_us: u64,
    /// Drain of the battery.
    pub energy_drain: u32,
    /// True if audio was playing.
    pub is_audio_playing: Option<bool>,
    /// True if it runs on external power.
    pub is_on_ac: Option<bool>,
}

/// The start or the end of a standby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Standby starts.
    Enter(Enter),
    /// Standby ends.
    Exit(Exit),
}

const NAMES: [&str; 16] = [
    "Reason",
    "ScenarioInstanceIdV2",
    "ScenarioInstanceId",
    "LidOpenState",
    "ExternalMonitorConnectedState",
    "BatteryRemainingCapacityOnEnter",
    "BatteryFullChargeCapacityOnEnter",
    "DurationInUs",
    "DripsResidencyInUs",
    "FirstDripsEntryInUs",
    "DripsTransitions",
    "NonDripsTimeActivatedInUs",
    "ActiveResidencyInUs",
    "EnergyDrain",
    "AudioPlaying",
    "PowerStateAc",
];

type Fields<'e> = Values<'e, { NAMES.len() }>;

/// Reads these events.
#[derive(Debug)]
pub struct StandbyReader(NamedFields<{ NAMES.len() }>);

impl Default for StandbyReader {
    fn default() -> Self {
        Self(NamedFields::new(NAMES))
    }
}

impl StandbyReader {
    /// Reads an event; `None` for all others, and for events without the essential fields.
    pub fn read(&mut self, event: &RawEvent<'_>, decoder: &mut Decoder) -> Option<Event> {
        // The provider logs much else about power.
        if !event.kind.is_manifest() || event.provider() != KERNEL_POWER {
            return None;
        }
        match event.descriptor().id {
            id::ENTER => self
                .0
                .read(event, decoder, |values| enter(values).map(Event::Enter)),
            id::EXIT => self
                .0
                .read(event, decoder, |values| exit(values).map(Event::Exit)),
            _ => None,
        }
    }
}

/// Place of a field among [`NAMES`]; these events are few.
fn at(name: &str) -> usize {
    NAMES
        .iter()
        .position(|known| *known == name)
        .unwrap_or(usize::MAX)
}

fn enter(values: Fields<'_>) -> Option<Enter> {
    let flag = |name| values.u64(at(name)).map(|bits| bits != 0);
    Some(Enter {
        reason: values.u32(at("Reason"))?,
        // The second version of the number is wider and is used if it is there.
        scenario: values
            .u64(at("ScenarioInstanceIdV2"))
            .or_else(|| values.u64(at("ScenarioInstanceId"))),
        is_lid_open: flag("LidOpenState"),
        has_external_monitor: flag("ExternalMonitorConnectedState"),
        remaining_capacity: values.u32(at("BatteryRemainingCapacityOnEnter")),
        full_capacity: values.u32(at("BatteryFullChargeCapacityOnEnter")),
    })
}

fn exit(values: Fields<'_>) -> Option<Exit> {
    let flag = |name| values.u64(at(name)).map(|bits| bits != 0);
    Some(Exit {
        reason: values.u32(at("Reason"))?,
        duration_us: values.u64(at("DurationInUs"))?,
        drips_us: values.u64(at("DripsResidencyInUs"))?,
        first_drips_us: values.u64(at("FirstDripsEntryInUs"))?,
        drips_transitions: values.u32(at("DripsTransitions"))?,
        activated_us: values.u64(at("NonDripsTimeActivatedInUs"))?,
        active_us: values.u64(at("ActiveResidencyInUs"))?,
        energy_drain: values.u32(at("EnergyDrain"))?,
        is_audio_playing: flag("AudioPlaying"),
        is_on_ac: flag("PowerStateAc"),
    })
}

/// The name of a reason, documented as `POWER_MONITOR_REQUEST_REASON`.
#[must_use]
pub fn reason_name(reason: u32) -> Option<&'static str> {
    usize::try_from(reason)
        .ok()
        .and_then(|reason| REASONS.get(reason))
        .copied()
}

const REASONS: [&str; 39] = [
    "unknown",
    "power button",
    "remote connection",
    "monitor message",
    "user input",
    "power source changed: display on",
    "user: display on",
    "system state set",
    "execution state set",
    "full wake",
    "session unlocked",
    "screen off requested",
    "idle timeout",
    "policy changed",
    "sleep button",
    "lid",
    "battery count changed",
    "grace period",
    "plug and play",
    "dynamic partitioning",
    "sleep transition",
    "system idle",
    "near proximity",
    "thermal standby",
    "resumed by coordinator",
    "resumed from hibernation",
    "terminal",
    "coordinator signal",
    "power source changed",
    "system state entered",
    "Windows Runtime",
    "keyboard",
    "mouse",
    "touchpad",
    "pen",
    "accelerometer",
    "input device",
    "user present",
    "session switch",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_their_documented_numbers() {
        let name = |reason| reason_name(reason).unwrap_or("-");
        assert_eq!(
            [1, 12, 14, 15, 28, 31, 32, 38, 39].map(name),
            [
                "power button",
                "idle timeout",
                "sleep button",
                "lid",
                "power source changed",
                "keyboard",
                "mouse",
                "session switch",
                "-"
            ]
        );
    }
}
