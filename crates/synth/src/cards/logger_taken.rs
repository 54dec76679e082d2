//! Card 9: a service starts a session of its own under the name of the kernel's, which ends the
//! recording of the kernel in the middle of the trace; providers go on. In the twin the service is
//! present but takes nothing.

use super::scene::{Planted, Scene, TAKES_KERNEL};
use super::{Card, Named, kernel_session};
use crate::act::Act;

pub(super) const CARD: Card = Card {
    number: 9,
    name: TAKES_KERNEL,
    rule: "logger-taken",
    description: "a service takes the kernel's session, so that the rest of the trace has no samples or switches",
    named: Named::WithoutCost("nothing is slow: who ended the recording of the kernel is named"),
    seconds: 6,
    plant,
};

fn plant(scene: &mut Scene) -> Planted {
    let agent = scene.product();
    // The session is taken after the other cards of the trace are finished, since their costs need
    // kernel events.
    let until = scene.recorded_us();
    kernel_session::service(scene, agent, (until, until), Act::TakesKernel);
    Planted {
        culprit: agent.name.to_owned(),
        victims: Vec::new(),
    }
}
