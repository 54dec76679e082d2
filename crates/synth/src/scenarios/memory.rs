//! Scenario `memory`: a photo program touches new pages, copies of pages and pages of files, and
//! uses three heaps, one of them for each picture; drivers allocate kernel memory, and one of them
//! frees too little of it.

use super::windows::{
    DRIVERS, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, SYSTEM, USER, background, image, machine,
    reading, user_program,
};
use crate::Options;
use crate::act::{Act, FaultKind, Pool};
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Code, Module, Path};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Photos",
    version: "5.1.0.0",
    sources: r"D:\build\photos\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Photos\",
    r"C:\Program Files\Contoso\Photos\",
);
/// The first one is the driver.
const IMAGES: [ModulePlan; 3] = [
    image(
        ("camfilt", "camfilt.sys", "camfilt.pdb"),
        DRIVERS,
        (0xFFFF_F806_2A10_0000, 0x3_8000),
        &CONTOSO,
    ),
    image(
        ("Photos", "Photos.exe", "Photos.pdb"),
        FOLDER,
        (0x7FF6_58D0_0000, 0x12_B000),
        &CONTOSO,
    ),
    image(
        ("codecs", "codecs.dll", "codecs.pdb"),
        FOLDER,
        (0x7FF9_3B40_0000, 0x21_2000),
        &CONTOSO,
    ),
];
const PHOTOS: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
];

/// Types of pool.
const PAGED: u32 = 1;
const NON_PAGED: u32 = 0x200;
/// Heaps: the process heap, one that lives as long as the trace, and one for each picture.
const PROCESS_HEAP: u32 = 0;
const CATALOG: u32 = 1;
const PICTURE: u32 = 2;

const FAULTS: &str = "nt!KiPageFault nt!MmAccessFault";
const ALLOCATES: &str = "ntdll!RtlAllocateHeap ntdll!RtlpAllocateHeapInternal";

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, true);
    // All faults, hard faults; pool; heap.
    b.records(&[(0, 0x3000), (1, 0x40), (2, 0x20)]);
    b.disk(400, 1_600);
    background(&mut b);
    for _ in 0..2 {
        viewer(&mut b);
    }
    camera(&mut b);
    b.finish()
}

/// A function of the program, its code, and the memory that it touches.
struct WorkingFunction {
    code: Code,
    faults: Path,
    heap: Path,
    frees: Path,
}

fn place(b: &mut Builder, root: &[&str]) -> WorkingFunction {
    let root = root.join(" ");
    WorkingFunction {
        code: b.code(&[&root], &["", "codecs!CWavelet::Inverse", "ntdll!memcpy"]),
        faults: b.path(&[&root, FAULTS]),
        heap: b.path(&[&root, ALLOCATES]),
        frees: b.path(&[&root, "ntdll!RtlFreeHeap ntdll!RtlpFreeHeapInternal"]),
    }
}

