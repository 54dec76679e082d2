//! Scenario `timers`: programs and a driver request finer resolutions of the system timer. One
//! requested it before the trace, one is ignored, one ends without releasing its request. In this
//! time the power scheme changes.

use etwkit_etl::Guid;

use super::windows::{
    DRIVERS, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, SYSTEM, USER, background, image, machine,
    service, user_program,
};
use crate::Options;
use crate::act::Act;
use crate::plan::{Maker, ModulePlan, Plan, PowerPlan};
use crate::script::{Builder, Step};
use crate::table::{Module, Program};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Music",
    version: "6.0.3.0",
    sources: r"D:\build\music\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Music\",
    r"C:\Program Files\Contoso\Music\",
);
/// The first one is the driver.
const IMAGES: [ModulePlan; 5] = [
    image(
        ("sndclk", "sndclk.sys", "sndclk.pdb"),
        DRIVERS,
        (0xFFFF_F806_2A10_0000, 0x3_8000),
        &CONTOSO,
    ),
    image(
        ("Player", "Player.exe", "Player.pdb"),
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
        ("Intro", "Intro.exe", "Intro.pdb"),
        FOLDER,
        (0x7FF6_E7A0_0000, 0x16_0000),
        &CONTOSO,
    ),
    image(
        ("PowerSvc", "PowerSvc.exe", "PowerSvc.pdb"),
        FOLDER,
        (0x7FF6_F7A0_0000, 0x9_0000),
        &CONTOSO,
    ),
];
const PLAYER: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE];
const BROWSER: &[Module] = &[Module(OWN + 2), NTDLL, KERNEL32, KERNELBASE];
const INTRO: &[Module] = &[Module(OWN + 3), NTDLL, KERNEL32, KERNELBASE];
const POWER: &[Module] = &[Module(OWN + 4), NTDLL, KERNEL32, KERNELBASE];

/// Resolutions in units of 100 ns.
const MS_10: u32 = 100_000;
const MS_4: u32 = 40_000;
const MS_1: u32 = 10_000;
const MS_HALF: u32 = 5_000;

const ASKS: &str = "ntdll!NtSetTimerResolution nt!KiSystemServiceCopyEnd nt!NtSetTimerResolution";
/// The personality of the power scheme, and two of its values.
const PERSONALITY: Guid = Guid::literal("245d8541-3943-4422-b025-13a784f679b7");
const BALANCED: &[u8] = &Guid::literal("381b4222-f694-41f0-9685-ff5bb260df2e").to_bytes();
const PERFORMANCE: &[u8] = &Guid::literal("8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c").to_bytes();
/// Highest and lowest state of processors in percent.
const MAXIMUM: Guid = Guid::literal("bc5038f7-23e0-4960-96da-33abaf5935ec");
const MINIMUM: Guid = Guid::literal("893dee8e-2bef-41e0-89c6-b55d0929964c");

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, true);
    background(&mut b);
    let ids = (b.id(), 5120);
    let player = b.program(user_program(
        ids,
        "Player.exe",
        "Player.exe song.flac",
        PLAYER,
    ));
    asks(
        &mut b,
        player,
        "Player!CRender::ThreadProc",
        &[MS_1, MS_4, 0],
        false,
    );
    let ids = (b.id(), 5120);
    let browser = b.program(user_program(ids, "Browser.exe", "Browser.exe", BROWSER));
    // The system ignores a request that is as fine as any: readers that overlook this name the
    // wrong resolution.
    asks(
        &mut b,
        browser,
        "Browser!CTimerHost::Run",
        &[MS_HALF, 0],
        true,
    );
    intro(&mut b, options.scale);
    driver(&mut b);
    scheme(&mut b);
    b.power(PowerPlan {
        // Before the trace, so that only the rundown reports it.
        timers: vec![(player, MS_10)],
        settings: vec![
            (PERSONALITY, BALANCED),
            (MAXIMUM, &[100, 0, 0, 0]),
            (MINIMUM, &[5, 0, 0, 0]),
        ],
    });
    b.finish()
}

