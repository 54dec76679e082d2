//! The search path for symbol files: `_NT_SYMBOL_PATH`, and the values of `--symbols`, which have
//! the same syntax.
//!
//! Elements are separated by `;` and searched from left to right:
//!
//! | element | meaning |
//! |---|---|
//! | `FOLDER` | symbol files in it, or a symbol store |
//! | `srv*STORE*STORE*…` | a chain of stores: folders, and the URL of a server at the end. Files from farther stores are copied into the nearer ones |
//! | `symsrv*DLL*STORE*…` | as `srv*`; the name of the library is skipped |
//! | `cache*FOLDER` | a store before all elements after it |
//! | `MS`, `Google`, `NtSymbolPath` | short for Microsoft's server, Chromium's server, `_NT_SYMBOL_PATH` |
//!
//! An empty store means the cache of the user. The files of a chain that starts with a server are
//! also kept there. `%NAME%`, and on other systems than Windows `$NAME`, stand for variables of the
//! environment; quotes around paths, elements and stores are removed.
//!
//! The same value is used on all systems of a user, so that a store with a path of Windows is
//! skipped elsewhere and the rest of its chain stays.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Microsoft's public symbol server.
pub const MICROSOFT: &str = "https://msdl.microsoft.com/download/symbols";
/// The public symbol server of Chromium and Chrome.
pub const GOOGLE: &str = "https://chromium-browser-symsrv.commondatastorage.googleapis.com";

/// Settings for parsing a search path.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    /// Cache of the user: files from servers are kept here if the path names no other cache. `None`
    /// means that they are not kept and servers are not contacted.
    pub cache: Option<PathBuf>,
    /// Value of `_NT_SYMBOL_PATH`.
    pub nt_symbol_path: Option<String>,
    /// True if paths with a drive letter or of a share (`C:\Symbols`, `\\server\share`) can be
    /// used: on Windows.
    pub is_windows: bool,
    /// Variables of the environment, which elements may refer to.
    pub variables: BTreeMap<String, String>,
}

impl Defaults {
    /// The defaults of this system: `_NT_SYMBOL_PATH` of the environment.
    #[must_use]
    pub fn of_system(cache: Option<PathBuf>) -> Self {
        Self {
            cache,
            nt_symbol_path: std::env::var("_NT_SYMBOL_PATH").ok(),
            is_windows: cfg!(windows),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        }
    }
}

/// A symbol store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// A folder of this system.
    Folder(PathBuf),
    /// URL of a server, without a slash at its end.
    Server(String),
}

/// An element of a search path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// A folder with symbol files, or a symbol store.
    Folder(PathBuf),
    /// A folder that came with a trace or an extract: neither a link nor a `file.ptr` in it is
    /// followed.
    Beside(PathBuf),
    /// Stores from the nearest to the farthest.
    Chain(Vec<Store>),
    /// It cannot be used here.
    Unusable {
        /// The original text.
        text: String,
        /// The reason.
        reason: String,
    },
    /// A store of a chain that cannot be used here. The rest of the chain is the next element.
    Skipped {
        /// The original text of the store.
        text: String,
        /// The reason, and what takes its place.
        reason: String,
    },
}

/// The places to search for symbol files, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPath {
    elements: Vec<Element>,
}

