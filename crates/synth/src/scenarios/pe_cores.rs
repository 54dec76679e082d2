//! Scenario `pe-cores`: four performant and four efficient processors. An indexer of low priority
//! may use only the efficient ones; its threads wait for each other there, while performant ones
//! are idle and get parked.

use super::windows::{
    KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, background, image, machine, user_program,
};
use crate::Options;
use crate::plan::{HybridPlan, Maker, ModulePlan, Plan};
use crate::script::Step;
use crate::table::Module;

static WINGTIP: Maker = Maker {
    company: "Wingtip",
    product: "Wingtip Media",
    version: "12.1.0.0",
    sources: r"D:\wingtip\media\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Wingtip\",
    r"C:\Program Files\Wingtip\",
);
const IMAGES: [ModulePlan; 2] = [
    image(
        ("Encoder", "WingEncoder.exe", "WingEncoder.pdb"),
        FOLDER,
        (0x7FF6_7A90_0000, 0x38_0000),
        &WINGTIP,
    ),
    image(
        ("Catalog", "WingCatalog.exe", "WingCatalog.pdb"),
        FOLDER,
        (0x7FF7_E3B0_0000, 0x27_0000),
        &WINGTIP,
    ),
];
const ENCODER: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE];
const CATALOG: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE];

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(8), 3, &IMAGES, false);
    b.hybrid(HybridPlan {
        efficient_of_four: 2,
        mhz: (2_400, 3_600),
    });
    background(&mut b);
    let (ids, catalog_ids) = ((b.id(), 5120), (b.id(), 5120));
    let encoder = b.program(user_program(
        ids,
        "WingEncoder.exe",
        "WingEncoder.exe clip.mov",
        ENCODER,
    ));
    let catalog = b.program(user_program(
        catalog_ids,
        "WingCatalog.exe",
        "WingCatalog.exe --background",
        CATALOG,
    ));
    let main = [USER, "Encoder!CEncodeThread::Run"];
    let pauses = b.waits(&[main[0], main[1], SLEEPS]);
    let encodes = b.code(
        &[main[0], main[1], "Encoder!CEncodeThread::EncodeFrame"],
        &[
            "Encoder!CMotion::Search",
            "Encoder!CTransform::Forward",
            "Encoder!CEntropy::Put",
        ],
    );
    // Bursts with long pauses: time enough to park processors.
    let steps = [
        Step::Run(encodes, 40_000, 160_000),
        Step::Sleep(pauses, 300_000, 900_000),
    ];
    for _ in 0..2 {
        let thread = b.thread(encoder, 8, main[1]);
        b.script(thread, &[], &steps);
    }
    let main = [USER, "Catalog!CWorker::ThreadProc"];
    let pauses = b.waits(&[main[0], main[1], SLEEPS]);
    let indexes = b.code(
        &[main[0], main[1], "Catalog!CWorker::IndexImage"],
        &[
            "Catalog!CFeature::Extract",
            "Catalog!CFeature::Extract Catalog!CGradient::Row",
            "Catalog!CIndex::Insert",
        ],
    );
    let steps = [
        Step::Run(indexes, 60_000, 140_000),
        Step::Sleep(pauses, 2_000, 9_000),
    ];
    // More threads than efficient cores, so that they wait for each other while the other cores
    // idle.
    for _ in 0..6 {
        let thread = b.thread(catalog, 6, main[1]);
        b.is_efficient(thread);
        b.script(thread, &[], &steps);
    }
    b.finish()
}
