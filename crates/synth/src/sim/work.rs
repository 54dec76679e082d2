//! Next action of a thread after it has computed enough or its wait is over.

use std::io::{Seek, Write};

use super::times::state;
use super::{Happening, Sim};
use crate::Result;
use crate::plan::{Action, reason};
use crate::table::{Cpu, Thread};
use crate::tape::MICROSECOND;

/// Ticks that copying from or to the cache, or opening a file, takes about.
const SMALL_IO: u32 = 25 * MICROSECOND as u32;
/// Number of pending signals and work items that are kept; more are merged into one.
// Bounded, so that a slow reader does not make the simulation grow with the length of the trace.
const REMEMBERED: u32 = 8;

/// Continuation of the thread.
pub(super) enum Then {
    /// The thread continues with its next action at once.
    GoesOn,
    /// The thread computes for this number of ticks.
    Computes(i64),
    /// The thread waits for that reason.
    Waits(u8),
    /// The thread ends.
    Ends,
}

impl<W: Write + Seek> Sim<W> {
    /// Lets the thread of a processor act until it computes, waits or ends.
    pub(super) fn act(&mut self, cpu: Cpu) -> Result<()> {
        let Some(thread) = self.cpus[cpu].current else {
            return Ok(());
        };
        self.threads[thread].left = 0;
        // At the first instruction of the first thread, where the loader of Windows maps images.
        self.load_images(cpu, thread)?;
        self.start_threads(cpu, thread)?;
        loop {
            // An operation that has begun is finished first, even by a thread whose time to end has
            // come.
            let then = if let Some(open) = self.threads[thread].io.take() {
                self.io_step(cpu, thread, open)?
            } else if self.threads[thread].dies_at <= self.tape.now() {
                return self.end_thread(cpu, thread);
            } else if let Some(script) = self.plan.threads[thread].script {
                self.next_step(cpu, thread, script)?
            } else {
                self.next_action(cpu, thread)?
            };
            match then {
                Then::GoesOn => {}
                Then::Computes(ticks) => {
                    self.compute(cpu, ticks);
                    return Ok(());
                }
                Then::Waits(reason) => return self.block(cpu, state::WAITING, reason),
                Then::Ends => return self.end_thread(cpu, thread),
            }
        }
    }

    fn io_step(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        open: super::io::UnfinishedFileIo,
    ) -> Result<Then> {
        let reason = if open.paging {
            reason::WR_PAGE_IN
        } else {
            reason::EXECUTIVE
        };
        Ok(if self.go_on(cpu, thread, open)? {
            Then::Waits(reason)
        } else if self.threads[thread].io.is_some() {
            Then::Computes(match self.between_transfers(thread) {
                Some(ticks) => ticks,
                None => self.rng.around(SMALL_IO),
            })
        } else {
            Then::GoesOn
        })
    }

    fn next_action(&mut self, cpu: Cpu, thread: Thread) -> Result<Then> {
        let work = self.plan.threads[thread].work;
        let step = &mut self.threads[thread].step;
        // A round ends here without taking time; every work has an action that takes some, so that
        // `act` comes to an end.
        let Some((chance, action)) = work.get(*step).copied() else {
            *step = 0;
            return Ok(Then::GoesOn);
        };
        *step += 1;
        if !self.rng.chance(chance) {
            return Ok(Then::GoesOn);
        }
        match action {
            Action::Compute(mean) => Ok(Then::Computes(self.rng.around(mean * MICROSECOND as u32))),
            Action::Sleep(low, high) => Ok(self.wake_after(low, high, Happening::Timer(thread))),
            Action::Input(low, high) => {
                self.wake_after(low, high, Happening::Input(thread));
                Ok(Then::Waits(reason::WR_USER_REQUEST))
            }
            Action::Signal(other) => self.signal(cpu, other),
            Action::AwaitSignal => Ok(self.await_signal(thread)),
            Action::Call => self.call(cpu, thread),
            Action::Serve => Ok(self.serve(thread)),
            Action::Reply => self.reply(cpu, thread),
            Action::Post => self.post(cpu),
            Action::TakeWork => Ok(self.take_work(thread)),
            Action::Read { cached } => self.begin_io(cpu, thread, false, cached),
            // Three of ten writes stay in the cache; the others wait for the disk.
            Action::Write => self.begin_io(cpu, thread, true, 300),
        }
    }

    pub(super) fn wake_after(&mut self, low: u32, high: u32, happening: Happening) -> Then {
        let time = self.tape.now() + MICROSECOND * i64::from(self.rng.between(low, high));
        self.plan_at(time, happening);
        Then::Waits(reason::DELAY_EXECUTION)
    }

    fn begin_io(&mut self, cpu: Cpu, thread: Thread, write: bool, cached: u64) -> Result<Then> {
        self.open(cpu, thread, write, cached)?;
        Ok(Then::Computes(self.rng.around(SMALL_IO)))
    }

    fn signal(&mut self, cpu: Cpu, other: Thread) -> Result<Then> {
        let target = &mut self.threads[other];
        if std::mem::take(&mut target.awaiting) {
            self.make_ready(cpu, other, None)?;
        } else {
            target.signals = (target.signals + 1).min(REMEMBERED);
        }
        Ok(Then::GoesOn)
    }

    fn await_signal(&mut self, thread: Thread) -> Then {
        let state = &mut self.threads[thread];
        if state.signals > 0 {
            state.signals -= 1;
            return Then::GoesOn;
        }
        state.awaiting = true;
        Then::Waits(reason::USER_REQUEST)
    }

    fn call(&mut self, cpu: Cpu, client: Thread) -> Result<Then> {
        self.questions.push_back(client);
        if let Some(server) = self.idle_servers.pop_front() {
            self.make_ready(cpu, server, None)?;
        }
        Ok(Then::Waits(reason::WR_LPC_REPLY))
    }

    fn serve(&mut self, server: Thread) -> Then {
        if let Some(client) = self.questions.pop_front() {
            self.threads[server].client = Some(client);
            return Then::GoesOn;
        }
        self.idle_servers.push_back(server);
        self.again(server);
        Then::Waits(reason::WR_QUEUE)
    }

    fn reply(&mut self, cpu: Cpu, server: Thread) -> Result<Then> {
        if let Some(client) = self.threads[server].client.take() {
            self.make_ready(cpu, client, None)?;
        }
        Ok(Then::GoesOn)
    }

    fn post(&mut self, cpu: Cpu) -> Result<Then> {
        self.work_items = (self.work_items + 1).min(REMEMBERED);
        if let Some(worker) = self.idle_workers.pop_front() {
            self.make_ready(cpu, worker, None)?;
        }
        Ok(Then::GoesOn)
    }

    fn take_work(&mut self, worker: Thread) -> Then {
        if self.work_items > 0 {
            self.work_items -= 1;
            return Then::GoesOn;
        }
        self.idle_workers.push_back(worker);
        self.again(worker);
        Then::Waits(reason::WR_QUEUE)
    }

    /// Makes the thread look again when it is woken, since another one may have been faster.
    pub(super) fn again(&mut self, thread: Thread) {
        let step = &mut self.threads[thread].step;
        *step = step.saturating_sub(1);
    }
}
