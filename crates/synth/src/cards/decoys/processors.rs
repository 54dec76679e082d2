//! Interrupts, compilation, locks and low priorities that nobody waits for.

use crate::act::{Act, Compiled, Tier};
use crate::cards::dpc_storm;
use crate::cards::jit_start::{self, Compiler, method};
use crate::cards::lock_convoy::Lock;
use crate::cards::scene::{Scene, keep, root};
use crate::plan::reason;
use crate::scenarios::dotnet::HOST;
use crate::scenarios::windows::{FOR_THREAD, SETS_EVENT, SLEEPS, SYSTEM, USER, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::Cpu;

/// Methods that the runtime compiles again.
const HOT_METHODS: usize = 9;

/// Adds a device with ten long DPCs in the whole trace, on a processor that is idle.
pub(super) fn device(scene: &mut Scene) {
    let maker = scene.maker();
    let driver = scene.driver(maker);
    let device = dpc_storm::device(scene, driver.alias, None, ((2_500, 3_500), (4_000, 5_000)));
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let resets = format!("{}!ResetDevice", driver.alias);
    let sleeps = scene
        .b
        .waits(&[begins, &resets, "nt!KeDelayExecutionThread"]);
    let controls = scene.b.path(&[begins, &resets]);
    let thread = scene.b.thread(SYSTEM, 12, "nt!ExpWorkerThread");
    let never = scene.b.event(0);
    let steps = [
        Step::Sleep(sleeps, 1_500_000, 2_500_000),
        Step::Act(controls, Act::DeviceOn(device)),
        Step::Sleep(sleeps, 70_000, 75_000),
        Step::Act(controls, Act::DeviceOff(device)),
        Step::Await(sleeps, reason::EXECUTIVE, never),
    ];
    scene.b.script(thread, &steps, &[]);
}

/// Adds a .NET service whose runtime compiles hot methods again on a thread of its own, while their
/// older code runs.
pub(super) fn compiler(scene: &mut Scene) {
    let libraries = jit_start::runtime(scene);
    let image = scene.product();
    let program = scene.service(image, "--listen", libraries);
    let main = keep(format!("{USER} {HOST} {0}!{0}.Program.Main", image.alias));
    let works = scene.b.code(
        &[main],
        &[
            &format!("{0}!{0}.Parser.Next", image.alias),
            "CoreLib!System.String.Substring",
        ],
    );
    let sleeps = scene.b.waits(&[main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, "coreclr!coreclr_execute_assembly");
    let steps = [
        Step::Sleep(sleeps, 20_000, 60_000),
        Step::Run(works, 1_000, 4_000),
    ];
    scene.b.script(thread, &[], &steps);
    let start = "coreclr!TieredCompilationManager::BackgroundWorkerStart";
    let compiler = Compiler::new(scene, &[USER, start, "coreclr!MethodDesc::JitCompileCode"]);
    let idles = scene.b.waits(&[USER, start, "coreclr!ClrSleepEx", SLEEPS]);
    let mut steps = vec![Step::Sleep(idles, 900_000, 1_400_000)];
    for _ in 0..HOT_METHODS {
        let method = method(scene, image.alias, "Next", (2_000, 9_000));
        let us = scene.draw(45_000, 90_000);
        let again = Compiled {
            tier: Tier::Again,
            ..method
        };
        steps.extend(compiler.compiles(again, us));
        steps.push(Step::Sleep(idles, 100_000, 110_000));
    }
    let thread = scene.b.thread(program, 8, start);
    scene.b.script(thread, &steps, &[]);
}

/// Adds a program whose threads take a lock some hundred times a second, and hardly ever wait for
/// it.
pub(super) fn locker(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/index", &[]);
    let lock = scene.b.event(1);
    let frames = Lock::any(scene);
    let main = root(image, "CIndex::ThreadProc");
    let add = keep(format!("{}!CIndex::Add", image.alias));
    let enters = scene.b.waits(&[&main, add, frames.enters]);
    let leaves = scene.b.path(&[&main, add, frames.leaves]);
    let adds = scene.b.code(&[&main, add], &["ntdll!RtlAllocateHeap"]);
    let reads = scene
        .b
        .code(&[&main], &[&format!("{}!CIndex::Split", image.alias)]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    for _ in 0..3 {
        let thread = scene
            .b
            .thread(program, 8, &format!("{}!CIndex::ThreadProc", image.alias));
        let steps = [
            Step::Sleep(sleeps, 6_000, 12_000),
            Step::Run(reads, 100, 300),
            Step::Await(enters, reason::WR_ALERT_BY_THREAD_ID, lock),
            Step::Run(adds, 40, 120),
            Step::Set(leaves, lock),
        ];
        scene.b.script(thread, &[], &steps);
    }
}

/// Adds a program that converts at low priority whenever a processor is free, and a thread of it
/// that has nothing to do until the next result comes.
pub(super) fn converter(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/idle", &[]);
    let results = scene.b.event(0);
    let main = root(image, "CConvert::Run");
    let works = scene.b.code(
        &[&main],
        &[&format!("{}!CConvert::Block", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let posts = scene.b.path(&[&main, SETS_EVENT]);
    let thread = scene
        .b
        .thread(program, 4, &format!("{}!CConvert::Run", image.alias));
    let steps = [
        Step::Sleep(sleeps, 60_000, 120_000),
        Step::Run(works, 20_000, 50_000),
        Step::Set(posts, results),
    ];
    scene.b.script(thread, &[], &steps);
    let main = root(image, "CStore::Run");
    let waits = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let stores = scene
        .b
        .code(&[&main], &[&format!("{}!CStore::Put", image.alias)]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CStore::Run", image.alias));
    let steps = [
        Step::Await(waits, FOR_THREAD, results),
        Step::Run(stores, 100, 400),
    ];
    scene.b.script(thread, &[], &steps);
}

/// Windows spares the last processor as long as the others suffice: threads still run on it.
pub(super) fn spared(scene: &mut Scene) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let checks = "nt!PpmCheckRun nt!PpmParkApplyPolicy";
    let waits = scene.b.waits(&[begins, "nt!KeRemovePriQueue"]);
    let parks = scene.b.path(&[begins, checks]);
    let last = Cpu(usize::from(scene.b.cpus()) - 1);
    let thread = scene.b.thread(SYSTEM, 15, "nt!ExpWorkerThread");
    let never = scene.b.event(0);
    let steps = [
        Step::Sleep(waits, 200_000, 400_000),
        Step::Act(parks, Act::ParksSoftly(last)),
        Step::Await(waits, reason::EXECUTIVE, never),
    ];
    scene.b.script(thread, &steps, &[]);
}
