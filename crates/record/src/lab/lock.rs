//! A system-wide lock that a workload may hold up: on Windows the lock of the window manager, for
//! which all input waits. Other systems have no such lock, so it is the opening of a file there.
//!
//! A process that takes the lock has user32.dll loaded. The measured processes must not load it
//! unless requested, so a small generated program takes the lock in their place.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::lab::probe::{Probe, Tries};
use crate::lab::program::{Argument, Program, Step, kernel32, user32};

/// An operation to repeat while the workload runs.
pub(crate) enum Lock {
    /// The lock of the window manager: the folder with the program that takes it.
    WindowManager(TempDir),
    /// The opening of a file: the executable of this program.
    File(PathBuf),
}

/// Places of the program: the standard output, the number of written bytes, unused results of
/// functions, and an unused message.
const OUT: u32 = 0;
const WRITTEN: u32 = 8;
const RESULT: u32 = 16;
const BEFORE: u32 = 24;
const AFTER: u32 = 32;
const MESSAGE: u32 = 40;
const SIZE: usize = 96;
/// Bytes of a record: the counter before and after.
const RECORD: usize = 16;
const FILE_NAME: &str = "etwkit-lab-lock.exe";

impl Lock {
    /// Returns the lock of this system.
    ///
    /// # Errors
    /// The lock is the opening of a file, and the system does not name the file of this program.
    pub(crate) fn of_system() -> Result<Self> {
        let file = || {
            let program = std::env::current_exe();
            program
                .map(Self::File)
                .context("cannot find the file of this program")
        };
        if !cfg!(windows) {
            return file();
        }
        let written = || -> Result<TempDir> {
            let folder = tempfile::tempdir()?;
            std::fs::write(folder.path().join(FILE_NAME), program().bytes()?)?;
            // Virus scanners and policies may reject a program that has just been written.
            Asker::start(&mut Command::new(folder.path().join(FILE_NAME)))?;
            Ok(folder)
        };
        written().map_or_else(|_| file(), |folder| Ok(Self::WindowManager(folder)))
    }

    /// Returns the description of the lock for a line of the report.
    pub(crate) const fn words(&self) -> &'static str {
        match self {
            Self::WindowManager(_) => {
                "Lock: the window manager (GetDesktopWindow, PeekMessage), requested every 10 ms."
            }
            Self::File(_) if cfg!(windows) => {
                "Lock: the opening of a file, every 10 ms; the program that requests the lock of the window manager did not start."
            }
            Self::File(_) => {
                "Lock: the opening of a file, every 10 ms; only Windows has a lock of the window manager."
            }
        }
    }

    /// Starts to take it repeatedly.
    ///
    /// # Errors
    /// The program that takes it does not start.
    pub(crate) fn probe(&self) -> Result<Probe> {
        match self {
            Self::WindowManager(folder) => {
                let asker = Asker::start(&mut Command::new(folder.path().join(FILE_NAME)))?;
                Ok(Probe::begin(move |is_over| asker.tries(is_over)))
            }
            Self::File(path) => {
                let path = path.clone();
                Ok(Probe::every_10_ms(move || {
                    drop(File::open(Path::new(&path)));
                }))
            }
        }
    }
}

/// Returns the program: it writes the frequency of the counter, then every 10 ms the counter before
/// and after it took the lock, until its output has no reader any more.
fn program() -> Program {
    use Argument::{At, Kept, Number};
    let write = |from, bytes| {
        let arguments = vec![Kept(OUT), At(from), Number(bytes), At(WRITTEN), Number(0)];
        Step::Call(kernel32("WriteFile"), arguments, RESULT)
    };
    let counter = |place| Step::Call(kernel32("QueryPerformanceCounter"), vec![At(place)], RESULT);
    let peek = vec![At(MESSAGE), Number(0), Number(0), Number(0), Number(0)];
    // The standard output is -11.
    let steps = vec![
        Step::Call(
            kernel32("GetStdHandle"),
            vec![Number(11_u32.wrapping_neg())],
            OUT,
        ),
        Step::Call(
            kernel32("QueryPerformanceFrequency"),
            vec![At(BEFORE)],
            RESULT,
        ),
        write(BEFORE, 8),
        Step::Label(1),
        counter(BEFORE),
        Step::Call(user32("GetDesktopWindow"), vec![], RESULT),
        Step::Call(user32("PeekMessageA"), peek, RESULT),
        counter(AFTER),
        write(BEFORE, RECORD as u32),
        Step::IfZero(RESULT, 2),
        Step::Call(kernel32("Sleep"), vec![Number(10)], RESULT),
        Step::Goto(1),
        Step::Label(2),
        Step::Call(kernel32("ExitProcess"), vec![Number(0)], RESULT),
    ];
    Program {
        steps,
        data: vec![0; SIZE],
        ..Program::default()
    }
}

/// The process that takes the lock, which is killed with this.
struct Asker {
    process: Process,
    /// Frequency of its counter in ticks per second.
    frequency: u64,
}

impl Asker {
    /// Starts it, and waits until it is ready.
    fn start(command: &mut Command) -> Result<Self> {
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let process = process.context("cannot start the program that asks for the lock")?;
        let mut asker = Self {
            process,
            frequency: 0,
        };
        asker.frequency = u64::from_le_bytes(asker.next().context("it said nothing")?);
        Ok(asker)
    }

    fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.process.stdout.as_mut()?.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Returns the duration of each try until the workload is over. The last try may be the one
    /// that waits.
    fn tries(mut self, is_over: &dyn Fn() -> bool) -> Tries {
        let mut tries = Vec::new();
        while let Some(record) = self.next::<RECORD>() {
            tries.extend(took(record, self.frequency));
            if is_over() {
                break;
            }
        }
        Tries(tries)
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the time between the two counters of a record.
fn took(record: [u8; RECORD], frequency: u64) -> Option<Duration> {
    let (before, after) = record.split_first_chunk::<8>()?;
    let counted =
        u64::from_le_bytes(after.try_into().ok()?).checked_sub(u64::from_le_bytes(*before))?;
    (frequency > 0).then(|| Duration::from_secs_f64(counted as f64 / frequency as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::tests::wine;

    #[test]
    fn a_record_is_a_time() {
        let record = |before: u64, after: u64| -> [u8; RECORD] {
            [before.to_le_bytes(), after.to_le_bytes()]
                .concat()
                .try_into()
                .unwrap()
        };
        assert_eq!(
            took(record(1_000, 26_000), 10_000_000),
            Some(Duration::from_micros(2_500))
        );
        assert_eq!(took(record(2, 1), 10_000_000), None);
        assert_eq!(took(record(1, 2), 0), None);
    }

    #[test]
    fn the_program_asks_every_10_ms() {
        let Some((_folder, mut command)) = wine("lock", &program()) else {
            return;
        };
        let asker = Asker::start(&mut command).unwrap();
        let begun = std::time::Instant::now();
        let tries = asker.tries(&|| begun.elapsed() > Duration::from_millis(500));
        assert!((5..=51).contains(&tries.0.len()), "{tries:?}");
        assert!(
            tries
                .0
                .iter()
                .all(|took| *took < Duration::from_millis(500)),
            "{tries:?}"
        );
    }
}
