//! Card 33: the session asks for samples, and not one came: something else has the profile
//! interrupt. In the twin they came.

use super::scene::{Planted, Scene};
use super::switch_cpu_only::exports;
use super::{Card, Named};

pub(super) const CARD: Card = Card {
    number: 33,
    name: "samples-missing",
    rule: "samples-missing",
    description: "the session records samples and none came, although there are context switches",
    named: Named::WithoutCost("nothing is slow: what the recording lacks is named"),
    seconds: 5,
    plant,
};

fn plant(scene: &mut Scene) -> Planted {
    if scene.is_sick() {
        scene.b.gets_no_samples();
    }
    // A driver that might have the interrupt: only that no sample came is known.
    let maker = scene.maker();
    scene.driver(maker);
    exports(scene)
}
