//! Tables of a trace: names of files, titles, and numbers, which are equal to SQL.

use etwkit_export::wpa::catalog::{Column, ValueKind, by_name, graphs};
use etwkit_export::wpa::{Aggregation, Preset, PresetColumn, ProfileArgs, View, plan};
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_terminal::Exit;
use etwkit_testkit::is_exhaustive;

use super::support::Place;

/// The files that an article of 2013 names.
const OF_THE_ARTICLE: [&str; 15] = [
    "disc_CPU_Usage_(Attributed)_Utilization_by_Process,_Thread,_Activity.csv",
    "disc_CPU_Usage_(Precise)_Context_Switch_Count_by_Process,_Thread.csv",
    "disc_CPU_Usage_(Precise)_Context_Switch_Rate_by_CPU.csv",
    "disc_CPU_Usage_(Precise)_Timeline_by_CPU.csv",
    "disc_CPU_Usage_(Precise)_Timeline_by_Process,_Thread.csv",
    "disc_CPU_Usage_(Precise)_Usage_by_Priority_at_Context_Switch_Begin.csv",
    "disc_CPU_Usage_(Precise)_Utilization_by_CPU.csv",
    "disc_CPU_Usage_(Precise)_Utilization_by_Process,_Thread.csv",
    "disc_CPU_Usage_(Sampled)_DPC_and_ISR_Usage_by_Module,_Stack.csv",
    "disc_CPU_Usage_(Sampled)_Utilization_By_CPU.csv",
    "disc_CPU_Usage_(Sampled)_Utilization_By_Priority.csv",
    "disc_CPU_Usage_(Sampled)_Utilization_by_Process,_Stack.csv",
    "disc_CPU_Usage_(Sampled)_Utilization_By_Process.csv",
    "disc_CPU_Usage_(Sampled)_Utilization_By_Process_(1).csv",
    "disc_CPU_Usage_(Sampled)_Utilization_By_Process_and_Thread.csv",
];

const NAME: &str = "concat(coalesce(p.name, 'Unknown'), ' (', CAST(p.pid AS VARCHAR), ')')";

#[test]
fn the_line_of_the_article_writes_its_files() {
    let mut place = Place::new("office");
    // A profile of the user is a file; ours is written as one.
    let profile = place.folder.path().join("disc.wpaProfile");
    std::fs::write(&profile, etwkit_export::wpa::SHIPPED[0].text).unwrap();
    let exit = place
        .wpaexporter(&format!("-profile {} -prefix disc_", profile.display()))
        .unwrap();
    assert_eq!(exit, Exit::Answered, "{:?}", place.lines);
    let files = place.files();
    for name in OF_THE_ARTICLE {
        assert!(
            files.contains(&name.to_owned()),
            "{name} is missing: {:#?}",
            place.lines
        );
    }
    sampled(&place);
    precise(&place);
    attributed(&place);
}

