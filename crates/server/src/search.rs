//! The search for names in everything that a trace has.

use etwkit_sql::Session;

use crate::api::Call;
use crate::cells::{asked, text_at, text_or_empty, whole};
use crate::problem::{Problem, Result};
use crate::select::like;
use crate::tables::{process_label, thread_label};
use crate::tags::Tags;
use crate::wire::{Cell, Chip, Field, Hit, SearchAnswer, SearchRequest, Source};

/// Largest number of hits of each kind.
const MOST: u32 = 50;
/// Longest search text, in bytes.
const MAX_TEXT: usize = 1_000;

/// Searched tables: the kind of hit, the field of its chips, and SQL. In the SQL, `LIKE` stands for
/// the condition, and `PROCESS_LABEL` and `THREAD_LABEL` for labels. Its columns are label, detail,
/// value of the chip, and time.
const KINDS: [(&str, Option<Field>, &str, &str); 12] = [
    (
        "process",
        Some(Field::Process),
        "process",
        "SELECT PROCESS_LABEL, coalesce(command_line, ''), CAST(process_key AS VARCHAR) AS value, start_ns AS at_ns
         FROM process p WHERE name LIKE? OR command_line LIKE? OR CAST(pid AS VARCHAR) LIKE? ORDER BY name NOT LIKE?, name, process_key",
    ),
    (
        "thread",
        Some(Field::Thread),
        "thread",
        "SELECT THREAD_LABEL, coalesce(t.name, ''), CAST(t.thread_key AS VARCHAR) AS value, t.start_ns AS at_ns
         FROM thread t LEFT JOIN process p ON p.process_key = t.process_key
         WHERE t.name LIKE? OR CAST(t.tid AS VARCHAR) LIKE? ORDER BY t.name NOT LIKE?, t.thread_key",
    ),
    (
        "module",
        Some(Field::Module),
        "module",
        "SELECT name, min(path), name AS value, CAST(NULL AS BIGINT) FROM module WHERE name LIKE? OR path LIKE? GROUP BY name ORDER BY name NOT LIKE?, name",
    ),
    (
        "method",
        Some(Field::Method),
        "method",
        "SELECT concat(coalesce(mo.name, '?'), '!', m.name) AS label, min(coalesce(mo.path, '')), concat(coalesce(mo.name, '?'), '!', m.name) AS value, CAST(NULL AS BIGINT)
         FROM method m LEFT JOIN module mo ON mo.module_id = m.module_id WHERE m.name LIKE?
         GROUP BY mo.name, m.name ORDER BY length(m.name), m.name, mo.name",
    ),
    (
        "file",
        Some(Field::File),
        "file_file",
        "SELECT path, '', path AS value, CAST(NULL AS BIGINT) FROM
         (SELECT path, sum(bytes) AS bytes FROM (SELECT path, size_bytes AS bytes FROM file_file UNION ALL SELECT path, read_bytes + write_bytes FROM disk_file)
          WHERE path LIKE? GROUP BY path) ORDER BY bytes DESC, path",
    ),
    (
        "service",
        Some(Field::Process),
        "service",
        "SELECT name, coalesce(display_name, '') AS detail, CAST(process_key AS VARCHAR) AS value, CAST(NULL AS BIGINT) FROM service WHERE name LIKE? OR display_name LIKE? ORDER BY name",
    ),
    (
        "mark",
        None,
        "mark",
        "SELECT text, '', CAST(NULL AS VARCHAR), ts_ns FROM mark WHERE text LIKE? ORDER BY ts_ns",
    ),
    (
        "event",
        None,
        "event_count",
        "SELECT concat(coalesce(provider, ''), ' ', coalesce(name, CAST(event_id AS VARCHAR), '')), concat(sum(events), ' events'), CAST(NULL AS VARCHAR), min(second) * 1000000000
         FROM event_count WHERE name LIKE? OR provider LIKE? GROUP BY provider, name, event_id ORDER BY sum(events) DESC, provider, name, event_id",
    ),
    (
        "dns",
        None,
        "dns_query",
        "SELECT name, concat('queries: ', count(*)), CAST(NULL AS VARCHAR), min(coalesce(start_ns, end_ns))
         FROM dns_query WHERE name LIKE? GROUP BY name ORDER BY count(*) DESC, name",
    ),
    (
        "remote",
        None,
        "tcp_connection",
        "SELECT remote_address, concat('TCP connections: ', count(*)), CAST(NULL AS VARCHAR), min(first_ns)
         FROM tcp_connection WHERE remote_address LIKE?
         GROUP BY remote_address ORDER BY count(*) DESC, remote_address",
    ),
    // Names come from the sums, which are few; operations are read only for the start of the shown
    // hits.
    (
        "registry",
        None,
        "registry_key",
        "SELECT k.key, concat('operations: ', k.operations), CAST(NULL AS VARCHAR), min(o.start_ns)
         FROM (SELECT key, sum(count) AS operations FROM registry_key WHERE key LIKE?
               GROUP BY key ORDER BY operations DESC, key LIMIT 50) k
         LEFT JOIN registry_io o ON o.key = k.key
         GROUP BY k.key, k.operations ORDER BY k.operations DESC, k.key",
    ),
    (
        "exception",
        None,
        "exception",
        "SELECT exception_type, concat('thrown: ', count(*)), CAST(NULL AS VARCHAR), min(ts_ns)
         FROM exception WHERE exception_type LIKE?
         GROUP BY exception_type ORDER BY count(*) DESC, exception_type",
    ),
];

