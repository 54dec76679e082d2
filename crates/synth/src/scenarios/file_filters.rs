//! Scenario `file-filters`: every operation on a file goes through three filter drivers. A virus
//! scanner asks its service before a file is opened and refuses infected ones, a backup driver
//! copies written data, and a driver encrypts.

use super::windows::{
    DRIVERS, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, background, image, machine_of,
    service, user_program,
};
use crate::Options;
use crate::act::{Act, Callback, FileOperation, Major};
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::script::{Ask, Builder, Step};
use crate::table::{File, Module, Port};

static NORTHWALL: Maker = Maker {
    company: "Northwall Security",
    product: "Northwall Endpoint Shield",
    version: "11.2.540.0",
    sources: r"E:\shield\src\",
};
static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Planner",
    version: "3.0.12.0",
    sources: r"D:\build\planner\src\",
};
type Folder = (&'static str, &'static str);
const SHIELD: Folder = (
    r"\Device\HarddiskVolume3\Program Files\Northwall\Shield\",
    r"C:\Program Files\Northwall\Shield\",
);
const PLANNER_FOLDER: Folder = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Planner\",
    r"C:\Program Files\Contoso\Planner\",
);

/// The first three are the drivers, from the one that is called first.
const IMAGES: [ModulePlan; 6] = [
    driver(
        "nwshield",
        "nwshield.sys",
        "nwshield.pdb",
        0xFFFF_F806_2A10_0000,
        &NORTHWALL,
    ),
    driver(
        "bkpcopy",
        "bkpcopy.sys",
        "bkpcopy.pdb",
        0xFFFF_F806_2A40_0000,
        &CONTOSO,
    ),
    driver(
        "vltcrypt",
        "vltcrypt.sys",
        "vltcrypt.pdb",
        0xFFFF_F806_2A70_0000,
        &CONTOSO,
    ),
    image(
        ("NwScanSvc", "NwScanSvc.exe", "NwScanSvc.pdb"),
        SHIELD,
        (0x7FF7_1B90_0000, 0x9_4000),
        &NORTHWALL,
    ),
    image(
        ("Planner", "Planner.exe", "Planner.pdb"),
        PLANNER_FOLDER,
        (0x7FF6_58D0_0000, 0x12_B000),
        &CONTOSO,
    ),
    image(
        ("Backup", "Backup.exe", "Backup.pdb"),
        PLANNER_FOLDER,
        (0x7FF7_08A0_0000, 0x6_3000),
        &CONTOSO,
    ),
];
const KERNEL_IMAGES: &[Module] = &[
    Module(0),
    Module(1),
    Module(2),
    Module(3),
    Module(4),
    Module(5),
    Module(6),
    Module(OWN),
    Module(OWN + 1),
    Module(OWN + 2),
];
const SCANNER: &[Module] = &[Module(OWN + 3), NTDLL, KERNEL32, KERNELBASE];
const PLANNER: &[Module] = &[Module(OWN + 4), NTDLL, KERNEL32, KERNELBASE];
const BACKUP: &[Module] = &[Module(OWN + 5), NTDLL, KERNEL32, KERNELBASE];

const fn driver(
    alias: &'static str,
    name: &'static str,
    pdb: &'static str,
    base: u64,
    maker: &'static Maker,
) -> ModulePlan {
    image((alias, name, pdb), DRIVERS, (base, 0x5_8000), maker)
}

/// A filter driver: the operations for which it has callbacks, and their durations.
struct Filter {
    alias: &'static str,
    pre: &'static [Major],
    post: &'static [Major],
    us: (u32, u32),
}

use Major::{Cleanup, Close, Create, Read, Write};

/// From the first one called before an operation, which is the last one called after it.
const FILTERS: [Filter; 3] = [
    Filter {
        alias: "nwshield",
        pre: &[Create, Cleanup],
        post: &[Create],
        us: (20, 90),
    },
    Filter {
        alias: "bkpcopy",
        pre: &[Write, Cleanup, Close],
        post: &[],
        us: (15, 60),
    },
    Filter {
        alias: "vltcrypt",
        pre: &[Create, Write],
        post: &[Read, Create],
        us: (60, 240),
    },
];
/// The scanner has found a virus (`STATUS_VIRUS_INFECTED`); the key of a file is locked
/// (`STATUS_FILE_LOCK_CONFLICT`).
const INFECTED: u32 = 0xC000_0906;
const CONFLICT: u32 = 0xC000_0054;

