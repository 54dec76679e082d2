//! The console: scripts on its standard input, character by character, and a terminal.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Exit, run, trace};
use crate::transcripts::compare;

/// A folder with extracts of two traces, and a trace.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, of) in [("slow", "sched-5.etl"), ("fast", "dotnet-5.etl")] {
        let source = folder.path().join(format!("{name}.etl"));
        std::fs::copy(trace(of), &source).unwrap();
        let target = folder.path().join(format!("runs/{name}.etwx"));
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let answer = run(&[
            "extract",
            source.to_str().unwrap(),
            "--out",
            target.to_str().unwrap(),
        ]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    }
    std::fs::copy(trace("dns-5.etl"), folder.path().join("names.etl")).unwrap();
    folder
}

/// Runs a script in the folder; what it printed, and how it ended.
fn script(args: &[&str], lines: &str, folder: &Path) -> (String, String, i32) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .args(args)
        .current_dir(folder)
        .env("ETWKIT_CACHE", folder.join("cache"))
        .env("LC_ALL", "C")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    let answer = child.wait_with_output().unwrap();
    let place = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.replace(&folder.canonicalize().unwrap().display().to_string(), "DIR")
            .replace(&folder.display().to_string(), "DIR")
    };
    (
        place(&answer.stdout),
        place(&answer.stderr),
        answer.status.code().unwrap(),
    )
}

const SCRIPT: &str = "\
# What is loaded is asked where a line names nothing.
.load runs/slow runs/fast.json
.list
dump cpu --top 1
.dump cpu -topn 1 -fd *slow*
.sql SELECT count(*) AS samples FROM cpu_sample
sql 'SELECT count(*) AS processes FROM process' --format csv
.converttime -time 0.2 -fd fast
.timefmt s 4
.dump process -topn 1 -fd slow
.timefmt
.sffn
.dump process -topn 1 -fd slow
.sffn
.unload slow
.list
.load+ names.etl
dump dns --top 1
.dump cpu -topn 1 -fd *
export --pid 1412 runs/slow.etwx
-dump cpu -fd runs\\slow.json -topn 1
etwkit dump cpu --top 1 runs/slow.etwx
.help .load
";

#[test]
fn a_script_asks_what_is_loaded() {
    let folder = folder();
    let (out, err, exit) = script(&["console", "--no-history"], SCRIPT, folder.path());
    // CSV in a pipe has the line ends that RFC 4180 asks for.
    compare(
        &format!("{out}{err}[exit {exit}]\n").replace('\r', ""),
        "console-script",
    );
    assert_eq!(exit, 0, "{err}");
    // The console answers what the program answers.
    let asked = run(&[
        "dump",
        "cpu",
        "--top",
        "1",
        folder.path().join("runs/slow.etwx").to_str().unwrap(),
    ]);
    assert!(out.contains(&asked.out), "{out}");
    let folder = folder.path();
    let both: Vec<String> = ["-console", "console"]
        .iter()
        .map(|word| script(&[word, "runs/slow.etwx"], ".list\n", folder).0)
        .collect();
    assert_eq!(both[0], both[1]);
    assert!(both[0].contains("slow.etwx"), "{}", both[0]);
    let queried = script(
        &["-console", "-fd", "*runs*", "-recursive"],
        ".list\n",
        folder,
    );
    assert!(queried.0.contains("2 loaded"), "{queried:?}");
}

#[test]
fn errors_do_not_end_a_console_and_the_worst_one_is_its_exit_code() {
    let folder = folder();
    let run = |lines: &str| script(&["console"], lines, folder.path());
    assert_eq!(run(""), (String::new(), String::new(), 0));
    assert_eq!(
        run("# nothing\n\n.quit\nnonsense\n").2,
        0,
        "lines behind the end are not read"
    );
    let (out, err, exit) = run(
        "nonsense\n.load runs/slow\n.dump nosuch\n.load no.etwx\ndump cpu --speed\n.timedigits 9\n.list\n",
    );
    assert_eq!(exit, 2);
    assert!(out.contains("1 loaded"), "what was loaded stays: {out}");
    for expected in [
        "there is no command nonsense; .help lists all",
        "-dump nosuch: there is no sub command of this name",
        "no.etwx",
        "unexpected argument '--speed'",
        "expected a number of digits from 0 to 6",
    ] {
        assert!(err.contains(expected), "{expected}: {err}");
    }
    assert_eq!(run(".load runs/slow\ndump dns\n").2, 1, "nothing recorded");
    let nothing = run(".dump cpu\n.sql SELECT 1\n.unload\n");
    assert!(
        nothing.2 == 2 && nothing.1.contains("nothing is loaded"),
        "{nothing:?}"
    );
    let nested = run("console\n-console\n");
    assert_eq!(
        nested.1.matches("this is a console already").count(),
        2,
        "{nested:?}"
    );
    let rest = run(".load runs/slow\nsql -\nSELECT count(*) AS n FROM process\n");
    assert_eq!(
        (rest.0.lines().last().unwrap().trim(), rest.2),
        ("6", 0),
        "{rest:?}"
    );
}

