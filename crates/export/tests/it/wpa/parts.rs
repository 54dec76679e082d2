//! Parts of a trace: ranges, times between marks, instances of regions.

use etwkit_export::wpa::ProfileArgs;
use etwkit_terminal::Exit;

use super::support::Place;

const USAGE: &str = "CPU Usage (in view) (ms)";
const THREADS: &str = "CPU_Usage_(Precise)_Utilization_by_Process,_Thread.csv";
const SAMPLES: &str = "CPU_Usage_(Sampled)_Utilization_By_Process.csv";

fn cpu(prefix: &str) -> ProfileArgs {
    ProfileArgs {
        profiles: vec!["cpu".to_owned()],
        prefix: prefix.to_owned(),
        ..ProfileArgs::default()
    }
}

/// The CPU times of consecutive parts add up to the time of the whole, except for a nanosecond at
/// each cut.
#[test]
fn parts_add_up_to_the_whole() {
    let mut place = Place::new("office");
    let end = place.number("SELECT duration_ns FROM trace");
    let cut = end / 3;
    place.export(&cpu("all_"), None).unwrap();
    let ranges = [
        format!("..{}ns", cut - 1),
        format!("{cut}ns..{}ns", 2 * cut - 1),
        format!("{}ns..", 2 * cut),
    ];
    let (mut run_ns, mut weight_ns) = (0, 0);
    for (n, range) in ranges.iter().enumerate() {
        let prefix = format!("part{n}_");
        assert_eq!(
            place.export(&cpu(&prefix), Some(range)).unwrap(),
            Exit::Answered
        );
        run_ns += place.table(&format!("{prefix}{THREADS}")).sum(USAGE);
        weight_ns += place
            .table(&format!("{prefix}{SAMPLES}"))
            .sum("Weight (in view) (ms)");
    }
    let whole = place.table(&format!("all_{THREADS}")).sum(USAGE);
    // Between two parts, a nanosecond is missing on each processor.
    let between = 2 * place.number("SELECT processors FROM trace");
    assert!(
        (0..=between).contains(&(whole - run_ns)),
        "{whole} {run_ns}"
    );
    assert_eq!(
        place
            .table(&format!("all_{SAMPLES}"))
            .sum("Weight (in view) (ms)"),
        weight_ns
    );
}

#[test]
fn a_range_of_wpaexporter_is_that_of_ours() {
    let mut place = Place::new("office");
    place
        .wpaexporter("-profile cpu -prefix a_ -range 500ms 1500000000")
        .unwrap();
    place.export(&cpu("b_"), Some("0.5..1.5")).unwrap();
    let read =
        |prefix: &str| std::fs::read(place.out().join(format!("{prefix}{THREADS}"))).unwrap();
    assert!(read("a_") == read("b_"));
}

/// The first mark of the trace, and the next one with the text of the last; each with its time.
fn marks(place: &Place) -> ((String, i64), (String, i64)) {
    let quoted = |text: &str| text.replace('\'', "''");
    let at = |time: &str| {
        let sql = format!("SELECT text AS name, ts_ns AS number FROM mark WHERE ts_ns = ({time})");
        place.numbers(&sql).pop_first().unwrap()
    };
    let first = at("SELECT min(ts_ns) FROM mark");
    let (text, _) = at(&format!(
        "SELECT max(ts_ns) FROM mark WHERE text <> '{}'",
        quoted(&first.0)
    ));
    let next = format!(
        "SELECT min(ts_ns) FROM mark WHERE text = '{}' AND ts_ns > {}",
        quoted(&text),
        first.1
    );
    (first, at(&next))
}

/// A file of a region that begins with one mark and ends with another one.
fn regions(place: &Place, from: &str, to: &str) -> String {
    let mark = |text: &str| {
        let text = text
            .replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('<', "&lt;");
        format!(
            r#"<Event Provider="{{ce1dbfb4-137e-4da6-87b0-3f59aa102cbc}}" OpCode="34"/>
               <PayloadIdentifier FieldName="Message" FieldValue="{text}"/>"#
        )
    };
    let file = format!(
        r#"<InstrumentationManifest><Instrumentation><Regions><RegionRoot Guid="{{R}}" Name="Root">
           <Region Guid="{{A}}" Name="Step"><Start>{}</Start><Stop>{}</Stop></Region>
           </RegionRoot></Regions></Instrumentation></InstrumentationManifest>"#,
        mark(from),
        mark(to)
    );
    let path = place.folder.path().join("regions.xml");
    std::fs::write(&path, file).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_instance_of_a_region_is_what_lies_between_its_events() {
    let mut place = Place::new("office");
    let ((from, from_ns), (to, to_ns)) = marks(&place);
    let file = regions(&place, &from, &to);
    let of = |region: &str, prefix: &str| ProfileArgs {
        regions: Some(file.clone()),
        region: Some(region.to_owned()),
        ..cpu(prefix)
    };
    assert_eq!(
        place.export(&of("Step", "region_"), None).unwrap(),
        Exit::Answered
    );
    place
        .export(&cpu("range_"), Some(&format!("{from_ns}ns..{to_ns}ns")))
        .unwrap();
    place
        .wpaexporter(&format!(
            "-profile cpu -prefix line_ -region Step -regionsxml {file}"
        ))
        .unwrap();
    let read =
        |prefix: &str| std::fs::read(place.out().join(format!("{prefix}{THREADS}"))).unwrap();
    assert!(read("region_") == read("range_"));
    assert!(
        read("line_") == read("range_"),
        "the line of wpaexporter says the same"
    );
    let error = place.export(&of("NoSuch", "none_"), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the trace has 0 instances of the region \"NoSuch\""
    );
}

#[test]
fn what_lies_between_marks_is_written() {
    let mut place = Place::new("office");
    let ((from, from_ns), (to, to_ns)) = marks(&place);
    let args = ProfileArgs {
        from_mark: Some(from),
        to_mark: Some(to),
        ..cpu("marks_")
    };
    place.export(&args, None).unwrap();
    place
        .export(&cpu("range_"), Some(&format!("{from_ns}ns..{to_ns}ns")))
        .unwrap();
    let read =
        |prefix: &str| std::fs::read(place.out().join(format!("{prefix}{THREADS}"))).unwrap();
    assert!(read("marks_") == read("range_"));
    let error = place
        .wpaexporter("-profile cpu -marks NoSuchMark Other")
        .unwrap_err();
    assert_eq!(error.to_string(), "there is no mark \"NoSuchMark\"");
}
