//! Filters, the disk, the file system and page faults as on a healthy machine.

use crate::cards::scene::{Scene, keep, root};
use crate::plan::reason;
use crate::scenarios::windows::{READS_FILE, SLEEPS, SYSCALL, SYSTEM, reading};
use crate::script::{Ask, Step};

const CLOSES: &str = "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose \
    nt!IopCloseFile nt!IofCallDriver FLTMGR!FltpDispatch FLTMGR!FltpPassThrough FLTMGR!FltpPerformPreCallbacksWorker";
const WRITES: &str = "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch";

/// Adds the filter driver of a backup, which reports written files to its service; the service
/// answers at once.
pub(super) fn backup(scene: &mut Scene) {
    let maker = scene.maker();
    let (driver, engine) = (scene.driver(maker), scene.executable(maker));
    let port = scene.b.port();
    let service = scene.service(engine, "/agent", &[]);
    let main = root(engine, "CAgent::ThreadProc");
    let takes = scene.b.waits(&[
        &main,
        "ntdll!NtRemoveIoCompletion nt!KiSystemServiceCopyEnd nt!KeRemoveQueueEx",
    ]);
    let notes = scene
        .b
        .code(&[&main], &[&format!("{}!CJournal::Note", engine.alias)]);
    let reply = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd FLTMGR!FltpReplyMessage nt!KeSetEvent";
    let answers = scene.b.path(&[&main, reply]);
    let thread = scene
        .b
        .thread(service, 8, &format!("{}!CAgent::ThreadProc", engine.alias));
    scene.b.script(
        thread,
        &[],
        &[
            Step::Take(takes, port),
            Step::Run(notes, 150, 500),
            Step::Answer(answers),
        ],
    );
    let writer = scene.product();
    let program = scene.process(writer, "/autosave", &[]);
    let main = root(writer, "CAutosave::Run");
    let file = scene.b.file(keep(format!(
        r"Users\anna\AppData\Local\{}\autosave.dat",
        writer.alias
    )));
    let copies = scene
        .b
        .code(&[&main, WRITES], &["Ntfs!NtfsCopyWriteA nt!CcCopyWriteEx"]);
    let writes = scene.b.path(&[&main, WRITES]);
    let asks = format!(
        "{main} {CLOSES} {}!PreCleanup FLTMGR!FltSendMessage",
        driver.alias
    );
    let (sends, waits) = (scene.b.path(&[&asks]), scene.b.waits(&[&asks]));
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CAutosave::Run", writer.alias));
    let steps = [
        Step::Sleep(sleeps, 250_000, 500_000),
        Step::Write(writes, reading(file, 2, 8_192, (copies, 30, 90))),
        Step::Ask(
            sends,
            Ask {
                port,
                file,
                waits,
                reason: reason::EXECUTIVE,
            },
        ),
    ];
    scene.b.script(thread, &[], &steps);
}

/// Adds a service in background mode that reads some pages; each transfer gives way to other
/// programs for a long time.
pub(super) fn background_reader(scene: &mut Scene) {
    let program = scene.windows_service("LocalSystemNetworkRestricted", &["sysmain.dll"]);
    let main =
        "ntdll!RtlUserThreadStart kernel32!BaseThreadInitThunk sysmain!PfSvcMainThreadWorker";
    let file = scene.b.file(r"Windows\Prefetch\AgGlFaultHistory.db");
    let reads = scene.b.waits(&[main, READS_FILE]);
    let sleeps = scene.b.waits(&[main, SLEEPS]);
    let code = scene.b.code(&[main], &["ntdll!RtlDecompressBuffer"]);
    let thread = scene.b.thread(program, 4, "sysmain!PfSvcMainThreadWorker");
    // As slow as the transfers of the card about low priority, but few: the time of a single one
    // must not be enough for a finding.
    scene.b.is_background(thread);
    let steps = [
        Step::Sleep(sleeps, 2_000_000, 3_000_000),
        Step::Read(reads, reading(file, 2, 16_384, (code, 100, 300))),
    ];
    scene.b.script(thread, &[], &steps);
}

