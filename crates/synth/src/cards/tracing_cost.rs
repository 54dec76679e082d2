//! Card 23: the recording has enabled the lock events of the window manager, which fill most of the
//! trace. In the twin the same locks are taken, and the recording leaves these events out.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::Act;
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 23,
    name: "tracing-cost",
    rule: "tracing-cost",
    description: "one provider fills most of the trace, so that a ring in memory holds a short time only",
    named: Named::WithoutCost("nothing is slow: the provider is named that fills the trace"),
    seconds: 6,
    plant,
};

/// Acquisitions of each burst, and bursts of each of two programs.
const LOCKS: u32 = 150;
const BURSTS: u32 = 60;

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let mut victims = Vec::new();
    for arguments in ["/first", "/second"] {
        let program = scene.process(image, arguments, &["user32.dll"]);
        let main = root(image, "CFrame::Animate");
        let calls = "user32!SetWindowPos nt!KiSystemServiceCopyEnd win32kfull!NtUserSetWindowPos";
        let enters = scene.b.path(&[&main, calls, "win32kfull!EnterCrit"]);
        let leaves = scene
            .b
            .path(&[&main, calls, "win32kfull!UserSessionSwitchLeaveCrit"]);
        let code = scene
            .b
            .code(&[&main, calls], &["win32kfull!xxxSetWindowPos"]);
        let sleeps = scene
            .b
            .waits(&[USER, &format!("{}!CFrame::Animate", image.alias), SLEEPS]);
        let thread = scene
            .b
            .thread(program, 8, &format!("{}!CFrame::Animate", image.alias));
        let locks = scene.strong(LOCKS);
        let mut steps = vec![Step::Sleep(sleeps, 100_000, 200_000)];
        for _ in 0..BURSTS {
            let burst: Vec<Step> = (0..locks)
                .flat_map(|_| lock(scene, (enters, leaves), code))
                .collect();
            steps.extend(scene.operation(scene.acts(burst)));
            steps.push(Step::Sleep(sleeps, 60_000, 100_000));
        }
        scene.b.script(
            thread,
            &steps,
            &[
                Step::Sleep(sleeps, 300_000, 500_000),
                Step::Run(code, 20, 40),
            ],
        );
        victims.push(program);
    }
    Planted {
        culprit: "Microsoft-Windows-Win32k".to_owned(),
        victims,
    }
}

/// Takes the lock and releases it; the recording may have enabled its events.
fn lock(
    scene: &Scene,
    (enters, leaves): (crate::table::Path, crate::table::Path),
    code: crate::table::Code,
) -> Vec<Step> {
    let works = Step::Run(code, 3, 3);
    // The twin also takes the lock, but without events of it: the defect is the recording, not the
    // program.
    if !scene.is_sick() {
        return vec![works];
    }
    vec![
        Step::Act(enters, Act::LockAsks),
        Step::Act(enters, Act::LockHas { exclusive: false }),
        works,
        Step::Act(leaves, Act::LockGives),
    ]
}
