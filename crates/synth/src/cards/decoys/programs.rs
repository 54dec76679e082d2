//! Programs that compute, collect garbage, start others and sleep like ordinary programs.

use crate::act::{Act, CollectionStep, PoolAdjustment, PoolReason};
use crate::cards::jit_start;
use crate::cards::scene::{Image, Scene, keep, root};
use crate::cards::start_loop::{CREATES, EXITS};
use crate::plan::reason;
use crate::scenarios::dotnet::{CORE_LIB, CORECLR, HOST};
use crate::scenarios::windows::{FOR_THREAD, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Program, Thread};

/// Adds a program that computes freely on an idle machine.
pub(super) fn busy(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "", &[]);
    let main = root(image, "CWork::Run");
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CWork::Run", image.alias));
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CWork::Step", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    scene.b.script(
        thread,
        &[],
        &[
            Step::Run(code, 20_000, 90_000),
            Step::Sleep(sleeps, 40_000, 90_000),
        ],
    );
}

/// Adds a window that is busy for 60 ms with a message now and then, which no user notices.
pub(super) fn window(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "", &["user32.dll"]);
    let main = root(image, "wWinMain");
    let gets =
        "user32!GetMessageW win32kfull!NtUserGetMessage win32kfull!xxxRealInternalGetMessage";
    let waits = scene.b.waits(&[&main, gets]);
    let handles = format!("user32!DispatchMessageW {}!CFrame::WndProc", image.alias);
    let paints = scene.b.code(
        &[&main, &handles],
        &[&format!("{}!CFrame::OnPaint", image.alias), "ntdll!memcpy"],
    );
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!wWinMain", image.alias));
    scene.b.script(
        thread,
        &[],
        &[
            Step::Sleep(waits, 400_000, 900_000),
            Step::Run(paints, 55_000, 65_000),
        ],
    );
}

/// Adds a .NET service that collects generation 0 and 1 now and then, each within a millisecond or
/// two.
pub(super) fn collector(scene: &mut Scene) {
    for image in [CORECLR, CORE_LIB] {
        if scene.b.image(image.name).is_none() {
            scene.b.add_image(image);
        }
    }
    let image = scene.product();
    let program = scene.service(image, "--run", &[CORECLR.name, CORE_LIB.name]);
    let main = keep(format!("{USER} {HOST} {}!Program.Main", image.alias));
    let thread = scene
        .b
        .thread(program, 8, "coreclr!coreclr_execute_assembly");
    let waits = scene.b.waits(&[main, SLEEPS]);
    let works = scene.b.code(
        &[main],
        &[
            &format!("{}!Cache.Trim", image.alias),
            "CoreLib!System.Collections.Generic.Dictionary`2.FindValue",
        ],
    );
    let collects = [
        main,
        "coreclr!WKS::gc_heap::try_allocate_more_space coreclr!WKS::GCHeap::GarbageCollectGeneration",
    ];
    let suspends = scene
        .b
        .path(&[collects[0], collects[1], "coreclr!ThreadSuspend::SuspendEE"]);
    let marks = scene.b.code(
        &collects,
        &[
            "coreclr!WKS::gc_heap::mark_phase",
            "coreclr!WKS::gc_heap::plan_phase",
        ],
    );
    let collect = |step| Step::Act(suspends, Act::Collects(step));
    let mut steps = Vec::new();
    for generation in [0, 0, 1] {
        steps.extend([
            Step::Sleep(waits, 500_000, 900_000),
            Step::Run(works, 3_000, 6_000),
            collect(CollectionStep::SuspendBegins(1)),
            Step::Run(marks, 10, 60),
            collect(CollectionStep::SuspendEnds),
            collect(CollectionStep::Begins(generation, false)),
            Step::Run(marks, 400, 1_600),
            collect(CollectionStep::Ends(false)),
            collect(CollectionStep::RestartBegins),
            Step::Run(marks, 2, 20),
            collect(CollectionStep::RestartEnds),
        ]);
    }
    scene.b.script(thread, &[], &steps);
}

/// Adds a service that checks for work each second, and waits in between.
pub(super) fn waker(scene: &mut Scene) {
    let program = scene.windows_service("LocalService", &["rpcrt4.dll"]);
    let timer = [
        USER,
        "ntdll!TppWorkerThread",
        "rpcrt4!PerformGarbageCollection",
    ];
    let sleeps = scene.b.waits(&[timer[0], timer[1], timer[2], SLEEPS]);
    let code = scene.b.code(&timer, &["ntdll!RtlAllocateHeap"]);
    let thread = scene.b.thread(program, 8, "ntdll!TppWorkerThread");
    scene.b.script(
        thread,
        &[],
        &[
            Step::Sleep(sleeps, 1_000_000, 1_000_000),
            Step::Run(code, 40, 120),
        ],
    );
    let takes = "ntdll!NtWaitForWorkViaWorkerFactory nt!KiSystemServiceCopyEnd nt!NtWaitForWorkViaWorkerFactory";
    let waits = scene.b.waits(&[
        timer[0],
        timer[1],
        takes,
        "nt!IoRemoveIoCompletion nt!KeRemoveQueueEx",
    ]);
    let never = scene.b.event(0);
    let thread = scene.b.thread(program, 8, "ntdll!TppWorkerThread");
    scene
        .b
        .script(thread, &[Step::Await(waits, reason::WR_QUEUE, never)], &[]);
}

