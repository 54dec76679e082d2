//! Card 36: a program reads a file in a bad place of the disk, which repeats each transfer until it
//! succeeds. In the twin the disk reads it at once.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::scenarios::windows::{READS_FILE, SLEEPS, reading};
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 36,
    name: "slow-disk",
    rule: "slow-disk",
    description: "a program waits for a disk that takes long for requests in bad places",
    named: Named::WithCost,
    seconds: 12,
    plant,
};

/// Requests in the bad place.
const READS: u32 = 24;
/// Time by which the disk takes longer for each of them, in microseconds.
const REPEATS_US: (u32, u32) = (120_000, 160_000);

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/import", &[]);
    let main = root(image, "CImport::Run");
    let [good, bad] = ["idx", "dat"].map(|ending| {
        scene.b.file(keep(format!(
            r"ProgramData\{}\{}.{ending}",
            image.alias,
            scene.names.word()
        )))
    });
    if scene.is_sick() {
        scene.b.is_slow(bad, REPEATS_US);
    }
    let code = scene.b.code(
        &[&main],
        &[&format!("{}!CRecord::Parse", image.alias), "ntdll!memcpy"],
    );
    let reads = scene
        .b
        .waits(&[&main, &format!("{}!CRecord::Load", image.alias), READS_FILE]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CImport::Run", image.alias));
    let mut steps = vec![Step::Sleep(sleeps, 600_000, 800_000)];
    for _ in 0..scene.strong(READS) {
        let bytes = 4_096 * scene.draw(1, 8);
        let looks_up = Step::Read(reads, reading(good, 2, 8_192, (code, 300, 300)));
        let read = Step::Read(reads, reading(bad, 1, bytes, (code, 300, 300)));
        let loads = [looks_up].into_iter().chain(scene.acts([read]));
        steps.extend(scene.operation(loads));
        steps.extend(scene.rests((sleeps, code), (1_000, 3_000), (30_000, 60_000)));
    }
    scene.idles_after(thread, &steps, (sleeps, code));
    Planted {
        culprit: "disk 0 (Acme SSD 512)".to_owned(),
        victims: vec![program],
    }
}
