//! Step-by-step work of threads, each step with its call stack, and the builder of plans with this
//! work.

use std::borrow::Cow;

use crate::act::{Act, ObjectPlan, SessionPlan};
use crate::code::CodeMap;
use crate::plan::{
    AdapterPlan, Born, DevicePlan, FilePlan, GROUPS, HybridPlan, INTERVAL, KeyPlan, ModulePlan,
    Pace, Plan, PowerPlan, ProgramPlan, Routines, ThreadPlan,
};
use crate::table::{
    Code, Cpu, Device, Event, File, Function, Module, Path, Port, Program, RegistryKey, Table,
    Thread,
};

/// Frames of a wait below the function that waits.
pub(crate) const WAITS: &str =
    "nt!KeWaitForSingleObject nt!KiCommitThreadWait nt!KiSwapThread nt!KiSwapContext";
/// Frames of a thread that was taken off its processor.
const PREEMPTED: &str = "nt!KiDpcInterrupt nt!KiDispatchInterrupt nt!KiSwapContext";
/// Bit of the group of samples.
const PROFILE: u32 = 0x100_0000;
/// Frames of a thread that begins.
const BEGINS: &str = "nt!KiStartUserThread nt!PspUserThreadStartup";

/// A step. Durations are in microseconds, from..to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Computes.
    Run(Code, u32, u32),
    /// Sleeps.
    Sleep(Path, u32, u32),
    /// Waits for the user, who acts this many milliseconds after the start of the trace.
    Click(Path, u32),
    /// Waits until the event is signalled, for that reason.
    Await(Path, u8, Event),
    /// Signals the event.
    Set(Path, Event),
    /// Reads a file from the disk: opens it, reads that many parts of it, and closes it.
    Read(Path, Reading),
    /// Writes a file through the cache: opens it, writes that many parts of it, and closes it.
    Write(Path, Reading),
    /// Writes a file as [`Step::Write`] does, and waits until the disk has each part.
    WriteOut(Path, Reading),
    /// Waits for that many pages of a mapped file that have to be read from the disk.
    PageIn(Path, Reading),
    /// Waits for pages of a mapped file as [`Step::PageIn`] does, and each of these faults has an
    /// event.
    HardFault(Path, Reading),
    /// Sends a request to a server and waits for the answer.
    Ask(Path, Ask),
    /// Sends a request about a file and does not wait.
    Post(Path, Port, File),
    /// Takes the answer to its message.
    Answered(Path),
    /// A server waits for a request.
    Take(Path, Port),
    /// Reads the file that the request is about.
    ReadAsked(Path, Reading),
    /// Answers the request.
    Answer(Path),
    /// Starts a thread, and its process if it is the first one.
    Start(Path, Thread),
    /// A call that the truth reports begins; the truth also reports the work of the other thread
    /// during the call.
    Begin(&'static str, Option<Thread>),
    /// The call of [`Step::Begin`] ends.
    End,
    /// From here to [`Step::ActsNoMore`] the cause of that card acts on the thread, or on the
    /// threads that wait for it.
    Acts(&'static str),
    /// From here to [`Step::ActsNoMore`] the cause of that card acts whenever the thread could run
    /// and does not.
    ActsOnReady(&'static str),
    /// The cause stops acting.
    ActsNoMore,
    /// Sets a mark.
    Mark(&'static str),
    /// Does something that has events of its own.
    Act(Path, Act),
}

/// Parameters of reading or writing a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) file: File,
    /// Transfers, and bytes of each.
    pub(crate) parts: u32,
    pub(crate) bytes: u32,
    /// The code that runs after each of them, and its duration.
    pub(crate) code: Code,
    pub(crate) low: u32,
    pub(crate) high: u32,
}

/// A request to a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) port: Port,
    pub(crate) file: File,
    /// Stack of the wait, and its reason. The stack of the step itself is the stack of sending.
    pub(crate) waits: Path,
    pub(crate) reason: u8,
}

/// The steps of a thread.
#[derive(Debug, Clone)]
pub(crate) struct ScriptPlan {
    pub(crate) steps: Vec<Step>,
    /// The step after the last one; if it does not exist, the thread ends.
    pub(crate) again_from: usize,
    /// Stack of its first switch-in.
    pub(crate) begins: Path,
}

#[cfg(test)]
impl ScriptPlan {
    /// Returns all stacks that a thread can have.
    pub(crate) fn paths(&self, codes: &Table<Code, CodePlan>) -> Vec<Path> {
        let of_code = |code: Code| {
            let plan = &codes[code];
            plan.paths
                .iter()
                .copied()
                .chain([plan.preempted])
                .collect::<Vec<_>>()
        };
        let of_step = |step: &Step| match *step {
            Step::Run(code, ..) => of_code(code),
            Step::Sleep(path, ..)
            | Step::Click(path, _)
            | Step::Await(path, ..)
            | Step::Set(path, _) => {
                vec![path]
            }
            Step::Read(path, reading)
            | Step::ReadAsked(path, reading)
            | Step::Write(path, reading)
            | Step::WriteOut(path, reading)
            | Step::PageIn(path, reading)
            | Step::HardFault(path, reading) => [vec![path], of_code(reading.code)].concat(),
            Step::Ask(path, ask) => vec![path, ask.waits],
            Step::Take(path, _)
            | Step::Answer(path)
            | Step::Post(path, ..)
            | Step::Answered(path)
            | Step::Act(path, _)
            | Step::Start(path, _) => vec![path],
            Step::Begin(..)
            | Step::End
            | Step::Acts(_)
            | Step::ActsOnReady(_)
            | Step::ActsNoMore
            | Step::Mark(_) => Vec::new(),
        };
        self.steps
            .iter()
            .flat_map(of_step)
            .chain([self.begins])
            .collect()
    }
}

/// A part of a program.
#[derive(Debug, Clone)]
pub(crate) struct CodePlan {
    /// Stacks of samples; each is as likely as the others.
    pub(crate) paths: Vec<Path>,
    /// Stack of a thread that was preempted in it.
    pub(crate) preempted: Path,
}

/// Something that can be signalled.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EventPlan {
    /// Signals that it has from the start: 1 makes it a lock.
    pub(crate) signals: u32,
}

