//! Card 3: each start of a program takes long, since the kernel computes the table of functions of
//! its executable that may be called through pointers. In the twin the executable has no such
//! table.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 3,
    name: "cfg-start",
    rule: "cfg-start",
    description: "a program starts slowly, since the kernel prepares Control Flow Guard for its functions",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Programs that are started.
const STARTS: usize = 16;
const CREATES: &str = "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
    nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess";
const GUARD: &str = "nt!PspAllocateProcess nt!MmInitializeProcessAddressSpace nt!MiMapProcessExecutable \
    nt!MiMapViewOfImageSection nt!MiRelocateImageCfg nt!MiPopulateCfgBitMap";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (starter, tests) = (scene.executable(maker), scene.executable(maker));
    let helper = scene.product();
    let program = scene.process(starter, "/all", &[]);
    let main = root(starter, "CRunner::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CRunner::Run", starter.alias));
    let begins = scene.b.code(
        &[&main, CREATES],
        &["nt!PspBuildCreateProcessContext", "nt!PspAllocateProcess"],
    );
    let guards = scene.b.code(
        &[&main, CREATES, GUARD],
        &["nt!MiMarkCfgBits", "nt!MiMarkCfgBits nt!RtlSetBits"],
    );
    let inserts = scene
        .b
        .path(&[&main, CREATES, "nt!PspInsertThread nt!KeReadyThread"]);
    let own = scene.b.code(
        &[&main],
        &[
            &format!("{}!CRunner::Next", starter.alias),
            "ntdll!RtlAllocateHeap",
        ],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for number in 0..STARTS {
        // Each fourth start is a small program, which is always fast.
        let is_small = number % 4 == 3;
        let image = if is_small { helper } else { tests };
        let (_, child) = scene.child(image, program, &format!("--group={number}"), &[]);
        let works = scene
            .b
            .code(&[USER, &format!("{}!main", image.alias)], &["ntdll!memcpy"]);
        let (work, before) = (scene.draw(4_000, 20_000), scene.draw(700, 1_400));
        scene.b.script(child, &[Step::Run(works, work, work)], &[]);
        let cost = if scene.is_sick() && !is_small {
            scene.strong(90_000)
        } else {
            120
        };
        let guard = [Step::Run(guards, cost, cost)];
        let guard = if is_small {
            guard.to_vec()
        } else {
            scene.acts(guard)
        };
        let begun = std::iter::once(Step::Run(begins, before, before)).chain(guard);
        let rest = [Step::Run(begins, 300, 300), Step::Start(inserts, child)];
        steps.extend(scene.operation(begun.chain(rest)));
        let between = scene.draw(60_000, 160_000);
        steps.extend([
            Step::Run(own, 300, 900),
            Step::Sleep(sleeps, between, between),
        ]);
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(own, 100, 200),
        ],
    );
    Planted {
        culprit: tests.name.to_owned(),
        victims: vec![program],
    }
}
