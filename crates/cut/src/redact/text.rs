//! Substitutes of texts: what is Microsoft's and public stays, the rest is replaced part by part.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etwkit_decode::found_text;
use rustc_hash::{FxHashMap, FxHashSet};

use super::hint::Hint;
use super::known;
use super::path;
use super::substitutes::{Class, Substitutes};

/// Texts whose substitutes are remembered, so that the paths of a long trace are not taken apart
/// again and again.
const REMEMBERED: usize = 1 << 16;

/// The module or process that an event describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Subject {
    /// The event describes none, or it is not known whose it is.
    #[default]
    Unknown,
    /// It is Microsoft's.
    Public,
    /// It is somebody else's, whatever its name is.
    Private,
}

/// The reason for which a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Its version record and its place say that it is Microsoft's.
    Version,
    /// The name of a module or process of Windows or .NET.
    Module,
    /// A folder that every Windows has.
    Folder,
    /// A file that every volume or every Windows has.
    File,
    /// A service, a protocol, a word of the system.
    Word,
    /// A session, a kind of adapter, a device.
    Phrase,
    /// A part of a path in the registry.
    Key,
    /// A function of .NET, or a word of programming.
    Code,
    /// A status code.
    Status,
    /// A version or model of Windows, of its modules and of processors.
    Build,
    /// An extension of files.
    Extension,
}

impl Reason {
    /// The wording of the reason in the text report.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Version => "Microsoft's by version record, folder and symbol file",
            Self::Module => "names of modules and processes of Windows and .NET",
            Self::Folder => "folders that every Windows has",
            Self::File => "files that every volume or every Windows has",
            Self::Word => "services, protocols, words of the system",
            Self::Phrase => "sessions, devices, kinds of adapters",
            Self::Key => "parts of paths in the registry",
            Self::Code => "functions of .NET, words of programming",
            Self::Status => "status codes",
            Self::Build => "versions of Windows and models of processors",
            Self::Extension => "extensions of files",
        }
    }

    /// Its key in JSON.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Module => "module",
            Self::Folder => "folder",
            Self::File => "file",
            Self::Word => "word",
            Self::Phrase => "phrase",
            Self::Key => "key",
            Self::Code => "code",
            Self::Status => "status",
            Self::Build => "build",
            Self::Extension => "extension",
        }
    }
}

/// Kept texts by reason, with the number of times that they were kept.
pub type KeptTexts = BTreeMap<Reason, BTreeMap<String, u64>>;

/// Replaces texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) substitutes: Substitutes,
    /// Names of modules, in lower case, that are Microsoft's by their evidence.
    pub(super) modules: FxHashSet<Box<str>>,
    /// Modules by path in lower case, without the volume: true if they are Microsoft's.
    pub(super) images: FxHashMap<Box<str>, bool>,
    /// The texts that were kept.
    pub(super) kept: KeptTexts,
    remembered: FxHashMap<(Hint, Subject, Box<str>), Box<str>>,
}

impl Texts {
    /// The substitute of a text.
    pub(super) fn text(&mut self, text: &str, hint: Hint, subject: Subject) -> String {
        let key = (hint, subject, text.into());
        if let Some(known) = self.remembered.get(&key) {
            return known.to_string();
        }
        let new = self.new_text(text, hint, subject);
        if self.remembered.len() >= REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(key, new.as_str().into());
        new
    }

    fn new_text(&mut self, text: &str, hint: Hint, subject: Subject) -> String {
        let lower = text.to_lowercase();
        if known::is_phrase(lower.trim()) {
            return self.keep(Reason::Phrase, text);
        }
        if let Some(kept) = self.kept_name(text, &lower, subject) {
            return kept;
        }
        match hint {
            Hint::Text => self.any(text, subject),
            Hint::Command => self.pieces(text, subject),
            Hint::Host => self.hosts(text),
            Hint::Key => self.key(text),
            Hint::Code | Hint::Method => self.code(text, hint, subject),
            Hint::Whole(kind) => self.whole(text, kind, subject),
            Hint::Version => self.version(text, subject),
            Hint::Hardware => self.hardware(text),
        }
    }

    /// Counts a text that is kept.
    pub(super) fn keep(&mut self, reason: Reason, text: &str) -> String {
        let texts = self.kept.entry(reason).or_default();
        *texts.entry(text.to_lowercase()).or_default() += 1;
        text.to_owned()
    }

