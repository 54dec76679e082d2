//! Scheduling of threads on processors: switches, readiness, preemption, quanta.

use std::collections::VecDeque;
use std::io::{Seek, Write};

use etwkit_etl::writer::{StackOwner, StackPart};

use super::observe::Cause;
use super::script::ScriptState;
use super::times::{Account, Out, state};
use super::{Happening, Sim, kind};
use crate::plan::{ThreadPlan, reason};
use crate::stacks::Taken;
use crate::table::{Cpu, Thread};
use crate::tape::MICROSECOND;
use crate::{Result, tape};

/// Time that a thread may run while others of its priority are ready.
const QUANTUM: i64 = 20_000 * MICROSECOND;
/// Per mille of stacks that are written whole; the others as keys.
// Windows compresses stacks by keys where the session asks for it: traces have both forms, so that
// a reader meets both in each trace.
const WHOLE_STACKS: u64 = 600;

/// A processor.
#[derive(Debug, Default)]
pub(super) struct CpuState {
    /// `None`: idle.
    pub(super) current: Option<Thread>,
    /// Number of switches: work that is planned for a slice is void when the number has changed.
    pub(super) slice: u64,
    /// A search for a better thread is planned for the processor.
    pub(super) dispatching: bool,
    /// The processor is not used, to save power.
    pub(super) parked: bool,
    /// Time at which the running thread will have computed enough.
    pub(super) until: i64,
    /// The DPC of a device that keeps the processor.
    pub(super) dpc: Option<super::device::OpenDpc>,
    /// Switch-in time of that thread.
    since: i64,
    busy_since: i64,
    busy: i64,
}

/// A thread.
#[derive(Debug)]
pub(super) struct ThreadState {
    pub(super) alive: bool,
    /// Remaining time to compute.
    pub(super) left: i64,
    /// Rest of its quantum: a preemption does not give it a new one.
    quantum: i64,
    /// Position in its work.
    pub(super) step: usize,
    /// State of its script.
    pub(super) script: ScriptState,
    /// The thread waits for a signal; or the number of signals that came before it waited.
    pub(super) awaiting: bool,
    pub(super) signals: u32,
    /// The thread that it serves.
    pub(super) client: Option<Thread>,
    pub(super) io: Option<super::io::UnfinishedFileIo>,
    /// Its open actions.
    pub(super) acting: super::act::Acting,
    /// The thread has to load the images of its process.
    pub(super) loads_images: bool,
    /// Time at which the thread ends.
    pub(super) dies_at: i64,
    last_cpu: Cpu,
    pub(super) account: Account,
    /// The planted cause that acts on it.
    pub(super) acts: Option<super::acted::Acts>,
}

impl ThreadState {
    pub(super) fn new(plan: &ThreadPlan, length: i64) -> Self {
        let at = |per_mille: u32| tape::T0 + length / 1000 * i64::from(per_mille);
        Self {
            alive: false,
            left: 0,
            quantum: QUANTUM,
            step: 0,
            script: ScriptState::default(),
            awaiting: false,
            signals: 0,
            client: None,
            io: None,
            acting: super::act::Acting::default(),
            loads_images: false,
            dies_at: plan.dies.map_or(i64::MAX, at),
            last_cpu: Cpu(0),
            account: Account::default(),
            acts: None,
        }
    }
}

impl<W: Write + Seek> Sim<W> {
    /// Returns the thread and process id; the ids of the idle process for `None`.
    pub(super) fn ids(&self, thread: Option<Thread>) -> (u32, u32) {
        thread.map_or((0, 0), |thread| {
            let plan = &self.plan.threads[thread];
            (plan.tid, self.plan.programs[plan.program].pid)
        })
    }

