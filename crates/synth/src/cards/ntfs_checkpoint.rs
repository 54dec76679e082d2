//! Card 11: a program writes many files, and from time to time all of its file operations stop,
//! since NTFS locks the volume while a checkpoint goes through long lists of earlier deletions. In
//! the twin the lists are short and each checkpoint takes a moment.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, SYSTEM, reading};
use crate::script::Step;
use crate::table::Event;

pub(super) const CARD: Card = Card {
    number: 11,
    name: "ntfs-checkpoint",
    rule: "ntfs-checkpoint",
    description: "file operations stop while NTFS writes a checkpoint of the volume",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Files that are written.
const FILES: usize = 420;
const OPENS: &str = "KERNELBASE!CreateFileW ntdll!NtCreateFile nt!KiSystemServiceCopyEnd nt!NtCreateFile \
    nt!IopCreateFile nt!ObOpenObjectByNameEx nt!IopParseDevice nt!IofCallDriver FLTMGR!FltpCreate \
    Ntfs!NtfsFsdCreate Ntfs!NtfsCommonCreate";
const WRITES: &str = "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch";

fn plant(scene: &mut Scene) -> Planted {
    // An event with one signal is a lock: a thread that awaits it acquires it, and setting it
    // releases it.
    let volume = scene.b.event(1);
    checkpoints(scene, volume);
    let image = scene.product();
    let program = scene.process(image, "/export", &[]);
    let main = root(image, "CExport::Run");
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CExport::Run", image.alias));
    let creates = scene.b.code(
        &[&main, OPENS],
        &["Ntfs!NtfsCreateNewFile", "Ntfs!NtfsAddLink"],
    );
    let locks = scene.b.waits(&[
        &main,
        OPENS,
        "Ntfs!NtfsAcquireSharedVcb nt!ExAcquireResourceSharedLite nt!ExpWaitForResource",
    ]);
    let unlocks = scene
        .b
        .path(&[&main, OPENS, "Ntfs!NtfsReleaseVcb nt!ExReleaseResourceLite"]);
    let formats = scene.b.code(
        &[&main],
        &[&format!("{}!CExport::Format", image.alias), "ntdll!memcpy"],
    );
    let copies = scene
        .b
        .code(&[&main, WRITES], &["Ntfs!NtfsCopyWriteA nt!CcCopyWriteEx"]);
    let written = scene.b.path(&[&main, WRITES]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = Vec::new();
    for number in 0..FILES {
        let own = scene.draw(2_200, 3_600);
        let file = scene
            .b
            .file(keep(format!(r"Export\{}\part{number}.dat", image.alias)));
        // Only the wait is the effect; a free lock takes no time and counts for nothing.
        work.extend(scene.acts([Step::Await(locks, reason::WR_RESOURCE, volume)]));
        work.extend([
            Step::Run(creates, 260, 260),
            Step::Set(unlocks, volume),
            Step::Run(formats, own, own),
            Step::Write(written, reading(file, 2, 25_600, (copies, 90, 90))),
        ]);
    }
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 400_000)];
    steps.extend(scene.operation(work));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(formats, 100, 200),
        ],
    );
    Planted {
        culprit: "NtfsCheckpointVolume".to_owned(),
        victims: vec![program],
    }
}

/// Adds the system thread that writes checkpoints while it has the volume alone.
fn checkpoints(scene: &mut Scene, volume: Event) {
    let root = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let checkpoint = "Ntfs!NtfsCheckpointAllVolumes Ntfs!NtfsCheckpointVolume";
    let thread = scene.b.thread(SYSTEM, 13, "nt!ExpWorkerThread");
    let pauses = scene.b.waits(&[root, "nt!KeRemovePriQueue"]);
    let takes = scene.b.waits(&[
        root,
        checkpoint,
        "Ntfs!NtfsAcquireCheckpointSynchronization",
    ]);
    let gives = scene.b.path(&[
        root,
        checkpoint,
        "Ntfs!NtfsReleaseCheckpointSynchronization nt!KeSetEvent",
    ]);
    let looks = scene.b.code(
        &[root, checkpoint],
        &[
            "",
            "Ntfs!NtfsFreeRecentlyDeallocated",
            "nt!RtlClearBits",
            "Ntfs!NtfsMoveDeallocatedClusters",
        ],
    );
    let flush = "Ntfs!LfsWriteRestartArea Ntfs!LfsFlushToLsn nt!IoSynchronousPageWrite";
    let flushes = scene.b.waits(&[root, checkpoint, flush]);
    let log = scene.b.file("$LogFile");
    let (low, high) = if scene.is_sick() {
        (scene.strong(280_000), scene.strong(460_000))
    } else {
        (300, 600)
    };
    let steps = [
        Step::Sleep(pauses, 520_000, 680_000),
        Step::Await(takes, reason::WR_RESOURCE, volume),
        Step::Run(looks, low, high),
        Step::WriteOut(flushes, reading(log, 2, 65_536, (looks, 60, 200))),
        Step::Set(gives, volume),
    ];
    scene.b.script(thread, &[], &steps);
}
