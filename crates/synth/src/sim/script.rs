//! Threads that follow a script: their steps, and the call stacks that they have in each of them.

use std::collections::VecDeque;
use std::io::{Seek, Write};

use etwkit_etl::writer::StackOwner;

use super::times::{TICK_NS, Waited};
use super::work::Then;
use super::{Happening, Sim};
use crate::Result;
use crate::plan::reason;
use crate::rng::mix;
use crate::script::{Ask, EventPlan, Reading, Step};
use crate::stacks::Taken;
use crate::table::{Code, Cpu, Event, File, Path, Port, Script, Thread};
use crate::tape::{MICROSECOND, T0};

/// Number of places in a function that samples hit.
// Few enough that stacks repeat, so that the number of distinct stacks stays bounded however long a
// trace is.
const PLACES: u64 = 16;

/// Position of a thread in its script, apart from the number of the step.
#[derive(Debug, Default)]
pub(super) struct ScriptState {
    /// The running code.
    running: Option<Code>,
    /// Its stack while it waits.
    waits: Option<Path>,
    /// Its stack during an action that takes no time: it readies a thread, or starts a process.
    acts: Option<Path>,
    /// Computing time between two transfers of a file.
    between: (u32, u32),
    /// The request that it serves.
    request: Option<Request>,
}

/// A request of a client, to look at a file.
#[derive(Debug, Clone, Copy)]
struct Request {
    client: Thread,
    file: File,
    /// Number of the message that brought it.
    message: Option<u32>,
    /// The client waits for an answer.
    is_waited_for: bool,
}

/// Pending signals, and threads that wait for one.
#[derive(Debug)]
pub(super) struct EventState {
    signals: u32,
    waiting: VecDeque<Thread>,
}

impl EventState {
    pub(super) const fn new(plan: &EventPlan) -> Self {
        Self {
            signals: plan.signals,
            waiting: VecDeque::new(),
        }
    }
}

/// Pending requests, and idle servers.
#[derive(Debug, Default)]
pub(super) struct PortState {
    requests: VecDeque<Request>,
    idle: VecDeque<Thread>,
}

