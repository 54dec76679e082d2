//! Card 44: a program asks for the proxy of an address, and the service of WinHTTP searches for
//! one until its time is up. In the twin it knows that there is none.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::{Ask, Step};
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 44,
    name: "proxy-search",
    rule: "proxy-search",
    description: "a program downloads, and waits each time until the search for a proxy gives up",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

/// Downloads; each of them begins with a search.
const DOWNLOADS: usize = 2;
const SEARCHES: &str = "winhttp!WinHttpGetProxyForUrl";

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/download", &["winhttp.dll"]);
    let port = scene.b.port();
    service(scene, port);
    let main = root(image, "CDownload::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CDownload::Run", image.alias));
    let sends = scene.b.path(&[&main, SEARCHES]);
    let waits = scene.b.waits(&[&main, SEARCHES, WAIT_FOR_OBJECT]);
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CDownload::Store", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let file = scene.b.file(r"Windows\System32\drivers\etc\hosts");
    let asks = Step::Ask(
        sends,
        Ask {
            port,
            file,
            waits,
            reason: reason::USER_REQUEST,
        },
    );
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
    for _ in 0..DOWNLOADS {
        let stores = scene.draw(3_000, 8_000);
        let searches = scene.acts([asks]);
        let stores = [Step::Run(code, stores, stores)];
        steps.extend(scene.operation(searches.into_iter().chain(stores)));
        steps.push(Step::Sleep(sleeps, 100_000, 200_000));
    }
    scene.idles_after(thread, &steps, (sleeps, code));
    Planted {
        culprit: "proxy search".to_owned(),
        victims: vec![program],
    }
}

/// Adds the service that searches for a proxy, with the time after which it gives up.
fn service(scene: &mut Scene, port: Port) {
    let program = scene.windows_service("LocalService", &["winhttp.dll", "dnsapi.dll"]);
    let pool = [USER, "ntdll!TppWorkerThread"];
    let takes = scene
        .b
        .waits(&[pool[0], pool[1], "ntdll!NtWaitForWorkViaWorkerFactory"]);
    let waits = scene
        .b
        .waits(&[pool[0], pool[1], "dnsapi!DnsQuery_W", WAIT_FOR_OBJECT]);
    let answers = scene.b.path(&[
        pool[0],
        pool[1],
        "KERNELBASE!SetEvent ntdll!NtSetEvent nt!KeSetEvent",
    ]);
    let code = scene.b.code(&pool, &["dnsapi!Query_Main"]);
    let (low, high) = match scene.is_sick() {
        true => (scene.strong(2_400_000), scene.strong(2_600_000)),
        false => (300, 800),
    };
    let thread = scene.b.thread(program, 8, "ntdll!TppWorkerThread");
    let steps = [
        Step::Take(takes, port),
        Step::Sleep(waits, low, high),
        Step::Run(code, 30, 90),
        Step::Answer(answers),
    ];
    scene.b.script(thread, &[], &steps);
}
