//! The provider Microsoft-Windows-Kernel-Processor-Power: kinds and speeds of cores, parking.

use etwkit_etl::Guid;
use etwkit_etl::bytes::Cursor;

/// Microsoft-Windows-Kernel-Processor-Power.
pub const PROCESSOR_POWER: Guid = Guid::literal("0f67e49f-fe51-4e9f-b490-6f2948cc6027");

/// IDs of [`PROCESSOR_POWER`].
pub mod id {
    /// Windows requests a speed.
    pub const REQUESTED: u16 = 10;
    /// A processor is parked.
    pub const PARK: u16 = 14;
    /// A processor is no longer parked.
    pub const UNPARK: u16 = 15;
    /// Windows requests a speed, in another layout of the driver.
    pub const REQUESTED_OTHER: u16 = 18;
    /// Idle states and nominal speed of a processor.
    pub const SUMMARY: u16 = 55;
    /// Performance state of a processor.
    pub const RUNDOWN: u16 = 64;
    /// Index of a processor.
    pub const INDEX: u16 = 68;
    /// The profile changes.
    pub const PROFILE: u16 = 104;
    /// A setting of a profile changes.
    pub const PROFILE_CHANGE: u16 = 105;
    /// The current value of a setting of a profile.
    pub const PROFILE_RUNDOWN: u16 = 106;
    /// A measured speed.
    pub const DELIVERED: u16 = 111;
    /// Classes of a processor.
    pub const CLASSES: u16 = 118;
    /// A processor is parked as long as the other processors suffice, or no longer.
    pub const SOFT_PARK: u16 = 138;
    /// A measured speed in MHz.
    pub const DELIVERED_MHZ: u16 = 148;
    /// A processor is forced to stay parked, or no longer.
    pub const FORCED_PARK: u16 = 204;
}

/// IDs that [`Event::parse`] supports.
pub const IDS: &[u16] = &[
    id::REQUESTED,
    id::PARK,
    id::UNPARK,
    id::REQUESTED_OTHER,
    id::SUMMARY,
    id::RUNDOWN,
    id::INDEX,
    id::DELIVERED,
    id::CLASSES,
    id::SOFT_PARK,
    id::DELIVERED_MHZ,
    id::FORCED_PARK,
];

/// A processor by group and number in the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Number {
    /// Group.
    pub group: u16,
    /// Number in it.
    pub number: u8,
}

impl Number {
    fn read(c: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            group: c.u16()?,
            number: c.u8()?,
        })
    }
}

/// Rundown data of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rundown {
    /// The processor.
    pub number: Number,
    /// True if it is parked.
    pub is_parked: Option<bool>,
    /// True if it is avoided while the other processors are sufficient.
    pub is_soft_parked: Option<bool>,
    /// Speed without boost.
    pub nominal_mhz: Option<u32>,
    /// Kind of core, 0 the most efficient one.
    pub efficiency_class: Option<u8>,
    /// Scheduling class: preference of the scheduler for it.
    pub scheduling_class: Option<u8>,
    /// Speed relative to the other cores in percent.
    pub relative_performance: Option<u32>,
    /// Speed at that moment.
    pub delivered_mhz: Option<u32>,
}

/// A way in which a processor is kept from work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parking {
    /// It is parked.
    Parked,
    /// It is parked as long as the other processors suffice.
    Soft,
    /// It is kept parked.
    Forced,
}

/// A measured speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// The processor.
    pub number: Number,
    /// Percent of the nominal speed.
    pub percent: u32,
    /// Length of the time before the event that it is the mean of.
    pub duration_us: Option<u64>,
    /// Speed, if it is reported.
    pub mhz: Option<u32>,
}

/// An event of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Properties and state of the processor when the recording starts or ends.
    Rundown(Rundown),
    /// Index of a processor.
    Index(Number, u32),
    /// Windows requests a speed in MHz.
    Requested(Number, u32),
    /// The performance that the processor delivered.
    Delivered(Delivered),
    /// It is parked in some way.
    Park(Number, Parking),
    /// It is no longer parked in that way; `None` means not parked at all.
    Unpark(Number, Option<Parking>),
}

