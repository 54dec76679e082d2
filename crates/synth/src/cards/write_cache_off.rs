//! Card 4: the write cache of the disk is off, so an import waits long for each record that it
//! writes through. In the twin the cache is on.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{SLEEPS, reading};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 4,
    name: "write-cache-off",
    rule: "write-cache-off",
    description: "an import waits for the disk at each write, since the write cache of the disk is off",
    named: Named::WithoutCost(
        "one trace does not show how fast the disk is with its cache: the disk is named whose cache is off",
    ),
    seconds: 8,
    plant,
};

/// Records of each batch, and batches.
const RECORDS: u32 = 30;
const BATCHES: u32 = 5;
/// Time that the program computes on each record, in microseconds.
const WORK_US: u32 = 900;
const WRITES: &str = "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch Ntfs!NtfsFsdWrite Ntfs!NtfsCommonWrite \
    Ntfs!NtfsNonCachedIo Ntfs!NtfsWaitSync";

fn plant(scene: &mut Scene) -> Planted {
    // The setting is the whole defect; the program and its writes are the same in the twin.
    if scene.is_sick() {
        scene.b.writes_through();
    }
    let image = scene.product();
    let program = scene.process(image, "/import", &[]);
    let main = root(image, "CImport::Run");
    let file = scene.b.file(keep(format!(
        r"ProgramData\{}\{}.db",
        image.alias,
        scene.names.word()
    )));
    let code = scene.b.code(
        &[&main],
        &[
            &format!("{}!CRecord::Parse", image.alias),
            &format!("{}!CIndex::Insert", image.alias),
        ],
    );
    let writes = scene
        .b
        .waits(&[&main, &format!("{}!CLog::Commit", image.alias), WRITES]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CImport::Run", image.alias));
    let records = scene.strong(RECORDS);
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 500_000)];
    for _ in 0..BATCHES {
        let bytes = 4_096 * scene.draw(1, 4);
        let write = Step::WriteOut(
            writes,
            reading(file, records, bytes, (code, WORK_US, WORK_US)),
        );
        steps.extend(scene.operation(scene.acts([write])));
        steps.extend(scene.rests((sleeps, code), (1_000, 3_000), (60_000, 120_000)));
    }
    scene.idles_after(thread, &steps, (sleeps, code));
    Planted {
        culprit: "write cache of disk 0 (Acme SSD 512)".to_owned(),
        victims: vec![program],
    }
}
