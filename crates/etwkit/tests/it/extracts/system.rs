//! Registry, recording sessions, standby and regions of interest: from a trace that is written here to what
//! the dumps print.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{KernelContext, KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
use etwkit_testkit::payload::{bytes, wide};

use super::support::{Extract, dump_rows, print_as};
use crate::support::{Exit, run};
use crate::transcripts::compare;

const TRACING: Guid = Guid::literal("b675ec37-bdb6-4648-bc92-f3fdc74d3ca2");
const POWER: Guid = Guid::literal("331c3b3a-2005-44c2-ac5e-77220c37d6b4");
const DNS: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");

const REGIONS: &str = r#"<InstrumentationManifest><Instrumentation><Regions>
<RegionRoot Guid="{0}" Name="Recording">
  <Region Guid="{1}" Name="Session" FriendlyName="A session">
    <Start><Event Provider="{b675ec37-bdb6-4648-bc92-f3fdc74d3ca2}" Id="10" Version="1"/></Start>
    <Stop><Event Provider="{b675ec37-bdb6-4648-bc92-f3fdc74d3ca2}" Id="11" Version="2"/></Stop>
    <Match><Event><Payload FieldName="SessionName"/></Event></Match>
    <Naming><PayloadBased NameField="SessionName"/></Naming>
    <Region Guid="{2}" Name="Provider">
      <Start><Event Provider="{b675ec37-bdb6-4648-bc92-f3fdc74d3ca2}" Id="14" Version="1"/></Start>
      <Stop><Event Provider="{b675ec37-bdb6-4648-bc92-f3fdc74d3ca2}" Id="15" Version="0"/></Stop>
      <Match><Parent><Payload FieldName="SessionName"/></Parent></Match>
    </Region>
  </Region>
  <Region Guid="{3}" Name="Never">
    <Start><Event Provider="{b675ec37-bdb6-4648-bc92-f3fdc74d3ca2}" Id="77"/></Start>
    <Stop><Event Provider="{b675ec37-bdb6-4648-bc92-f3fdc74d3ca2}" Id="11" Version="2"/></Stop>
  </Region>
</RegionRoot></Regions></Instrumentation></InstrumentationManifest>
"#;

/// A trace that is being written; a tick is a microsecond.
struct Recording {
    writer: TraceWriter<std::io::Cursor<Vec<u8>>>,
    start: i64,
}