impl SearchPath {
    /// Parses search paths, which are searched one after the other. Nothing is opened or created.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>, defaults: &Defaults) -> Self {
        let mut parser = Parser {
            defaults,
            caches: Vec::new(),
            elements: Vec::new(),
            is_inside: false,
            is_expanded: false,
        };
        for text in texts {
            parser.path(text);
        }
        Self {
            elements: parser.elements,
        }
    }

    /// Puts a folder that came with a trace or an extract before all others. The folder is not
    /// trusted, because the author of the trace may have made it: links and pointers in it are not
    /// followed.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        // First in the path, as its files belong to this trace for certain.
        self.elements.insert(0, Element::Beside(folder.into()));
        self
    }

    /// This path without servers. Files that were downloaded earlier are still found.
    #[must_use]
    pub fn without_servers(mut self) -> Self {
        for element in &mut self.elements {
            if let Element::Chain(stores) = element {
                stores.retain(|store| matches!(store, Store::Folder(_)));
            }
        }
        self.elements
            .retain(|element| !matches!(element, Element::Chain(stores) if stores.is_empty()));
        self
    }

    /// The elements, in search order.
    #[must_use]
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Elements that are not used, and stores that are left out of their chains, each with the
    /// reason.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let is_left_out = |element: &&Element| {
            matches!(element, Element::Unusable { .. } | Element::Skipped { .. })
        };
        self.elements
            .iter()
            .filter(is_left_out)
            .map(ToString::to_string)
    }

    /// True if a place that a user named can be searched, other than folders that came with a trace.
    #[must_use]
    pub fn has_named_place(&self) -> bool {
        self.elements
            .iter()
            .any(|element| matches!(element, Element::Folder(_) | Element::Chain(_)))
    }

    /// True if a server may be contacted.
    #[must_use]
    pub fn has_server(&self) -> bool {
        self.elements.iter().any(
            |element| matches!(element, Element::Chain(stores) if stores.iter().any(Store::is_server)),
        )
    }
}

/// Maximum bytes of a path, which Windows has for variables of the environment.
const MAX_PATH: usize = 32_767;
/// Maximum stores of a chain, and of all caches. Each server of a chain has all its folders.
const MAX_STORES: usize = 64;

const NAME_ANOTHER: &str = "name a folder of this system";
const ONLY_HTTP: &str = "servers are contacted over http and https only";

/// The stores of one element.
#[derive(Default)]
struct Stores<'t> {
    usable: Vec<Store>,
    /// Those that this system does not have, each with the reason.
    skipped: Vec<(&'t str, String)>,
}

struct Parser<'d> {
    defaults: &'d Defaults,
    /// Stores of `cache*` elements so far.
    caches: Vec<Store>,
    elements: Vec<Element>,
    /// True inside of `_NT_SYMBOL_PATH`, which must not refer to itself.
    is_inside: bool,
    /// True inside of the value of a variable, in which no more variables are replaced.
    is_expanded: bool,
}

