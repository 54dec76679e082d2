//! Names of lanes.

use std::collections::BTreeMap;

use etwkit_sql::Session;

use crate::cells::{asked, key, text_or_empty, whole};
use crate::problem::Result;
use crate::tables::{process_label, thread_label};
use crate::wire::LaneKind;

/// Name, detail and lifetime of a lane.
#[derive(Debug, Default, Clone)]
pub(super) struct LaneName {
    pub(super) label: String,
    pub(super) detail: String,
    pub(super) start_ns: Option<i64>,
    pub(super) stop_ns: Option<i64>,
}

impl LaneName {
    /// A lane whose key is in no table.
    pub(super) fn unknown(of: LaneKind, key: i32) -> Self {
        let label = match of {
            LaneKind::Core => format!("CPU {key}"),
            LaneKind::Process => "unknown process".to_owned(),
            LaneKind::Thread => "unknown thread".to_owned(),
        };
        Self {
            label,
            ..Self::default()
        }
    }
}

/// Returns the names of these lanes.
pub(super) fn named(
    session: &Session,
    of: LaneKind,
    keys: &[i32],
) -> Result<BTreeMap<i32, LaneName>> {
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let list = keys
        .iter()
        .map(i32::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    let sql = match of {
        LaneKind::Core => format!(
            "SELECT c.cpu,
               concat('CPU ', c.cpu, CASE WHEN k.least = k.most THEN ''
                 WHEN c.efficiency_class = k.most THEN ' (P-core)'
                 WHEN c.efficiency_class = k.least THEN ' (E-core)' ELSE '' END),
               CASE WHEN c.efficiency_class IS NOT NULL
                 THEN concat('efficiency class ', c.efficiency_class) ELSE '' END,
               CAST(NULL AS BIGINT) AS start_ns, CAST(NULL AS BIGINT) AS stop_ns
             FROM cpu_core c CROSS JOIN
               (SELECT min(efficiency_class) AS least, max(efficiency_class) AS most
                FROM cpu_core) k
             WHERE c.cpu IN ({list})"
        ),
        LaneKind::Process => format!(
            "SELECT p.process_key, {}, coalesce(p.command_line, ''), p.start_ns, p.stop_ns
             FROM process p WHERE p.process_key IN ({list})",
            process_label("p")
        ),
        LaneKind::Thread => format!(
            "SELECT t.thread_key, {}, coalesce(t.name, ''), t.start_ns, t.stop_ns
             FROM thread t LEFT JOIN process p ON p.process_key = t.process_key
             WHERE t.thread_key IN ({list})",
            thread_label("t", "p")
        ),
    };
    let mut all = BTreeMap::new();
    for row in asked(session, &sql, keys.len())?.rows {
        let words = |at: usize| text_or_empty(&row, at);
        let start_ns = row.get(3).and_then(whole);
        let stop_ns = row.get(4).and_then(whole);
        if let Some(key) = row.first().and_then(key) {
            all.insert(
                key,
                LaneName {
                    label: words(1),
                    detail: words(2),
                    start_ns,
                    stop_ns,
                },
            );
        }
    }
    // A damaged extract may lack the row of a key, and a lane without a name could not be
    // distinguished from others.
    for key in keys {
        all.entry(*key)
            .or_insert_with(|| LaneName::unknown(of, *key));
    }
    Ok(all)
}
