//! Logs that other programs continued, or that are damaged.

use std::io::Write as _;
use std::path::PathBuf;

use etwkit_extract::lake::{Error, Snapshot};

use super::support::{Farm, marks, one};

fn commit(farm: &Farm, table: &str, version: u64, text: &str) -> PathBuf {
    let path = farm
        .path()
        .join(table)
        .join("_delta_log")
        .join(format!("{version:020}.json"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn unknown_actions_are_skipped_and_unknown_protocols_refused() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    commit(
        &farm,
        "mark",
        1,
        "{\"txn\":{\"appId\":\"x\",\"version\":1}}\n\n{\"commitInfo\":{}}\n",
    );
    assert_eq!(farm.lake.check().unwrap().problems, []);
    for line in [
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[]}}",
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":5}}",
        "{\"add\":{\"path\":\"x.parquet\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true,\"deletionVector\":{\"storageType\":\"u\"}}}",
        "{\"add\":",
    ] {
        let path = commit(&farm, "mark", 2, line);
        let error = farm.lake.check().unwrap_err();
        assert!(matches!(error, Error::Log { .. }), "{line}: {error}");
        assert!(
            error
                .to_string()
                .starts_with("the log of the table mark: expected "),
            "{error}"
        );
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn files_outside_the_folder_of_a_table_are_refused() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let refused = |path: &str, part: &str, expected: &str| {
        let text = format!(
            "{{\"add\":{{\"path\":{path:?},\"partitionValues\":{{\"run_month\":{part:?}}},\"size\":1,\
             \"modificationTime\":1,\"dataChange\":true}}}}"
        );
        let commit = commit(&farm, "mark", 1, &text);
        let error = farm.lake.check().unwrap_err().to_string();
        assert!(error.contains(expected), "{path}, {part}: {error}");
        std::fs::remove_file(commit).unwrap();
    };
    for path in [
        "../../x.parquet",
        "run_month=2026-11/%2e%2e/%2e%2e/x.parquet",
        "/etc/x.parquet",
        "file:/etc/x.parquet",
        "s3://bucket/x.parquet",
        "C:/x.parquet",
        "..\\..\\x.parquet",
        "%5C%5Cserver%5Cshare%5Cx.parquet",
        "x%1b.parquet",
    ] {
        refused(path, "2026-11", "files in the folder of the table, found");
    }
    for part in ["../../x", "..\\..\\x", "a/b"] {
        refused("x.parquet", part, "months in the column run_month, found");
    }
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_opened() {
    use std::os::unix::fs::symlink;
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let commit = farm
        .path()
        .join("mark/_delta_log")
        .join(format!("{:020}.json", 1));
    symlink("/dev/zero", &commit).unwrap();
    let error = farm.lake.check().unwrap_err().to_string();
    assert!(error.ends_with("expected a regular file"), "{error}");
    std::fs::remove_file(commit).unwrap();
    let file = Snapshot::open(farm.path()).unwrap().files("mark").unwrap()[0].clone();
    std::fs::remove_file(&file.path).unwrap();
    symlink("/dev/zero", &file.path).unwrap();
    let error = farm.lake.compact(std::time::Duration::ZERO).unwrap_err();
    assert!(matches!(error, Error::Extract(_)), "{error}");
}

#[test]
fn a_log_with_a_gap_is_refused() {
    let farm = Farm::new();
    for run in 1..=3 {
        farm.lake.add(&[one(&farm, run)]).unwrap();
    }
    let lost = farm
        .path()
        .join("mark/_delta_log")
        .join(format!("{:020}.json", 1));
    std::fs::remove_file(lost).unwrap();
    let error = farm.lake.check().unwrap_err().to_string();
    assert!(
        error.ends_with("expected its commit 1, which is missing"),
        "{error}"
    );
}

/// A file of another program, whose commit has no statistics, an encoded path and spaces.
#[test]
fn files_of_others_are_read() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let file = Snapshot::open(farm.path()).unwrap().files("mark").unwrap()[0].clone();
    let folder = file.path.parent().unwrap();
    std::fs::rename(&file.path, folder.join("a b.parquet")).unwrap();
    let name = file.path.file_name().unwrap().to_str().unwrap();
    let text = format!(
        "{{\"remove\":{{\"path\":\"run_month=2026-11/{name}\",\"dataChange\":false}}}}\n\
         {{\"add\":{{\"path\":\"run_month%3D2026-11/a%20b.parquet\",\"partitionValues\":{{\"run_month\":\"2026-11\"}},\
         \"size\":{},\"modificationTime\":1,\"dataChange\":false}}}}\n",
        file.size
    );
    commit(&farm, "mark", 1, &text);
    assert_eq!(farm.lake.check().unwrap().problems, []);
    let expected = std::collections::BTreeMap::from([(1, 2)]);
    // The snapshot of before has the old name.
    farm.lake.add(&[one(&farm, 2)]).unwrap();
    assert_eq!(marks(&farm).get(&1), expected.get(&1));
}

#[test]
fn a_log_without_its_start_is_refused() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    farm.lake.add(&[one(&farm, 2)]).unwrap();
    let log = farm.path().join("mark/_delta_log");
    std::fs::remove_file(log.join(format!("{:020}.json", 0))).unwrap();
    let error = farm.lake.check().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its first commit, or a checkpoint"),
        "{error}"
    );
    let checkpoint = log.join(format!("{:020}.checkpoint.parquet", 0));
    std::fs::File::create(checkpoint)
        .unwrap()
        .write_all(b"PAR1")
        .unwrap();
    let error = farm.lake.check().unwrap_err();
    assert!(
        error.to_string().contains("expected a checkpoint of Delta"),
        "{error}"
    );
}