/// A queue of requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PortPlan {
    /// Name of a port of messages; `None` where requests come on another way, which has no events.
    pub(crate) name: Option<&'static str>,
}

/// A plan under construction.
#[derive(Debug)]
pub(crate) struct Builder {
    plan: Plan,
    next_id: u32,
}

impl Builder {
    /// Creates a plan with only the images of a machine. The first program is the idle one, and has
    /// the kernel's images.
    pub(crate) fn new(
        cpus: u16,
        seconds: u32,
        modules: impl IntoIterator<Item = ModulePlan>,
    ) -> Self {
        let plan = Plan {
            cpus,
            seconds,
            modules: modules.into_iter().collect(),
            programs: Table::default(),
            threads: Table::default(),
            files: Table::default(),
            marks: &[],
            groups: GROUPS,
            routines: Routines::default(),
            disk_us: (60, 260),
            slow_files: Vec::new(),
            background: Vec::new(),
            bound: Vec::new(),
            devices: Table::default(),
            has_write_cache: true,
            is_sampled: true,
            hybrid: None,
            interval: INTERVAL,
            reports_starts: false,
            keys: Table::default(),
            handles: Vec::new(),
            sessions: Vec::new(),
            adapters: vec![AdapterPlan::first()],
            power: None,
            paces: Vec::new(),
            disturbed: Vec::new(),
            code: CodeMap::default(),
            scripts: Table::default(),
            codes: Table::default(),
            events: Table::default(),
            ports: Table::default(),
        };
        Self {
            plan,
            next_id: 3000,
        }
    }

    pub(crate) const fn disk(&mut self, low_us: u32, high_us: u32) {
        self.plan.disk_us = (low_us, high_us);
    }

    /// Makes the disk take that much longer for each transfer of a file, in microseconds.
    pub(crate) fn is_slow(&mut self, file: File, extra_us: (u32, u32)) {
        self.plan.slow_files.push((file, extra_us));
    }

    /// Makes the disk write through, without a cache of its own.
    pub(crate) const fn writes_through(&mut self) {
        self.plan.has_write_cache = false;
    }

    /// No sample is written, although the session asks for samples.
    pub(crate) const fn gets_no_samples(&mut self) {
        self.plan.is_sampled = false;
    }

    /// No samples are recorded.
    pub(crate) fn takes_no_samples(&mut self) {
        self.gets_no_samples();
        self.plan
            .groups
            .iter_mut()
            .take(1)
            .for_each(|of| *of &= !PROFILE);
    }

