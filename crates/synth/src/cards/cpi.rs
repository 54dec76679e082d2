//! Card 14: a program needs more cycles for the same instructions while another one takes the
//! shared cache of the processors. In the twin the other one computes as long and leaves the cache
//! alone.

use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::plan::Pace;
use crate::scenarios::windows::{FOR_THREAD, SETS_EVENT, SLEEPS, WAIT_FOR_OBJECT};
use crate::script::Step;
use crate::table::{Event, Program};

pub(super) const CARD: Card = Card {
    number: 14,
    name: "cpi",
    rule: "cpi",
    description: "a program computes slowly while another one takes the cache that the processors share",
    named: Named::WithCost,
    seconds: 10,
    plant,
};

/// Rounds; in each the program computes once alone and once at the same time as the other one.
const ROUNDS: u32 = 6;
/// Counts of the performance counters per microsecond, for the program with the cache to itself.
const ALONE: Pace = Pace {
    instructions: 4_200,
    cycles: 3_000,
    llc_references: 30,
    llc_misses: 3,
};
const OTHER: Pace = Pace {
    instructions: 900,
    cycles: 3_000,
    llc_references: 120,
    llc_misses: 90,
};

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let image = scene.executable(maker);
    let program = scene.process(image, "/render", &[]);
    let other = scene.product();
    let go = scene.b.event(0);
    // This percentage of additional cycles for the same instructions.
    let more = scene.strong(60);
    let slowed = |amount: u32| amount * (100 + more) / 100;
    // The other program computes for longer than the longest piece of work, so that all of the
    // piece is disturbed.
    let longest = slowed(220_000) + 20_000;
    let other_program = disturber(scene, other, go, longest);
    scene.b.pace(program, ALONE);
    if scene.is_sick() {
        // As many cycles in a microsecond and fewer instructions: the processor is as fast, it
        // waits for memory.
        let instructions = ALONE.instructions * 100 / (100 + more);
        scene.b.disturbs(
            program,
            other_program,
            Pace {
                instructions,
                llc_misses: 25,
                ..ALONE
            },
        );
    }
    let main = root(image, "CScene::Render");
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CMesh::Transform", image.alias), "ntdll!memcpy"],
    );
    let sets = scene.b.path(&[&main, SETS_EVENT]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CScene::Render", image.alias));
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 400_000)];
    for _ in 0..ROUNDS {
        let work = scene.draw(180_000, 220_000);
        let beside = if scene.is_sick() { slowed(work) } else { work };
        steps.extend(scene.operation([Step::Run(code, work, work)]));
        steps.extend([
            Step::Sleep(sleeps, 30_000, 50_000),
            Step::Set(sets, go),
            // The other program has to run before the operation starts.
            Step::Sleep(sleeps, 2_000, 2_000),
        ]);
        steps.extend(scene.operation(scene.acts([Step::Run(code, beside, beside)])));
        // The next round starts when the other program is done, so that the first half of it is
        // undisturbed.
        let rest = longest - beside + 60_000;
        steps.push(Step::Sleep(sleeps, rest, rest));
    }
    scene.idles_after(thread, &steps, (sleeps, code));
    let culprit = format!("{} ({})", other.name, scene.b.pid(other_program));
    Planted {
        culprit,
        victims: vec![program],
    }
}

/// Adds a program that computes for a while whenever it is signaled.
fn disturber(scene: &mut Scene, image: Image, go: Event, work: u32) -> Program {
    let program = scene.process(image, "/index", &[]);
    scene.b.pace(program, OTHER);
    let main = root(image, "CIndex::Build");
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CIndex::Walk", image.alias), "ntdll!memcpy"],
    );
    let waits = scene.b.waits(&[&main, WAIT_FOR_OBJECT]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CIndex::Build", image.alias));
    scene.b.script(
        thread,
        &[],
        &[
            Step::Await(waits, FOR_THREAD, go),
            Step::Run(code, work, work),
        ],
    );
    program
}
