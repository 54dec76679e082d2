//! Scenario traces with known truth: a small machine is simulated, its events are written through
//! the writer of [`etwkit_etl`], and the truth about them is summed up on the way.
//!
//! Equal arguments give equal bytes. A trace of scale N is N times as long as the shortest one of
//! its scenario, and its events grow with it. Memory does not, since only sums are kept. Scenarios
//! that describe single calls also keep these, and have a lower maximum scale.
//!
//! Scenarios with named code also have symbol files ([`Scenario::symbols`]).
//!
//! ```
//! use std::io::Cursor;
//!
//! # fn main() -> etwkit_synth::Result<()> {
//! let scenario = etwkit_synth::find("office").unwrap_or(&etwkit_synth::SCENARIOS[0]);
//! let options = etwkit_synth::Options { seed: 7, ..Default::default() };
//! let (trace, truth) = scenario.write(Cursor::new(Vec::new()), &options)?;
//! assert!(trace.into_inner().len() as u64 > 40 * truth.counts.total);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod act;
pub mod cards;
mod code;
mod office;
mod payload;
mod plan;
mod play;
mod rng;
mod scenarios;
mod script;
mod sim;
mod stacks;
mod symbols;
mod table;
mod tape;
pub mod truth;

use std::io::{Seek, Write};

pub use play::{Play, TraceOptions, Unplayable};
pub use symbols::SymbolFile;
pub use truth::Truth;

/// Reason why a trace could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace writer refused.
    #[error(transparent)]
    Write(#[from] etwkit_etl::writer::WriteError),
    /// The scale is not possible for the scenario.
    #[error("a scale of {scale} is not possible: expected 1 to {max}")]
    Scale {
        /// The requested scale.
        scale: u32,
        /// The largest one of the scenario.
        max: u32,
    },
    /// The machine cannot have this number of processors.
    #[error("{cpus} processors are not possible: expected 1 to {MAX_CPUS}")]
    Cpus {
        /// The requested number.
        cpus: u16,
    },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The largest scale of any scenario: a day and a bit.
pub const MAX_SCALE: u32 = 100_000;

/// Most processors of a simulated machine.
pub const MAX_CPUS: u16 = 64;

/// Options of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Length as a multiple of the shortest trace of the scenario; in seconds for `office`.
    pub scale: u32,
    /// Other seeds give other traces of the same kind.
    pub seed: u64,
    /// Compress buffers.
    pub compressed: bool,
    /// Processors of the machine; `None`: as many as the scenario has.
    pub cpus: Option<u16>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: 1,
            seed: 1,
            compressed: false,
            cpus: None,
        }
    }
}

/// A kind of trace.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Description of the events in it.
    pub description: &'static str,
    /// The largest scale that it has.
    pub max_scale: u32,
    plan: fn(&Options) -> plan::Plan,
}

/// The largest scale of scenarios whose truth grows with them.
const MAX_SCRIPT_SCALE: u32 = 100;

