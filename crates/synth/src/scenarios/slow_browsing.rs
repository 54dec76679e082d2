//! Scenario `slow-browsing`: a computer has two networks, and Windows queries the one without a
//! route to the internet first. Its name server does not answer, so each name that is not in the
//! cache takes twelve seconds: the service waits that long before it queries the server of the
//! other network.

use std::net::Ipv4Addr;

use super::windows::{
    KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, SLEEPS, SYSTEM32, USER, background, image,
    machine, service, user_program,
};
use crate::Options;
use crate::act::{Act, Lookup};
use crate::plan::{AdapterPlan, Maker, ModulePlan, Plan, reason};
use crate::script::{Ask, Builder, Step};
use crate::table::{Module, Port, Program};

static MOZILLA: Maker = Maker {
    company: "Mozilla Corporation",
    product: "Firefox",
    version: "105.0.1",
    sources: r"d:\mozilla-release\",
};
static OCULUS: Maker = Maker {
    company: "Facebook Technologies, LLC",
    product: "Oculus",
    version: "1.77.0.0",
    sources: r"D:\ovr\server\",
};
const FIREFOX_FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Mozilla Firefox\",
    r"C:\Program Files\Mozilla Firefox\",
);
const OCULUS_FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Oculus\Support\oculus-runtime\",
    r"C:\Program Files\Oculus\Support\oculus-runtime\",
);
const IMAGES: [ModulePlan; 6] = [
    image(
        ("dnsapi", "dnsapi.dll", "dnsapi.pdb"),
        SYSTEM32,
        (0x7FF9_3B40_0000, 0xC_A000),
        &MICROSOFT,
    ),
    image(
        ("dnsrslvr", "dnsrslvr.dll", "dnsrslvr.pdb"),
        SYSTEM32,
        (0x7FF9_3D40_0000, 0x5_A000),
        &MICROSOFT,
    ),
    image(
        ("OVRServer_x64", "OVRServer_x64.exe", "OVRServer_x64.pdb"),
        OCULUS_FOLDER,
        (0x7FF6_6A10_0000, 0x91_0000),
        &OCULUS,
    ),
    image(
        (
            "backgroundTaskHost",
            "backgroundTaskHost.exe",
            "backgroundTaskHost.pdb",
        ),
        SYSTEM32,
        (0x7FF7_55C0_0000, 0xA000),
        &MICROSOFT,
    ),
    image(
        ("firefox", "firefox.exe", "firefox.pdb"),
        FIREFOX_FOLDER,
        (0x7FF7_12C0_0000, 0xA_C000),
        &MOZILLA,
    ),
    image(
        ("xul", "xul.dll", "xul.pdb"),
        FIREFOX_FOLDER,
        (0x7FF8_E2A0_0000, 0x77F_0000),
        &MOZILLA,
    ),
];
const DNSAPI: Module = Module(OWN);
/// `svchost.exe` with the service.
const RESOLVER: &[Module] = &[
    Module(16),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    DNSAPI,
    Module(OWN + 1),
];
const OVR_SERVER: &[Module] = &[Module(OWN + 2), NTDLL, KERNEL32, KERNELBASE, DNSAPI];
const TASK_HOST: &[Module] = &[Module(OWN + 3), NTDLL, KERNEL32, KERNELBASE, DNSAPI];
const FIREFOX: &[Module] = &[
    Module(OWN + 4),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    DNSAPI,
    Module(OWN + 5),
];

/// Seconds of a trace of scale 1.
const SECONDS: u32 = 36;
/// Ticks between two samples: these programs wait.
const INTERVAL: u32 = 40_000;
/// The router without a way to the internet, and the one after it in the order of metrics: adapters
/// by number, and their servers counted over all adapters.
const DEAD: (usize, usize) = (1, 2);
const LIVE: (usize, usize) = (2, 3);
/// Time until the live server answers.
const ANSWERS_US: u32 = 21_000;
/// Overhead of calling the service, so that a query lasts as long as specified.
const AROUND_US: u32 = 200;

const HOST: &str = "ntdll!TppWorkerThread";
const RESOLVES: &str = "xul!nsHostResolver::ThreadFunc";
const QUERY: &str = "dnsapi!DnsQueryExW dnsapi!DnsQueryEx_Internal dnsapi!Query_PrivateExW";

/// A query: its start and its duration; 0 us: the answer is in the cache.
struct Query {
    at_us: u32,
    lasts_us: u32,
    lookup: Lookup,
}

const fn query(
    at_us: u32,
    lasts_us: u32,
    (name, kind, result): (&'static str, u32, &'static str),
) -> Query {
    Query {
        at_us,
        lasts_us,
        lookup: Lookup {
            name,
            kind,
            status: 0,
            result,
        },
    }
}

