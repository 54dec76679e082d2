//! A window that does not respond: the thread that reads its messages does other work for a while.
//! On Windows it is a real window, of a small program that this one writes; elsewhere a thread with
//! a queue.

use std::io::{Read as _, Write as _};
use std::process::{Child as Process, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use etwkit_terminal::errors::advised;

use crate::lab::program::{Argument, Program, Step, kernel32, user32};
use crate::lab::{Bench, Report};

/// Polling interval for messages while the thread responds.
const LOOK: Duration = Duration::from_millis(10);
/// Time for which the thread responds before and after each click.
const CALM: Duration = Duration::from_millis(500);

/// Duration of each click's work, and the number of clicks.
#[derive(Debug, Clone, Args)]
pub(crate) struct HangArgs {
    /// Time that each click keeps the thread busy
    #[arg(long, value_name = "SECONDS", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=3_600))]
    seconds: u32,
    /// Clicks
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    clicks: u32,
}

/// Times between two reads of messages.
#[derive(Debug, Clone, Copy, Default)]
struct Silence {
    longest: Duration,
    /// Number of times of a second or more, which users notice.
    hangs: u32,
}

impl Silence {
    fn add(&mut self, between: Duration) {
        self.longest = self.longest.max(between);
        self.hangs += u32::from(between >= Duration::from_secs(1));
    }
}

impl HangArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let mut report = Report::new("hang", &["ui"], "dump ui-delay");
        let silence = if cfg!(windows) {
            let folder = tempfile::tempdir().context("cannot make a folder")?;
            let path = folder.path().join("etwkit-lab-hang.exe");
            let bytes = program(self.seconds).bytes()?;
            std::fs::write(&path, bytes)
                .with_context(|| format!("cannot write {}", path.display()))?;
            report.line("A window called \"etwkit lab hang\" was there and was clicked.");
            self.of_window(&mut Command::new(&path), bench)?
        } else {
            report.line(
                "A thread with a queue of messages stands for a window, which only Windows has.",
            );
            self.of_thread(bench)?
        };
        report.line(format!(
            "Clicks: {}, of {} s each. Longest time without a fetch of messages: {:.3} s. Hangs of a second and \
             more: {}.",
            self.clicks,
            self.seconds,
            silence.longest.as_secs_f64(),
            silence.hangs
        ));
        report.seconds("longest_s", silence.longest);
        report.value("hangs", silence.hangs.into(), "count");
        report.value("clicks", self.clicks.into(), "count");
        Ok(report)
    }

    /// Calls `next` every 10 ms while the thread should read messages, with true for a click. After
    /// a click comes the time to handle it, without calls.
    fn click(&self, bench: &Bench<'_>, mut next: impl FnMut(bool) -> Result<()>) -> Result<()> {
        let busy = Duration::from_secs(self.seconds.into());
        let begun = Instant::now();
        let end = begun + (CALM + busy) * self.clicks + CALM;
        let wait = |time: Duration, next: &mut dyn FnMut() -> Result<()>| {
            let end_of_wait = Instant::now() + time;
            while Instant::now() < end_of_wait && !(bench.is_stopped)() {
                bench.until(begun, end);
                next()?;
                thread::sleep(LOOK);
            }
            Ok::<_, anyhow::Error>(())
        };
        for _ in 0..self.clicks {
            wait(CALM, &mut || next(false))?;
            if !(bench.is_stopped)() {
                next(true)?;
            }
            wait(busy, &mut || Ok(()))?;
        }
        wait(CALM, &mut || next(false))
    }

    /// Measures a thread that reads messages, each of which keeps it busy.
    fn of_thread(&self, bench: &Bench<'_>) -> Result<Silence> {
        let (clicks, messages) = channel();
        let busy = Duration::from_secs(self.seconds.into());
        let is_over = Arc::new(AtomicBool::new(false));
        let is_ended = Arc::clone(&is_over);
        let window = thread::Builder::new()
            .name("window".to_owned())
            .spawn(move || {
                let mut silence = Silence::default();
                let mut looked = Instant::now();
                loop {
                    let message = messages.recv_timeout(LOOK);
                    silence.add(looked.elapsed());
                    looked = Instant::now();
                    match message {
                        Ok(()) => {
                            // Short sleeps in place of one long one, so that Ctrl-C does not have
                            // to wait for the whole hang.
                            while looked.elapsed() < busy && !is_ended.load(Ordering::Relaxed) {
                                thread::sleep(LOOK);
                            }
                        }
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return silence,
                    }
                }
            });
        let window = window.context("cannot start a thread")?;
        self.click(bench, |is_click| match is_click {
            true => clicks.send(()).context("the thread ended early"),
            false => Ok(()),
        })?;
        is_over.store((bench.is_stopped)(), Ordering::Relaxed);
        drop(clicks);
        window.join().ok().context("the thread failed")
    }

    /// Measures the program with the window. It reads messages with each byte of its input, and is
    /// busy after a byte that is not 0.
    fn of_window(&self, command: &mut Command, bench: &Bench<'_>) -> Result<Silence> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut window = Window(started.context("cannot start the program with the window")?);
        let mut input = window.0.stdin.take().context("the program has no input")?;
        let mut output = window
            .0
            .stdout
            .take()
            .context("the program has no output")?;
        let mut next = move || -> Option<u64> {
            let mut bytes = [0; 8];
            output
                .read_exact(&mut bytes)
                .ok()
                .map(|()| u64::from_le_bytes(bytes))
        };
        let frequency = next()
            .filter(|frequency| *frequency > 0)
            .context("the program with the window said nothing")?;
        let handle = next().context("the program did not name its window")?;
        // Handles of windows have 32 significant bits, also in 64-bit programs.
        if handle as u32 == 0 {
            return Err(advised(
                "the system opens no window",
                "run it in a session with a desktop",
            ));
        }
        let reader = thread::spawn(move || {
            let mut silence = Silence::default();
            let mut looked = next();
            while let Some((before, now)) = looked.zip(next()) {
                let counted = now.saturating_sub(before);
                silence.add(Duration::from_secs_f64(counted as f64 / frequency as f64));
                looked = Some(now);
            }
            silence
        });
        self.click(bench, |is_click| {
            input
                .write_all(&[is_click.into()])
                .context("the window is gone")
        })?;
        // Its input has ended, so it ends after it has handled all of it; its output ends with it.
        drop(input);
        if !(bench.is_stopped)() {
            window.0.wait().context("cannot wait for the window")?;
        }
        drop(window);
        reader.join().ok().context("the thread failed")
    }
}

