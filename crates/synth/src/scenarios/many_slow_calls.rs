//! Scenario `many-slow-calls`: a server computes on most of its processors for more than a minute
//! and gets nothing done. Its locks give up their time with `SleepEx(0)`, and each of these system
//! calls is logged for a driver that protects every event with two locked instructions. A second
//! process has the .NET runtime whose events some readers of traces cannot decode.

use super::dotnet::{CLRJIT, CORE_LIB, CORECLR, HOST};
use super::windows::{
    DRIVERS, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, background, image, machine, service,
    user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Code, Module, Program};

static PALO_ALTO: Maker = Maker {
    company: "Palo Alto Networks",
    product: "Cortex XDR",
    version: "7.9.1.24788",
    sources: r"C:\cortex\",
};
static LITWARE: Maker = Maker {
    company: "Litware",
    product: "Litware Report Server",
    version: "6.2.0.0",
    sources: r"D:\source\server\",
};
static PHONE: Maker = Maker {
    company: "Microsoft Corporation",
    product: "Phone Link",
    version: "1.23012.169.0",
    sources: r"C:\phone\",
};
/// The runtime before.
static DOTNET_6: Maker = Maker {
    company: "Microsoft Corporation",
    product: "Microsoft\u{ae} .NET",
    version: "6.0.1423.7309",
    sources: "/_/src/",
};
const SERVER_FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Litware\Server\",
    r"C:\Program Files\Litware\Server\",
);
const PHONE_FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\WindowsApps\Microsoft.YourPhone_1.23012.169.0_x64__8wekyb3d8bbwe\",
    r"C:\Program Files\WindowsApps\Microsoft.YourPhone_1.23012.169.0_x64__8wekyb3d8bbwe\",
);
const SHARED_6: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\dotnet\shared\Microsoft.NETCore.App\6.0.14\",
    r"C:\Program Files\dotnet\shared\Microsoft.NETCore.App\6.0.14\",
);
const IMAGES: [ModulePlan; 8] = [
    // Only its maker has its symbols.
    ModulePlan {
        is_nameless: true,
        ..image(
            ("tedrdrv", "tedrdrv.sys", "tedrdrv.pdb"),
            DRIVERS,
            (0xFFFF_F806_2A10_0000, 0x12_8000),
            &PALO_ALTO,
        )
    },
    image(
        ("ReportServer", "ReportServer.exe", "ReportServer.pdb"),
        SERVER_FOLDER,
        (0x7FF6_58D0_0000, 0x18_B000),
        &LITWARE,
    ),
    image(
        (
            "PhoneExperienceHost",
            "PhoneExperienceHost.exe",
            "PhoneExperienceHost.pdb",
        ),
        PHONE_FOLDER,
        (0x7FF7_1B90_0000, 0x9_4000),
        &PHONE,
    ),
    CORECLR,
    CLRJIT,
    CORE_LIB,
    image(
        ("coreclr6", "coreclr.dll", "coreclr.pdb"),
        SHARED_6,
        (0x7FF9_0C20_0000, 0x4D_B000),
        &DOTNET_6,
    ),
    image(
        ("clrjit6", "clrjit.dll", "clrjit.pdb"),
        SHARED_6,
        (0x7FF9_0BF0_0000, 0x1B_1000),
        &DOTNET_6,
    ),
];
const SERVER: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 6),
    Module(OWN + 7),
];
const PHONE_HOST: &[Module] = &[
    Module(OWN + 2),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 3),
    Module(OWN + 4),
    Module(OWN + 5),
];

/// Seconds of a trace of scale 1.
const SECONDS: u32 = 65;
const CPUS: u16 = 64;
/// Threads of the server that wait for a lock: 60 % of the processors.
const THREADS: u32 = 40;
/// Rounds of a thread; each round does a part of everything.
const ROUNDS: u32 = 20;
/// Ticks between two samples: more samples would show nothing new.
const INTERVAL: u32 = 100_000;

const YIELDS: &str = "ReportServer!CQueue::Run ReportServer!CSpinLock::Acquire KERNELBASE!SleepEx";
const DELAYS: &str = "ntdll!NtDelayExecution";
const CALL_ENDS: &str = "nt!KiSystemServiceExitPico";
const ENTRY: &str = "nt!PerfInfoLogSysCallEntry";
const EXIT: &str = "nt!PerfInfoLogSysCallExit";
/// A frame of the driver calls only one place, so its address is the same in all stacks.
const HOOKS_ENTRY: &str =
    "nt!EtwTraceKernelEvent nt!EtwpLogKernelEvent tedrdrv!OnEntry tedrdrv!Check";
