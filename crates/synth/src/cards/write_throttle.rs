//! Card 42: a program writes faster than the disk, so that each file has to wait until the cache has
//! written the one before. In the twin the cache has room for all of them.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, SYSTEM, reading};
use crate::script::Step;
use crate::table::{Event, File};

pub(super) const CARD: Card = Card {
    number: 42,
    name: "write-throttle",
    rule: "write-throttle",
    description: "a program that writes waits until the cache has written what it wrote before",
    named: Named::WithCost,
    seconds: 9,
    plant,
};

/// Files that are written, transfers of each, and bytes of each transfer.
const FILES: usize = 30;
const PARTS: u32 = 4;
const BYTES: u32 = 131_072;
const WRITES: &str = "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch Ntfs!NtfsFsdWrite Ntfs!NtfsCommonWrite \
    Ntfs!NtfsCopyWriteA";

/// What the writer and the cache share.
struct Cache {
    /// Something is to be written to the disk.
    dirty: Event,
    /// There is room for a file.
    room: Event,
    files: Vec<File>,
}

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/export", &[]);
    let main = root(image, "CExport::Run");
    let name = scene.names.word();
    let files = (0..FILES).map(|number| {
        let path = keep(format!(r"Export\{name}\{number}.bin"));
        scene.b.file(path)
    });
    let files = files.collect();
    let cache = Cache {
        dirty: scene.b.event(0),
        room: scene.b.event(1),
        files,
    };
    lazy_writer(scene, &cache);
    let fills = scene.b.code(
        &[&main],
        &[&format!("{}!CExport::Format", image.alias), "ntdll!memcpy"],
    );
    let copies = scene
        .b
        .code(&[&main, WRITES], &["nt!CcCopyWriteEx nt!memcpy"]);
    let written = scene.b.path(&[&main, WRITES]);
    let throttled = scene.b.waits(&[&main, WRITES, "nt!CcCanIWriteStream"]);
    let posts = scene
        .b
        .path(&[&main, WRITES, "nt!CcScheduleLazyWriteScan nt!KeSetEvent"]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
    for file in &cache.files {
        let fill = scene.draw(1_000, 3_000);
        let mut work = vec![Step::Run(fills, fill, fill)];
        // The twin writes as much, and does not wait for room.
        if scene.is_sick() {
            work.extend(scene.acts([Step::Await(throttled, reason::EXECUTIVE, cache.room)]));
        }
        work.extend([
            Step::Write(written, reading(*file, PARTS, BYTES, (copies, 40, 40))),
            Step::Set(posts, cache.dirty),
        ]);
        steps.extend(scene.operation(work));
        steps.push(Step::Sleep(sleeps, 1_000, 3_000));
    }
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CExport::Run", image.alias));
    scene.idles_after(thread, &steps, (sleeps, fills));
    Planted {
        culprit: "the cache of written data".to_owned(),
        victims: vec![program],
    }
}

/// Adds the system thread that writes each file to the disk.
fn lazy_writer(scene: &mut Scene, cache: &Cache) {
    let root =
        "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread nt!CcWorkerThread";
    let behind = "nt!CcWriteBehind";
    let idles = scene.b.waits(&[root, "nt!KeRemovePriQueue"]);
    let code = scene.b.code(&[root, behind], &["nt!CcFlushCacheOneRange"]);
    let writes = scene
        .b
        .waits(&[root, behind, "nt!MmFlushSection nt!IoSynchronousPageWrite"]);
    let frees = scene
        .b
        .path(&[root, behind, "nt!CcPostDeferredWrites nt!KeSetEvent"]);
    let mut steps = Vec::new();
    for file in &cache.files {
        let pace = scene.draw(65_000, 100_000);
        let pace = scene.strong(pace);
        steps.extend([
            Step::Await(idles, reason::EXECUTIVE, cache.dirty),
            Step::WriteOut(writes, reading(*file, PARTS, BYTES, (code, 50, 200))),
            // A disk of this speed is busy with the rest of the data.
            Step::Sleep(writes, pace, pace),
            Step::Set(frees, cache.room),
        ]);
    }
    let never = scene.b.event(0);
    steps.push(Step::Await(idles, reason::EXECUTIVE, never));
    let thread = scene.b.thread(SYSTEM, 12, "nt!ExpWorkerThread");
    scene.b.script(thread, &steps, &[]);
}