/// Adds a thread that requests these resolutions in turn.
fn asks(
    b: &mut Builder,
    program: Program,
    name: &'static str,
    resolutions: &[u32],
    is_ignored: bool,
) {
    let thread = b.thread(program, 9, name);
    let waits = b.waits(&[USER, name, SLEEPS]);
    let code = b.code(&[USER, name], &["ntdll!RtlAllocateHeap", "ntdll!memcpy"]);
    let asks = b.path(&[USER, name, ASKS]);
    let steps: Vec<Step> = resolutions
        .iter()
        .flat_map(|resolution| {
            [
                Step::Sleep(waits, 15_000, 45_000),
                Step::Run(code, 300, 1_200),
                // A release cannot be ignored.
                Step::Act(
                    asks,
                    Act::AsksTimer(*resolution, is_ignored && *resolution > 0),
                ),
            ]
        })
        .collect();
    b.script(thread, &[], &steps);
}

/// Adds a program that starts each second, requests a resolution, and ends without releasing it.
fn intro(b: &mut Builder, scale: u32) {
    let starter = "PowerSvc!CAutostart::ThreadProc";
    let ids = (b.id(), 804);
    let program = b.program(service(
        ids,
        "PowerSvc.exe",
        "PowerSvc.exe /autostart",
        POWER,
    ));
    let thread = b.thread(program, 9, starter);
    let waits = b.waits(&[USER, starter, SLEEPS]);
    let starts = b.path(&[
        USER,
        starter,
        "KERNELBASE!CreateProcessW ntdll!NtCreateUserProcess nt!KiSystemServiceCopyEnd",
        "nt!NtCreateUserProcess nt!PspInsertThread nt!KeReadyThread",
    ]);
    let mut steps = Vec::new();
    for _ in 0..scale {
        let ids = (b.id(), b.pid(program));
        let child = b.program(user_program(ids, "Intro.exe", "Intro.exe /fade", INTRO));
        let first = b.thread(child, 9, "Intro!main");
        b.is_started(first);
        let main = [USER, "Intro!main"];
        let fades = b.code(&main, &["Intro!CFade::Step"]);
        let pauses = b.waits(&[main[0], main[1], SLEEPS]);
        let asks = b.path(&[main[0], main[1], ASKS]);
        let own = [
            Step::Run(fades, 2_000, 4_000),
            Step::Act(asks, Act::AsksTimer(MS_HALF, false)),
            Step::Sleep(pauses, 150_000, 200_000),
            Step::Run(fades, 2_000, 4_000),
        ];
        b.script(first, &own, &[]);
        steps.extend([
            Step::Sleep(waits, 380_000, 420_000),
            Step::Start(starts, first),
        ]);
        steps.push(Step::Sleep(waits, 540_000, 570_000));
    }
    b.script(thread, &steps, &[Step::Sleep(waits, 900_000, 950_000)]);
}

/// Adds a driver that requests a resolution for a while.
fn driver(b: &mut Builder) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup sndclk!StreamThread";
    let asks = b.path(&[begins, "sndclk!StartClock nt!ExSetTimerResolution"]);
    let waits = b.waits(&[begins, "nt!KeDelayExecutionThread"]);
    let code = b.code(&[begins], &["sndclk!FillBuffer", "nt!memcpy"]);
    let thread = b.thread(SYSTEM, 16, "sndclk!StreamThread");
    let steps = [
        Step::Sleep(waits, 90_000, 130_000),
        Step::Act(asks, Act::KernelAsksTimer(MS_1)),
        Step::Run(code, 200, 600),
        Step::Sleep(waits, 60_000, 90_000),
        Step::Act(asks, Act::KernelAsksTimer(0)),
    ];
    b.script(thread, &[], &steps);
}

/// Adds a service that changes the power scheme.
fn scheme(b: &mut Builder) {
    let name = "PowerSvc!CScheme::ThreadProc";
    let ids = (b.id(), 804);
    let program = b.program(service(ids, "PowerSvc.exe", "PowerSvc.exe /scheme", POWER));
    let thread = b.thread(program, 9, name);
    let waits = b.waits(&[USER, name, SLEEPS]);
    let sets = b.path(&[
        USER,
        name,
        "ntdll!NtPowerInformation nt!KiSystemServiceCopyEnd nt!NtPowerInformation nt!PopSetPowerSettingValue",
    ]);
    let sets = |setting, data| Step::Act(sets, Act::SetsPower(setting, data));
    let steps = [
        Step::Sleep(waits, 150_000, 250_000),
        sets(PERSONALITY, PERFORMANCE),
        sets(MINIMUM, &[100, 0, 0, 0]),
        Step::Sleep(waits, 150_000, 250_000),
        sets(PERSONALITY, BALANCED),
        sets(MINIMUM, &[5, 0, 0, 0]),
    ];
    b.script(thread, &[], &steps);
}
