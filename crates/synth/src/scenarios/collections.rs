//! Scenario `collections`: a .NET service collects generation 0 and 1 while its threads are
//! suspended, and generation 2 in the background, with a pause at the start and one in the middle;
//! other collections come in between.

use super::dotnet::{CLRJIT, CORE_LIB, CORECLR, HOST};
use super::windows::{
    FOR_THREAD, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, WAIT_FOR_OBJECT, background, image,
    machine, service,
};
use crate::Options;
use crate::act::{Act, CollectionStep};
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Code, Event, Module, Path};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Index",
    version: "2.2.0.0",
    sources: r"D:\build\index\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Index\",
    r"C:\Program Files\Contoso\Index\",
);
const IMAGES: [ModulePlan; 4] = [
    image(
        ("IndexSvc", "IndexSvc.exe", "IndexSvc.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x2_B000),
        &CONTOSO,
    ),
    CORECLR,
    CORE_LIB,
    CLRJIT,
];
const SERVICE: &[Module] = &[
    Module(OWN),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 1),
    Module(OWN + 2),
    Module(OWN + 3),
];

/// Reasons for suspending threads: for a collection, and for its preparation and completion.
const FOR_GC: u32 = 1;
const FOR_GC_PREP: u32 = 6;
const COLLECTS: &str =
    "coreclr!WKS::gc_heap::try_allocate_more_space coreclr!WKS::GCHeap::GarbageCollectGeneration";

/// Stacks of a thread that collects, and the lock that makes its pauses follow each other.
#[derive(Debug, Clone, Copy)]
struct Collector {
    suspends: Path,
    waits: Path,
    marks: Code,
    lock: Event,
}

impl Collector {
    fn new(b: &mut Builder, root: &[&str], lock: Event) -> Self {
        let root = root.join(" ");
        Self {
            suspends: b.path(&[&root, "coreclr!ThreadSuspend::SuspendEE"]),
            waits: b.waits(&[&root, WAIT_FOR_OBJECT]),
            marks: b.code(
                &[&root],
                &[
                    "coreclr!WKS::gc_heap::mark_phase",
                    "coreclr!WKS::gc_heap::plan_phase",
                    "coreclr!WKS::gc_heap::sweep",
                ],
            ),
            lock,
        }
    }

    fn step(self, step: CollectionStep) -> Step {
        Step::Act(self.suspends, Act::Collects(step))
    }

    /// Returns a pause with these steps in it.
    fn pause(self, reason: u32, inside: &[Step]) -> Vec<Step> {
        let mut steps = vec![
            // The thread that collects in the background also suspends all threads: pauses of one
            // process never overlap.
            Step::Await(self.waits, FOR_THREAD, self.lock),
            self.step(CollectionStep::SuspendBegins(reason)),
            Step::Run(self.marks, 10, 90),
            self.step(CollectionStep::SuspendEnds),
        ];
        steps.extend(inside);
        steps.extend([
            self.step(CollectionStep::RestartBegins),
            Step::Run(self.marks, 2, 20),
            self.step(CollectionStep::RestartEnds),
            Step::Set(self.suspends, self.lock),
        ]);
        steps
    }
}

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    background(&mut b);
    let ids = (b.id(), 804);
    let program = b.program(service(
        ids,
        "IndexSvc.exe",
        "IndexSvc.exe -service",
        SERVICE,
    ));
    let (lock, started, done) = (b.event(1), b.event(0), b.event(1));
    let main = "IndexSvc!Contoso.Index.Worker.Run";
    let thread = b.thread(program, 8, "coreclr!coreclr_execute_assembly");
    let collector = Collector::new(&mut b, &[USER, HOST, main, COLLECTS], lock);
    let waits = b.waits(&[USER, HOST, main, SLEEPS]);
    let works = b.code(
        &[USER, HOST, main],
        &[
            "IndexSvc!Contoso.Index.Tokens.Split",
            "IndexSvc!Contoso.Index.Tokens.Split CoreLib!System.String.Substring",
            "IndexSvc!Contoso.Index.Tokens.Split CoreLib!System.Buffers.ArrayPool`1.Rent",
            "IndexSvc!Contoso.Index.Tree.Add",
            "IndexSvc!Contoso.Index.Tree.Add IndexSvc!Contoso.Index.Tree.Balance",
            "IndexSvc!Contoso.Index.Tree.Add CoreLib!System.Collections.Generic.Dictionary`2.FindValue",
            "IndexSvc!Contoso.Index.Words.Stem",
            "IndexSvc!Contoso.Index.Words.Stem CoreLib!System.String.EndsWith",
        ],
    );
    let mut steps = Vec::new();
    for (generation, us) in [(0, (200, 900)), (1, (400, 1_800)), (0, (200, 900))] {
        steps.extend([
            Step::Run(works, 4_000, 9_000),
            Step::Sleep(waits, 3_000, 12_000),
        ]);
        steps.extend(collector.pause(
            FOR_GC,
            &[
                collector.step(CollectionStep::Begins(generation, false)),
                Step::Run(collector.marks, us.0, us.1),
                collector.step(CollectionStep::Ends(false)),
            ],
        ));
    }
    // The background collection of the previous round has to be finished: a runtime has only one at
    // a time.
    steps.push(Step::Await(collector.waits, FOR_THREAD, done));
    steps.extend(collector.pause(
        FOR_GC_PREP,
        &[
            collector.step(CollectionStep::Begins(2, true)),
            Step::Run(collector.marks, 100, 400),
        ],
    ));
    steps.push(Step::Set(collector.suspends, started));
    b.script(thread, &[], &steps);
    let root = [USER, "coreclr!WKS::gc_heap::bgc_thread_function"];
    let thread = b.thread(program, 8, root[1]);
    let collector = Collector::new(&mut b, &root, lock);
    let mut steps = vec![
        Step::Await(collector.waits, FOR_THREAD, started),
        Step::Run(collector.marks, 8_000, 20_000),
    ];
    steps.extend(collector.pause(FOR_GC_PREP, &[Step::Run(collector.marks, 200, 700)]));
    steps.extend([
        Step::Run(collector.marks, 4_000, 12_000),
        collector.step(CollectionStep::Ends(true)),
        Step::Set(collector.suspends, done),
    ]);
    b.script(thread, &[], &steps);
    b.finish()
}