/// All scenarios.
pub static SCENARIOS: [Scenario; 26] = [
    Scenario {
        name: "office",
        description: "editor, mail program and document service on four processors: samples, switches, calls, disk and file I/O",
        max_scale: MAX_SCALE,
        plan: office::plan,
    },
    Scenario {
        name: "git-bash",
        description: "Git Bash takes ten seconds to open, since a virus scanner reads each image of a process that starts",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::git_bash::plan,
    },
    Scenario {
        name: "wait-chain",
        description: "a window waits for a thread, that one for a service and so on: five waits over three processes, then the disk",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::wait_chain::plan,
    },
    Scenario {
        name: "priority-inversion",
        description: "an important thread waits for a lock whose unimportant holder gets no processor",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::priority_inversion::plan,
    },
    Scenario {
        name: "starvation",
        description: "more threads compute than there are processors: a player waits its turn, a backup hardly runs",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::starvation::plan,
    },
    Scenario {
        name: "pe-cores",
        description: "a program of low priority crowds on the E-cores while P-cores idle and get parked",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::pe_cores::plan,
    },
    Scenario {
        name: "file-writer",
        description: "120 files are written while a virus scanner reads them, NTFS writes checkpoints and pages come from the disk",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::file_writer::serial,
    },
    Scenario {
        name: "file-writer-quiet",
        description: "the same files are written with nothing in the way",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::file_writer::quiet,
    },
    Scenario {
        name: "file-writer-parallel",
        description: "the same files are written by three threads",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::file_writer::parallel,
    },
    Scenario {
        name: "load-stress",
        description: "twelve threads compute for ten seconds each; on fewer processors they are not done when the trace ends",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::load_stress::plan,
    },
    Scenario {
        name: "serializer-tests",
        description: "a test program for two runtimes starts nine times: the newer one initializes what it does not use",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::serializer_tests::plan,
    },
    Scenario {
        name: "file-filters",
        description: "three filter drivers scan, copy and encrypt what a planner and a backup do with files; some opens fail",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::file_filters::plan,
    },
    Scenario {
        name: "memory",
        description: "a photo program faults pages in and uses heaps, while drivers take memory of the kernel and one leaks",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::memory::plan,
    },
    Scenario {
        name: "services",
        description: "clients call services over messages (ALPC): calls through two services, and messages without a waiting client",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::services::plan,
    },
    Scenario {
        name: "process-starts",
        description: "three threads start short programs that run on other processors; some are ended by their creator",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::process_starts::plan,
    },
    Scenario {
        name: "timers",
        description: "programs and a driver ask for finer resolutions of the system timer, and the power scheme changes",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::timers::plan,
    },
    Scenario {
        name: "system-calls",
        description: "programs call the kernel: keys and values of the registry, files, handles that go to another process",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::system_calls::plan,
    },
    Scenario {
        name: "name-lookup",
        description: "programs look up names of hosts (DNS): from the cache, from servers, and past one that does not answer",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::name_lookup::plan,
    },
    Scenario {
        name: "desktop",
        description: "windows wait for the lock of the window manager, leak bitmaps, get the focus and do not pump messages",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::desktop::plan,
    },
    Scenario {
        name: "tracing",
        description: "sessions of the tracing system start, stop, collide and lose events, and providers are switched on and off",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::tracing::plan,
    },
    Scenario {
        name: "collections",
        description: "a .NET service collects garbage: with its threads standing still, and in the background",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::collections::plan,
    },
    Scenario {
        name: "test-runs",
        description: "a test that takes longer for three reasons, of which each seed has more or less: hard faults, a virus scanner, DNS",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::test_runs::disturbed,
    },
    Scenario {
        name: "test-runs-quiet",
        description: "the same test with nothing in the way",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::test_runs::quiet,
    },
    Scenario {
        name: "slow-browsing",
        description: "names of hosts take twelve seconds, since a network without a way to the internet is queried first",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::slow_browsing::plan,
    },
    Scenario {
        name: "slow-system",
        description: "a virus scanner without symbols holds up the opening of a folder and the start of a program",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::slow_system::plan,
    },
    Scenario {
        name: "many-slow-calls",
        description: "a server on 64 processors spends a minute in the logging of its system calls, below a driver",
        max_scale: MAX_SCRIPT_SCALE,
        plan: scenarios::many_slow_calls::plan,
    },
];

/// Returns the scenario of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

impl Scenario {
    /// Writes a trace. Returns the sink, positioned after the trace, and the truth about it.
    ///
    /// # Errors
    /// [`Error::Scale`] and [`Error::Cpus`] if the machine is not possible, [`Error::Write`] if the
    /// sink fails.
    pub fn write<W: Write + Seek>(&self, sink: W, options: &Options) -> Result<(W, Truth)> {
        let (sink, mut truth) = sim::Sim::new(self.plan(options)?, sink, options)?.run()?;
        truth.made = truth::Made {
            format_version: truth::FORMAT_VERSION,
            scenario: self.name.to_owned(),
            scale: options.scale,
            seed: options.seed,
            compressed: options.compressed,
        };
        Ok((sink, truth))
    }

    /// Symbol files of the images of a trace; none for a scenario without named code. They do not
    /// depend on the seed and the scale.
    ///
    /// # Errors
    /// [`Error::Scale`] and [`Error::Cpus`] if the machine is not possible.
    pub fn symbols(&self, options: &Options) -> Result<Vec<SymbolFile>> {
        Ok(symbols::files(&self.plan(options)?))
    }

    fn plan(&self, options: &Options) -> Result<plan::Plan> {
        if !(1..=self.max_scale).contains(&options.scale) {
            return Err(Error::Scale {
                scale: options.scale,
                max: self.max_scale,
            });
        }
        if let Some(cpus) = options.cpus.filter(|cpus| !(1..=MAX_CPUS).contains(cpus)) {
            return Err(Error::Cpus { cpus });
        }
        Ok((self.plan)(options))
    }
}
