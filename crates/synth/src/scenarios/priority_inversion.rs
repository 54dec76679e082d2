//! Scenario `priority-inversion`: an important thread waits for a lock of an unimportant one. The
//! holder gets no processor, since threads of a priority between the two compute.

use super::windows::{
    FOR_THREAD, KERNEL32, KERNELBASE, NTDLL, OWN, SETS_EVENT, SLEEPS, USER, USER32,
    WAIT_FOR_OBJECT, background, image, machine, user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Thread};

static FABRIKAM: Maker = Maker {
    company: "Fabrikam",
    product: "Fabrikam Plant Console",
    version: "3.9.12.0",
    sources: r"C:\work\console\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Fabrikam\Console\",
    r"C:\Program Files\Fabrikam\Console\",
);
const IMAGES: [ModulePlan; 2] = [
    image(
        ("Console", "PlantConsole.exe", "PlantConsole.pdb"),
        FOLDER,
        (0x7FF6_2B40_0000, 0x2A_0000),
        &FABRIKAM,
    ),
    image(
        ("Render", "TrendRender.exe", "TrendRender.pdb"),
        FOLDER,
        (0x7FF7_9D10_0000, 0x1F_0000),
        &FABRIKAM,
    ),
];
const CONSOLE: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE, USER32];
const RENDER: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE];

/// Frames of waiting for a lock, and of releasing it to the next thread.
const ENTERS: &str = "ntdll!RtlEnterCriticalSection ntdll!RtlpEnterCriticalSectionContended \
    ntdll!RtlpWaitOnCriticalSection ntdll!RtlpWaitOnAddress ntdll!NtWaitForAlertByThreadId \
    nt!KiSystemServiceCopyEnd nt!NtWaitForAlertByThreadId";
const LEAVES: &str = "ntdll!RtlLeaveCriticalSection ntdll!RtlpUnWaitCriticalSection ntdll!RtlpWakeByAddress \
    ntdll!NtAlertThreadByThreadId nt!KiSystemServiceCopyEnd nt!NtAlertThreadByThreadId nt!KeAlertThreadByThreadId";

/// State that the threads share.
struct Shared {
    lock: Event,
    /// The alarm thread lets the logger write.
    writes: Event,
    /// One for each renderer: it has something to draw.
    draws: Vec<Event>,
}

pub(crate) fn plan(options: &Options) -> Plan {
    let cpus = options.cpus.unwrap_or(2);
    let mut b = machine(cpus, 2, &IMAGES, false);
    background(&mut b);
    let (ids, render_ids) = ((b.id(), 5120), (b.id(), 5120));
    let console = b.program(user_program(
        ids,
        "PlantConsole.exe",
        "PlantConsole.exe",
        CONSOLE,
    ));
    let render = b.program(user_program(
        render_ids,
        "TrendRender.exe",
        "TrendRender.exe -trend 7",
        RENDER,
    ));
    // As many renderers as processors: nothing is left for the logger.
    let shared = Shared {
        lock: b.event(1),
        writes: b.event(0),
        draws: (0..cpus).map(|_| b.event(0)).collect(),
    };
    let holder = b.thread(console, 4, "Console!CLogWriter::ThreadProc");
    let waiter = b.thread(console, 13, "Console!CAlarm::ThreadProc");
    logger(&mut b, holder, &shared);
    alarm(&mut b, waiter, holder, &shared);
    for draws in &shared.draws {
        let thread = b.thread(render, 9, "Render!CTrend::ThreadProc");
        renderer(&mut b, thread, *draws);
    }
    b.finish()
}

/// Adds the unimportant thread: it takes the lock, gives work to the renderers, and holds the lock
/// a little longer.
fn logger(b: &mut Builder, thread: Thread, shared: &Shared) {
    let main = [USER, "Console!CLogWriter::ThreadProc"];
    let idles = b.waits(&[main[0], main[1], WAIT_FOR_OBJECT]);
    let waits = b.waits(&[main[0], main[1], ENTERS]);
    let formats = b.code(
        &main,
        &[
            "Console!CLogWriter::Format",
            "Console!CLogWriter::Format ntdll!memcpy",
        ],
    );
    let (posts, leaves) = (
        b.path(&[main[0], main[1], SETS_EVENT]),
        b.path(&[main[0], main[1], LEAVES]),
    );
    let mut steps = vec![
        Step::Await(idles, FOR_THREAD, shared.writes),
        Step::Await(waits, reason::WR_ALERT_BY_THREAD_ID, shared.lock),
        Step::Run(formats, 600, 1_200),
    ];
    // While it has the lock: each renderer has a higher priority, so that the holder loses its
    // processor right here.
    steps.extend(shared.draws.iter().map(|draws| Step::Set(posts, *draws)));
    steps.extend([
        Step::Run(formats, 3_000, 5_000),
        Step::Set(leaves, shared.lock),
    ]);
    b.script(thread, &[], &steps);
}

/// Adds the important thread: it lets the logger write, and a while later needs the lock itself.
fn alarm(b: &mut Builder, thread: Thread, holder: Thread, shared: &Shared) {
    let main = [USER, "Console!CAlarm::ThreadProc"];
    let pauses = b.waits(&[main[0], main[1], SLEEPS]);
    let (posts, leaves) = (
        b.path(&[main[0], main[1], SETS_EVENT]),
        b.path(&[main[0], main[1], LEAVES]),
    );
    let waits = b.waits(&[main[0], main[1], "Console!CAlarm::Raise", ENTERS]);
    let raises = b.code(
        &main,
        &[
            "Console!CAlarm::Raise",
            "Console!CAlarm::Raise user32!PostMessageW",
        ],
    );
    let steps = [
        Step::Sleep(pauses, 60_000, 120_000),
        Step::Set(posts, shared.writes),
        // Long enough for the logger to have the lock and for all renderers to run.
        Step::Sleep(pauses, 12_000, 20_000),
        Step::Begin("EnterCriticalSection", Some(holder)),
        Step::Await(waits, reason::WR_ALERT_BY_THREAD_ID, shared.lock),
        Step::End,
        Step::Run(raises, 300, 800),
        Step::Set(leaves, shared.lock),
    ];
    b.script(thread, &[], &steps);
}

fn renderer(b: &mut Builder, thread: Thread, draws: Event) {
    let main = [USER, "Render!CTrend::ThreadProc"];
    let idles = b.waits(&[main[0], main[1], WAIT_FOR_OBJECT]);
    let paints = b.code(
        &[main[0], main[1], "Render!CTrend::Draw"],
        &[
            "Render!CSpline::Interpolate",
            "Render!CRaster::FillSpan",
            "Render!CRaster::Blend",
        ],
    );
    let steps = [
        Step::Await(idles, FOR_THREAD, draws),
        Step::Run(paints, 110_000, 180_000),
    ];
    b.script(thread, &[], &steps);
}