/// Sums of samples are equal to the extract and to `cpu_process`.
fn sampled(place: &Place) {
    let weight = "Weight (in view) (ms)";
    let (cpu_ns, samples) = (
        place.number("SELECT sum(weight_ns) FROM cpu_sample WHERE NOT is_idle"),
        place.number("SELECT count(*) FROM cpu_sample WHERE NOT is_idle"),
    );
    assert!(cpu_ns > 0);
    for name in OF_THE_ARTICLE
        .iter()
        .filter(|name| name.contains("(Sampled)_Utilization"))
    {
        let table = place.table(name);
        assert_eq!(
            (table.sum(weight), table.sum("Count")),
            (cpu_ns, samples),
            "{name}"
        );
    }
    let by_process = place.table(OF_THE_ARTICLE[12]).sums("Process", weight);
    let known = place.numbers(&format!(
        "SELECT {NAME} AS name, sum(c.cpu_ns) AS number FROM cpu_process c JOIN process p USING (process_key)
         WHERE c.cpu_ns > 0 GROUP BY 1"
    ));
    assert_eq!(by_process, known);
    let dpc = place.table(OF_THE_ARTICLE[8]);
    let dpc_ns = "SELECT sum(weight_ns) FROM cpu_sample WHERE is_dpc_isr";
    assert_eq!(dpc.sum(weight), place.number(dpc_ns));
    // A stack is in one cell, the outermost frame first.
    let stacks = place.table(OF_THE_ARTICLE[11]);
    let deep = stacks
        .column("Stack")
        .into_iter()
        .find(|stack| stack.matches('/').count() > 2)
        .unwrap();
    assert!(deep.contains('!') || deep.contains('+'), "{deep}");
    let percent: f64 = stacks
        .column("% Weight")
        .iter()
        .map(|text| text.parse::<f64>().unwrap())
        .sum();
    let capacity = place.number("SELECT duration_ns * processors FROM trace") as f64;
    assert!(
        (percent - cpu_ns as f64 * 100.0 / capacity).abs() < 0.01,
        "{percent}"
    );
}

/// Sums of scheduling slices are equal to the extract.
fn precise(place: &Place) {
    let usage = "CPU Usage (in view) (ms)";
    let run_ns = place.number("SELECT sum(run_ns) FROM context_switch");
    let switches = place.number("SELECT count(in_ns) FROM context_switch");
    assert!(run_ns > 0);
    for name in OF_THE_ARTICLE
        .iter()
        .filter(|name| name.contains("(Precise)"))
    {
        let table = place.table(name);
        assert_eq!(
            (table.sum(usage), table.sum("Count")),
            (run_ns, switches),
            "{name}"
        );
    }
    let threads = place.table(OF_THE_ARTICLE[7]);
    let waits = "SELECT sum(wait_ns) FROM context_switch WHERE NOT is_open_wait";
    assert_eq!(threads.sum("Waits (µs)"), place.number(waits));
    assert_eq!(
        threads.sum("Ready (µs)"),
        place.number("SELECT sum(ready_ns) FROM context_switch")
    );
    let longest = threads
        .column("Waits (µs) (Max)")
        .iter()
        .filter(|text| !text.is_empty())
        .count();
    assert!(longest > 0);
    let by_process = threads.sums("New Process", usage);
    let known = place.numbers(&format!(
        "SELECT {NAME} AS name, sum(c.run_ns) AS number FROM context_switch c JOIN process p USING (process_key)
         WHERE NOT c.is_open_wait GROUP BY 1"
    ));
    assert_eq!(by_process, known);
}

/// Without regions nothing is attributed, and that is reported.
fn attributed(place: &Place) {
    let table = place.table(OF_THE_ARTICLE[0]);
    assert!(
        table
            .column("Activity")
            .iter()
            .all(|activity| *activity == "Unattributed")
    );
    let run_ns = place.number("SELECT sum(run_ns) FROM context_switch");
    assert_eq!(table.sum("CPU Usage (in view) (ms)"), run_ns);
    assert!(
        place
            .lines
            .iter()
            .any(|line| line.contains("left out: activities")),
        "{:?}",
        place.lines
    );
}

