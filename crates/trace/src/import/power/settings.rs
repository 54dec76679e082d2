//! Power settings.

use std::fmt::Write;

use etwkit_decode::kernel::power_setting::{Event, KERNEL_POWER, Setting, id};
use etwkit_decode::kernel::processor_power::PROCESSOR_POWER;
use etwkit_etl::{Guid, RawEvent};

use crate::declared::{Events, Topic, sums};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown};
use crate::sink::Sink;
use crate::table::{PowerProfile, PowerSetting, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[
        Events::Provider(KERNEL_POWER, &[id::RUNDOWN, id::CHANGE]),
        Events::Provider(
            PROCESSOR_POWER,
            &[id::PROFILE, id::PROFILE_CHANGE, id::PROFILE_RUNDOWN],
        ),
    ],
    tables: &[sums(PowerSetting::TABLE), sums(PowerProfile::TABLE)],
    topics: &[Topic {
        place: 230,
        name: "power settings",
        answers: "which power plan was in force",
        recorded_by: "Microsoft-Windows-Kernel-Power",
        events: &[Events::Provider(KERNEL_POWER, &[])],
        tables: &[PowerSetting::TABLE, PowerProfile::TABLE],
    }],
    make: |_| Box::new(Settings),
    ..Declaration::EMPTY
};

/// Maximum bytes of a value. A longer one is not a setting, and stays an event of its own.
const MAX_BYTES: usize = 4096;

/// Each setting is a row; nothing is kept between events.
struct Settings;

impl Importer for Settings {
    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        setting(event, context, sink)
    }
}

fn setting(event: &RawEvent<'_>, context: &mut Context<'_>, sink: &mut dyn Sink) -> IsShown {
    let descriptor = event.descriptor();
    let parsed = Event::parse(
        event.provider(),
        descriptor.id,
        descriptor.version,
        event.payload(),
    );
    let Some(parsed) = parsed else {
        return Ok(false);
    };
    let ts_ns = context.ns(event.timestamp);
    let (kind, setting) = match parsed {
        Event::Rundown(setting) => ("rundown", setting),
        Event::Change(setting) => ("change", setting),
        Event::Profile(previous, profile) => {
            if context.range.contains(ts_ns) {
                let row = PowerProfile {
                    ts_ns,
                    previous: previous.into(),
                    profile: profile.into(),
                };
                context.tables.push(&row, sink)?;
            }
            return Ok(true);
        }
    };
    if setting.data.len() > MAX_BYTES {
        return Ok(false);
    }
    if context.range.contains(ts_ns) {
        context.tables.push(&row(ts_ns, kind, &setting), sink)?;
    }
    Ok(true)
}

fn row(ts_ns: i64, kind: &'static str, setting: &Setting<'_>) -> PowerSetting {
    let of = setting.of_profile.as_ref();
    PowerSetting {
        ts_ns,
        kind,
        setting_guid: setting.guid.to_string(),
        name: of
            .map(|of| String::from_utf8_lossy(of.name).into_owned())
            .filter(|name| !name.is_empty()),
        value: number(setting.data),
        value_guid: <[u8; 16]>::try_from(setting.data)
            .ok()
            .map(|bytes| Guid::from_bytes(bytes).to_string()),
        value_hex: hex(setting.data),
        is_override: setting.is_override,
        profile: of.map(|of| of.profile.into()),
        power_source: of.map(|of| if of.power_source == 0 { "ac" } else { "dc" }),
        efficiency_class: of.map(|of| of.class.into()),
    }
}

fn number(data: &[u8]) -> Option<i64> {
    if !matches!(data.len(), 1 | 2 | 4 | 8) {
        return None;
    }
    let mut bytes = [0; 8];
    bytes
        .iter_mut()
        .zip(data)
        .for_each(|(to, from)| *to = *from);
    Some(i64::from_le_bytes(bytes))
}

fn hex(data: &[u8]) -> String {
    data.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_where_they_have_the_length_of_one() {
        for (data, value) in [
            (&[5][..], Some(5)),
            (&[1, 2], Some(0x201)),
            (&[0xff; 4], Some(0xffff_ffff)),
            (&[0xff; 8], Some(-1)),
            (&[1, 2, 3], None),
            (&[], None),
        ] {
            assert_eq!(number(data), value, "{data:?}");
        }
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }
}
