//! Card 16: a program looks up names, and the DNS client service queries the server of a second
//! adapter first, which does not answer. In the twin the adapter with the good server comes first.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::{Act, Lookup};
use crate::plan::{AdapterPlan, reason};
use crate::scenarios::windows::{SETS_EVENT, SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::{Ask, Step};
use crate::table::{Event, Port, Program};

pub(super) const CARD: Card = Card {
    number: 16,
    name: "dns-timeout",
    rule: "dns-timeout",
    description: "names are looked up slowly, since a dead server of a second adapter is queried first",
    named: Named::WithCost,
    seconds: 14,
    plant,
};

/// Names that are looked up, each for addresses of both kinds.
const NAMES: usize = 4;
const QUERY: &str = "dnsapi!DnsQueryExW dnsapi!Query_PrivateExW";
const MESSAGES: &str = "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd";
const ANSWER_US: u32 = 9_000;

fn plant(scene: &mut Scene) -> Planted {
    let server = scene.names.address();
    let name = keep(scene.names.word());
    let servers = server.parse().into_iter().collect();
    scene.b.adapter(AdapterPlan {
        name,
        address: "10.0.0.20",
        servers,
    });
    let port = scene.b.port();
    resolver(scene, port);
    let image = scene.product();
    let program = scene.process(image, "", &["dnsapi.dll"]);
    let hosts: Vec<_> = (0..NAMES)
        .map(|_| (keep(scene.names.host()), scene.names.address()))
        .collect();
    let (go, done) = (scene.b.event(0), scene.b.event(0));
    let first = root(image, "CNet::Connect");
    let second = root(image, "CNet::ResolveV6");
    let sleeps = scene.b.waits(&[&first, SLEEPS]);
    let (sets, waits) = (
        scene.b.path(&[&first, SETS_EVENT]),
        scene.b.waits(&[&first, WAIT_FOR_OBJECT]),
    );
    let connects = scene.b.code(
        &[&first],
        &[&format!("{}!CNet::Open", image.alias), "ntdll!memcpy"],
    );
    let (mut steps, mut others) = (vec![Step::Sleep(sleeps, 500_000, 700_000)], Vec::new());
    for (host, address) in hosts {
        let lookup = |kind, result| Lookup {
            name: host,
            kind,
            status: 0,
            result,
        };
        let four = looks_up(
            scene,
            &first,
            lookup(1, keep(format!("::ffff:{address};"))),
            port,
        );
        let six = looks_up(scene, &second, lookup(28, "2001:db8::7;"), port);
        let opens = scene.draw(2_000, 6_000);
        // Both kinds of addresses are queried at once: the operation lasts as long as the slower
        // one.
        let asks = [Step::Set(sets, go)].into_iter().chain(four);
        let ends = [
            Step::Await(waits, reason::USER_REQUEST, done),
            Step::Run(connects, opens, opens),
        ];
        steps.extend(scene.operation(asks.chain(ends)));
        steps.push(Step::Sleep(sleeps, 100_000, 200_000));
        others.extend(helps(scene, &second, six, (go, done)));
    }
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CNet::Connect", image.alias));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 600_000),
            Step::Run(connects, 200, 400),
        ],
    );
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CNet::ResolveV6", image.alias));
    scene
        .b
        .script(thread, &others, &[Step::Sleep(sleeps, 300_000, 600_000)]);
    Planted {
        culprit: server,
        victims: vec![program],
    }
}

/// Returns the steps of the other thread, which also looks up the name when it is signaled.
fn helps(scene: &mut Scene, main: &str, six: Vec<Step>, (go, done): (Event, Event)) -> Vec<Step> {
    let waits = scene.b.waits(&[main, WAIT_FOR_OBJECT]);
    let sets = scene.b.path(&[main, SETS_EVENT]);
    let begins = [Step::Await(waits, reason::USER_REQUEST, go)];
    begins
        .into_iter()
        .chain(six)
        .chain([Step::Set(sets, done)])
        .collect()
}

fn looks_up(scene: &mut Scene, main: &str, lookup: Lookup, port: Port) -> Vec<Step> {
    let file = scene.b.file(r"Windows\System32\drivers\etc\hosts");
    let queries = scene.b.path(&[main, QUERY]);
    let code = scene.b.code(
        &[main, QUERY],
        &["dnsapi!Query_Main", "dnsapi!Cache_Lookup"],
    );
    let waits = scene.b.waits(&[main, QUERY, MESSAGES]);
    scene.acts([
        Step::Act(queries, Act::LookupBegins(lookup)),
        Step::Run(code, 40, 40),
        Step::Ask(
            queries,
            Ask {
                port,
                file,
                waits,
                reason: reason::WR_LPC_REPLY,
            },
        ),
        Step::Run(code, 60, 60),
        Step::Act(queries, Act::LookupEnds),
    ])
}

/// Adds the service: it queries the servers of one adapter, and of the other one if they do not
/// answer.
fn resolver(scene: &mut Scene, port: Port) {
    let program: Program = scene.windows_service("NetworkService", &["dnsapi.dll", "dnsrslvr.dll"]);
    let main = [USER, "dnsrslvr!ResolverThread"];
    let asks = scene
        .b
        .path(&[main[0], main[1], "dnsapi!Query_Wire dnsapi!Send_ToServer"]);
    let takes = scene.b.waits(&[main[0], main[1], MESSAGES]);
    let answers = scene.b.path(&[main[0], main[1], MESSAGES]);
    let waits = scene.b.waits(&[
        main[0],
        main[1],
        "dnsapi!Query_Wire dnsapi!Send_AndRecv",
        SLEEPS,
    ]);
    let code = scene
        .b
        .code(&main, &["dnsapi!Packet_Parse", "dnsapi!Cache_Insert"]);
    let patience = scene.draw(900_000, 1_200_000);
    let patience = scene.strong(patience);
    let mut steps = vec![Step::Take(takes, port), Step::Run(code, 80, 80)];
    if scene.is_sick() {
        // The server of the second adapter is the third one of the machine.
        steps.extend([
            Step::Act(asks, Act::LookupAdapter(1)),
            Step::Act(asks, Act::LookupServer(2)),
            Step::Sleep(waits, patience, patience),
            Step::Act(asks, Act::LookupTimesOut(2)),
        ]);
    }
    steps.extend([
        Step::Act(asks, Act::LookupAdapter(0)),
        Step::Act(asks, Act::LookupServer(0)),
        Step::Sleep(waits, ANSWER_US, ANSWER_US),
        Step::Run(code, 80, 80),
        Step::Answer(answers),
    ]);
    // Two threads, since each name is queried for both kinds of addresses at the same time.
    for _ in 0..2 {
        let thread = scene.b.thread(program, 9, main[1]);
        scene.b.script(thread, &[], &steps);
    }
}