pub(crate) fn search(call: &Call<'_>, request: &SearchRequest) -> Result<SearchAnswer> {
    if request.limit > MOST || request.text.len() > MAX_TEXT {
        return Err(Problem::bad(format!(
            "a search has at most {MOST} hits of each kind and {MAX_TEXT} bytes"
        )));
    }
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let mut hits = Vec::new();
    if !request.text.trim().is_empty() {
        // The user's input is text, not a pattern: `%` and `_` match themselves.
        let condition = format!(" ILIKE {} ESCAPE '\\'", like(request.text.trim()));
        for (kind, field, table, sql) in KINDS {
            // A table without rows is skipped, except for files, which are searched in two tables.
            if session.has_rows(table) == Some(false) && kind != "file" {
                continue;
            }
            // `NOT LIKE?` sorts hits in names before hits in other columns.
            let sql = sql
                .replace("PROCESS_LABEL", &process_label("p"))
                .replace("THREAD_LABEL", &thread_label("t", "p"))
                // Replaced last, since it contains the user's input.
                .replace(" LIKE?", &condition);
            hits.extend(of_kind(
                &session,
                kind,
                field,
                &format!("{sql} LIMIT {}", request.limit),
            )?);
        }
        // Tags are not rows of a table: they are computed from stacks by rules.
        let known = &call.shared.tags;
        hits.extend(tags(known, request.text.trim(), request.limit));
    }
    let source = Source {
        took_ms: call.took_ms(),
        ..Source::default()
    };
    Ok(SearchAnswer { hits, source })
}

fn of_kind(session: &Session, kind: &str, field: Option<Field>, sql: &str) -> Result<Vec<Hit>> {
    let rows = asked(session, sql, MOST as usize)?.rows;
    let hit = |row: &Vec<Cell>| {
        let words = |at: usize| text_or_empty(row, at);
        let value = text_at(row, 2);
        let chip = field.zip(value).map(|(field, value)| Chip {
            field,
            values: vec![value],
            exclude: false,
        });
        Hit {
            kind: kind.to_owned(),
            label: words(0),
            detail: words(1),
            chip,
            at_ns: row.get(3).and_then(whole),
        }
    };
    Ok(rows.iter().map(hit).collect())
}

/// Searches the names of stack tags.
fn tags(known: &Tags, wanted: &str, limit: u32) -> Vec<Hit> {
    let wanted = wanted.to_lowercase();
    let fitting = known.names(limit as usize, |tag| tag.to_lowercase().contains(&wanted));
    let hit = |tag: String| Hit {
        kind: "tag".to_owned(),
        label: tag.clone(),
        detail: String::new(),
        chip: Some(Chip {
            field: Field::Tag,
            values: vec![tag],
            exclude: false,
        }),
        at_ns: None,
    };
    fitting.into_iter().map(hit).collect()
}