    pub(crate) const fn hybrid(&mut self, hybrid: HybridPlan) {
        self.plan.hybrid = Some(hybrid);
    }

    /// Adds an image.
    pub(crate) fn add_image(&mut self, image: ModulePlan) -> Module {
        self.plan.modules.push(image)
    }

    /// Returns the image with that file name.
    pub(crate) fn image(&self, name: &str) -> Option<Module> {
        let named = |(_, image): &(Module, &ModulePlan)| image.name.eq_ignore_ascii_case(name);
        self.plan
            .modules
            .iter()
            .find(named)
            .map(|(module, _)| module)
    }

    /// Maps these images into a process.
    pub(crate) fn maps(&mut self, program: Program, images: &'static [Module]) {
        self.plan.programs[program].modules = images;
    }

    /// Returns an unused process or thread id.
    pub(crate) fn id(&mut self) -> u32 {
        // Ids of Windows are multiples of four with gaps between them. Neither depends on the seed,
        // so that a process has the same id in all traces of a scenario.
        self.next_id += 4 * (1 + crate::rng::mix(self.next_id.into()) as u32 % 12);
        self.next_id
    }

    pub(crate) fn program(&mut self, plan: ProgramPlan) -> Program {
        self.plan.programs.push(plan)
    }

    pub(crate) fn pid(&self, program: Program) -> u32 {
        self.plan.programs[program].pid
    }

    /// Makes the truth report the costs of starts and exits of processes.
    pub(crate) const fn reports_starts(&mut self) {
        self.plan.reports_starts = true;
    }

    pub(crate) fn key(&mut self, plan: KeyPlan) -> RegistryKey {
        self.plan.keys.push(plan)
    }

    /// Gives a process a handle from before the trace.
    pub(crate) fn has_handle(&mut self, program: Program, object: ObjectPlan) {
        self.plan.handles.push((program, object));
    }

    /// Adds a session of the tracing system that runs before the trace.
    pub(crate) fn session(&mut self, session: SessionPlan) {
        self.plan.sessions.push(session);
    }

    /// Adds another network adapter.
    pub(crate) fn adapter(&mut self, adapter: AdapterPlan) {
        self.plan.adapters.push(adapter);
    }

    /// Makes the session record the timer and settings, with their state before the trace.
    pub(crate) fn power(&mut self, power: PowerPlan) {
        self.plan.power = Some(power);
    }

    /// Sets the sampling interval of each processor, in ticks.
    pub(crate) const fn interval(&mut self, ticks: u32) {
        self.plan.interval = ticks;
    }

    /// Adds performance counters to switches, with their counts while a program runs.
    pub(crate) fn pace(&mut self, program: Program, pace: Pace) {
        self.plan.paces.push((program, pace));
    }

    /// Sets the counts of a program while the other program also runs.
    pub(crate) fn disturbs(&mut self, program: Program, other: Program, pace: Pace) {
        self.plan.disturbed.push((program, other, pace));
    }

    pub(crate) fn file(&mut self, path: impl Into<Cow<'static, str>>) -> File {
        let path = path.into();
        // One path is one file, with one key: programs that name the same path share the file.
        let known = self
            .plan
            .files
            .iter()
            .find(|(_, file)| file.path == path)
            .map(|(file, _)| file);
        known.unwrap_or_else(|| self.plan.files.push(FilePlan { path }))
    }

    pub(crate) fn event(&mut self, signals: u32) -> Event {
        self.plan.events.push(EventPlan { signals })
    }

    pub(crate) fn port(&mut self) -> Port {
        self.plan.ports.push(PortPlan::default())
    }

    /// Adds a message port with that name.
    pub(crate) fn message_port(&mut self, name: &'static str) -> Port {
        self.plan.ports.push(PortPlan { name: Some(name) })
    }

    /// Makes the session record more groups of events: word and bits.
    pub(crate) fn records(&mut self, groups: &[(usize, u32)]) {
        for (word, bits) in groups {
            self.plan
                .groups
                .get_mut(*word)
                .into_iter()
                .for_each(|of| *of |= bits);
        }
    }

    /// Adds a function, `module!function`, which a step may name.
    pub(crate) fn function(&mut self, name: &str) -> Function {
        self.plan.code.function(&self.plan.modules, name)
    }

