//! The window manager (Microsoft-Windows-Win32k): its global lock, GDI and USER objects, the focus,
//! and delays of programs that do not read messages.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Seek, Write};

use etwkit_etl::Guid;

use super::super::Sim;
use super::super::times::TICK_NS;
use crate::Result;
use crate::act::{Delayed, GuiKind};
use crate::table::{Cpu, Program, Thread};
use crate::tape::{MICROSECOND, Provided};
use crate::truth::{FocusStay, GuiSums};

/// Microsoft-Windows-Win32k.
const WIN32K: Guid = Guid::literal("8c416c79-d49b-4f01-a467-e56d3aa8234c");
/// Wait for the lock from which an acquisition is slow: 5 ms.
const SLOW: i64 = 5_000 * MICROSECOND;
/// Terminal session of all windows.
const SESSION: u32 = 1;
/// The message that a program works on while it is late (`WM_LBUTTONDOWN`).
const MESSAGE: u32 = 0x201;
/// The cursor that asks to wait (`IDC_WAIT`).
const WAIT_CURSOR: u32 = 32_514;

const fn event(id: u16, version: u8, keyword: u64) -> Provided {
    Provided {
        provider: WIN32K,
        id,
        version,
        opcode: 0,
        keyword,
    }
}

/// Keywords.
const CONTENTION: u64 = 0x1000_0000;
const TELEMETRY: u64 = 0x20_0000_0000;
const FOCUS: u64 = 0x2_2000;
const DELAYS: u64 = 0x4_0000;
const GDI: u64 = 0x100_0000_0000;
const USER: u64 = 0x200_0000_0000;

/// Window manager state of a thread.
#[derive(Debug, Default)]
pub(in crate::sim) struct Windowing {
    /// Start of its wait for the lock.
    asks: Option<i64>,
    /// Time of the acquisition, true if it is exclusive, and its number.
    has: Option<(i64, bool, u64)>,
    /// Time since which it reads no messages.
    late: Option<i64>,
}

/// An object of the window manager.
#[derive(Debug, Clone, Copy)]
struct Object {
    handle: u64,
    kind: GuiKind,
    since: i64,
}

/// The thread with the focus, the start of its focus, and the start of its process's focus.
#[derive(Debug, Clone, Copy)]
struct Focus {
    thread: Thread,
    since: Option<i64>,
    process_since: Option<i64>,
}

/// State that all threads share.
#[derive(Debug, Default)]
pub(in crate::sim) struct WindowState {
    tokens: u64,
    /// By owning process, the oldest first.
    objects: BTreeMap<Program, VecDeque<Object>>,
    free: Vec<u64>,
    handles: u64,
    focus: Option<Focus>,
}

/// `exclusive` or `shared`.
const fn mode(is_exclusive: bool) -> &'static str {
    if is_exclusive { "exclusive" } else { "shared" }
}

impl<W: Write + Seek> Sim<W> {
    /// Starts a thread's wait for the lock.
    pub(super) fn lock_asks(&mut self, thread: Thread) {
        self.threads[thread].acting.window.asks = Some(self.tape.now());
    }

    /// Gives a thread the lock that it requested.
    pub(super) fn lock_has(&mut self, cpu: Cpu, thread: Thread, is_exclusive: bool) -> Result<()> {
        let Some(asked) = self.threads[thread].acting.window.asks.take() else {
            return Ok(());
        };
        // A release has the number after its acquisition's number, so the numbers of acquisitions
        // skip one each.
        self.world.window.tokens += 2;
        let token = self.world.window.tokens;
        let waited = self.tape.next() - asked;
        let id = if is_exclusive { 163 } else { 165 };
        let time = self.provider_event(cpu, thread, event(id, 0, CONTENTION), |p| {
            p.u64(waited as u64).u32(0).u64(token);
        })?;
        if waited >= SLOW {
            // Telemetry carries milliseconds in place of ticks.
            let id = if is_exclusive { 416 } else { 417 };
            self.provider_event(cpu, thread, event(id, 1, TELEMETRY), |p| {
                p.u64(0)
                    .u32((waited / (1000 * MICROSECOND)) as u32)
                    .u64(token);
            })?;
        }
        self.threads[thread].acting.window.has = Some((time, is_exclusive, token));
        let pid = self.pid_text(thread);
        let modes = self.truth.windows.locks.entry(pid).or_default();
        let sums = modes.entry(mode(is_exclusive).to_owned()).or_default();
        sums.acquisitions += 1;
        sums.slow += u64::from(waited >= SLOW);
        sums.wait_ns += waited * TICK_NS;
        Ok(())
    }