impl<W: Write + Seek> Sim<W> {
    /// Runs the next step of a thread.
    pub(super) fn next_step(&mut self, cpu: Cpu, thread: Thread, script: Script) -> Result<Then> {
        let plan = &self.plan.scripts[script];
        let at = self.threads[thread].step;
        let Some(step) = plan.steps.get(at).copied() else {
            // A script without a loop has no step to go back to: its thread ends.
            self.threads[thread].step = plan.again_from;
            return Ok(if plan.again_from < plan.steps.len() {
                Then::GoesOn
            } else {
                Then::Ends
            });
        };
        self.threads[thread].step += 1;
        match step {
            Step::Run(code, low, high) => {
                self.threads[thread].script.running = Some(code);
                return Ok(Then::Computes(
                    MICROSECOND * i64::from(self.rng.between(low, high)),
                ));
            }
            Step::Sleep(path, low, high) => {
                self.threads[thread].script.waits = Some(path);
                return Ok(self.wake_after(low, high, Happening::Timer(thread)));
            }
            Step::Click(path, at_ms) => return Ok(self.click(thread, path, at_ms)),
            Step::Await(path, reason, event) => {
                return Ok(self.await_event(thread, path, reason, event));
            }
            Step::Take(path, port) => return self.take_request(cpu, thread, path, port),
            Step::Ask(path, ask) => return self.ask(cpu, thread, path, ask),
            Step::Post(path, port, file) => {
                self.threads[thread].script.acts = Some(path);
                self.request(cpu, thread, (port, file), false)?;
            }
            Step::Answered(path) => {
                self.threads[thread].script.acts = Some(path);
                self.answered(cpu, thread)?;
            }
            Step::Act(path, act) => {
                self.threads[thread].script.acts = Some(path);
                self.act_out(cpu, thread, act)?;
            }
            Step::Read(path, reading) => self.read_or_write(cpu, thread, path, (reading, false))?,
            Step::WriteOut(path, reading) => {
                self.read_or_write(cpu, thread, path, (reading, true))?;
            }
            Step::Write(path, reading) => {
                self.read_or_write(cpu, thread, path, (reading, true))?;
                self.use_cache(thread);
            }
            Step::PageIn(path, reading) => self.fault(thread, path, reading, false),
            Step::HardFault(path, reading) => self.fault(thread, path, reading, true),
            Step::ReadAsked(path, reading) => {
                // A server without a request reads the file that its plan names, so that no step is
                // lost.
                let asked = self.threads[thread]
                    .script
                    .request
                    .map_or(reading.file, |request| request.file);
                self.read_or_write(
                    cpu,
                    thread,
                    path,
                    (
                        Reading {
                            file: asked,
                            ..reading
                        },
                        false,
                    ),
                )?;
            }
            Step::Set(path, event) => self.set_event(cpu, thread, path, event)?,
            Step::Answer(path) => {
                self.threads[thread].script.acts = Some(path);
                self.answer(cpu, thread)?;
            }
            Step::Start(path, other) => {
                self.threads[thread].script.acts = Some(path);
                self.start_thread(cpu, thread, other)?;
            }
            Step::Begin(name, watched) => self.begin_call(thread, name, watched),
            Step::End => self.end_call(thread),
            Step::Acts(card) => self.acts(thread, card, false),
            Step::ActsOnReady(card) => self.acts(thread, card, true),
            Step::ActsNoMore => self.acts_no_more(thread),
            Step::Mark(text) => self.set_mark(text)?,
        }
        // A step that started a transfer gives its thread a moment on the processor, as opening the
        // file takes one; the rest of the operation is done by `act` before the next step.
        Ok(if self.threads[thread].io.is_some() {
            Then::Computes(MICROSECOND)
        } else {
            Then::GoesOn
        })
    }

    fn click(&mut self, thread: Thread, path: Path, at_ms: u32) -> Then {
        self.threads[thread].script.waits = Some(path);
        // A user who would have clicked before the program was ready clicks as soon as it is.
        let soon = self.tape.now() + 100 * MICROSECOND;
        let time = soon.max(T0 + 1000 * MICROSECOND * i64::from(at_ms));
        self.plan_at(time, Happening::Input(thread));
        Then::Waits(reason::WR_USER_REQUEST)
    }

    fn await_event(&mut self, thread: Thread, path: Path, reason: u8, event: Event) -> Then {
        // An early signal is kept, as an auto-reset event of Windows keeps it: otherwise a thread
        // that is slower than the signaling one would wait forever.
        let state = &mut self.events[event];
        if state.signals > 0 {
            state.signals -= 1;
            return Then::GoesOn;
        }
        state.waiting.push_back(thread);
        self.threads[thread].script.waits = Some(path);
        Then::Waits(reason)
    }

    fn set_event(&mut self, cpu: Cpu, thread: Thread, path: Path, event: Event) -> Result<()> {
        self.threads[thread].script.acts = Some(path);
        match self.events[event].waiting.pop_front() {
            Some(waiting) => self.make_ready(cpu, waiting, None),
            None => {
                self.events[event].signals += 1;
                Ok(())
            }
        }
    }

    fn ask(&mut self, cpu: Cpu, client: Thread, path: Path, ask: Ask) -> Result<Then> {
        // The readying event has the stack of sending; the stack of waiting is needed only at the
        // next switch.
        let state = &mut self.threads[client].script;
        (state.acts, state.waits) = (Some(path), Some(ask.waits));
        if let Some(message) = self.request(cpu, client, (ask.port, ask.file), true)? {
            self.waits_for_reply(cpu, client, message)?;
        }
        Ok(Then::Waits(ask.reason))
    }

