//! Card 34: a trace session has the .NET runtime list its compiled methods, and the runtime keeps
//! its lock of code all the time, so that a collection cannot stop the threads. In the twin it has
//! the lock for a moment only, and lists the same methods.

use super::jit_start;
use super::scene::{Image, Planted, Scene, keep};
use super::{Card, Named};
use crate::act::{Act, CollectionStep, Compiled, Listed, Tier};
use crate::scenarios::dotnet::HOST;
use crate::scenarios::windows::{FOR_THREAD, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Event, Thread};

pub(super) const CARD: Card = Card {
    number: 34,
    name: "rundown-stall",
    rule: "rundown-stall",
    description: "a .NET service waits for a collection while a trace session has its methods listed",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

/// Requests, each with a collection.
const REQUESTS: usize = 30;
/// Methods that are listed, and types that have them.
const METHODS: u32 = 2_600;
const TYPES: usize = 40;
/// Stopping the threads of a runtime for a collection.
const FOR_GC: u32 = 1;
const ALLOCATES: &str = "coreclr!JIT_New coreclr!WKS::gc_heap::try_allocate_more_space \
    coreclr!WKS::GCHeap::GarbageCollectGeneration";
const LISTS: &str = "ntdll!TppWorkerThread ntdll!EtwpEventNotification coreclr!EtwCallback \
    coreclr!ETW::EnumerationLog::EndRundown coreclr!ETW::MethodLog::SendEventsForJitMethods";

fn plant(scene: &mut Scene) -> Planted {
    let libraries = jit_start::runtime(scene);
    let image = scene.product();
    let program = scene.service(image, "--serve", libraries);
    let lock = scene.b.event(1);
    let thread = scene
        .b
        .thread(program, 8, "coreclr!coreclr_execute_assembly");
    serves(scene, (image, thread), lock);
    let thread = scene.b.thread(program, 8, "ntdll!TppWorkerThread");
    lists(scene, (image, thread), lock);
    Planted {
        culprit: "Microsoft-Windows-DotNETRuntimeRundown".to_owned(),
        victims: vec![program],
    }
}

/// Sets the work of the thread that answers requests, and collects during each.
fn serves(scene: &mut Scene, (image, thread): (Image, Thread), lock: Event) {
    let main = keep(format!(
        "{USER} {HOST} {0}!{0}.Program.Main {0}!{0}.Server.Answer",
        image.alias
    ));
    let works = scene.b.code(
        &[main],
        &[
            &format!("{0}!{0}.Page.Render", image.alias),
            "CoreLib!System.String.Concat",
        ],
    );
    let suspend = "coreclr!ThreadSuspend::SuspendEE coreclr!ThreadSuspend::SuspendAllThreads";
    let suspends = scene.b.path(&[main, ALLOCATES, suspend]);
    let waits = scene.b.waits(&[main, ALLOCATES, suspend, WAIT_FOR_OBJECT]);
    let marks = scene
        .b
        .code(&[main, ALLOCATES], &["coreclr!WKS::gc_heap::mark_phase"]);
    let sleeps = scene.b.waits(&[main, SLEEPS]);
    let collect = |step| Step::Act(suspends, Act::Collects(step));
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for _ in 0..REQUESTS {
        let (work, rest) = (scene.draw(3_000, 9_000), scene.draw(110_000, 170_000));
        let mut request = vec![
            Step::Run(works, work, work),
            collect(CollectionStep::SuspendBegins(FOR_GC)),
            Step::Run(marks, 20, 20),
        ];
        request.extend(scene.acts([Step::Await(waits, FOR_THREAD, lock)]));
        request.extend([
            // All threads have stopped: nobody can take the lock any more, and it is free.
            Step::Set(suspends, lock),
            collect(CollectionStep::SuspendEnds),
            collect(CollectionStep::Begins(0, false)),
            Step::Run(marks, 700, 700),
            collect(CollectionStep::Ends(false)),
            collect(CollectionStep::RestartBegins),
            Step::Run(marks, 10, 10),
            collect(CollectionStep::RestartEnds),
        ]);
        steps.extend(scene.operation(request));
        steps.push(Step::Sleep(sleeps, rest, rest));
    }
    scene.idles_after(thread, &steps, (sleeps, works));
}

/// Sets the work of the thread on which the tracing system calls the runtime: it lists all methods
/// once.
fn lists(scene: &mut Scene, (image, thread): (Image, Thread), lock: Event) {
    let root = format!("{USER} {LISTS}");
    let idles = scene
        .b
        .waits(&[USER, "ntdll!TppWorkerThread", WAIT_FOR_OBJECT]);
    let enters = scene
        .b
        .waits(&[&root, "coreclr!CrstBase::Enter", WAIT_FOR_OBJECT]);
    let leaves = scene.b.path(&[
        &root,
        "coreclr!CrstBase::Leave KERNELBASE!SetEvent ntdll!NtSetEvent nt!KiSystemServiceCopyEnd \
         nt!NtSetEvent nt!KeSetEvent",
    ]);
    let walks = scene.b.code(
        &[&root],
        &[
            "coreclr!EEJitManager::CodeHeapIterator::Next",
            "coreclr!ETW::MethodLog::SendMethodEvent ntdll!EtwEventWrite",
        ],
    );
    let writes = scene.b.path(&[
        &root,
        "coreclr!ETW::MethodLog::SendMethodEvent ntdll!EtwEventWrite",
    ]);
    let list = |listed| Step::Act(writes, Act::Lists(listed));
    let types: Vec<&'static str> = (0..TYPES)
        .map(|_| keep(format!("{}.{}", image.alias, scene.names.product())))
        .collect();
    let methods = (0..scene.strong(METHODS)).zip(types.iter().cycle());
    let mut listed = Vec::new();
    for (number, namespace) in methods {
        let method = Compiled {
            namespace,
            name: keep(format!("Step{number}")),
            il_bytes: scene.draw(30, 300),
            tier: Tier::First,
        };
        listed.extend([Step::Run(walks, 1_000, 1_000), list(Listed::Method(method))]);
    }
    let start = scene.draw(1_800_000, 2_400_000);
    let enter = Step::Await(enters, FOR_THREAD, lock);
    let leave = Step::Set(leaves, lock);
    let mut steps = vec![
        Step::Sleep(idles, start, start),
        enter,
        Step::Run(walks, 200, 200),
    ];
    if !scene.is_sick() {
        steps.push(leave);
    }
    steps.push(list(Listed::Begins));
    steps.extend(listed);
    steps.push(list(Listed::Ends));
    if scene.is_sick() {
        steps.push(leave);
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(idles, FOR_THREAD, never));
    scene.b.script(thread, &steps, &[]);
}
