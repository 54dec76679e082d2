//! Card 40: a program starts others, and Windows asks the driver of a security product about each new
//! process, which asks its service. In the twin the service knows the programs already and answers
//! at once.

use super::filter_scan::CREATES;
use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::{Ask, Step};
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 40,
    name: "driver-callback",
    rule: "driver-callback",
    description: "programs start slowly, since Windows asks a driver about each new process",
    named: Named::WithCost,
    seconds: 10,
    plant,
};

/// Programs that are started.
const STARTS: usize = 12;
/// Time that the service looks into a program, in microseconds.
const LOOK_US: (u32, u32) = (70_000, 120_000);
const INSERTS: &str = "nt!PspInsertThread";
const NOTIFIES: &str = "nt!PspCallProcessNotifyRoutines";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (driver, engine) = (scene.driver(maker), scene.executable(maker));
    let port = scene.b.port();
    service(scene, (driver, engine), port);
    let maker = scene.maker();
    let (starter, tool) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(starter, "/all", &[]);
    let main = root(starter, "CBuild::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CBuild::Run", starter.alias));
    let file = scene.b.file(tool.path.trim_start_matches(r"C:\"));
    let asks = format!(
        "{main} {CREATES} {INSERTS} {NOTIFIES} {}!OnProcess",
        driver.alias
    );
    let (sends, waits) = (scene.b.path(&[&asks]), scene.b.waits(&[&asks]));
    let begins = scene.b.code(
        &[&main, CREATES],
        &["nt!PspBuildCreateProcessContext", "nt!PspAllocateProcess"],
    );
    let inserts = scene.b.path(&[&main, CREATES, INSERTS, "nt!KeReadyThread"]);
    let own = scene.b.code(
        &[&main],
        &[
            &format!("{}!CBuild::Next", starter.alias),
            "ntdll!RtlAllocateHeap",
        ],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 400_000, 600_000)];
    for number in 0..STARTS {
        let (_, child) = scene.child(tool, program, &format!("/step {number}"), &[]);
        let works = scene
            .b
            .code(&[USER, &format!("{}!main", tool.alias)], &["ntdll!memcpy"]);
        let work = scene.draw(4_000, 12_000);
        scene.b.script(child, &[Step::Run(works, work, work)], &[]);
        let before = scene.draw(800, 1_600);
        let asks = scene.acts([Step::Ask(
            sends,
            Ask {
                port,
                file,
                waits,
                reason: reason::EXECUTIVE,
            },
        )]);
        let begun = std::iter::once(Step::Run(begins, before, before)).chain(asks);
        let rest = [Step::Run(begins, 400, 400), Step::Start(inserts, child)];
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
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}

/// Adds the service of the product, which takes questions of its driver.
fn service(scene: &mut Scene, (driver, engine): (Image, Image), port: Port) {
    let program = scene.service(engine, "/service", &[]);
    let main = root(engine, "CGuard::ThreadProc");
    let control = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd nt!NtDeviceIoControlFile nt!IofCallDriver";
    let takes = format!("{main} {control} {}!WaitForQuestion", driver.alias);
    let takes = scene.b.waits(&[&takes]);
    let answers = format!("{main} {control} {}!TakeAnswer nt!KeSetEvent", driver.alias);
    let answers = scene.b.path(&[&answers]);
    let finds = scene
        .b
        .code(&[&main], &[&format!("{}!CCache::Find", engine.alias)]);
    let looks = scene.b.code(
        &[&main],
        &[&format!("{}!CPolicy::Check", engine.alias), "ntdll!memcpy"],
    );
    let (low, high) = (scene.strong(LOOK_US.0), scene.strong(LOOK_US.1));
    let mut steps = vec![Step::Take(takes, port), Step::Run(finds, 60, 150)];
    if scene.is_sick() {
        steps.push(Step::Run(looks, low, high));
    }
    steps.push(Step::Answer(answers));
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CGuard::ThreadProc", engine.alias));
    scene.b.script(thread, &[], &steps);
}