/// Returns the call path of a program to the driver of a file.
const fn way(major: Major) -> &'static str {
    match major {
        Create => {
            "KERNELBASE!CreateFileW ntdll!NtCreateFile nt!KiSystemServiceCopyEnd nt!NtCreateFile \
            nt!IopCreateFile nt!ObOpenObjectByNameEx nt!IopParseDevice nt!IofCallDriver FLTMGR!FltpCreate"
        }
        Read => {
            "KERNELBASE!ReadFile ntdll!NtReadFile nt!KiSystemServiceCopyEnd nt!NtReadFile \
            nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch"
        }
        Write => {
            "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
            nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch"
        }
        Cleanup => {
            "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose nt!IopCloseFile \
            nt!IofCallDriver FLTMGR!FltpDispatch"
        }
        Close => {
            "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose nt!IopDeleteFile \
            nt!IofCallDriver FLTMGR!FltpDispatch"
        }
    }
}

/// Returns the functions of the file system for an operation.
const fn file_system(major: Major) -> &'static str {
    match major {
        Create => "Ntfs!NtfsFsdCreate Ntfs!NtfsCommonCreate",
        Read => "Ntfs!NtfsFsdRead Ntfs!NtfsCopyReadA",
        Write => "Ntfs!NtfsFsdWrite Ntfs!NtfsCopyWriteA",
        Cleanup => "Ntfs!NtfsFsdCleanup Ntfs!NtfsCommonCleanup",
        Close => "Ntfs!NtfsFsdClose Ntfs!NtfsCommonClose",
    }
}

/// A callback that fails: its driver, and its status.
type Fails = Option<(&'static str, u32)>;

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine_of(options.cpus.unwrap_or(4), 1, &IMAGES, KERNEL_IMAGES);
    // Page faults, callbacks of filters, and failures of callbacks, which have a flag of their own.
    b.records(&[(0, 0x400_0000), (4, 0x8_0000 | 0x10_0000 | 0x40_0000)]);
    background(&mut b);
    let port = b.port();
    scanner(&mut b, port);
    let ids = (b.id(), 5120);
    let planner = b.program(user_program(
        ids,
        "Planner.exe",
        "Planner.exe week.plan",
        PLANNER,
    ));
    for (thread, name) in ["Planner!CSync::ThreadProc", "Planner!CAutosave::ThreadProc"]
        .iter()
        .enumerate()
    {
        let tid = b.thread(planner, 8, name);
        let mut steps = pause(&mut b, name, 2_000, 9_000);
        for number in 0..5 {
            let file = b.file(format!(
                r"Users\anna\Plans\week{}.plan",
                5 * thread + number
            ));
            // One open fails in the driver that is called first, and one in the last driver.
            let fails = match (thread, number) {
                (0, 3) => Some(("nwshield", INFECTED)),
                (1, 2) => Some(("vltcrypt", CONFLICT)),
                _ => None,
            };
            steps.extend(uses(&mut b, name, (port, file), &[Read, Write], fails));
        }
        b.script(tid, &[], &steps);
    }
    let ids = (b.id(), 804);
    let backup = b.program(service(ids, "Backup.exe", "Backup.exe /service", BACKUP));
    let name = "Backup!CCollector::ThreadProc";
    let thread = b.thread(backup, 7, name);
    let mut steps = pause(&mut b, name, 20_000, 40_000);
    // Files that the planner also uses: a path has operations of several processes.
    for number in [1, 4, 7] {
        let file = b.file(format!(r"Users\anna\Plans\week{number}.plan"));
        steps.extend(uses(&mut b, name, (port, file), &[Read, Read], None));
    }
    b.script(thread, &[], &steps);
    b.finish()
}

fn pause(b: &mut Builder, name: &str, from_us: u32, to_us: u32) -> Vec<Step> {
    let waits = b.waits(&[USER, name, SLEEPS]);
    let code = b.code(&[USER, name], &["ntdll!RtlAllocateHeap", "ntdll!memcpy"]);
    vec![Step::Sleep(waits, from_us, to_us), Step::Run(code, 60, 300)]
}