#[test]
fn columns_and_graphs_that_are_not_known_are_named() {
    let mut place = Place::new("office");
    let file = place.folder.path().join("waits.wpaProfile");
    std::fs::write(&file, include_str!("profiles/wait-analysis.wpaProfile")).unwrap();
    let profiles = vec![file.to_str().unwrap().to_owned()];
    let args = ProfileArgs {
        profiles,
        ..ProfileArgs::default()
    };
    assert_eq!(place.export(&args, None).unwrap(), Exit::Answered);
    let said = |what: &str| place.lines.iter().any(|line| line.contains(what));
    assert!(said(
        "left out: column \"NewThreadRank\": not in extracts: extracts do not keep ranks of threads"
    ));
    assert!(!said("Hidden"), "what is not shown is not missed");
    assert!(said(
        "not written: Something new: graph 11111111-2222-3333-4444-555555555555 is not known here"
    ));
    let table = place.table("CPU_Usage_(Precise)_Wait_Analysis.csv");
    let titles = [
        "New Process (Name)",
        "New Thread Id",
        "New Thread Stack Tag",
        "Ready Time (s)",
        "Count",
    ];
    assert_eq!(table.titles[..5], titles.map(str::to_owned));
    assert_eq!(
        table.titles[5..],
        ["Waits (µs)".to_owned(), "Waits (µs) (Max)".to_owned()]
    );
    // The filter hides the idle process, and the largest waits come first.
    assert!(
        table
            .column("New Process (Name)")
            .iter()
            .all(|name| *name != "Idle")
    );
    let waits = |text: &str| text.replace('.', "").parse::<i64>().unwrap_or(-1);
    let order: Vec<i64> = table
        .column("Waits (µs)")
        .into_iter()
        .map(waits)
        .filter(|ns| *ns >= 0)
        .collect();
    assert!(order.is_sorted_by(|a, b| a >= b) && order[0] > 0);
}

#[test]
fn a_graph_that_only_its_columns_tell_is_noted() {
    let mut place = Place::new("office");
    let file = place.folder.path().join("guess.wpaProfile");
    let text = "<WpaProfileContainer Version=\"2\"><Content><Views><View><Graphs>\
                <Graph Guid=\"11111111-2222-3333-4444-555555555555\"><Preset Name=\"x\" KeyColumnCount=\"1\">\
                <Columns><Column Guid=\"5b77e48f-6d24-4f29-8972-69c30e32f87d\" IsVisible=\"true\"/></Columns>\
                </Preset></Graph></Graphs></View></Views></Content></WpaProfileContainer>";
    std::fs::write(&file, text).unwrap();
    let args = ProfileArgs {
        profiles: vec![file.to_str().unwrap().to_owned()],
        ..ProfileArgs::default()
    };
    assert_eq!(place.export(&args, None).unwrap(), Exit::Answered);
    let note = "graph 11111111-2222-3333-4444-555555555555 is not known here: it is read as CPU Usage \
                (Sampled), to which its columns belong";
    assert!(
        place.notes.iter().any(|found| found == note),
        "{:?}",
        place.notes
    );
}

#[test]
fn rows_without_visible_keys_stand_by_themselves() {
    let mut place = Place::new("office");
    let file = place.folder.path().join("old.wpaProfile");
    std::fs::write(&file, include_str!("profiles/version-1.wpaProfile")).unwrap();
    let args = format!("-profile {} -delimiter ,", file.display());
    assert_eq!(place.wpaexporter(&args).unwrap(), Exit::Answered);
    let table = place.table("CPU_Usage_(Sampled)_Utilization_By_CPU.csv");
    assert_eq!(
        table.titles,
        [
            "CPU",
            "Process",
            "Thread ID",
            "Weight (in view) (ms)",
            "TimeStamp (s)"
        ]
    );
    let rows = "SELECT count(*) FROM cpu_sample s JOIN thread t USING (thread_key)
         WHERE NOT s.is_idle AND NOT (t.tid = 0 AND NOT s.is_dpc_isr)";
    assert_eq!(table.rows.len() as i64, place.number(rows));
    let times: Vec<&str> = table.column("TimeStamp (s)");
    let seconds: Vec<f64> = times.iter().map(|text| text.parse().unwrap()).collect();
    assert!(seconds.is_sorted());
    let text = std::fs::read(
        place
            .out()
            .join("CPU_Usage_(Sampled)_Utilization_By_CPU.csv"),
    )
    .unwrap();
    assert!(text.ends_with(b"\r\n"));
    if place.number("SELECT count(*) FROM disk_io") > 0 {
        let disk = place.table("Disk_Usage_By_Process.csv");
        assert_eq!(disk.titles, ["Process", "Size (KB)"]);
    }
}

