//! Scenario `services`: programs call services over messages. A settings service forwards half of
//! its requests to a storage service; a log service gets messages without a waiting sender, more
//! than it can read at once.

use super::windows::{
    KERNEL32, KERNELBASE, NTDLL, OWN, RPCRT4, SLEEPS, USER, background, image, machine, service,
    user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::script::{Ask, Builder, Step};
use crate::table::{Module, Port};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Desktop",
    version: "2.8.0.0",
    sources: r"D:\build\desktop\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Desktop\",
    r"C:\Program Files\Contoso\Desktop\",
);
const IMAGES: [ModulePlan; 4] = [
    image(
        ("Desk", "Desk.exe", "Desk.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x31_0000),
        &CONTOSO,
    ),
    image(
        ("SettingsSvc", "SettingsSvc.exe", "SettingsSvc.pdb"),
        FOLDER,
        (0x7FF7_12C0_0000, 0x1C_0000),
        &CONTOSO,
    ),
    image(
        ("StorageSvc", "StorageSvc.exe", "StorageSvc.pdb"),
        FOLDER,
        (0x7FF6_E7A0_0000, 0x16_0000),
        &CONTOSO,
    ),
    image(
        ("LogSvc", "LogSvc.exe", "LogSvc.pdb"),
        FOLDER,
        (0x7FF6_F7A0_0000, 0x9_0000),
        &CONTOSO,
    ),
];
const DESK: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE, RPCRT4];
const SETTINGS: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE, RPCRT4];
const STORAGE: &[Module] = &[Module(OWN + 2), NTDLL, KERNEL32, KERNELBASE, RPCRT4];
const LOG: &[Module] = &[Module(OWN + 3), NTDLL, KERNEL32, KERNELBASE, RPCRT4];

/// A call, and its way into the kernel.
const CALLS: &str = "rpcrt4!NdrClientCall3 rpcrt4!LRPC_CCALL::SendReceive ntdll!NtAlpcSendWaitReceivePort \
    nt!KiSystemServiceCopyEnd nt!NtAlpcSendWaitReceivePort";
const SENDS: &str = "nt!AlpcpProcessSynchronousRequest nt!AlpcpSendMessage";
const RECEIVES: &str = "rpcrt4!LRPC_ADDRESS::ReceiveLotsaCalls ntdll!NtAlpcSendWaitReceivePort \
    nt!KiSystemServiceCopyEnd nt!NtAlpcSendWaitReceivePort nt!AlpcpReceiveMessage";
const ANSWERS: &str = "rpcrt4!LRPC_SCALL::SendReply ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd \
    nt!NtAlpcSendWaitReceivePort nt!AlpcpSendMessage";

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    // Messages (ALPC) are not among the groups that all scenarios record.
    b.records(&[(0, 0x10_0000)]);
    background(&mut b);
    let settings = b.message_port(r"\RPC Control\ContosoSettings");
    let storage = b.message_port(r"\RPC Control\ContosoStorage");
    let log = b.message_port(r"\RPC Control\ContosoLog");
    settings_service(&mut b, settings, storage);
    let ids = (b.id(), 804);
    let program = b.program(service(
        ids,
        "StorageSvc.exe",
        "StorageSvc.exe -service",
        STORAGE,
    ));
    serves(
        &mut b,
        program,
        storage,
        "StorageSvc!ServerThread",
        (400, 2_200),
    );
    let ids = (b.id(), 804);
    let program = b.program(service(ids, "LogSvc.exe", "LogSvc.exe -service", LOG));
    serves(&mut b, program, log, "LogSvc!ServerThread", (600, 1_800));
    for (name, port) in [
        ("Desk!CDesk::Layout", settings),
        ("Desk!CDesk::Icons", storage),
    ] {
        client(&mut b, name, port, log);
    }
    b.finish()
}

