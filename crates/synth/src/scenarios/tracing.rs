//! Scenario `tracing`: tools start and stop sessions of the tracing system and enable and disable
//! providers. One session runs from before the trace, one loses events, and a second one of the
//! same name cannot start.

use etwkit_etl::Guid;

use super::windows::{
    KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, background, image, machine, user_program,
};
use crate::Options;
use crate::act::{Act, Enabled, SessionPlan};
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Module, Program};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Recorder",
    version: "1.0.4.0",
    sources: r"D:\build\recorder\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Recorder\",
    r"C:\Program Files\Contoso\Recorder\",
);
const IMAGES: [ModulePlan; 1] = [image(
    ("Recorder", "Recorder.exe", "Recorder.pdb"),
    FOLDER,
    (0x7FF6_5A10_0000, 0x31_0000),
    &CONTOSO,
)];
const RECORDER: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE];

const RECORDING: SessionPlan = SessionPlan {
    name: "ContosoRecording",
    file: r"C:\Traces\recording.etl",
    guid: Guid::literal("5d1f2b6c-0a53-4e0f-9a5e-2f70ce6a1b01"),
    mode: 0x0800_0001,
};
const HEALTH: SessionPlan = SessionPlan {
    name: "ContosoHealth",
    file: "",
    guid: Guid::literal("5d1f2b6c-0a53-4e0f-9a5e-2f70ce6a1b02"),
    mode: 0x100,
};
/// Enabled providers: one of Windows, one of the program.
const DNS: Enabled = Enabled {
    session: RECORDING.name,
    provider: Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d"),
    keywords: 0x8000_0000_0000_0000,
    level: 4,
};
const OWN_PROVIDER: Guid = Guid::literal("0f1c6a42-8d3e-4a7b-b6de-91c2d4a6f703");
const OWN_EVENTS: Enabled = Enabled {
    session: HEALTH.name,
    provider: OWN_PROVIDER,
    keywords: u64::MAX,
    level: 5,
};

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    background(&mut b);
    // Runs from before the trace and never stops: only the rundowns have it.
    b.session(HEALTH);
    let ids = (b.id(), 5120);
    let recorder = b.program(user_program(
        ids,
        "Recorder.exe",
        "Recorder.exe /loop",
        RECORDER,
    ));
    let control = "Recorder!CControl::ThreadProc";
    let steps = [
        Act::SessionStarts(RECORDING),
        Act::ProviderOn(DNS),
        Act::ProviderOff(DNS),
        Act::ProviderOn(DNS),
        // Fails, since the name is taken; the running session continues.
        Act::SessionStarts(RECORDING),
        Act::SessionStops(RECORDING.name, 17),
    ];
    acts(
        &mut b,
        recorder,
        (
            control,
            "ntdll!NtTraceControl nt!KiSystemServiceCopyEnd nt!NtTraceControl",
        ),
        &steps,
    );
    let provider = "Recorder!CProvider::ThreadProc";
    let steps = [
        Act::Registers(OWN_PROVIDER),
        Act::ProviderOn(OWN_EVENTS),
        Act::LosesEvent(OWN_EVENTS, 12),
        Act::ProviderOff(OWN_EVENTS),
        Act::Unregisters(OWN_PROVIDER),
    ];
    acts(
        &mut b,
        recorder,
        (
            provider,
            "ntdll!EtwEventRegister ntdll!NtTraceControl nt!KiSystemServiceCopyEnd",
        ),
        &steps,
    );
    b.finish()
}

/// Adds a thread that does these one after the other.
fn acts(b: &mut Builder, program: Program, (name, way): (&'static str, &str), acts: &[Act]) {
    let thread = b.thread(program, 8, name);
    let waits = b.waits(&[USER, name, SLEEPS]);
    let code = b.code(&[USER, name], &["ntdll!RtlAllocateHeap", "ntdll!memcpy"]);
    let path = b.path(&[USER, name, way]);
    let steps: Vec<Step> = acts
        .iter()
        .flat_map(|act| {
            [
                Step::Sleep(waits, 2_000, 12_000),
                Step::Run(code, 40, 300),
                Step::Act(path, *act),
            ]
        })
        .collect();
    b.script(thread, &[], &steps);
}
