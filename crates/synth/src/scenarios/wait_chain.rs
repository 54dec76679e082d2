//! Scenario `wait-chain`: a window waits for a thread, the thread for a service, and so on: five
//! waits over three processes, with a disk read at the end.

use super::windows::{
    FOR_THREAD, KERNEL32, KERNELBASE, NTDLL, OWN, READS_FILE, RPCRT4, SETS_EVENT, SLEEPS, USER,
    USER32, WAIT_FOR_OBJECT, background, image, machine, reading, service, user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Program, Thread};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Ledger",
    version: "7.4.1.0",
    sources: r"D:\build\ledger\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Ledger\",
    r"C:\Program Files\Contoso\Ledger\",
);
const IMAGES: [ModulePlan; 3] = [
    image(
        ("Ledger", "Ledger.exe", "Ledger.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x31_0000),
        &CONTOSO,
    ),
    image(
        ("OrderService", "OrderService.exe", "OrderService.pdb"),
        FOLDER,
        (0x7FF7_12C0_0000, 0x1C_0000),
        &CONTOSO,
    ),
    image(
        ("StoreService", "StoreService.exe", "StoreService.pdb"),
        FOLDER,
        (0x7FF6_E7A0_0000, 0x16_0000),
        &CONTOSO,
    ),
];
const LEDGER: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE, USER32, RPCRT4];
const ORDERS: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE, RPCRT4];
const STORE: &[Module] = &[Module(OWN + 2), NTDLL, KERNEL32, KERNELBASE, RPCRT4];

/// A call of another process, and its answer.
const CALLS: &str = "rpcrt4!NdrClientCall3 rpcrt4!LRPC_CCALL::SendReceive ntdll!NtAlpcSendWaitReceivePort \
    nt!KiSystemServiceCopyEnd nt!NtAlpcSendWaitReceivePort nt!AlpcpProcessSynchronousRequest";
const ANSWERS: &str = "rpcrt4!LRPC_SCALL::SendReply ntdll!NtAlpcSendWaitReceivePort nt!KiSystemServiceCopyEnd \
    nt!NtAlpcSendWaitReceivePort nt!AlpcpCompleteDispatchMessage nt!AlpcpSignalAndWait";
const RECEIVES: &str = "rpcrt4!LRPC_ADDRESS::ReceiveLotsaCalls ntdll!NtAlpcSendWaitReceivePort \
    nt!KiSystemServiceCopyEnd nt!NtAlpcSendWaitReceivePort nt!AlpcpReceiveMessage nt!AlpcpReceiveMessagePort";

/// Two events of a station: a request arrived, and it was answered.
#[derive(Clone, Copy)]
struct Station {
    asked: Event,
    answered: Event,
}

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    b.disk(2_500, 9_000);
    background(&mut b);
    let (ids, orders_ids, store_ids) = ((b.id(), 5120), (b.id(), 804), (b.id(), 804));
    let ledger = b.program(user_program(
        ids,
        "Ledger.exe",
        "Ledger.exe /year 2024",
        LEDGER,
    ));
    let orders = b.program(service(
        orders_ids,
        "OrderService.exe",
        "OrderService.exe -service",
        ORDERS,
    ));
    let store = b.program(service(
        store_ids,
        "StoreService.exe",
        "StoreService.exe -service",
        STORE,
    ));
    let [loader, order, query, page] = [0; 4].map(|_| Station {
        asked: b.event(0),
        answered: b.event(0),
    });
    window(&mut b, ledger, loader);
    let main = [
        USER,
        "Ledger!CLoader::ThreadProc",
        "Ledger!CLoader::LoadOrder",
    ];
    station(
        &mut b,
        (ledger, 8),
        main,
        loader,
        [SETS_EVENT, CALLS, WAIT_FOR_OBJECT],
        (order, reason::WR_LPC_REPLY),
    );
    let main = [
        USER,
        "OrderService!ServerThread",
        "OrderService!COrders::Open",
    ];
    let asks = "OrderService!CQueryQueue::Push";
    station(
        &mut b,
        (orders, 9),
        main,
        order,
        [ANSWERS, asks, RECEIVES],
        (query, reason::WR_ALERT_BY_THREAD_ID),
    );
    let main = [
        USER,
        "OrderService!CQueryThread::Run",
        "OrderService!CQueryThread::Execute",
    ];
    station(
        &mut b,
        (orders, 9),
        main,
        query,
        [SETS_EVENT, CALLS, WAIT_FOR_OBJECT],
        (page, reason::WR_LPC_REPLY),
    );
    disk(&mut b, store, page);
    b.finish()
}

