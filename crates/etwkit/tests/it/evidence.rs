//! What every built-in layout was checked against; the result is the page `docs/evidence.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_decode::tables::{KnownEvent, Tables};
use etwkit_decode::{Source, Spans};
use etwkit_etl::{Guid, Identity, Order};
use etwkit_testkit::{trace_files, traces};

/// Class or provider, type or id, version.
type Kind = (Guid, u16, u16);

/// How the payloads of one kind of event fit their layout.
#[derive(Debug, Default, Clone)]
struct Fit {
    /// Ends where the payload ends.
    exact: u64,
    /// The payload goes on behind the last field.
    longer: u64,
    /// The payload ends before the last field.
    shorter: u64,
    traces: BTreeSet<String>,
}

/// Payloads that go on behind the last known field, or end before it, and why that is right.
const KNOWN_MISFITS: [(&str, u16, &str); 1] = [(
    "SystemConfig",
    10,
    "made clock32 has the zeros of the 64-bit form behind the 32-bit one",
)];

fn kind_of(
    identity: Identity,
    tables: &mut Tables,
    pointer_size: usize,
    payload: &[u8],
) -> Option<(Kind, bool, usize)> {
    let plan = tables.plan(identity, pointer_size, payload)?;
    let mut spans = Spans::default();
    let complete = plan.locate(payload, &mut spans);
    let class = plan.schema().provider;
    let (id, version) = match identity {
        Identity::Kernel {
            opcode, version, ..
        } => (opcode.into(), version.into()),
        Identity::Classic {
            opcode, version, ..
        } => (opcode.into(), version),
        Identity::Manifest { id, version, .. } => (id, version.into()),
        Identity::Message { .. } => return None,
    };
    Some(((class, id, version), complete, spans.end()))
}

/// `made/sched-5.etl` counts as `made sched`: the seeds of a scenario have the same kinds of events.
fn trace_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap().to_string_lossy();
    let made = path.parent().is_some_and(|folder| folder.ends_with("made"));
    if made {
        format!(
            "made {}",
            stem.rsplit_once('-').map_or(&*stem, |(name, _)| name)
        )
    } else {
        stem.into_owned()
    }
}

fn sweep(files: &[PathBuf]) -> BTreeMap<Kind, Fit> {
    let mut tables = Tables::new();
    let mut fits: BTreeMap<Kind, Fit> = BTreeMap::new();
    for path in files {
        let input = etwkit_extract::open(
            std::slice::from_ref(path),
            &etwkit_extract::Options::default(),
        )
        .unwrap();
        let name = trace_name(path);
        let visit = |event: &etwkit_etl::RawEvent<'_>| {
            let payload = event.payload();
            let found = kind_of(event.identity(), &mut tables, event.pointer_size(), payload);
            if let Some((kind, complete, end)) = found {
                let fit = fits.entry(kind).or_default();
                match (complete, end == payload.len()) {
                    (true, true) => fit.exact += 1,
                    (true, false) => fit.longer += 1,
                    (false, _) => fit.shorter += 1,
                }
                if !fit.traces.contains(&name) {
                    fit.traces.insert(name.clone());
                }
            }
            ControlFlow::Continue(())
        };
        input.session().for_each(Order::File, visit).unwrap();
    }
    fits
}

#[test]
fn built_in_layouts_fit_every_payload_and_the_page_says_so() {
    let Some(root) = traces() else { return };
    let mut files = trace_files();
    files.push(root.join("TraceLoggingTester.7z"));
    let fits = sweep(&files);
    let tables = Tables::new();
    let mut misfits = Vec::new();
    for ((class, id, version), fit) in &fits {
        let name = tables.name(*class).unwrap_or("?");
        if (fit.longer > 0 || fit.shorter > 0)
            && !KNOWN_MISFITS.iter().any(|(n, i, _)| (*n, i) == (name, id))
        {
            misfits.push(format!(
                "{name} {id} v{version}: {} exact, {} longer, {} shorter, {:?}",
                fit.exact, fit.longer, fit.shorter, fit.traces
            ));
        }
    }
    assert!(
        misfits.is_empty(),
        "{} misfits:\n{}",
        misfits.len(),
        misfits.join("\n")
    );

    let page = page(&tables.rows(), &fits);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence.md");
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let (ours, rest) = stored.split_at(stored.find(NEXT_PART).unwrap_or(stored.len()));
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, format!("{page}{rest}")).unwrap();
    } else {
        assert!(
            ours == page,
            "docs/evidence.md is stale; ETWKIT_BLESS=1 writes it"
        );
    }
}