/// Every column of every graph is SQL that the engine takes: in single rows, and as a key or a
/// value.
#[test]
fn every_column_can_be_asked() {
    let place = Place::new("office");
    let session = place.session();
    // A short part of the trace, since all columns of all rows take long.
    let part = View {
        to_ns: 20_000_000,
        is_part: true,
        end_ns: 1_000_000_000,
        ..View::default()
    };
    let view = View {
        regions: View::of_all(&[]).unwrap().regions,
        ..part
    };
    for graph in graphs() {
        let shown = |column: &Column| PresetColumn {
            guid: column.guid.unwrap_or_default().to_owned(),
            name: column.name.to_owned(),
            is_visible: true,
            aggregation: Aggregation::Max,
            ..PresetColumn::default()
        };
        let columns: Vec<PresetColumn> = graph.columns.iter().map(shown).collect();
        for keys in [0, columns.len() / 2, columns.len()] {
            let preset = Preset {
                columns: columns.clone(),
                keys,
                ..Preset::default()
            };
            let plan = plan(&preset, graph, &view, false).unwrap();
            assert!(
                plan.left_out.is_empty(),
                "{}: {:?}",
                graph.name,
                plan.left_out
            );
            let answer = session.sql(&plan.sql).and_then(etwkit_sql::Answer::collect);
            assert!(answer.is_ok(), "{}: {}", graph.name, answer.unwrap_err());
        }
    }
}

/// Filters on each column: together they keep and leave out all rows, and alone they are taken. Graphs take
/// turns in how conditions are joined, unless everything is tested.
#[test]
fn every_column_can_be_filtered() {
    let place = Place::new("office");
    let session = place.session();
    let view = View {
        to_ns: 20_000_000,
        is_part: true,
        end_ns: 1_000_000_000,
        processors: 4,
        regions: View::of_all(&[]).unwrap().regions,
        ..View::default()
    };
    let both = [" AND ", " OR "];
    for (number, graph) in graphs().iter().enumerate() {
        let joins = if is_exhaustive() {
            &both[..]
        } else {
            &both[number % 2..][..1]
        };
        let count = |filter: &str, filter_keeps: bool| {
            let preset = Preset {
                columns: graph.columns.iter().take(1).map(shown).collect(),
                filter: filter.to_owned(),
                filter_keeps,
                ..Preset::default()
            };
            let plan = plan(&preset, graph, &view, true)
                .unwrap_or_else(|error| panic!("{}: {filter}: {error}", graph.name));
            let rows = session
                .sql(&plan.sql)
                .and_then(etwkit_sql::Answer::collect)
                .unwrap_or_else(|error| panic!("{}: {error}\n{}", graph.name, plan.sql));
            rows.iter().map(RecordBatch::num_rows).sum::<usize>()
        };
        let all = count("", false);
        let conditions: Vec<String> = graph.columns.iter().flat_map(conditions).collect();
        // As many as one question may have.
        for (part, join) in conditions
            .chunks(100)
            .flat_map(|part| joins.iter().map(move |join| (part, *join)))
        {
            let condition = part.join(join);
            let (with, without) = (count(&condition, true), count(&condition, false));
            assert_eq!(with + without, all, "{}", graph.name);
        }
    }
}

