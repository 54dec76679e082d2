//! Power settings: the values in force in the system (Microsoft-Windows-Kernel-Power) and the
//! values in the profiles of the processor driver (Microsoft-Windows-Kernel-Processor-Power).

use etwkit_etl::Guid;
use etwkit_etl::bytes::Cursor;

use super::processor_power::PROCESSOR_POWER;

/// Microsoft-Windows-Kernel-Power.
pub const KERNEL_POWER: Guid = Guid::literal("331c3b3a-2005-44c2-ac5e-77220c37d6b4");

/// IDs of these events.
pub mod id {
    use super::super::processor_power;

    /// A setting in force, of [`super::KERNEL_POWER`].
    pub const RUNDOWN: u16 = 111;
    /// A setting changes, of [`super::KERNEL_POWER`].
    pub const CHANGE: u16 = 112;
    /// The profile of the processor driver changes.
    pub const PROFILE: u16 = processor_power::id::PROFILE;
    /// A setting of a profile changes.
    pub const PROFILE_CHANGE: u16 = processor_power::id::PROFILE_CHANGE;
    /// The current value of a setting of a profile.
    pub const PROFILE_RUNDOWN: u16 = processor_power::id::PROFILE_RUNDOWN;
}

/// A setting of one of the processor driver's profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfProfile<'a> {
    /// Number of the profile.
    pub profile: u8,
    /// Name of the setting.
    pub name: &'a [u8],
    /// 0 on external power, 1 on battery.
    pub power_source: u32,
    /// Efficiency class of the cores that it is for.
    pub class: u8,
}

/// A setting and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<'a> {
    /// The setting.
    pub guid: Guid,
    /// Its value.
    pub data: &'a [u8],
    /// True if something overrides the scheme of the user; `None` in old versions.
    pub is_override: Option<bool>,
    /// The profile; `None` for the value in force.
    pub of_profile: Option<OfProfile<'a>>,
}

/// An event about settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// A setting at the start or end of a recording.
    Rundown(Setting<'a>),
    /// A setting changed.
    Change(Setting<'a>),
    /// The profile of the processor driver changes: the previous one, the new one.
    Profile(u8, u8),
}

impl<'a> Event<'a> {
    /// Reads the payload of an event of one of the two providers; `None` for other IDs and short
    /// payloads.
    #[must_use]
    pub fn parse(provider: Guid, id: u16, version: u8, payload: &'a [u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        match (provider, id) {
            (KERNEL_POWER, id::RUNDOWN) => Some(Self::Rundown(setting(&mut c, version >= 1)?)),
            (KERNEL_POWER, id::CHANGE) => Some(Self::Change(setting(&mut c, version >= 1)?)),
            (PROCESSOR_POWER, id::PROFILE) => Some(Self::Profile(c.u8()?, c.u8()?)),
            (PROCESSOR_POWER, id::PROFILE_CHANGE) => Some(Self::Change(profile_setting(&mut c)?)),
            (PROCESSOR_POWER, id::PROFILE_RUNDOWN) => Some(Self::Rundown(profile_setting(&mut c)?)),
            _ => None,
        }
    }
}

fn setting<'a>(c: &mut Cursor<'a>, has_override: bool) -> Option<Setting<'a>> {
    let guid = c.guid()?;
    let length = usize::try_from(c.u32()?).ok()?;
    let data = c.take(length)?;
    let is_override = if has_override {
        c.u32().map(|flag| flag != 0)
    } else {
        None
    };
    Some(Setting {
        guid,
        data,
        is_override,
        of_profile: None,
    })
}

fn profile_setting<'a>(c: &mut Cursor<'a>) -> Option<Setting<'a>> {
    let profile = c.u8()?;
    let name = c.ansi();
    let power_source = c.u32()?;
    let class = c.u8()?;
    let of_profile = Some(OfProfile {
        profile,
        name,
        power_source,
        class,
    });
    Some(Setting {
        of_profile,
        ..setting(c, false)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUID: Guid = Guid::literal("36687f9e-e3a5-4dbf-b1dc-15eb381c6863");

    fn payload(data: &[u8]) -> Vec<u8> {
        [
            &GUID.to_bytes()[..],
            &(data.len() as u32).to_le_bytes(),
            data,
        ]
        .concat()
    }

    #[test]
    fn what_is_in_force() {
        let with_override = [payload(&[50, 0, 0, 0]), vec![1, 0, 0, 0]].concat();
        for (version, is_override) in [(0, None), (1, Some(true))] {
            let setting = Setting {
                guid: GUID,
                data: &[50, 0, 0, 0],
                is_override,
                of_profile: None,
            };
            let event = Event::parse(KERNEL_POWER, 111, version, &with_override).unwrap();
            assert_eq!(event, Event::Rundown(setting.clone()));
            let event = Event::parse(KERNEL_POWER, 112, version, &with_override).unwrap();
            assert_eq!(event, Event::Change(setting));
        }
        // The length claims more than there is.
        assert_eq!(
            Event::parse(KERNEL_POWER, 111, 0, &with_override[..22]),
            None
        );
        assert_eq!(Event::parse(KERNEL_POWER, 113, 0, &with_override), None);
    }

    #[test]
    fn profiles() {
        let head = [
            &[5][..],
            b"PerfEnergyPreference\0",
            &1u32.to_le_bytes(),
            &[1],
        ]
        .concat();
        let all = [head, payload(&[7])].concat();
        let Some(Event::Change(setting)) = Event::parse(PROCESSOR_POWER, 105, 0, &all) else {
            panic!()
        };
        let of = setting.of_profile.unwrap();
        assert_eq!(
            (of.profile, of.name, of.power_source, of.class),
            (5, &b"PerfEnergyPreference"[..], 1, 1)
        );
        assert_eq!((setting.guid, setting.data), (GUID, &[7][..]));
        assert_eq!(
            Event::parse(PROCESSOR_POWER, 104, 0, &[0, 5]),
            Some(Event::Profile(0, 5))
        );
        assert_eq!(Event::parse(PROCESSOR_POWER, 104, 0, &[0]), None);
    }
}
