//! Card 19: a user starts a tool that was just downloaded, and the virus scanner scans it for a
//! second before it starts. The next start is immediate. In the twin the scanner knows the tool
//! from the beginning.

use super::filter_scan::{CREATES, SECTION, scanner};
use super::scene::{Planted, Scene, keep};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::{Ask, Step};

pub(super) const CARD: Card = Card {
    number: 19,
    name: "start-after-download",
    rule: "filter-scan",
    description: "a program starts slowly the first time, since a virus scanner looks into what was downloaded",
    named: Named::WithCost,
    seconds: 10,
    plant,
};

/// Time that the scanner scans a tool, in microseconds.
const SCAN: (u32, u32) = (900_000, 1_350_000);

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (driver, engine) = (scene.driver(maker), scene.executable(maker));
    let port = scene.b.port();
    scanner(scene, engine, port, SCAN);
    let tool = scene.product();
    // A shell of Windows: the victim gives no hint of the culprit.
    let program = scene.windows_program("cmd.exe");
    let main = format!("{USER} cmd!Dispatch cmd!ExecPgm");
    let file = scene
        .b
        .file(keep(format!(r"Users\me\Downloads\{}", tool.name)));
    let asks = format!(
        "{main} {CREATES} {SECTION} {}!OnCreateSection FLTMGR!FltSendMessage",
        driver.alias
    );
    let (sends, waits) = (scene.b.path(&[&asks]), scene.b.waits(&[&asks]));
    let begins = scene.b.code(
        &[&main, CREATES],
        &["nt!PspAllocateProcess", "nt!MiCreateImageFileMap"],
    );
    let inserts = scene
        .b
        .path(&[&main, CREATES, "nt!PspInsertThread nt!KeReadyThread"]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 700_000, 1_100_000)];
    for number in 0..4 {
        let (_, child) = scene.child(tool, program, &format!("/run {number}"), &[]);
        let works = scene
            .b
            .code(&[USER, &format!("{}!main", tool.alias)], &["ntdll!memcpy"]);
        let work = scene.draw(4_000, 12_000);
        scene.b.script(child, &[Step::Run(works, work, work)], &[]);
        let before = scene.draw(800, 1_600);
        let mut start = vec![Step::Run(begins, before, before)];
        if number == 0 {
            let asks = Step::Ask(
                sends,
                Ask {
                    port,
                    file,
                    waits,
                    reason: reason::EXECUTIVE,
                },
            );
            start.extend(scene.acts([asks]));
        }
        start.extend([Step::Run(begins, 400, 400), Step::Start(inserts, child)]);
        steps.extend(scene.operation(start));
        let between = scene.draw(300_000, 600_000);
        steps.push(Step::Sleep(sleeps, between, between));
    }
    let thread = scene.b.thread(program, 9, "cmd!main");
    scene
        .b
        .script(thread, &steps, &[Step::Sleep(sleeps, 300_000, 500_000)]);
    Planted {
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}