/// Filters of people list programs, tens of them.
#[test]
fn a_filter_may_have_hundreds_of_comparisons() {
    let place = Place::new("office");
    let graph = by_name("Processes").unwrap();
    for (join, operator) in [(" OR ", "="), (" AND ", "<>")] {
        let one = |n: usize| format!("[Process (Name)]:{operator}\"program{n}.exe\"");
        let preset = Preset {
            columns: graph.columns.iter().take(1).map(shown).collect(),
            filter: (0..300).map(one).collect::<Vec<_>>().join(join),
            filter_keeps: true,
            ..Preset::default()
        };
        let plan = plan(&preset, graph, &View::default(), true).unwrap();
        let rows = place
            .session()
            .sql(&plan.sql)
            .and_then(etwkit_sql::Answer::collect)
            .unwrap_or_else(|error| panic!("{error}"));
        let rows = rows.iter().map(RecordBatch::num_rows).sum::<usize>();
        // No program is one of them.
        assert_eq!(rows == 0, operator == "=", "{operator}: {rows} rows");
    }
}

/// Conditions on a column by the kind of its values.
fn conditions(column: &Column) -> Vec<String> {
    let operators: &[&str] = match column.kind {
        ValueKind::Text | ValueKind::Stack => &["=\"a\"", "<>\"b\"", "~=\"c\"", "~!\"d\""],
        ValueKind::Process(_) => &["=\"a.exe (1)\"", "~<\"b\""],
        ValueKind::Number => &["=1", "<>2", ">=3", "~=\"4\""],
        ValueKind::Hex => &["=0x10", ">=1", "~=\"0xf\""],
        ValueKind::Moment | ValueKind::Duration(_) => &["<1.5", ">2ms"],
        ValueKind::Bytes => &[">1KB", "<>5"],
        ValueKind::Percent => &[">0.5", "<=10"],
    };
    let on = |title: &str, operators: &[&str]| {
        let one = |operator: &&str| format!("[{title}]:{operator}");
        operators.iter().map(one).collect::<Vec<_>>()
    };
    let mut all = on(column.name, operators);
    match column.kind {
        ValueKind::Stack => all.extend(on(&format!("{} Tag", column.name), &["=\"Other\""])),
        ValueKind::Process(_) => {
            all.extend(on(&format!("{} (Name)", column.name), &["=\"a.exe\""]));
        }
        _ => {}
    }
    all
}

fn shown(column: &Column) -> PresetColumn {
    PresetColumn {
        guid: column.guid.unwrap_or_default().to_owned(),
        name: column.name.to_owned(),
        is_visible: true,
        ..PresetColumn::default()
    }
}

/// The thread that ran before is the one of the slice before on the processor, and the states are
/// those that the next slice of a thread reports.
#[test]
fn a_switch_names_the_thread_before_and_the_states_behind() {
    let mut place = Place::new("office");
    let columns = [
        "CPU",
        "Switch-In Time",
        "Old Thread Id",
        "Old State",
        "New State",
    ];
    let columns = columns.map(|title| (title, ""));
    let table = place.graph("CPU Usage (Precise)", 0, &columns, "[CPU]:>=0");
    let known = |title: &str| {
        let values = table.column(title);
        values.into_iter().filter(|value| !value.is_empty()).count() as i64
    };
    let sql = "SELECT count(*) FROM (SELECT s.in_ns, lag(t.tid) OVER (PARTITION BY s.cpu ORDER BY s.in_ns NULLS FIRST) AS old,
         lag(s.out_ns) OVER (PARTITION BY s.cpu ORDER BY s.in_ns NULLS FIRST) AS old_out_ns
         FROM context_switch s JOIN thread t USING (thread_key) WHERE NOT s.is_open_wait) WHERE old_out_ns = in_ns";
    assert!(known("Old Thread Id") > 0);
    assert_eq!(known("Old Thread Id"), place.number(sql));
    assert_eq!(
        table.rows.len() as i64,
        place.number("SELECT count(cpu) FROM context_switch")
    );
    // A row is counted for each switch-out after which the thread has another row.
    let sql = "SELECT count(*) FROM (SELECT lead(prev_state) OVER (PARTITION BY thread_key ORDER BY coalesce(in_ns, last_out_ns, out_ns)) AS state,
         out_ns, is_open_wait, lead(last_out_ns) OVER (PARTITION BY thread_key ORDER BY coalesce(in_ns, last_out_ns, out_ns)) AS next_ns
         FROM context_switch) WHERE NOT is_open_wait AND state IS NOT NULL AND next_ns = out_ns";
    assert!(known("New State") > 0);
    assert_eq!(known("New State"), place.number(sql));
    let old = table.column("Old State");
    assert!(old.contains(&"Waiting"), "{:?}", old.first());
}

