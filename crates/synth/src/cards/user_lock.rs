//! Card 2: a window hangs again and again while many short programs end, each of which holds the
//! lock of the window manager while its GDI objects are searched. In the twin this takes a moment.

use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::Step;
use crate::table::{Event, Thread};

pub(super) const CARD: Card = Card {
    number: 2,
    name: "user-lock",
    rule: "user-lock",
    description: "windows hang while many programs end, each of which holds the lock of the window manager",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Batches of programs, and programs of each.
const BATCHES: usize = 7;
const PROGRAMS: usize = 10;
/// Mouse movements that the window has to follow.
const MOVES: usize = 110;
/// Libraries that give a program GDI objects, even without a window.
const GUI: [&str; 3] = ["gdi32.dll", "user32.dll", "shell32.dll"];
const EXITS: &str = "ntdll!RtlExitUserProcess ntdll!NtTerminateProcess nt!KiSystemServiceCopyEnd \
    nt!NtTerminateProcess nt!PspTerminateProcess nt!PspExitThread nt!PspExitProcess \
    win32kbase!W32pProcessCallout win32kbase!UserProcessCallout";
const MOVE: &str = "user32!DispatchMessageW user32!SetWindowPos nt!KiSystemServiceCopyEnd \
    win32kfull!NtUserSetWindowPos";

fn plant(scene: &mut Scene) -> Planted {
    // Also mapped in the twin, where no thread waits in it: images must not give the card away.
    scene.windows("win32kbase.sys");
    scene.windows("gdi32.dll");
    let lock = scene.b.event(1);
    let maker = scene.maker();
    let (driver, tool) = (scene.executable(maker), scene.executable(maker));
    storm(scene, driver, tool, lock);
    let image = scene.product();
    let program = scene.process(image, "", &GUI);
    let main = root(image, "CMainWindow::Run");
    let thread = scene
        .b
        .thread(program, 10, &format!("{}!CMainWindow::Run", image.alias));
    let enters = "win32kbase!EnterCrit nt!ExEnterCriticalRegionAndAcquireResourceExclusive \
        nt!ExpAcquireResourceExclusiveLite nt!ExpWaitForResource";
    let waits = scene.b.waits(&[&main, MOVE, enters]);
    let leaves = scene.b.path(&[
        &main,
        MOVE,
        "win32kbase!UserSessionSwitchLeaveCrit nt!ExReleaseResourceLite",
    ]);
    let moves = scene.b.code(
        &[&main, MOVE],
        &[
            "win32kfull!xxxSetWindowPos",
            "win32kfull!zzzLockDisplayArea",
        ],
    );
    let draws = scene.b.code(
        &[&main],
        &[&format!("{}!CMainWindow::OnMouseMove", image.alias)],
    );
    let rests = scene
        .b
        .waits(&[&main, "user32!GetMessageW win32kfull!NtUserGetMessage"]);
    let mut work = Vec::new();
    for _ in 0..MOVES {
        let (own, rest) = (scene.draw(900, 2_600), scene.draw(9_000, 22_000));
        work.push(Step::Sleep(rests, rest, rest));
        work.extend(scene.acts([Step::Await(waits, reason::WR_RESOURCE, lock)]));
        work.extend([
            Step::Run(moves, 180, 180),
            Step::Set(leaves, lock),
            Step::Run(draws, own, own),
        ]);
    }
    let mut steps = vec![Step::Sleep(rests, 300_000, 350_000)];
    steps.extend(scene.operation(work));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(rests, 300_000, 500_000),
            Step::Run(draws, 100, 200),
        ],
    );
    Planted {
        culprit: tool.name.to_owned(),
        victims: vec![program],
    }
}

/// Starts programs, several at once, as a build does.
fn storm(scene: &mut Scene, driver: Image, tool: Image, lock: Event) {
    let program = scene.process(driver, "-j 10", &[]);
    let main = root(driver, "CBuild::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CBuild::Run", driver.alias));
    let starts = scene.b.path(&[
        &main,
        "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
         nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess nt!PspInsertThread nt!KeReadyThread",
    ]);
    let plans = scene
        .b
        .code(&[&main], &[&format!("{}!CBuild::Next", driver.alias)]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 200_000, 300_000)];
    for batch in 0..BATCHES {
        for number in 0..PROGRAMS {
            let line = format!("/unit {batch}{number}");
            let (_, child) = scene.child(tool, program, &line, &GUI);
            compiles(scene, tool, child, lock);
            steps.extend([Step::Run(plans, 300, 700), Step::Start(starts, child)]);
        }
        steps.push(Step::Sleep(sleeps, 450_000, 550_000));
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(plans, 100, 200),
        ],
    );
}

/// Works for a moment and ends.
fn compiles(scene: &mut Scene, tool: Image, thread: Thread, lock: Event) {
    let main = format!("{USER} {}!main", tool.alias);
    let works = scene.b.code(
        &[&main],
        &[&format!("{}!CUnit::Compile", tool.alias), "ntdll!memcpy"],
    );
    let enters = "win32kbase!EnterCrit nt!ExEnterCriticalRegionAndAcquireResourceExclusive \
        nt!ExpAcquireResourceExclusiveLite nt!ExpWaitForResource";
    let waits = scene.b.waits(&[&main, EXITS, enters]);
    let looks = scene.b.code(
        &[&main, EXITS, "win32kbase!NtGdiCloseProcess"],
        &[
            "win32kbase!HmgNextOwned",
            "win32kbase!vCleanupSurfaces win32kbase!HmgSafeNextObjt",
        ],
    );
    let leaves = scene.b.path(&[
        &main,
        EXITS,
        "win32kbase!UserSessionSwitchLeaveCrit nt!ExReleaseResourceLite",
    ]);
    let work = scene.draw(6_000, 30_000);
    // Each exit also takes the lock in the twin; only the hold time differs.
    let hold = if scene.is_sick() {
        scene.strong(15_000)
    } else {
        60
    };
    let steps = [
        Step::Run(works, work, work),
        Step::Await(waits, reason::WR_RESOURCE, lock),
        Step::Run(looks, hold, hold),
        Step::Set(leaves, lock),
    ];
    scene.b.script(thread, &steps, &[]);
}