    /// The name of a module or process without its folder, if it is kept.
    pub(super) fn kept_name(
        &mut self,
        text: &str,
        lower: &str,
        subject: Subject,
    ) -> Option<String> {
        if subject == Subject::Private {
            return None;
        }
        if known::is_module(lower) {
            return Some(self.keep(Reason::Module, text));
        }
        if self.modules.contains(lower) {
            return Some(self.keep(Reason::Version, text));
        }
        // Symbol files have the name of their module.
        let stem = lower.strip_suffix(".pdb")?;
        let is_of_module = |extension: &str| {
            self.modules
                .contains(format!("{stem}.{extension}").as_str())
        };
        if known::is_module_stem(stem) || ["dll", "exe", "sys"].into_iter().any(is_of_module) {
            return Some(self.keep(Reason::Module, text));
        }
        None
    }

    /// Replaces a text of any form.
    fn any(&mut self, text: &str, subject: Subject) -> String {
        if path::is_start(text) && !path::is_list(text) {
            return self.path(text, subject);
        }
        self.pieces(text, subject)
    }

    /// Replaces the words of a line. Text in quotes is one piece.
    fn pieces(&mut self, text: &str, subject: Subject) -> String {
        let mut new = String::with_capacity(text.len());
        for (at, part) in text.split('"').enumerate() {
            if at > 0 {
                new.push('"');
            }
            if at % 2 == 1 && path::is_start(part) && !path::is_list(part) {
                new.push_str(&self.path(part, subject));
            } else {
                self.line(part, subject, &mut new);
            }
        }
        new
    }

