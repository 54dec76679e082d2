//! Scenario `load-stress`: a program computes on twelve threads, each of them until it has had a
//! processor for ten seconds. With twelve processors, this is 120 s of CPU; with fewer, the trace
//! ends earlier.

use super::dotnet::{CMD, CORE_LIB, CORECLR, HOST, Prompt, TASK, begins, ends};
use super::windows::{
    FOR_THREAD, KERNEL32, KERNELBASE, NTDLL, OWN, SETS_EVENT, USER, WAIT_FOR_OBJECT, background,
    image, machine,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Program};

static LITWARE: Maker = Maker {
    company: "Litware",
    product: "LoadStress",
    version: "1.0.0.0",
    sources: r"D:\source\loadstress\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Source\LoadStress\",
    r"C:\Source\LoadStress\",
);
const IMAGES: [ModulePlan; 4] = [
    image(
        ("LoadStress", "LoadStress.exe", "LoadStress.pdb"),
        FOLDER,
        (0x7FF6_3AC0_0000, 0x2_9000),
        &LITWARE,
    ),
    CMD,
    CORECLR,
    CORE_LIB,
];
const STRESS: &[Module] = &[
    Module(OWN),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
    Module(OWN + 3),
];
const PROMPT: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE];
/// Seconds of each run.
const SECONDS: u32 = 11;
const THREADS: usize = 12;
/// Time that each thread computes.
const LOAD_US: u32 = 10_000_000;
/// Ticks between two samples: more samples would show nothing new.
const INTERVAL: u32 = 100_000;

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(
        options.cpus.unwrap_or(THREADS as u16),
        SECONDS,
        &IMAGES,
        false,
    );
    b.interval(INTERVAL);
    background(&mut b);
    let mut prompt = Prompt::new(&mut b, PROMPT);
    for round in 0..options.scale {
        prompt.types(&mut b, 1000 * SECONDS * round + 100);
        run(&mut b, &mut prompt);
    }
    prompt.done(&mut b);
    b.finish()
}

fn run(b: &mut Builder, prompt: &mut Prompt) {
    let (program, main) = prompt.child(b, "LoadStress.exe", "LoadStress.exe Normal 12", STRESS);
    let ended = b.event(0);
    let of_main = [
        USER,
        HOST,
        "LoadStress!LoadStress.Program.Main CoreLib!System.Threading.Tasks.Parallel.Invoke",
    ];
    let mut steps = begins(b, HOST, 6_000, 20_000);
    let starts = b.path(&[
        of_main[0],
        of_main[1],
        of_main[2],
        "coreclr!ThreadNative::Start KERNELBASE!CreateRemoteThreadEx",
    ]);
    let others: Vec<Event> = (1..THREADS).map(|_| b.event(0)).collect();
    for done in &others {
        steps.push(Step::Start(starts, worker(b, program, *done)));
    }
    // The main thread also works, like the thread that calls `Parallel.Invoke`.
    steps.extend(loads(b, &of_main));
    let waits = b.waits(&[of_main[0], of_main[1], of_main[2], WAIT_FOR_OBJECT]);
    steps.extend(
        others
            .into_iter()
            .map(|done| Step::Await(waits, FOR_THREAD, done)),
    );
    steps.push(ends(b, ended));
    b.script(main, &steps, &[]);
    prompt.starts(b, main, ended);
}

fn worker(b: &mut Builder, program: Program, done: Event) -> crate::table::Thread {
    let thread = b.thread(program, 8, "coreclr!ThreadNative::KickOffThread");
    b.is_started(thread);
    let mut steps = loads(b, &[USER, TASK]);
    steps.push(Step::Set(b.path(&[USER, TASK, SETS_EVENT]), done));
    b.script(thread, &steps, &[]);
    thread
}

fn loads(b: &mut Builder, frames: &[&str]) -> Vec<Step> {
    let spins = b.code(
        &[&frames.join(" "), "LoadStress!LoadStress.Program.Load"],
        &[
            "CoreLib!System.Diagnostics.Stopwatch.get_Elapsed ntdll!RtlQueryPerformanceCounter",
            "",
        ],
    );
    vec![
        Step::Begin("Load", None),
        Step::Run(spins, LOAD_US, LOAD_US),
        Step::End,
    ]
}
