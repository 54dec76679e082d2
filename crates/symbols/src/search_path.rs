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
//! also kept there.

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
}

impl Defaults {
    /// The defaults of this system: `_NT_SYMBOL_PATH` of the environment.
    #[must_use]
    pub fn of_system(cache: Option<PathBuf>) -> Self {
        Self {
            cache,
            nt_symbol_path: std::env::var("_NT_SYMBOL_PATH").ok(),
            is_windows: cfg!(windows),
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

    /// True if a server may be contacted.
    #[must_use]
    pub fn has_server(&self) -> bool {
        let is_server = |store: &Store| matches!(store, Store::Server(_));
        self.elements.iter().any(
            |element| matches!(element, Element::Chain(stores) if stores.iter().any(is_server)),
        )
    }
}

struct Parser<'d> {
    defaults: &'d Defaults,
    /// Stores of `cache*` elements so far.
    caches: Vec<Store>,
    elements: Vec<Element>,
    /// True inside of `_NT_SYMBOL_PATH`, which must not refer to itself.
    is_inside: bool,
}

impl Parser<'_> {
    fn path(&mut self, text: &str) {
        for element in text
            .split(';')
            .map(str::trim)
            .filter(|element| !element.is_empty())
        {
            self.element(element);
        }
    }

    fn element(&mut self, text: &str) {
        let unusable = |reason: &str| Element::Unusable {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let (kind, rest) = text.split_once('*').unwrap_or((text, ""));
        let element = match kind.to_ascii_lowercase().as_str() {
            "srv" => self.chain(rest),
            "symsrv" => match rest.split_once('*') {
                // The library is the DLL through which debuggers read the stores.
                Some((_library, stores)) => self.chain(stores),
                None => Err("symsrv* is followed by the name of a library and stores".to_owned()),
            },
            // A folder may be called `cache`; only with an asterisk it is the element.
            "cache" if text.contains('*') => match self.stores(rest) {
                Ok(stores) => {
                    self.caches.extend(stores);
                    return;
                }
                Err(reason) => Err(reason),
            },
            "ms" if rest.is_empty() => self.chain(&format!("*{MICROSOFT}")),
            "google" if rest.is_empty() => self.chain(&format!("*{GOOGLE}")),
            "ntsymbolpath" | "_nt_symbol_path" if rest.is_empty() => {
                match self.defaults.nt_symbol_path.clone() {
                    // The variable may name itself; reading it again would never end.
                    Some(path) if !self.is_inside => {
                        self.is_inside = true;
                        self.path(&path);
                        self.is_inside = false;
                        return;
                    }
                    Some(_) => Err("_NT_SYMBOL_PATH names itself".to_owned()),
                    None => Err("_NT_SYMBOL_PATH is not set".to_owned()),
                }
            }
            _ if text.contains('*') => {
                Err("an element with * begins with srv*, symsrv* or cache*".to_owned())
            }
            // A plain URL is read as if it followed `srv*`.
            _ if is_url(text) => self.chain(text),
            _ => self
                .folder(text)
                .map(|folder| match self.caches.as_slice() {
                    [] => Element::Folder(folder),
                    caches => Element::Chain(
                        caches
                            .iter()
                            .cloned()
                            .chain([Store::Folder(folder)])
                            .collect(),
                    ),
                }),
        };
        self.elements
            .push(element.unwrap_or_else(|reason| unusable(&reason)));
    }

    fn chain(&self, text: &str) -> Result<Element, String> {
        let mut stores = self.caches.clone();
        stores.extend(self.stores(text)?);
        // A downloaded file has to be stored somewhere to be opened, and it should not be
        // downloaded again for the next trace.
        if let [Store::Server(_)] = stores.as_slice() {
            stores.insert(0, self.user_cache()?);
        }
        // A server cannot be written to, so it could not cache files of the stores after it.
        let last = stores.len().saturating_sub(1);
        if stores
            .iter()
            .take(last)
            .any(|store| matches!(store, Store::Server(_)))
        {
            return Err("only the last store of a chain can be a server".to_owned());
        }
        Ok(Element::Chain(stores))
    }

    fn stores(&self, text: &str) -> Result<Vec<Store>, String> {
        let one = |text: &str| match text.trim() {
            // Debuggers take an empty store for their default cache.
            "" => self.user_cache(),
            text if is_url(text) => Ok(Store::Server(text.trim_end_matches('/').to_owned())),
            text if text.contains("://") => {
                Err("servers are asked by http and https only".to_owned())
            }
            text => self.folder(text).map(Store::Folder),
        };
        text.split('*').map(one).collect()
    }

    fn user_cache(&self) -> Result<Store, String> {
        let cache = self.defaults.cache.clone();
        cache
            .map(Store::Folder)
            .ok_or_else(|| "there is no cache folder to keep symbols in".to_owned())
    }

    fn folder(&self, text: &str) -> Result<PathBuf, String> {
        let bytes = text.as_bytes();
        // On other systems this text would be a relative path that does not exist.
        let has_drive = matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
        if (has_drive || text.starts_with("\\\\")) && !self.defaults.is_windows {
            return Err(
                "a path of Windows, which this system has not; name a folder of this system"
                    .to_owned(),
            );
        }
        Ok(Path::new(text).to_owned())
    }
}

fn is_url(text: &str) -> bool {
    let begins = |scheme: &str| {
        text.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
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
        };
        SearchPath::parse([text], &defaults)
            .elements()
            .iter()
            .map(ToString::to_string)
            .collect()
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

    #[test]
    fn what_cannot_be_used_says_why() {
        for (text, reason) in [
            ("srv*C:\\Symbols*https://x.example", "a path of Windows"),
            ("\\\\server\\share", "a path of Windows"),
            ("srv*https://x.example*/a", "only the last store"),
            ("srv*/a*ftp://x.example", "http and https only"),
            ("what*/a", "begins with srv*"),
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
