//! Traces of real machines, if `ETWKIT_TRACES` names a folder of them.

use etwkit_etl::Order;
use etwkit_extract::{Options, open};
use etwkit_testkit::files::zipped;
use etwkit_testkit::{trace_files, traces};

use crate::support::{Folder, labels, open_one, summary};

#[test]
fn a_7z_of_the_field_opens() {
    let Some(folder) = traces() else { return };
    let input = open_one(&folder.join("TraceLoggingTester.7z")).unwrap();
    assert_eq!(
        labels(&input),
        ["TraceLoggingTester.7z: TraceLoggingTester.etl"]
    );
    assert_eq!(input.parts()[0].size, 42_991_616);
    assert_eq!(summary(&input, Order::File).events, 172_716);
}

#[test]
fn zipping_a_trace_changes_nothing() {
    let Some(folder) = traces() else { return };
    let path = folder.join("net.4.5.2.x64.etl");
    let zip = zipped(&[("net.4.5.2.x64.etl", &std::fs::read(&path).unwrap())]);
    let work = Folder::new();
    let from_zip = open_one(&work.write("net.etl.zip", &zip)).unwrap();
    let plain = summary(&open_one(&path).unwrap(), Order::Time);
    assert_eq!(plain.events, 179_474);
    assert_eq!(summary(&from_zip, Order::Time), plain);
}

#[test]
fn maps_and_positions_read_all_traces_alike() {
    for path in trace_files() {
        let mapped = open_one(&path).unwrap();
        let positions = open(
            std::slice::from_ref(&path),
            &Options {
                mmap: false,
                ..Options::default()
            },
        )
        .unwrap();
        for order in [Order::Time, Order::File] {
            assert_eq!(
                summary(&mapped, order),
                summary(&positions, order),
                "{}",
                path.display()
            );
        }
    }
}
