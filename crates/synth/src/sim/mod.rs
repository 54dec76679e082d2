//! The simulation: a queue of future events, and a scheduler with priorities, quanta and
//! preemption.
//!
//! Nothing grows with the length of the trace: the queue holds a few entries for each thread and
//! processor, everything else is sums.

mod act;
mod acted;
mod cores;
mod counters;
mod device;
mod io;
mod kind;
mod lifetime;
mod observe;
mod rundown;
mod sampling;
mod schedule;
mod script;
mod times;
mod work;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::io::{Seek, Write};

use crate::plan::{Born, Plan};
use crate::rng::Rng;
use crate::stacks::{Frames, Stacks};
use crate::table::{Cpu, Device, Event, Path, Port, Program, Table, Thread};
use crate::tape::{SECOND, T0, Tape};
use crate::truth::Truth;
use crate::{Options, Result};
use io::Request;
pub(crate) use lifetime::PDB_AGE;
use observe::Observer;
use schedule::{CpuState, ThreadState};

/// Something that will happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// The profile interrupt of a processor.
    Sample(Cpu),
    /// The thread of a processor has computed for its whole time; void if the processor has
    /// switched since.
    Computed(Cpu, u64),
    /// The quantum of that thread is over; void if the processor has switched since.
    QuantumEnd(Cpu, u64),
    /// A processor looks for a better thread.
    Dispatch(Cpu),
    /// A timer wakes a thread.
    Timer(Thread),
    /// The user provides the input that a thread waits for.
    Input(Thread),
    /// The disk has finished its oldest request.
    DiskDone,
    /// The disk has finished the oldest request of a thread in background mode.
    BackgroundDiskDone,
    /// A device interrupts a processor.
    Interrupt(Device),
    /// The DPC of a device that keeps a processor ends.
    DpcEnds(Cpu),
    /// A mark is set.
    Mark(usize),
    /// The system checks the load of the processors.
    PowerCheck,
}

/// A trace under construction.
pub(crate) struct Sim<W> {
    plan: Plan,
    tape: Tape<W>,
    rng: Rng,
    truth: Truth,
    stacks: Stacks,
    frames: Frames,
    queue: BinaryHeap<Reverse<(i64, u64, Happening)>>,
    /// Entries of the queue so far: equal times are handled in the order in which they were
    /// planned.
    planned: u64,
    /// End of the simulation and start of the rundown.
    end: i64,
    cpus: Table<Cpu, CpuState>,
    threads: Table<Thread, ThreadState>,
    programs: Table<Program, lifetime::ProgramState>,
    /// Threads that could run, by priority.
    ready: Vec<VecDeque<Thread>>,
    /// Clients that wait for a server, servers that wait for clients.
    questions: VecDeque<Thread>,
    idle_servers: VecDeque<Thread>,
    /// Work items, and kernel workers without one.
    work_items: u32,
    idle_workers: VecDeque<Thread>,
    disk: VecDeque<Request>,
    background_disk: VecDeque<Request>,
    disk_free_at: i64,
    disk_completed_at: Option<i64>,
    events: Table<Event, script::EventState>,
    ports: Table<Port, script::PortState>,
    devices: Table<Device, device::DeviceState>,
    observer: Observer,
    /// Stacks of samples of threads with a script, with the innermost address; and the stack of the
    /// last sample.
    hit: BTreeSet<(Path, u64)>,
    last_hit: Option<Path>,
    cores: cores::CoresState,
    counters: counters::CountersState,
    world: act::World,
}