    /// Puts a request into the queue of a server. Returns the number of the message that carries
    /// it.
    fn request(
        &mut self,
        cpu: Cpu,
        client: Thread,
        (port, file): (Port, File),
        is_waited_for: bool,
    ) -> Result<Option<u32>> {
        // The message is written before the server is readied, as the kernel does it: a reader that
        // pairs both finds the message first.
        let message = self.send_request(cpu, client, port)?;
        self.ports[port].requests.push_back(Request {
            client,
            file,
            message,
            is_waited_for,
        });
        if let Some(server) = self.ports[port].idle.pop_front() {
            self.make_ready(cpu, server, None)?;
        }
        Ok(message)
    }

    fn take_request(&mut self, cpu: Cpu, server: Thread, path: Path, port: Port) -> Result<Then> {
        self.threads[server].script.acts = Some(path);
        if let Some(request) = self.ports[port].requests.pop_front() {
            self.threads[server].script.request = Some(request);
            // A message without a waiting sender is finished when it is received, and its number is
            // free again.
            if let Some(message) = request.message {
                self.receive(cpu, server, message, !request.is_waited_for)?;
            }
            return Ok(Then::GoesOn);
        }
        self.waits_for_request(cpu, server, port)?;
        self.ports[port].idle.push_back(server);
        self.threads[server].script.waits = Some(path);
        // The step is repeated when a request wakes the server: it then takes the request out of
        // the queue, unless another server was faster.
        self.again(server);
        Ok(Then::Waits(reason::WR_QUEUE))
    }

    /// Answers the request that a thread serves, if it is waited for.
    fn answer(&mut self, cpu: Cpu, server: Thread) -> Result<()> {
        let request = self.threads[server]
            .script
            .request
            .take()
            .filter(|request| request.is_waited_for);
        let Some(Request {
            client, message, ..
        }) = request
        else {
            return Ok(());
        };
        if let Some(message) = message {
            self.send(cpu, server, message)?;
        }
        self.make_ready(cpu, client, None)
    }

    /// Returns the client whose request a thread works on.
    pub(super) fn serves(&self, server: Thread) -> Option<Thread> {
        self.threads[server]
            .script
            .request
            .map(|request| request.client)
    }

    fn fault(&mut self, thread: Thread, path: Path, reading: Reading, has_event: bool) {
        self.will_transfer(thread, path, reading);
        self.threads[thread].script.acts = Some(path);
        self.page_in(
            thread,
            reading.file,
            (reading.parts.max(1), reading.bytes),
            has_event,
        );
    }

    fn read_or_write(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        path: Path,
        (reading, write): (Reading, bool),
    ) -> Result<()> {
        self.will_transfer(thread, path, reading);
        let parts = Some((reading.parts.max(1), reading.bytes));
        self.open_file(cpu, thread, (reading.file, write), parts)
    }

    fn will_transfer(&mut self, thread: Thread, path: Path, reading: Reading) {
        let state = &mut self.threads[thread].script;
        (state.waits, state.running) = (Some(path), Some(reading.code));
        state.between = (reading.low, reading.high);
    }

    /// Returns the computing time of a scripted thread between two transfers of a file.
    pub(super) fn between_transfers(&mut self, thread: Thread) -> Option<i64> {
        // Threads without a script compute for a time of `SMALL_IO` instead.
        self.plan.threads[thread].script?;
        let (low, high) = self.threads[thread].script.between;
        Some(MICROSECOND * i64::from(self.rng.between(low, high)))
    }