const HOOKS_EXIT: &str =
    "nt!EtwTraceKernelEvent nt!EtwpLogKernelEvent tedrdrv!OnExit tedrdrv!Count";
/// Frames below `SleepEx`, and the total time of all threads in the innermost one, in milliseconds.
const SHARES: [(&[&str], u32); 10] = [
    (&[], 12_218),
    (&[DELAYS], 21_212),
    (&[DELAYS, CALL_ENDS], 40_497),
    (&[DELAYS, CALL_ENDS, ENTRY], 136_387),
    (
        &[
            DELAYS,
            CALL_ENDS,
            ENTRY,
            HOOKS_ENTRY,
            "nt!ExfReleaseRundownProtection",
        ],
        435_011,
    ),
    (
        &[
            DELAYS,
            CALL_ENDS,
            ENTRY,
            HOOKS_ENTRY,
            "nt!ExfAcquireRundownProtection",
        ],
        431_336,
    ),
    (
        &[DELAYS, CALL_ENDS, ENTRY, HOOKS_ENTRY, "tedrdrv!Find"],
        343_058,
    ),
    (&[DELAYS, CALL_ENDS, ENTRY, HOOKS_ENTRY], 41_741),
    (&[DELAYS, CALL_ENDS, EXIT], 144_532),
    (&[DELAYS, CALL_ENDS, EXIT, HOOKS_EXIT], 916_549),
];

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(CPUS), SECONDS, &IMAGES, true);
    b.interval(INTERVAL);
    background(&mut b);
    let ids = (b.id(), 804);
    let line = r#""C:\Program Files\Litware\Server\ReportServer.exe" /service"#;
    let server = b.program(service(ids, "ReportServer.exe", line, SERVER));
    let mut codes = Vec::new();
    for (frames, ms) in SHARES {
        codes.push((b.code(&[&[USER, YIELDS], frames].concat(), &[""]), ms));
    }
    for _ in 0..THREADS {
        waits_for_lock(&mut b, server, &codes);
    }
    phone(&mut b);
    b.finish()
}

/// Adds a thread that has its part of everything, a little of each at a time.
fn waits_for_lock(b: &mut Builder, server: Program, codes: &[(Code, u32)]) {
    let thread = b.thread(server, 8, "ReportServer!CQueue::Run");
    let sleeps = b.waits(&[USER, "ReportServer!CQueue::Run", SLEEPS]);
    let works = b.code(
        &[USER, "ReportServer!CQueue::Run"],
        &["ReportServer!CQueue::Serve", "ntdll!memcpy"],
    );
    let mut once = vec![Step::Sleep(sleeps, 200_000, 600_000)];
    for _ in 0..ROUNDS {
        once.extend(codes.iter().map(|(code, ms)| {
            // The sums over all threads are the sums of the case study; in small parts, each
            // stretch of the trace has the same shares.
            let part_us = ms * (1000 / ROUNDS) / THREADS;
            Step::Run(*code, part_us, part_us)
        }));
    }
    b.script(
        thread,
        &once,
        &[
            Step::Sleep(sleeps, 300_000, 900_000),
            Step::Run(works, 1_000, 3_000),
        ],
    );
}

/// Adds a program with another version of the runtime, which does little.
fn phone(b: &mut Builder) {
    let ids = (b.id(), 5120);
    let line = r#""C:\Program Files\WindowsApps\Microsoft.YourPhone_1.23012.169.0_x64__8wekyb3d8bbwe\PhoneExperienceHost.exe" -ComServer:Background"#;
    let program = b.program(user_program(
        ids,
        "PhoneExperienceHost.exe",
        line,
        PHONE_HOST,
    ));
    let thread = b.thread(program, 8, "PhoneExperienceHost!main");
    let root = [USER, HOST, "CoreLib!System.Threading.Thread.StartCallback"];
    let sleeps = b.waits(&[root[0], root[1], root[2], SLEEPS]);
    let works = b.code(
        &root,
        &["CoreLib!System.String.Concat", "clrjit!jitNativeCode"],
    );
    b.script(
        thread,
        &[],
        &[
            Step::Sleep(sleeps, 400_000, 1_200_000),
            Step::Run(works, 1_000, 6_000),
        ],
    );
}
