//! Scenario `serializer-tests`: a script starts a test program nine times, three times for each of
//! three tests. The program for the older runtime begins quickly; the one for the newer runtime
//! initializes two serializers that the test does not use.

use super::dotnet::{CLRJIT, CMD, CORE_LIB, CORECLR, HOST, Prompt, begins, ends};
use super::windows::{
    KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, USER, background, image, machine,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::Module;

/// The version resource names the wrong product.
static PROTOBUF: Maker = Maker {
    company: "protobuf",
    product: "protobuf",
    version: "1.0.0.0",
    sources: r"D:\source\serializertests\",
};
const NET7: (&str, &str) = (
    r"\Device\HarddiskVolume3\Source\SerializerTests\bin\Release\net7.0\",
    r"C:\Source\SerializerTests\bin\Release\net7.0\",
);
const NET48: (&str, &str) = (
    r"\Device\HarddiskVolume3\Source\SerializerTests\bin\Release\net48\",
    r"C:\Source\SerializerTests\bin\Release\net48\",
);
const FRAMEWORK: (&str, &str) = (
    r"\Device\HarddiskVolume3\Windows\Microsoft.NET\Framework64\v4.0.30319\",
    r"C:\Windows\Microsoft.NET\Framework64\v4.0.30319\",
);
const IMAGES: [ModulePlan; 7] = [
    image(
        ("Tests7", "SerializerTests.exe", "SerializerTests.pdb"),
        NET7,
        (0x7FF6_91F0_0000, 0x2_A000),
        &PROTOBUF,
    ),
    image(
        ("Tests48", "SerializerTests.exe", "SerializerTests.ni.pdb"),
        NET48,
        (0x1AF_2C40_0000, 0x7_6000),
        &PROTOBUF,
    ),
    image(
        ("clr", "clr.dll", "clr.pdb"),
        FRAMEWORK,
        (0x7FF9_4A10_0000, 0xAC_2000),
        &MICROSOFT,
    ),
    CMD,
    CORECLR,
    CORE_LIB,
    CLRJIT,
];
const NEW: &[Module] = &[
    Module(OWN),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 4),
    Module(OWN + 5),
    Module(OWN + 6),
];
const OLD: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
];
const PROMPT: &[Module] = &[Module(OWN + 3), NTDLL, KERNEL32, KERNELBASE];
/// Seconds of each round, and runs of a test in it.
const SECONDS: u32 = 3;
const RUNS: usize = 3;
const NAME: &str = "SerializerTests.exe";

/// Command lines: `.NET` 4.8 with native images, `.NET` 7 with native images, and the same with
/// another serializer.
const LINES: [&str; 3] = [
    r"C:\Source\SerializerTests\bin\Release\net48\SerializerTests.exe -Runs 1 -test firstcall#1 ngen -serializer #DataContract",
    r"C:\Source\SerializerTests\bin\Release\net7.0\SerializerTests.exe -Runs 1 -test firstcall#1 cross -serializer #DataContract",
    r"C:\Source\SerializerTests\bin\Release\net7.0\SerializerTests.exe -Runs 1 -test firstcall#1 cross -serializer #Protobuf_net",
];

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), SECONDS, &IMAGES, false);
    background(&mut b);
    let mut prompt = Prompt::new(&mut b, PROMPT);
    for round in 0..options.scale {
        prompt.types(&mut b, 1000 * SECONDS * round + 100);
        for line in LINES {
            for _ in 0..RUNS {
                run(&mut b, &mut prompt, line);
            }
        }
    }
    prompt.done(&mut b);
    b.finish()
}

fn run(b: &mut Builder, prompt: &mut Prompt, line: &'static str) {
    let is_old = line.contains(" ngen ");
    let (program, main) = prompt.child(b, NAME, line, if is_old { OLD } else { NEW });
    let ended = b.event(0);
    let mut steps = if is_old { old(b) } else { new(b) };
    // Only the newer runtime recompiles hot methods, on a thread of its own while the test runs.
    if !is_old {
        let tiers = super::dotnet::tiers(b, program, 1);
        let starts = b.path(&[
            USER,
            HOST,
            "coreclr!TieredCompilationManager::CreateBackgroundWorker",
        ]);
        steps.insert(2, Step::Start(starts, tiers));
    }
    steps.push(ends(b, ended));
    b.script(main, &steps, &[]);
    prompt.starts(b, main, ended);
}

/// Returns the steps of the test in the program for the older runtime.
fn old(b: &mut Builder) -> Vec<Step> {
    let host = "clr!_CorExeMainInternal clr!Assembly::ExecuteMainMethod";
    let mut steps = begins(b, host, 14_000, 46_000);
    let main = [USER, host, "Tests48!SerializerTests.Program.Main"];
    let tests = b.code(
        &main,
        &[
            "Tests48!SerializerTests.TestBase.TestSerialize Tests48!SerializerTests.Serializers.DataContract.Serialize",
            "Tests48!SerializerTests.TestBase.CreateNTestData",
            "clr!MethodDesc::DoPrestub clr!MethodDesc::DoBackpatch",
        ],
    );
    steps.extend([
        Step::Begin("FirstCall ngen", None),
        Step::Run(tests, 70_000, 90_000),
        Step::End,
    ]);
    steps
}

/// Returns the steps of the test in the program for the newer runtime.
fn new(b: &mut Builder) -> Vec<Step> {
    let mut steps = begins(b, HOST, 18_000, 52_000);
    let main = [USER, HOST, "Tests7!SerializerTests.Program.Main"];
    let unused = b.code(
        &[main[0], main[1], main[2], "Tests7!SerializerTests.Program.RegisterSerializers"],
        &[
            "Tests7!MemoryPack.MemoryPackFormatterProvider..cctor coreclr!MethodDesc::DoPrestub clrjit!jitNativeCode",
            "Tests7!BinaryPack.BinaryConverter..cctor coreclr!MethodDesc::DoPrestub clrjit!jitNativeCode",
        ],
    );
    let tests = b.code(
        &main,
        &[
            "Tests7!SerializerTests.TestBase.TestSerialize CoreLib!System.IO.MemoryStream.Write",
            "Tests7!SerializerTests.TestBase.TestSerialize coreclr!JIT_New",
            "Tests7!SerializerTests.TestBase.CreateNTestData",
        ],
    );
    steps.extend([
        // Outside of the measured call: the test looks faster than the process that a user waits
        // for.
        Step::Run(unused, 120_000, 150_000),
        Step::Begin("FirstCall cross", None),
        Step::Run(tests, 55_000, 75_000),
        Step::End,
    ]);
    steps
}
