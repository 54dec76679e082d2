//! Card 24: a program starts others and keeps a handle to each of them, so the kernel cannot free
//! the ones that have ended. In the twin it closes the handle when the other program has ended.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 24,
    name: "zombies",
    rule: "zombies",
    description: "a program keeps handles to processes that have ended, so that each of them stays in memory",
    named: Named::WithoutCost(
        "nothing is slow yet: each process that stays takes memory of the kernel",
    ),
    seconds: 12,
    plant,
};

/// Programs that are started.
const STARTS: u32 = 24;
const CREATES: &str = "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
    nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (starter, tool) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(starter, "/watch", &[]);
    let main = root(starter, "CJobs::Run");
    let opens = scene.b.path(&[&main, CREATES, "nt!ObOpenObjectByPointer"]);
    let inserts = scene
        .b
        .path(&[&main, CREATES, "nt!PspInsertThread nt!KeReadyThread"]);
    let closes = scene.b.path(&[
        &main,
        "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose",
    ]);
    let begins = scene.b.code(&[&main, CREATES], &["nt!PspAllocateProcess"]);
    let own = scene.b.code(
        &[&main],
        &[&format!("{}!CJobs::Next", starter.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for number in 0..scene.strong(STARTS) {
        let (child_program, child) = scene.child(tool, program, &format!("/job {number}"), &[]);
        let works = scene
            .b
            .code(&[USER, &format!("{}!main", tool.alias)], &["ntdll!memcpy"]);
        let work = scene.draw(2_000, 6_000);
        scene.b.script(child, &[Step::Run(works, work, work)], &[]);
        steps.extend(scene.acts([
            Step::Run(begins, 800, 1_600),
            Step::Start(inserts, child),
            Step::Act(opens, Act::HandleOpensProcess(child_program)),
        ]));
        steps.push(Step::Sleep(sleeps, 90_000, 130_000));
        // The twin closes the handle after the end of the child, which releases its process object.
        if !scene.is_sick() {
            steps.push(Step::Act(closes, Act::HandleCloses));
        }
        steps.push(Step::Run(own, 300, 900));
    }
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CJobs::Run", starter.alias));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(own, 100, 200),
        ],
    );
    let culprit = format!("{} ({})", starter.name, scene.b.pid(program));
    Planted {
        culprit,
        victims: vec![program],
    }
}
