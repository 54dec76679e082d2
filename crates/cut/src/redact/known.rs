//! Names that are Microsoft's or everybody's, and are therefore kept.

use std::sync::LazyLock;

use etwkit_decode::status;
use rustc_hash::FxHashSet;

type Set = LazyLock<FxHashSet<&'static str>>;

/// A list of the folder `known`, separated by white space.
macro_rules! words {
    ($file:literal) => {
        LazyLock::new(|| {
            lines(include_str!(concat!("known/", $file)))
                .flat_map(str::split_ascii_whitespace)
                .collect()
        })
    };
}

/// A list of the folder `known`, one entry a line.
macro_rules! entries {
    ($file:literal) => {
        LazyLock::new(|| lines(include_str!(concat!("known/", $file))).collect())
    };
}

static MODULES: Set = words!("modules.txt");
static WORDS: Set = words!("words.txt");
static EXTENSIONS: Set = words!("extensions.txt");
static FILES: Set = words!("files.txt");
static KEYS: Set = words!("keys.txt");
static DEVICES: Set = words!("devices.txt");
static RUNTIMES: Set = words!("runtimes.txt");
static CODE: Set = words!("code.txt");
static PHRASES: Set = entries!("phrases.txt");
static FOLDERS: Set = entries!("folders.txt");

/// The last word of the names of hosts, apart from those of countries, which have two letters.
const TOP_DOMAINS: [&str; 15] = [
    "com", "net", "org", "edu", "gov", "mil", "info", "biz", "io", "local", "lan", "corp",
    "intern", "internal", "arpa",
];

/// Tokens of the keys by which Microsoft signs assemblies.
const KEY_TOKENS: [&str; 6] = [
    "31bf3856ad364e35",
    "6595b64144ccf1df",
    "1fc8b3b9a1e18e3b",
    "b77a5c561934e089",
    "b03f5f7f11d50a3a",
    "89845dcd8080cc91",
];

/// Publishers of the packages that come with Windows.
const PUBLISHERS: [&str; 2] = ["8wekyb3d8bbwe", "cw5n1h2txyewy"];

/// The processors that packages and assemblies are built for.
const ARCHITECTURES: [&str; 7] = ["amd64", "x86", "wow64", "msil", "arm64", "x64", "neutral"];

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// True if Windows or .NET install a module of that name. All texts are in lower case here.
pub(super) fn is_module(name: &str) -> bool {
    MODULES.contains(name)
}

/// True for a library that many programs bring along, which is in their own folders.
pub(super) fn is_runtime(name: &str) -> bool {
    RUNTIMES.contains(name)
}

/// True for the name of a module without its extension.
pub(super) fn is_module_stem(stem: &str) -> bool {
    ["dll", "exe", "sys"]
        .iter()
        .any(|extension| MODULES.contains(format!("{stem}.{extension}").as_str()))
}

/// True for the name of a service or protocol, or a word of the system.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.contains(word)
}

/// True if a whole text names a thing that is everywhere the same.
pub(super) fn is_phrase(text: &str) -> bool {
    PHRASES.contains(text)
}

/// True for an extension that many files have.
pub(super) fn is_extension(extension: &str) -> bool {
    EXTENSIONS.contains(extension)
}

/// True for a file that every volume or every Windows has.
pub(super) fn is_file(name: &str) -> bool {
    FILES.contains(name)
}

/// True for a word of a path in the registry.
pub(super) fn is_key(word: &str) -> bool {
    KEYS.contains(word)
}