    pub(crate) fn path(&mut self, parts: &[&str]) -> Path {
        self.plan.code.path(&self.plan.modules, parts)
    }

    /// Returns the stack of a wait in the innermost function.
    pub(crate) fn waits(&mut self, parts: &[&str]) -> Path {
        self.path(&[parts, &[WAITS]].concat())
    }

    /// Adds a part of a program that is reached by the same frames and continues with one of the
    /// leaves.
    pub(crate) fn code(&mut self, root: &[&str], leaves: &[&str]) -> Code {
        let paths = leaves
            .iter()
            .map(|leaf| self.path(&[root, &[leaf]].concat()))
            .collect();
        let preempted =
            self.path(&[root, leaves.get(..1).unwrap_or(leaves), &[PREEMPTED]].concat());
        self.plan.codes.push(CodePlan { paths, preempted })
    }

    /// Adds a thread that runs from before the trace; its start function is `module!function`.
    pub(crate) fn thread(&mut self, program: Program, priority: u8, start: &str) -> Thread {
        let tid = self.id();
        let start = self.plan.code.function(&self.plan.modules, start).0 as u64;
        self.plan.threads.push(ThreadPlan {
            tid,
            program,
            priority,
            work: &[],
            script: None,
            born: Born::Before,
            dies: None,
            // The number of the function: its address is known when the plan is complete.
            start,
            efficient: false,
        })
    }

    /// Marks a thread as started by a step.
    pub(crate) fn is_started(&mut self, thread: Thread) {
        self.plan.threads[thread].born = Born::Started;
    }

    /// Puts a thread in background mode.
    pub(crate) fn is_background(&mut self, thread: Thread) {
        self.plan.background.push(thread);
    }

    /// Binds a thread to one processor.
    pub(crate) fn is_bound(&mut self, thread: Thread, cpu: Cpu) {
        self.plan.bound.push((thread, cpu));
    }

    /// Adds a device. Its interrupts are off.
    pub(crate) fn device(&mut self, device: DevicePlan) -> Device {
        self.plan.devices.push(device)
    }

    /// Returns the number of processors.
    pub(crate) const fn cpus(&self) -> u16 {
        self.plan.cpus
    }

    pub(crate) fn tid(&self, thread: Thread) -> u32 {
        self.plan.threads[thread].tid
    }

    /// Restricts a thread to efficient cores.
    pub(crate) fn is_efficient(&mut self, thread: Thread) {
        self.plan.threads[thread].efficient = true;
    }

    /// Sets the work of a thread: these steps once, then the others repeatedly. Without the others
    /// it ends.
    pub(crate) fn script(&mut self, thread: Thread, once: &[Step], again: &[Step]) {
        let begins = self.path(&[BEGINS]);
        let (steps, again_from) = ([once, again].concat(), once.len());
        let script = self.plan.scripts.push(ScriptPlan {
            steps,
            again_from,
            begins,
        });
        self.plan.threads[thread].script = Some(script);
    }

    /// Returns the plan, with all functions in their places.
    pub(crate) fn finish(mut self) -> Plan {
        // Routines of interrupts are functions like all others, so that samples in them get names
        // from the symbol files.
        let names = [
            "nt!PoIdle",
            "storport!RaidUnitCompleteRequest",
            "nt!KiTimerExpirationDpc",
            "storport!RaidpAdapterMSIInterruptRoutine",
            "storport!RaidpAdapterDpcRoutine",
            "i8042prt!I8042KeyboardInterruptService",
            "i8042prt!I8042KeyboardIsrDpc",
        ];
        let functions = names.map(|name| self.plan.code.function(&self.plan.modules, name));
        let plan = &mut self.plan;
        plan.code.lay_out(&mut plan.modules);
        let [idle, in_dpc, timer, disk, disk_dpc, keyboard, keyboard_dpc] =
            functions.map(|function| plan.code.address(&plan.modules, function));
        plan.routines = Routines {
            // Samples hit the inside of a function, never its first byte.
            idle: idle + 0x3B,
            in_dpc: in_dpc + 0x18,
            timer,
            disk: (disk, disk_dpc),
            keyboard: (keyboard, keyboard_dpc),
        };
        for thread in plan.threads.keys() {
            let start = Function(plan.threads[thread].start as usize);
            plan.threads[thread].start = plan.code.address(&plan.modules, start);
        }
        self.plan
    }
}
