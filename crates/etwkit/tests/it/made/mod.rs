//! The values of events against exact synthetic recordings: every class of events that the made traces have.
//!
//! Values come from the public decoding only: plans, the renderer, attribution and trackers. What is computed
//! here is grouping, counting and pairing, in ticks, so that nothing is rounded.

mod compare;
mod dotnet;
mod io;
mod lost;
mod memory;
mod net;
mod power;
mod processes;
mod sched;
mod syscalls;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use etwkit_decode::Decoder;
use etwkit_decode::render::{Limits, Renderer};
use etwkit_etl::clock::Clock;
use etwkit_etl::{Identity, Order, RawEvent};
use etwkit_extract::Input;
use etwkit_testkit::{read_json, traces};
use etwkit_trace::attribution::Attributor;
use etwkit_trace::directory::{Directory, DirectoryBuilder};
use etwkit_trace::tracker::stack::StackPart;
use serde_json::{Map, Value};

use compare::{Sums, add, add_us, agree, counts, raise_us, without};

/// Microseconds by which times may differ.
const SLACK_US: f64 = 0.25;
/// Extended item with the addresses of a stack, 64-bit.
const STACK_TRACE_64: u16 = 6;
/// Bytes of the match id in front of those addresses.
const MATCH_ID_LEN: usize = 8;

/// One decoded event.
struct Event {
    ticks: i64,
    us: f64,
    cpu: u16,
    pid: Option<u32>,
    tid: Option<u32>,
    /// `Class/Type` of kernel events; provider and id, such as `Microsoft-Windows-TCPIP 1332`, of the others.
    name: String,
    /// Time stamps are raw ticks.
    fields: Map<String, Value>,
    counters: Vec<u64>,
    /// The stack that lies in the event itself.
    stack: Vec<u64>,
}

impl Event {
    fn value(&self, field: &str) -> &Value {
        self.fields
            .get(field)
            .unwrap_or_else(|| panic!("{} has no {field}: {:?}", self.name, self.fields))
    }

    /// A number, or an address.
    fn number(&self, field: &str) -> u64 {
        let value = self.value(field);
        value
            .as_u64()
            .unwrap_or_else(|| hex(value.as_str().unwrap_or_default()))
    }

    fn signed(&self, field: &str) -> i64 {
        self.value(field)
            .as_i64()
            .unwrap_or_else(|| panic!("{} {field} is not a number", self.name))
    }

    fn text(&self, field: &str) -> &str {
        self.value(field)
            .as_str()
            .unwrap_or_else(|| panic!("{} {field} is no text", self.name))
    }
}

fn hex(text: &str) -> u64 {
    let digits = text
        .strip_prefix("0x")
        .unwrap_or_else(|| panic!("{text:?} is no hexadecimal number"));
    u64::from_str_radix(digits, 16).unwrap()
}

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// Addresses of the stacks that lie in events of their own: by [`stack_owner`] of the event they are for.
type Stacks = HashMap<(i64, u32, u16), Vec<u64>>;

/// Time stamp and thread of the event that a stack is for. Several processors may be idle at once; the user
/// half of a stack of any other thread may be logged where it runs later.
fn stack_owner(ticks: i64, tid: u32, cpu: u16) -> (i64, u32, u16) {
    (ticks, tid, if tid == 0 { cpu } else { 0 })
}

/// A decoded trace and what is true of it.
struct Trace {
    name: String,
    truth: Value,
    input: Input,
    directory: Directory,
    /// Events of whole buffers, in the order of time.
    events: Vec<Event>,
    /// Events of a buffer inside which the file ends.
    beyond: Vec<Event>,
    damaged: bool,
}

