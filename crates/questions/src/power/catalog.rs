//! The power settings that have names here: their names in `powercfg`, their meaning, and the form
//! of their values.
//!
//! GUIDs, aliases and numbers of values follow the documentation of Windows power settings; the
//! list is in `settings`.

pub use super::settings::KNOWN;

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A GUID: a power scheme.
    Scheme,
    /// A number with a unit after it, if there is one.
    Number(&'static str),
    /// A number for each byte of it.
    Bytes,
    /// One of these names.
    Names(&'static [&'static str]),
    /// A number by which the setting is known, with its name after it.
    Numbered(&'static [&'static str]),
    /// One of these names; some numbers between them have no meaning.
    Coded(&'static [(i64, &'static str)]),
}

/// A part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Speed of processors and where threads run.
    Cpu,
    /// Idle states.
    Idle,
    /// Parked cores.
    Parking,
    /// Processors that take interrupts.
    Interrupts,
    /// Settings of no other part.
    General,
    /// The sleep state of the machine.
    Sleep,
    /// Idle resiliency: activities that devices and programs are allowed while the machine is idle.
    Resiliency,
    /// Reactions to a presence sensor.
    Presence,
    /// Screens.
    Display,
    /// Graphics processors.
    Graphics,
    /// Video and shared media.
    Media,
    /// Disks.
    Disk,
    /// Links of PCI Express.
    Pci,
    /// USB.
    Usb,
    /// Wireless networks.
    Wireless,
    /// Buttons and the lid.
    Buttons,
    /// Batteries.
    Battery,
    /// Saving energy on battery.
    Saver,
    /// State of the machine: on battery, lid closed.
    State,
    /// Settings without a name here.
    Other,
}

impl Section {
    /// Returns its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU power",
            Self::Idle => "Idle states",
            Self::Parking => "Core parking",
            Self::Interrupts => "Interrupt steering",
            Self::General => "General",
            Self::Sleep => "Sleep",
            Self::Resiliency => "Idle resiliency",
            Self::Presence => "Presence and standby budget",
            Self::Display => "Display",
            Self::Graphics => "Graphics",
            Self::Media => "Multimedia",
            Self::Disk => "Hard disk",
            Self::Pci => "PCI Express",
            Self::Usb => "USB",
            Self::Wireless => "Wireless adapter",
            Self::Buttons => "Power buttons and lid",
            Self::Battery => "Battery",
            Self::Saver => "Energy saver",
            Self::State => "State of the machine",
            Self::Other => "Other settings",
        }
    }
}

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogSetting {
    /// Part of the list.
    pub section: Section,
    /// Name.
    pub name: &'static str,
    /// Its alias in `powercfg`; empty if `powercfg` does not know it.
    pub alias: &'static str,
    /// GUID, in lower case.
    pub guid: &'static str,
    /// The form of its value.
    pub form: Form,
    /// Its effect.
    pub help: &'static str,
}

/// Schemes of Windows.
const SCHEMES: [(&str, &str); 4] = [
    ("381b4222-f694-41f0-9685-ff5bb260df2e", "Balanced"),
    ("8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "HighPerformance"),
    ("a1841308-3541-4fab-bc81-f71556f20b4a", "PowerSaver"),
    (
        "e9a42b02-d5df-448d-aa00-03f14749eb61",
        "UltimatePerformance",
    ),
];

/// Returns the setting with that GUID.
#[must_use]
pub fn find(guid: &str) -> Option<&'static CatalogSetting> {
    KNOWN
        .iter()
        .find(|known| known.guid.eq_ignore_ascii_case(guid))
}

/// Returns the name of a power scheme; `Custom` for schemes that are not part of Windows.
#[must_use]
pub fn scheme(guid: &str) -> &'static str {
    SCHEMES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(guid))
        .map_or("Custom", |(_, name)| name)
}

/// Returns the GUID of a built-in scheme of Windows.
#[must_use]
pub fn scheme_guid(name: &str) -> Option<&'static str> {
    SCHEMES
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(guid, _)| *guid)
}

