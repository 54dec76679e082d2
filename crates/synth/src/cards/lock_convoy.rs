//! Card 31: threads of a server queue for the lock of its journal, since the one inside waits for a
//! slow device. In the twin each writes its entry before it takes the lock, all at the same time.

use super::scene::{Image, Planted, Scene, keep, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{FOR_THREAD, SETS_EVENT, SLEEPS, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Event, Program};

pub(super) const CARD: Card = Card {
    number: 31,
    name: "lock-convoy",
    rule: "lock-convoy",
    description: "threads of a server queue for a lock, since the one inside waits for a slow device",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Threads that answer, and batches of requests for all of them.
const WORKERS: usize = 6;
const BATCHES: usize = 24;

/// Frames of entering and leaving a lock that another thread has.
pub(super) struct Lock {
    pub(super) enters: &'static str,
    pub(super) leaves: &'static str,
}

const CRITICAL_SECTION: Lock = Lock {
    enters: "ntdll!RtlEnterCriticalSection ntdll!RtlpEnterCriticalSectionContended \
        ntdll!RtlpWaitOnCriticalSection ntdll!RtlpWaitOnAddress ntdll!NtWaitForAlertByThreadId \
        nt!KiSystemServiceCopyEnd nt!NtWaitForAlertByThreadId",
    leaves: "ntdll!RtlLeaveCriticalSection ntdll!RtlpUnWaitCriticalSection ntdll!RtlpWakeByAddress \
        ntdll!NtAlertThreadByThreadId nt!KiSystemServiceCopyEnd nt!NtAlertThreadByThreadId \
        nt!KeAlertThreadByThreadId",
};
const SRW_LOCK: Lock = Lock {
    enters: "ntdll!RtlAcquireSRWLockExclusive ntdll!NtWaitForAlertByThreadId \
        nt!KiSystemServiceCopyEnd nt!NtWaitForAlertByThreadId",
    leaves: "ntdll!RtlReleaseSRWLockExclusive ntdll!RtlpWakeSRWLock ntdll!NtAlertThreadByThreadId \
        nt!KiSystemServiceCopyEnd nt!NtAlertThreadByThreadId nt!KeAlertThreadByThreadId",
};

impl Lock {
    /// Returns a lock of any kind.
    pub(super) const fn any(scene: &mut Scene) -> Self {
        if scene.draw(0, 1) == 0 {
            CRITICAL_SECTION
        } else {
            SRW_LOCK
        }
    }
}

/// A batch: what each thread computes for its request and its entry, and how long the device takes,
/// in microseconds.
#[derive(Debug, Clone, Copy)]
struct Batch {
    own: u32,
    entry: u32,
    device: u32,
}

/// What the threads share.
struct Shared {
    lock: Event,
    done: Event,
    frames: Lock,
    batches: Vec<Batch>,
}

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.service(image, "/serve", &[]);
    let batches = (0..BATCHES).map(|_| Batch {
        own: scene.draw(300, 900),
        entry: scene.draw(200, 600),
        device: scene.strong(18_000) + scene.draw(0, 3_000),
    });
    let batches = batches.collect();
    let shared = Shared {
        lock: scene.b.event(1),
        done: scene.b.event(0),
        frames: Lock::any(scene),
        batches,
    };
    let requests: Vec<Event> = (0..WORKERS).map(|_| scene.b.event(0)).collect();
    dispatcher(scene, (image, program), &shared, &requests);
    for request in requests {
        worker(scene, (image, program), &shared, request);
    }
    Planted {
        culprit: format!("{}!CJournal::Append", image.name),
        victims: vec![program],
    }
}

/// Adds the thread that takes a batch of requests and waits until all of them are answered.
fn dispatcher(
    scene: &mut Scene,
    (image, program): (Image, Program),
    shared: &Shared,
    requests: &[Event],
) {
    let main = root(image, "CServer::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CServer::Run", image.alias));
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let posts = scene.b.path(&[&main, SETS_EVENT]);
    let joins = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let reads = scene
        .b
        .code(&[&main], &[&format!("{}!CServer::Receive", image.alias)]);
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for _ in 0..shared.batches.len() {
        let answers = requests
            .iter()
            .map(|request| Step::Set(posts, *request))
            .chain(
                requests
                    .iter()
                    .map(|_| Step::Await(joins, FOR_THREAD, shared.done)),
            );
        steps.extend(scene.operation(answers));
        let rest = scene.draw(40_000, 90_000);
        steps.extend([Step::Sleep(sleeps, rest, rest), Step::Run(reads, 100, 300)]);
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(reads, 100, 200),
        ],
    );
}

/// Adds a thread that answers requests, and writes an entry of each into the journal.
fn worker(scene: &mut Scene, (image, program): (Image, Program), shared: &Shared, request: Event) {
    let alias = image.alias;
    let main = root(image, "CWorker::Run");
    let thread = scene.b.thread(program, 8, &format!("{alias}!CWorker::Run"));
    let idles = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let answers = scene.b.path(&[&main, SETS_EVENT]);
    let works = scene.b.code(
        &[&main],
        &[&format!("{alias}!CRequest::Handle"), "ntdll!memcpy"],
    );
    let append = keep(format!("{alias}!CJournal::Append"));
    let enters = scene.b.waits(&[&main, append, shared.frames.enters]);
    let leaves = scene.b.path(&[&main, append, shared.frames.leaves]);
    // The twin also appends; only the time at which it has the lock differs.
    let writes = if scene.is_sick() {
        append
    } else {
        keep(format!("{alias}!CJournal::Prepare"))
    };
    let formats = scene
        .b
        .code(&[&main, writes], &[&format!("{alias}!CEntry::Format")]);
    let device = format!("{alias}!CDevice::WaitUntilReady");
    let waits = scene.b.waits(&[&main, writes, &device, SLEEPS]);
    let links = scene
        .b
        .code(&[&main, append], &[&format!("{alias}!CJournal::Link")]);
    let mut steps = Vec::new();
    for batch in &shared.batches {
        let entry = [
            Step::Run(formats, batch.entry, batch.entry),
            Step::Sleep(waits, batch.device, batch.device),
        ];
        let takes = scene.acts([Step::Await(
            enters,
            reason::WR_ALERT_BY_THREAD_ID,
            shared.lock,
        )]);
        steps.extend([
            Step::Await(idles, FOR_THREAD, request),
            Step::Run(works, batch.own, batch.own),
        ]);
        if scene.is_sick() {
            steps.extend(takes.into_iter().chain(entry));
        } else {
            steps.extend(entry.into_iter().chain(takes));
        }
        steps.extend([
            Step::Run(links, 20, 20),
            Step::Set(leaves, shared.lock),
            Step::Set(answers, shared.done),
        ]);
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(idles, FOR_THREAD, never));
    scene.b.script(thread, &steps, &[]);
}