const HEAD: &str = include_str!("evidence_head.md");
/// Where the part begins that a test of `etwkit-extract` writes: tables and columns.
const NEXT_PART: &str = "\n## Tables and columns of extracts\n";

fn page(rows: &[KnownEvent], fits: &BTreeMap<Kind, Fit>) -> String {
    let mut page = HEAD.to_owned();
    let mut last = "";
    let mut lines: Vec<(String, String)> = Vec::new();
    for row in rows.iter().chain(std::iter::once(&END())) {
        if row.class != last {
            flush(&mut page, &mut lines);
            if !row.class.is_empty() {
                let group = row
                    .group
                    .map(|g| format!(", group {g}"))
                    .unwrap_or_default();
                let _ = write!(page, "\n### {} (`{}`{group})\n\n", row.class, row.guid);
                page.push_str("| event | checked against |\n|---|---|\n");
            }
            last = row.class;
        }
        if !row.class.is_empty() {
            let name = row
                .name
                .strip_prefix(row.class)
                .map_or(&*row.name, |n| n.trim_start_matches('/'));
            let version = row
                .version
                .map_or_else(|| "any version".to_owned(), |v| format!("v{v}"));
            lines.push((
                format!("{name} ({}, {version})", row.id),
                evidence(row, rows, fits),
            ));
        }
    }
    page
}

#[expect(non_snake_case, reason = "a constant that cannot be one")]
fn END() -> KnownEvent {
    KnownEvent {
        source: Source::Kernel,
        group: None,
        class: "",
        guid: Guid::ZERO,
        id: 0,
        version: None,
        name: String::new(),
    }
}

/// Events with the same evidence share a line.
fn flush(page: &mut String, lines: &mut Vec<(String, String)>) {
    let mut merged: Vec<(Vec<String>, String)> = Vec::new();
    for (event, evidence) in lines.drain(..) {
        match merged.iter_mut().find(|(_, known)| *known == evidence) {
            Some((events, _)) => events.push(event),
            None => merged.push((vec![event], evidence)),
        }
    }
    // What was met first, then what is only documented.
    merged.sort_by_key(|(_, evidence)| evidence == DOCUMENTED);
    for (events, evidence) in merged {
        let _ = writeln!(page, "| {} | {evidence} |", events.join(", "));
    }
}

const DOCUMENTED: &str = "documented layout only";

/// The traces with events that this row decodes.
fn evidence(row: &KnownEvent, rows: &[KnownEvent], fits: &BTreeMap<Kind, Fit>) -> String {
    let decides = |version: u16| {
        let same = rows.iter().filter(|r| (r.guid, r.id) == (row.guid, row.id));
        let best = same
            .filter_map(|r| r.version)
            .filter(|v| u16::from(*v) <= version)
            .max();
        best == row.version
    };
    let met = fits.iter().filter(|((class, id, version), _)| {
        (*class, *id) == (row.guid, row.id) && decides(*version)
    });
    let (real, made): (BTreeSet<&String>, BTreeSet<&String>) = met
        .flat_map(|(_, fit)| &fit.traces)
        .partition(|name| !name.starts_with("made "));
    let list = |names: &BTreeSet<&String>| {
        names
            .iter()
            .map(|n| n.trim_start_matches("made "))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (real.is_empty(), made.is_empty()) {
        (true, true) => DOCUMENTED.to_owned(),
        (false, true) => format!("real: {}", list(&real)),
        (true, false) => format!("made: {}", list(&made)),
        (false, false) => format!("real: {}; made: {}", list(&real), list(&made)),
    }
}