impl Parser<'_> {
    fn path(&mut self, text: &str) {
        // A longer text is not a path, and its parts would be reported one by one.
        if text.len() > MAX_PATH {
            let begin: String = text.chars().take(60).collect();
            self.elements.push(Element::Unusable {
                text: format!("{begin}…"),
                reason: format!("a search path has at most {MAX_PATH} bytes"),
            });
            return;
        }
        for element in bare(text)
            // Quotes around a single element are common in scripts.
            .split(';')
            .map(bare)
            .filter(|element| !element.is_empty())
        {
            match self.expanded(element) {
                // The value of a variable may be a path of several elements.
                Some(text) => {
                    self.is_expanded = true;
                    self.path(&text);
                    self.is_expanded = false;
                }
                None => self.element(element),
            }
        }
    }

    /// The element with the values of its variables. `None` if it has none.
    fn expanded(&self, text: &str) -> Option<String> {
        // Values are not expanded again: a variable that names itself would never end.
        if self.is_expanded {
            return None;
        }
        let expanded = expand(text, self.defaults);
        (expanded != text).then_some(expanded)
    }

    fn element(&mut self, text: &str) {
        let (kind, rest) = text.split_once('*').unwrap_or((text, ""));
        let parsed = match bare(kind).to_ascii_lowercase().as_str() {
            "srv" => self.chain(rest),
            "symsrv" => match rest.split_once('*') {
                // The name of the library means nothing outside of Windows.
                // The library is the DLL through which debuggers read the stores.
                Some((_library, stores)) => self.chain(stores),
                None => Err("symsrv* is followed by the name of a library and stores".to_owned()),
            },
            // A folder may be called `cache`; only with an asterisk it is the element.
            "cache" if text.contains('*') => self.cache(rest),
            "ms" if rest.is_empty() => self.chain(&format!("*{MICROSOFT}")),
            "google" if rest.is_empty() => self.chain(&format!("*{GOOGLE}")),
            "ntsymbolpath" | "_nt_symbol_path" if rest.is_empty() => self.nt_symbol_path(),
            _ if text.contains('*') => {
                Err("an element with * starts with srv*, symsrv* or cache*".to_owned())
            }
            // A plain URL is read as if it followed `srv*`.
            _ if is_url(text) => self.chain(text),
            _ => self.plain_folder(text),
        };
        if let Err(reason) = parsed {
            let text = text.to_owned();
            self.elements.push(Element::Unusable { text, reason });
        }
    }

    fn nt_symbol_path(&mut self) -> Result<(), String> {
        match self.defaults.nt_symbol_path.clone() {
            // The variable may name itself; reading it again would never end.
            Some(path) if !self.is_inside => {
                self.is_inside = true;
                self.path(&path);
                self.is_inside = false;
                Ok(())
            }
            Some(_) => Err("_NT_SYMBOL_PATH names itself".to_owned()),
            None => Err("_NT_SYMBOL_PATH is not set".to_owned()),
        }
    }

    fn plain_folder(&mut self, text: &str) -> Result<(), String> {
        // Before it is taken for a folder: `ftp://` would become a relative path.
        if text.contains("://") {
            return Err(ONLY_HTTP.to_owned());
        }
        let folder = self
            .folder(text)
            .map_err(|reason| format!("{reason}; {NAME_ANOTHER}"))?;
        // Caches of an earlier element apply to folders as well, as in debuggers.
        let element = if self.caches.is_empty() {
            Element::Folder(folder)
        } else {
            let far = Store::Folder(folder);
            Element::Chain(self.caches.iter().cloned().chain([far]).collect())
        };
        self.elements.push(element);
        Ok(())
    }

    // Stores are near to far, and files are kept in all that are nearer than where they were found.
    fn chain(&mut self, text: &str) -> Result<(), String> {
        let Stores { usable, skipped } = self.stores(text)?;
        if usable.len() > MAX_STORES {
            return Err(format!("a chain has at most {MAX_STORES} stores"));
        }
        // Nothing of the chain is left, so that it is not used at all.
        if let ([], Some((_, reason))) = (usable.as_slice(), skipped.first()) {
            return Err(format!("{reason}; {NAME_ANOTHER}"));
        }
        let is_near = |store: &&Store| !store.is_server();
        let near = usable.iter().take_while(is_near);
        let mut near: Vec<Store> = self.caches.iter().chain(near).cloned().collect();
        let servers: Vec<Store> = usable.iter().skip_while(is_near).cloned().collect();
        // A server cannot be written to, so it could not cache files of the stores after it.
        if !servers.iter().all(Store::is_server) {
            return Err(
                "a folder cannot come after a server: folders are the near stores".to_owned(),
            );
        }
        // A downloaded file has to be stored somewhere to be opened, and it should not be
        // downloaded again for the next trace.
        let mut instead = None;
        if near.is_empty() {
            let cache = self.user_cache()?;
            instead = Some(cache.clone());
            near.push(cache);
        }
        self.skip(skipped, instead.as_ref());
        if servers.is_empty() {
            self.elements.push(Element::Chain(near));
            return Ok(());
        }
        // Each of several servers fills the same folders.
        let chains = servers.into_iter().map(|server| {
            let stores = near.iter().cloned().chain([server]);
            Element::Chain(stores.collect())
        });
        self.elements.extend(chains);
        Ok(())
    }

    /// A near store for the elements after this one.
    fn cache(&mut self, text: &str) -> Result<(), String> {
        let mut stores = self.stores(text)?;
        // Nothing can be written to a server.
        if stores.usable.iter().any(Store::is_server) {
            return Err("a server cannot be a cache: cache* is followed by a folder".to_owned());
        }
        let mut instead = None;
        if stores.usable.is_empty() {
            let cache = self.user_cache()?;
            instead = Some(cache.clone());
            stores.usable.push(cache);
        }
        if self.caches.len() + stores.usable.len() > MAX_STORES {
            return Err(format!("a path has at most {MAX_STORES} caches"));
        }
        self.skip(stores.skipped, instead.as_ref());
        self.caches.extend(stores.usable);
        Ok(())
    }

    fn stores<'t>(&self, text: &'t str) -> Result<Stores<'t>, String> {
        let mut stores = Stores::default();
        for text in text.split('*').map(bare) {
            // An error of the chain ends it; a store that this system lacks is left out.
            match self.store(text)? {
                Ok(store) => stores.usable.push(store),
                Err(reason) => stores.skipped.push((text, reason)),
            }
        }
        Ok(stores)
    }

    /// Notes the stores that are left out, and the one that is used instead of them.
    fn skip(&mut self, skipped: Vec<(&str, String)>, instead: Option<&Store>) {
        let instead = instead.map_or_else(String::new, |it| format!("; {it} takes its place"));
        for (text, reason) in skipped {
            let note = Element::Skipped {
                text: text.to_owned(),
                reason: format!("{reason}{instead}"),
            };
            // Paths repeat one store in front of several servers.
            if !self.elements.contains(&note) {
                self.elements.push(note);
            }
        }
    }

    /// A store, or the reason for which this system does not have it. An error is one of the
    /// whole chain.
    fn store(&self, text: &str) -> Result<Result<Store, String>, String> {
        match text {
            // Debuggers take an empty store for their default cache.
            "" => self.user_cache().map(Ok),
            // Without the slash, since paths are appended with one.
            text if is_url(text) => Ok(Ok(Store::Server(text.trim_end_matches('/').to_owned()))),
            text if text.contains("://") => Err(ONLY_HTTP.to_owned()),
            text => Ok(self.folder(text).map(Store::Folder)),
        }
    }

    fn user_cache(&self) -> Result<Store, String> {
        let cache = self.defaults.cache.clone();
        cache
            .map(Store::Folder)
            .ok_or_else(|| "there is no cache folder to keep symbols in".to_owned())
    }

    /// The folder, or the reason for which this system cannot have it.
    fn folder(&self, text: &str) -> Result<PathBuf, String> {
        let is_windows = self.defaults.is_windows;
        // A variable that is not set would become a folder of that name.
        if let Some(name) = variable(text, is_windows) {
            return Err(format!("the variable {name} is not set"));
        }
        // A shell replaces it only at the start of a word without quotes.
        if !is_windows
            && let Some(rest) = text.strip_prefix('~')
            && (rest.is_empty() || rest.starts_with('/'))
        {
            let home = self.defaults.variables.get("HOME");
            let home = home.ok_or_else(|| "the variable HOME is not set".to_owned())?;
            return Ok(PathBuf::from(format!("{home}{rest}")));
        }
        let has_drive =
            matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
        // On other systems this text would be a relative path that does not exist.
        if !is_windows && (has_drive || text.contains('\\')) {
            return Err("a Windows path, which this system cannot use".to_owned());
        }
        Ok(Path::new(text).to_owned())
    }
}