/// NTFS writes a checkpoint of a few milliseconds now and then, which delays no thread.
pub(super) fn checkpoints(scene: &mut Scene) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let checkpoint = "Ntfs!NtfsCheckpointAllVolumes Ntfs!NtfsCheckpointVolume";
    let pauses = scene.b.waits(&[begins, "nt!KeRemovePriQueue"]);
    let looks = scene.b.code(
        &[begins, checkpoint],
        &["", "Ntfs!NtfsFreeRecentlyDeallocated"],
    );
    let thread = scene.b.thread(SYSTEM, 13, "Ntfs!NtfsCheckpointAllVolumes");
    scene.b.script(
        thread,
        &[],
        &[
            Step::Sleep(pauses, 1_800_000, 2_600_000),
            Step::Run(looks, 2_000, 6_000),
        ],
    );
}

/// Adds a program that reads some of its pages from the disk when it starts, as every program does.
pub(super) fn first_faults(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "", &[]);
    let main = root(image, "main");
    let faults = "nt!KiPageFault nt!MmAccessFault nt!MiDispatchFault nt!MiIssueHardFault nt!MiWaitForInPageComplete";
    let waits = scene.b.waits(&[&main, faults]);
    let code = scene
        .b
        .code(&[&main], &[&format!("{}!CApp::Init", image.alias)]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let file = scene.b.file(image.path.trim_start_matches(r"C:\"));
    let thread = scene.b.thread(program, 8, &format!("{}!main", image.alias));
    let once = [Step::HardFault(
        waits,
        reading(file, 6, 16_384, (code, 100, 400)),
    )];
    scene.b.script(
        thread,
        &once,
        &[
            Step::Sleep(sleeps, 200_000, 600_000),
            Step::Run(code, 100, 900),
        ],
    );
}

/// Adds a program that reads an old file now and then, for which the disk takes as long as one that
/// spins.
pub(super) fn archive(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/archive", &[]);
    let main = root(image, "CArchive::Run");
    let file = scene.b.file(keep(format!(
        r"ProgramData\{}\{}.arc",
        image.alias,
        scene.names.word()
    )));
    scene.b.is_slow(file, (22_000, 38_000));
    let reads = scene.b.waits(&[&main, READS_FILE]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let code = scene
        .b
        .code(&[&main], &[&format!("{}!CArchive::Unpack", image.alias)]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CArchive::Run", image.alias));
    let steps = [
        Step::Sleep(sleeps, 2_200_000, 3_000_000),
        Step::Read(reads, reading(file, 1, 16_384, (code, 200, 600))),
    ];
    scene.b.script(thread, &[], &steps);
}

/// Adds a program that waits for a device in the driver of the device, which Windows asks about
/// nothing else.
pub(super) fn device(scene: &mut Scene) {
    let maker = scene.maker();
    let (driver, image) = (scene.driver(maker), scene.executable(maker));
    let program = scene.process(image, "/scan", &[]);
    let main = root(image, "CScanner::Run");
    let asks = format!(
        "KERNELBASE!DeviceIoControl ntdll!NtDeviceIoControlFile {SYSCALL} \
         nt!NtDeviceIoControlFile nt!IofCallDriver {}!DispatchControl",
        driver.alias
    );
    let waits = scene.b.waits(&[&main, &asks]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let code = scene
        .b
        .code(&[&main], &[&format!("{}!CScanner::Line", image.alias)]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CScanner::Run", image.alias));
    let steps = [
        Step::Sleep(sleeps, 400_000, 600_000),
        Step::Sleep(waits, 20_000, 40_000),
        Step::Run(code, 300, 900),
    ];
    scene.b.script(thread, &[], &steps);
}