impl Form {
    /// Formats a value: as a number, as a GUID, or as bytes in hexadecimal digits, depending on the
    /// form.
    #[must_use]
    pub fn text(self, number: Option<i64>, guid: Option<&str>, hex: &str) -> String {
        match (self, number, guid) {
            (Self::Scheme, _, Some(guid)) => match scheme(guid) {
                "Custom" => format!("Custom {guid}"),
                name => name.to_owned(),
            },
            (Self::Bytes, Some(number), _) => {
                let bytes = number.to_le_bytes();
                let count = hex.len() / 2;
                let numbers: Vec<String> =
                    bytes.iter().take(count).map(ToString::to_string).collect();
                numbers.join(",")
            }
            (Self::Names(names), Some(number), _) => {
                let name = usize::try_from(number)
                    .ok()
                    .and_then(|number| names.get(number));
                name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
            }
            (Self::Numbered(names), Some(number), _) => {
                let name = usize::try_from(number)
                    .ok()
                    .and_then(|number| names.get(number));
                name.map_or_else(|| number.to_string(), |name| format!("{number} ({name})"))
            }
            (Self::Coded(names), Some(number), _) => {
                let name = names.iter().find(|(value, _)| *value == number);
                name.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
            }
            (Self::Number(unit), Some(number), _) => format!("{number}{unit}"),
            (_, Some(number), _) => number.to_string(),
            (_, _, Some(guid)) => guid.to_owned(),
            _ => format!("0x{hex}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const PERCENT: Form = Form::Number(" %");
    const BOOST: Form = Form::Names(&["Disabled", "Enabled", "Aggressive"]);

    /// Returns the form of a setting by its alias in `powercfg`.
    fn form(alias: &str) -> Form {
        KNOWN
            .iter()
            .find(|known| known.alias == alias)
            .unwrap()
            .form
    }

    #[test]
    fn settings_are_named_once() {
        let guids: HashSet<&str> = KNOWN.iter().map(|known| known.guid).collect();
        let names: HashSet<&str> = KNOWN.iter().map(|known| known.name).collect();
        assert_eq!((guids.len(), names.len()), (KNOWN.len(), KNOWN.len()));
        for known in KNOWN {
            assert_eq!(known.guid.len(), 36, "{}", known.name);
            assert!(
                known
                    .guid
                    .chars()
                    .all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c))
            );
            assert!(known.help.ends_with('.'), "{}", known.name);
        }
        let aliases: Vec<&str> = KNOWN
            .iter()
            .map(|known| known.alias)
            .filter(|it| !it.is_empty())
            .collect();
        assert_eq!(aliases.iter().collect::<HashSet<_>>().len(), aliases.len());
        // Each part of the list has one heading.
        let mut parts: Vec<Section> = KNOWN.iter().map(|known| known.section).collect();
        parts.dedup();
        assert_eq!(
            parts
                .iter()
                .map(|part| part.title())
                .collect::<HashSet<_>>()
                .len(),
            parts.len()
        );
    }

    #[test]
    fn values_read_as_their_kind_says() {
        for (form, number, guid, hex, text) in [
            (PERCENT, Some(50), None, "32000000", "50 %"),
            (BOOST, Some(2), None, "02000000", "Aggressive"),
            (BOOST, Some(77), None, "4d000000", "77"),
            (Form::Bytes, Some(0x0403_0201), None, "01020304", "1,2,3,4"),
            (
                Form::Scheme,
                None,
                Some("381B4222-f694-41f0-9685-ff5bb260df2e"),
                "",
                "Balanced",
            ),
            (
                Form::Scheme,
                None,
                Some("00000000-0000-0000-0000-000000000001"),
                "",
                "Custom 00000000-0000-0000-0000-000000000001",
            ),
            (PERCENT, None, None, "010203", "0x010203"),
            (form("HETEROPOLICY"), Some(0), None, "00000000", "0 (None)"),
            (
                form("HETEROPOLICY"),
                Some(4),
                None,
                "04000000",
                "4 (Dynamic)",
            ),
            (form("HETEROPOLICY"), Some(6), None, "06000000", "6"),
            (form("SCHEDPOLICY"), Some(5), None, "05000000", "Automatic"),
            (
                form("PERFBOOSTMODE"),
                Some(6),
                None,
                "06000000",
                "EfficientAggressiveAtGuaranteed",
            ),
            (
                form("CPINCREASEPOL"),
                Some(3),
                None,
                "03000000",
                "MultiStep",
            ),
            (form("ASPM"), Some(2), None, "02000000", "MaximumSavings"),
            (form("STANDBYIDLE"), Some(900), None, "84030000", "900 s"),
            // Values of events are numbers of actions, not positions in the list of `powercfg`.
            (form("LIDACTION"), Some(2), None, "02000000", "Sleep"),
            (form("LIDACTION"), Some(1), None, "01000000", "1"),
        ] {
            assert_eq!(form.text(number, guid, hex), text);
        }
    }
}
