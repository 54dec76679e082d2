//! Card 46: a program runs scripts, and the library of a virus scanner looks into each of them, for
//! which it also asks its service. In the twin the library knows the scripts.

use super::scene::{Image, Planted, Scene, keep, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::SLEEPS;
use crate::script::{Ask, Step};
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 46,
    name: "amsi-scan",
    rule: "amsi-scan",
    description: "scripts run slowly, since the library of a virus scanner looks into each of them",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

/// Scripts that are run.
const SCRIPTS: usize = 60;
/// Time that the library computes for a script, and that the service takes, in microseconds.
const SCAN_US: u32 = 5_000;
const SERVICE_US: (u32, u32) = (25_000, 40_000);
const SCANS: &str = "amsi!AmsiScanBuffer amsi!CAmsiAntimalware::Scan";
const MESSAGES: &str = "rpcrt4!NdrClientCall3 ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd \
    nt!NtAlpcSendWaitReceivePort";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (provider, engine) = (scene.library(maker), scene.executable(maker));
    let port = scene.b.port();
    service(scene, engine, port);
    let image = scene.product();
    let libraries = ["amsi.dll", "rpcrt4.dll", provider.name];
    let program = scene.process(image, "/scripts", &libraries);
    let main = root(image, "CHost::Run");
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CHost::Run", image.alias));
    let runs = scene.b.code(
        &[&main],
        &[&format!("{}!CHost::Evaluate", image.alias), "ntdll!memcpy"],
    );
    let scans = format!("{main} {SCANS} {}!CProvider::Scan", provider.alias);
    let looks = scene.b.code(
        &[&scans],
        &[&format!("{}!Emulate", provider.alias), "ntdll!memcpy"],
    );
    let asks = scene.b.path(&[&scans, MESSAGES]);
    let waits = scene.b.waits(&[&scans, MESSAGES]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = Vec::new();
    for number in 0..SCRIPTS {
        // Drawn before the check for the defect, so that the twin does the same work.
        let own = scene.draw(3_000, 6_000);
        let file = scene
            .b
            .file(keep(format!(r"Scripts\{}\Step_{number}.js", image.alias)));
        if scene.is_sick() {
            let cost = scene.strong(SCAN_US);
            work.extend(scene.acts([
                Step::Run(looks, cost, cost),
                Step::Ask(
                    asks,
                    Ask {
                        port,
                        file,
                        waits,
                        reason: reason::WR_LPC_REPLY,
                    },
                ),
            ]));
        }
        work.push(Step::Run(runs, own, own));
    }
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 400_000)];
    steps.extend(scene.operation(work));
    scene.idles_after(thread, &steps, (sleeps, runs));
    Planted {
        culprit: provider.name.to_owned(),
        victims: vec![program],
    }
}

/// Adds the service of the scanner.
fn service(scene: &mut Scene, engine: Image, port: Port) {
    let program = scene.service(engine, "/service", &["rpcrt4.dll"]);
    let main = root(engine, "CScanner::ThreadProc");
    let takes = scene.b.waits(&[&main, MESSAGES]);
    let answers = scene.b.path(&[&main, MESSAGES]);
    let scans = scene.b.code(
        &[&main],
        &[&format!("{}!CScanner::Scan", engine.alias), "ntdll!memcpy"],
    );
    let (low, high) = (scene.strong(SERVICE_US.0), scene.strong(SERVICE_US.1));
    let steps = [
        Step::Take(takes, port),
        Step::Run(scans, low, high),
        Step::Answer(answers),
    ];
    let thread = scene.b.thread(
        program,
        8,
        &format!("{}!CScanner::ThreadProc", engine.alias),
    );
    scene.b.script(thread, &[], &steps);
}