    /// Ends the slice of a processor's thread. The best ready thread runs next, if there is one.
    pub(super) fn block(&mut self, cpu: Cpu, state: u8, reason: u8) -> Result<()> {
        // A wait gives a thread a new quantum, a preemption does not.
        if let Some(thread) = self.cpus[cpu].current {
            self.threads[thread].quantum = QUANTUM;
        }
        let next = self.pop_ready(cpu);
        self.switch(cpu, next, state, reason)
    }

    fn switch(&mut self, cpu: Cpu, new: Option<Thread>, state: u8, reason: u8) -> Result<()> {
        let old = self.cpus[cpu].current;
        let ((new_tid, new_pid), (old_tid, _)) = (self.ids(new), self.ids(old));
        let priority = |thread: Option<Thread>| thread.map_or(0, |t| self.plan.threads[t].priority);
        // The idle state that the processor leaves; a processor that was busy leaves none.
        let c_state = if old.is_none() {
            self.rng.between(0, 1) as u8
        } else {
            0
        };
        let user_mode =
            u8::from(reason == reason::USER_REQUEST || reason == reason::WR_USER_REQUEST);
        let flags = [
            priority(new),
            priority(old),
            c_state,
            0,
            reason,
            user_mode,
            state,
            cpu.0 as u8,
        ];
        // Before the event is written, since it carries the values.
        let counters = self.count(cpu, old);
        let time = self
            .tape
            .counted(cpu.0 as u16, kind::CSWITCH, None, &counters, |p| {
                p.u32(new_tid).u32(old_tid).bytes(&flags).u32(1).u32(0);
            })?;
        if let Some(old) = old {
            let slice = self.threads[old].account.switch_out(Out {
                time,
                state,
                reason,
            });
            self.ran(cpu, old, slice);
            self.threads[old].last_cpu = cpu;
        }
        let processor = &mut self.cpus[cpu];
        match (old, new) {
            (None, Some(_)) => processor.busy_since = time,
            (Some(_), None) => processor.busy += time - processor.busy_since,
            _ => {}
        }
        processor.current = new;
        processor.slice += 1;
        self.truth.cpus.entry(cpu.0 as u16).or_default().switches += 1;
        let Some(new) = new else { return Ok(()) };
        // Before the account handles the switch-in and forgets the time since which the thread was
        // ready.
        self.is_held_up(new, time);
        let waited = self.threads[new].account.switch_in(time);
        self.runs(cpu, new, time);
        self.start_slice(cpu, new, time);
        let taken = waited.map_or(Taken::Resumed, |waited| Taken::Wait(waited.reason));
        if let Some(waited) = waited {
            self.count_wait_functions(new, waited);
            self.wait_ended(new, waited, time);
        }
        self.stack(
            cpu,
            new,
            StackOwner {
                timestamp: time,
                process_id: new_pid,
                thread_id: new_tid,
            },
            taken,
        )?;
        Ok(())
    }

    fn start_slice(&mut self, cpu: Cpu, thread: Thread, time: i64) {
        let until = time + self.threads[thread].left.max(1);
        let slice = self.cpus[cpu].slice;
        (self.cpus[cpu].until, self.cpus[cpu].since) = (until, time);
        self.plan_at(until, Happening::Computed(cpu, slice));
        self.plan_at(
            time + self.threads[thread].quantum,
            Happening::QuantumEnd(cpu, slice),
        );
    }

    /// Lets the thread of a processor compute for this many ticks.
    pub(super) fn compute(&mut self, cpu: Cpu, ticks: i64) {
        let (until, slice) = (self.tape.now() + ticks, self.cpus[cpu].slice);
        self.cpus[cpu].until = until;
        self.plan_at(until, Happening::Computed(cpu, slice));
    }