    /// Releases the lock of a thread.
    pub(super) fn lock_gives(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let Some((since, is_exclusive, token)) = self.threads[thread].acting.window.has.take()
        else {
            return Ok(());
        };
        // The event of the release carries the duration up to its own time.
        let held = self.tape.next() - since;
        self.provider_event(cpu, thread, event(167, 0, CONTENTION), |p| {
            p.u64(held as u64).u32(0).u64(token + 1);
        })?;
        let pid = self.pid_text(thread);
        let modes = self.truth.windows.locks.entry(pid).or_default();
        let sums = modes.entry(mode(is_exclusive).to_owned()).or_default();
        sums.released += 1;
        sums.hold_ns += held * TICK_NS;
        Ok(())
    }

    /// Makes an object.
    pub(super) fn gui_creates(&mut self, cpu: Cpu, thread: Thread, kind: GuiKind) -> Result<()> {
        let state = &mut self.world.window;
        let handle = state.free.pop().unwrap_or_else(|| {
            state.handles += 1;
            0x0105_0000 + state.handles
        });
        let program = self.plan.threads[thread].program;
        let since = self.gui_event(cpu, thread, (455, 452), &[handle], (kind, program))?;
        let of = self.world.window.objects.entry(program).or_default();
        of.push_back(Object {
            handle,
            kind,
            since,
        });
        Ok(())
    }

    /// Destroys the oldest object of the process.
    pub(super) fn gui_destroys(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let program = self.plan.threads[thread].program;
        let of = self.world.window.objects.entry(program).or_default();
        let Some(Object {
            handle,
            kind,
            since,
        }) = of.pop_front()
        else {
            return Ok(());
        };
        let time = self.gui_event(cpu, thread, (456, 453), &[handle], (kind, program))?;
        self.world.window.free.push(handle);
        let sums = self.gui_sums(program, kind);
        sums.destroyed += 1;
        sums.lifetime_ns += (time - since) * TICK_NS;
        Ok(())
    }

    /// Gives the newest object to another process.
    pub(super) fn gui_moves(&mut self, cpu: Cpu, thread: Thread, target: Program) -> Result<()> {
        let program = self.plan.threads[thread].program;
        let of = self.world.window.objects.entry(program).or_default();
        let Some(object) = of.pop_back() else {
            return Ok(());
        };
        self.gui_event(
            cpu,
            thread,
            (457, 454),
            &[object.handle],
            (object.kind, target),
        )?;
        self.world
            .window
            .objects
            .entry(target)
            .or_default()
            .push_back(object);
        Ok(())
    }

    /// Gives the newest object of the process another handle, if it is one of GDI.
    pub(super) fn gui_transforms(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let program = self.plan.threads[thread].program;
        let state = &mut self.world.window;
        let Some(newest) = state.objects.entry(program).or_default().back_mut() else {
            return Ok(());
        };
        // Objects of USER keep their handle for life.
        if !newest.kind.is_gdi {
            return Ok(());
        }
        state.handles += 1;
        let before = std::mem::replace(&mut newest.handle, 0x0105_0000 + state.handles);
        let (after, kind) = (newest.handle, newest.kind);
        self.gui_event(cpu, thread, (458, 458), &[before, after], (kind, program))?;
        Ok(())
    }

