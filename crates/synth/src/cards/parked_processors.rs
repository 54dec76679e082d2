//! Card 39: a program computes in the background while another one does, too, and Windows has parked
//! all processors except two. It only gets a processor while nobody else needs one. In the twin no
//! processor is parked.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::plan::reason;
use crate::scenarios::windows::{SETS_EVENT, SLEEPS, SYSTEM};
use crate::script::Step;
use crate::table::{Cpu, Event};

pub(super) const CARD: Card = Card {
    number: 39,
    name: "parked-processors",
    rule: "parked-processors",
    description: "a program waits for two busy processors, while the others are parked",
    named: Named::WithCost,
    seconds: 16,
    plant,
};

/// Pieces of work of the victim.
const PIECES: usize = 20;
/// Processors that stay awake.
const AWAKE: u16 = 2;
/// Below all usual programs: whatever delays one of these on two processors also delays the victim,
/// so that its delays are all that the parking costs.
const VICTIM_PRIORITY: u8 = 2;
const OTHER_PRIORITY: u8 = 3;

/// The work of the victim begins, and ends.
struct Work {
    begins: Event,
    ends: Event,
}

fn plant(scene: &mut Scene) -> Planted {
    let work = Work {
        begins: scene.b.event(0),
        ends: scene.b.event(0),
    };
    parks(scene, &work);
    indexer(scene);
    let image = scene.product();
    let program = scene.process(image, "/background", &[]);
    let main = root(image, "CEncoder::Run");
    let thread = scene.b.thread(
        program,
        VICTIM_PRIORITY,
        &format!("{}!CEncoder::Run", image.alias),
    );
    let encodes = scene.b.code(
        &[&main],
        &[&format!("{}!CEncoder::Frame", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let posts = scene.b.path(&[&main, SETS_EVENT]);
    let mut steps = vec![Step::Sleep(sleeps, 600_000, 800_000)];
    let mut pieces = vec![Step::Set(posts, work.begins)];
    for _ in 0..PIECES {
        let piece = scene.draw(32_000, 48_000);
        let piece = scene.strong(piece);
        pieces.push(Step::Run(encodes, piece, piece));
    }
    steps.extend(scene.operation(scene.acts_on_ready(pieces)));
    steps.push(Step::Set(posts, work.ends));
    scene.idles_after(thread, &steps, (sleeps, encodes));
    Planted {
        culprit: "core parking".to_owned(),
        victims: vec![program],
    }
}

/// Adds the thread of the kernel that parks processors while the victim works.
fn parks(scene: &mut Scene, work: &Work) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let waits = scene.b.waits(&[begins, "nt!KeRemovePriQueue"]);
    let applies = scene
        .b
        .path(&[begins, "nt!PpmCheckRun nt!PpmParkApplyPolicy"]);
    let spared = (AWAKE..scene.b.cpus()).map(|cpu| Cpu(cpu.into()));
    let spared: Vec<Cpu> = spared.filter(|_| scene.is_sick()).collect();
    let parks = spared.iter().map(|cpu| Act::Parks(*cpu));
    let unparks = spared.iter().map(|cpu| Act::Unparks(*cpu));
    let mut steps = vec![Step::Await(waits, reason::EXECUTIVE, work.begins)];
    steps.extend(parks.map(|act| Step::Act(applies, act)));
    steps.push(Step::Await(waits, reason::EXECUTIVE, work.ends));
    steps.extend(unparks.map(|act| Step::Act(applies, act)));
    let never = scene.b.event(0);
    steps.push(Step::Await(waits, reason::EXECUTIVE, never));
    let thread = scene.b.thread(SYSTEM, 15, "nt!ExpWorkerThread");
    // It must not park the processor that it runs on.
    scene.b.is_bound(thread, Cpu(0));
    scene.b.script(thread, &steps, &[]);
}

/// Adds the other program: one of its threads always computes, and a second one now and then.
fn indexer(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/index", &[]);
    let main = root(image, "CIndexer::ThreadProc");
    let works = scene.b.code(
        &[&main],
        &[&format!("{}!CIndexer::Add", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let always = [Step::Run(works, 50_000, 90_000)];
    let sometimes = [
        Step::Run(works, 8_000, 16_000),
        Step::Sleep(sleeps, 20_000, 36_000),
    ];
    for again in [&always[..], &sometimes] {
        let thread = scene.b.thread(
            program,
            OTHER_PRIORITY,
            &format!("{}!CIndexer::ThreadProc", image.alias),
        );
        let once = [Step::Sleep(sleeps, 300_000, 400_000)];
        scene.b.script(thread, &once, again);
    }
}
