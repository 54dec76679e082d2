//! Card 45: a program that keeps another one running starts it, and it crashes, many times until it
//! comes up. In the twin it comes up at the first start.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::plan::reason;
use crate::scenarios::windows::{SETS_EVENT, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 45,
    name: "start-loop",
    rule: "start-loop",
    description: "a program crashes when it starts, and another one starts it again and again",
    named: Named::WithCost,
    seconds: 16,
    plant,
};

/// Starts that fail.
const FAILURES: u32 = 20;
/// Exit code of a process that crashed: an access violation.
const CRASHED: u32 = 0xC000_0005;
pub(super) const CREATES: &str = "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW \
    ntdll!NtCreateUserProcess nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess nt!PspInsertThread nt!KeReadyThread";
pub(super) const EXITS: &str = "ntdll!RtlExitUserProcess ntdll!NtTerminateProcess \
    nt!KiSystemServiceCopyEnd nt!NtTerminateProcess";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (keeper, agent) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(keeper, "/watch", &[]);
    let main = root(keeper, "CKeeper::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CKeeper::Run", keeper.alias));
    let ended = scene.b.event(0);
    let starts = scene.b.path(&[&main, CREATES]);
    let waits = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let own = scene.b.code(
        &[&main],
        &[
            &format!("{}!CKeeper::Next", keeper.alias),
            "ntdll!RtlAllocateHeap",
        ],
    );
    let agent_main = format!("{}!main", agent.alias);
    let frames = [USER, agent_main.as_str()];
    let begins = scene.b.code(
        &frames,
        &[&format!("{}!ReadSettings", agent.alias), "ntdll!memcpy"],
    );
    let idles = scene.b.waits(&[USER, &agent_main, SLEEPS]);
    let sets = scene.b.path(&[USER, &agent_main, SETS_EVENT]);
    let exits = scene.b.path(&[USER, &agent_main, EXITS]);
    let comes_up = scene.draw(120_000, 180_000);
    let failures = if scene.is_sick() {
        scene.strong(FAILURES)
    } else {
        0
    };
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for _ in 0..failures {
        let (child, first) = scene.child(agent, program, "/agent", &[]);
        let fails = scene.draw(120_000, 180_000);
        let life = [
            Step::Run(begins, fails, fails),
            Step::Set(sets, ended),
            Step::Act(exits, Act::Terminates(child, CRASHED)),
        ];
        scene.b.script(first, &life, &[]);
        let start = scene.acts([
            Step::Run(own, 300, 600),
            Step::Start(starts, first),
            Step::Await(waits, reason::USER_REQUEST, ended),
        ]);
        steps.extend(scene.operation(start));
        let rest = scene.draw(90_000, 150_000);
        steps.push(Step::Sleep(sleeps, rest, rest));
    }
    let (_, first) = scene.child(agent, program, "/agent", &[]);
    let life = [
        Step::Run(begins, comes_up, comes_up),
        Step::Set(sets, ended),
    ];
    scene.idles_after(first, &life, (idles, begins));
    steps.extend(scene.operation([
        Step::Run(own, 300, 600),
        Step::Start(starts, first),
        Step::Await(waits, reason::USER_REQUEST, ended),
    ]));
    scene.idles_after(thread, &steps, (sleeps, own));
    Planted {
        culprit: agent.name.to_owned(),
        victims: vec![program],
    }
}