/// Text without the blanks and quotes around it, which Windows does not allow in paths.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'')
}

/// The text with values for the variables that are set; the others stay.
fn expand(text: &str, defaults: &Defaults) -> String {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['%', '$']) {
        let (front, from) = rest.split_at(at);
        expanded.push_str(front);
        let reference = reference(from, defaults.is_windows);
        let value = reference.and_then(|it| {
            let (_, after) = from.split_at_checked(it.len)?;
            Some((it.value(&defaults.variables)?, after))
        });
        // Values are not looked at again for signs.
        // The sign alone stays, since a reference may begin right after it: `100%%TEMP%`.
        let (value, after) = value.unwrap_or_else(|| from.split_at(1));
        expanded.push_str(value);
        rest = after;
    }
    expanded + rest
}

/// The first variable that a text refers to.
fn variable(text: &str, is_windows: bool) -> Option<&str> {
    let starts = text.match_indices(['%', '$']);
    let references = starts.filter_map(|(at, _)| reference(text.get(at..)?, is_windows));
    references.map(|reference| reference.name).next()
}

/// A reference to a variable of the environment: `%NAME%`, `$NAME`, `${NAME}`.
struct Reference<'t> {
    name: &'t str,
    /// Bytes of the whole reference.
    len: usize,
    /// True in the form of Windows, where the case of names does not matter.
    is_any_case: bool,
}

