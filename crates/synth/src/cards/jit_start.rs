//! Card 30: a .NET program starts late, since two of its static constructors fill large tables in
//! code, which the runtime has to compile. In the twin they read the tables from data.

use super::scene::{Image, Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::{Act, Compiled, Tier};
use crate::scenarios::dotnet::{CLRJIT, CORE_LIB, CORECLR, HOST};
use crate::scenarios::windows::{SLEEPS, USER};
use crate::script::Step;
use crate::table::{Code, Path, Thread};

pub(super) const CARD: Card = Card {
    number: 30,
    name: "jit-start",
    rule: "jit-start",
    description: "a .NET program starts late, since it compiles two large static constructors",
    named: Named::WithCost,
    seconds: 6,
    plant,
};

/// Ordinary methods that are compiled between the two.
const METHODS: usize = 14;
/// Compiling a method that is called first, and one that a thread of the runtime compiles again.
const FIRST_CALL: &str = "coreclr!ThePreStub coreclr!PreStubWorker coreclr!MethodDesc::DoPrestub \
    coreclr!MethodDesc::JitCompileCode";
pub(super) const COMPILER: &str = "clrjit!jitNativeCode clrjit!CILJit::compileMethod";
/// Libraries of the runtime.
const RUNTIME: [&str; 3] = [CORECLR.name, CORE_LIB.name, CLRJIT.name];

/// Compilation on a thread: the stack of its events, and the code of the compiler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compiler {
    pub(super) asks: Path,
    pub(super) compiles: Code,
}

impl Compiler {
    pub(super) fn new(scene: &mut Scene, root: &[&str]) -> Self {
        let compiler = |leaf: &str| format!("{COMPILER} {leaf}");
        let leaves = [
            "clrjit!Compiler::fgMorphBlocks",
            "clrjit!LinearScan::doLinearScan",
            "clrjit!Compiler::fgImport",
        ]
        .map(compiler);
        let leaves = leaves.each_ref().map(String::as_str);
        Self {
            asks: scene.b.path(root),
            compiles: scene.b.code(root, &leaves),
        }
    }

    /// Returns the steps of compiling a method for this long, in microseconds.
    pub(super) fn compiles(self, method: Compiled, us: u32) -> [Step; 3] {
        [
            Step::Act(self.asks, Act::CompileBegins(method)),
            Step::Run(self.compiles, us, us),
            Step::Act(self.asks, Act::CompileEnds),
        ]
    }
}

/// Returns the libraries of the runtime. Two cards of one trace may both need them.
pub(super) fn runtime(scene: &mut Scene) -> &'static [&'static str] {
    for image in [CORECLR, CORE_LIB, CLRJIT] {
        if scene.b.image(image.name).is_none() {
            scene.b.add_image(image);
        }
    }
    &RUNTIME
}

/// A static constructor that fills a table.
struct Table {
    method: Compiled,
    compile_us: u32,
    fill_us: u32,
}

fn plant(scene: &mut Scene) -> Planted {
    let libraries = runtime(scene);
    let maker = scene.maker();
    let (starter, image) = (scene.executable(maker), scene.executable(maker));
    let program = scene.process(starter, "", &[]);
    let main = root(starter, "CMenu::Run");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CMenu::Run", starter.alias));
    let (child, child_thread) = scene.child(image, program, "/open", libraries);
    let culprit = starts(scene, image, child_thread);
    let starts = scene.b.path(&[
        &main,
        "kernel32!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
         nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess nt!PspInsertThread nt!KeReadyThread",
    ]);
    let waits = scene.b.waits(&[&main, SLEEPS]);
    let own = scene
        .b
        .code(&[&main], &[&format!("{}!CMenu::OnClick", starter.alias)]);
    scene.b.script(
        thread,
        &[
            Step::Sleep(waits, 500_000, 800_000),
            Step::Run(own, 300, 900),
            Step::Start(starts, child_thread),
        ],
        &[
            Step::Sleep(waits, 300_000, 500_000),
            Step::Run(own, 100, 200),
        ],
    );
    Planted {
        culprit,
        victims: vec![child],
    }
}

/// Sets the work of the program that starts. Returns the name of its largest method.
fn starts(scene: &mut Scene, image: Image, thread: Thread) -> String {
    let alias = image.alias;
    let main = keep(format!("{USER} {HOST} {alias}!{alias}.Program.Main"));
    let loads = scene.b.code(
        &[USER, HOST],
        &["ntdll!RtlAllocateHeap", "KERNELBASE!MapViewOfFile"],
    );
    let first_calls = Compiler::new(scene, &[main, FIRST_CALL]);
    let works = scene.b.code(
        &[main],
        &[
            &format!("{alias}!{alias}.View.Build"),
            "CoreLib!System.Collections.Generic.Dictionary`2.FindValue",
        ],
    );
    let load = scene.draw(40_000, 60_000);
    let mut work = vec![Step::Run(loads, load, load)];
    let tables = [(520_000, 680_000), (300_000, 420_000)].map(|us| table(scene, alias, us));
    let [first, second] = &tables;
    work.extend(fills(scene, main, first));
    for _ in 0..METHODS {
        let method = method(scene, alias, "Load", (40, 300));
        let (compile, run) = (scene.draw(200, 700), scene.draw(500, 2_500));
        work.extend(first_calls.compiles(method, compile));
        work.push(Step::Run(works, run, run));
    }
    work.extend(fills(scene, main, second));
    let show = scene.draw(60_000, 90_000);
    work.push(Step::Run(works, show, show));
    let steps = scene.operation(work);
    let waits = scene.b.waits(&[main, SLEEPS]);
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(waits, 200_000, 500_000),
            Step::Run(works, 200, 900),
        ],
    );
    let Compiled {
        namespace, name, ..
    } = first.method;
    format!("{namespace}.{name}")
}

/// Returns the steps of compiling and running the constructor of a table.
fn fills(scene: &mut Scene, main: &str, table: &Table) -> Vec<Step> {
    let kind = table.method.namespace;
    let alias = kind.split('.').next().unwrap_or(kind);
    let name = format!("{alias}!{kind}..cctor");
    let compiler = Compiler::new(scene, &[main, &name, FIRST_CALL]);
    let fills = scene.b.code(&[main, &name], &["coreclr!JIT_New"]);
    let mut steps = scene.acts(compiler.compiles(table.method, table.compile_us));
    steps.push(Step::Run(fills, table.fill_us, table.fill_us));
    steps
}

/// Returns a table that takes from..to microseconds to compile, if it is in code.
fn table(scene: &mut Scene, alias: &str, (low, high): (u32, u32)) -> Table {
    let compile_us = scene.draw(low, high);
    let compile_us = scene.strong(compile_us);
    let fill_us = scene.draw(8_000, 14_000);
    let (il_bytes, compile_us) = match scene.is_sick() {
        true => (compile_us / 2, compile_us),
        false => (200, 1_500),
    };
    let method = method(scene, alias, ".cctor", (il_bytes, il_bytes));
    Table {
        method,
        compile_us,
        fill_us,
    }
}

/// Returns a method of a new type, with from..to bytes of IL.
pub(super) fn method(
    scene: &mut Scene,
    alias: &str,
    name: &'static str,
    (low, high): (u32, u32),
) -> Compiled {
    let kind = scene.names.product();
    Compiled {
        namespace: keep(format!("{alias}.{kind}")),
        name,
        il_bytes: scene.draw(low, high),
        tier: Tier::First,
    }
}
