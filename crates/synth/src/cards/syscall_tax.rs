//! Card 9: a program that calls the system often is slow, since a driver has put itself below the
//! kernel's event logging and its service has switched on the tracing of system calls. In the twin
//! the driver is present, but system calls are not traced.

use super::scene::{Planted, Scene, root};
use super::{Card, Named, kernel_session};
use crate::act::Act;
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 9,
    name: "syscall-tax",
    rule: "syscall-tax",
    description: "system calls are slow, since a driver has hooked the kernel's logging of them",
    named: Named::WithCost,
    seconds: 10,
    plant,
};

/// Rounds of work, with many system calls each.
const ROUNDS: usize = 60;
const YIELDS: &str = "KERNELBASE!SleepEx ntdll!NtDelayExecution";
const ENTRY: &str = "nt!KiSystemServiceExitPico nt!PerfInfoLogSysCallEntry nt!EtwTraceKernelEvent";
const EXIT: &str = "nt!KiSystemServiceExitPico nt!PerfInfoLogSysCallExit nt!EtwTraceKernelEvent";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (driver, agent) = (scene.driver(maker), scene.executable(maker));
    kernel_session::service(scene, agent, (150_000, 250_000), Act::SessionStarts);
    let image = scene.product();
    let program = scene.process(image, "/serve", &[]);
    let main = root(image, "CQueue::Run");
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CQueue::Run", image.alias));
    let hook = driver.alias;
    let taxed = scene.b.code(
        &[
            &main,
            &format!("{}!CSpinLock::Acquire", image.alias),
            YIELDS,
        ],
        &[
            &format!("{ENTRY} {hook}!OnTrace nt!ExfAcquireRundownProtection"),
            &format!("{ENTRY} {hook}!OnTrace"),
            &format!("{EXIT} {hook}!OnTrace nt!ExfReleaseRundownProtection"),
        ],
    );
    let calls = scene.b.code(
        &[
            &main,
            &format!("{}!CSpinLock::Acquire", image.alias),
            YIELDS,
        ],
        &["nt!KiSystemServiceCopyEnd nt!NtDelayExecution nt!KeDelayExecutionThread"],
    );
    let own = scene.b.code(
        &[&main],
        &[&format!("{}!CQueue::Serve", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = Vec::new();
    for _ in 0..ROUNDS {
        let serve = scene.draw(6_000, 14_000);
        let tax = scene.strong(16_000);
        work.extend([Step::Run(own, serve, serve), Step::Run(calls, 900, 900)]);
        if scene.is_sick() {
            // The tax is on the way in and out of each call, so it is a part of the program's own
            // CPU time.
            work.extend(scene.acts([Step::Run(taxed, tax, tax)]));
        }
    }
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 600_000)];
    steps.extend(scene.operation(work));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(own, 100, 200),
        ],
    );
    Planted {
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}