impl Reference<'_> {
    fn value<'v>(&self, variables: &'v BTreeMap<String, String>) -> Option<&'v str> {
        let same = || {
            let mut all = variables.iter();
            // Windows compares names of variables without case.
            let found = all.find(|(name, _)| name.eq_ignore_ascii_case(self.name));
            found.map(|(_, value)| value).filter(|_| self.is_any_case)
        };
        variables.get(self.name).or_else(same).map(String::as_str)
    }
}

/// The reference that a text begins with.
fn reference(text: &str, is_windows: bool) -> Option<Reference<'_>> {
    let (rest, end, is_any_case) = match text.as_bytes() {
        [b'%', ..] => (text.get(1..)?, "%", true),
        // A dollar is a letter of names of shares on Windows: `\\server\c$`.
        [b'$', ..] if is_windows => return None,
        [b'$', b'{', ..] => (text.get(2..)?, "}", false),
        [b'$', ..] => (text.get(1..)?, "", false),
        _ => return None,
    };
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Windows has `ProgramFiles(x86)`.
    let is_inside = |c: char| is_of_name(c) || (end == "%" && matches!(c, '(' | ')'));
    let name_len = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(name_len);
    // A sign before a digit, as in `%20`, is no variable.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (is_name && after.starts_with(end)).then_some(Reference {
        name,
        len: text.len() - after.len() + end.len(),
        is_any_case,
    })
}