#[test]
fn a_weighted_average_counts_by_the_length_of_rows() {
    let mut place = Place::new("office");
    let columns = [("CPU", ""), ("New In Pri", "WeightedAverage")];
    let table = place.graph("CPU Usage (Precise)", 1, &columns, "[CPU]:=0");
    let sql =
        "SELECT round(sum(priority * (out_ns - in_ns)) / sum(out_ns - in_ns)) FROM context_switch
         WHERE cpu = 0 AND in_ns IS NOT NULL AND out_ns IS NOT NULL AND priority IS NOT NULL";
    let mean: f64 = table.column("New In Pri")[0].parse().unwrap();
    assert!((mean - place.number(sql) as f64).abs() <= 1.0, "{mean}");
}

#[test]
fn fields_of_events_are_columns() {
    let mut place = Place::new("office");
    let columns = [
        ("Event Name", ""),
        ("Field 1", ""),
        ("Field 2", ""),
        ("DateTime (Local)", ""),
    ];
    let table = place.graph("Generic Events", 0, &columns, "[Count]:=1");
    let sql = "SELECT count(*) FROM generic_event";
    assert!(!table.rows.is_empty());
    assert_eq!(table.rows.len() as i64, place.number(sql));
    assert!(
        table
            .column("Field 1")
            .iter()
            .any(|value| !value.is_empty())
    );
    assert!(
        table
            .column("DateTime (Local)")
            .iter()
            .all(|time| time.starts_with("20"))
    );
}

#[test]
fn stacks_are_filtered_by_their_text() {
    let mut place = Place::new("office");
    let columns = [("Stack", ""), ("Count", "Sum")];
    let all = place.graph("CPU Usage (Sampled)", 0, &columns, "[Count]:>=0");
    let some = all
        .column("Stack")
        .into_iter()
        .find(|text| text.contains('/'))
        .unwrap();
    let (first, last) = (
        some.split('/').next().unwrap(),
        some.rsplit('/').next().unwrap(),
    );
    let rows = |fits: &dyn Fn(&str) -> bool| {
        all.column("Stack")
            .into_iter()
            .filter(|text| fits(text))
            .count()
    };
    let is_recorded = |text: &str| text != "n/a";
    for (filter, expected) in [
        (format!("[Stack]:=\"{some}\""), rows(&|text| text == some)),
        (format!("[Stack]:<>\"{some}\""), rows(&|text| text != some)),
        (
            format!("[Stack]:~<\"{first}\""),
            rows(&|text| is_recorded(text) && text.starts_with(first)),
        ),
        (
            format!("[Stack]:~>\"{last}\""),
            rows(&|text| is_recorded(text) && text.ends_with(last)),
        ),
        (
            format!("[Stack]:~!\"{last}\""),
            rows(&|text| !text.contains(last)),
        ),
    ] {
        let found = place.graph("CPU Usage (Sampled)", 0, &columns, &filter);
        assert_eq!(found.rows.len(), expected, "{filter}");
    }
}

