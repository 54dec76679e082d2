//! Places for the files of an engine.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Environment variable with the cache folder.
const CACHE: &str = "ETWKIT_CACHE";

/// Environment variable with the folder for spilled data and for members of archives.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Environment variable that disables symbol servers.
const OFFLINE: &str = "ETWKIT_OFFLINE";

/// Places for the files of an engine, and permission to contact servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The cache folder: extracts of traces, tables of symbols.
    pub cache: Option<PathBuf>,
    /// The folder for temporary files; `None` is the folder of the system.
    pub temp_dir: Option<PathBuf>,
    /// True if no symbol server may be contacted, whatever a search path contains.
    pub is_offline: bool,
}

impl Settings {
    /// Reads the settings from the environment: `ETWKIT_CACHE`, or else the cache folder of the
    /// user; `ETWKIT_TMP`; `ETWKIT_OFFLINE`.
    #[must_use]
    pub fn from_environment() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = |name: &str| variable(name).map(PathBuf::from);
        let of_user = || {
            let user = folder("XDG_CACHE_HOME").or_else(|| folder("LOCALAPPDATA"));
            let user = user.or_else(|| folder("HOME").map(|home| home.join(".cache")));
            user.map(|user| user.join("etwkit"))
        };
        Self {
            cache: folder(CACHE).or_else(of_user),
            temp_dir: folder(TEMP_DIR),
            is_offline: variable(OFFLINE).is_some_and(|value| value != "0"),
        }
    }

    /// Returns the cache folder.
    pub(crate) fn cache(&self) -> Result<&Path> {
        self.cache
            .as_deref()
            .ok_or(Error::NoCache { variable: CACHE })
    }
}
