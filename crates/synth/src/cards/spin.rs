//! Card 10: a program has nothing to do most of the time, but its OpenMP threads keep their
//! processors while they wait for the next parallel region. Another program computes and is
//! scheduled too late. In the twin the threads sleep between regions.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::plan::Maker;
use crate::scenarios::windows::{SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 10,
    name: "spin",
    rule: "spin",
    description: "OpenMP threads that wait keep all processors busy, and another program gets its turn late",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

static INTEL: Maker = Maker {
    company: "Intel Corporation",
    product: "Intel(R) OpenMP* Runtime Library",
    version: "5.0.20180731.0",
    sources: r"D:\src\openmp\",
};
/// Threads of the pool: two for each of four processors.
const WORKERS: usize = 8;
/// Both programs run below normal priority, as background work does, so that no other program
/// suffers.
const PRIORITY: u8 = 6;
/// Pieces of work of the victim.
const PIECES: usize = 14;

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let spinner = scene.executable(maker);
    let runtime = scene.redistributed(&INTEL, "libiomp5md");
    let culprit = scene.process(spinner, "/solve", &[runtime.name]);
    let alias = runtime.alias;
    let worker = format!(
        "{USER} {alias}!__kmp_launch_worker {alias}!__kmp_launch_thread {alias}!__kmp_fork_barrier"
    );
    let useful = format!("{USER} {alias}!__kmp_launch_worker {alias}!__kmp_invoke_task_func");
    let waits = format!("{alias}!__kmp_hyper_barrier_release");
    let solve = scene
        .b
        .code(&[&useful], &[&format!("{}!CSolver::Step", spinner.alias)]);
    let spins = scene.b.code(
        &[&worker, &waits],
        &[
            &format!("{alias}!__kmp_wait_template"),
            &format!("{alias}!__kmp_wait_template {alias}!__kmp_x86_pause"),
            &format!(
                "{alias}!__kmp_wait_template {alias}!__kmp_yield KERNELBASE!SwitchToThread \
                ntdll!NtYieldExecution nt!KiSystemServiceCopyEnd nt!NtYieldExecution"
            ),
        ],
    );
    let suspends = scene.b.waits(&[
        &worker,
        &waits,
        &format!("{alias}!__kmp_suspend_64"),
        WAIT_FOR_OBJECT,
    ]);
    for _ in 0..WORKERS {
        let thread = scene
            .b
            .thread(culprit, PRIORITY, &format!("{alias}!__kmp_launch_worker"));
        let spin = scene.strong(110_000);
        let own = scene.draw(100, 300);
        let mut steps = vec![Step::Run(solve, own, own)];
        if scene.is_sick() {
            // Spinning uses the processor like computing: only the stack shows that no useful work
            // is done.
            steps.push(Step::Run(spins, spin, spin));
        }
        steps.push(Step::Sleep(suspends, 60_000, 90_000));
        scene.b.script(thread, &[], &steps);
    }
    let image = scene.product();
    let program = scene.process(image, "/report", &[]);
    let main = root(image, "CReport::Run");
    let thread = scene
        .b
        .thread(program, PRIORITY, &format!("{}!CReport::Run", image.alias));
    let counts = scene.b.code(
        &[&main],
        &[&format!("{}!CReport::Sum", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = vec![Step::Sleep(sleeps, 350_000, 350_000)];
    for _ in 0..PIECES {
        let piece = scene.draw(90_000, 140_000);
        work.push(Step::Run(counts, piece, piece));
    }
    let steps = scene.operation(scene.acts_on_ready(work));
    scene.b.script(thread, &steps, &[]);
    let culprit = format!("{} ({})", spinner.name, scene.b.pid(culprit));
    Planted {
        culprit,
        victims: vec![program],
    }
}
