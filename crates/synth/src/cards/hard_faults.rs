//! Card 13: a program opens a document without any page in memory, so it waits for each page until
//! the disk has read it. In the twin an earlier run has left the pages in memory.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{SLEEPS, reading};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 13,
    name: "hard-faults",
    rule: "hard-faults",
    description: "a program waits for pages that the disk has to read, since nothing is in memory yet",
    named: Named::WithCost,
    seconds: 8,
    plant,
};

/// Pages that are read one after the other.
const PAGES: u32 = 240;
/// Time that the program computes on each, in microseconds.
const WORK_US: u32 = 400;
/// Duration of a disk read in microseconds, as on a slow disk.
const DISK_US: (u32, u32) = (1_500, 3_500);
const FAULTS: &str = "nt!KiPageFault nt!MmAccessFault nt!MiDispatchFault nt!MiIssueHardFault \
    nt!MiWaitForInPageComplete";

fn plant(scene: &mut Scene) -> Planted {
    scene.b.disk(DISK_US.0, DISK_US.1);
    let image = scene.product();
    let program = scene.process(image, "/open", &[]);
    let main = root(image, "CDocument::Load");
    let path = keep(format!(
        r"ProgramData\{}\{}.dat",
        image.alias,
        scene.names.word()
    ));
    let file = scene.b.file(path);
    let code = scene.b.code(
        &[&main],
        &[
            &format!("{}!CTable::Find", image.alias),
            &format!("{}!CTable::Unpack", image.alias),
            "ntdll!memcpy",
        ],
    );
    let faults = scene
        .b
        .waits(&[&main, &format!("{}!CTable::Find", image.alias), FAULTS]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CDocument::Load", image.alias));
    let (pages, parts) = (scene.strong(PAGES), scene.draw(3, 5));
    let mut steps = vec![Step::Sleep(sleeps, 400_000, 700_000)];
    for part in 0..parts {
        // The remainder goes to the first parts, one page each, so that the sum is exact.
        let pages = pages / parts + u32::from(part < pages % parts);
        let works = if scene.is_sick() {
            Step::HardFault(
                faults,
                reading(file, pages, 16_384, (code, WORK_US, WORK_US)),
            )
        } else {
            // The twin does the same work with each page but does not wait.
            Step::Run(code, pages * WORK_US, pages * WORK_US)
        };
        steps.extend(scene.operation(scene.acts([works])));
        steps.extend(scene.rests((sleeps, code), (2_000, 6_000), (80_000, 160_000)));
    }
    scene.idles_after(thread, &steps, (sleeps, code));
    Planted {
        culprit: keep(format!(r"C:\{path}")).to_owned(),
        victims: vec![program],
    }
}
