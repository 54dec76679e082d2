//! Lost packets that nobody waits for.

use crate::act::{Act, Connection, Packet, Way};
use crate::cards::scene::{Scene, root};
use crate::scenarios::windows::{SLEEPS, SYSCALL};
use crate::script::Step;

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
