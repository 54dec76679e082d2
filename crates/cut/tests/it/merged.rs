//! Several files become one.

use etwkit_testkit::traces;
use etwkit_trace::import::Range;

use crate::support::{differences, opened, part, rows};

#[test]
fn files_of_one_recording_become_one() {
    let Some(root) = traces() else { return };
    let folder = root.join("diaghub");
    let files = ["diaghub.kernel.1.etl", "diaghub.user_paged.1.etl"].map(|name| folder.join(name));
    let input = opened(&files);
    let (cut, merged) = part(input.session(), Range::ALL);
    assert_eq!(merged.files().len(), 1);
    let (a, b) = (
        rows(input.session(), Range::ALL).unwrap(),
        rows(&merged, Range::ALL).unwrap(),
    );
    // Events about a file itself, such as its header, are in the merged trace once.
    let of_files = ["logger:", "event_count:", "diagnostic:"];
    let found = differences(&a, &b);
    let found: Vec<&String> = found
        .iter()
        .filter(|text| !of_files.iter().any(|of| text.starts_with(of)))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(cut.total(true) > 30_000, "{cut:?}");
    // The buffers of each processor are in order of time, as Windows readers require.
    let mut last = std::collections::BTreeMap::new();
    for buffer in merged.files()[0].buffers().iter().skip(1) {
        let before = last
            .insert(buffer.header.cpu(), buffer.first_time)
            .unwrap_or(i64::MIN);
        assert!(before <= buffer.first_time);
    }
}
