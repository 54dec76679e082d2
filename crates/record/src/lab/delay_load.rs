//! Three programs that differ in one thing: the first one names a function of shell32.dll that it
//! never calls, the second one names it so that the library is loaded with the first call, the
//! third one does not name it. Many processes of each run at the same time and end together. The
//! difference is the cost of an unused library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::lab::family::Family;
use crate::lab::folder::Names;
use crate::lab::imports::Function;
use crate::lab::lock::Lock;
use crate::lab::probe::ValueNames;
use crate::lab::process_create::report_time;
use crate::lab::program::{Argument, Program, Step, kernel32};
use crate::lab::{Bench, Report};

/// The function that is named and never called, as in the case study.
const SHELL: Function = Function {
    library: "shell32.dll",
    name: "CommandLineToArgvW",
};
/// Pause between creation and end, and between two programs.
const GAP: Duration = Duration::from_millis(500);

/// Number of processes, and the folder of the programs.
#[derive(Debug, Clone, Args)]
pub(crate) struct DelayLoadArgs {
    /// Folder of the programs, which is made; programs of an earlier run are replaced
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Processes of each program
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    processes: u32,
}

/// One of the programs: its file, its description, and the names of its values.
struct Variant {
    file: Names,
    words: &'static str,
    create: &'static str,
    destroy: &'static str,
    created: ValueNames,
    destroyed: ValueNames,
}

/// Defines variants from words, names of files and the prefix of their value names.
macro_rules! variants {
    ($($begin:literal, $words:literal, $name:literal;)*) => {
        &[$(Variant {
            file: Names { begin: $begin, end: ".exe" },
            words: $words,
            create: concat!($name, "_create_s"),
            destroy: concat!($name, "_destroy_s"),
            created: variants!($name, "_create"),
            destroyed: variants!($name, "_destroy"),
        }),*]
    };
    ($name:literal, $what:literal) => {
        ValueNames {
            total: concat!($name, $what, "_blocked_total_s"),
            most: concat!($name, $what, "_blocked_max_s"),
            median: concat!($name, $what, "_blocked_median_s"),
            slow: concat!($name, $what, "_blocked_p99_s"),
        }
    };
}

const VARIANTS: &[Variant] = variants! {
    "Imported_", "shell32.dll imported", "imported";
    "Delayed_", "shell32.dll imported with delay", "delayed";
    "Without_", "without shell32.dll", "without";
};

impl DelayLoadArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let names: Vec<Names> = VARIANTS.iter().map(|variant| variant.file).collect();
        Names::prepare(&names, &self.folder)?;
        for (variant, (imported, delayed)) in
            VARIANTS
                .iter()
                .zip([(true, false), (false, true), (false, false)])
        {
            let path = variant.file.path(&self.folder, 0);
            let bytes = program(imported, delayed).bytes()?;
            std::fs::write(&path, bytes)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut report = Report::new("delay-load", &["cswitch", "usercrit"], "dump user-lock");
        report.line(format!(
            "Wrote {} programs into {}.",
            VARIANTS.len(),
            self.folder.display()
        ));
        if !cfg!(windows) {
            plan(&mut report, self.processes);
            return Ok(report);
        }
        let lock = Lock::of_system()?;
        report.line(lock.words());
        for (done, variant) in VARIANTS.iter().enumerate() {
            let of_all = |part: u32| {
                // Three parts for each program: the start of the processes, the wait until all are
                // ready, and their end.
                bench.progress(done as u32 * self.processes * 3 + part, self.processes * 9);
                (bench.is_stopped)()
            };
            self.measure(variant, &lock, &mut report, &of_all)?;
        }
        Ok(report)
    }

    /// Creates the processes of one program and ends them.
    fn measure(
        &self,
        variant: &Variant,
        lock: &Lock,
        report: &mut Report,
        look: &dyn Fn(u32) -> bool,
    ) -> Result<()> {
        report.line("");
        report.line(format!("{} processes, {}:", self.processes, variant.words));
        let path = variant.file.path(&self.folder, 0);
        let probe = lock.probe()?;
        let begun = Instant::now();
        let family = Family::start(self.processes, || Command::new(Path::new(&path)), look)?;
        report_time(
            report,
            "creation",
            (begun.elapsed(), self.processes),
            variant.create,
        );
        probe.end()?.report(report, &variant.created);
        std::thread::sleep(GAP);
        let probe = lock.probe()?;
        let begun = Instant::now();
        family.end(&|ended| look(self.processes * 2 + ended))?;
        report_time(
            report,
            "destruction",
            (begun.elapsed(), self.processes),
            variant.destroy,
        );
        probe.end()?.report(report, &variant.destroyed);
        std::thread::sleep(GAP);
        Ok(())
    }
}

/// Prints the steps that Windows would run, on other systems.
fn plan(report: &mut Report, processes: u32) {
    report.line(
        "Plan: they are programs for Windows, where the same command does this with each of them.",
    );
    report.line(format!(
        "  1. It starts {processes} processes, which wait until all are there."
    ));
    report.line("  2. It waits half a second and lets all of them end at once.");
    report.line("  3. In addition it asks for the lock of the window manager every 10 ms.");
    report.line(
        "  4. It prints how long creation and destruction took and how long the lock was blocked.",
    );
}

