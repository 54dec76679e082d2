//! Card 24, first part: a program opens files on a share, and the server takes long to answer each
//! open. In the twin the server answers at once.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::{Act, FileOperation, Major};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, SYSTEM};
use crate::script::{Ask, Step};
use crate::table::{File, Port};

pub(super) const CARD: Card = Card {
    number: 24,
    name: "network-share",
    rule: "network-share",
    description: "a program opens files on a network share whose server takes long to answer",
    named: Named::WithCost,
    seconds: 14,
    plant,
};

/// Files that are opened.
const FILES: u32 = 12;
const OPENS: &str = "KERNELBASE!CreateFileW ntdll!NtCreateFile nt!KiSystemServiceCopyEnd nt!NtCreateFile \
    nt!IopCreateFile nt!ObOpenObjectByNameEx nt!IopParseDevice nt!IofCallDriver FLTMGR!FltpCreate \
    nt!IofCallDriver mup!MupCreate mup!MupiPerformRootLookup nt!IofCallDriver";
const ASKS: &str = "rdbss!RxFsdCommonDispatch rdbss!RxCommonCreate mrxsmb!SmbCeSubmitAndWait";

fn plant(scene: &mut Scene) -> Planted {
    for driver in ["mup.sys", "rdbss.sys", "mrxsmb.sys"] {
        scene.windows(driver);
    }
    let port = scene.b.port();
    redirector(scene, port);
    let (server, share) = (scene.names.word(), scene.names.word());
    let image = scene.product();
    let program = scene.process(image, &format!(r"/open \\{server}\{share}"), &[]);
    let main = root(image, "CProject::Load");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CProject::Load", image.alias));
    let asks = format!("{main} {OPENS} {ASKS}");
    let (sends, waits) = (scene.b.path(&[&asks]), scene.b.waits(&[&asks]));
    let begins = scene.b.path(&[&main, OPENS]);
    let parses = scene.b.code(
        &[&main],
        &[&format!("{}!CProject::Parse", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
    for _ in 0..FILES {
        let file = remote(scene, &server, &share);
        let parse = scene.draw(2_000, 6_000);
        let open = FileOperation {
            major: Major::Create,
            file,
            bytes: 0,
        };
        let opens = scene.acts([
            // The operation is open while the redirector waits, so that the event of its end
            // carries the whole time.
            Step::Act(begins, Act::FileBegins(open)),
            Step::Ask(
                sends,
                Ask {
                    port,
                    file,
                    waits,
                    reason: reason::EXECUTIVE,
                },
            ),
            Step::Act(begins, Act::FileEnds(0)),
        ]);
        let parse = [Step::Run(parses, parse, parse)];
        steps.extend(scene.operation(opens.into_iter().chain(parse)));
        steps.push(Step::Sleep(sleeps, 20_000, 60_000));
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 600_000),
            Step::Run(parses, 200, 400),
        ],
    );
    Planted {
        culprit: format!(r"\\{server}\{share}"),
        victims: vec![program],
    }
}

fn remote(scene: &mut Scene, server: &str, share: &str) -> File {
    let (folder, name) = (scene.names.word(), scene.names.word());
    scene.b.file(keep(format!(
        r"\Device\Mup\{server}\{share}\{folder}\{name}.dat"
    )))
}

/// Adds the thread that receives answers from the network.
fn redirector(scene: &mut Scene, port: Port) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread mrxsmb!SmbCeReceiveInd";
    let (takes, answers) = (
        scene.b.waits(&[begins]),
        scene.b.path(&[begins, "nt!KeSetEvent"]),
    );
    let waits = scene.b.waits(&[begins, "nt!KeDelayExecutionThread"]);
    let code = scene
        .b
        .code(&[begins], &["mrxsmb!VctIndReceive", "nt!memcpy"]);
    let (low, high) = match scene.is_sick() {
        true => (scene.strong(120_000), scene.strong(300_000)),
        false => (400, 1_200),
    };
    let thread = scene.b.thread(SYSTEM, 13, "nt!ExpWorkerThread");
    let steps = [
        Step::Take(takes, port),
        Step::Sleep(waits, low, high),
        Step::Run(code, 20, 60),
        Step::Answer(answers),
    ];
    scene.b.script(thread, &[], &steps);
}
