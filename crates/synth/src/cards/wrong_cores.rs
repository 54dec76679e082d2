//! Card 6: on a machine with performant and efficient cores a program of low priority may use only
//! the efficient ones. A service that belongs there takes turns with it, while performant cores are
//! idle. In the twin the program may run everywhere.

use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::plan::HybridPlan;
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 6,
    name: "wrong-cores",
    rule: "wrong-cores",
    description: "a program waits for E-cores, although P-cores are idle",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Pieces of work of the victim.
const PIECES: usize = 18;

fn plant(scene: &mut Scene) -> Planted {
    scene.b.hybrid(HybridPlan {
        efficient_of_four: 1,
        mhz: (2_400, 3_600),
    });
    let maker = scene.maker();
    let agent = scene.executable(maker);
    service(scene, agent);
    let image = scene.product();
    let program = scene.process(image, "/convert /background", &[]);
    let main = root(image, "CConvert::Run");
    // Below normal: the policy of the system moves these threads to efficient cores.
    let thread = scene
        .b
        .thread(program, 6, &format!("{}!CConvert::Run", image.alias));
    if scene.is_sick() {
        scene.b.is_efficient(thread);
    }
    let works = scene.b.code(
        &[&main],
        &[&format!("{}!CConvert::Page", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = vec![Step::Sleep(sleeps, 500_000, 500_000)];
    for _ in 0..PIECES {
        let piece = scene.draw(50_000, 110_000);
        work.push(Step::Run(works, piece, piece));
    }
    let steps = scene.operation(scene.acts_on_ready(work));
    scene.b.script(thread, &steps, &[]);
    Planted {
        culprit: "HeteroPolicy".to_owned(),
        victims: vec![program],
    }
}

/// Adds a service that belongs on efficient cores, and hardly ever waits for them.
fn service(scene: &mut Scene, agent: Image) {
    let program = scene.service(agent, "/service", &[]);
    let main = root(agent, "CAgent::Main");
    let works = scene.b.code(
        &[&main],
        &[&format!("{}!CAgent::Index", agent.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CAgent::Main", agent.alias));
    scene.b.is_efficient(thread);
    let work = scene.strong(110_000);
    let steps = [
        Step::Sleep(sleeps, 90_000, 120_000),
        Step::Run(works, work, work),
    ];
    scene.b.script(thread, &[], &steps);
}