#[test]
fn a_column_that_nothing_fills_says_why() {
    let graph = by_name("Disk Usage").unwrap();
    let column = |guid: &str, name: &str| PresetColumn {
        guid: guid.to_owned(),
        name: name.to_owned(),
        is_visible: true,
        ..PresetColumn::default()
    };
    let preset = |filter: &str| Preset {
        columns: vec![
            shown(graph.by_name("Disk").unwrap()),
            column("42699aab-80f4-4241-9659-948879aebf07", "Source"),
            column("2818954F-2D30-5569-4510-DADE0A5A605C", "Annotation"),
            column("", "Table"),
            column("11111111-2222-3333-4444-555555555555", "Table"),
        ],
        filter: filter.to_owned(),
        ..Preset::default()
    };
    let view = View::default();
    let left_out = plan(&preset(""), graph, &view, true).unwrap().left_out;
    let expected = [
        "column \"Source\": not in extracts: no event names the source of a request",
        "column \"Annotation\": not in extracts: users of Windows Performance Analyzer write annotations there; no trace has them",
        "column \"Table\": not in extracts: Windows Performance Analyzer numbers its own tables with it",
        "column \"Table\" {11111111-2222-3333-4444-555555555555} is not known here",
    ];
    assert_eq!(left_out, expected);
    let why = plan(&preset("[Source]:=\"x\""), graph, &view, true).unwrap_err();
    assert_eq!(
        why,
        "its filter cannot be followed: column \"Source\": not in extracts: no event names the source of a request"
    );
}

/// Sums of a heap are those of its table.
#[test]
fn blocks_of_heaps_are_rows() {
    let mut place = Place::new("memory");
    let columns = [
        ("Process", ""),
        ("Type", ""),
        ("Size", "Sum"),
        ("Impacting Size", "Sum"),
        ("Count", "Sum"),
    ];
    let table = place.graph("Heap Allocations", 2, &columns, "[Count]:=1");
    let size =
        place.number("SELECT sum(size_bytes) FROM heap WHERE kind IN ('allocate', 'reallocate')");
    assert_eq!(table.sum("Size (B)"), size);
    let left = "SELECT sum(changed_bytes) FROM heap";
    assert_eq!(table.sum("Impacting Size (B)"), place.number(left));
}

#[test]
fn a_profile_of_which_nothing_is_known_is_an_error() {
    let mut place = Place::new("office");
    let file = place.folder.path().join("new.wpaProfile");
    let text = include_str!("profiles/wait-analysis.wpaProfile").replace(
        "c58f5fea-0319-4046-932d-e695ebe20b47",
        "c58f5fea-0319-4046-932d-e695ebe20b40",
    );
    let text = text
        .replace("4-", "5-")
        .replace("-8", "-9")
        .replace("-4", "-5");
    std::fs::write(&file, text).unwrap();
    let error = place
        .wpaexporter(&format!("-profile {}", file.display()))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing of the profile can be written here"
    );
    assert_eq!(place.files(), Vec::<String>::new());
    let error = place.wpaexporter("-profile nothing-there").unwrap_err();
    assert_eq!(error.to_string(), "there is no profile nothing-there");
}

