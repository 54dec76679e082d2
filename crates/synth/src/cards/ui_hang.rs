//! Card 18: the thread of a window does not read messages for a long time. Depending on the seed it
//! computes, or waits for another thread of its program or for another process. In the twin this
//! takes no time.

use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SETS_EVENT, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::{Ask, Step};
use crate::table::{Port, Program};

pub(super) const CARD: Card = Card {
    number: 18,
    name: "ui-hang",
    rule: "ui-hang",
    description: "a window hangs: its thread computes, or waits for a thread or for another process",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Number of clicks of the user.
const CLICKS: usize = 4;
const GETS: &str =
    "user32!GetMessageW win32kfull!NtUserGetMessage win32kfull!xxxRealInternalGetMessage";
const CALLS: &str = "rpcrt4!NdrClientCall3 rpcrt4!LRPC_CCALL::SendReceive ntdll!NtAlpcSendWaitReceivePort \
    nt!KiSystemServiceCopyEnd nt!NtAlpcSendWaitReceivePort";
const RECEIVES: &str = "rpcrt4!LRPC_ADDRESS::ReceiveLotsaCalls ntdll!NtAlpcSendWaitReceivePort";
const WORKS: &str = "ntdll!TppWorkerThread";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (image, helper) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(image, "", &["user32.dll", "rpcrt4.dll"]);
    let other = scene.process(helper, "/serve", &["rpcrt4.dll"]);
    let (near, far) = (scene.b.port(), scene.b.port());
    // The seed decides the reason of the hang: the window computes, waits for a thread of its own
    // process, or for another process. A rule has to recognize all three by their stacks.
    let way = scene.draw(0, 2);
    let handler = format!(
        "{} user32!DispatchMessageW {}!CFrame::WndProc",
        root(image, "wWinMain"),
        image.alias
    );
    let gets = scene.b.waits(&[&root(image, "wWinMain"), GETS]);
    let paints = scene
        .b
        .code(&[&handler], &[&format!("{}!CFrame::OnPaint", image.alias)]);
    let click = format!("{handler} {}!CFrame::OnClick", image.alias);
    let recalculates = format!("{handler} {}!CFrame::OnRecalculate", image.alias);
    let cell = format!("{}!CSheet::Cell", image.alias);
    let code = scene.b.code(
        &[&recalculates],
        &[&cell, "ntdll!RtlAllocateHeap", "ntdll!memcpy"],
    );
    let file = scene.b.file(r"ProgramData\settings.dat");
    let waits = format!("{click} {WAIT_FOR_OBJECT}");
    let (sends, waits) = (
        scene.b.path(&[&click, SETS_EVENT]),
        scene.b.waits(&[&waits]),
    );
    let calls = scene.b.path(&[&click, CALLS]);
    let replies = scene.b.waits(&[&click, CALLS]);
    let mut steps = Vec::new();
    for _ in 0..CLICKS {
        let (pause, own) = (scene.draw(500_000, 800_000), scene.draw(2_000, 5_000));
        let long = scene.draw(600_000, 900_000);
        let long = if scene.is_sick() {
            scene.strong(long)
        } else {
            1_000
        };
        let hangs = match way {
            0 => Step::Run(code, long, long),
            1 => Step::Ask(
                sends,
                Ask {
                    port: near,
                    file,
                    waits,
                    reason: reason::USER_REQUEST,
                },
            ),
            _ => Step::Ask(
                calls,
                Ask {
                    port: far,
                    file,
                    waits: replies,
                    reason: reason::WR_LPC_REPLY,
                },
            ),
        };
        steps.push(Step::Sleep(gets, pause, pause));
        let paint = || std::iter::once(Step::Run(paints, own, own));
        steps.extend(scene.operation(paint().chain(scene.acts([hangs])).chain(paint())));
    }
    let thread = scene
        .b
        .thread(program, 10, &format!("{}!wWinMain", image.alias));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(gets, 200_000, 400_000),
            Step::Run(paints, 500, 900),
        ],
    );
    serves(
        scene,
        program,
        (image, WORKS, "ntdll!TppWorkpExecuteCallback"),
        near,
    );
    serves(scene, other, (helper, RECEIVES, "rpcrt4!Invoke"), far);
    let culprit = match way {
        0 => format!("{}!CFrame::OnRecalculate", image.name),
        1 => format!("{}!CFrame::OnClick", image.name),
        _ => format!("{} ({})", helper.name, scene.b.pid(other)),
    };
    Planted {
        culprit,
        victims: vec![program],
    }
}

/// Adds a thread that serves requests: slowly, or at once.
fn serves(
    scene: &mut Scene,
    program: Program,
    (image, takes, runs): (Image, &str, &str),
    port: Port,
) {
    let takes = scene.b.waits(&[USER, takes, "nt!KiSystemServiceCopyEnd"]);
    let works = [USER, runs, &format!("{}!CStore::Update", image.alias)];
    let code = scene.b.code(&works, &["ntdll!memcpy"]);
    let (sleeps, answers) = (
        scene.b.waits(&[works[0], works[1], works[2], SLEEPS]),
        scene.b.path(&works),
    );
    let (low, high) = match scene.is_sick() {
        true => (scene.strong(600_000), scene.strong(900_000)),
        false => (300, 900),
    };
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CStore::Update", image.alias));
    let steps = [
        Step::Take(takes, port),
        Step::Run(code, 200, 400),
        Step::Sleep(sleeps, low, high),
        Step::Answer(answers),
    ];
    scene.b.script(thread, &[], &steps);
}