impl<W: Write + Seek> Sim<W> {
    pub(crate) fn new(plan: Plan, sink: W, options: &Options) -> Result<Self> {
        let length = i64::from(options.scale) * i64::from(plan.seconds) * SECOND;
        Ok(Self {
            tape: Tape::new(sink, plan.cpus, plan.groups, options)?,
            rng: Rng::new(options.seed),
            truth: Truth::default(),
            stacks: Stacks::new(&plan),
            frames: Frames::default(),
            queue: BinaryHeap::new(),
            planned: 0,
            end: T0 + length,
            cpus: (0..plan.cpus).map(|_| CpuState::default()).collect(),
            threads: plan
                .threads
                .iter()
                .map(|(_, thread)| ThreadState::new(thread, length))
                .collect(),
            programs: plan
                .programs
                .iter()
                .map(|_| lifetime::ProgramState::default())
                .collect(),
            // Windows has 32 priorities.
            ready: (0..32).map(|_| VecDeque::new()).collect(),
            questions: VecDeque::new(),
            idle_servers: VecDeque::new(),
            work_items: 0,
            idle_workers: VecDeque::new(),
            disk: VecDeque::new(),
            background_disk: VecDeque::new(),
            disk_free_at: T0,
            disk_completed_at: None,
            events: plan
                .events
                .iter()
                .map(|(_, event)| script::EventState::new(event))
                .collect(),
            ports: plan
                .ports
                .keys()
                .map(|_| script::PortState::default())
                .collect(),
            devices: plan
                .devices
                .keys()
                .map(|_| device::DeviceState::default())
                .collect(),
            observer: Observer::new(&plan),
            hit: BTreeSet::new(),
            last_hit: None,
            cores: cores::CoresState::new(&plan),
            counters: counters::CountersState::new(&plan),
            world: act::World::default(),
            plan,
        })
    }

    /// Writes the whole trace.
    pub(crate) fn run(mut self) -> Result<(W, Truth)> {
        self.rundown_at_start()?;
        self.plan_first()?;
        while let Some(Reverse((time, _, happening))) = self.queue.pop() {
            // Events planned for later are dropped: a trace ends in the middle of activity, and
            // readers have to cope with open waits, calls and slices.
            if time >= self.end {
                break;
            }
            if let Some(later) = self.deferred(happening, time) {
                self.plan_at(later, happening);
                continue;
            }
            self.tape.wait_until(time);
            self.happen(happening)?;
        }
        self.tape.wait_until(self.end);
        self.rundown_at_end()?;
        self.finish()
    }

    fn plan_at(&mut self, time: i64, happening: Happening) {
        self.planned += 1;
        self.queue.push(Reverse((time, self.planned, happening)));
    }

    /// Plans the first samples, the marks, and the threads that run from before the trace.
    fn plan_first(&mut self) -> Result<()> {
        let now = self.tape.now();
        let is_sampled = self.plan.is_sampled;
        for cpu in self.cpus.keys().filter(|_| is_sampled) {
            // Spread over the interval, so that the interrupts of no two processors have the same
            // time.
            self.plan_at(now + 1_000 + 2_500 * cpu.0 as i64, Happening::Sample(cpu));
        }
        for (index, (per_mille, _)) in self.plan.marks.iter().enumerate() {
            let time = T0 + (self.end - T0) / 1000 * i64::from(*per_mille);
            self.plan_at(time, Happening::Mark(index));
        }
        self.plan_power_checks();
        for thread in self.threads.keys() {
            if self.plan.threads[thread].born == Born::Before {
                self.threads[thread].alive = true;
                // Threads of a machine that has run for hours are out of step with each other.
                let time = now + 10 * i64::from(self.rng.between(10, 2000));
                self.plan_at(time, Happening::Timer(thread));
            }
        }
        Ok(())
    }

    fn happen(&mut self, happening: Happening) -> Result<()> {
        match happening {
            Happening::Sample(cpu) => self.sample(cpu),
            Happening::Computed(cpu, slice) if self.cpus[cpu].slice == slice => self.act(cpu),
            Happening::QuantumEnd(cpu, slice) if self.cpus[cpu].slice == slice => {
                self.quantum_end(cpu)
            }
            // Nothing is taken out of the queue when a thread is switched out: an entry of an
            // earlier slice is recognised by its number instead.
            Happening::Computed(..) | Happening::QuantumEnd(..) => Ok(()),
            Happening::Dispatch(cpu) => self.dispatch(cpu),
            Happening::Timer(thread) => self.timer(thread),
            Happening::Input(thread) => self.input(thread),
            Happening::DiskDone => {
                let request = self.disk.pop_front();
                self.disk_done(request)
            }
            Happening::BackgroundDiskDone => {
                if let Some(later) = self.gives_way_until() {
                    self.plan_at(later, happening);
                    return Ok(());
                }
                let request = self.background_disk.pop_front();
                self.disk_done(request)
            }
            Happening::Interrupt(device) => self.interrupt(device),
            Happening::DpcEnds(cpu) => self.dpc_ends(cpu),
            Happening::Mark(index) => self.mark(index),
            Happening::PowerCheck => self.power_check(),
        }
    }
}