    /// Puts the stack that a thread has now into `self.frames`.
    pub(super) fn script_frames(&mut self, thread: Thread, script: Script, taken: Taken) {
        let state = &self.threads[thread].script;
        let begins = self.plan.scripts[script].begins;
        let path = match taken {
            Taken::Wait(_) => state.waits.unwrap_or(begins),
            Taken::Ready => state.acts.unwrap_or(begins),
            Taken::Resumed => state
                .running
                .map_or(begins, |code| self.plan.codes[code].preempted),
            Taken::Sample => state.running.map_or(begins, |code| {
                let paths = &self.plan.codes[code].paths;
                let place = self.rng.below(paths.len() as u64) as usize;
                paths.get(place).copied().unwrap_or(begins)
            }),
        };
        let plan = &self.plan.code.paths[path];
        self.frames.kernel.clone_from(&plan.kernel);
        self.frames.user.clone_from(&plan.user);
        if taken == Taken::Sample {
            self.hit(path);
        }
    }

    /// Moves the innermost frame of a sample to a place of its function.
    fn hit(&mut self, path: Path) {
        let Some(leaf) = self.plan.code.paths[path].functions.last().copied() else {
            return;
        };
        let start = self.plan.code.address(&self.plan.modules, leaf);
        let size = u64::from(self.plan.code.functions[leaf].size);
        let place = self.rng.below(PLACES);
        let address = start + size / PLACES * place + mix(start) % 8;
        let frames = &mut self.frames;
        if let Some(first) = frames.kernel.first_mut().or(frames.user.first_mut()) {
            // Only samples hit a function anywhere; all other frames are return addresses, which
            // have one place for each call.
            *first = address;
        }
        // Distinct stacks are counted by their exact innermost address, as readers do, which see
        // addresses and no functions.
        self.hit.insert((path, address));
        self.last_hit = Some(path);
    }

    /// Counts the functions of the sample that was taken last.
    pub(super) fn count_functions(&mut self, thread: Thread) {
        let Some(path) = self.last_hit.take() else {
            return;
        };
        let pid = self.plan.programs[self.plan.threads[thread].program].pid;
        let functions = self.truth.functions.entry(pid.to_string()).or_default();
        let path = &self.plan.code.paths[path].functions;
        for (position, function) in path.iter().enumerate() {
            let plan = &self.plan.code.functions[*function];
            let name = format!("{}!{}", self.plan.modules[plan.module].name, plan.name);
            let counts = functions.entry(name).or_default();
            counts.exclusive += u64::from(position + 1 == path.len());
            // A function that is on the stack several times counts once, as in the tables that the
            // truth is compared with.
            counts.inclusive += u64::from(
                !path
                    .iter()
                    .take(position)
                    .any(|earlier| earlier == function),
            );
        }
    }

    /// Counts the functions of the stack that a thread waited in.
    pub(super) fn count_wait_functions(&mut self, thread: Thread, waited: Waited) {
        let plan = &self.plan.threads[thread];
        let Some(script) = plan.script else { return };
        let path = self.threads[thread]
            .script
            .waits
            .unwrap_or(self.plan.scripts[script].begins);
        let pid = self.plan.programs[plan.program].pid;
        let functions = self
            .truth
            .function_waits
            .entry(pid.to_string())
            .or_default();
        let path = &self.plan.code.paths[path].functions;
        for (position, function) in path.iter().enumerate() {
            // A recursive function waited once, however often it is on the stack.
            if path
                .iter()
                .take(position)
                .any(|earlier| earlier == function)
            {
                continue;
            }
            let plan = &self.plan.code.functions[*function];
            let sums = functions
                .entry(format!(
                    "{}!{}",
                    self.plan.modules[plan.module].name, plan.name
                ))
                .or_default();
            sums.waits += 1;
            sums.wait_ns += (waited.readied - waited.since) * TICK_NS;
        }
    }

    /// Writes the stack of something that a thread with a script did at that time.
    pub(super) fn script_stack(&mut self, cpu: Cpu, thread: Thread, timestamp: i64) -> Result<()> {
        if self.plan.threads[thread].script.is_none() {
            return Ok(());
        }
        let (thread_id, process_id) = self.ids(Some(thread));
        let owner = StackOwner {
            timestamp,
            process_id,
            thread_id,
        };
        self.stack(cpu, thread, owner, Taken::Ready).map(|_| ())
    }
}