fn is_url(text: &str) -> bool {
    let begins = |scheme: &str| {
        text.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
}

impl Store {
    const fn is_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "folder {}", folder.display()),
            Self::Server(url) => write!(f, "server {url}"),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) | Self::Beside(folder) => write!(f, "folder {}", folder.display()),
            Self::Chain(stores) => {
                let Some((last, nearer)) = stores.split_last() else {
                    return Ok(());
                };
                write!(f, "{last}")?;
                for (nth, store) in nearer.iter().rev().enumerate() {
                    write!(
                        f,
                        "{}{store}",
                        if nth == 0 { ", kept in " } else { " and in " }
                    )?;
                }
                Ok(())
            }
            Self::Unusable { text, reason } => write!(f, "{text}: not used: {reason}"),
            Self::Skipped { text, reason } => write!(f, "{text}: skipped: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> Vec<String> {
        let defaults = Defaults {
            cache: Some("/cache".into()),
            nt_symbol_path: Some("srv*/nt*https://nt.example/sym;NtSymbolPath".to_owned()),
            is_windows: false,
            variables: variables(),
        };
        SearchPath::parse([text], &defaults)
            .elements()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn variables() -> BTreeMap<String, String> {
        let pairs = [
            ("HOME", "/home/me"),
            ("Server", "https://v.example"),
            ("SYMBOLS", "/one;srv*/two*https://w.example"),
            ("LOOP", "$LOOP/x"),
        ];
        let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        owned.into()
    }

    #[test]
    fn every_element_is_read_as_debuggers_do() {
        for (text, expected) in [
            ("", vec![]),
            (" ; ;", vec![]),
            ("/a", vec!["folder /a"]),
            ("/a; sub/b ;", vec!["folder /a", "folder sub/b"]),
            (
                "srv*/a*https://x.example/s/",
                vec!["server https://x.example/s, kept in folder /a"],
            ),
            (
                "SRV*/a*/b*HTTP://x.example",
                vec!["server HTTP://x.example, kept in folder /b and in folder /a"],
            ),
            (
                "srv*https://x.example",
                vec!["server https://x.example, kept in folder /cache"],
            ),
            (
                "srv**https://x.example",
                vec!["server https://x.example, kept in folder /cache"],
            ),
            (
                "https://x.example/s",
                vec!["server https://x.example/s, kept in folder /cache"],
            ),
            ("srv*/store", vec!["folder /store"]),
            (
                "symsrv*symsrv.dll*/a*https://x.example",
                vec!["server https://x.example, kept in folder /a"],
            ),
            (
                "cache*/c;/a;srv*https://x.example",
                vec![
                    "folder /a, kept in folder /c",
                    "server https://x.example, kept in folder /c",
                ],
            ),
            (
                "cache*/c;srv*/d*https://x.example",
                vec!["server https://x.example, kept in folder /d and in folder /c"],
            ),
            ("cache*;/a", vec!["folder /a, kept in folder /cache"]),
            (
                "ms",
                vec!["server https://msdl.microsoft.com/download/symbols, kept in folder /cache"],
            ),
            (
                "Google",
                vec![
                    "server https://chromium-browser-symsrv.commondatastorage.googleapis.com, kept in folder /cache",
                ],
            ),
            (
                "NTSYMBOLPATH;/a",
                vec![
                    "server https://nt.example/sym, kept in folder /nt",
                    "NtSymbolPath: not used: _NT_SYMBOL_PATH names itself",
                    "folder /a",
                ],
            ),
        ] {
            assert_eq!(described(text), expected, "{text}");
        }
    }

    /// Each server of a chain has all its folders, and each element all caches: without limits a
    /// short path would be gigabytes of stores.
    #[test]
    fn long_paths_and_chains_are_refused() {
        let chain = format!("srv{}{}", "*/a".repeat(40), "*https://x.example".repeat(40));
        let caches = format!("{};/a", ["cache*/c"; 65].join(";"));
        let long = "/a;".repeat(20_000);
        for (text, expected) in [
            (&chain, "a chain has at most 64 stores"),
            (&caches, "a path has at most 64 caches"),
            (&long, "a search path has at most 32767 bytes"),
        ] {
            let all = described(text);
            let told = all.iter().find(|element| element.ends_with(expected));
            assert!(told.is_some(), "{all:?}");
            assert!(all.len() <= 2, "{all:?}");
        }
    }

    /// One value serves all systems of a user: elsewhere than on Windows, its folders are left out
    /// and its servers stay.
    #[test]
    fn paths_for_windows_keep_their_servers_elsewhere() {
        const MS: &str =
            "server https://msdl.microsoft.com/download/symbols, kept in folder /cache";
        const X: &str = "server https://x.example, kept in folder /cache";
        let symbols = skipped("C:\\symbols", true);
        let share = skipped("\\\\server\\share", true);
        for (text, expected) in [
            (
                "SRV*C:\\symbols*https://msdl.microsoft.com/download/symbols",
                vec![&*symbols, MS],
            ),
            (
                "sRv*c:/symbols*HTTPS://msdl.microsoft.com/download/symbols",
                vec![
                    &skipped("c:/symbols", true),
                    "server HTTPS://msdl.microsoft.com/download/symbols, kept in folder /cache",
                ],
            ),
            ("srv*C:\\symbols*https://x.example/;", vec![&symbols, X]),
            (
                " ; srv * C:\\symbols * https://x.example ; ;",
                vec![&symbols, X],
            ),
            ("\"srv*C:\\symbols*https://x.example\"", vec![&symbols, X]),
            (
                "srv*\"C:\\symbols\"*\"https://x.example\"",
                vec![&symbols, X],
            ),
            ("'srv*C:\\symbols*https://x.example;'", vec![&symbols, X]),
            (
                "\"srv*C:\\symbols*https://x.example\";\"/a b\"",
                vec![&symbols, X, "folder /a b"],
            ),
            (
                "symsrv*symsrv.dll*C:\\symbols*https://x.example",
                vec![&symbols, X],
            ),
            (
                "SymSrv*SYMSRV.DLL*\\\\server\\share*https://x.example",
                vec![&share, X],
            ),
            ("cache*C:\\symbols;srv*https://x.example", vec![&symbols, X]),
            (
                "cache*C:\\symbols;/a",
                vec![&symbols, "folder /a, kept in folder /cache"],
            ),
            (
                "cache*C:\\symbols;srv*C:\\symbols*https://x.example",
                vec![&symbols, &skipped("C:\\symbols", false), X],
            ),
            (
                "cache*/c;srv*C:\\symbols*https://x.example",
                vec![
                    &skipped("C:\\symbols", false),
                    "server https://x.example, kept in folder /c",
                ],
            ),
            (
                "srv*C:\\symbols*\\\\server\\share*https://x.example",
                vec![&symbols, &share, X],
            ),
            (
                "srv*C:\\symbols*/near*https://x.example",
                vec![
                    &skipped("C:\\symbols", false),
                    "server https://x.example, kept in folder /near",
                ],
            ),
            (
                "srv*/near*\\\\server\\share",
                vec![&skipped("\\\\server\\share", false), "folder /near"],
            ),
            (
                "srv**\\\\server\\share*https://x.example",
                vec![&skipped("\\\\server\\share", false), X],
            ),
            (
                "srv*C:\\symbols*https://x.example*https://y.example",
                vec![
                    &symbols,
                    X,
                    "server https://y.example, kept in folder /cache",
                ],
            ),
            (
                "srv*C:\\symbols*https://x.example;srv*C:\\symbols*https://y.example",
                vec![
                    &symbols,
                    X,
                    "server https://y.example, kept in folder /cache",
                ],
            ),
            (
                "srv*%SystemDrive%\\symbols*https://x.example",
                vec![
                    "%SystemDrive%\\symbols: skipped: the variable SystemDrive is not set; \
                     folder /cache takes its place",
                    X,
                ],
            ),
            (
                "srv*$TMPDIR/sym*https://x.example",
                vec![
                    "$TMPDIR/sym: skipped: the variable TMPDIR is not set; \
                     folder /cache takes its place",
                    X,
                ],
            ),
            (
                "srv*%home%/sym*%SERVER%/s",
                vec!["server https://v.example/s, kept in folder /home/me/sym"],
            ),
            (
                "srv*${HOME}/sym*$Server",
                vec!["server https://v.example, kept in folder /home/me/sym"],
            ),
            (
                "%SYMBOLS%;$HOME",
                vec![
                    "folder /one",
                    "server https://w.example, kept in folder /two",
                    "folder /home/me",
                ],
            ),
            (
                "srv*/a*https://x.example/%C3%BC$y",
                vec!["server https://x.example/%C3%BC$y, kept in folder /a"],
            ),
            ("/a%b;/c$", vec!["folder /a%b", "folder /c$"]),
            (
                "srv*~/sym*https://x.example",
                vec!["server https://x.example, kept in folder /home/me/sym"],
            ),
            (
                "~;~/a;~b;/c~",
                vec![
                    "folder /home/me",
                    "folder /home/me/a",
                    "folder ~b",
                    "folder /c~",
                ],
            ),
        ] {
            assert_eq!(described(text), expected, "{text}");
        }
    }

    fn skipped(text: &str, is_replaced: bool) -> String {
        let instead = if is_replaced {
            "; folder /cache takes its place"
        } else {
            ""
        };
        format!("{text}: skipped: a Windows path, which this system cannot use{instead}")
    }

    #[test]
    fn what_is_left_out_is_a_note() {
        let defaults = Defaults {
            cache: Some("/cache".into()),
            ..Defaults::default()
        };
        let text = "srv*C:\\a*https://x.example;D:\\b;NtSymbolPath";
        let path = SearchPath::parse([text], &defaults);
        assert!(path.has_server());
        let unused = [
            "D:\\b: not used: a Windows path, which this system cannot use; name a folder of this system",
            "NtSymbolPath: not used: _NT_SYMBOL_PATH is not set",
        ];
        let [folder, variable] = unused.map(str::to_owned);
        assert_eq!(
            path.notes().collect::<Vec<_>>(),
            [skipped("C:\\a", true), folder, variable]
        );
    }

    #[test]
    fn a_place_is_named_if_a_user_names_one_that_can_be_searched() {
        let defaults = Defaults {
            cache: Some("/cache".into()),
            ..Defaults::default()
        };
        for (text, expected) in [
            ("", false),
            ("NtSymbolPath", false),
            ("C:\\symbols", false),
            ("/symbols", true),
            ("MS", true),
            ("NtSymbolPath;/symbols", true),
        ] {
            let path = SearchPath::parse([text], &defaults).with_folder("/slow.symbols");
            assert_eq!(path.has_named_place(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for (text, reason) in [
            ("srv*C:\\Symbols", "a Windows path"),
            (".\\sym", "a Windows path"),
            ("file:///sym", "http and https only"),
            ("srv*/a*ftp://x.example", "http and https only"),
            ("$UNSET/sym", "the variable UNSET is not set"),
            ("%UNSET%/sym", "the variable UNSET is not set"),
            ("$LOOP", "the variable LOOP is not set"),
            ("cache*https://x.example", "cannot be a cache"),
            ("\\\\server\\share", "a Windows path"),
            ("srv*https://x.example*/a", "cannot come after a server"),
            ("srv*/a*ftp://x.example", "http and https only"),
            ("what*/a", "starts with srv*"),
            ("symsrv*x.dll", "followed by"),
        ] {
            let described = described(text);
            assert!(
                described[0].contains(reason) && described.len() == 1,
                "{text}: {described:?}"
            );
        }
        let none = Defaults::default();
        let unset = SearchPath::parse(["ms", "ntsymbolpath"], &none);
        assert!(
            matches!(
                unset.elements(),
                [Element::Unusable { .. }, Element::Unusable { .. }]
            ),
            "{unset:?}"
        );
    }

    #[test]
    fn without_servers_their_caches_are_left() {
        let defaults = Defaults {
            cache: Some("/cache".into()),
            ..Defaults::default()
        };
        let path =
            SearchPath::parse(["ms;/store;srv*https://x.example"], &defaults).without_servers();
        assert!(!path.has_server());
        let cache = || Element::Chain(vec![Store::Folder("/cache".into())]);
        assert_eq!(
            path.elements(),
            [cache(), Element::Folder("/store".into()), cache()]
        );
    }

    #[test]
    fn windows_has_drives() {
        let defaults = Defaults {
            is_windows: true,
            ..Defaults::default()
        };
        let path = SearchPath::parse(["srv*C:\\Symbols*https://x.example;D:\\a"], &defaults);
        let server = Store::Server("https://x.example".to_owned());
        assert_eq!(
            path.elements(),
            [
                Element::Chain(vec![Store::Folder("C:\\Symbols".into()), server]),
                Element::Folder("D:\\a".into())
            ]
        );
        assert!(
            path.has_server() && !SearchPath::parse(["D:\\a;srv*D:\\b"], &defaults).has_server()
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-zA-Z:;*/\\\\. ü]{0,60}") {
            for element in described(&text) {
                proptest::prop_assert!(!element.is_empty());
            }
        }
    }
}
