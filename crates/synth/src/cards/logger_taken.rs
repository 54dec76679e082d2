//! Card 9: a service starts a session of its own under the name of the kernel's, which ends the recording of
//! the kernel in the middle of the trace; providers go on. In the twin the service is there and takes
//! nothing.

use etwkit_etl::Guid;

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::{Act, SessionPlan};
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 9,
    name: "logger-taken",
    rule: "logger-taken",
    description: "a service takes the kernel's session, so that the rest of the trace has no samples or switches",
    named: Named::WithoutCost("nothing is slow: who ended the recording of the kernel is named"),
    seconds: 6,
    plant,
};

/// How long the trace goes on without the kernel, in microseconds.
pub(super) const fn missing_us(strength_percent: u32) -> u32 {
    strength_percent.saturating_mul(40_000)
}

/// GUID of the kernel's own session.
const KERNEL_LOGGER: Guid = Guid::literal("9e814aad-3204-11d2-9a82-006008a86939");

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let agent = scene.executable(maker);
    let program = scene.service(agent, "/service", &[]);
    let main = root(agent, "CMonitor::Main");
    let starts = scene.b.path(&[
        &main,
        "ntdll!NtTraceControl nt!KiSystemServiceCopyEnd nt!NtTraceControl nt!EtwpStartLogger",
    ]);
    let works = scene.b.code(&[&main], &[&format!("{}!CMonitor::Look", agent.alias)]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene.b.thread(program, 8, &format!("{}!CMonitor::Main", agent.alias));
    let file = keep(format!(r"C:\ProgramData\{}\null.etl", agent.alias));
    let session = SessionPlan { name: "NT Kernel Logger", file, guid: KERNEL_LOGGER, mode: 0x100 };
    let until = scene.recorded_us();
    let mut steps = vec![Step::Sleep(sleeps, until, until), Step::Run(works, 400, 800)];
    if scene.is_sick() {
        steps.push(Step::Act(starts, Act::TakesKernel(session)));
    }
    scene.b.script(thread, &steps, &[Step::Sleep(sleeps, 200_000, 400_000), Step::Run(works, 300, 900)]);
    Planted { culprit: agent.name.to_owned(), victims: Vec::new() }
}