    /// Replaces the words of a line without quotes.
    fn line(&mut self, mut rest: &str, subject: Subject, new: &mut String) {
        let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | ',' | '<' | '>' | '|');
        while let Some(first) = rest.chars().next() {
            if is_end(first) {
                new.push(first);
                (_, rest) = rest.split_at(first.len_utf8());
                continue;
            }
            // The one folder with a blank in its name that paths without quotes go through.
            let skipped = path::program_files(rest);
            let tail = rest.get(skipped..).unwrap_or("");
            let end = tail.find(is_end).map_or(rest.len(), |at| skipped + at);
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let piece = self.piece(piece, subject);
            new.push_str(&piece);
            rest = after;
        }
    }

    /// Replaces a piece of a line: a path, perhaps behind an option, or something without folders.
    fn piece(&mut self, piece: &str, subject: Subject) -> String {
        let lower = piece.to_lowercase();
        if let Some(kept) = self.kept_name(piece, &lower, subject) {
            return kept;
        }
        match path::inside(piece) {
            Some(at) => {
                let (front, path) = piece.split_at_checked(at).unwrap_or((piece, ""));
                self.token(front, subject) + &self.path(path, subject)
            }
            None => self.token(piece, subject),
        }
    }

    /// Replaces a piece without backslashes.
    fn token(&mut self, token: &str, subject: Subject) -> String {
        if let Some(url) = self.url(token, subject) {
            return url;
        }
        // An address of version 6 has colons, at which the next step would take it apart.
        self.parts(
            token,
            |c| matches!(c, '=' | '(' | ')' | '[' | ']' | '{' | '}' | '\''),
            {
                |texts, part| {
                    if let Some(address) = texts.address(part).or_else(|| texts.identity(part)) {
                        return address;
                    }
                    let is_end = |c: char| {
                        matches!(
                            c,
                            '/' | ':' | '!' | '?' | '*' | '&' | '^' | '#' | '+' | '`' | '\\'
                        )
                    };
                    texts.parts(part, is_end, |texts, word| texts.word(word, subject))
                }
            },
        )
    }

    /// Replaces the parts of a text between characters that stay.
    fn parts(
        &mut self,
        text: &str,
        is_end: impl Fn(char) -> bool,
        mut replace: impl FnMut(&mut Self, &str) -> String,
    ) -> String {
        let mut new = String::with_capacity(text.len());
        for part in text.split_inclusive(&is_end) {
            let word = part.trim_end_matches(&is_end);
            if !word.is_empty() {
                new.push_str(&replace(self, word));
            }
            new.push_str(part.split_at(word.len()).1);
        }
        new
    }

    /// Replaces `scheme://host:port/path`.
    fn url(&mut self, token: &str, subject: Subject) -> Option<String> {
        let (scheme, rest) = token.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at_checked(end)?;
        let host = match host.rsplit_once('@') {
            Some((user, host)) => format!("{}@{}", self.word(user, subject), self.host(host)),
            None => self.host(host),
        };
        Some(format!(
            "{}://{host}{}",
            self.word(scheme, subject),
            self.token(path, subject)
        ))
    }

    /// The substitute of a text that is an address, perhaps with a port.
    fn address(&mut self, text: &str) -> Option<String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(self.substitutes.address(address).to_string());
        }
        if let Some((address, port)) = text.rsplit_once([':', '/', '%'])
            && port.bytes().all(|byte| byte.is_ascii_digit())
        {
            let mark = text.get(address.len()..=address.len())?;
            let substitute = match (address.parse::<Ipv4Addr>(), mark) {
                (Ok(v4), ":" | "/") => self.substitutes.address(v4.into()),
                _ if mark != ":" => self
                    .substitutes
                    .address(address.parse::<Ipv6Addr>().ok()?.into()),
                _ => return None,
            };
            return Some(format!("{substitute}{mark}{port}"));
        }
        None
    }

    /// The substitute of a text that is a GUID or a SID.
    pub(super) fn identity(&mut self, text: &str) -> Option<String> {
        if is_guid(text) {
            return Some(self.substitutes.guid(text));
        }
        self.substitutes.sid_text(text)
    }

    /// Replaces a word.
    pub(super) fn word(&mut self, word: &str, subject: Subject) -> String {
        let lower = word.to_lowercase();
        let dashes = word.len() - word.trim_start_matches('-').len();
        if dashes > 0 && dashes < word.len() {
            let (dashes, option) = word.split_at_checked(dashes).unwrap_or(("", word));
            return format!("{dashes}{}", self.word(option, subject));
        }
        if let Some(kept) = self.kept_word(word, &lower, subject) {
            return kept;
        }
        if let Ok(address) = word.parse::<Ipv4Addr>() {
            return self.substitutes.address(address.into()).to_string();
        }
        for class in [Class::Word, Class::Host] {
            if let Some(given) = self.substitutes.given(class, &lower) {
                return given.to_owned();
            }
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.substitutes.numbered(Class::Word, "number", word, "");
        }
        if let Some(name) = self.file_by_extension(word) {
            return name;
        }
        let last = lower.rsplit('.').next().unwrap_or("");
        if lower.contains('.') && known::is_top_domain(last) && !lower.contains('@') {
            return self.host(word);
        }
        self.substitutes.numbered(Class::Word, "name", word, "")
    }

    fn kept_word(&mut self, word: &str, lower: &str, subject: Subject) -> Option<String> {
        let is_short = |limit: usize, of: fn(&u8) -> bool| {
            word.len() <= limit && word.as_bytes().iter().all(of)
        };
        let is_sign = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric();
        if word.chars().all(is_sign)
            || is_short(1, u8::is_ascii_alphabetic)
            || is_short(2, u8::is_ascii_digit)
        {
            return Some(word.to_owned());
        }
        if known::is_word(lower) {
            return Some(self.keep(Reason::Word, word));
        }
        if known::is_status(lower) {
            return Some(self.keep(Reason::Status, word));
        }
        self.kept_name(word, lower, subject)
    }

    /// The substitute of a word with an extension.
    fn file_by_extension(&mut self, word: &str) -> Option<String> {
        let (stem, extension) = word.rsplit_once('.')?;
        let is_file = !stem.is_empty() && known::is_extension(&extension.to_lowercase());
        // `.com` was an extension before it was a domain.
        let is_host = matches!(&*extension.to_lowercase(), "com");
        (is_file && !is_host).then(|| self.file(word))
    }

    /// Replaces names of hosts and addresses in a list.
    fn hosts(&mut self, text: &str) -> String {
        let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | ',');
        self.parts(text, is_end, |texts, part| match part {
            // The results of a query: `type:  5 name;address;`.
            "type:" => part.to_owned(),
            part if part.len() <= 5 && part.bytes().all(|b| b.is_ascii_digit()) => part.to_owned(),
            part => texts.host(part),
        })
    }

    /// Replaces the name or address of a host, perhaps with a port.
    pub(super) fn host(&mut self, host: &str) -> String {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Some(address) = self.address(host).or_else(|| self.address(bare)) {
            return address;
        }
        if let Some((name, port)) = host.rsplit_once(':')
            && port.len() <= 5
            && port.bytes().all(|byte| byte.is_ascii_digit())
        {
            return format!("{}:{port}", self.host(name));
        }
        if host.is_empty() || known::is_phrase(&host.to_lowercase()) {
            return self.keep(Reason::Phrase, host);
        }
        // Names of hosts with the dot at their end are the same ones.
        let (name, dot) = match host.strip_suffix('.') {
            Some(name) => (name, "."),
            None => (host, ""),
        };
        let ending = if name.contains('.') { ".example" } else { "" };
        let substitute = self.substitutes.numbered(Class::Host, "host", name, ending);
        substitute + dot
    }

    fn whole(&mut self, text: &str, kind: &'static str, subject: Subject) -> String {
        let lower = text.to_lowercase();
        if subject == Subject::Public && matches!(kind, "product" | "description" | "company") {
            return self.keep(Reason::Version, text);
        }
        if text.trim().is_empty() {
            return text.to_owned();
        }
        if kind == "product" && lower.starts_with("windows ") && !lower.contains('\\') {
            // The edition of Windows.
            let words = lower.split(' ');
            const EDITIONS: [&str; 14] = [
                "windows",
                "server",
                "7",
                "8",
                "8.1",
                "10",
                "11",
                "home",
                "pro",
                "enterprise",
                "education",
                "standard",
                "datacenter",
                "ultimate",
            ];
            if words
                .into_iter()
                .all(|word| EDITIONS.contains(&word) || is_year(word))
            {
                return self.keep(Reason::Build, text);
            }
        }
        if kind == "service" && known::is_word(&lower) {
            return self.keep(Reason::Word, text);
        }
        self.substitutes
            .numbered(Class::Whole(kind), kind, text, "")
    }

    /// Keeps a version of Windows or of one of its modules.
    fn version(&mut self, text: &str, subject: Subject) -> String {
        // 19041.vb_release.191206-1406, 10.0.19041.1 (WinBuild.160101.0800)
        let is_build = |text: &str| {
            let first = text.split('.').next().unwrap_or("");
            text.len() <= 64
                && first.len() >= 4
                && first.bytes().all(|byte| byte.is_ascii_digit())
                && is_build_time(text.rsplit('.').next().unwrap_or(""))
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        if subject == Subject::Public || subject == Subject::Unknown && is_build(text) {
            return self.keep(Reason::Build, text);
        }
        self.substitutes
            .numbered(Class::Whole("version"), "version", text, "")
    }

    /// Keeps the model of a processor.
    fn hardware(&mut self, text: &str) -> String {
        const FRONTS: [&str; 7] = [
            "Intel(R) ",
            "AMD ",
            "Intel64 Family ",
            "AMD64 Family ",
            "ARMv8 ",
            "Snapdragon",
            "Qualcomm",
        ];
        let is_model = FRONTS
            .iter()
            .any(|front| text.trim_start().starts_with(front));
        if is_model && text.is_ascii() {
            return self.keep(Reason::Build, text);
        }
        self.substitutes
            .numbered(Class::Whole("device"), "device", text, "")
    }

    /// Replaces a path in the registry, or a part of it.
    pub(super) fn key(&mut self, text: &str) -> String {
        self.parts(
            text,
            |c| c == '\\',
            |texts, part| {
                texts.parts(
                    part,
                    |c| c == ' ' || c == '{' || c == '}',
                    |texts, word| {
                        let lower = word.to_lowercase();
                        if known::is_key(&lower) {
                            return texts.keep(Reason::Key, word);
                        }
                        if known::is_word(&lower) {
                            return texts.keep(Reason::Word, word);
                        }
                        if let Some(kept) = texts.kept_name(word, &lower, Subject::Unknown) {
                            return kept;
                        }
                        let bare = word.trim_end_matches("_Classes");
                        match texts.identity(bare) {
                            Some(identity) => identity + word.split_at(bare.len()).1,
                            None => texts.substitutes.numbered(Class::Word, "key", word, ""),
                        }
                    },
                )
            },
        )
    }

    /// Replaces identifiers of programs.
    fn code(&mut self, text: &str, hint: Hint, subject: Subject) -> String {
        let is_end = |c: char| {
            c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '`' | '$')
        };
        self.parts(text, is_end, |texts, identifier| {
            texts.identifier(identifier, hint, subject)
        })
    }

    fn identifier(&mut self, identifier: &str, hint: Hint, subject: Subject) -> String {
        let lower = identifier.to_lowercase();
        let is_number = lower.bytes().all(|byte| byte.is_ascii_digit()) && lower.len() <= 2;
        if is_number || lower.bytes().all(|byte| byte.is_ascii_punctuation()) {
            return identifier.to_owned();
        }
        // A name space of the framework in a module of it; the types in its brackets are those of
        // its users.
        let is_public =
            subject == Subject::Public && (known::is_framework(&lower) || hint == Hint::Method);
        if known::is_code(&lower) || is_public {
            return self.keep(Reason::Code, identifier);
        }
        // The name space of .NET itself stays for rules that ask for it; the rest of a name may be
        // anybody's.
        let front = match identifier.split_once('.') {
            Some((front, _)) if known::is_framework(&front.to_lowercase()) => front,
            _ => "",
        };
        let (_, rest) = identifier.split_at(front.len());
        let new = self.parts(
            rest,
            |c| c == '.',
            |texts, part| texts.substitutes.numbered(Class::Word, "code", part, ""),
        );
        front.to_owned() + &new
    }

    /// Replaces the key of a package, if it does not come with Windows.
    pub(super) fn package(&mut self, text: &str) -> Option<String> {
        known::is_package(&text.to_lowercase()).then(|| self.keep(Reason::Module, text))
    }

    /// True if bytes that are no texts can be read.
    pub(super) fn is_readable(bytes: &[u8]) -> bool {
        !found_text::of(bytes).is_empty()
    }
}

