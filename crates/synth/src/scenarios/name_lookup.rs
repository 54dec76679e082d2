//! Scenario `name-lookup`: a mail program and a browser look up names of hosts. Some answers are in
//! the cache, most come from a server, some names do not exist; one server does not answer, so the
//! service queries another one.

use super::windows::{
    KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, SYSTEM32, USER, background, image, machine, service,
    user_program,
};
use crate::Options;
use crate::act::{Act, Lookup};
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::scenarios::windows::MICROSOFT;
use crate::script::{Ask, Builder, Step};
use crate::table::{Module, Port};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Mail",
    version: "4.4.0.0",
    sources: r"D:\build\mail\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Mail\",
    r"C:\Program Files\Contoso\Mail\",
);
const IMAGES: [ModulePlan; 4] = [
    image(
        ("Mail", "Mail.exe", "Mail.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x31_0000),
        &CONTOSO,
    ),
    image(
        ("Browser", "Browser.exe", "Browser.pdb"),
        FOLDER,
        (0x7FF7_12C0_0000, 0x1C_0000),
        &CONTOSO,
    ),
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
];
const MAIL: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE, Module(OWN + 2)];
const BROWSER: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
];
/// `svchost.exe` with the service.
const RESOLVER: &[Module] = &[
    Module(16),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
    Module(OWN + 3),
];

/// Status of a name that does not exist, and of a query without an answer.
const NO_NAME: u32 = 9003;
const TIMEOUT: u32 = 1460;

const fn found(name: &'static str, kind: u32, result: &'static str) -> Lookup {
    Lookup {
        name,
        kind,
        status: 0,
        result,
    }
}

const fn failed(name: &'static str, kind: u32, status: u32) -> Lookup {
    Lookup {
        name,
        kind,
        status,
        result: "",
    }
}

const QUERY: &str = "dnsapi!DnsQueryExW dnsapi!Query_PrivateExW";

/// Paths of the service to an answer.
#[derive(Debug, Clone, Copy)]
struct Service {
    /// A server answers; the first one does not, the second one does; none does.
    quick: Port,
    slow: Port,
    dead: Port,
}

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    background(&mut b);
    let service = resolver(&mut b);
    let ids = (b.id(), 5120);
    let mail = b.program(user_program(ids, "Mail.exe", "Mail.exe /sync", MAIL));
    let name = "Mail!CSync::ThreadProc";
    let thread = b.thread(mail, 9, name);
    let mut steps = pause(&mut b, name, 8_000, 25_000);
    let kinds = [(1, "::ffff:203.0.113.7;"), (28, "2001:db8::7;")];
    for (kind, result) in kinds {
        steps.extend(looks_up(
            &mut b,
            name,
            found("imap.contoso.example", kind, result),
            Some(service.quick),
        ));
    }
    steps.extend(looks_up(
        &mut b,
        name,
        found("imap.contoso.example", 1, "::ffff:203.0.113.7;"),
        None,
    ));
    steps.extend(looks_up(
        &mut b,
        name,
        found(
            "smtp.contoso.example",
            1,
            "type:  5 mx.contoso.example;::ffff:203.0.113.9;",
        ),
        Some(service.slow),
    ));
    steps.extend(looks_up(
        &mut b,
        name,
        failed("old.contoso.example", 1, NO_NAME),
        Some(service.quick),
    ));
    b.script(thread, &[], &steps);
    let ids = (b.id(), 5120);
    let browser = b.program(user_program(ids, "Browser.exe", "Browser.exe", BROWSER));
    // Concurrent queries of one process for the same name and type could not be distinguished.
    let tabs = [
        (
            "Browser!CTab::Load",
            "www.fabrikam.example",
            "ads.fabrikam.example",
        ),
        (
            "Browser!CPrefetch::Run",
            "cdn.fabrikam.example",
            "img.fabrikam.example",
        ),
    ];
    for (name, host, dead) in tabs {
        let thread = b.thread(browser, 9, name);
        let mut steps = pause(&mut b, name, 5_000, 20_000);
        steps.extend(looks_up(
            &mut b,
            name,
            found(host, 1, "::ffff:198.51.100.4;"),
            Some(service.quick),
        ));
        steps.extend(looks_up(
            &mut b,
            name,
            failed(dead, 65, TIMEOUT),
            Some(service.dead),
        ));
        steps.extend(looks_up(
            &mut b,
            name,
            found(host, 1, "::ffff:198.51.100.4;"),
            None,
        ));
        b.script(thread, &[], &steps);
    }
    b.finish()
}