/// Writes the program: it reports that it is ready, and ends when its input does.
fn program(is_imported: bool, is_delayed: bool) -> Program {
    use Argument::{At, Kept, Number};
    // Places: output, input, the number of written or read bytes, results, and a byte.
    const OUT: u32 = 0;
    const IN: u32 = 8;
    const COUNT: u32 = 16;
    const RESULT: u32 = 24;
    const BYTE: u32 = 32;
    let handle = |number: u32| vec![Number(number.wrapping_neg())];
    let steps = vec![
        Step::Call(kernel32("GetStdHandle"), handle(11), OUT),
        Step::Call(kernel32("GetStdHandle"), handle(10), IN),
        Step::Call(
            kernel32("WriteFile"),
            vec![Kept(OUT), At(BYTE), Number(1), At(COUNT), Number(0)],
            RESULT,
        ),
        Step::Call(
            kernel32("ReadFile"),
            vec![Kept(IN), At(BYTE), Number(1), At(COUNT), Number(0)],
            RESULT,
        ),
        Step::Call(kernel32("ExitProcess"), vec![Number(0)], RESULT),
    ];
    let shell = |is_named: bool| if is_named { vec![SHELL] } else { Vec::new() };
    Program {
        steps,
        data: vec![b'.'; 40],
        imported: shell(is_imported),
        delayed: shell(is_delayed),
    }
}

#[cfg(test)]
mod tests {
    use object::read::pe::PeFile64;
    use object::{LittleEndian, pe};

    use super::*;
    use crate::lab::tests::wine;

    /// Returns the libraries and functions that the loader resolves, as found by another reader.
    fn imports(bytes: &[u8]) -> Vec<(String, String)> {
        let file = PeFile64::parse(bytes).unwrap();
        let table = file.import_table().unwrap().unwrap();
        let mut libraries = table.descriptors().unwrap();
        let mut found = Vec::new();
        while let Some(library) = libraries.next().unwrap() {
            let name = table.name(library.name.get(LittleEndian)).unwrap();
            let mut thunks = table
                .thunks(library.original_first_thunk.get(LittleEndian))
                .unwrap();
            while let Some(thunk) = thunks.next::<pe::ImageNtHeaders64>().unwrap() {
                let (_, function) = table.hint_name(thunk.0.get(LittleEndian) as u32).unwrap();
                found.push(
                    [name, function]
                        .map(|name| String::from_utf8(name.to_vec()).unwrap())
                        .into(),
                );
            }
        }
        found
    }

    #[test]
    fn programs_differ_in_the_import_alone() {
        let kernel = ["GetStdHandle", "WriteFile", "ReadFile", "ExitProcess"]
            .map(|name| ("kernel32.dll".to_owned(), name.to_owned()));
        let shell = ("shell32.dll".to_owned(), "CommandLineToArgvW".to_owned());
        let [imported, delayed, without] = [(true, false), (false, true), (false, false)]
            .map(|(imported, delayed)| program(imported, delayed).bytes().unwrap());
        assert_eq!(imports(&without), kernel);
        assert_eq!(imports(&delayed), kernel);
        assert_eq!(imports(&imported), [&[shell][..], &kernel[..]].concat());
        let file = PeFile64::parse(&*delayed).unwrap();
        let table = file
            .data_directories()
            .delay_load_import_table(&*delayed, &file.section_table());
        let table = table.unwrap().unwrap();
        let library = table.descriptors().unwrap().next().unwrap().unwrap();
        assert_eq!(
            table.name(library.dll_name_rva.get(LittleEndian)).unwrap(),
            b"shell32.dll"
        );
        let names = library.import_name_table_rva.get(LittleEndian);
        let thunk = table
            .thunks(names)
            .unwrap()
            .next::<pe::ImageNtHeaders64>()
            .unwrap()
            .unwrap();
        let (_, function) = table.hint_name(thunk.0.get(LittleEndian) as u32).unwrap();
        assert_eq!(function, b"CommandLineToArgvW");
    }

    #[test]
    fn processes_are_there_until_their_input_ends() {
        for (imported, delayed) in [(true, false), (false, true), (false, false)] {
            let Some((folder, command)) = wine("delay_load", &program(imported, delayed)) else {
                return;
            };
            let again = || {
                let mut again = Command::new(command.get_program());
                again.args(command.get_args()).env("WINEDEBUG", "-all");
                again
            };
            let family = Family::start(3, again, &|_| false).unwrap();
            family.end(&|_| false).unwrap();
            drop(folder);
        }
    }

    #[cfg(not(windows))]
    #[test]
    fn programs_are_written_and_the_rest_is_a_plan() {
        let folder = tempfile::tempdir().unwrap();
        let amount = DelayLoadArgs {
            folder: folder.path().to_owned(),
            processes: 7,
        };
        for _ in 0..2 {
            let report = amount.run(&crate::lab::tests::bench()).unwrap();
            assert!(
                report.lines[2].contains("It starts 7 processes"),
                "{report:?}"
            );
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
