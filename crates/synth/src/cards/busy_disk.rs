//! Card 35: a program reads a table from the disk, and each of its requests waits until the disk has
//! served those of a backup, which reads with many threads. In the twin the backup runs later.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{READS_FILE, SLEEPS, reading};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 35,
    name: "busy-disk",
    rule: "busy-disk",
    description: "a program waits for the disk, which a backup keeps busy with many requests at once",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Parts of the work of the program, and its requests in each.
const PARTS: usize = 4;
const READS: u32 = 15;
/// Time that the program computes after each request, in microseconds.
const WORK_US: u32 = 400;
/// Threads of the backup, and requests of each.
const THREADS: u32 = 16;
const COPIES: u32 = 90;
/// Time by which the backup of the twin starts later, in microseconds.
const LATER_US: u32 = 3_000_000;
/// Duration of a disk read in microseconds, as on a slow disk.
const DISK_US: (u32, u32) = (1_500, 3_500);

fn plant(scene: &mut Scene) -> Planted {
    scene.b.disk(DISK_US.0, DISK_US.1);
    let start = scene.draw(600_000, 800_000);
    let culprit = backup(scene, start);
    let image = scene.product();
    let program = scene.process(image, "/query", &[]);
    let main = root(image, "CQuery::Run");
    let file = scene.b.file(keep(format!(
        r"ProgramData\{}\{}.db",
        image.alias,
        scene.names.word()
    )));
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CQuery::Match", image.alias), "ntdll!memcpy"],
    );
    let reads = scene.b.waits(&[
        &main,
        &format!("{}!CTable::ReadPage", image.alias),
        READS_FILE,
    ]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CQuery::Run", image.alias));
    // The threads of the backup have sent their first requests by then.
    let begins = start + 100_000;
    let mut steps = vec![Step::Sleep(sleeps, begins, begins)];
    for _ in 0..PARTS {
        let bytes = 4_096 * scene.draw(1, 4);
        let read = Step::Read(reads, reading(file, READS, bytes, (code, WORK_US, WORK_US)));
        steps.extend(scene.operation(scene.acts([read])));
        steps.extend(scene.rests((sleeps, code), (1_000, 3_000), (60_000, 120_000)));
    }
    scene.idles_after(thread, &steps, (sleeps, code));
    Planted {
        culprit,
        victims: vec![program],
    }
}

/// Adds the backup, which starts at that time or later. Returns its name and process id.
fn backup(scene: &mut Scene, start: u32) -> String {
    let image = scene.product();
    let program = scene.process(image, "/backup", &[]);
    let main = root(image, "CBackup::ThreadProc");
    let reads = scene.b.waits(&[&main, READS_FILE]);
    let packs = scene.b.code(
        &[&main],
        &[&format!("{}!CArchive::Add", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let start = if scene.is_sick() {
        start
    } else {
        start + LATER_US
    };
    for number in 0..scene.strong(THREADS).max(1) {
        let file = scene.b.file(keep(format!(
            r"Users\anna\Pictures\{}\{number}.raw",
            image.alias
        )));
        let thread = scene
            .b
            .thread(program, 8, &format!("{}!CBackup::ThreadProc", image.alias));
        let steps = [
            Step::Sleep(sleeps, start, start),
            Step::Read(reads, reading(file, COPIES, 65_536, (packs, 60, 160))),
        ];
        scene.b.script(thread, &steps, &[]);
    }
    format!("{} ({})", image.name, scene.b.pid(program))
}
