//! Scenario `desktop`: three programs with windows share the lock of the window manager. One holds
//! it for a long time while it lays out, so that the others wait; it also leaks bitmaps. One
//! computes without reading its messages. The focus goes from window to window.

use super::windows::{
    EXPLORER, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, USER32, background, image, machine,
    user_program,
};
use crate::Options;
use crate::act::{Act, Delayed, GuiKind};
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Program, Thread};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Draw",
    version: "8.2.0.0",
    sources: r"D:\build\draw\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Draw\",
    r"C:\Program Files\Contoso\Draw\",
);
const IMAGES: [ModulePlan; 2] = [
    image(
        ("Draw", "Draw.exe", "Draw.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x31_0000),
        &CONTOSO,
    ),
    image(
        ("Notes", "Notes.exe", "Notes.pdb"),
        FOLDER,
        (0x7FF7_12C0_0000, 0x1C_0000),
        &CONTOSO,
    ),
];
const DRAW: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE, USER32];
const NOTES: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE, USER32];
const SHELL: &[Module] = &[EXPLORER, NTDLL, KERNEL32, KERNELBASE, USER32];

const BITMAP: GuiKind = GuiKind {
    is_gdi: true,
    number: 5,
    name: "Bitmap",
};
const BRUSH: GuiKind = GuiKind {
    is_gdi: true,
    number: 16,
    name: "Brush",
};
const WINDOW: GuiKind = GuiKind {
    is_gdi: false,
    number: 1,
    name: "Window",
};
const MENU: GuiKind = GuiKind {
    is_gdi: false,
    number: 2,
    name: "Menu",
};

const ENTERS: &str = "nt!KiSystemServiceCopyEnd win32kfull!NtUserSetWindowPos win32kfull!EnterCrit";
const WORKS: &str = "nt!KiSystemServiceCopyEnd win32kfull!NtUserSetWindowPos";

/// A window: its thread, the function that its stacks have.
#[derive(Debug, Clone, Copy)]
struct Window {
    name: &'static str,
    thread: Thread,
}

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    background(&mut b);
    let lock = b.event(1);
    let ids = (b.id(), 5120);
    let draw = b.program(user_program(ids, "Draw.exe", "Draw.exe plan.drw", DRAW));
    let ids = (b.id(), 5120);
    let notes = b.program(user_program(ids, "Notes.exe", "Notes.exe", NOTES));
    let ids = (b.id(), 800);
    let shell = b.program(user_program(
        ids,
        "explorer.exe",
        r"C:\Windows\Explorer.EXE",
        SHELL,
    ));
    let windows = [
        ("Draw!CFrame::WndProc", draw),
        ("Draw!CPalette::WndProc", draw),
        ("Notes!CFrame::WndProc", notes),
        ("explorer!CTaskListWnd::v_WndProc", shell),
    ]
    .map(|(name, program)| Window {
        name,
        thread: b.thread(program, 10, name),
    });
    let [frame, palette, page, bar] = windows;
    layout(&mut b, frame, lock);
    paints(&mut b, palette, lock, None);
    types(&mut b, page, lock, draw);
    paints(
        &mut b,
        bar,
        lock,
        Some([frame.thread, palette.thread, page.thread, bar.thread]),
    );
    b.finish()
}

/// Returns the steps of a thread that takes the lock, works under it, and releases it.
fn locked(
    b: &mut Builder,
    window: Window,
    lock: Event,
    is_exclusive: bool,
    us: (u32, u32),
) -> Vec<Step> {
    let enters = b.path(&[USER, window.name, ENTERS]);
    let waits = b.waits(&[
        USER,
        window.name,
        ENTERS,
        "nt!ExEnterPriorityRegionAndAcquireResourceExclusive",
    ]);
    let leaves = b.path(&[
        USER,
        window.name,
        WORKS,
        "win32kfull!UserSessionSwitchLeaveCrit",
    ]);
    let code = b.code(
        &[USER, window.name, WORKS],
        &[
            "win32kfull!xxxSetWindowPos",
            "win32kfull!zzzLockDisplayArea",
        ],
    );
    let mut steps = vec![Step::Act(enters, Act::LockAsks)];
    if is_exclusive {
        steps.push(Step::Await(waits, reason::WR_RESOURCE, lock));
    }
    steps.extend([
        Step::Act(
            enters,
            Act::LockHas {
                exclusive: is_exclusive,
            },
        ),
        Step::Run(code, us.0, us.1),
        Step::Act(leaves, Act::LockGives),
    ]);
    if is_exclusive {
        steps.push(Step::Set(leaves, lock));
    }
    steps
}