fn pause(b: &mut Builder, name: &str, from_us: u32, to_us: u32) -> Vec<Step> {
    let waits = b.waits(&[USER, name, SLEEPS]);
    let code = b.code(&[USER, name], &["ntdll!RtlAllocateHeap", "ntdll!memcpy"]);
    vec![
        Step::Sleep(waits, from_us, to_us),
        Step::Run(code, 100, 600),
    ]
}

/// Returns the steps of a query: the service is queried, or the answer is in the cache.
fn looks_up(b: &mut Builder, name: &str, lookup: Lookup, port: Option<Port>) -> Vec<Step> {
    let file = b.file(r"Windows\System32\drivers\etc\hosts");
    let queries = b.path(&[USER, name, QUERY]);
    let code = b.code(
        &[USER, name, QUERY],
        &["dnsapi!Query_Main", "dnsapi!Cache_Lookup"],
    );
    let mut steps = vec![
        Step::Act(queries, Act::LookupBegins(lookup)),
        Step::Run(code, 20, 90),
    ];
    if let Some(port) = port {
        let waits = b.waits(&[
            USER,
            name,
            QUERY,
            "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd",
        ]);
        steps.push(Step::Ask(
            queries,
            Ask {
                port,
                file,
                waits,
                reason: reason::WR_LPC_REPLY,
            },
        ));
        steps.push(Step::Run(code, 20, 90));
    }
    steps.push(Step::Act(queries, Act::LookupEnds));
    steps
}

/// Adds the service of the DNS client, with threads for each kind of answer.
fn resolver(b: &mut Builder) -> Service {
    let (quick, slow, dead) = (b.port(), b.port(), b.port());
    let ids = (b.id(), 804);
    let line = r"C:\Windows\system32\svchost.exe -k NetworkService -p -s Dnscache";
    let program = b.program(service(ids, "svchost.exe", line, RESOLVER));
    let root = [USER, "dnsrslvr!ResolverThread"];
    let asks = b.path(&[root[0], root[1], "dnsapi!Query_Wire dnsapi!Send_ToServer"]);
    let takes = b.waits(&[
        root[0],
        root[1],
        "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd",
    ]);
    let waits = b.waits(&[
        root[0],
        root[1],
        "dnsapi!Query_Wire dnsapi!Send_AndRecv",
        SLEEPS,
    ]);
    let code = b.code(&root, &["dnsapi!Packet_Parse", "dnsapi!Cache_Insert"]);
    let answers = b.path(&[
        root[0],
        root[1],
        "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd",
    ]);
    let fast = [
        Step::Act(asks, Act::LookupServer(0)),
        Step::Sleep(waits, 3_000, 14_000),
    ];
    let first = [
        Step::Act(asks, Act::LookupServer(0)),
        Step::Sleep(waits, 45_000, 55_000),
        Step::Act(asks, Act::LookupTimesOut(0)),
    ];
    let second = [
        Step::Act(asks, Act::LookupServer(1)),
        Step::Sleep(waits, 3_000, 14_000),
    ];
    let third = [
        Step::Act(asks, Act::LookupServer(1)),
        Step::Sleep(waits, 45_000, 55_000),
        Step::Act(asks, Act::LookupTimesOut(1)),
    ];
    let ways = [
        (quick, fast.to_vec()),
        (slow, [&first[..], &second].concat()),
        (dead, [first, third].concat()),
    ];
    for (port, way) in ways {
        for _ in 0..2 {
            let thread = b.thread(program, 9, root[1]);
            let begins = [
                Step::Take(takes, port),
                Step::Run(code, 50, 200),
                Step::Act(asks, Act::LookupAdapter(0)),
            ];
            let ends = [Step::Run(code, 50, 200), Step::Answer(answers)];
            b.script(thread, &[], &[&begins[..], &way, &ends].concat());
        }
    }
    Service { quick, slow, dead }
}
