//! Card 32: an alarm waits for a lock that a thread of low priority has, which gets no processor
//! while a renderer computes on all of them. In the twin that thread works without the lock.

use super::lock_convoy::Lock;
use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{FOR_THREAD, SETS_EVENT, SLEEPS, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Event, Thread};

pub(super) const CARD: Card = Card {
    number: 32,
    name: "low-priority-lock",
    rule: "priority-inversion",
    description: "an important thread waits for a lock whose holder has a low priority and gets no processor",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

/// Alarms.
const ALARMS: usize = 12;

/// What the threads share.
struct Shared {
    lock: Event,
    /// Something is to be written.
    writes: Event,
    /// One for each thread of the renderer: it has something to draw.
    draws: Vec<Event>,
    frames: Lock,
    /// Computing time of each picture, in microseconds.
    pictures_us: Vec<u32>,
}

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (image, renderer) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(image, "", &[]);
    let pictures = (0..ALARMS).map(|_| scene.draw(150_000, 190_000));
    let pictures: Vec<u32> = pictures.collect();
    let pictures_us = pictures.into_iter().map(|us| scene.strong(us)).collect();
    let shared = Shared {
        lock: scene.b.event(1),
        writes: scene.b.event(0),
        // As many as processors, so that nothing is left for the writer.
        draws: (0..scene.b.cpus()).map(|_| scene.b.event(0)).collect(),
        frames: Lock::any(scene),
        pictures_us,
    };
    let threads = [(4, "CWriter::Run"), (13, "CAlarm::Run")].map(|(priority, start)| {
        scene
            .b
            .thread(program, priority, &format!("{}!{start}", image.alias))
    });
    let [writer, alarm] = threads;
    write(scene, (writer, &root(image, "CWriter::Run")), &shared);
    raise(scene, (alarm, &root(image, "CAlarm::Run")), &shared);
    let process = scene.process(renderer, "/pictures", &[]);
    for draws in &shared.draws {
        let start = format!("{}!CPicture::Run", renderer.alias);
        // Above the writer, and below what the user works with.
        let thread = scene.b.thread(process, 7, &start);
        let main = root(renderer, "CPicture::Run");
        draw(scene, (thread, &main), (*draws, &shared.pictures_us));
    }
    let (pid, tid) = (scene.b.pid(program), scene.b.tid(writer));
    Planted {
        culprit: format!("{} ({pid}), thread {tid}", image.name),
        victims: vec![program],
    }
}

/// Sets the work of the thread of low priority: it formats a text, and lets it be drawn. It has the
/// lock all the time, or for the text alone.
fn write(scene: &mut Scene, (thread, main): (Thread, &str), shared: &Shared) {
    let waits = scene.b.waits(&[main, WAIT_FOR_OBJECT]);
    let enters = scene.b.waits(&[main, shared.frames.enters]);
    let leaves = scene.b.path(&[main, shared.frames.leaves]);
    let posts = scene.b.path(&[main, SETS_EVENT]);
    let formats = scene
        .b
        .code(&[main], &["ntdll!RtlUnicodeToUTF8N", "ntdll!memcpy"]);
    let leave = Step::Set(leaves, shared.lock);
    // The renderer has a higher priority, so that this thread loses its processor right here.
    let rest = shared
        .draws
        .iter()
        .map(|draws| Step::Set(posts, *draws))
        .chain([Step::Run(formats, 2_000, 3_000)]);
    let mut steps = vec![
        Step::Await(waits, FOR_THREAD, shared.writes),
        Step::Await(enters, reason::WR_ALERT_BY_THREAD_ID, shared.lock),
        Step::Run(formats, 600, 1_200),
    ];
    if scene.is_sick() {
        steps.extend(rest.chain([leave]));
    } else {
        steps.extend([leave].into_iter().chain(rest));
    }
    scene.b.script(thread, &[], &steps);
}

/// Sets the work of the important thread: it lets a text be written, and needs the lock itself a
/// while later.
fn raise(scene: &mut Scene, (thread, main): (Thread, &str), shared: &Shared) {
    let sleeps = scene.b.waits(&[main, SLEEPS]);
    let posts = scene.b.path(&[main, SETS_EVENT]);
    let enters = scene.b.waits(&[main, shared.frames.enters]);
    let leaves = scene.b.path(&[main, shared.frames.leaves]);
    let raises = scene
        .b
        .code(&[main], &["ntdll!RtlAllocateHeap", "ntdll!memcpy"]);
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for picture in &shared.pictures_us {
        let (pause, later) = (scene.draw(60_000, 120_000), scene.draw(12_000, 18_000));
        // The picture of the time before is complete, also in the twin, where nobody waits for it.
        steps.extend([
            Step::Sleep(sleeps, pause + picture, pause + picture),
            Step::Set(posts, shared.writes),
            Step::Sleep(sleeps, later, later),
        ]);
        let takes = scene.acts([Step::Await(
            enters,
            reason::WR_ALERT_BY_THREAD_ID,
            shared.lock,
        )]);
        let rest = [Step::Run(raises, 500, 500), Step::Set(leaves, shared.lock)];
        steps.extend(scene.operation(takes.into_iter().chain(rest)));
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(raises, 100, 200),
        ],
    );
}

/// Sets the work of a thread of the renderer.
fn draw(scene: &mut Scene, (thread, main): (Thread, &str), (draws, pictures): (Event, &[u32])) {
    let waits = scene.b.waits(&[main, WAIT_FOR_OBJECT]);
    let paints = scene.b.code(&[main], &["ntdll!memcpy", "ntdll!memset"]);
    let steps = pictures.iter().flat_map(|us| {
        [
            Step::Await(waits, FOR_THREAD, draws),
            Step::Run(paints, *us, *us),
        ]
    });
    let never = scene.b.event(0);
    let steps: Vec<Step> = steps
        .chain([Step::Await(waits, FOR_THREAD, never)])
        .collect();
    scene.b.script(thread, &steps, &[]);
}
