//! A command that ends between any two of its steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etwkit_extract::lake::{Lake, Snapshot};

use super::NOW;
use super::support::{Farm, marks_in, one};

/// All files below a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    let mut relative: Vec<PathBuf> = found
        .iter()
        .map(|path| path.strip_prefix(folder).unwrap().to_owned())
        .collect();
    relative.sort();
    relative
}

fn copy(from: &Path, to: &Path, files: &[PathBuf]) {
    for file in files {
        let target = to.join(file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(from.join(file), target).unwrap();
    }
}

/// The new files in the order in which they are created: table by table, rows, their commit, its
/// checkpoint and the file that names it. `run` is last.
fn in_order(mut new: Vec<PathBuf>) -> Vec<PathBuf> {
    new.sort_by_key(|file| {
        let table = file.iter().next().unwrap().to_owned();
        let name = file.to_str().unwrap();
        let steps = [".json", ".checkpoint.parquet", "_last_checkpoint"];
        let step = steps.iter().position(|ending| name.ends_with(ending));
        (table == "run", table, step)
    });
    new
}

#[test]
fn runs_are_there_as_a_whole_or_not_at_all() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let before = files(farm.path());
    farm.lake.add(&[one(&farm, 2), one(&farm, 3)]).unwrap();
    let new = files(farm.path())
        .into_iter()
        .filter(|file| !before.contains(file));
    let new = in_order(new.collect());
    assert_eq!(new.len(), 6, "{new:?}");
    let old_marks = BTreeMap::from([(1, 2)]);
    let all_marks = BTreeMap::from([(1, 2), (2, 3), (3, 4)]);
    for done in 0..=new.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lake");
        copy(farm.path(), &path, &before);
        copy(farm.path(), &path, &new[..done]);
        let lake = Lake::open(&path).unwrap();
        assert_eq!(lake.check().unwrap().problems, [], "{done}");
        let is_done = done == new.len();
        let expected = if is_done { &all_marks } else { &old_marks };
        assert_eq!(marks_in(&path), *expected, "{done}");
        // The command again brings what is missing, whatever the first one left.
        let again = lake.add(&[one(&farm, 2), one(&farm, 3)]).unwrap();
        assert_eq!(again.new.len(), if is_done { 0 } else { 2 }, "{done}");
        assert_eq!(lake.check().unwrap().problems, [], "{done}");
        assert_eq!(marks_in(&path), all_marks, "{done}");
        lake.compact(NOW).unwrap();
        lake.vacuum(NOW).unwrap();
        let checked = lake.check().unwrap();
        assert_eq!(
            (checked.problems, checked.dead_rows),
            (Vec::new(), 0),
            "{done}"
        );
        assert_eq!(marks_in(&path), all_marks, "{done}");
    }
}

#[test]
fn a_compaction_that_did_not_commit_changes_nothing() {
    let farm = Farm::new();
    for run in 1..=3 {
        farm.lake.add(&[one(&farm, run)]).unwrap();
    }
    let before = files(farm.path());
    let expected = marks_in(farm.path());
    farm.lake.compact(NOW).unwrap();
    let new = files(farm.path())
        .into_iter()
        .filter(|file| !before.contains(file));
    let new = in_order(new.collect());
    // Rows, a commit, a checkpoint and its name, for each of three tables.
    assert_eq!(new.len(), 12, "{new:?}");
    for done in 0..=new.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lake");
        copy(farm.path(), &path, &before);
        copy(farm.path(), &path, &new[..done]);
        let lake = Lake::open(&path).unwrap();
        assert_eq!(lake.check().unwrap().problems, [], "{done}");
        assert_eq!(marks_in(&path), expected, "{done}");
        lake.vacuum(NOW).unwrap();
        assert_eq!(lake.check().unwrap().problems, [], "{done}");
        assert_eq!(Snapshot::open(&path).unwrap().runs().len(), 3);
    }
}
