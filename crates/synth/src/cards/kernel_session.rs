//! The agent of card 9: it starts a session of its own under the name of the kernel's, so that
//! system calls are taxed or the recording of the kernel ends.

use etwkit_etl::Guid;

use super::scene::{Image, Scene, keep, root};
use crate::act::{Act, SessionPlan};
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

/// GUID of the kernel's own session.
const KERNEL_LOGGER: Guid = Guid::literal("9e814aad-3204-11d2-9a82-006008a86939");

/// Adds a service that runs now and then. In the sick scene it first does `act` with its session,
/// once it has slept `(from, to)` microseconds.
pub(super) fn service(
    scene: &mut Scene,
    agent: Image,
    slept_us: (u32, u32),
    act: fn(SessionPlan) -> Act,
) {
    let program = scene.service(agent, "/service", &[]);
    let main = root(agent, "CMonitor::Main");
    let starts = scene.b.path(&[
        &main,
        "ntdll!NtTraceControl nt!KiSystemServiceCopyEnd nt!NtTraceControl nt!EtwpStartLogger",
    ]);
    let works = scene
        .b
        .code(&[&main], &[&format!("{}!CMonitor::Look", agent.alias)]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CMonitor::Main", agent.alias));
    let file = keep(format!(r"C:\ProgramData\{}\null.etl", agent.alias));
    let session = SessionPlan {
        name: "NT Kernel Logger",
        file,
        guid: KERNEL_LOGGER,
        mode: 0x100,
    };
    let (from, to) = slept_us;
    let mut steps = vec![Step::Sleep(sleeps, from, to), Step::Run(works, 400, 800)];
    if scene.is_sick() {
        steps.push(Step::Act(starts, act(session)));
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 200_000, 400_000),
            Step::Run(works, 300, 900),
        ],
    );
}
