//! Card 24: a program requests ticks of the system timer every millisecond as long as it runs, even
//! when it plays nothing. In the twin it requests them only while it plays.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 24,
    name: "timer-resolution",
    rule: "timer-resolution",
    description: "a program asks for a fast system timer all the time, which wakes processors for nothing",
    named: Named::WithoutCost("nothing is slow: processors take more energy than they need"),
    seconds: 8,
    plant,
};

/// Frames that it plays.
const FRAMES: usize = 20;

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/tray", &[]);
    let function = "CSound::ThreadProc";
    let main = root(image, function);
    let call = "ntdll!NtSetTimerResolution nt!KiSystemServiceCopyEnd nt!NtSetTimerResolution";
    let asks = scene.b.path(&[&main, call]);
    let plays = scene.b.code(
        &[&main],
        &[&format!("{}!CSound::Frame", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    // In units of 100 ns.
    let resolution = if scene.draw(0, 1) == 0 { 10_000 } else { 5_000 };
    let begins = scene.draw(200_000, 600_000);
    let mut fast = vec![Step::Act(asks, Act::AsksTimer(resolution, false))];
    for _ in 0..FRAMES {
        fast.extend([
            Step::Run(plays, 200, 700),
            Step::Sleep(sleeps, 9_000, 12_000),
        ]);
    }
    // The weaker the defect, the sooner it comes to mind.
    if scene.is_sick() {
        let longer = scene.strong(6_000_000).min(9_000_000);
        fast.push(Step::Sleep(sleeps, longer, longer));
    }
    fast.push(Step::Act(asks, Act::AsksTimer(0, false)));
    let mut steps = vec![Step::Sleep(sleeps, begins, begins)];
    steps.extend(scene.acts(fast));
    let thread = scene
        .b
        .thread(program, 10, &format!("{}!{function}", image.alias));
    scene.idles_after(thread, &steps, (sleeps, plays));
    let culprit = format!("{} ({})", image.name, scene.b.pid(program));
    Planted {
        culprit,
        victims: vec![program],
    }
}