/// Adds the thread of the window: it opens an order and waits until it is loaded.
fn window(b: &mut Builder, program: Program, loader: Station) -> Thread {
    let thread = b.thread(program, 10, "Ledger!wWinMain");
    let main = [USER, "Ledger!wWinMain", "Ledger!CMainWindow::OpenOrder"];
    let reads = b.code(&main, &["Ledger!CMainWindow::ReadSelection"]);
    let draws = b.code(
        &main,
        &[
            "Ledger!CGrid::Layout",
            "Ledger!CGrid::Draw user32!DrawTextW",
        ],
    );
    let asks = b.path(&[main[0], main[1], main[2], SETS_EVENT]);
    let waits = b.waits(&[main[0], main[1], main[2], WAIT_FOR_OBJECT]);
    let pauses = b.waits(&[
        main[0],
        main[1],
        "user32!GetMessageW win32kfull!NtUserGetMessage",
    ]);
    let steps = [
        Step::Sleep(pauses, 40_000, 110_000),
        Step::Begin("OpenOrder", None),
        Step::Run(reads, 300, 900),
        Step::Set(asks, loader.asked),
        Step::Await(waits, FOR_THREAD, loader.answered),
        Step::Run(draws, 1_500, 4_000),
        Step::End,
    ];
    b.script(thread, &[], &steps);
    thread
}

/// Adds a thread in the middle: it gets a request, sends one to the next station, waits for its
/// answer and answers. The stacks are for answering, requesting, and waiting for a request.
fn station(
    b: &mut Builder,
    (program, priority): (Program, u8),
    main: [&str; 3],
    own: Station,
    [answers, asks, idles]: [&str; 3],
    (next, reason): (Station, u8),
) {
    let thread = b.thread(program, priority, main[1]);
    let work = b.code(
        &main,
        &[
            "ntdll!RtlAllocateHeap",
            "KERNELBASE!CompareStringOrdinal",
            "ntdll!memcpy",
        ],
    );
    let idles = b.waits(&[main[0], main[1], idles]);
    let sends = b.path(&[main[0], main[1], main[2], asks, "nt!KeSetEvent"]);
    let waits = if reason == reason::WR_ALERT_BY_THREAD_ID {
        "ntdll!RtlSleepConditionVariableSRW ntdll!NtWaitForAlertByThreadId nt!KiSystemServiceCopyEnd \
        nt!NtWaitForAlertByThreadId"
    } else {
        asks
    };
    let waits = b.waits(&[main[0], main[1], main[2], waits]);
    let answers = b.path(&[main[0], main[1], main[2], answers]);
    let steps = [
        Step::Await(idles, FOR_THREAD, own.asked),
        Step::Run(work, 200, 900),
        Step::Set(sends, next.asked),
        Step::Await(waits, reason, next.answered),
        Step::Run(work, 200, 900),
        Step::Set(answers, own.answered),
    ];
    b.script(thread, &[], &steps);
}

/// Adds the last thread: it reads from the disk.
fn disk(b: &mut Builder, program: Program, own: Station) {
    let main = [
        USER,
        "StoreService!CPageServer::ThreadProc",
        "StoreService!CPageServer::ReadPage",
    ];
    let file = b.file(r"ProgramData\Contoso\Ledger\ledger.db");
    let thread = b.thread(program, 9, main[1]);
    let idles = b.waits(&[main[0], main[1], RECEIVES]);
    let reads = b.waits(&[main[0], main[1], main[2], READS_FILE]);
    let checks = b.code(
        &main,
        &["StoreService!CPage::Checksum", "StoreService!CPage::Decode"],
    );
    let answers = b.path(&[main[0], main[1], main[2], ANSWERS]);
    let pauses = b.waits(&[main[0], main[1], SLEEPS]);
    let steps = [
        Step::Await(idles, reason::WR_QUEUE, own.asked),
        Step::Run(checks, 100, 300),
        Step::Read(reads, reading(file, 1, 32_768, (checks, 200, 700))),
        Step::Set(answers, own.answered),
        // It writes to its log after the answer.
        Step::Run(checks, 50, 150),
        Step::Sleep(pauses, 500, 1_500),
    ];
    b.script(thread, &[], &steps);
}
