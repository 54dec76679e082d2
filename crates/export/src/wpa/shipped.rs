//! Profiles that come with etwkit. They are parsed like any other profile.

use etwkit_sql::xml::FileError;

use crate::wpa::profile::Profile;

/// A built-in profile.
#[derive(Debug)]
pub struct Shipped {
    /// Its name in `--profile`.
    pub name: &'static str,
    /// Its content, in one sentence.
    pub sentence: &'static str,
    /// The file.
    pub text: &'static str,
}

/// All of them, in the order of the documentation.
pub static SHIPPED: &[Shipped] = &[
    Shipped {
        name: "cpu",
        sentence: "CPU by process, thread, stack, module, processor and priority; activities; DPCs and interrupts",
        text: include_str!("../../profiles/cpu.wpaProfile"),
    },
    Shipped {
        name: "wait",
        sentence: "what threads waited for, and who made them ready",
        text: include_str!("../../profiles/wait.wpaProfile"),
    },
    Shipped {
        name: "disk",
        sentence: "disks, files, hard faults and minifilter drivers",
        text: include_str!("../../profiles/disk.wpaProfile"),
    },
    Shipped {
        name: "memory",
        sentence: "commits, working sets, pool, handles",
        text: include_str!("../../profiles/memory.wpaProfile"),
    },
    Shipped {
        name: "system",
        sentence: "processes, modules, threads, events, marks, delays of windows, registry, network",
        text: include_str!("../../profiles/system.wpaProfile"),
    },
];

/// Returns the profile with this name, in any case.
pub(crate) fn by_name(name: &str) -> Option<&'static Shipped> {
    SHIPPED
        .iter()
        .find(|shipped| shipped.name.eq_ignore_ascii_case(name))
}

impl Shipped {
    /// Parses the profile.
    ///
    /// # Errors
    /// Never, which a test guarantees.
    pub fn read(&self) -> Result<Profile, FileError> {
        Profile::parse(self.name, self.text.as_bytes())
    }
}