/// True for the name of a device, without its number.
pub(super) fn is_device(name: &str) -> bool {
    DEVICES.contains(name.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// True for a word of programming languages, or the name of a method that many classes have.
pub(super) fn is_code(word: &str) -> bool {
    CODE.contains(word)
}

/// True if an identifier starts with a name space of .NET.
pub(super) fn is_framework(identifier: &str) -> bool {
    let first = identifier.split(['.', '`', '/', '+']).next();
    first.is_some_and(|first| {
        matches!(
            first,
            "system" | "microsoft" | "windows" | "ms" | "interop" | "internal" | "mscorlib"
        )
    })
}

/// True for the status that the kernel or a function returned, as a number.
pub(super) fn is_status(number: &str) -> bool {
    let code = number
        .strip_prefix("0x")
        .filter(|digits| digits.len() == 8)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    // 0x8007 is the upper half of an HRESULT that wraps a Win32 error.
    code.is_some_and(|code| code >> 31 == 1 && (status::nt(code).is_some() || code >> 16 == 0x8007))
}

/// True if the last word is one of hosts.
pub(super) fn is_top_domain(word: &str) -> bool {
    TOP_DOMAINS.contains(&word) || word.len() == 2 && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// The known folder of that name in a known folder: its path in the list.
pub(super) fn folder(parent: &str, name: &str) -> Option<String> {
    let inside = |name: &str| {
        let path = if parent.is_empty() {
            name.to_owned()
        } else {
            format!(r"{parent}\{name}")
        };
        FOLDERS.contains(path.as_str()).then_some(path)
    };
    // The signs of placeholders cannot be in names of files.
    let place = |is_it: bool, place: &str| is_it.then(|| inside(place)).flatten();
    inside(name)
        .or_else(|| place(is_version(name), "<version>"))
        .or_else(|| place(is_language(name), "<language>"))
        .or_else(|| place(is_assembly_side(name), "<assembly-side>"))
        .or_else(|| place(is_package(name), "<package>"))
        .or_else(|| place(is_assembly_version(name), "<token>"))
        .or_else(|| place(is_assembly(name), "<assembly>"))
        .or_else(|| inside("<user>"))
}

/// `v4.0.30319`, `7.0.2`, `4.18.23100.2009-0`.
pub(super) fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains('.')
        && text.len() <= 24
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
}

/// `en-us`.
fn is_language(text: &str) -> bool {
    let is_letters = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_lowercase());
    text.split_once('-')
        .is_some_and(|(language, country)| is_letters(language) && is_letters(country))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A folder of `WinSxS` with an assembly that Microsoft signed.
fn is_assembly_side(text: &str) -> bool {
    // amd64_microsoft.windows.common-controls_6595b64144ccf1df_6.0.19041.1110_none_60b5254171f9507e
    let parts: Vec<&str> = text.split('_').collect();
    let [architecture, name @ .., token, version, language, hash] = parts.as_slice() else {
        return false;
    };
    ARCHITECTURES.contains(architecture)
        && KEY_TOKENS.contains(token)
        && is_version(version)
        && (*language == "none" || is_language(language))
        && hash.len() == 16
        && is_hex(hash)
        && name.iter().all(|part| is_plain(part))
}

/// `v4.0_4.0.0.0__b77a5c561934e089`.
fn is_assembly_version(text: &str) -> bool {
    text.rsplit_once("__").is_some_and(|(version, token)| {
        KEY_TOKENS.contains(&token) && version.split('_').all(is_version)
    })
}

/// The name of an assembly of the framework.
pub(super) fn is_assembly(name: &str) -> bool {
    is_plain(name)
        && (is_framework(name) && !name.contains("..")
            || matches!(name, "windowsbase" | "accessibility" | "uiautomationtypes")
            || name.starts_with("presentation"))
}

/// The name of a package of Windows, with or without version, and with or without a program in it.
pub(super) fn is_package(text: &str) -> bool {
    let package = text.split('!').next().unwrap_or(text);
    let program = text.split_once('!').map_or("", |(_, program)| program);
    let Some((front, publisher)) = package.rsplit_once('_') else {
        return false;
    };
    let mut parts = front.split('_');
    let name = parts.next().unwrap_or("");
    PUBLISHERS.contains(&publisher)
        && (name.starts_with("microsoft") || name.starts_with("windows."))
        && is_plain(name)
        && is_plain(program)
        && parts.all(|part| {
            part.is_empty()
                || is_version(part)
                || ARCHITECTURES.contains(&part)
                || part == "neutral"
        })
}

fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_lower_case_and_every_folder_has_its_parent() {
        for list in [
            &MODULES,
            &WORDS,
            &EXTENSIONS,
            &FILES,
            &KEYS,
            &RUNTIMES,
            &DEVICES,
            &CODE,
            &PHRASES,
            &FOLDERS,
        ] {
            assert!(!list.is_empty());
            for entry in list.iter() {
                assert_eq!(*entry, entry.to_lowercase());
            }
        }
        for (parent, _) in FOLDERS.iter().filter_map(|path| path.rsplit_once('\\')) {
            assert!(FOLDERS.contains(parent), "{parent}");
        }
    }

    #[test]
    fn names_with_parts_of_their_own_are_known_by_their_form() {
        for side in [
            "amd64_microsoft.windows.common-controls_6595b64144ccf1df_6.0.19041.1110_none_60b5254171f9507e",
            "x86_microsoft-windows-shell32_31bf3856ad364e35_10.0.19041.1_en-us_0123456789abcdef",
        ] {
            assert!(is_assembly_side(side), "{side}");
        }
        for side in [
            "amd64_contoso.secret_0123456789abcdef_6.0.0.0_none_60b5254171f9507e",
            "amd64_bob smith_6595b64144ccf1df_6.0.0.0_none_60b5254171f9507e",
            "bob_6595b64144ccf1df_6.0.0.0_none_60b5254171f9507e",
        ] {
            assert!(!is_assembly_side(side), "{side}");
        }
        assert!(is_package(
            "microsoft.windowsterminal_1.18.1.0_x64__8wekyb3d8bbwe!app"
        ));
        assert!(is_package("microsoft.windowsterminal_8wekyb3d8bbwe"));
        assert!(!is_package("contoso.app_1.18.1.0_x64__8wekyb3d8bbwe"));
        assert!(!is_package(
            "microsoft.bob_1.18.1.0_x64_bobsmith_8wekyb3d8bbwe"
        ));
        assert!(is_version("v4.0.30319") && !is_version("19770412") && !is_version("bob"));
    }

    #[test]
    fn folders_are_known_below_known_ones() {
        assert_eq!(folder("", "windows").as_deref(), Some("windows"));
        assert_eq!(
            folder(r"windows\system32", "de-de").as_deref(),
            Some(r"windows\system32\<language>")
        );
        assert_eq!(folder("users", "bob").as_deref(), Some(r"users\<user>"));
        assert_eq!(folder("", "bob"), None);
        assert_eq!(folder(r"windows\system32", "bob"), None);
    }

    #[test]
    fn only_a_known_status_is_one() {
        assert!(is_status("0xc0000022") && is_status("0x80070005"));
        assert!(!is_status("0x12345678") && !is_status("0xc0000022f") && !is_status("c0000022"));
    }
}
