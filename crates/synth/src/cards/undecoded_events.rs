//! Card 8: a provider of a third party writes events whose layout the trace does not describe. In
//! the twin the provider is disabled.

use etwkit_etl::Guid;

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::rng::mix;
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 8,
    name: "undecoded-events",
    rule: "undecoded-events",
    description: "nothing in the trace describes the events of a provider, so they cannot be read",
    named: Named::WithoutCost("nothing is slow: the provider is named whose events say nothing"),
    seconds: 5,
    plant,
};

/// Events of each burst.
const EVENTS: u32 = 40;
const BURSTS: u32 = 20;

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/trace", &[]);
    let main = root(image, "CSession::Run");
    // A provider that no reader can know, since its GUID depends on the seed.
    let (high, low) = (
        mix(scene.draw(1, u32::MAX).into()),
        mix(scene.draw(1, u32::MAX).into()),
    );
    let provider = Guid::from_bytes((u128::from(high) << 64 | u128::from(low)).to_le_bytes());
    let id = scene.draw(100, 200) as u16;
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CSession::Next", image.alias), "ntdll!memcpy"],
    );
    let writes = scene.b.path(&[
        &main,
        "ntdll!EtwEventWrite ntdll!NtTraceEvent nt!KiSystemServiceCopyEnd",
    ]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CSession::Run", image.alias));
    let events = scene.strong(EVENTS);
    let mut steps = vec![Step::Sleep(sleeps, 200_000, 300_000)];
    for _ in 0..BURSTS {
        let (work, bytes) = (scene.draw(2_000, 6_000), scene.draw(8, 60));
        let mut burst = vec![Step::Run(code, work, work)];
        if scene.is_sick() {
            burst.extend(
                (0..events).map(|_| Step::Act(writes, Act::WritesForeign(provider, id, 8 * bytes))),
            );
            burst = scene.acts(burst);
        }
        steps.extend(scene.operation(burst));
        steps.push(Step::Sleep(sleeps, 80_000, 160_000));
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 200_000, 300_000),
            Step::Run(code, 100, 300),
        ],
    );
    Planted {
        culprit: provider.to_string(),
        victims: vec![program],
    }
}
