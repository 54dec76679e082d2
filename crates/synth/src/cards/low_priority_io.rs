//! Card 5: a service has the longest disk I/O of all, but only since its requests have low priority
//! and give way to other requests. In the twin its requests have normal priority and are served at
//! once.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{READS_FILE, SLEEPS, reading};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 5,
    name: "low-priority-io",
    rule: "low-priority-io",
    description: "a service has long disk I/O, which has low priority and delays no program",
    named: Named::WithoutCost("nothing is slow: the service is named whose I/O time looks bad"),
    seconds: 8,
    plant,
};

/// Transfers of the service.
const READS: u32 = 36;
const SERVICE: &str = "ntdll!RtlUserThreadStart kernel32!BaseThreadInitThunk ntdll!TppWorkerThread \
    wuaueng!CReportingScheduler::Run";

fn plant(scene: &mut Scene) -> Planted {
    let program = scene.windows_service("netsvcs", &["wuaueng.dll"]);
    let file = scene
        .b
        .file(r"Windows\SoftwareDistribution\DataStore\DataStore.edb");
    let reads = scene.b.waits(&[SERVICE, READS_FILE]);
    let code = scene
        .b
        .code(&[SERVICE], &["wuaueng!CDataStore::Next", "ntdll!memcpy"]);
    let sleeps = scene.b.waits(&[SERVICE, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 4, "wuaueng!CReportingScheduler::Run");
    if scene.is_sick() {
        scene.b.is_background(thread);
    }
    let (count, bytes) = (scene.strong(READS), 4_096 * scene.draw(2, 6));
    let read = scene.acts([Step::Read(
        reads,
        reading(file, count, bytes, (code, 200, 200)),
    )]);
    let steps = scene.operation(
        [Step::Sleep(sleeps, 300_000, 300_000)]
            .into_iter()
            .chain(read),
    );
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 600_000),
            Step::Run(code, 100, 300),
        ],
    );
    // Another program with more I/O in less time: volume alone must not make a suspect.
    builder(scene);
    let culprit = format!("svchost.exe ({})", scene.b.pid(program));
    Planted {
        culprit,
        victims: vec![program],
    }
}

/// Adds a program that reads far more in less time.
fn builder(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/build", &[]);
    let main = root(image, "CBuild::Run");
    let reads = scene.b.waits(&[&main, READS_FILE]);
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CParser::Parse", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CBuild::Run", image.alias));
    let file = scene
        .b
        .file(keep(format!(r"source\{}\main.cpp", image.alias)));
    let steps = [
        Step::Read(reads, reading(file, 6, 65_536, (code, 1_000, 3_000))),
        Step::Run(code, 10_000, 30_000),
        Step::Sleep(sleeps, 100_000, 200_000),
    ];
    scene.b.script(thread, &[], &steps);
}