/// Returns the steps of a call in code with these frames, from sending the request to receiving the
/// answer.
fn calls(b: &mut Builder, root: &[&str], port: Port) -> [Step; 2] {
    let root = root.join(" ");
    let file = b.file(r"ProgramData\Contoso\Desktop\settings.db");
    let (sends, waits) = (b.path(&[&root, CALLS, SENDS]), b.waits(&[&root, CALLS]));
    // The answer is received in the call that sent the request, with another stack.
    let takes = b.path(&[&root, CALLS, "nt!AlpcpReceiveSynchronousReply"]);
    [
        Step::Ask(
            sends,
            Ask {
                port,
                file,
                waits,
                reason: reason::WR_LPC_REPLY,
            },
        ),
        Step::Answered(takes),
    ]
}

/// Adds a process with two threads that call a service and write to the log.
fn client(b: &mut Builder, name: &'static str, port: Port, log: Port) {
    let ids = (b.id(), 5120);
    let program = b.program(user_program(ids, "Desk.exe", "Desk.exe", DESK));
    let file = b.file(r"ProgramData\Contoso\Desktop\desk.log");
    for _ in 0..2 {
        let thread = b.thread(program, 9, name);
        let waits = b.waits(&[USER, name, SLEEPS]);
        let code = b.code(
            &[USER, name],
            &["ntdll!RtlAllocateHeap", "KERNELBASE!CompareStringOrdinal"],
        );
        let posts = b.path(&[USER, name, "Desk!CLog::Write", CALLS, "nt!AlpcpSendMessage"]);
        let mut steps = vec![Step::Sleep(waits, 2_000, 9_000), Step::Run(code, 100, 400)];
        steps.extend(calls(b, &[USER, name, "Desk!CSettings::Get"], port));
        steps.extend([Step::Run(code, 100, 400), Step::Post(posts, log, file)]);
        b.script(thread, &[], &steps);
    }
}

/// Adds a thread that serves a port; two of them take turns.
fn serves(
    b: &mut Builder,
    program: crate::table::Program,
    port: Port,
    name: &'static str,
    (low, high): (u32, u32),
) {
    for _ in 0..2 {
        let thread = b.thread(program, 9, name);
        let takes = b.waits(&[USER, name, RECEIVES]);
        let answers = b.path(&[USER, name, ANSWERS]);
        let code = b.code(
            &[USER, name, "rpcrt4!Invoke"],
            &["ntdll!memcpy", "ntdll!RtlAllocateHeap"],
        );
        b.script(
            thread,
            &[],
            &[
                Step::Take(takes, port),
                Step::Run(code, low, high),
                Step::Answer(answers),
            ],
        );
    }
}

/// Adds the service in the middle: one of its two threads forwards all of its requests to the
/// storage service.
fn settings_service(b: &mut Builder, port: Port, storage: Port) {
    let ids = (b.id(), 804);
    let program = b.program(service(
        ids,
        "SettingsSvc.exe",
        "SettingsSvc.exe -service",
        SETTINGS,
    ));
    // Two threads answer from the cache and a third one forwards to the next service: a port has
    // servers of both kinds, and chance decides which one gets a request.
    serves(b, program, port, "SettingsSvc!CacheThread", (150, 700));
    let name = "SettingsSvc!LookupThread";
    let thread = b.thread(program, 9, name);
    let takes = b.waits(&[USER, name, RECEIVES]);
    let answers = b.path(&[USER, name, ANSWERS]);
    let code = b.code(
        &[USER, name, "rpcrt4!Invoke"],
        &["ntdll!memcpy", "ntdll!RtlAllocateHeap"],
    );
    let mut steps = vec![Step::Take(takes, port), Step::Run(code, 100, 300)];
    steps.extend(calls(
        b,
        &[USER, name, "rpcrt4!Invoke", "SettingsSvc!CStore::Load"],
        storage,
    ));
    steps.extend([Step::Run(code, 100, 300), Step::Answer(answers)]);
    b.script(thread, &[], &steps);
}