/// Adds a .NET service that collects generation 2 in the background: its threads stop for a moment
/// only.
pub(super) fn background_collector(scene: &mut Scene) {
    let libraries = jit_start::runtime(scene);
    let image = scene.product();
    let program = scene.service(image, "--cache", libraries);
    let started = scene.b.event(0);
    let main = keep(format!("{USER} {HOST} {0}!{0}.Program.Main", image.alias));
    let waits = scene.b.waits(&[main, SLEEPS]);
    let collects = "coreclr!WKS::gc_heap::try_allocate_more_space coreclr!WKS::GCHeap::GarbageCollectGeneration";
    let suspends = scene
        .b
        .path(&[main, collects, "coreclr!ThreadSuspend::SuspendEE"]);
    let marks = scene
        .b
        .code(&[main, collects], &["coreclr!WKS::gc_heap::mark_phase"]);
    let collect = |step| Step::Act(suspends, Act::Collects(step));
    let thread = scene
        .b
        .thread(program, 8, "coreclr!coreclr_execute_assembly");
    let steps = [
        Step::Sleep(waits, 1_600_000, 2_200_000),
        collect(CollectionStep::SuspendBegins(6)),
        Step::Run(marks, 10, 60),
        collect(CollectionStep::SuspendEnds),
        collect(CollectionStep::Begins(2, true)),
        Step::Run(marks, 100, 400),
        collect(CollectionStep::RestartBegins),
        Step::Run(marks, 2, 20),
        collect(CollectionStep::RestartEnds),
        Step::Set(suspends, started),
    ];
    scene.b.script(thread, &[], &steps);
    let background = "coreclr!WKS::gc_heap::bgc_thread_function";
    let idles = scene.b.waits(&[USER, background, WAIT_FOR_OBJECT]);
    let ends = scene
        .b
        .path(&[USER, background, "coreclr!WKS::gc_heap::gc1"]);
    let marks = scene.b.code(
        &[USER, background],
        &["coreclr!WKS::gc_heap::background_mark_phase"],
    );
    let thread = scene.b.thread(program, 8, background);
    let steps = [
        Step::Await(idles, FOR_THREAD, started),
        Step::Run(marks, 60_000, 100_000),
        Step::Act(ends, Act::Collects(CollectionStep::Ends(true))),
    ];
    scene.b.script(thread, &[], &steps);
}

/// Adds a .NET service whose pool lacks a thread once while it starts, and later looks for the best
/// number of threads.
pub(super) fn warming_pool(scene: &mut Scene) {
    let libraries = jit_start::runtime(scene);
    let image = scene.product();
    let program = scene.service(image, "--queue", libraries);
    let gate = "coreclr!ThreadNative::KickOffThread \
        CoreLib!System.Threading.PortableThreadPool.GateThread.GateThreadStart";
    let sleeps = scene.b.waits(&[USER, gate, SLEEPS]);
    let adjusts = scene.b.path(&[
        USER,
        gate,
        "CoreLib!System.Threading.NativeRuntimeEventSource.ThreadPoolWorkerThreadAdjustmentAdjustment",
    ]);
    let adjust = |workers, reason| {
        let adjustment = PoolAdjustment { workers, reason };
        Step::Act(adjusts, Act::AdjustsPool(adjustment))
    };
    let once = [
        Step::Sleep(sleeps, 700_000, 900_000),
        adjust(5, PoolReason::Starvation),
    ];
    let again = [
        Step::Sleep(sleeps, 900_000, 1_500_000),
        adjust(6, PoolReason::ClimbingMove),
        Step::Sleep(sleeps, 900_000, 1_500_000),
        adjust(5, PoolReason::ClimbingMove),
    ];
    let thread = scene
        .b
        .thread(program, 8, "coreclr!ThreadNative::KickOffThread");
    scene.b.script(thread, &once, &again);
}

/// Adds a build: compilers fail, each in a job of its own, and a program that always has the same job
/// succeeds.
pub(super) fn build(scene: &mut Scene) {
    /// Jobs of each program.
    const JOBS: usize = 16;
    const FAILED: u32 = 2;
    let maker = scene.maker();
    let (make, compiler, probe) = (
        scene.executable(maker),
        scene.executable(maker),
        scene.executable(maker),
    );
    let program = scene.process(make, "all", &[]);
    let main = root(make, "CMake::Run");
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CMake::Run", make.alias));
    let starts = scene.b.path(&[&main, CREATES]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let own = scene
        .b
        .code(&[&main], &[&format!("{}!CMake::Next", make.alias)]);
    let mut steps = vec![Step::Sleep(sleeps, 200_000, 400_000)];
    for number in 0..JOBS {
        let unit = format!("/c unit{number}.c");
        let jobs = [
            job(scene, (compiler, program), &unit, FAILED),
            job(scene, (probe, program), "--version", 0),
        ];
        for first in jobs {
            steps.extend([
                Step::Run(own, 300, 900),
                Step::Start(starts, first),
                Step::Sleep(sleeps, 120_000, 200_000),
            ]);
        }
    }
    scene.idles_after(thread, &steps, (sleeps, own));
}

/// Adds a process that works for a while and ends with this exit code; returns its first thread.
fn job(
    scene: &mut Scene,
    (image, parent): (Image, Program),
    arguments: &str,
    exit_code: u32,
) -> Thread {
    let (child, first) = scene.child(image, parent, arguments, &[]);
    let main = format!("{}!main", image.alias);
    let works = scene.b.code(&[USER, &main], &["ntdll!memcpy"]);
    let exits = scene.b.path(&[USER, &main, EXITS]);
    let work = scene.draw(40_000, 80_000);
    let steps = [
        Step::Run(works, work, work),
        Step::Act(exits, Act::Terminates(child, exit_code)),
    ];
    scene.b.script(first, &steps, &[]);
    first
}