fn pause(b: &mut Builder, window: Window, from_us: u32, to_us: u32) -> Vec<Step> {
    let waits = b.waits(&[
        USER,
        window.name,
        "user32!GetMessageW win32kfull!NtUserGetMessage",
    ]);
    let code = b.code(
        &[USER, window.name],
        &["user32!DispatchMessageW", "ntdll!RtlAllocateHeap"],
    );
    vec![Step::Sleep(waits, from_us, to_us), Step::Run(code, 50, 300)]
}

/// Holds the lock for a long time, and keeps one of three bitmaps.
fn layout(b: &mut Builder, window: Window, lock: Event) {
    let makes = b.path(&[
        USER,
        window.name,
        "nt!KiSystemServiceCopyEnd win32kfull!GreCreateBitmap",
    ]);
    let frees = b.path(&[
        USER,
        window.name,
        "nt!KiSystemServiceCopyEnd win32kfull!GreDeleteObject",
    ]);
    let mut steps = pause(b, window, 10_000, 30_000);
    steps.extend(locked(b, window, lock, true, (6_000, 14_000)));
    for kind in [BITMAP, BRUSH, BITMAP] {
        steps.push(Step::Act(makes, Act::GuiCreates(kind)));
    }
    steps.push(Step::Act(makes, Act::GuiTransforms));
    steps.extend(pause(b, window, 1_000, 4_000));
    // The oldest objects of the process are destroyed first, regardless of the window that created
    // them.
    steps.extend([
        Step::Act(frees, Act::GuiDestroys),
        Step::Act(frees, Act::GuiDestroys),
    ]);
    let begins = b.path(&[USER, window.name]);
    // Once and without an event: this window has the focus from before the trace.
    b.script(window.thread, &[Step::Act(begins, Act::FocusIs)], &steps);
}

/// Takes the lock for a short time; one of these threads moves the focus from window to window.
fn paints(b: &mut Builder, window: Window, lock: Event, focus: Option<[Thread; 4]>) {
    let makes = b.path(&[
        USER,
        window.name,
        "nt!KiSystemServiceCopyEnd win32kfull!NtUserCreateWindowEx",
    ]);
    let moves = b.path(&[
        USER,
        window.name,
        "nt!KiSystemServiceCopyEnd win32kfull!NtUserSetFocus",
    ]);
    let mut steps = Vec::new();
    for round in 0..4 {
        steps.extend(pause(b, window, 2_000, 9_000));
        steps.extend(locked(b, window, lock, round % 2 == 0, (40, 300)));
        steps.push(Step::Act(
            makes,
            Act::GuiCreates(if round % 2 == 0 { WINDOW } else { MENU }),
        ));
        steps.extend(locked(b, window, lock, false, (20, 90)));
        steps.push(Step::Act(makes, Act::GuiDestroys));
        let to = focus.and_then(|windows| windows.get(round).copied());
        steps.extend(to.map(|to| Step::Act(moves, Act::FocusMoves(to))));
    }
    b.script(window.thread, &[], &steps);
}

/// Computes without reading messages, and passes a window to another program.
fn types(b: &mut Builder, window: Window, lock: Event, other: Program) {
    let begins = b.path(&[USER, window.name]);
    let looks = b.path(&[
        USER,
        window.name,
        "nt!KiSystemServiceCopyEnd win32kfull!NtUserGetMessage",
    ]);
    let makes = b.path(&[
        USER,
        window.name,
        "nt!KiSystemServiceCopyEnd win32kfull!NtUserCreateWindowEx",
    ]);
    let code = b.code(
        &[USER, window.name],
        &["Notes!CSpelling::Check", "Notes!CLayout::Wrap"],
    );
    let waits = b.waits(&[USER, window.name, SLEEPS]);
    let mut steps = Vec::new();
    for what in [Delayed::Messages, Delayed::Input, Delayed::Cursor] {
        steps.extend(pause(b, window, 5_000, 12_000));
        steps.extend(locked(b, window, lock, true, (60, 200)));
        steps.extend([
            Step::Act(begins, Act::DelayBegins),
            Step::Run(code, 20_000, 40_000),
            Step::Sleep(waits, 10_000, 25_000),
            Step::Act(looks, Act::DelayEnds(what)),
        ]);
    }
    steps.push(Step::Act(makes, Act::GuiCreates(WINDOW)));
    steps.push(Step::Act(makes, Act::GuiMoves(other)));
    b.script(window.thread, &[], &steps);
}