impl Trace {
    fn open(path: &std::path::Path) -> Self {
        let options = etwkit_extract::Options::default();
        let input =
            etwkit_extract::open(&[path.with_extension("").with_extension("etl")], &options)
                .unwrap();
        let session = input.session();
        let (mut decoder, mut builder) = (Decoder::new(), DirectoryBuilder::default());
        let first = session.for_each(Order::Time, |event| {
            decoder.observe(event);
            builder.observe(event);
            ControlFlow::Continue(())
        });
        let damaged = !first.unwrap().damage.is_empty() || !session.damage().is_empty();
        decoder.finish_observing();
        let directory = builder.finish(session.pointer_size(), session.clock().frequency);
        let (mut events, mut beyond, mut attributor) = (
            Vec::new(),
            Vec::new(),
            Attributor::new(directory.first_threads.clone()),
        );
        let (clock, buffers) = (*session.clock(), session.files()[0].buffers());
        let visit = |event: &RawEvent<'_>| {
            let whole = !buffers[event.buffer as usize].is_truncated();
            let target = if whole { &mut events } else { &mut beyond };
            target.push(decoded(
                event,
                &mut decoder,
                &mut attributor,
                &directory,
                &clock,
            ));
            ControlFlow::Continue(())
        };
        session.for_each(Order::Time, visit).unwrap();
        let file_name = path.file_name().unwrap().to_string_lossy();
        let name = file_name.trim_end_matches(".truth.json").to_owned();
        Self {
            name,
            truth: read_json(path),
            input,
            directory,
            events,
            beyond,
            damaged,
        }
    }

    /// Events of that name, in time order.
    fn all<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Event> {
        self.events.iter().filter(move |event| event.name == name)
    }

    /// Ticks as microseconds.
    fn duration_us(&self, ticks: i64) -> f64 {
        ticks as f64 * 1e6 / self.input.session().clock().frequency as f64
    }

    fn time_us(&self, ticks: i64) -> f64 {
        self.input.session().clock().nanoseconds(ticks) as f64 / 1e3
    }

    /// The process instance that a process id means at the time of an event.
    fn process(&self, pid: u32, event: &Event) -> String {
        let key = self.directory.process_at(pid, event.ticks);
        key.and_then(|key| self.directory.processes.instance(key))
            .unwrap_or_else(|| panic!("process {pid}"))
            .key_text()
    }

    fn process_of_thread(&self, tid: u32, event: &Event) -> String {
        let pid = self.directory.threads.process_of(tid, event.ticks);
        self.process(
            pid.unwrap_or_else(|| panic!("{}: thread {tid} at {}", self.name, event.us)),
            event,
        )
    }

    /// The process instance of an event.
    fn owner(&self, event: &Event) -> String {
        self.process(
            event
                .pid
                .unwrap_or_else(|| panic!("{} at {} has no process", event.name, event.us)),
            event,
        )
    }

    /// `process/thread`.
    fn thread(&self, tid: u32, event: &Event) -> String {
        format!("{}/{tid}", self.process_of_thread(tid, event))
    }

    /// DOS path of the image and offset in it; `?` and the address where there is no image.
    fn place(&self, address: u64, pid: u32, ticks: i64) -> (String, u64) {
        let process = self.directory.process_at(pid, ticks);
        match self.directory.image_at(process, address, ticks) {
            Some((_, image)) => (
                self.directory.paths.dos_path(&image.path).to_string(),
                address - image.base,
            ),
            None => ("?".to_owned(), address),
        }
    }

    fn file_name(&self, key: u64, ticks: i64) -> String {
        let path = self.directory.file_names.path(key, ticks);
        path.map_or_else(
            || format!("{key:#x}"),
            |path| self.directory.paths.dos_path(path).to_string(),
        )
    }

    /// All stacks that lie in events of their own, kernel frames first.
    fn stacks(&self) -> Stacks {
        let mut stacks = Stacks::new();
        for event in self
            .events
            .iter()
            .filter(|event| event.name.starts_with("StackWalk/"))
        {
            let frames: Vec<u64> = match event.name.as_str() {
                "StackWalk/Stack" => event
                    .value("Frames")
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|f| hex(f.as_str().unwrap()))
                    .collect(),
                "StackWalk/StackKeyKernel" | "StackWalk/StackKeyUser" => {
                    let is_kernel = event.name == "StackWalk/StackKeyKernel";
                    let part = if is_kernel {
                        StackPart::Kernel
                    } else {
                        StackPart::User
                    };
                    let stack =
                        self.directory
                            .stack_keys
                            .resolve(event.ticks, event.number("Key"), part);
                    self.directory
                        .stacks
                        .frames(stack.expect("a key without definition"))
                        .collect()
                }
                _ => continue,
            };
            let owner = stack_owner(
                event.signed("EventTimeStamp"),
                event.number("StackThread") as u32,
                event.cpu,
            );
            stacks.entry(owner).or_default().extend(frames);
        }
        stacks
    }

    fn agrees(&self, section: &str, ours: &Value) -> usize {
        let truth = self
            .truth
            .pointer(section)
            .unwrap_or_else(|| panic!("{}: no {section}", self.name));
        agree(&format!("{}{section}", self.name), truth, ours)
    }
}