impl Recording {
    /// An event of thread 101 of process 100.
    fn kernel(&mut self, us: i64, (group, opcode, version): (u8, u8, u8), payload: &[u8]) {
        let context = KernelContext::IdsAndTimes {
            thread_id: 101,
            process_id: 100,
            kernel_time: 0,
            user_time: 0,
        };
        let timestamp = self.start + us;
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    fn registry(&mut self, op: u8, from: i64, to: i64, status: u64, block: u64, name: &str) {
        let begin = (self.start + from) as u64;
        let payload = [
            bytes(&[(begin, 8), (status, 4), (0, 4), (block, 8)]),
            wide(name),
        ]
        .concat();
        self.kernel(to, (9, op, 2), &payload);
    }

    fn provider(&mut self, us: i64, provider: Guid, (id, version): (u16, u8), payload: &[u8]) {
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider,
            descriptor: Descriptor {
                id,
                version,
                ..Descriptor::default()
            },
            process_id: 100,
            thread_id: 101,
            payload,
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    fn session(&mut self, us: i64, kind: (u16, u8), name: &str, numbers: &[u64]) {
        let tail = bytes(&numbers.iter().map(|n| (*n, 4)).collect::<Vec<_>>());
        let payload = [
            &[7; 16][..],
            &bytes(&[(0x100, 4)]),
            &wide(name),
            &wide("c:\\a.etl"),
            &tail,
        ]
        .concat();
        self.provider(us, TRACING, kind, &payload);
    }
}

/// What the dumps are asked about.
fn trace(folder: &Path) -> String {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    options.header.session_name = "NT Kernel Logger".into();
    options.header.log_file_mode = 0x1;
    let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let mut r = Recording {
        writer,
        start: options.t0,
    };
    let process = [
        bytes(&[
            (0x1000, 8),
            (100, 4),
            (4, 4),
            (1, 4),
            (0, 4),
            (0, 8),
            (0, 4),
            (0, 4),
        ]),
        b"setup.exe\0".to_vec(),
        wide("setup.exe /quiet"),
        wide(""),
        wide(""),
    ]
    .concat();
    r.kernel(0, (3, 3, 4), &process);
    r.kernel(0, (5, 3, 3), &bytes(&[(100, 4), (101, 4)]));
    r.kernel(
        1,
        (0, 5, 2),
        &bytes(&[
            (0x2_0003, 4),
            (0, 4),
            (0x100_0000, 4),
            (0, 8),
            (0, 8),
            (0, 4),
            (85, 4),
        ]),
    );
    let run = 0xFFFF_9000_0000_00A0;
    r.registry(24, 2, 2, 0, run, r"\REGISTRY\MACHINE\SOFTWARE\Run");
    r.registry(11, 100, 140, 0, run, "Helper");
    r.registry(16, 150, 160, 0, run, "Tray");
    r.registry(16, 170, 200, 0xC000_0034, run, "Missing");
    r.registry(27, 210, 211, 0, run, "");
    r.registry(11, 220, 300, 0xC000_0022, 0, r"\Registry\User\S-1-5-18");
    r.registry(13, 310, 330, 0, 0x77, "");
    r.session(1000, (10, 1), "Audit", &[4, 64, 128, 4, 4, 0]);
    let enable = [
        &DNS.to_bytes()[..],
        &wide("Audit"),
        &bytes(&[(0xFF, 8), (0, 8), (1, 4), (4, 1)]),
    ]
    .concat();
    r.provider(1200, TRACING, (14, 1), &enable);
    r.session(1300, (10, 1), "Other", &[4, 64, 128, 4, 4, 0]);
    r.provider(
        1500,
        TRACING,
        (15, 0),
        &[&DNS.to_bytes()[..], &wide("Audit")].concat(),
    );
    r.session(2000, (11, 2), "Audit", &[4, 64, 128, 9, 8, 0, 7, 2, 1, 33]);
    let enter = bytes(&[
        (15, 4),
        (0, 4),
        (1, 4),
        (9, 1),
        (4000, 4),
        (5000, 4),
        (77, 8),
        (42, 4),
    ]);
    r.provider(2500, POWER, (506, 3), &enter);
    let exit = bytes(&[
        (3, 4),
        (25, 8),
        (40, 8),
        (15, 8),
        (540_000_000, 8),
        (600_000_000, 8),
        (6, 4),
        (96, 1),
        (0, 4),
        (31, 4),
        (0, 8),
        (0, 8),
        (1, 4),
    ]);
    r.provider(9000, POWER, (507, 12), &exit);
    let file = r
        .writer
        .finish(options.header.start_time + 100_000)
        .unwrap()
        .into_inner();
    let path = folder.join("system.etl");
    std::fs::write(&path, file).unwrap();
    path.to_str().unwrap().to_owned()
}

fn folder() -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("system");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn extract(options: &[&str]) -> Arc<Extract> {
    static TRACE: OnceLock<String> = OnceLock::new();
    Extract::of(&[TRACE.get_or_init(|| trace(&folder()))], options)
}

/// The file of regions, under a name of its own for each test.
fn regions(name: &str, text: &str) -> String {
    let path = folder().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_the_dumps_print() {
    let extract = extract(&[]);
    for (name, args) in [
        ("dump-registry", &["registry"][..]),
        (
            "dump-registry-depth",
            &["registry", "--depth", "0", "--column", "+Opened;+Closed"],
        ),
        (
            "dump-registry-status",
            &["registry", "--by", "status", "--per-process"],
        ),
        (
            "dump-registry-details",
            &["registry", "--details", "--time-digits", "6"],
        ),
        ("dump-loggers", &["loggers"]),
        (
            "dump-loggers-details",
            &["loggers", "--details", "--time-digits", "4"],
        ),
        ("dump-standby", &["standby", "--column", "+Battery;+Ac"]),
    ] {
        print_as(name, args, &extract);
    }
    let regions = regions("regions.xml", REGIONS);
    for (name, args) in [
        ("dump-region", &[][..]),
        (
            "dump-region-details",
            &["--details", "--open", "--time-digits", "4"],
        ),
    ] {
        let args = [&["dump", "region", "--time-format", "s"], args].concat();
        let answer = run(&[&args[..], &["--regions", &regions, &extract.path]].concat());
        let command = format!("$ etwkit {} --regions regions.xml", args.join(" "));
        compare(
            &format!(
                "{command}\n{}{}[exit {}]\n",
                answer.out,
                answer.err,
                answer.exit.code()
            ),
            name,
        );
    }
}

#[test]
fn sums_of_the_registry_do_not_need_single_operations() {
    let [full, summary] = [&[][..], &["--detail", "summary"]].map(extract);
    for args in [
        &["registry"][..],
        &["registry", "--by", "operation"],
        &["registry", "--by", "process"],
    ] {
        assert_eq!(
            dump_rows(args, &full),
            dump_rows(args, &summary),
            "{args:?}"
        );
    }
    for args in [
        &["registry", "--details"][..],
        &["registry", "--status", "failed"],
        &["registry", "--by", "value"],
    ] {
        let answer = run(&[&["dump"], args, &[&summary.path]].concat());
        assert_eq!(answer.exit, Exit::Nothing, "{args:?}");
        assert!(answer.out.contains("only sums"), "{args:?}: {}", answer.out);
    }
    let regions = regions("of-summary.xml", REGIONS);
    let answer = run(&["dump", "region", "--regions", &regions, &summary.path]);
    assert_eq!(answer.exit, Exit::Nothing, "{}", answer.out);
    // Sessions and stays are few: a summary has them.
    for args in [&["loggers"][..], &["loggers", "--details"], &["standby"]] {
        assert_eq!(
            dump_rows(args, &full),
            dump_rows(args, &summary),
            "{args:?}"
        );
    }
}

/// What cannot be followed in a file of regions is named with its place, whether the rest has an answer or not.
#[test]
fn what_is_unknown_in_a_file_of_regions_is_named() {
    let unknown = regions(
        "unknown.xml",
        &REGIONS.replace("<Naming>", "<Naming Style='x'>"),
    );
    let extract = extract(&[]);
    let other = Extract::of(&[&crate::support::trace("sched-5.etl")], &[]);
    for (path, exit) in [
        (&extract.path, Exit::Answered),
        (&other.path, Exit::Nothing),
    ] {
        let answer = run(&["dump", "region", "--regions", &unknown, path]);
        assert_eq!(answer.exit, exit, "{}", answer.err);
        let note = "unknown.xml:7:";
        assert!(
            answer.err.contains(note) && answer.err.contains("Style of <Naming> is unknown"),
            "{}",
            answer.err
        );
    }
}

#[test]
fn a_file_without_regions_names_its_place() {
    let regions = regions("wrong.xml", "<InstrumentationManifest/>");
    let extract = extract(&[]);
    let answer = run(&["dump", "region", "--regions", &regions, &extract.path]);
    assert_eq!(answer.exit, Exit::Error, "{}", answer.err);
    assert!(answer.err.contains("wrong.xml:1:"), "{}", answer.err);
    assert!(
        answer.err.contains("hint: a file of regions is XML"),
        "{}",
        answer.err
    );
}

#[test]
fn what_was_not_recorded_is_named_with_how_to_record_it() {
    let Some((trace, _)) = super::support::made_with("pmc").into_iter().next() else {
        return;
    };
    let extract = Extract::of(&[&trace], &[]);
    let regions = regions("not-recorded.xml", REGIONS);
    let region = ["region", "--regions", &regions];
    for (args, how) in [
        (&["registry"][..], "REGISTRY"),
        (&["standby"], "Kernel-Power"),
        (&["loggers", "--details"], "Kernel-EventTracing"),
        (&region, "b675ec37-bdb6-4648-bc92-f3fdc74d3ca2"),
    ] {
        let answer = run(&[&["dump"], args, &[&extract.path]].concat());
        assert_eq!(answer.exit, Exit::Nothing, "{args:?}");
        assert!(answer.out.contains(how), "{args:?}: {}", answer.out);
    }
}
