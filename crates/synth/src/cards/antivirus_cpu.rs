//! Card 12: a program writes files, and at each close the filter driver of a virus scanner computes
//! in the thread of the program, while its service scans the same files on other processors. In the
//! twin the folder is excluded.

use super::scene::{Image, Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{SLEEPS, reading};
use crate::script::Step;
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 12,
    name: "antivirus-cpu",
    rule: "antivirus-cpu",
    description: "files are written slowly, since a filter driver of a virus scanner computes at each close",
    named: Named::WithCost,
    seconds: 10,
    plant,
};

/// Files that are written.
const FILES: usize = 180;
const CLOSES: &str = "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose \
    nt!IopCloseFile nt!IofCallDriver FLTMGR!FltpDispatch";
const WRITES: &str = "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (driver, engine) = (scene.driver(maker), scene.executable(maker));
    let port = scene.b.port();
    service(scene, engine, port);
    let image = scene.product();
    let program = scene.process(image, "/generate", &[]);
    let main = root(image, "CGenerator::Run");
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CGenerator::Run", image.alias));
    let formats = scene.b.code(
        &[&main],
        &[&format!("{}!CGenerator::Line", image.alias), "ntdll!memcpy"],
    );
    let copies = scene
        .b
        .code(&[&main, WRITES], &["Ntfs!NtfsCopyWriteA nt!CcCopyWriteEx"]);
    let written = scene.b.path(&[&main, WRITES]);
    let calls = format!(
        "{main} {CLOSES} FLTMGR!FltpPassThroughInternal FLTMGR!FltpPerformPreCallbacksWorker {}!PreCleanup",
        driver.alias
    );
    let looks = scene.b.code(
        &[&calls],
        &[
            &format!("{}!HashStream nt!memcpy", driver.alias),
            &format!("{}!HashStream", driver.alias),
        ],
    );
    let notifies = scene
        .b
        .path(&[&calls, &format!("{}!Queue nt!KeSetEvent", driver.alias)]);
    let closes = scene.b.code(
        &[&main, CLOSES],
        &["Ntfs!NtfsFsdCleanup Ntfs!NtfsCommonCleanup"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = Vec::new();
    for number in 0..FILES {
        // Drawn before the check for the defect, so that the twin does the same work.
        let own = scene.draw(2_400, 4_600);
        let file = scene
            .b
            .file(keep(format!(r"Data\{}\File_{number}.txt", image.alias)));
        work.extend([
            Step::Run(formats, own, own),
            Step::Write(written, reading(file, 3, 25_600, (copies, 80, 80))),
        ]);
        if scene.is_sick() {
            let cost = scene.strong(6_000);
            work.extend(scene.acts([
                Step::Run(looks, cost, cost),
                Step::Post(notifies, port, file),
            ]));
        }
        work.push(Step::Run(closes, 150, 150));
    }
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 400_000)];
    steps.extend(scene.operation(work));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(formats, 100, 200),
        ],
    );
    Planted {
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}

/// Adds the service: it scans files after they are closed, and other things now and then.
fn service(scene: &mut Scene, engine: Image, port: Port) {
    let program = scene.service(engine, "/service", &[]);
    let main = root(engine, "CPool::ThreadProc");
    let control = "ntdll!NtRemoveIoCompletion nt!KiSystemServiceCopyEnd nt!NtRemoveIoCompletion nt!KeRemoveQueueEx";
    let takes = scene.b.waits(&[&main, control]);
    let scans = scene.b.code(
        &[&main, &format!("{}!CEngine::Scan", engine.alias)],
        &["ntdll!memcpy", ""],
    );
    let answers = scene.b.path(&[&main, "nt!KeSetEvent"]);
    let steps = [
        Step::Take(takes, port),
        Step::Run(scans, 3_000, 6_000),
        Step::Answer(answers),
    ];
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CPool::ThreadProc", engine.alias));
    scene.b.script(thread, &[], &steps);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CTimer::ThreadProc", engine.alias));
    scene.b.script(
        thread,
        &[],
        &[
            Step::Sleep(sleeps, 200_000, 400_000),
            Step::Run(scans, 2_000, 5_000),
        ],
    );
}
