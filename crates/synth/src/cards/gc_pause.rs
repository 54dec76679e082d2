//! Card 37: a .NET service stops for each collection of its large heap, since concurrent collection
//! is off. In the twin another thread collects in the background for as long.

use super::jit_start;
use super::scene::{Image, Planted, Scene, keep};
use super::{Card, Named};
use crate::act::{Act, CollectionStep};
use crate::scenarios::dotnet::HOST;
use crate::scenarios::windows::{FOR_THREAD, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Event, Thread};

pub(super) const CARD: Card = Card {
    number: 37,
    name: "gc-pause",
    rule: "gc-pause",
    description: "a .NET service stops for long collections of a large heap",
    named: Named::WithCost,
    seconds: 14,
    plant,
};

/// Requests, each with a collection.
const REQUESTS: usize = 10;
/// Reasons for stopping all threads: for a collection, and for its preparation.
const FOR_GC: u32 = 1;
const FOR_GC_PREP: u32 = 6;
const ALLOCATES: &str = "coreclr!JIT_New coreclr!WKS::gc_heap::try_allocate_more_space \
    coreclr!WKS::GCHeap::GarbageCollectGeneration";
const BACKGROUND: &str = "coreclr!WKS::gc_heap::bgc_thread_function";

fn plant(scene: &mut Scene) -> Planted {
    let libraries = jit_start::runtime(scene);
    let image = scene.product();
    let program = scene.service(image, "--serve", libraries);
    let started = scene.b.event(0);
    let lengths = (0..REQUESTS).map(|_| scene.draw(220_000, 280_000));
    let lengths: Vec<u32> = lengths.collect();
    let lengths: Vec<u32> = lengths.into_iter().map(|us| scene.strong(us)).collect();
    let thread = scene
        .b
        .thread(program, 8, "coreclr!coreclr_execute_assembly");
    serves(scene, (image, thread), started, &lengths);
    let thread = scene.b.thread(program, 8, BACKGROUND);
    collects(scene, thread, started, &lengths);
    Planted {
        culprit: "garbage collections of generation 2".to_owned(),
        victims: vec![program],
    }
}

/// Sets the work of the thread that answers requests. It collects itself, or starts a collection in
/// the background.
fn serves(scene: &mut Scene, (image, thread): (Image, Thread), started: Event, lengths: &[u32]) {
    let main = keep(format!(
        "{USER} {HOST} {0}!{0}.Program.Main {0}!{0}.Server.Answer",
        image.alias
    ));
    let works = scene.b.code(
        &[main],
        &[
            &format!("{0}!{0}.Page.Render", image.alias),
            "CoreLib!System.String.Concat",
        ],
    );
    let suspends = scene
        .b
        .path(&[main, ALLOCATES, "coreclr!ThreadSuspend::SuspendEE"]);
    let marks = scene.b.code(
        &[main, ALLOCATES],
        &[
            "coreclr!WKS::gc_heap::mark_phase",
            "coreclr!WKS::gc_heap::plan_phase",
            "coreclr!WKS::gc_heap::compact_phase",
        ],
    );
    let sleeps = scene.b.waits(&[main, SLEEPS]);
    let collect = |step| Step::Act(suspends, Act::Collects(step));
    let reason = if scene.is_sick() { FOR_GC } else { FOR_GC_PREP };
    let mut steps = vec![Step::Sleep(sleeps, 400_000, 600_000)];
    for length in lengths {
        let (work, rest) = (scene.draw(5_000, 15_000), scene.draw(150_000, 250_000));
        let inside = if scene.is_sick() {
            vec![
                collect(CollectionStep::Begins(2, false)),
                Step::Run(marks, *length, *length),
                collect(CollectionStep::Ends(false)),
            ]
        } else {
            vec![
                collect(CollectionStep::Begins(2, true)),
                Step::Run(marks, 300, 300),
            ]
        };
        let begins = [
            collect(CollectionStep::SuspendBegins(reason)),
            Step::Run(marks, 20, 20),
            collect(CollectionStep::SuspendEnds),
        ];
        let ends = [
            collect(CollectionStep::RestartBegins),
            Step::Run(marks, 10, 10),
            collect(CollectionStep::RestartEnds),
            Step::Set(suspends, started),
        ];
        let pause = begins.into_iter().chain(inside).chain(ends);
        let request = std::iter::once(Step::Run(works, work, work)).chain(scene.acts(pause));
        steps.extend(scene.operation(request));
        // In the twin the collection in the background ends before the next one starts.
        steps.push(Step::Sleep(sleeps, rest + length, rest + length));
    }
    scene.idles_after(thread, &steps, (sleeps, works));
}

/// Sets the work of the thread for collections in the background. It has none if they are off.
fn collects(scene: &mut Scene, thread: Thread, started: Event, lengths: &[u32]) {
    let idles = scene.b.waits(&[USER, BACKGROUND, WAIT_FOR_OBJECT]);
    let marks = scene.b.code(
        &[USER, BACKGROUND],
        &[
            "coreclr!WKS::gc_heap::background_mark_phase",
            "coreclr!WKS::gc_heap::background_sweep",
        ],
    );
    let ends = scene
        .b
        .path(&[USER, BACKGROUND, "coreclr!WKS::gc_heap::gc1"]);
    let mut steps = Vec::new();
    for length in lengths.iter().filter(|_| !scene.is_sick()) {
        steps.extend([
            Step::Await(idles, FOR_THREAD, started),
            Step::Run(marks, *length, *length),
            Step::Act(ends, Act::Collects(CollectionStep::Ends(true))),
        ]);
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(idles, FOR_THREAD, never));
    scene.b.script(thread, &steps, &[]);
}
