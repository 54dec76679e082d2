//! The locale of the reader.
//!
//! Marks and groups come from the Unicode Common Locale Data Repository (for Arabic and Persian the
//! ones of European digits, since all numbers are written with them). On Windows the settings of
//! the user are read.

use etwkit_question::numbers::Numbers;

/// Languages and `language_TERRITORY` by their number formats; an entry with its territory takes
/// precedence over its language.
const FORMATS: &[(&str, &str)] = &[
    (
        "1,234,567.8",
        "am ar cy en fa fil ga gd gv ha he ig ja km kn ko kw mg mi mn ms mt my nd ny om qu si sn so sw th ti to ug ur yi yo zh zu \
         es_419 es_BR es_BZ es_CU es_DO es_GT es_HN es_MX es_NI es_PA es_PE es_PR es_SV es_US ta_MY ta_SG",
    ),
    (
        "1.234.567,8",
        "ast az bs ca da de dsb el es eu fo fy gl hr hsb ia id is it jv kl ku lb ln lo lu mk nl pt rn ro rw sc sg sl sr su tr vi wo \
         ar_DZ ar_LB ar_LY ar_MA ar_MR ar_TN en_AT en_BE en_DE en_DK en_ES en_ID en_IT en_NL en_PL en_RO en_SI fr_LU ms_BN ms_ID qu_BO sw_CD",
    ),
    (
        "1\u{A0}234\u{A0}567,8",
        "af be bg br cs cv eo et ff fi ht hu hy ie ka kab kea kk ky lt lv nb nn no nr pl ru sah se sk sq ss sv tg tk ts tt tzm uk uz ve \
         en_CZ en_FI en_HU en_NO en_PT en_SE en_SK en_ZA es_CR fr_CA pt_AO pt_CH pt_CV pt_GQ pt_GW pt_LU pt_MO pt_MZ pt_PT pt_ST pt_TL",
    ),
    ("1\u{202F}234\u{202F}567,8", "fr vec en_FR"),
    (
        "1\u{2019}234\u{2019}567.8",
        "gsw rm tn de_CH de_LI en_CH it_CH",
    ),
    ("1\u{A0}234\u{A0}567.8", "mfe nso xh"),
    (
        "12,34,567.8",
        "as bn brx dv dz gu hi ml mr ne or pa sa ta te en_IN",
    ),
];

/// Returns the number format of the reader, if it is known and differs from ours.
pub(crate) fn of_reader() -> Option<Numbers> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match name(variable) {
        Some(name) => of(&name),
        None => of_system(),
    }
}

/// Returns the name of the locale, from the variables that POSIX reads for numbers, in its order.
/// The first one that is set counts, even if its locale is unknown.
fn name(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    ["LC_ALL", "LC_NUMERIC", "LANG"]
        .into_iter()
        .find_map(variable)
}

/// Returns the number format of a locale: `de_DE.UTF-8`, `de-CH`, `sr_RS@latin`. `None` for `C`,
/// and for locales that are in no table.
fn of(name: &str) -> Option<Numbers> {
    let name = name.split(['.', '@']).next().unwrap_or(name);
    let mut parts = name.split(['_', '-']);
    let language = parts.next()?.to_ascii_lowercase();
    // A word of four letters is a script.
    let is_territory = |part: &&str| part.len() == 2 || part.len() == 3;
    let territory = parts
        .find(is_territory)
        .map(|part| format!("{language}_{}", part.to_ascii_uppercase()));
    let find = |wanted: &str| {
        let row = FORMATS
            .iter()
            .find(|(_, locales)| locales.split(' ').any(|locale| locale == wanted));
        row.and_then(|(example, _)| Numbers::like(example))
    };
    territory
        .and_then(|territory| find(&territory))
        .or_else(|| find(&language))
}

/// Returns the number format of the user's Windows settings, which .NET programs also follow: the
/// marks themselves, or else the name of the locale.
#[cfg(windows)]
fn of_system() -> Option<Numbers> {
    let settings = windows_registry::CURRENT_USER
        .open(r"Control Panel\International")
        .ok()?;
    let text = |name: &str| settings.get_string(name).ok();
    let of_settings = || of_marks(&text("sDecimal")?, &text("sThousand")?, &text("sGrouping")?);
    of_settings().or_else(|| of(&text("LocaleName")?))
}

#[cfg(not(windows))]
const fn of_system() -> Option<Numbers> {
    None
}

