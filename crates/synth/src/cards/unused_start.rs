//! Card 20: a program's own measurement is fast, but each of its runs is long, since it initializes
//! a library at its start that the run never uses. In the twin the library is registered without
//! initialization.

use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::scenarios::dotnet::{CLRJIT, CORE_LIB, CORECLR, HOST};
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::Step;
use crate::table::Thread;

pub(super) const CARD: Card = Card {
    number: 20,
    name: "unused-start",
    rule: "unused-start",
    description: "each run of a program starts late, since it initializes a library that it never uses",
    named: Named::WithoutCost(
        "one run does not show how fast it is without the library: the library and the programs that \
         initialize it have to be named",
    ),
    seconds: 8,
    plant,
};

/// Runs of the program.
const RUNS: usize = 6;
/// Function of the runtime at the first use of a type.
const FIRST_USE: &str = "coreclr!MethodDesc::DoPrestub";
const COMPILES: &str = "coreclr!MethodDesc::JitCompileCode clrjit!jitNativeCode";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (starter, tests) = (scene.executable(maker), scene.executable(maker));
    let (unused, maker) = (scene.maker(), scene.maker());
    let (unused, used) = (scene.library(unused), scene.library(maker));
    let program = scene.process(starter, "/compare", &[]);
    let main = root(starter, "CBatch::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CBatch::Run", starter.alias));
    let starts = scene.b.path(&[
        &main,
        "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
         nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess nt!PspInsertThread nt!KeReadyThread",
    ]);
    let own = scene.b.code(
        &[&main],
        &[
            &format!("{}!CBatch::Next", starter.alias),
            "ntdll!RtlAllocateHeap",
        ],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let runtime = [CORECLR, CLRJIT, CORE_LIB];
    for image in runtime {
        // Two cards of one trace may both need the runtime.
        if scene.b.image(image.name).is_none() {
            scene.b.add_image(image);
        }
    }
    let libraries = [
        &runtime.map(|image| image.name)[..],
        &[used.name, unused.name],
    ]
    .concat();
    let mut steps = vec![Step::Sleep(sleeps, 300_000, 400_000)];
    let mut victims = Vec::new();
    for number in 0..RUNS {
        let (child, thread) = scene.child(tests, program, &format!("-run {number}"), &libraries);
        run(scene, tests, thread, (used, unused));
        victims.push(child);
        let between = scene.draw(650_000, 800_000);
        steps.extend([
            Step::Run(own, 300, 900),
            Step::Start(starts, thread),
            Step::Sleep(sleeps, between, between),
        ]);
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(own, 100, 200),
        ],
    );
    Planted {
        culprit: unused.name.to_owned(),
        victims,
    }
}

/// Adds a run: the runtime starts, libraries are registered, and one of them does the measured
/// work.
fn run(scene: &mut Scene, tests: Image, thread: Thread, (used, unused): (Image, Image)) {
    let main = format!("{}!Tests.Program.Main", tests.alias);
    let runtime = scene.b.code(
        &[USER, HOST],
        &["ntdll!RtlAllocateHeap", "KERNELBASE!MapViewOfFile"],
    );
    let registers = format!("{}!Tests.Program.RegisterSerializers", tests.alias);
    let initialises = |scene: &mut Scene, library: Image| {
        let alias = library.alias;
        scene.b.code(
            &[USER, HOST, &main, &registers],
            &[
                &format!("{alias}!{alias}.FormatterProvider..cctor {FIRST_USE} {COMPILES}"),
                &format!(
                    "{alias}!{alias}.FormatterProvider..cctor {alias}!{alias}.Formatters.Register"
                ),
                &format!("{alias}!{alias}.FormatterProvider..cctor {FIRST_USE}"),
            ],
        )
    };
    // Both have code in either case: the twin maps the unused library and never runs it.
    let (first, second) = (initialises(scene, used), initialises(scene, unused));
    let alias = used.alias;
    let works = scene.b.code(
        &[USER, HOST, &main],
        &[
            &format!("{alias}!{alias}.Serializer.Serialize CoreLib!System.IO.MemoryStream.Write"),
            &format!("{alias}!{alias}.Serializer.Serialize coreclr!JIT_New"),
            &format!("{}!Tests.Data.Create", tests.alias),
        ],
    );
    let (begins, registered) = (scene.draw(40_000, 60_000), scene.draw(14_000, 26_000));
    let measured = scene.draw(60_000, 90_000);
    let mut work = vec![
        Step::Run(runtime, begins, begins),
        Step::Run(first, registered, registered),
    ];
    if scene.is_sick() {
        let cost = scene.strong(140_000);
        work.extend(scene.acts([Step::Run(second, cost, cost)]));
    }
    work.push(Step::Run(works, measured, measured));
    let steps = scene.operation(work);
    scene.b.script(thread, &steps, &[]);
}