/// GUIDs of graphs that profiles of others show.
const KNOWN: &[&str] = &[
    "00c2282d-6788-482d-8528-36c079eabbd5",
    "04f69f98-176e-4d1c-b44e-97f734996ab8",
    "11235813-2134-5589-1442-333776109871",
    "12c5387c-58ca-45d4-a5c6-450475c30e06",
    "18fe1bac-a7d7-471d-a3d7-2abce0eb50cd",
    "1a64d983-f796-45f8-aa64-ac50b95d0e45",
    "1ce7fd53-2344-4ea8-acd6-1a0722a51427",
    "1fe3bbaa-6738-41b9-941e-7a6825821b35",
    "21214383-88f8-4603-9eac-2a6422756b11",
    "260d346a-7457-4ccc-9931-c0c39ed685cd",
    "2adccbce-775d-4d71-bc88-df317d004293",
    "31b88db9-1be9-42fa-9452-3cd560899212",
    "373aaf47-d079-45f0-b1d7-7e78139bc927",
    "3c18eb9c-2211-4988-bf94-bb029e4ce96e",
    "3dd69094-4675-4607-9fb4-0042b9e1a610",
    "4237fcb5-808e-4868-ae15-96772fb57e41",
    "463048cb-2f2b-480d-8e94-a54f3fd88080",
    "4fc0828a-4555-480c-b485-6561cd0d0482",
    "69a8bf19-110a-40d8-bfb2-12fa8a5dff45",
    "79926001-a767-4658-9d56-cdbfc8140de9",
    "7b47975b-040d-4901-9a3f-e410228e30df",
    "7c60aeff-a47f-4ba8-942c-d2b154087ab9",
    "920e6241-3dea-46c4-8e4f-04ce08f62c0a",
    "9745a443-5ba5-4305-aebe-493f04c7fc96",
    "9cfb2296-2c89-45af-a5bd-23b4885dcbab",
    "a20f1ccd-d67f-4cdf-a186-0fd3f6535f18",
    "b186f02d-8d06-4bbb-9ad1-abf7985fb61a",
    "b855361e-7be0-4bc8-a754-3e8507715ca5",
    "b859d131-dfb5-4605-be19-810b298b6975",
    "bc4f0890-4a76-4fe7-b014-6ae70677f8f5",
    "c1718a41-aad0-477a-ba79-79180815eeb1",
    "c58f5fea-0319-4046-932d-e695ebe20b47",
    "ca513049-5ae4-4470-8e13-330db7bd49cc",
    "cbbd1db6-d7e2-4410-8784-f3df48ad56a5",
    "d0b4b788-cf4e-40f0-973f-7abc33e53f08",
    "da13748b-71c7-4ba1-a61d-6ae4e527e261",
    "e2a7d340-0dbd-4f24-8b26-e5388eeaf562",
    "e6a4a964-3a87-46ef-9762-f9d9b9208051",
    "e97b189d-b977-4e41-9448-8c214c166f84",
    "ebc77ae6-e73c-4a7c-83fc-fde0fde2de1c",
    "ec60ccb2-4409-444e-98fa-792c5b3c36da",
];

#[test]
fn a_profile_with_every_graph_says_for_each_what_became_of_it() {
    let graph = |guid: &&str| {
        format!(
            "<Graph Guid=\"{guid}\"><Preset Name=\"of {guid}\" KeyColumnCount=\"1\" GraphColumnCount=\"0\"><Columns>\
             <Column Guid=\"\" Name=\"Process\" IsVisible=\"true\"/><Column Guid=\"\" Name=\"CPU\" IsVisible=\"true\"/><Column Guid=\"\" Name=\"Count\" IsVisible=\"true\" AggregationMode=\"Sum\"/>\
             </Columns></Preset></Graph>"
        )
    };
    let graphs: String = KNOWN.iter().map(graph).collect();
    let text = format!(
        "<WpaProfileContainer Version=\"2\"><Content><Views><View Title=\"All\" IsVisible=\"true\"><Graphs>{graphs}</Graphs></View></Views></Content></WpaProfileContainer>"
    );
    let mut place = Place::new("office");
    let file = place.folder.path().join("all.wpaProfile");
    std::fs::write(&file, text).unwrap();
    let args = ProfileArgs {
        profiles: vec![file.to_str().unwrap().to_owned()],
        ..ProfileArgs::default()
    };
    assert_eq!(place.export(&args, None).unwrap(), Exit::Answered);
    for guid in KNOWN {
        let of = format!("of {guid}");
        let of_file = of.replace(' ', "_");
        let is_of = |line: &&String| line.contains(&of) || line.contains(&of_file);
        let line = place.lines.iter().find(is_of);
        let line = line.unwrap_or_else(|| panic!("nothing is said of {guid}"));
        let answers = [
            "rows",
            " row",
            "nothing of it was recorded",
            "it was recorded, and the extract has none of it",
            "is not modelled",
            "no file defines regions",
        ];
        assert!(answers.iter().any(|answer| line.contains(answer)), "{line}");
        assert!(!line.contains("is not known here"), "{line}");
    }
}
