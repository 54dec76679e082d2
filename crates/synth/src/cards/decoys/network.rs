//! Lost packets that nobody waits for, and waits for data that nobody asked for.

use crate::act::{Act, Connection, Packet, Way};
use crate::cards::requests::RECEIVES;
use crate::cards::scene::{Scene, root};
use crate::scenarios::windows::{SLEEPS, SYSCALL};
use crate::script::Step;
use crate::table::{Code, Path, Program};

/// Packets before and after the lost one.
const PACKETS: usize = 20;

/// Adds a program that downloads. A packet of each download is lost, while many others arrive; once,
/// TCP waits for a single one.
pub(super) fn download(scene: &mut Scene) {
    for driver in ["afd.sys", "tcpip.sys"] {
        scene.windows(driver);
    }
    let image = scene.product();
    let program = scene.process(image, "/update", &["ws2_32.dll", "mswsock.dll"]);
    let main = root(image, "CDownload::Run");
    let calls = [
        main.as_str(),
        "ws2_32!recv mswsock!WSPRecv ntdll!NtDeviceIoControlFile",
        SYSCALL,
        "nt!NtDeviceIoControlFile afd!AfdReceive tcpip!TcpTlConnectionReceive",
    ];
    let (transfers, waits) = (scene.b.path(&calls), scene.b.waits(&calls));
    let code = scene
        .b
        .code(&[&main], &[&format!("{}!CDownload::Store", image.alias)]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let [checks, loads] =
        [(80, 50_100), (443, 50_101)].map(|(remote_port, local_port)| Connection {
            program,
            remote: scene.names.ip(),
            remote_port,
            local_port,
        });
    let step = |connection, way| {
        let packet = Packet {
            connection,
            way,
            bytes: 1_460,
        };
        Step::Act(transfers, Act::Transfers(packet))
    };
    let once = [
        Step::Sleep(sleeps, 1_200_000, 1_600_000),
        step(checks, Way::Sent),
        Step::Sleep(waits, 300_000, 300_000),
        step(checks, Way::SentAgain),
        Step::Sleep(waits, 10_000, 20_000),
        step(checks, Way::Received),
    ];
    let mut again = vec![
        Step::Sleep(sleeps, 700_000, 1_100_000),
        step(loads, Way::Sent),
    ];
    let arrives = [
        Step::Sleep(waits, 8_000, 16_000),
        step(loads, Way::Received),
        Step::Run(code, 50, 200),
    ];
    again.extend(arrives.repeat(PACKETS));
    again.push(step(loads, Way::SentAgain));
    again.extend(arrives.repeat(PACKETS));
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CDownload::Run", image.alias));
    scene.b.script(thread, &once, &again);
}

/// Adds a program with a thread that receives messages, and another one that sends some meanwhile.
/// No message is an answer.
pub(super) fn messenger(scene: &mut Scene) {
    let talker = Talker::new(scene, "/chat");
    let connection = talker.connection(scene, 5_222, 50_200);
    let receives = [
        Step::Sleep(talker.waits, 700_000, 900_000),
        talker.transfers(connection, Way::Received),
        Step::Run(talker.code, 1_000, 2_000),
    ];
    let sends = [
        Step::Sleep(talker.sleeps, 300_000, 400_000),
        talker.transfers(connection, Way::Sent),
    ];
    talker.repeats(scene, &receives);
    talker.repeats(scene, &sends);
}

/// Adds a server that answers at once, and waits for the next request of its client.
pub(super) fn server(scene: &mut Scene) {
    let talker = Talker::new(scene, "/serve");
    let connection = talker.connection(scene, 50_300, 8_080);
    let answers = [
        Step::Sleep(talker.waits, 600_000, 900_000),
        talker.transfers(connection, Way::Received),
        Step::Run(talker.code, 1_000, 2_000),
        talker.transfers(connection, Way::Sent),
    ];
    talker.repeats(scene, &answers);
}

/// Adds a program that asks a server for news, which answers when its time is up: there are none.
pub(super) fn poller(scene: &mut Scene) {
    let talker = Talker::new(scene, "/poll");
    let connection = talker.connection(scene, 443, 50_400);
    let polls = [
        talker.transfers(connection, Way::Sent),
        Step::Sleep(talker.waits, 900_000, 1_300_000),
        talker.transfers(connection, Way::Received),
        Step::Run(talker.code, 30, 60),
    ];
    talker.repeats(scene, &polls);
}

/// A program that sends and receives, with its stacks.
struct Talker {
    program: Program,
    /// Start function of its threads.
    start: String,
    calls: Path,
    waits: Path,
    sleeps: Path,
    code: Code,
}

impl Talker {
    fn new(scene: &mut Scene, arguments: &str) -> Self {
        let image = scene.product();
        let program = scene.process(image, arguments, &["ws2_32.dll", "mswsock.dll"]);
        let main = root(image, "CChannel::Run");
        let calls = [
            main.as_str(),
            RECEIVES,
            SYSCALL,
            "nt!NtDeviceIoControlFile afd!AfdReceive tcpip!TcpTlConnectionReceive",
        ];
        Self {
            program,
            start: format!("{}!CChannel::Run", image.alias),
            calls: scene.b.path(&calls),
            waits: scene.b.waits(&calls),
            sleeps: scene.b.waits(&[&main, SLEEPS]),
            code: scene
                .b
                .code(&[&main], &[&format!("{}!CChannel::Take", image.alias)]),
        }
    }

    fn connection(&self, scene: &mut Scene, remote_port: u16, local_port: u16) -> Connection {
        Connection {
            program: self.program,
            remote: scene.names.ip(),
            remote_port,
            local_port,
        }
    }

    const fn transfers(&self, connection: Connection, way: Way) -> Step {
        let packet = Packet {
            connection,
            way,
            bytes: 400,
        };
        Step::Act(self.calls, Act::Transfers(packet))
    }

    /// Adds a thread that does these steps again and again.
    fn repeats(&self, scene: &mut Scene, steps: &[Step]) {
        let thread = scene.b.thread(self.program, 8, &self.start);
        scene.b.script(thread, &[], steps);
    }
}
