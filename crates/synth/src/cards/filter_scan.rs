//! Card 1: a program starts others, and each start waits until a filter driver of a virus scanner
//! has asked its service in user mode whether the image is harmless. In the twin the scanner knows
//! the images already and answers at once.

use super::scene::{Image, Planted, Scene, keep, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{READS_FILE, SLEEPS, USER, reading};
use crate::script::{Ask, Step};
use crate::table::{Port, Program};

pub(super) const CARD: Card = Card {
    number: 1,
    name: "filter-scan",
    rule: "filter-scan",
    description: "programs start slowly, since a filter driver asks a virus scanner about each image",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Programs that are started.
const STARTS: usize = 10;
pub(super) const CREATES: &str = "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
    nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess";
pub(super) const SECTION: &str = "nt!MmCreateSpecialImageSection nt!MiCreateSection nt!FsRtlAcquireFileExclusiveCommon \
    FLTMGR!FltpPreFsFilterOperation FLTMGR!FltpPerformPreCallbacksWorker";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (driver, engine) = (scene.driver(maker), scene.executable(maker));
    let port = scene.b.port();
    scanner(scene, engine, port, (90_000, 140_000));
    let asks = format!(
        "{SECTION} {}!AskScanner FLTMGR!FltSendMessage",
        driver.alias
    );
    let starting = Starting {
        class: "CBatch",
        count: STARTS,
        asks: &asks,
        port,
    };
    let program = starter(scene, &starting);
    Planted {
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}

/// Programs that a program starts, for each of which a driver asks its service.
pub(super) struct Starting<'s> {
    /// The class of the program that starts them.
    pub(super) class: &'s str,
    pub(super) count: usize,
    /// Functions between the creation of a process and the question of the driver.
    pub(super) asks: &'s str,
    /// The port of the service.
    pub(super) port: Port,
}

/// Adds the program that starts others. Returns it.
pub(super) fn starter(scene: &mut Scene, starting: &Starting<'_>) -> Program {
    let maker = scene.maker();
    let (starter, tool) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(starter, "/all", &[]);
    let class = starting.class;
    let main = root(starter, &format!("{class}::Run"));
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!{class}::Run", starter.alias));
    let file = scene.b.file(tool.path.trim_start_matches(r"C:\"));
    let asks = format!("{main} {CREATES} {}", starting.asks);
    let (sends, waits) = (scene.b.path(&[&asks]), scene.b.waits(&[&asks]));
    let begins = scene.b.code(
        &[&main, CREATES],
        &["nt!PspBuildCreateProcessContext", "nt!PspAllocateProcess"],
    );
    let inserts = scene
        .b
        .path(&[&main, CREATES, "nt!PspInsertThread nt!KeReadyThread"]);
    let own = scene.b.code(
        &[&main],
        &[
            &format!("{}!{class}::Next", starter.alias),
            "ntdll!RtlAllocateHeap",
        ],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 400_000, 600_000)];
    for number in 0..starting.count {
        let (_, child) = scene.child(tool, program, &format!("/step {number}"), &[]);
        let works = scene
            .b
            .code(&[USER, &format!("{}!main", tool.alias)], &["ntdll!memcpy"]);
        let work = scene.draw(4_000, 12_000);
        scene.b.script(child, &[Step::Run(works, work, work)], &[]);
        let before = scene.draw(800, 1_600);
        // The twin also asks and is answered at once: the driver is on the stack in both, and only
        // the length of the wait differs.
        let asks = scene.acts([Step::Ask(
            sends,
            Ask {
                port: starting.port,
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
    program
}

/// Adds the service: it scans the image for this long (us), or already knows it.
pub(super) fn scanner(scene: &mut Scene, engine: Image, port: Port, (low, high): (u32, u32)) {
    let program = scene.service(engine, "/service", &[]);
    let main = root(engine, "CPool::ThreadProc");
    let control = "ntdll!NtRemoveIoCompletion nt!KiSystemServiceCopyEnd nt!NtRemoveIoCompletion nt!KeRemoveQueueEx";
    let takes = scene.b.waits(&[&main, control]);
    let code = keep(format!("{}!CEngine::Scan", engine.alias));
    let scans = scene.b.code(
        &[&main, code],
        &[&format!("{}!CHash::Update", engine.alias), "ntdll!memcpy"],
    );
    let finds = scene
        .b
        .code(&[&main], &[&format!("{}!CCache::Find", engine.alias)]);
    let reply = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd nt!NtDeviceIoControlFile \
        FLTMGR!FltpDispatch FLTMGR!FltpMsgDispatch FLTMGR!FltpReplyMessage nt!KeSetEvent";
    let answers = scene.b.path(&[&main, reply]);
    let signatures = scene.b.file(keep(format!(
        r"ProgramData\{}\signatures.dat",
        engine.alias
    )));
    let reads = scene.b.waits(&[&main, code, READS_FILE]);
    let (low, high) = (scene.strong(low), scene.strong(high));
    let mut steps = vec![Step::Take(takes, port), Step::Run(finds, 60, 150)];
    if scene.is_sick() {
        steps.push(Step::ReadAsked(
            reads,
            reading(signatures, 3, 65_536, (scans, 800, 1_600)),
        ));
        steps.push(Step::Run(scans, low, high));
    }
    steps.push(Step::Answer(answers));
    for _ in 0..2 {
        let thread = scene
            .b
            .thread(program, 8, &format!("{}!CPool::ThreadProc", engine.alias));
        scene.b.script(thread, &[], &steps);
    }
}