const A: u32 = 1;
const AAAA: u32 = 28;
// Names, answers and times are taken from the case study, so that its numbers can be looked up in
// this trace.
const OCULUS_NAMES: &str = "2a03:2880:f21c:80c1:face:b00c:0:32c2;::ffff:31.13.92.49;";
const LOGIN_NAMES: &str = "::ffff:40.126.32.74;::ffff:20.190.160.14;::ffff:40.126.32.134;::ffff:40.126.32.72;\
    ::ffff:20.190.160.22;::ffff:40.126.32.136;::ffff:40.126.32.138;::ffff:40.126.32.68;";
const CLOUD_NAMES: &str = "2600:9000:225b:fc00:1e:b6b1:7b80:93a1;2600:9000:225b:3600:1e:b6b1:7b80:93a1;\
    2600:9000:225b:2e00:1e:b6b1:7b80:93a1;2600:9000:225b:f000:1e:b6b1:7b80:93a1;";
const CLOUD: &str = "d21lj84g4rjzla.cloudfront.net";

/// Queries of each thread of a program, one after the other.
const OF_OVR_SERVER: [&[Query]; 2] = [
    &[
        query(6_416_000, 0, ("graph.oculus.com", A, "")),
        query(6_417_000, 12_038_000, ("graph.oculus.com", A, OCULUS_NAMES)),
    ],
    &[
        query(6_417_000, 0, ("graph.oculus.com", AAAA, "")),
        query(
            6_417_000,
            12_038_000,
            ("graph.oculus.com", AAAA, OCULUS_NAMES),
        ),
    ],
];
const OF_TASK_HOST: [&[Query]; 1] = [&[
    query(10_020_000, 0, ("login.microsoftonline.com", A, "")),
    query(
        10_020_000,
        12_043_000,
        ("login.microsoftonline.com", A, LOGIN_NAMES),
    ),
]];
const OF_FIREFOX: [&[Query]; 3] = [
    &[
        query(10_091_000, 0, ("loadus.exelator.com", A, "")),
        query(
            10_091_000,
            12_052_000,
            ("loadus.exelator.com", A, "::ffff:54.78.254.47;"),
        ),
    ],
    &[
        query(10_091_000, 0, ("cdn.adrtx.net", A, "")),
        query(
            10_091_000,
            12_052_000,
            (
                "cdn.adrtx.net",
                A,
                "::ffff:34.248.125.130;::ffff:3.248.26.101;",
            ),
        ),
    ],
    &[
        query(
            22_203_000,
            ANSWERS_US,
            (
                CLOUD,
                A,
                "13.227.153.112;13.227.153.94;13.227.153.81;13.227.153.66;",
            ),
        ),
        query(22_224_000, 12_047_000, (CLOUD, AAAA, CLOUD_NAMES)),
    ],
];

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), SECONDS, &IMAGES, false);
    b.interval(INTERVAL);
    background(&mut b);
    b.adapter(AdapterPlan {
        name: "Ethernet 2",
        address: "192.169.0.102",
        servers: vec![Ipv4Addr::new(192, 169, 0, 1)],
    });
    b.adapter(AdapterPlan {
        name: "Wi-Fi",
        address: "192.168.178.31",
        servers: vec![Ipv4Addr::new(192, 168, 178, 1)],
    });
    let ids = (b.id(), 804);
    let line = r"C:\Windows\system32\svchost.exe -k NetworkService -p -s Dnscache";
    let resolver = b.program(service(ids, "svchost.exe", line, RESOLVER));
    let ovr = b.program(user_program(
        (6624, 5120),
        "OVRServer_x64.exe",
        "OVRServer_x64.exe 124 128",
        OVR_SERVER,
    ));
    let line = r"C:\Windows\system32\backgroundTaskHost.exe -ServerName:BackgroundTaskHost.WebAccountProvider";
    let host = b.program(user_program(
        (6692, 812),
        "backgroundTaskHost.exe",
        line,
        TASK_HOST,
    ));
    let line = r#""C:\Program Files\Mozilla Firefox\firefox.exe""#;
    let firefox = b.program(user_program((13612, 5120), "firefox.exe", line, FIREFOX));
    page(&mut b, firefox);
    for (program, root, threads) in [
        (ovr, HOST, &OF_OVR_SERVER[..]),
        (host, HOST, &OF_TASK_HOST[..]),
        (firefox, RESOLVES, &OF_FIREFOX[..]),
    ] {
        for queries in threads {
            asks(&mut b, (program, root), queries, resolver);
        }
    }
    b.finish()
}

