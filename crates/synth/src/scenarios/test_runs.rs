//! Scenarios `test-runs…`: a test that takes longer in some runs than in others, for three reasons
//! that have nothing to do with each other: its pages have to come from the disk, a virus scanner
//! scans the files that it opens, and a server of names is slow. The seed decides the amount of
//! each in a run; in `test-runs-quiet` there is almost nothing of them. The calls `HardFaults`,
//! `Scans` and `Lookup` of the truth report the cost of each.

use super::dotnet::CMD;
use super::windows::{
    DRIVERS, FOR_THREAD, KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, SLEEPS, SYSTEM32, USER,
    WAIT_FOR_OBJECT, background, image, machine, reading, service, user_program,
};
use crate::Options;
use crate::act::{Act, Lookup};
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::rng::Rng;
use crate::script::{Ask, Builder, Step};
use crate::table::{Module, Port};

static NORTHWALL: Maker = Maker {
    company: "Northwall Security",
    product: "Northwall Endpoint Shield",
    version: "11.2.540.0",
    sources: r"E:\shield\src\",
};
static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Report Tests",
    version: "3.1.0.0",
    sources: r"D:\source\report\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Source\Report\",
    r"C:\Source\Report\",
);
const SHIELD: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Northwall\Shield\",
    r"C:\Program Files\Northwall\Shield\",
);
/// The first one is the driver.
const IMAGES: [ModulePlan; 6] = [
    image(
        ("nwshield", "nwshield.sys", "nwshield.pdb"),
        DRIVERS,
        (0xFFFF_F806_2A10_0000, 0x5_8000),
        &NORTHWALL,
    ),
    image(
        ("ReportTest", "ReportTest.exe", "ReportTest.pdb"),
        FOLDER,
        (0x7FF6_58D0_0000, 0x8_B000),
        &CONTOSO,
    ),
    image(
        ("NwScanSvc", "NwScanSvc.exe", "NwScanSvc.pdb"),
        SHIELD,
        (0x7FF7_1B90_0000, 0x9_4000),
        &NORTHWALL,
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
    CMD,
];
const TEST: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 3),
];
const SCANNER: &[Module] = &[Module(OWN + 2), NTDLL, KERNEL32, KERNELBASE];
/// `svchost.exe` with the service of the DNS client.
const RESOLVER: &[Module] = &[
    Module(16),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 3),
    Module(OWN + 4),
];
const PROMPT: &[Module] = &[Module(OWN + 5), NTDLL, KERNEL32, KERNELBASE];

/// Files that the test opens.
const FILES: u32 = 8;
const LOOKUP: Lookup = Lookup {
    name: "reports.contoso.example",
    kind: 1,
    status: 0,
    result: "::ffff:203.0.113.7;",
};
const MAIN: &str = "ReportTest!main";

/// Amount of each cause in a run.
#[derive(Debug, Clone, Copy)]
struct Amounts {
    /// Pages that come from the disk.
    pages: u32,
    /// Duration in microseconds of a scan for each file, and of a query of the name server.
    scan_us: u32,
    lookup_us: u32,
}

impl Amounts {
    // The least of each cause, not none: a quiet run does the same steps.
    const QUIET: Self = Self {
        pages: 1,
        scan_us: 300,
        lookup_us: 4_000,
    };

    /// Draws the amounts of a run: each cause has its own probability, and then a random amount.
    fn of_seed(seed: u64) -> Self {
        // Seeds are small numbers in a row; mixed, their first numbers have nothing in common.
        let mut rng = Rng::new(crate::rng::mix(seed));
        let mut draw = |per_mille: u64, least: u32, most: u32| {
            // Always drawn, so that the amount of one cause does not depend on the presence of
            // another one.
            let amount = rng.between(least, most);
            if rng.chance(per_mille) { amount } else { least }
        };
        Self {
            pages: draw(600, 1, 60),
            scan_us: draw(700, 300, 18_000),
            lookup_us: draw(400, 4_000, 150_000),
        }
    }
}

