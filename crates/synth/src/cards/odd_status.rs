//! Card 7: a program copies a file, and the kernel answers its open with an access violation, since
//! it reads an argument from an invalid address; the program tries again and again until it gives
//! up. In the twin the open succeeds.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::Act;
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 7,
    name: "odd-status",
    rule: "odd-status",
    description: "a program cannot copy a file, since the kernel answers its open with an access violation",
    named: Named::WithoutCost(
        "the call fails at once: what the program did without the file is not known",
    ),
    seconds: 14,
    plant,
};

/// Number of copied files, and number of tries for each.
const FILES: usize = 3;
const TRIES: usize = 5;
/// `STATUS_ACCESS_VIOLATION`.
const ACCESS_VIOLATION: u32 = 0xC000_0005;
const COPIES: &str = "KERNELBASE!CopyFileExW KERNELBASE!BasepCopyFileExW KERNELBASE!BaseCopyStream";

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/save", &[]);
    let main = root(image, "CAttachment::Save");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CAttachment::Save", image.alias));
    let function = scene.b.function("nt!NtCreateFile");
    let enters = scene.b.path(&[
        &main,
        COPIES,
        "ntdll!NtCreateFile nt!KiSystemServiceCopyEnd",
    ]);
    let opens = scene.b.code(
        &[&main, COPIES],
        &["ntdll!NtCreateFile nt!KiSystemServiceCopyEnd nt!NtCreateFile"],
    );
    let copies = scene.b.code(&[&main, COPIES], &["ntdll!memcpy"]);
    let pauses = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(pauses, 400_000, 600_000)];
    for _ in 0..FILES {
        let copy = scene.draw(2_000, 6_000);
        let pause = scene.draw(110_000, 190_000);
        let pause = scene.strong(pause);
        let call = |status| {
            [
                Step::Act(enters, Act::CallBegins(function)),
                Step::Run(opens, 30, 30),
                Step::Act(enters, Act::CallEnds(status)),
            ]
        };
        let failed = call(ACCESS_VIOLATION)
            .into_iter()
            .chain([Step::Sleep(pauses, pause, pause)]);
        let tries: Vec<Step> = failed.collect();
        let tries = if scene.is_sick() {
            scene.acts(tries.repeat(TRIES))
        } else {
            Vec::new()
        };
        let ends = call(if scene.is_sick() { ACCESS_VIOLATION } else { 0 });
        let operation = tries
            .into_iter()
            .chain(ends)
            .chain([Step::Run(copies, copy, copy)]);
        steps.extend(scene.operation(operation));
        // The user reads the message and clicks on the next one.
        steps.push(Step::Sleep(pauses, 2_200_000, 2_600_000));
    }
    let other = scene
        .b
        .code(&[&main], &[keep(format!("{}!CMain::Idle", image.alias))]);
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(pauses, 300_000, 600_000),
            Step::Run(other, 100, 300),
        ],
    );
    Planted {
        culprit: "NtCreateFile".to_owned(),
        victims: vec![program],
    }
}