/// `191206-1406`.
fn is_build_time(text: &str) -> bool {
    let is_digits = |part: &str, len| part.len() == len && part.bytes().all(|b| b.is_ascii_digit());
    text.split_once('-')
        .is_some_and(|(day, time)| is_digits(day, 6) && is_digits(time, 4))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.starts_with("20") && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_guid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(hint: Hint, subject: Subject, text: &str, expected: &str) {
        assert_eq!(
            Texts::default().text(text, hint, subject),
            expected,
            "{text}"
        );
    }

    #[test]
    fn paths_keep_known_folders_and_their_depth() {
        for (path, expected) in [
            (
                r"C:\Windows\System32\NTDLL.dll",
                r"C:\Windows\System32\NTDLL.dll",
            ),
            (
                r"C:\Windows\System32\mine.dll",
                r"C:\Windows\System32\module-1.dll",
            ),
            (
                r"C:\Users\Me\My docs\a.secret",
                r"C:\Users\user-1\folder-1\file-1.ext-1",
            ),
            (r"C:\Users\Me\ntdll.dll", r"C:\Users\user-1\module-1.dll"),
            (
                r"C:\Program Files\Me\libomp.dll",
                r"C:\Program Files\folder-1\libomp.dll",
            ),
            (r"\\nas\me\x.doc", r"\\host-1\share-1\file-1.doc"),
            (
                r"\Device\Mup\;Z:00012\nas.corp\me",
                r"\Device\Mup\;Z:0\host-1.example\share-1",
            ),
            (
                r"D:\a.txt:Zone.Identifier",
                r"D:\file-1.txt:Zone.Identifier",
            ),
            (
                r"\Device\HarddiskVolume3\$Mft",
                r"\Device\HarddiskVolume3\$Mft",
            ),
        ] {
            check(Hint::Text, Subject::Unknown, path, expected);
        }
    }

    #[test]
    fn lines_and_lists_are_replaced_word_by_word() {
        for (line, expected) in [
            ("svchost.exe -k netsvcs -p", "svchost.exe -k netsvcs -p"),
            (
                "scan.exe --pin 4711 0xC0000022",
                "program-1.exe --name-1 number-1 0xC0000022",
            ),
            (
                "user=me;host=10.1.2.3:80",
                "name-1=name-2;name-3=192.0.2.1:80",
            ),
            (
                "https://me.example.org/a?b=secret",
                "https://host-1.example/a?b=name-1",
            ),
        ] {
            check(Hint::Command, Subject::Unknown, line, expected);
        }
        let results = "type:  5 www.me.org;::ffff:10.1.2.3;";
        let expected = "type:  5 host-1.example;::ffff:192.0.2.1;";
        check(Hint::Host, Subject::Unknown, results, expected);
    }

    #[test]
    fn functions_of_the_framework_stay_and_types_of_others_do_not() {
        let list = "System.Collections.Generic.List`1[Mine.Secret,Other]";
        let expected = "System.Collections.Generic.List`1[code-1.code-2,code-3]";
        check(Hint::Code, Subject::Public, list, expected);
        check(
            Hint::Code,
            Subject::Unknown,
            "System.Secret",
            "System.code-1",
        );
        check(Hint::Method, Subject::Public, "GetThings", "GetThings");
        check(Hint::Method, Subject::Private, "GetThings", "code-1");
        check(Hint::Method, Subject::Private, ".cctor", ".cctor");
    }

    #[test]
    fn a_strangers_module_keeps_no_name() {
        check(Hint::Text, Subject::Unknown, "ntdll.pdb", "ntdll.pdb");
        check(Hint::Text, Subject::Private, "ntdll.pdb", "symbols-1.pdb");
    }
}
