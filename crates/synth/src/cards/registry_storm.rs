//! Card 22: a service renders messages for a client, and looks up one setting in the registry again
//! and again for each of them. In the twin it reads the setting once and remembers it.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::{Act, RegistryAct, RegistryOperation};
use crate::plan::{KeyPlan, reason};
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::{Ask, Step};
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 22,
    name: "registry-storm",
    rule: "registry-storm",
    description: "a service reads the same key of the registry many times for each request",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Requests, each of which renders a page of messages.
const REQUESTS: usize = 8;
/// Reads for a page.
const READS: u32 = 1_000;
/// Place of the control block of the key.
const PLACE: u32 = 0x720;
const CALLS: &str = "rpcrt4!NdrClientCall3 rpcrt4!LRPC_CCALL::SendReceive ntdll!NtAlpcSendWaitReceivePort \
    nt!KiSystemServiceCopyEnd nt!NtAlpcSendWaitReceivePort";
const RECEIVES: &str = "rpcrt4!LRPC_ADDRESS::ReceiveLotsaCalls ntdll!NtAlpcSendWaitReceivePort";
const RENDERS: &str = "rpcrt4!Invoke wevtsvc!EvtRpcMessageRender wevtsvc!EventRenderer::RenderMessage \
    KERNELBASE!FormatMessageW ntdll!RtlGetThreadPreferredUILanguages";
const QUERIES: &str =
    "ntdll!NtQueryValueKey nt!KiSystemServiceCopyEnd nt!NtQueryValueKey nt!CmQueryValueKey";

fn plant(scene: &mut Scene) -> Planted {
    let port = scene.b.port();
    let path = keep(format!(
        r"\REGISTRY\MACHINE\SYSTEM\ControlSet001\Control\{}",
        scene.names.word()
    ));
    service(scene, port, path);
    let image = scene.product();
    let program = scene.process(image, "/events", &["rpcrt4.dll"]);
    let main = root(image, "CEventList::Fill");
    let file = scene.b.file(r"Windows\System32\winevt\Logs\System.evtx");
    let (calls, replies) = (
        scene.b.path(&[&main, CALLS]),
        scene.b.waits(&[&main, CALLS]),
    );
    let shows = scene.b.code(
        &[&main],
        &[&format!("{}!CEventList::Add", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
    for _ in 0..REQUESTS {
        let show = scene.draw(2_000, 5_000);
        let asks = Step::Ask(
            calls,
            Ask {
                port,
                file,
                waits: replies,
                reason: reason::WR_LPC_REPLY,
            },
        );
        let shows = [Step::Run(shows, show, show)];
        steps.extend(scene.operation(scene.acts([asks]).into_iter().chain(shows)));
        steps.push(Step::Sleep(sleeps, 100_000, 200_000));
    }
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CEventList::Fill", image.alias));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 600_000),
            Step::Run(shows, 200, 400),
        ],
    );
    Planted {
        culprit: path.to_owned(),
        victims: vec![program],
    }
}

/// Adds the service of the event log.
fn service(scene: &mut Scene, port: Port, path: &'static str) {
    let program = scene.windows_service(
        "LocalServiceNetworkRestricted",
        &["rpcrt4.dll", "wevtsvc.dll"],
    );
    let key = scene.b.key(KeyPlan {
        path,
        place: PLACE,
        is_there: true,
        is_listed_first: true,
    });
    let takes = scene
        .b
        .waits(&[USER, RECEIVES, "nt!KiSystemServiceCopyEnd"]);
    let answers = scene.b.path(&[
        USER,
        "rpcrt4!LRPC_SCALL::SendReply ntdll!NtAlpcSendWaitReceivePort",
    ]);
    let renders = scene.b.code(
        &[USER, RENDERS],
        &["KERNELBASE!BaseDllFormatMessage", "ntdll!memcpy"],
    );
    let reads = scene.b.path(&[USER, RENDERS, QUERIES]);
    let code = scene
        .b
        .code(&[USER, RENDERS, QUERIES], &["nt!CmpQueryKeyValueData"]);
    let act = RegistryAct {
        operation: RegistryOperation::QueryValue,
        key,
        name: "PreferredLanguages",
    };
    // The twin reads the value once for each page: the defect is the missing cache, not the read.
    let count = if scene.is_sick() {
        scene.strong(READS)
    } else {
        1
    };
    let mut steps = vec![Step::Take(takes, port), Step::Run(renders, 8_000, 8_000)];
    for _ in 0..count {
        steps.extend([
            Step::Act(reads, Act::RegistryBegins(act)),
            Step::Run(code, 100, 140),
            Step::Act(reads, Act::RegistryEnds(0)),
        ]);
    }
    steps.push(Step::Answer(answers));
    let thread = scene.b.thread(program, 8, "rpcrt4!LrpcIoComplete");
    scene.b.script(thread, &[], &steps);
}