/// The process with the window, which is killed with this.
struct Window(Process);

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a program with a window that reports each read of messages. Then it waits for a byte,
/// and sleeps for this time unless the byte is 0.
fn program(seconds: u32) -> Program {
    use Argument::{At, Kept, Number};
    // Places: output, input, the window, the number of written or read bytes, results, the counter,
    // a byte of the input, the message, and the texts.
    const OUT: u32 = 0;
    const IN: u32 = 8;
    const WINDOW: u32 = 16;
    const COUNT: u32 = 24;
    const RESULT: u32 = 32;
    const COUNTER: u32 = 40;
    const BYTE: u32 = 56;
    const MESSAGE: u32 = 64;
    const CLASS: u32 = 128;
    const TITLE: u32 = 136;
    let write = |from| {
        let arguments = vec![Kept(OUT), At(from), Number(8), At(COUNT), Number(0)];
        Step::Call(kernel32("WriteFile"), arguments, RESULT)
    };
    let handle = |number: u32| vec![Number(number.wrapping_neg())];
    let mut data = vec![0; CLASS as usize];
    data.extend(b"STATIC\0\0etwkit lab hang\0");
    // Visible, with a frame, and where the system wants it.
    let mut window = vec![Number(0), At(CLASS), At(TITLE), Number(0x10CF_0000)];
    window.extend([0x8000_0000, 0x8000_0000, 400, 120, 0, 0, 0, 0].map(Number));
    let steps = vec![
        Step::Call(kernel32("GetStdHandle"), handle(11), OUT),
        Step::Call(kernel32("GetStdHandle"), handle(10), IN),
        Step::Call(
            kernel32("QueryPerformanceFrequency"),
            vec![At(COUNTER)],
            RESULT,
        ),
        write(COUNTER),
        Step::Call(user32("CreateWindowExA"), window, WINDOW),
        write(WINDOW),
        Step::Label(1),
        Step::Call(
            kernel32("QueryPerformanceCounter"),
            vec![At(COUNTER)],
            RESULT,
        ),
        write(COUNTER),
        Step::IfZero(RESULT, 3),
        // Removed from the queue; if there is no message, nothing is dispatched.
        Step::Call(
            user32("PeekMessageA"),
            vec![At(MESSAGE), Number(0), Number(0), Number(0), Number(1)],
            RESULT,
        ),
        Step::IfZero(RESULT, 2),
        Step::Call(user32("DispatchMessageA"), vec![At(MESSAGE)], RESULT),
        Step::Label(2),
        Step::Call(
            kernel32("ReadFile"),
            vec![Kept(IN), At(BYTE), Number(1), At(COUNT), Number(0)],
            RESULT,
        ),
        Step::IfZero(RESULT, 3),
        Step::IfZero(COUNT, 3),
        Step::IfZero(BYTE, 1),
        Step::Call(kernel32("Sleep"), vec![Number(seconds * 1_000)], RESULT),
        Step::Goto(1),
        Step::Label(3),
        Step::Call(kernel32("ExitProcess"), vec![Number(0)], RESULT),
    ];
    Program {
        steps,
        data,
        ..Program::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::tests::wine;

    #[test]
    fn a_click_keeps_the_thread_silent() {
        let report = HangArgs {
            seconds: 1,
            clicks: 2,
        }
        .run(&crate::lab::tests::bench())
        .unwrap();
        let longest = report.of("longest_s").unwrap();
        assert!(longest >= 1.0, "{report:?}");
        assert!(report.of("hangs").unwrap() >= 2.0, "{report:?}");
    }

    #[test]
    fn a_click_keeps_the_window_silent() {
        let Some((_folder, mut command)) = wine("hang", &program(1)) else {
            return;
        };
        let amount = HangArgs {
            seconds: 1,
            clicks: 2,
        };
        match amount.of_window(&mut command, &crate::lab::tests::bench()) {
            Ok(silence) => {
                assert!(silence.longest >= Duration::from_secs(1), "{silence:?}");
                assert!(silence.hangs >= 2, "{silence:?}");
            }
            // Wine has windows only with a screen, or with the setting "Graphics" of its drivers
            // "null".
            Err(error) => {
                assert!(error.to_string().contains("opens no window"), "{error}");
                let _ = std::io::stderr().write_all(b"skipped: hang: this Wine has no windows\n");
            }
        }
    }
}