/// Returns the number format for marks and sizes of groups as stored by Windows: `3;0` is threes,
/// `3;2;0` a three and twos, `3` one group, `0` none.
#[cfg(any(windows, test))]
fn of_marks(decimal: &str, group: &str, grouping: &str) -> Option<Numbers> {
    // A mark is a single character; more of them, or digits and signs, would make numbers
    // unreadable.
    let mark = |text: &str| {
        let mut marks = text.chars();
        let fits =
            |mark: &char| !mark.is_alphanumeric() && !mark.is_control() && !"+-;\"".contains(*mark);
        marks.next().filter(fits).filter(|_| marks.next().is_none())
    };
    let decimal = mark(decimal)?;
    let size = |part: &str| part.parse::<u8>().ok().filter(|size| *size < 10);
    let sizes: Vec<u8> = grouping.split(';').map_while(size).collect();
    let sizes = match sizes[..] {
        [0, ..] | [] => (0, 0),
        [first, 0] => (first, first),
        [first] => (first, 0),
        [first, further, ..] => (first, further),
    };
    match mark(group) {
        Some(group) if group != decimal => Some(Numbers::new(decimal, group, sizes)),
        // Without a mark there are no groups.
        _ if group.is_empty() => Some(Numbers::new(decimal, ' ', (0, 0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(numbers: Option<Numbers>) -> Option<String> {
        numbers.map(|numbers| numbers.tenths(12_345_678))
    }

    #[test]
    fn locales_have_their_marks() {
        for (locale, expected) in [
            ("de_DE.UTF-8", "1.234.567,8"),
            ("de", "1.234.567,8"),
            ("de_AT@euro", "1.234.567,8"),
            ("de_CH.utf8", "1\u{2019}234\u{2019}567.8"),
            ("de-LI", "1\u{2019}234\u{2019}567.8"),
            ("en_US.UTF-8", "1,234,567.8"),
            ("EN_us", "1,234,567.8"),
            ("en_IN", "12,34,567.8"),
            ("fr_FR", "1\u{202F}234\u{202F}567,8"),
            ("fr_CA.UTF-8", "1\u{A0}234\u{A0}567,8"),
            ("es_ES", "1.234.567,8"),
            ("es_MX", "1,234,567.8"),
            ("es-419", "1,234,567.8"),
            ("pt_BR", "1.234.567,8"),
            ("pt_PT", "1\u{A0}234\u{A0}567,8"),
            ("sr-Latn-RS", "1.234.567,8"),
            ("ar_EG", "1,234,567.8"),
            ("ru_RU.KOI8-R", "1\u{A0}234\u{A0}567,8"),
        ] {
            assert_eq!(written(of(locale)).as_deref(), Some(expected), "{locale}");
        }
        for unknown in ["C", "POSIX", "C.UTF-8", "", "tlh_001", "_", "..", "de1"] {
            assert_eq!(written(of(unknown)), None, "{unknown}");
        }
    }

    #[test]
    fn every_locale_of_the_table_is_found_where_it_stands() {
        for (example, locales) in FORMATS {
            assert!(Numbers::like(example).is_some(), "{example}");
            for locale in locales.split(' ') {
                assert_eq!(written(of(locale)).as_deref(), Some(*example), "{locale}");
            }
        }
    }

    #[test]
    fn the_first_variable_that_is_set_counts() {
        for (set, expected) in [
            (
                &[("LC_ALL", "C"), ("LC_NUMERIC", "de_DE"), ("LANG", "de_DE")][..],
                Some("C"),
            ),
            (&[("LC_NUMERIC", "fr_FR"), ("LANG", "de_DE")], Some("fr_FR")),
            (&[("LANG", "de_DE")], Some("de_DE")),
            (&[("LC_MESSAGES", "de_DE"), ("LC_TIME", "de_DE")], None),
        ] {
            let variable = |name: &str| {
                set.iter()
                    .find(|(of, _)| *of == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(name(variable).as_deref(), expected, "{set:?}");
        }
    }

    #[test]
    fn marks_of_windows_are_taken_if_they_can_be_read() {
        for (decimal, group, grouping, expected) in [
            (",", ".", "3;0", Some("1.234.567,8")),
            (".", ",", "3;2;0", Some("12,34,567.8")),
            (".", ",", "3", Some("1234,567.8")),
            (",", "\u{A0}", "0", Some("1234567,8")),
            (",", ".", "", Some("1234567,8")),
            (",", "", "3;0", Some("1234567,8")),
            (".", "'", "4;0", Some("123'4567.8")),
            ("", ",", "3;0", None),
            (",", ",", "3;0", None),
            ("::", ",", "3;0", None),
            ("\u{1B}", ",", "3;0", None),
            (".", "5", "3;0", None),
        ] {
            let numbers = written(of_marks(decimal, group, grouping));
            assert_eq!(numbers.as_deref(), expected, "{decimal} {group} {grouping}");
        }
    }
}