    /// Makes a thread ready, on a processor whose thread does it, or a DPC for a cause.
    pub(super) fn make_ready(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        dpc: Option<Cause>,
    ) -> Result<()> {
        let (tid, _) = self.ids(Some(thread));
        let from_dpc = dpc.is_some();
        let time = self
            .tape
            .kernel(cpu.0 as u16, kind::READY_THREAD, None, |p| {
                p.u32(tid).bytes(&[1, 0, u8::from(from_dpc), 0]);
            })?;
        // Before the account learns of it: from then on the thread no longer waits, and the start
        // of its wait is lost.
        self.wait_ends(cpu, thread, dpc);
        self.threads[thread].account.readied(time);
        // A DPC readies on behalf of no thread, so its event does not get the stack of the
        // interrupted thread.
        if let Some(readying) = self.cpus[cpu].current.filter(|_| !from_dpc) {
            let (thread_id, process_id) = self.ids(Some(readying));
            let owner = StackOwner {
                timestamp: time,
                process_id,
                thread_id,
            };
            self.stack(cpu, readying, owner, Taken::Ready)?;
        }
        let priority = self.plan.threads[thread].priority;
        if let Some(queue) = self.ready.get_mut(usize::from(priority)) {
            queue.push_back(thread);
        }
        if let Some(target) = self.cpu_for(thread) {
            // Until it has looked no other thread is sent to it, or two could count on one idle
            // processor.
            self.cpus[target].dispatching = true;
            // An idle processor has to leave its idle state first: 2 to 15 microseconds against 1.5
            // to 6.
            let delay = if self.cpus[target].current.is_none() {
                (20, 150)
            } else {
                (15, 60)
            };
            let time = self.tape.now() + i64::from(self.rng.between(delay.0, delay.1));
            self.plan_at(time, Happening::Dispatch(target));
        }
        Ok(())
    }

    /// Returns an idle processor, preferably the one where the thread ran before; otherwise the one
    /// with the least important thread, if that is less important.
    fn cpu_for(&self, thread: Thread) -> Option<Cpu> {
        let last = self.threads[thread].last_cpu;
        let free = |cpu: &Cpu| {
            let state = &self.cpus[*cpu];
            !state.dispatching && self.takes(*cpu, thread)
        };
        let idle = |cpu: &Cpu| self.cpus[*cpu].current.is_none();
        let all = || self.cpus.keys().filter(free);
        let priority = |cpu: &Cpu| {
            self.cpus[*cpu]
                .current
                .map_or(0, |t| self.plan.threads[t].priority)
        };
        all()
            .find(|cpu| *cpu == last && idle(cpu))
            .or_else(|| all().find(idle))
            .or_else(|| all().min_by_key(priority))
            .filter(|cpu| idle(cpu) || priority(cpu) < self.plan.threads[thread].priority)
    }

    fn best_ready(&self, cpu: Cpu) -> Option<u8> {
        let some = |queue: &VecDeque<Thread>| queue.iter().any(|thread| self.takes(cpu, *thread));
        self.ready
            .iter()
            .rposition(some)
            .map(|priority| priority as u8)
    }

    fn pop_ready(&mut self, cpu: Cpu) -> Option<Thread> {
        let queue = usize::from(self.best_ready(cpu)?);
        let place = self
            .ready
            .get(queue)?
            .iter()
            .position(|thread| self.takes(cpu, *thread))?;
        self.ready.get_mut(queue)?.remove(place)
    }

    pub(super) fn dispatch(&mut self, cpu: Cpu) -> Result<()> {
        self.cpus[cpu].dispatching = false;
        // Another processor may have taken the thread since this one was sent to search.
        let Some(best) = self.best_ready(cpu) else {
            return Ok(());
        };
        match self.cpus[cpu].current {
            None => {
                let next = self.pop_ready(cpu);
                self.switch(cpu, next, state::RUNNING, 0)
            }
            Some(current) if self.plan.threads[current].priority < best => {
                let next = self.pop_ready(cpu);
                self.put_back(cpu, current, false);
                self.switch(cpu, next, state::READY, reason::WR_PREEMPTED)
            }
            Some(_) => Ok(()),
        }
    }