impl Event {
    /// Reads the payload of event `id`; `None` for other IDs and short payloads.
    #[must_use]
    pub fn parse(id: u16, version: u8, payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(match id {
            id::REQUESTED | id::REQUESTED_OTHER => {
                let _state = c.u32()?;
                let mhz = c.u32()?;
                Self::Requested(Number::read(&mut c)?, mhz)
            }
            id::PARK => {
                c.u64()?; // time of the check
                let number = Number::read(&mut c)?;
                let is_soft = version >= 1 && c.u32()? != 0;
                Self::Park(
                    number,
                    if is_soft {
                        Parking::Soft
                    } else {
                        Parking::Parked
                    },
                )
            }
            id::UNPARK => {
                c.u64()?;
                Self::Unpark(Number::read(&mut c)?, None)
            }
            id::SOFT_PARK | id::FORCED_PARK => {
                c.u64()?;
                let number = Number::read(&mut c)?;
                let kind = if id == id::SOFT_PARK {
                    Parking::Soft
                } else {
                    Parking::Forced
                };
                if c.u32()? != 0 {
                    Self::Park(number, kind)
                } else {
                    Self::Unpark(number, Some(kind))
                }
            }
            id::SUMMARY => {
                let number = Number::read(&mut c)?;
                c.take(8)?; // idle states
                Self::Rundown(Rundown {
                    number,
                    nominal_mhz: some(c.u32()?),
                    ..Rundown::default()
                })
            }
            id::RUNDOWN => Self::Rundown(rundown(&mut c, version)?),
            id::INDEX => {
                let number = Number::read(&mut c)?;
                c.take(8)?; // ids of the firmware
                // Version 0 has no index.
                Self::Index(number, c.u32().filter(|_| version >= 1)?)
            }
            id::DELIVERED => Self::Delivered(delivered(&mut c, version)?),
            // This event has the layout of version 2 of the other one.
            id::DELIVERED_MHZ => Self::Delivered(delivered(&mut c, 2)?),
            id::CLASSES => {
                let number = Number::read(&mut c)?;
                let efficiency_class = Some(c.u8()?);
                let scheduling_class = Some(c.u8()?);
                Self::Rundown(Rundown {
                    number,
                    efficiency_class,
                    scheduling_class,
                    ..Rundown::default()
                })
            }
            _ => return None,
        })
    }
}

/// A number; 0 means unknown and becomes `None`.
fn some(number: u32) -> Option<u32> {
    Some(number).filter(|number| *number != 0)
}

fn delivered(c: &mut Cursor<'_>, version: u8) -> Option<Delivered> {
    let number = Number::read(c)?;
    let percent = c.u32()?;
    let duration_us = if version >= 1 { Some(c.u64()?) } else { None };
    let mhz = if version >= 2 { some(c.u32()?) } else { None };
    Some(Delivered {
        number,
        percent,
        duration_us,
        mhz,
    })
}

