//! Card 39: a program draws pictures with three threads, but Windows has parked all processors except
//! two, so that one of the threads always waits for another one. In the twin no processor is parked.

use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::plan::reason;
use crate::scenarios::windows::{FOR_THREAD, SETS_EVENT, SLEEPS, SYSTEM, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Cpu, Event, Program};

pub(super) const CARD: Card = Card {
    number: 39,
    name: "parked-processors",
    rule: "parked-processors",
    description: "threads of a program take turns on two processors, since the others are parked",
    named: Named::WithCost,
    seconds: 18,
    plant,
};

/// Pictures, and threads that draw a part of each.
const PICTURES: u32 = 40;
const THREADS: usize = 3;
/// Processors that stay awake.
const AWAKE: u16 = 2;
/// Above the usual programs: the parked processors are all that these threads lack.
const PRIORITY: u8 = 10;

/// What the threads share.
struct Shared {
    /// One for each thread that draws: it has something to draw.
    parts: Vec<Event>,
    drawn: Event,
    /// Drawing begins, and ends.
    begins: Event,
    ends: Event,
    /// Computing time of each part of each picture, in microseconds.
    pictures_us: Vec<u32>,
}

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let image = scene.executable(maker);
    let program = scene.process(image, "/render", &[]);
    // Less than a quantum, so that no thread is taken off its processor for another one.
    let pictures = (0..scene.strong(PICTURES)).map(|_| scene.draw(15_000, 18_500));
    let pictures_us = pictures.collect();
    let shared = Shared {
        parts: (0..THREADS).map(|_| scene.b.event(0)).collect(),
        drawn: scene.b.event(0),
        begins: scene.b.event(0),
        ends: scene.b.event(0),
        pictures_us,
    };
    parks(scene, &shared);
    shows(scene, (image, program), &shared);
    for part in &shared.parts {
        draws(scene, (image, program), (*part, &shared));
    }
    Planted {
        culprit: "core parking".to_owned(),
        victims: vec![program],
    }
}

/// Adds the thread of the kernel that parks processors while the program draws.
fn parks(scene: &mut Scene, shared: &Shared) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let checks = "nt!PpmCheckRun";
    let waits = scene.b.waits(&[begins, "nt!KeRemovePriQueue"]);
    let parks = scene.b.path(&[begins, checks, "nt!PpmParkApplyPolicy"]);
    let spared = (AWAKE..scene.b.cpus()).map(|cpu| Cpu(cpu.into()));
    let spared: Vec<Cpu> = spared.filter(|_| scene.is_sick()).collect();
    let mut steps = vec![Step::Await(waits, reason::EXECUTIVE, shared.begins)];
    steps.extend(spared.iter().map(|cpu| Step::Act(parks, Act::Parks(*cpu))));
    steps.push(Step::Await(waits, reason::EXECUTIVE, shared.ends));
    steps.extend(
        spared
            .iter()
            .map(|cpu| Step::Act(parks, Act::Unparks(*cpu))),
    );
    let never = scene.b.event(0);
    steps.push(Step::Await(waits, reason::EXECUTIVE, never));
    let thread = scene.b.thread(SYSTEM, 15, "nt!ExpWorkerThread");
    scene.b.script(thread, &steps, &[]);
}

/// Adds the thread that shows each picture as soon as all of its parts are drawn.
fn shows(scene: &mut Scene, (image, program): (Image, Program), shared: &Shared) {
    let main = root(image, "CPresenter::Run");
    let thread = scene.b.thread(
        program,
        PRIORITY,
        &format!("{}!CPresenter::Run", image.alias),
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let posts = scene.b.path(&[&main, SETS_EVENT]);
    let joins = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let presents = scene
        .b
        .code(&[&main], &[&format!("{}!CPresenter::Show", image.alias)]);
    let mut steps = vec![
        Step::Sleep(sleeps, 600_000, 800_000),
        Step::Set(posts, shared.begins),
        Step::Sleep(sleeps, 5_000, 5_000),
    ];
    for _ in &shared.pictures_us {
        let posts = shared.parts.iter().map(|part| Step::Set(posts, *part));
        let joins = shared
            .parts
            .iter()
            .map(|_| Step::Await(joins, FOR_THREAD, shared.drawn));
        steps.extend(scene.operation(posts.chain(joins)));
        let rest = scene.draw(130_000, 170_000);
        steps.extend([
            Step::Run(presents, 100, 300),
            Step::Sleep(sleeps, rest, rest),
        ]);
    }
    steps.push(Step::Set(posts, shared.ends));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(presents, 100, 200),
        ],
    );
}

/// Adds a thread that draws its part of each picture.
fn draws(scene: &mut Scene, (image, program): (Image, Program), (part, shared): (Event, &Shared)) {
    let main = root(image, "CPainter::Run");
    let thread = scene
        .b
        .thread(program, PRIORITY, &format!("{}!CPainter::Run", image.alias));
    let idles = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let posts = scene.b.path(&[&main, SETS_EVENT]);
    let paints = scene.b.code(
        &[&main],
        &[&format!("{}!CPainter::Fill", image.alias), "ntdll!memcpy"],
    );
    let mut steps = Vec::new();
    for us in &shared.pictures_us {
        steps.extend(scene.acts_on_ready([
            Step::Await(idles, FOR_THREAD, part),
            Step::Run(paints, *us, *us),
        ]));
        steps.push(Step::Set(posts, shared.drawn));
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(idles, FOR_THREAD, never));
    scene.b.script(thread, &steps, &[]);
}
