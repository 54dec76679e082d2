//! A program that sends requests to a server over TCP, one after the other, and waits for each
//! answer.

use super::scene::{Image, Scene, keep, root};
use crate::act::{Act, Connection, Packet, Way};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, SYSCALL, SYSTEM};
use crate::script::{Ask, Step};
use crate::table::Port;

/// Time until TCP sends a packet again, in microseconds. It doubles each time.
const AGAIN_US: u32 = 300_000;
const SENDS: &str = "ws2_32!send mswsock!WSPSend ntdll!NtDeviceIoControlFile";
pub(super) const RECEIVES: &str = "ws2_32!recv mswsock!WSPRecv ntdll!NtDeviceIoControlFile";
const NETWORK: &str =
    "nt!KiStartSystemThread nt!PspSystemThreadStartup ndis!ndisReceiveWorkerThread";

/// A request: how often its packet is sent again, the time until the answer comes, in
/// microseconds, and whether the defect acts on it.
pub(super) struct Request {
    pub(super) repeats: u32,
    pub(super) answer_us: u32,
    pub(super) is_delayed: bool,
}

/// A program with a connection to its server.
pub(super) struct Client {
    image: Image,
    connection: Connection,
}

impl Client {
    /// Adds the program.
    pub(super) fn new(scene: &mut Scene) -> Self {
        for driver in ["afd.sys", "tcpip.sys", "ndis.sys"] {
            scene.windows(driver);
        }
        let image = scene.product();
        let program = scene.process(image, "/sync", &["ws2_32.dll", "mswsock.dll"]);
        let connection = Connection {
            program,
            remote: scene.names.ip(),
            remote_port: 443,
            local_port: 49_700,
        };
        Self { image, connection }
    }

    pub(super) const fn connection(&self) -> Connection {
        self.connection
    }

    /// Adds the thread that sends these requests, and the one of the kernel that brings answers.
    pub(super) fn sends(&self, scene: &mut Scene, requests: &[Request]) {
        let Self { image, connection } = *self;
        let port = scene.b.port();
        network(scene, (port, connection), requests);
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
        let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
        for request in requests {
            let exchange = if request.is_delayed {
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
        let thread = scene.b.thread(
            connection.program,
            9,
            &format!("{}!CSync::Run", image.alias),
        );
        scene.b.script(
            thread,
            &steps,
            &[
                Step::Sleep(sleeps, 300_000, 600_000),
                Step::Run(code, 100, 300),
            ],
        );
    }
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