/// Adds a thread that looks names up.
fn asks(b: &mut Builder, (program, root): (Program, &str), queries: &[Query], resolver: Program) {
    let thread = b.thread(program, 9, root);
    let root = [USER, root];
    let sleeps = b.waits(&[root[0], root[1], SLEEPS]);
    let begins = b.path(&[root[0], root[1], QUERY]);
    let looks = b.code(
        &[root[0], root[1], QUERY],
        &["dnsapi!Query_Main", "dnsapi!Cache_Lookup"],
    );
    let call = "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd";
    let waits = b.waits(&[root[0], root[1], QUERY, call]);
    let hosts = b.file(r"Windows\System32\drivers\etc\hosts");
    let (mut steps, mut now_us) = (Vec::new(), 0);
    for query in queries {
        // Sleeps are relative: a thread that is late with one query is also late with later ones.
        if query.at_us > now_us {
            let pause = query.at_us - now_us;
            steps.push(Step::Sleep(sleeps, pause, pause));
        }
        now_us = query.at_us.max(now_us) + query.lasts_us;
        steps.extend([
            Step::Act(begins, Act::LookupBegins(query.lookup)),
            Step::Run(looks, 20, 40),
        ]);
        if query.lasts_us > 0 {
            // Each query has its own thread and port, so that no query waits for another one and
            // each lasts exactly as long as specified.
            let port = serves(b, resolver, query.lasts_us);
            steps.push(Step::Ask(
                begins,
                Ask {
                    port,
                    file: hosts,
                    waits,
                    reason: reason::WR_LPC_REPLY,
                },
            ));
            steps.push(Step::Run(looks, 20, 40));
        }
        steps.push(Step::Act(begins, Act::LookupEnds));
    }
    b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 900_000, 1_100_000),
            Step::Run(looks, 20, 60),
        ],
    );
}

/// Adds a thread of the service for a query with this duration: it queries the dead server first,
/// unless the answer comes soon.
fn serves(b: &mut Builder, resolver: Program, lasts_us: u32) -> Port {
    let port = b.port();
    let thread = b.thread(resolver, 9, "dnsrslvr!ResolverThread");
    let root = [USER, "dnsrslvr!ResolverThread"];
    let asks = b.path(&[root[0], root[1], "dnsapi!Query_Wire dnsapi!Send_ToServer"]);
    let waits = b.waits(&[
        root[0],
        root[1],
        "dnsapi!Query_Wire dnsapi!Send_AndRecv",
        SLEEPS,
    ]);
    let call = "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd";
    let (takes, answers) = (
        b.waits(&[root[0], root[1], call]),
        b.path(&[root[0], root[1], call]),
    );
    let code = b.code(&root, &["dnsapi!Packet_Parse", "dnsapi!Cache_Insert"]);
    let mut steps = vec![Step::Take(takes, port), Step::Run(code, 40, 60)];
    let to = |(adapter, server)| {
        [
            Step::Act(asks, Act::LookupAdapter(adapter)),
            Step::Act(asks, Act::LookupServer(server)),
        ]
    };
    let answer_us = if lasts_us > ANSWERS_US {
        // The rest of the query is the timeout of the dead server: the other server always takes
        // the same time.
        let dead_us = lasts_us - ANSWERS_US;
        steps.extend(to(DEAD));
        steps.extend([
            Step::Sleep(waits, dead_us, dead_us),
            Step::Act(asks, Act::LookupTimesOut(DEAD.1)),
        ]);
        ANSWERS_US
    } else {
        lasts_us
    };
    let answer_us = answer_us - AROUND_US;
    steps.extend(to(LIVE));
    steps.extend([
        Step::Sleep(waits, answer_us, answer_us),
        Step::Run(code, 40, 60),
        Step::Answer(answers),
    ]);
    b.script(thread, &[], &steps);
    port
}

/// Lets the browser draw the page as far as it has loaded.
fn page(b: &mut Builder, firefox: Program) {
    let thread = b.thread(firefox, 8, "firefox!main");
    let root = [
        USER,
        "firefox!main xul!XREMain::XRE_main xul!nsAppShell::Run",
    ];
    let waits = b.waits(&[
        root[0],
        root[1],
        "ntdll!NtWaitForWorkViaWorkerFactory",
        super::windows::SYSCALL,
    ]);
    let code = b.code(
        &root,
        &[
            "xul!mozilla::PresShell::DoReflow",
            "xul!nsDisplayList::PaintRoot",
            "xul!js::RunScript",
        ],
    );
    b.script(
        thread,
        &[],
        &[
            Step::Sleep(waits, 30_000, 90_000),
            Step::Run(code, 2_000, 9_000),
        ],
    );
}
