//! Card 21: a recording has context switches and no samples, so the function that used the CPU
//! cannot be named. In the twin samples are also recorded.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 21,
    name: "switch-cpu-only",
    rule: "switch-cpu-only",
    description: "CPU is known from context switches alone, whose stacks do not show which code computed",
    named: Named::WithoutCost("nothing is slow: what the recording lacks is named"),
    seconds: 5,
    plant,
};

fn plant(scene: &mut Scene) -> Planted {
    if scene.is_sick() {
        scene.b.takes_no_samples();
    }
    exports(scene)
}

/// Adds a program that computes for known times, so that samples or their lack can be seen.
pub(super) fn exports(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/export", &[]);
    let main = root(image, "CExport::Run");
    let writes = scene.b.code(
        &[&main],
        &[&format!("{}!CWriter::Format", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene
        .b
        .waits(&[&main, &format!("{}!CWriter::Dispose", image.alias), SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CExport::Run", image.alias));
    let work = scene.strong(40_000);
    let steps = scene.operation([
        Step::Run(writes, work, work),
        Step::Sleep(sleeps, 50_000, 50_000),
    ]);
    scene.b.script(thread, &[], &steps);
    Planted {
        culprit: "no CPU samples".to_owned(),
        victims: vec![program],
    }
}
