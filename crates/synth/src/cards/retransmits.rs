//! Card 41: a program asks a server again and again, and some of its packets are lost, so that TCP
//! sends them once more after a while. In the twin no packet is lost.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::{Act, Connection, Packet, Way};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, SYSCALL, SYSTEM};
use crate::script::{Ask, Step};
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 41,
    name: "retransmits",
    rule: "retransmits",
    description: "a program waits for a server, since packets are lost and sent again late",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

/// Requests, and how many of them are lost.
const REQUESTS: u32 = 24;
const LOST: u32 = 8;
/// Of the lost requests each one of this many is lost twice.
const TWICE: u32 = 3;
/// Time until TCP sends a packet again, in microseconds. It doubles each time.
const AGAIN_US: u32 = 300_000;
const SENDS: &str = "ws2_32!send mswsock!WSPSend ntdll!NtDeviceIoControlFile";
const RECEIVES: &str = "ws2_32!recv mswsock!WSPRecv ntdll!NtDeviceIoControlFile";
const NETWORK: &str =
    "nt!KiStartSystemThread nt!PspSystemThreadStartup ndis!ndisReceiveWorkerThread";

/// A request: how often its packet is sent again, and the time until the answer comes, in
/// microseconds.
struct Request {
    repeats: u32,
    answer_us: u32,
}

fn plant(scene: &mut Scene) -> Planted {
    for driver in ["afd.sys", "tcpip.sys", "ndis.sys"] {
        scene.windows(driver);
    }
    let image = scene.product();
    let program = scene.process(image, "/sync", &["ws2_32.dll", "mswsock.dll"]);
    let remote = scene.names.ip();
    let connection = Connection {
        program,
        remote,
        remote_port: 443,
        local_port: 49_700,
    };
    let requests = requests(scene);
    let port = scene.b.port();
    network(scene, (port, connection), &requests);
    let main = root(image, "CSync::Run");
    let sends = scene.b.path(&[
        &main,
        SENDS,
        SYSCALL,
        "nt!NtDeviceIoControlFile afd!AfdFastConnectionSend tcpip!TcpTlConnectionSend",
    ]);
    let receives = [
        main.as_str(),
        RECEIVES,
        SYSCALL,
        "nt!NtDeviceIoControlFile afd!AfdReceive",
    ];
    let (asks, waits) = (scene.b.path(&receives), scene.b.waits(&receives));
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CSync::Apply", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let file = scene
        .b
        .file(keep(format!(r"ProgramData\{}\state.dat", image.alias)));
    let packet = Packet {
        connection,
        way: Way::Sent,
        bytes: 700,
    };
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
    for request in &requests {
        let exchange = [
            Step::Act(sends, Act::Transfers(packet)),
            Step::Ask(
                asks,
                Ask {
                    port,
                    file,
                    waits,
                    reason: reason::EXECUTIVE,
                },
            ),
        ];
        let exchange = if request.repeats > 0 {
            scene.acts(exchange)
        } else {
            exchange.to_vec()
        };
        let apply = scene.draw(1_000, 4_000);
        let apply = [Step::Run(code, apply, apply)];
        steps.extend(scene.operation(exchange.into_iter().chain(apply)));
        let rest = scene.draw(80_000, 140_000);
        steps.push(Step::Sleep(sleeps, rest, rest));
    }
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CSync::Run", image.alias));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 600_000),
            Step::Run(code, 100, 300),
        ],
    );
    Planted {
        culprit: remote.to_string(),
        victims: vec![program],
    }
}

/// Returns the requests, with the lost ones spread evenly over them.
fn requests(scene: &mut Scene) -> Vec<Request> {
    let lost = scene.strong(LOST).min(REQUESTS);
    let lost = if scene.is_sick() { lost } else { 0 };
    let before = |number: u32| number * lost / REQUESTS;
    (0..REQUESTS)
        .map(|number| {
            let answer_us = scene.draw(1_500, 4_000);
            let repeats = match before(number + 1) {
                of if of == before(number) => 0,
                of if of.is_multiple_of(TWICE) => 2,
                _ => 1,
            };
            Request { repeats, answer_us }
        })
        .collect()
}

/// Adds the thread of the kernel that sends lost packets again and receives the answers.
fn network(scene: &mut Scene, (port, connection): (Port, Connection), requests: &[Request]) {
    let takes = scene.b.waits(&[NETWORK, "nt!KeRemovePriQueue"]);
    let waits = scene.b.waits(&[NETWORK, "nt!KeWaitForMultipleObjects"]);
    let repeats = scene
        .b
        .path(&[NETWORK, "tcpip!TcpTimerCallback tcpip!TcpTcbSend"]);
    let receives = scene.b.path(&[
        NETWORK,
        "ndis!NdisMIndicateReceiveNetBufferLists tcpip!TcpTcbReceive",
    ]);
    let answers = scene.b.path(&[
        NETWORK,
        "tcpip!TcpTcbReceive afd!AfdReceiveComplete nt!KeSetEvent",
    ]);
    let code = scene
        .b
        .code(&[NETWORK], &["tcpip!TcpTcbReceive", "ndis!NdisCopyBuffer"]);
    let packet = |way, bytes| {
        Act::Transfers(Packet {
            connection,
            way,
            bytes,
        })
    };
    let mut steps = Vec::new();
    for request in requests {
        steps.push(Step::Take(takes, port));
        for repeat in 0..request.repeats {
            let again = AGAIN_US << repeat;
            steps.extend([
                Step::Sleep(waits, again, again),
                Step::Act(repeats, packet(Way::SentAgain, 700)),
            ]);
        }
        steps.extend([
            Step::Sleep(waits, request.answer_us, request.answer_us),
            Step::Run(code, 20, 60),
            Step::Act(receives, packet(Way::Received, 1_460)),
            Step::Answer(answers),
        ]);
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(takes, reason::EXECUTIVE, never));
    let thread = scene.b.thread(SYSTEM, 13, "nt!ExpWorkerThread");
    scene.b.script(thread, &steps, &[]);
}