    /// Takes the thread off a processor that is parked.
    pub(super) fn vacate(&mut self, cpu: Cpu) -> Result<()> {
        let Some(current) = self.cpus[cpu].current else {
            return Ok(());
        };
        self.put_back(cpu, current, false);
        self.switch(cpu, None, state::READY, reason::WR_PREEMPTED)
    }

    pub(super) fn quantum_end(&mut self, cpu: Cpu) -> Result<()> {
        let Some(current) = self.cpus[cpu].current else {
            return Ok(());
        };
        // Threads of equal priority take turns, unlike in a preemption, where only a more important
        // one counts.
        if self
            .best_ready(cpu)
            .is_some_and(|best| best >= self.plan.threads[current].priority)
        {
            let next = self.pop_ready(cpu);
            self.put_back(cpu, current, true);
            return self.switch(cpu, next, state::READY, reason::WR_QUANTUM_END);
        }
        // No other thread is ready for the processor: the thread stays without a switch and gets a
        // new quantum.
        let (time, slice) = (self.tape.now() + QUANTUM, self.cpus[cpu].slice);
        self.plan_at(time, Happening::QuantumEnd(cpu, slice));
        Ok(())
    }

    /// Queues a thread that did not stop by itself: at the front if it was preempted, otherwise at
    /// the back.
    fn put_back(&mut self, cpu: Cpu, thread: Thread, behind: bool) {
        // The switch that follows is written at this time, so that used and left work add up to all
        // of it.
        let now = self.tape.next();
        let used = now - self.cpus[cpu].since;
        let state = &mut self.threads[thread];
        // At least a tick, since a queue entry in the past would be handled before the entries that
        // led to it.
        state.left = (self.cpus[cpu].until - now).max(1);
        state.quantum = if behind {
            QUANTUM
        } else {
            (state.quantum - used).max(MICROSECOND)
        };
        let priority = self.plan.threads[thread].priority;
        let Some(queue) = self.ready.get_mut(usize::from(priority)) else {
            return;
        };
        if behind {
            queue.push_back(thread);
        } else {
            queue.push_front(thread);
        }
    }

    /// Writes a stack of a thread. Returns its number of frames in the kernel and in user mode.
    pub(super) fn stack(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        owner: StackOwner,
        taken: Taken,
    ) -> Result<(usize, usize)> {
        self.take_frames(thread, taken);
        self.write_stack(cpu, owner)
    }

    /// Puts a stack of a thread into `self.frames`.
    pub(super) fn take_frames(&mut self, thread: Thread, taken: Taken) {
        let plan = &self.plan.threads[thread];
        match plan.script {
            Some(script) => self.script_frames(thread, script, taken),
            None => self
                .stacks
                .take(plan.program, taken, &mut self.rng, &mut self.frames),
        }
    }

    /// Writes the stack in `self.frames`: whole, or each part as a key.
    pub(super) fn write_stack(&mut self, cpu: Cpu, owner: StackOwner) -> Result<(usize, usize)> {
        let (cpu, frames) = (cpu.0 as u16, &mut self.frames);
        let counts = (frames.kernel.len(), frames.user.len());
        if self.rng.chance(WHOLE_STACKS) {
            // An event of a whole stack has kernel and user frames in one list; keys keep them
            // apart.
            frames.kernel.append(&mut frames.user);
            self.tape.whole_stack(cpu, owner, &frames.kernel)?;
            return Ok(counts);
        }
        for (part, frames) in [
            (StackPart::Kernel, &frames.kernel),
            (StackPart::User, &frames.user),
        ] {
            if !frames.is_empty() {
                self.tape.stack_part(cpu, owner, part, frames)?;
            }
        }
        Ok(counts)
    }
}

impl CpuState {
    /// Returns the ticks that the processor was busy until the end.
    pub(super) fn busy_until(&self, end: i64) -> i64 {
        self.busy
            + if self.current.is_some() {
                end - self.busy_since
            } else {
                0
            }
    }
}