fn decoded(
    event: &RawEvent<'_>,
    decoder: &mut Decoder,
    attributor: &mut Attributor,
    directory: &Directory,
    clock: &Clock,
) -> Event {
    let plan = decoder.plan(event);
    let ids = attributor.ids(event, plan.as_ref());
    let pid = ids
        .pid
        .or_else(|| directory.threads.process_of(ids.tid?, event.timestamp));
    let name = match (event.identity(), &plan) {
        (Identity::Manifest { provider, id, .. }, _) => {
            let known = decoder.provider_name(provider);
            format!(
                "{} {id}",
                known.map_or_else(|| provider.to_string(), |name| name.to_string())
            )
        }
        (_, Some(plan)) => plan.schema().name.to_string(),
        (identity, None) => panic!("nothing decodes {identity:?}"),
    };
    let fields = plan.map(|plan| {
        let renderer = Renderer {
            clock: None,
            limits: Limits::NONE,
        };
        let (fields, complete) = renderer.object(&plan, event.payload());
        assert!(complete, "{name} ends early: {fields:?}");
        fields
    });
    let stack = event
        .extended()
        .find(STACK_TRACE_64)
        .and_then(|item| item.get(MATCH_ID_LEN..))
        .unwrap_or_default();
    Event {
        ticks: event.timestamp,
        us: clock.nanoseconds(event.timestamp) as f64 / 1e3,
        cpu: event.cpu,
        pid,
        tid: ids.tid,
        name,
        fields: fields.unwrap_or_default(),
        counters: event.pmc_values().collect(),
        stack: stack
            .chunks_exact(8)
            .map(|b| u64::from_le_bytes(b.try_into().unwrap()))
            .collect(),
    }
}

/// The truth files of some scenarios.
fn truths(scenarios: &[&str]) -> Vec<PathBuf> {
    let Some(root) = traces() else {
        return Vec::new();
    };
    let mut files = etwkit_testkit::truth_files(&root.join("made"));
    let scenario = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.rsplit_once('-')
            .map(|(scenario, _)| scenario.to_owned())
            .unwrap_or_default()
    };
    files.retain(|path| scenarios.is_empty() || scenarios.contains(&scenario(path).as_str()));
    let (seeds, all) = (3, 13);
    let expected = seeds
        * if scenarios.is_empty() {
            all
        } else {
            scenarios.len()
        };
    assert!(
        files.len() >= expected,
        "{} truths of {scenarios:?}",
        files.len()
    );
    files
}

/// Checks every trace of some scenarios (of all, if none is named); `check` returns the number of values
/// compared.
fn check(scenarios: &[&str], check: impl Fn(&Trace) -> usize) {
    let mut total = 0;
    for path in truths(scenarios) {
        let trace = Trace::open(&path);
        let compared = check(&trace);
        eprintln!("{}: {compared} values agree", trace.name);
        total += compared;
    }
    eprintln!("{scenarios:?}: {total} values agree");
}