/// Versions 0 to 9 of event 64. Each one appends fields; version 4 replaced one.
fn rundown(c: &mut Cursor<'_>, version: u8) -> Option<Rundown> {
    // Skipped fields have to be present as well: an event that ends early has another layout than
    // its version states, and its numbers would be read from the wrong fields.
    let mut r = Rundown {
        number: Number::read(c)?,
        is_parked: Some(c.u32()? != 0),
        ..Rundown::default()
    };
    c.take(12)?; // caps, desired performance
    r.nominal_mhz = some(c.u32()?);
    if version >= 1 {
        c.take(16)?; // percentages
    }
    if version >= 2 {
        (r.efficiency_class, r.scheduling_class) = (Some(c.u8()?), Some(c.u8()?));
        c.u32()?; // autonomous
    }
    if version >= 3 {
        c.take(12)?; // energy preference, activity window, quality of service
        r.relative_performance = some(c.u32()?);
    }
    if version >= 5 {
        c.u8()?; // efficiency scheduling class
    }
    if version >= 6 {
        c.u32()?; // target frequency
    }
    if version >= 7 {
        r.is_soft_parked = Some(c.u32()? != 0);
    }
    if version >= 8 {
        r.delivered_mhz = some(c.u32()?);
    }
    Some(r)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: Number = Number {
        group: 1,
        number: 5,
    };

    /// Bytes of a payload from numbers with their sizes.
    fn payload(parts: &[(u64, usize)]) -> Vec<u8> {
        parts
            .iter()
            .flat_map(|(number, size)| number.to_le_bytes().into_iter().take(*size))
            .collect()
    }

    const NUMBER: [(u64, usize); 2] = [(1, 2), (5, 1)];

    #[test]
    fn the_rundown_is_read_in_all_versions() {
        let fields: [(u64, usize); 5] = [(1, 4), (0, 4), (0, 4), (80, 4), (3000, 4)];
        let mut parts = [&NUMBER[..], &fields].concat();
        let read = |version, parts: &[(u64, usize)]| Event::parse(64, version, &payload(parts));
        let mut want = Rundown {
            number: CORE,
            is_parked: Some(true),
            nominal_mhz: Some(3000),
            ..Rundown::default()
        };
        assert_eq!(read(0, &parts), Some(Event::Rundown(want)));
        parts.extend([(5, 4), (100, 4), (0, 4), (90, 4), (1, 1), (7, 1), (1, 4)]);
        (want.efficiency_class, want.scheduling_class) = (Some(1), Some(7));
        assert_eq!(read(2, &parts), Some(Event::Rundown(want)));
        parts.extend([(50, 4), (9, 4), (0, 4), (120, 4)]);
        want.relative_performance = Some(120);
        assert_eq!(read(4, &parts), Some(Event::Rundown(want)));
        parts.extend([(3, 1), (2500, 4), (0, 4), (2800, 4), (1, 4)]);
        (want.is_soft_parked, want.delivered_mhz) = (Some(false), Some(2800));
        assert_eq!(read(9, &parts), Some(Event::Rundown(want)));
        assert_eq!(read(9, &parts[..parts.len() - 2]), None);
    }

    #[test]
    fn speeds_and_parking_are_read() {
        let read = |id, version, parts: &[(u64, usize)]| Event::parse(id, version, &payload(parts));
        let delivered = |duration_us, mhz| {
            Some(Event::Delivered(Delivered {
                number: CORE,
                percent: 120,
                duration_us,
                mhz,
            }))
        };
        let parts = [&NUMBER[..], &[(120, 4), (15_000, 8), (3600, 4)]].concat();
        assert_eq!(read(111, 0, &parts[..3]), delivered(None, None));
        assert_eq!(read(111, 1, &parts[..4]), delivered(Some(15_000), None));
        assert_eq!(read(111, 2, &parts), delivered(Some(15_000), Some(3600)));
        assert_eq!(read(148, 0, &parts), delivered(Some(15_000), Some(3600)));
        let parts = [&[(4, 4), (2400, 4)], &NUMBER[..]].concat();
        assert_eq!(read(10, 0, &parts), Some(Event::Requested(CORE, 2400)));
        let parts = [&[(7, 8)], &NUMBER[..], &[(1, 4)]].concat();
        for (id, version, event) in [
            (14, 0, Event::Park(CORE, Parking::Parked)),
            (14, 1, Event::Park(CORE, Parking::Soft)),
            (15, 0, Event::Unpark(CORE, None)),
            (138, 0, Event::Park(CORE, Parking::Soft)),
            (204, 0, Event::Park(CORE, Parking::Forced)),
        ] {
            assert_eq!(read(id, version, &parts), Some(event), "{id} {version}");
        }
        let off = [&parts[..3], &[(0, 4)]].concat();
        assert_eq!(
            read(138, 0, &off),
            Some(Event::Unpark(CORE, Some(Parking::Soft)))
        );
        assert_eq!(
            read(68, 1, &[&NUMBER[..], &[(1, 4), (2, 4), (69, 4)]].concat()),
            Some(Event::Index(CORE, 69))
        );
        assert_eq!(read(99, 0, &parts), None);
    }
}