pub(crate) fn disturbed(options: &Options) -> Plan {
    plan(options, Amounts::of_seed(options.seed))
}

pub(crate) fn quiet(options: &Options) -> Plan {
    plan(options, Amounts::QUIET)
}

fn plan(options: &Options, amounts: Amounts) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, true);
    // Hard faults are not among the groups that all scenarios record.
    b.records(&[(0, 0x2000)]);
    b.disk(1_600, 2_400);
    background(&mut b);
    let (scans, names) = (b.port(), b.port());
    scanner(&mut b, scans, amounts.scan_us);
    resolver(&mut b, names, amounts.lookup_us);
    let ids = (b.id(), 5120);
    let prompt = b.program(user_program(
        ids,
        "cmd.exe",
        r"cmd.exe /c nightly.cmd",
        PROMPT,
    ));
    let prompt_thread = b.thread(prompt, 8, "cmd!main");
    let reads = b.waits(&[
        USER,
        "cmd!main cmd!Parser cmd!ReadBufFromConsole ntdll!NtReadFile",
    ]);
    let prepares = b.code(
        &[USER, "cmd!main cmd!Dispatch"],
        &["cmd!SearchForExecutable"],
    );
    let creates = b.path(&[
        USER,
        "cmd!main cmd!Dispatch cmd!ExecPgm KERNELBASE!CreateProcessW nt!KeReadyThread",
    ]);
    let waits = b.waits(&[
        USER,
        "cmd!main cmd!Dispatch cmd!ExecPgm cmd!WaitProc",
        WAIT_FOR_OBJECT,
    ]);
    let mut steps = Vec::new();
    for round in 0..options.scale {
        let ids = (b.id(), b.pid(prompt));
        let test = b.program(user_program(
            ids,
            "ReportTest.exe",
            "ReportTest.exe /all",
            TEST,
        ));
        let main = b.thread(test, 8, MAIN);
        b.is_started(main);
        let ended = b.event(0);
        let mut run = test_steps(&mut b, (scans, names), amounts.pages);
        run.push(Step::Set(
            b.path(&[USER, "ntdll!RtlExitUserProcess nt!PspExitProcess"]),
            ended,
        ));
        b.script(main, &run, &[]);
        steps.extend([
            Step::Click(reads, 1000 * round + 60),
            Step::Run(prepares, 300, 500),
            Step::Start(creates, main),
            Step::Await(waits, FOR_THREAD, ended),
        ]);
    }
    // The prompt waits for input that does not come: it must not end before the trace.
    let never = b.event(0);
    steps.push(Step::Await(reads, FOR_THREAD, never));
    b.script(prompt_thread, &steps, &[]);
    b.finish()
}

