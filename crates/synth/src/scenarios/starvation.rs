//! Scenario `starvation`: more threads compute than there are processors. A player of the same
//! priority repeatedly waits its turn; a backup of lower priority hardly runs at all.

use super::windows::{
    FOR_THREAD, KERNEL32, KERNELBASE, NTDLL, OWN, SETS_EVENT, SLEEPS, USER, WAIT_FOR_OBJECT,
    background, image, machine, user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Program, Thread};

static TAILSPIN: Maker = Maker {
    company: "Tailspin Toys",
    product: "Tailspin Studio",
    version: "5.0.3.0",
    sources: r"F:\studio\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Tailspin\",
    r"C:\Program Files\Tailspin\",
);
const IMAGES: [ModulePlan; 3] = [
    image(
        ("Baker", "LightBaker.exe", "LightBaker.pdb"),
        FOLDER,
        (0x7FF6_0D30_0000, 0x2C_0000),
        &TAILSPIN,
    ),
    image(
        ("Player", "ToyPlayer.exe", "ToyPlayer.pdb"),
        FOLDER,
        (0x7FF7_55E0_0000, 0x1A_0000),
        &TAILSPIN,
    ),
    image(
        ("Backup", "NightBackup.exe", "NightBackup.pdb"),
        FOLDER,
        (0x7FF6_C170_0000, 0x15_0000),
        &TAILSPIN,
    ),
];
const BAKER: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE];
const PLAYER: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE];
const BACKUP: &[Module] = &[Module(OWN + 2), NTDLL, KERNEL32, KERNELBASE];

pub(crate) fn plan(options: &Options) -> Plan {
    let cpus = options.cpus.unwrap_or(2);
    let mut b = machine(cpus, 2, &IMAGES, false);
    background(&mut b);
    let [baker_ids, player_ids, backup_ids] = [0; 3].map(|_| (b.id(), 5120));
    let baker = b.program(user_program(
        baker_ids,
        "LightBaker.exe",
        "LightBaker.exe castle.scene",
        BAKER,
    ));
    let player = b.program(user_program(
        player_ids,
        "ToyPlayer.exe",
        "ToyPlayer.exe march.ogg",
        PLAYER,
    ));
    let backup = b.program(user_program(
        backup_ids,
        "NightBackup.exe",
        "NightBackup.exe /all",
        BACKUP,
    ));
    // Three threads for two processors: they finish before the next part of the picture is due.
    let parts: Vec<Event> = (0..cpus + cpus / 2).map(|_| b.event(0)).collect();
    hands_out(&mut b, baker, &parts);
    for part in parts {
        bakes(&mut b, baker, part);
    }
    let thread = b.thread(player, 8, "Player!CMixer::ThreadProc");
    let main = [USER, "Player!CMixer::ThreadProc"];
    periodic(
        &mut b,
        thread,
        main,
        "NextBuffer",
        ["Player!CMixer::Fill", "Player!CDecoder::Next"],
        (9_000, 11_000),
    );
    let thread = b.thread(backup, 6, "Backup!CCopier::ThreadProc");
    let main = [USER, "Backup!CCopier::ThreadProc"];
    periodic(
        &mut b,
        thread,
        main,
        "NextBlock",
        ["Backup!CPacker::Deflate", "Backup!CPacker::Crc"],
        (4_000, 8_000),
    );
    b.finish()
}

/// Repeatedly gives each of the others a part of the picture.
fn hands_out(b: &mut Builder, program: Program, parts: &[Event]) {
    let thread = b.thread(program, 10, "Baker!CScheduler::ThreadProc");
    let main = [USER, "Baker!CScheduler::ThreadProc"];
    let pauses = b.waits(&[main[0], main[1], SLEEPS]);
    let posts = b.path(&[main[0], main[1], "Baker!CScheduler::Post", SETS_EVENT]);
    let steps = parts.iter().map(|part| Step::Set(posts, *part));
    let steps: Vec<Step> = steps
        .chain([Step::Sleep(pauses, 520_000, 620_000)])
        .collect();
    b.script(thread, &[Step::Sleep(pauses, 30_000, 60_000)], &steps);
}

/// Computes for a long time and waits for the next part.
fn bakes(b: &mut Builder, program: Program, part: Event) {
    let thread = b.thread(program, 8, "Baker!CBakeJob::ThreadProc");
    let main = [USER, "Baker!CBakeJob::ThreadProc"];
    let idles = b.waits(&[main[0], main[1], WAIT_FOR_OBJECT]);
    let traces = b.code(
        &[main[0], main[1], "Baker!CBakeJob::BakeTile"],
        &[
            "Baker!CBvh::Intersect",
            "Baker!CBvh::Intersect Baker!CTriangle::Hit",
            "Baker!CSampler::Next",
        ],
    );
    b.script(
        thread,
        &[],
        &[
            Step::Await(idles, FOR_THREAD, part),
            Step::Run(traces, 230_000, 330_000),
        ],
    );
}

/// Sleeps until something is due and computes a little, which the truth reports as calls.
fn periodic(
    b: &mut Builder,
    thread: Thread,
    main: [&str; 2],
    call: &'static str,
    leaves: [&str; 2],
    (low, high): (u32, u32),
) {
    let pauses = b.waits(&[main[0], main[1], SLEEPS]);
    let works = b.code(&main, &leaves);
    let steps = [
        Step::Begin(call, None),
        Step::Sleep(pauses, low, high),
        Step::Run(works, low / 3, high / 3),
        Step::End,
    ];
    b.script(thread, &[], &steps);
}
