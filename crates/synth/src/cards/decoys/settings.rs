//! Name lookups, registry, timer and handles, as well-behaved programs use them.

use crate::act::{Act, Lookup, ObjectKind, ObjectPlan, RegistryAct, RegistryOperation};
use crate::cards::scene::{Scene, keep, root};
use crate::plan::KeyPlan;
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

/// Status of a name that does not exist (`DNS_ERROR_RCODE_NAME_ERROR`).
const NO_NAME: u32 = 9003;
/// A resolution of 1 ms, in units of 100 ns.
const MS_1: u32 = 10_000;
/// Place of the control block of the key.
const PLACE: u32 = 0x700;

/// Adds a program that looks up names: some do not exist, which is known at once, others are in the
/// cache.
pub(super) fn lookups(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/sync", &["dnsapi.dll"]);
    let main = root(image, "CSync::ThreadProc");
    let queries = format!("{main} dnsapi!DnsQueryExW dnsapi!Query_PrivateExW");
    let asks = scene.b.path(&[&queries]);
    let code = scene
        .b
        .code(&[&queries], &["dnsapi!Query_Main", "dnsapi!Cache_Lookup"]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut steps = Vec::new();
    // A failed query that is fast is harmless: a status alone is not a finding.
    for status in [NO_NAME, 0, 0] {
        let name = keep(scene.names.host());
        let result = if status == 0 {
            keep(format!("::ffff:{};", scene.names.address()))
        } else {
            ""
        };
        steps.extend([
            Step::Sleep(sleeps, 300_000, 700_000),
            Step::Act(
                asks,
                Act::LookupBegins(Lookup {
                    name,
                    kind: 1,
                    status,
                    result,
                }),
            ),
            Step::Run(code, 60, 300),
            Step::Act(asks, Act::LookupEnds),
        ]);
    }
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CSync::ThreadProc", image.alias));
    scene.b.script(thread, &[], &steps);
}

/// Adds a program that reads one value of the registry a hundred times a second.
pub(super) fn registry_reader(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/watch", &[]);
    let main = root(image, "CWatch::ThreadProc");
    let path = keep(format!(r"\REGISTRY\MACHINE\SOFTWARE\{}", image.alias));
    let key = scene.b.key(KeyPlan {
        path,
        place: PLACE,
        is_there: true,
        is_listed_first: true,
    });
    let way = "KERNELBASE!RegQueryValueExW ntdll!NtQueryValueKey nt!KiSystemServiceCopyEnd nt!NtQueryValueKey";
    let asks = scene.b.path(&[&main, way]);
    let code = scene.b.code(&[&main, way], &["nt!CmQueryValueKey"]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CWatch::ThreadProc", image.alias));
    let act = RegistryAct {
        operation: RegistryOperation::QueryValue,
        key,
        name: "Interval",
    };
    let steps = [
        Step::Sleep(sleeps, 9_000, 11_000),
        Step::Act(asks, Act::RegistryBegins(act)),
        Step::Run(code, 8, 30),
        Step::Act(asks, Act::RegistryEnds(0)),
    ];
    scene.b.script(thread, &[], &steps);
}

/// Adds a player that requests a finer timer while it plays, and closes each event that it opens.
pub(super) fn player(scene: &mut Scene) {
    let image = scene.product();
    let program = scene.process(image, "/play", &[]);
    let main = root(image, "CRender::ThreadProc");
    let asks = scene.b.path(&[
        &main,
        "ntdll!NtSetTimerResolution nt!KiSystemServiceCopyEnd nt!NtSetTimerResolution",
    ]);
    let opens = scene.b.path(&[
        &main,
        "KERNELBASE!CreateEventW ntdll!NtCreateEvent nt!KiSystemServiceCopyEnd nt!NtCreateEvent",
    ]);
    let closes = scene.b.path(&[
        &main,
        "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose",
    ]);
    let plays = scene.b.code(
        &[&main],
        &[&format!("{}!CDecoder::Frame", image.alias), "ntdll!memcpy"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let thread = scene
        .b
        .thread(program, 10, &format!("{}!CRender::ThreadProc", image.alias));
    let event = ObjectPlan {
        kind: ObjectKind::Event,
        name: "",
    };
    let mut steps = vec![
        Step::Sleep(sleeps, 700_000, 1_100_000),
        Step::Act(asks, Act::AsksTimer(MS_1, false)),
    ];
    for _ in 0..60 {
        steps.extend([
            Step::Act(opens, Act::HandleOpens(event)),
            Step::Run(plays, 200, 700),
            Step::Sleep(sleeps, 9_000, 11_000),
            Step::Act(closes, Act::HandleCloses),
        ]);
    }
    // Released: a resolution that is requested only while it is needed is not a finding.
    steps.push(Step::Act(asks, Act::AsksTimer(0, false)));
    scene.b.script(thread, &[], &steps);
}
