//! Card 38: all threads of the pool of a .NET service wait for results that only another thread of
//! the pool can deliver. The runtime adds one thread each half second, until one is left for the
//! results. In the twin the requests await their results without a thread.

use super::jit_start;
use super::scene::{Image, Planted, Scene, keep};
use super::{Card, Named};
use crate::act::{Act, PoolAdjustment, PoolReason};
use crate::scenarios::dotnet::HOST;
use crate::scenarios::windows::{FOR_THREAD, SETS_EVENT, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Event, Program, Thread};

pub(super) const CARD: Card = Card {
    number: 38,
    name: "pool-starvation",
    rule: "pool-starvation",
    description: "a .NET service answers no request, since all threads of its pool wait for results",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Threads of the pool from the start.
const THREADS: u32 = 4;
/// Threads that the runtime adds, one after the other.
const ADDED: u32 = 8;
/// Time from one look of the runtime at its pool to the next one, in microseconds.
const LOOK_US: u32 = 500_000;
const WORKER: &str = "coreclr!ThreadNative::KickOffThread \
    CoreLib!System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart";
const DISPATCHES: &str = "CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch";
const BLOCKS: &str = "CoreLib!System.Threading.Tasks.Task.InternalWait \
    CoreLib!System.Threading.ManualResetEventSlim.Wait coreclr!ObjectNative::WaitTimeout";
const GATE: &str = "coreclr!ThreadNative::KickOffThread \
    CoreLib!System.Threading.PortableThreadPool.GateThread.GateThreadStart";

/// The service, and the events of its threads.
struct Service {
    image: Image,
    program: Program,
    /// Each signal is a request, its result, or its answer.
    requests: Event,
    results: Event,
    answers: Event,
    /// The pool has something to do.
    busy: Event,
    /// Requests: one for each thread of the pool but the last one.
    count: u32,
}

fn plant(scene: &mut Scene) -> Planted {
    let libraries = jit_start::runtime(scene);
    let image = scene.product();
    let added = scene.strong(ADDED).max(1);
    let service = Service {
        image,
        program: scene.service(image, "--serve", libraries),
        requests: scene.b.event(0),
        results: scene.b.event(0),
        answers: scene.b.event(0),
        busy: scene.b.event(0),
        count: THREADS + added - 1,
    };
    accepts(scene, &service);
    let handler = keep(format!("{0}!{0}.Orders.Load", image.alias));
    for _ in 0..THREADS {
        let thread = scene
            .b
            .thread(service.program, 8, "coreclr!ThreadNative::KickOffThread");
        works(scene, &service, (thread, handler), false);
    }
    // In the twin no thread is missing, so that none is added.
    let missing = if scene.is_sick() { added } else { 0 };
    let mut started = Vec::new();
    for number in 1..=missing {
        let thread = scene
            .b
            .thread(service.program, 8, "coreclr!ThreadNative::KickOffThread");
        scene.b.is_started(thread);
        works(scene, &service, (thread, handler), number == missing);
        started.push(thread);
    }
    looks(scene, &service, &started);
    Planted {
        culprit: format!("{}!{}.Orders.Load", image.name, image.alias),
        victims: vec![service.program],
    }
}

/// Adds the thread that accepts all requests at once, and waits until they are answered.
fn accepts(scene: &mut Scene, service: &Service) {
    let alias = service.image.alias;
    let main = keep(format!(
        "{USER} {HOST} {alias}!{alias}.Program.Main {alias}!{alias}.Server.Accept"
    ));
    let thread = scene
        .b
        .thread(service.program, 9, "coreclr!coreclr_execute_assembly");
    let sleeps = scene.b.waits(&[main, SLEEPS]);
    let posts = scene.b.path(&[main, SETS_EVENT]);
    let joins = scene.b.waits(&[main, WAIT_FOR_OBJECT]);
    let reads = scene
        .b
        .code(&[main], &[&format!("{alias}!{alias}.Request.Parse")]);
    let start = scene.draw(800_000, 1_200_000);
    let mut work = vec![Step::Set(posts, service.busy)];
    for _ in 0..service.count {
        work.push(Step::Set(posts, service.requests));
    }
    for _ in 0..service.count {
        work.push(Step::Await(joins, FOR_THREAD, service.answers));
    }
    let mut steps = vec![Step::Sleep(sleeps, start, start)];
    steps.extend(scene.operation(scene.acts(work)));
    scene.idles_after(thread, &steps, (sleeps, reads));
}

/// Sets the work of a thread of the pool: it handles requests. The one that is added last first
/// delivers the results of the others.
fn works(scene: &mut Scene, service: &Service, (thread, handler): (Thread, &str), delivers: bool) {
    let alias = service.image.alias;
    let idle = "CoreLib!System.Threading.LowLevelLifoSemaphore.WaitForSignal";
    let idles = scene.b.waits(&[USER, WORKER, idle, WAIT_FOR_OBJECT]);
    let blocks = scene
        .b
        .waits(&[USER, WORKER, DISPATCHES, handler, BLOCKS, WAIT_FOR_OBJECT]);
    let answers = scene
        .b
        .path(&[USER, WORKER, DISPATCHES, handler, SETS_EVENT]);
    let handles = scene.b.code(
        &[USER, WORKER, DISPATCHES, handler],
        &[
            &format!("{alias}!{alias}.Order.Read"),
            "CoreLib!System.String.Substring",
        ],
    );
    let completes = "CoreLib!System.Threading.Tasks.Task.RunContinuations";
    let delivery = scene
        .b
        .path(&[USER, WORKER, DISPATCHES, completes, SETS_EVENT]);
    let continues = scene.b.code(
        &[USER, WORKER, DISPATCHES],
        &[&format!("{completes} {alias}!{alias}.Query.Complete")],
    );
    let mut once = Vec::new();
    if delivers {
        once.push(Step::Run(continues, 600, 600));
        for _ in 0..service.count {
            once.push(Step::Set(delivery, service.results));
        }
    }
    let mut request = vec![
        Step::Await(idles, FOR_THREAD, service.requests),
        Step::Run(handles, 600, 600),
    ];
    if scene.is_sick() {
        request.push(Step::Await(blocks, FOR_THREAD, service.results));
    }
    request.extend([
        Step::Run(handles, 200, 200),
        Step::Set(answers, service.answers),
    ]);
    scene.b.script(thread, &once, &request);
}

/// Adds the thread of the runtime that looks after the pool. It starts these threads, one at each
/// look.
fn looks(scene: &mut Scene, service: &Service, added: &[Thread]) {
    let thread = scene
        .b
        .thread(service.program, 8, "coreclr!ThreadNative::KickOffThread");
    let idles = scene.b.waits(&[USER, GATE, WAIT_FOR_OBJECT]);
    let sleeps = scene.b.waits(&[USER, GATE, SLEEPS]);
    let adjusts = scene.b.path(&[
        USER,
        GATE,
        "CoreLib!System.Threading.NativeRuntimeEventSource.ThreadPoolWorkerThreadAdjustmentAdjustment",
    ]);
    let starts = scene.b.path(&[
        USER,
        GATE,
        "coreclr!ThreadNative::Start ntdll!NtCreateThreadEx nt!KiSystemServiceCopyEnd \
         nt!NtCreateThreadEx nt!PspInsertThread nt!KeReadyThread",
    ]);
    let mut steps = vec![Step::Await(idles, FOR_THREAD, service.busy)];
    for (worker, workers) in added.iter().zip(THREADS + 1..) {
        let adjustment = PoolAdjustment {
            workers,
            reason: PoolReason::Starvation,
        };
        steps.extend([
            Step::Sleep(sleeps, LOOK_US, LOOK_US),
            Step::Act(adjusts, Act::AdjustsPool(adjustment)),
            Step::Start(starts, *worker),
        ]);
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(idles, FOR_THREAD, never));
    scene.b.script(thread, &steps, &[]);
}
