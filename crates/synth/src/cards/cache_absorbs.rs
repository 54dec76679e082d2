//! Card 15: a program seems to write far faster than the disk can, since the cache takes nearly all
//! of it and the trace ends before the data is on the disk. In the twin the program waits until the
//! disk has it.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{SLEEPS, SYSTEM, reading};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 15,
    name: "cache-absorbs",
    rule: "cache-absorbs",
    description: "what a program writes stays in the cache, so that its speed says nothing of the disk",
    named: Named::WithoutCost(
        "nothing is slow: the program is named whose writes the disk has not seen",
    ),
    seconds: 6,
    plant,
};

/// Transfers of each file, bytes of each of them, and files.
const PARTS: u32 = 60;
const BYTES: u32 = 262_144;
const FILES: u32 = 8;
const WRITES: &str = "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch Ntfs!NtfsFsdWrite Ntfs!NtfsCommonWrite";

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/benchmark", &[]);
    let main = root(image, "CWriter::Run");
    let fills = scene.b.code(
        &[&main],
        &[&format!("{}!CWriter::Fill", image.alias), "ntdll!memset"],
    );
    let copies = scene.b.code(
        &[&main, WRITES],
        &["Ntfs!NtfsCopyWriteA nt!CcCopyWriteEx nt!memcpy"],
    );
    let cached = scene.b.path(&[&main, WRITES]);
    let through = scene
        .b
        .waits(&[&main, WRITES, "Ntfs!NtfsNonCachedIo Ntfs!NtfsWaitSync"]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CWriter::Run", image.alias));
    let parts = scene.strong(PARTS);
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    let name = scene.names.word();
    for number in 0..FILES {
        let file = scene.b.file(keep(format!(r"temp\{name}\{number}.bin")));
        let reading = reading(file, parts, BYTES, (copies, 60, 60));
        let fill = scene.draw(2_000, 5_000);
        let write = if scene.is_sick() {
            Step::Write(cached, reading)
        } else {
            Step::WriteOut(through, reading)
        };
        let fills = std::iter::once(Step::Run(fills, fill, fill));
        steps.extend(scene.operation(fills.chain(scene.acts([write]))));
        steps.push(Step::Sleep(sleeps, 40_000, 90_000));
        // A little of the first file does reach the disk, as it would in reality: a rule must not
        // rely on there being no write at all.
        if number == 0 {
            lazy_writer(scene, file);
        }
    }
    scene.idles_after(thread, &steps, (sleeps, fills));
    let culprit = format!("{} ({})", image.name, scene.b.pid(program));
    Planted {
        culprit,
        victims: vec![program],
    }
}

/// Adds the system thread that writes a little of the first file now and then.
fn lazy_writer(scene: &mut Scene, file: crate::table::File) {
    let root =
        "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread nt!CcWorkerThread";
    let waits = scene.b.waits(&[root, "nt!KeRemovePriQueue"]);
    let code = scene
        .b
        .code(&[root, "nt!CcWriteBehind"], &["nt!CcFlushCacheOneRange"]);
    let writes = scene.b.waits(&[
        root,
        "nt!CcWriteBehind nt!MmFlushSection nt!IoSynchronousPageWrite",
    ]);
    let thread = scene.b.thread(SYSTEM, 12, "nt!ExpWorkerThread");
    let steps = [
        Step::Sleep(waits, 900_000, 1_100_000),
        Step::WriteOut(writes, reading(file, 1, 65_536, (code, 50, 200))),
    ];
    scene.b.script(thread, &[], &steps);
}
