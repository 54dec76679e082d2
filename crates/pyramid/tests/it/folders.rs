//! The location of pages, and the independence of all other files from them.

use std::fs;

use etwkit_extract::manifest::Detail;
use etwkit_extract::{DerivedWriter, Extract};
use etwkit_pyramid::{
    Error, LaneKind, LanesRequest, Pyramid, Range, Selection, SeriesKind, SeriesRequest,
};
use etwkit_trace::table::{CpuProcess, Mark, Row};

use crate::machine::{busy, extract, of_detail};

fn opened(extract: &Extract, cache: Option<&std::path::Path>) -> (Pyramid, bool) {
    let mut was_made = false;
    let pyramid = Pyramid::open(extract, cache, &mut |_| {
        was_made = true;
        true
    });
    (pyramid.unwrap(), was_made)
}

fn whole() -> LanesRequest {
    let range = Range {
        from_ns: 0,
        to_ns: i64::MAX,
    };
    LanesRequest {
        kind: LaneKind::Thread,
        selection: Selection::default(),
        range,
        limit: 99,
        offset: 0,
    }
}

#[test]
fn pages_are_made_once_and_anew_for_another_extract() {
    let made = busy(3_000);
    let (pyramid, was_made) = opened(&made.extract(), None);
    assert!(was_made);
    assert_eq!(pyramid.folder(), made.path().join("derived/pages-3"));
    assert!(!opened(&made.extract(), None).1, "they are there");
    // The pages of another extract, as if this one had been replaced below them.
    let other = busy(4_000);
    let wanted = opened(&other.extract(), None).0.lanes(&whole()).unwrap();
    let pages = other.path().join("derived/pages-3");
    fs::remove_dir_all(&pages).unwrap();
    fs::rename(made.path().join("derived/pages-3"), &pages).unwrap();
    let (pyramid, was_made) = opened(&other.extract(), None);
    assert!(was_made);
    assert_eq!(pyramid.lanes(&whole()).unwrap(), wanted);
    // One file is missing, another is truncated.
    for name in ["thread-0.parquet", "core-1.parquet"] {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(pages.join(name))
            .unwrap();
        file.set_len(9).unwrap();
        assert!(opened(&other.extract(), None).1, "{name}");
        fs::remove_file(pages.join(name)).unwrap();
        assert!(opened(&other.extract(), None).1, "{name}");
    }
    assert_eq!(names(&other.path().join("derived")), ["pages-3"]);
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".parquet") && name != "manifest.json")
        .collect();
    names.sort();
    names
}

#[test]
fn who_stops_leaves_nothing() {
    let made = busy(3_000);
    let stopped = Pyramid::open(&made.extract(), None, &mut |_| false);
    assert!(matches!(stopped, Err(Error::Stopped)));
    assert_eq!(names(&made.path().join("derived")), Vec::<String>::new());
}

#[test]
fn an_archive_has_its_pages_in_the_cache() {
    let made = busy(3_000);
    let in_folder = made.pyramid().lanes(&whole()).unwrap();
    let zip = made.folder.path("run.etwx.zip");
    made.extract().pack(&zip).unwrap();
    let names = zip_names(&zip);
    assert!(
        names.iter().all(|name| !name.contains("pages")),
        "{names:?}"
    );
    let packed = Extract::open(&zip).unwrap();
    assert_eq!(packed.fingerprint(), made.extract().fingerprint());
    let no_place = Pyramid::open(&packed, None, &mut |_| true).unwrap_err();
    assert!(no_place.to_string().contains("no place") && no_place.hint().is_some());
    let cache = made.folder.path("cache");
    fs::create_dir(&cache).unwrap();
    let (pyramid, was_made) = opened(&packed, Some(&cache));
    assert!(was_made && pyramid.folder().starts_with(&cache));
    assert_eq!(pyramid.lanes(&whole()).unwrap(), in_folder);
    assert!(!opened(&packed, Some(&cache)).1);
}

fn zip_names(zip: &std::path::Path) -> Vec<String> {
    let bytes = fs::read(zip).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    text.split("run.etwx/")
        .skip(1)
        .map(|name| name.chars().take(40).collect())
        .collect()
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_is_not_written_to() {
    let made = busy(300);
    let derived = made.path().join("derived");
    let elsewhere = made.folder.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &derived).unwrap();
    let cache = made.folder.path("cache");
    fs::create_dir(&cache).unwrap();
    let (pyramid, _) = opened(&made.extract(), Some(&cache));
    assert!(pyramid.folder().starts_with(&cache));
    assert!(!elsewhere.join("pages-3").exists());
}

/// Readers see the same extract with pages and without; writers of derived tables replace the whole
/// folder.
#[test]
fn pages_do_not_disturb_the_extract() {
    let made = busy(3_000);
    let tables = |extract: &Extract| {
        extract
            .tables()
            .map(|table| (table.name.clone(), table.rows, table.length))
            .collect::<Vec<_>>()
    };
    let before = tables(&made.extract());
    let fingerprint = made.extract().fingerprint().to_owned();
    made.pyramid();
    assert_eq!(tables(&made.extract()), before);
    assert_eq!(made.extract().fingerprint(), fingerprint);
    let writer = DerivedWriter::create(&made.extract()).unwrap();
    writer.finish(std::collections::BTreeMap::new()).unwrap();
    assert_eq!(tables(&made.extract()), before);
    assert_eq!(CpuProcess::TABLE.name, "cpu_process");
    assert!(opened(&made.extract(), None).1, "they went with the folder");
    assert!(!opened(&made.extract(), None).1);
}

#[test]
fn a_summary_says_that_it_has_no_rows() {
    let made = of_detail(Detail::Summary, 1_000, 2, |_| {});
    let error = made.pyramid().lanes(&whole()).unwrap_err();
    assert!(matches!(
        error,
        Error::NotRecorded {
            is_summary: true,
            ..
        }
    ));
    assert!(error.hint().unwrap().contains("summary"));
    let made = extract(1_000, 2, |tables| {
        tables.write([Mark {
            ts_ns: 7,
            ..Mark::default()
        }]);
    });
    let pyramid = made.pyramid();
    assert!(matches!(
        pyramid.lanes(&whole()),
        Err(Error::NotRecorded {
            is_summary: false,
            ..
        })
    ));
    let (range, selection) = (
        Range {
            from_ns: 0,
            to_ns: 10,
        },
        Selection::default(),
    );
    let marks = SeriesRequest {
        kind: SeriesKind::Marks,
        range,
        buckets: 10,
        top: 1,
        selection,
    };
    assert_eq!(
        pyramid.series(&marks).unwrap().series[0].values,
        [0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    );
    let disk = SeriesRequest {
        kind: SeriesKind::Disk,
        ..marks
    };
    assert!(matches!(
        pyramid.series(&disk),
        Err(Error::NotRecorded { .. })
    ));
}