#[test]
fn traces_of_extracts_are_found_and_extracts_that_change_are_read_anew() {
    let folder = folder();
    let lines = "\
.load runs/slow
info
events --count
sql --format csv 'SELECT count(*) AS n FROM process'
extract fast.etl --out runs/slow.etwx
sql --format csv 'SELECT count(*) AS n FROM process'
";
    let (out, err, exit) = script(&["console"], lines, folder.path());
    assert_eq!((exit, err.as_str()), (0, ""));
    assert!(out.contains("SYNTHBOX") && out.contains("14,828"), "{out}");
    let counts: Vec<&str> = out
        .split("\nn\r\n")
        .skip(1)
        .filter_map(|rest| rest.lines().next())
        .collect();
    assert_eq!(counts.len(), 2, "{out}");
    assert_ne!(counts[0], counts[1], "{out}");
    std::fs::remove_file(folder.path().join("fast.etl")).unwrap();
    let (_, err, exit) = script(&["console", "runs/fast"], "info\n", folder.path());
    assert!(
        exit == 2 && err.contains("is neither next to it nor in the folder above: name it"),
        "{err}"
    );
}

#[cfg(unix)]
mod terminal {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::process::{Child, Command};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use nix::pty::openpty;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    /// The editor of lines turns this on in front of a prompt, and off behind a line.
    const PROMPT: &str = "\u{1B}[?2004h";
    const ENTERED: &str = "\u{1B}[?2004l";
    /// Longer than any answer takes.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// A console on a terminal.
    struct Session {
        child: Child,
        keys: File,
        screen: Receiver<Vec<u8>>,
        seen: String,
    }

    impl Session {
        fn open(folder: &std::path::Path) -> Self {
            let pty = openpty(None, None).unwrap();
            let end = |fd: &OwnedFd| fd.try_clone().unwrap();
            let child = Command::new(env!("CARGO_BIN_EXE_etwkit"))
                .arg("console")
                .current_dir(folder)
                .env("XDG_STATE_HOME", folder.join("state"))
                .env("TERM", "xterm")
                // Labels would have colours.
                .env("NO_COLOR", "1")
                .stdin(end(&pty.slave))
                .stdout(end(&pty.slave))
                .stderr(pty.slave)
                .spawn()
                .unwrap();
            let mut screen = File::from(end(&pty.master));
            let (send, receive) = channel();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count) = screen.read(&mut bytes) {
                    if count == 0 || send.send(bytes[..count].to_vec()).is_err() {
                        return;
                    }
                }
            });
            Self {
                child,
                keys: File::from(pty.master),
                screen: receive,
                seen: String::new(),
            }
        }

        /// What was shown up to this text.
        #[track_caller]
        fn until(&mut self, text: &str) -> String {
            loop {
                if let Some(at) = self.seen.find(text) {
                    let rest = self.seen.split_off(at + text.len());
                    return std::mem::replace(&mut self.seen, rest);
                }
                match self.screen.recv_timeout(PATIENCE) {
                    Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                    Err(_) => panic!("{text:?} is not shown: {:?}", self.seen),
                }
            }
        }

        /// Whether this text is shown within a time.
        fn shows(&mut self, text: &str, within: Duration) -> bool {
            while !self.seen.contains(text) {
                match self.screen.recv_timeout(within) {
                    Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                    Err(_) => return false,
                }
            }
            true
        }

        fn press(&mut self, keys: &str) {
            self.keys.write_all(keys.as_bytes()).unwrap();
        }

        /// Answer to a line.
        #[track_caller]
        fn ask(&mut self, line: &str) -> String {
            self.press(&format!("{line}\r"));
            self.until(ENTERED);
            self.until(PROMPT)
        }
    }

    #[test]
    fn a_terminal_completes_names_and_ctrl_c_ends_only_the_command() {
        let folder = super::folder();
        let mut console = Session::open(folder.path());
        console.until(PROMPT);
        assert!(console.ask(".load runs/slow").contains("1 file is loaded"));
        console.press("dump cpu --no-cmdline --process gam\t");
        console.until("gamma.exe");
        assert!(console.ask("").contains("gamma.exe(1488)"));
        // A word that is half typed is forgotten.
        console.press("nonsense\u{3}");
        console.until(PROMPT);
        // A statement that would compute for hours.
        console.press("sql 'SELECT count(*) FROM cpu_sample a, cpu_sample b, cpu_sample c, cpu_sample d WHERE a.ts_ns + b.ts_ns <> c.ts_ns + d.ts_ns'\r");
        console.until(ENTERED);
        let pid = Pid::from_raw(console.child.id().try_into().unwrap());
        // The first Ctrl-C may come before the command has begun; then it means nothing.
        kill(pid, Signal::SIGINT).unwrap();
        if !console.shows("note: cancelled", Duration::from_secs(10)) {
            kill(pid, Signal::SIGINT).unwrap();
        }
        console.until("note: cancelled");
        console.until(PROMPT);
        assert!(
            console.ask("dump cpu --top 1").contains("gamma.exe(1488)"),
            "the next question is answered"
        );
        console.press("\u{4}");
        assert_eq!(console.child.wait().unwrap().code(), Some(0));
        let history = std::fs::read_to_string(folder.path().join("state/etwkit/history")).unwrap();
        assert!(
            history.contains(".load runs/slow") && !history.contains("nonsense"),
            "{history}"
        );
    }
}