    fn gui_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (gdi, user): (u16, u16),
        handles: &[u64],
        (kind, owner): (GuiKind, Program),
    ) -> Result<i64> {
        let owner = self.plan.programs[owner].pid;
        let (id, keyword) = if kind.is_gdi {
            (gdi, GDI)
        } else {
            (user, USER)
        };
        self.provider_event(cpu, thread, event(id, 0, keyword), |p| {
            handles.iter().for_each(|handle| {
                p.u64(*handle);
            });
            p.u32(kind.number).u32(SESSION).u32(owner);
        })
    }

    fn gui_sums(&mut self, program: Program, kind: GuiKind) -> &mut GuiSums {
        let pid = self.plan.programs[program].pid.to_string();
        let of = self.truth.windows.objects.entry(pid).or_default();
        of.entry(format!(
            "{} {}",
            if kind.is_gdi { "gdi" } else { "user" },
            kind.name
        ))
        .or_default()
    }

    /// Moves the focus to a thread.
    pub(super) fn focus_moves(&mut self, cpu: Cpu, thread: Thread, to: Thread) -> Result<()> {
        let before = self.world.window.focus;
        if before.is_some_and(|focus| focus.thread == to) {
            return Ok(());
        }
        let ((new_tid, new_pid), (old_tid, old_pid)) = (
            self.ids(Some(to)),
            self.ids(before.map(|focus| focus.thread)),
        );
        let time = self.provider_event(cpu, thread, event(2, 0, FOCUS), |p| {
            p.u32(old_tid).u32(new_tid);
        })?;
        // A change between threads of one process leaves the process its focus, and its time.
        let mut process_time = before.and_then(|focus| focus.process_since);
        if new_pid != old_pid {
            let changed = self.provider_event(cpu, thread, event(26, 0, FOCUS), |p| {
                p.u32(SESSION).u32(old_pid).u32(new_pid);
            })?;
            // Windows also reports the loss and the gain of each process; their times are later and
            // do not count.
            for (id, pid) in [(259, old_pid), (258, new_pid)] {
                self.provider_event(cpu, thread, event(id, 0, FOCUS), |p| {
                    p.u32(SESSION).u32(pid).u64(0);
                })?;
            }
            if let Some(before) = before {
                self.had_focus("process", old_pid, before.process_since, Some(changed));
            }
            process_time = Some(changed);
        }
        if let Some(before) = before {
            self.had_focus("thread", old_tid, before.since, Some(time));
        }
        let focus = Focus {
            thread: to,
            since: Some(time),
            process_since: process_time,
        };
        self.world.window.focus = Some(focus);
        Ok(())
    }

    /// Gives a thread the focus from before the trace.
    pub(super) fn focus_is(&mut self, thread: Thread) {
        self.world.window.focus = Some(Focus {
            thread,
            since: None,
            process_since: None,
        });
    }

    fn had_focus(&mut self, level: &str, id: u32, from: Option<i64>, to: Option<i64>) {
        let (from_ns, to_ns) = (from.map(Self::ns), to.map(Self::ns));
        self.truth.windows.focus.push(FocusStay {
            level: level.to_owned(),
            id,
            from_ns,
            to_ns,
        });
    }

    /// Starts a delay: a thread stops reading messages.
    pub(super) fn delay_begins(&mut self, thread: Thread) {
        self.threads[thread].acting.window.late = Some(self.tape.now());
    }

    /// Ends a delay: a thread reads messages again.
    pub(super) fn delay_ends(&mut self, cpu: Cpu, thread: Thread, what: Delayed) -> Result<()> {
        let Some(since) = self.threads[thread].acting.window.late.take() else {
            return Ok(());
        };
        let ms = ((self.tape.next() - since) / (1000 * MICROSECOND)) as u32;
        let (tid, pid) = self.ids(Some(thread));
        let image = self.image_path(self.plan.threads[thread].program);
        let (id, numbers) = match what {
            Delayed::Messages => (38, vec![1, ms, ms, ms]),
            Delayed::Input => (37, vec![1, ms / 2, ms]),
            Delayed::Cursor => (35, vec![tid, pid, SESSION, WAIT_CURSOR, ms]),
        };
        self.provider_event(cpu, thread, event(id, 0, DELAYS), |p| {
            numbers.iter().for_each(|number| {
                p.u32(*number);
            });
            // The event of the cursor names thread and process by id, the others the window.
            if what != Delayed::Cursor {
                p.wide("Edit")
                    .wide("Frame")
                    .wide(&image)
                    .u32(MESSAGE)
                    .u64(1);
            }
        })?;
        let delays = self
            .truth
            .windows
            .delays
            .entry(pid.to_string())
            .or_default();
        let sums = delays.entry(what.name().to_owned()).or_default();
        sums.count += 1;
        sums.duration_ms += u64::from(ms);
        Ok(())
    }

    pub(super) fn finish_windows(&mut self) {
        for thread in self.threads.keys() {
            let Some((_, is_exclusive, _)) = self.threads[thread].acting.window.has else {
                continue;
            };
            let pid = self.pid_text(thread);
            let modes = self.truth.windows.locks.entry(pid).or_default();
            modes
                .entry(mode(is_exclusive).to_owned())
                .or_default()
                .open_at_end += 1;
        }
        for (program, objects) in std::mem::take(&mut self.world.window.objects) {
            objects
                .iter()
                .for_each(|object| self.gui_sums(program, object.kind).live_at_end += 1);
        }
        if let Some(focus) = self.world.window.focus {
            let (tid, pid) = self.ids(Some(focus.thread));
            self.had_focus("process", pid, focus.process_since, None);
            self.had_focus("thread", tid, focus.since, None);
        }
    }
}