/// Adds the service that scans files before they are opened.
fn scanner(b: &mut Builder, port: Port) {
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
    let answers = b.path(&[
        root[0],
        root[1],
        "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd FLTMGR!FltpReplyMessage nt!KeSetEvent",
    ]);
    let steps = [
        Step::Take(takes, port),
        Step::Run(scans, 300, 1_800),
        Step::Answer(answers),
    ];
    for _ in 0..2 {
        let thread = b.thread(program, 8, root[1]);
        b.script(thread, &[], &steps);
    }
}

/// Returns the steps that open, use and close a file.
fn uses(
    b: &mut Builder,
    name: &str,
    asked: (Port, File),
    transfers: &[Major],
    fails: Fails,
) -> Vec<Step> {
    let mut steps = operation(b, name, asked, Create, fails);
    if fails.is_some() {
        return steps;
    }
    for major in transfers.iter().copied().chain([Cleanup, Close]) {
        steps.extend(operation(b, name, asked, major, None));
    }
    steps
}

/// Returns the steps of an operation on a file with the callbacks of the drivers.
fn operation(
    b: &mut Builder,
    name: &str,
    (port, file): (Port, File),
    major: Major,
    fails: Fails,
) -> Vec<Step> {
    let root = [USER, name, way(major)].join(" ");
    let bytes = if matches!(major, Read | Write) {
        16_384
    } else {
        0
    };
    let begins = b.path(&[&root]);
    let mut steps = vec![Step::Act(
        begins,
        Act::FileBegins(FileOperation { major, file, bytes }),
    )];
    let mut status = 0;
    let mut called = Vec::new();
    for filter in &FILTERS {
        if filter.pre.contains(&major) {
            status = fails
                .filter(|(alias, _)| *alias == filter.alias)
                .map_or(0, |(_, status)| status);
            steps.extend(callback(
                b,
                &root,
                filter,
                (major, false),
                status,
                (port, file),
            ));
        }
        if status != 0 {
            break;
        }
        called.push(filter);
    }
    if status == 0 {
        let code = b.code(
            &[&root, file_system(major)],
            &["Ntfs!NtfsAcquireFileForCcFlush", "nt!memcpy"],
        );
        steps.push(Step::Run(code, 15, 70));
        for filter in called
            .into_iter()
            .rev()
            .filter(|filter| filter.post.contains(&major))
        {
            steps.extend(callback(b, &root, filter, (major, true), 0, (port, file)));
        }
    }
    steps.push(Step::Act(begins, Act::FileEnds(status)));
    steps
}

/// Returns the steps of a callback. The scanner asks its service before a file is opened.
fn callback(
    b: &mut Builder,
    root: &str,
    filter: &Filter,
    (major, is_post): (Major, bool),
    status: u32,
    (port, file): (Port, File),
) -> Vec<Step> {
    let (manager, phase) = if is_post {
        (
            "FLTMGR!FltpPassThroughCompletion FLTMGR!FltpPerformPostCallbacks",
            "Post",
        )
    } else {
        ("FLTMGR!FltpPerformPreCallbacks", "Pre")
    };
    let function = format!("{}!{phase}{major:?}", filter.alias);
    let routine = b.function(&function);
    // Events of callbacks are written by the manager.
    let events = b.path(&[root, manager]);
    let inside = [root, manager, function.as_str()];
    let work = format!("{}!CContext::Process", filter.alias);
    let code = b.code(&inside, &["", &work, "FLTMGR!FltGetFileNameInformation"]);
    let mut steps = vec![
        Step::Act(events, Act::CallbackBegins(Callback { routine, is_post })),
        Step::Run(code, filter.us.0, filter.us.1),
    ];
    if filter.alias == "nwshield" && matches!(major, Create) && !is_post {
        let asks = [inside[0], inside[1], inside[2], "FLTMGR!FltSendMessage"];
        let (sends, waits) = (b.path(&asks), b.waits(&asks));
        steps.push(Step::Ask(
            sends,
            Ask {
                port,
                file,
                waits,
                reason: reason::EXECUTIVE,
            },
        ));
        steps.push(Step::Run(code, 5, 20));
    }
    steps.push(Step::Act(events, Act::CallbackEnds(status)));
    steps
}