/// Adds a process that shows pictures.
fn viewer(b: &mut Builder) {
    let ids = (b.id(), 5120);
    let program = b.program(user_program(
        ids,
        "Photos.exe",
        "Photos.exe /slideshow",
        PHOTOS,
    ));
    let main = [USER, "Photos!wWinMain"];
    let thread = b.thread(program, 9, main[1]);
    let opens = place(b, &[main[0], main[1], "Photos!CCatalog::Open"]);
    let decodes = place(b, &[main[0], main[1], "codecs!CDecoder::DecodeTile"]);
    let waits = b.waits(&[main[0], main[1], SLEEPS]);
    let file = b.file(r"Users\anna\Pictures\harbour.jpg");
    let library = b.file(r"Program Files\Contoso\Photos\codecs.dll");
    let reads = b.waits(&[
        main[0],
        main[1],
        "codecs!CDecoder::DecodeTile",
        FAULTS,
        "nt!MiIssueHardFault",
    ]);
    let once = [
        Step::Run(opens.code, 200, 600),
        Step::Act(opens.heap, Act::HeapBegins(CATALOG)),
        Step::Act(opens.faults, Act::Fault(FaultKind::GuardPage)),
    ];
    let mut steps = vec![
        Step::Sleep(waits, 3_000, 12_000),
        Step::Act(decodes.heap, Act::HeapBegins(PICTURE)),
        Step::HardFault(reads, reading(file, 2, 32_768, (decodes.code, 20, 60))),
    ];
    for tile in 0..6 {
        steps.extend(tile_steps(&decodes, &opens, tile));
    }
    steps.extend([
        Step::HardFault(reads, reading(library, 1, 16_384, (decodes.code, 20, 60))),
        Step::Act(decodes.heap, Act::HeapAllocates(PROCESS_HEAP, 64, 90_000)),
        Step::Run(decodes.code, 100, 300),
        Step::Act(decodes.frees, Act::HeapFrees(PROCESS_HEAP)),
        Step::Act(decodes.faults, Act::Fault(FaultKind::AccessViolation)),
        Step::Act(decodes.frees, Act::HeapEnds(PICTURE)),
    ]);
    b.script(thread, &once, &steps);
}

fn tile_steps(decodes: &WorkingFunction, opens: &WorkingFunction, tile: u32) -> Vec<Step> {
    let soft = if tile.is_multiple_of(2) {
        FaultKind::Transition
    } else {
        FaultKind::CopyOnWrite
    };
    let mut steps = vec![
        Step::Act(decodes.heap, Act::HeapAllocates(PICTURE, 4_000, 60_000)),
        Step::Act(decodes.faults, Act::Fault(FaultKind::DemandZero)),
        Step::Act(decodes.faults, Act::Fault(FaultKind::DemandZero)),
        Step::Run(decodes.code, 150, 500),
        Step::Act(decodes.faults, Act::Fault(soft)),
        Step::Act(decodes.heap, Act::HeapResizes(PICTURE, 2_000, 90_000)),
        Step::Run(decodes.code, 80, 200),
        Step::Act(opens.heap, Act::HeapAllocates(CATALOG, 24, 900)),
    ];
    if tile > 0 {
        // One block of each picture is destroyed with its heap.
        steps.push(Step::Act(decodes.frees, Act::HeapFrees(PICTURE)));
        // The catalog keeps one of six entries.
        steps.push(Step::Act(opens.frees, Act::HeapFrees(CATALOG)));
    }
    steps
}

/// System threads in a driver: one tag is balanced, one leaks, one is only freed.
fn camera(b: &mut Builder) {
    let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup camfilt!FrameThread";
    let takes = b.path(&[begins, "camfilt!AllocateFrame nt!ExAllocatePoolWithTag"]);
    let gives = b.path(&[begins, "camfilt!ReleaseFrame nt!ExFreePoolWithTag"]);
    let waits = b.waits(&[begins, "nt!KeDelayExecutionThread"]);
    let code = b.code(&[begins], &["camfilt!ConvertFrame", "nt!memcpy"]);
    let frame = Pool {
        tag: "CamF",
        kind: NON_PAGED,
        low: 4_096,
        high: 65_536,
    };
    let name = Pool {
        tag: "CamN",
        kind: PAGED,
        low: 32,
        high: 300,
    };
    for priority in [12, 13] {
        let thread = b.thread(SYSTEM, priority, "camfilt!FrameThread");
        let steps = [
            Step::Sleep(waits, 2_000, 6_000),
            Step::Act(takes, Act::PoolAllocates(frame)),
            Step::Act(takes, Act::PoolAllocates(name)),
            Step::Act(takes, Act::PoolAllocates(name)),
            Step::Run(code, 100, 400),
            Step::Act(gives, Act::PoolFrees("CamN")),
            Step::Act(gives, Act::PoolFrees("CamF")),
            Step::Act(gives, Act::PoolFreesEarlier("CamO", 512)),
        ];
        b.script(thread, &[], &steps);
    }
}
