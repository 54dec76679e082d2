//! Substitutes of paths: folders and files that every Windows has stay, and a path keeps its depth.

use super::known;
use super::substitutes::Class;
use super::text::{Reason, Subject, Texts};

/// Fronts that lead into the name space of the kernel.
const FRONTS: [&str; 4] = [r"\??\", r"\\?\", r"\\.\", r"\global??\"];

/// Folders that are somewhere else on each computer, and what they are on most of them.
const ALIASES: [(&str, &str); 6] = [
    ("systemroot", "windows"),
    ("%systemroot%", "windows"),
    ("%windir%", "windows"),
    ("%programfiles%", "program files"),
    ("%programdata%", "programdata"),
    ("%systemdrive%", ""),
];

/// Devices of the file systems of networks.
const NETWORK: [&str; 3] = ["mup", "lanmanredirector", "webdavredirector"];

/// True if a text starts as a path does.
pub(super) fn is_start(text: &str) -> bool {
    let bytes = text.as_bytes();
    drive(bytes) || bytes.first() == Some(&b'\\') && bytes.len() > 1 || {
        let first = text.split('\\').next().unwrap_or("").to_lowercase();
        text.contains('\\') && ALIASES.iter().any(|(alias, _)| *alias == first)
    }
}

/// True if a text is a list of paths.
pub(super) fn is_list(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Names of network drives have semicolons after backslashes.
    let is_separator =
        |at: usize| bytes.get(at) == Some(&b';') && bytes.get(at.wrapping_sub(1)) != Some(&b'\\');
    text.contains('"') || (1..bytes.len()).any(is_separator)
}

/// `C:\` or `C:/`.
fn drive(bytes: &[u8]) -> bool {
    matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
        || matches!(bytes, [letter, b':'] if letter.is_ascii_alphabetic())
}

/// Bytes of a path up to the folder of programs and behind it, 0 for other paths.
pub(super) fn program_files(text: &str) -> usize {
    let front = text.get(..3).filter(|front| drive(front.as_bytes()));
    let Some(rest) = front.and_then(|_| text.get(3..)) else {
        return 0;
    };
    let names = [
        r"program files (x86)\common files\",
        r"program files (x86)\",
    ];
    let names = names
        .into_iter()
        .chain([r"program files\common files\", r"program files\"]);
    let is_there = |name: &&str| {
        rest.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    names
        .into_iter()
        .find(is_there)
        .map_or(0, |name| 3 + name.len())
}

/// The place in a piece of a line where a path starts.
pub(super) fn inside(piece: &str) -> Option<usize> {
    let first = piece.find('\\')?;
    let front = piece.get(..first)?;
    let bytes = piece.as_bytes();
    if first >= 2 && drive(bytes.get(first - 2..=first)?) {
        let is_own = first == 2 || !bytes.get(first - 3)?.is_ascii_alphanumeric();
        if is_own {
            return Some(first - 2);
        }
    }
    Some(
        front
            .rfind(['=', ':', ',', ';', '(', '\'', '@'])
            .map_or(0, |at| at + 1),
    )
}

/// A path that is being written.
struct Walk<'p> {
    new: String,
    /// The known folder so far.
    known: Option<String>,
    /// True if people have no folders of their own above.
    is_windows: bool,
    /// The path so far, without its volume, in lower case.
    lower: String,
    subject: Subject,
    rest: &'p str,
}

impl Texts {
    /// Replaces a path.
    pub(super) fn path(&mut self, path: &str, subject: Subject) -> String {
        if path
            .get(..10)
            .is_some_and(|front| front.eq_ignore_ascii_case(r"\registry\"))
        {
            return self.key(path);
        }
        let mut walk = Walk {
            new: String::with_capacity(path.len()),
            known: Some(String::new()),
            is_windows: true,
            lower: String::new(),
            subject,
            rest: path,
        };
        self.volume(&mut walk);
        self.folders(&mut walk);
        walk.new
    }

    /// Writes the volume or host of a path.
    fn volume(&mut self, walk: &mut Walk<'_>) {
        let front = |rest: &str| {
            FRONTS.into_iter().find(|front| {
                rest.get(..front.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(front))
            })
        };
        while let Some(front) = front(walk.rest) {
            walk.copy(front.len());
        }
        if drive(walk.rest.as_bytes()) {
            walk.copy(2);
            return;
        }
        if walk.rest.starts_with(r"\\") {
            walk.copy(2);
            self.share(walk);
            return;
        }
        let is_device = walk
            .rest
            .get(..8)
            .is_some_and(|front| front.eq_ignore_ascii_case(r"\device\"));
        if is_device {
            walk.copy(8);
            self.device(walk);
            return;
        }
        if walk.rest.starts_with('\\') {
            let name = walk.rest.get(1..).unwrap_or("");
            let name = name.split('\\').next().unwrap_or("");
            if let Some(folder) = alias(name) {
                walk.copy(1 + name.len());
                walk.enter_alias(folder);
            }
            return;
        }
        let name = walk.rest.split('\\').next().unwrap_or("");
        match alias(name) {
            Some(folder) if walk.rest.contains('\\') => {
                walk.copy(name.len());
                walk.enter_alias(folder);
            }
            // A path without a start may be in any folder.
            _ => walk.leave(),
        }
    }

    fn device(&mut self, walk: &mut Walk<'_>) {
        let name = walk.next();
        let lower = name.to_lowercase();
        if known::is_device(&lower) {
            let kept = self.keep(Reason::Phrase, name);
            walk.new.push_str(&kept);
        } else {
            let substitute = self.substitutes.numbered(Class::Word, "device", name, "");
            walk.new.push_str(&substitute);
        }
        if NETWORK.contains(&lower.as_str()) {
            walk.copy_separator();
            self.share(walk);
        } else if !lower.starts_with("harddisk") && !lower.starts_with("cdrom") {
            walk.leave();
        }
    }

    /// Writes the host and the share of a path on a network.
    fn share(&mut self, walk: &mut Walk<'_>) {
        walk.leave();
        // `;LanmanRedirector`, and `;Z:0000000000012345` with the number of a session.
        while walk.rest.starts_with(';') {
            let redirector = walk.next();
            let drive = redirector.get(1..3).filter(|drive| drive.ends_with(':'));
            let name = redirector.get(1..).unwrap_or("");
            match drive {
                Some(drive) => walk.new.push_str(&format!(";{drive}0")),
                None if known::is_device(&name.to_lowercase()) => {
                    let kept = self.keep(Reason::Phrase, redirector);
                    walk.new.push_str(&kept);
                }
                None => walk.new.push_str(";name"),
            }
            walk.copy_separator();
        }
        let host = walk.next();
        if !host.is_empty() {
            let host = self.host(host);
            walk.new.push_str(&host);
            walk.copy_separator();
        }
        let share = walk.next();
        if known::is_device(&share.to_lowercase()) {
            let kept = self.keep(Reason::Phrase, share);
            walk.new.push_str(&kept);
        } else if !share.is_empty() {
            let share = self.substitutes.numbered(Class::Word, "share", share, "");
            walk.new.push_str(&share);
        }
    }

    /// Writes folders and the file.
    fn folders(&mut self, walk: &mut Walk<'_>) {
        while !walk.rest.is_empty() {
            walk.copy_separator();
            if walk.rest.is_empty() {
                break;
            }
            let name = walk.next();
            let is_last = walk.rest.is_empty();
            let new = self.folder_or_file(walk, name, is_last);
            walk.new.push_str(&new);
        }
    }

    fn folder_or_file(&mut self, walk: &mut Walk<'_>, name: &str, is_last: bool) -> String {
        let lower = name.to_lowercase();
        let parent = walk.known.clone();
        walk.lower.push('\\');
        walk.lower.push_str(&lower);
        if name.chars().all(|c| matches!(c, '.' | '*' | '?')) {
            return name.to_owned();
        }
        let folder = parent
            .as_deref()
            .and_then(|parent| known::folder(parent, &lower));
        if let Some(folder) = folder {
            let is_user = folder.ends_with("<user>");
            walk.is_windows &= !is_user && lower != "temp" && lower != "users";
            walk.known = Some(folder);
            return if is_user {
                self.substitutes.numbered(Class::Word, "user", name, "")
            } else {
                self.keep(Reason::Folder, name)
            };
        }
        if is_last {
            return self.last(walk, name, &lower);
        }
        walk.known = None;
        if let Some(identity) = self.identity(name.trim_matches(['{', '}'])) {
            let open = name.starts_with('{');
            let close = name.ends_with('}');
            let sign = |is_there: bool, sign| if is_there { sign } else { "" };
            return format!("{}{identity}{}", sign(open, "{"), sign(close, "}"));
        }
        if let Some(given) = self.substitutes.given(Class::Word, &lower) {
            return given.to_owned();
        }
        self.substitutes.numbered(Class::Word, "folder", name, "")
    }

    /// Writes the last part of a path: a file, perhaps with a stream.
    fn last(&mut self, walk: &Walk<'_>, name: &str, lower: &str) -> String {
        if let Some((file, stream)) = name.split_once(':').filter(|(file, _)| !file.is_empty()) {
            let file_lower = file.to_lowercase();
            let mut above = walk.lower.clone();
            above.truncate(walk.lower.len().saturating_sub(lower.len()));
            let file = self.file_in(walk, file, &file_lower, &(above + &file_lower));
            let streams = self.streams(stream);
            return format!("{file}:{streams}");
        }
        self.file_in(walk, name, lower, &walk.lower)
    }

    fn streams(&mut self, text: &str) -> String {
        let names: Vec<String> = text
            .split(':')
            .map(|name| {
                if known::is_file(&name.to_lowercase()) || name.is_empty() {
                    self.keep(Reason::File, name)
                } else {
                    self.substitutes.numbered(Class::Word, "stream", name, "")
                }
            })
            .collect();
        names.join(":")
    }

    fn file_in(&mut self, walk: &Walk<'_>, name: &str, lower: &str, path: &str) -> String {
        match self.images.get(path) {
            Some(true) => return self.keep(Reason::Version, name),
            Some(false) => return self.file(name),
            None => {}
        }
        // What lies somewhere else may have any name.
        let is_public_folder = walk.known.is_some() && walk.is_windows;
        if walk.known.is_some() && known::is_file(lower) {
            return self.keep(Reason::File, name);
        }
        if is_public_folder && walk.subject != Subject::Private {
            let module = lower.strip_suffix(".mui").unwrap_or(lower);
            if known::is_module(module) {
                return self.keep(Reason::Module, name);
            }
            let is_assembly = walk
                .known
                .as_deref()
                .is_some_and(|folder| folder.contains("assembly") || folder.contains(".app\\"));
            let stem = lower.strip_suffix(".dll").unwrap_or(lower);
            if is_assembly && known::is_assembly(stem.strip_suffix(".ni").unwrap_or(stem)) {
                return self.keep(Reason::Module, name);
            }
        }
        self.file(name)
    }

    /// Replaces the name of a file, and keeps an extension that many files have.
    pub(super) fn file(&mut self, name: &str) -> String {
        let lower = name.to_lowercase();
        if known::is_runtime(&lower) {
            return self.keep(Reason::Module, name);
        }
        if let Some(given) = self.substitutes.given(Class::Word, &lower) {
            return given.to_owned();
        }
        let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
        else {
            return self.substitutes.numbered(Class::Word, "file", name, "");
        };
        let lower = extension.to_lowercase();
        let kind = match lower.as_str() {
            "exe" | "com" | "scr" => "program",
            "dll" | "ocx" | "drv" | "cpl" => "module",
            "sys" => "driver",
            "pdb" => "symbols",
            _ => "file",
        };
        // A file beside a program: `program.exe.config`.
        let is_beside = stem
            .rsplit_once('.')
            .is_some_and(|(_, inner)| matches!(&*inner.to_lowercase(), "exe" | "dll" | "sys"));
        let stem = if is_beside {
            self.file(stem)
        } else {
            self.stem(stem, kind)
        };
        if known::is_extension(&lower) {
            let extension = self.keep(Reason::Extension, extension);
            return format!("{stem}.{extension}");
        }
        let extension = self.substitutes.numbered(Class::Word, "ext", extension, "");
        format!("{stem}.{extension}")
    }

    /// The substitute of the name of a file without its extension.
    pub(super) fn stem(&mut self, stem: &str, kind: &'static str) -> String {
        self.substitutes.numbered(Class::Word, kind, stem, "")
    }
}

impl<'p> Walk<'p> {
    /// Copies bytes as they are.
    fn copy(&mut self, len: usize) {
        let (front, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.new.push_str(front);
        self.rest = rest;
    }

    fn copy_separator(&mut self) {
        while self.rest.starts_with(['\\', '/']) {
            self.copy(1);
        }
    }

    /// Takes the next part.
    fn next(&mut self) -> &'p str {
        let end = self.rest.find(['\\', '/']).unwrap_or(self.rest.len());
        let (part, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        part
    }

    /// Enters a folder of which nothing is known.
    fn leave(&mut self) {
        self.known = None;
        self.is_windows = false;
    }

    fn enter_alias(&mut self, folder: &str) {
        self.known = Some(folder.to_owned());
        if !folder.is_empty() {
            self.lower = format!(r"\{folder}");
        }
    }
}

fn alias(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    ALIASES
        .into_iter()
        .find(|(alias, _)| *alias == lower)
        .map(|(_, folder)| folder)
}

/// The path of an image without its volume, in lower case.
pub(super) fn image_key(path: &str) -> String {
    let lower = path.to_lowercase();
    let mut rest = lower.as_str();
    while let Some(inner) = FRONTS.iter().find_map(|front| rest.strip_prefix(front)) {
        rest = inner;
    }
    if drive(rest.as_bytes()) {
        return rest.get(2..).unwrap_or("").to_owned();
    }
    if let Some(device) = rest.strip_prefix(r"\device\") {
        let volume = device.find('\\').unwrap_or(device.len());
        return device.split_at(volume).1.to_owned();
    }
    let name = rest.trim_start_matches('\\').split('\\').next();
    if let Some((name, folder)) = name.and_then(|name| Some((name, alias(name)?))) {
        let behind = rest.trim_start_matches('\\').get(name.len()..);
        return format!(r"\{folder}{}", behind.unwrap_or(""));
    }
    rest.to_owned()
}

/// The trust in a folder: whose programs lie there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Windows' or .NET's own.
    Windows,
    /// Also drivers of others.
    DriverStore,
    /// Anybody's.
    Other,
}

/// The trust in the folder of an image.
pub(super) fn trust(image: &str) -> Trust {
    if image.contains(r"\driverstore\") {
        return Trust::DriverStore;
    }
    let mut parts: Vec<&str> = image.trim_start_matches('\\').split('\\').collect();
    parts.pop();
    let mut folder = String::new();
    for part in parts {
        if part == "temp" || part == "users" {
            return Trust::Other;
        }
        match known::folder(&folder, part) {
            Some(inner) => folder = inner,
            None => return Trust::Other,
        }
    }
    if folder.is_empty() || folder == "program files" || folder == "program files (x86)" {
        return Trust::Other;
    }
    Trust::Windows
}