/// Returns the steps of the test.
fn test_steps(b: &mut Builder, (scans, names): (Port, Port), pages: u32) -> Vec<Step> {
    let work = b.code(
        &[USER, MAIN, "ReportTest!CReport::Layout"],
        &[
            "ReportTest!CTable::Measure",
            "ReportTest!CText::Wrap",
            "ntdll!memcpy",
        ],
    );
    let mut steps = vec![
        Step::Run(work, 60_000, 61_500),
        Step::Begin("HardFaults", None),
    ];
    let loads = [
        USER,
        MAIN,
        "ReportTest!CTemplates::Load",
        "nt!KiPageFault nt!MmAccessFault nt!MiDispatchFault",
    ];
    let faults = b.waits(&[
        loads[0],
        loads[1],
        loads[2],
        loads[3],
        "nt!MiIssueHardFault",
    ]);
    let copies = b.code(&loads[..3], &["ntdll!memcpy"]);
    let templates = b.file(r"Source\Report\templates.bin");
    steps.extend([
        Step::HardFault(faults, reading(templates, pages, 16_384, (copies, 5, 10))),
        Step::End,
        Step::Run(work, 50_000, 51_500),
        Step::Begin("Scans", None),
    ]);
    let opens = "KERNELBASE!CreateFileW ntdll!NtCreateFile nt!KiSystemServiceCopyEnd nt!NtCreateFile \
        nt!IopParseDevice nt!IofCallDriver FLTMGR!FltpCreate FLTMGR!FltpPerformPreCallbacks \
        nwshield!PreCreate nwshield!AskService \
        FLTMGR!FltSendMessage";
    let asks = [USER, MAIN, "ReportTest!CData::Open", opens];
    let (sends, waits) = (b.path(&asks), b.waits(&asks));
    for number in 0..FILES {
        let file = b.file(format!(r"Source\Report\data{number}.csv"));
        steps.push(Step::Ask(
            sends,
            Ask {
                port: scans,
                file,
                waits,
                reason: reason::EXECUTIVE,
            },
        ));
    }
    steps.extend([
        Step::End,
        Step::Run(work, 40_000, 41_500),
        Step::Begin("Lookup", None),
    ]);
    let query = [
        USER,
        MAIN,
        "ReportTest!CUpload::Connect dnsapi!DnsQueryExW dnsapi!Query_PrivateExW",
    ];
    let queries = b.path(&query);
    let call = "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd";
    let waits = b.waits(&[query[0], query[1], query[2], call]);
    let hosts = b.file(r"Windows\System32\drivers\etc\hosts");
    steps.extend([
        Step::Act(queries, Act::LookupBegins(LOOKUP)),
        Step::Ask(
            queries,
            Ask {
                port: names,
                file: hosts,
                waits,
                reason: reason::WR_LPC_REPLY,
            },
        ),
        Step::Act(queries, Act::LookupEnds),
        Step::End,
        Step::Run(work, 20_000, 21_500),
    ]);
    steps
}

/// Adds the service of the scanner, which scans one file after the other.
fn scanner(b: &mut Builder, port: Port, scan_us: u32) {
    let ids = (b.id(), 804);
    let line = r#""C:\Program Files\Northwall\Shield\NwScanSvc.exe""#;
    let program = b.program(service(ids, "NwScanSvc.exe", line, SCANNER));
    let root = [USER, "NwScanSvc!CWorker::ThreadProc"];
    let takes = b.waits(&[
        root[0],
        root[1],
        "ntdll!NtRemoveIoCompletion nt!KiSystemServiceCopyEnd",
    ]);
    let scans = b.code(
        &root,
        &["NwScanSvc!CEngine::Match", "NwScanSvc!CEngine::Hash"],
    );
    let reply = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd FLTMGR!FltpReplyMessage";
    let answers = b.path(&[root[0], root[1], reply]);
    let thread = b.thread(program, 9, root[1]);
    let steps = [
        Step::Take(takes, port),
        Step::Run(scans, scan_us, scan_us),
        Step::Answer(answers),
    ];
    b.script(thread, &[], &steps);
}

/// Adds the service of the DNS client, which queries a server.
fn resolver(b: &mut Builder, port: Port, lookup_us: u32) {
    let ids = (b.id(), 804);
    let line = r"C:\Windows\system32\svchost.exe -k NetworkService -p -s Dnscache";
    let program = b.program(service(ids, "svchost.exe", line, RESOLVER));
    let root = [USER, "dnsrslvr!ResolverThread"];
    let asks = b.path(&[root[0], root[1], "dnsapi!Query_Wire dnsapi!Send_ToServer"]);
    let call = "ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd";
    let takes = b.waits(&[root[0], root[1], call]);
    let waits = b.waits(&[
        root[0],
        root[1],
        "dnsapi!Query_Wire dnsapi!Send_AndRecv",
        SLEEPS,
    ]);
    let answers = b.path(&[root[0], root[1], call]);
    let thread = b.thread(program, 9, root[1]);
    let steps = [
        Step::Take(takes, port),
        Step::Act(asks, Act::LookupAdapter(0)),
        Step::Act(asks, Act::LookupServer(0)),
        Step::Sleep(waits, lookup_us, lookup_us),
        Step::Answer(answers),
    ];
    b.script(thread, &[], &steps);
}
