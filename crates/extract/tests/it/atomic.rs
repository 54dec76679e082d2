//! An extract exists completely or not at all: replaced, written twice at a time, killed, refused.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use etwkit_extract::manifest::Detail;
use etwkit_extract::{DerivedWriter, Extract, Writer, WriterOptions};
use etwkit_trace::table::{CpuProcess, CpuSample, Mark, Row};

use crate::child::{command, salt_of, start};
use crate::rows::{assert_refused, extract, files, manifest, marks, names, samples, sums};
use crate::support::Folder;

#[test]
fn a_finished_extract_replaces_the_one_before_with_all_its_files() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 10, 1).unwrap();
    let before = Extract::open(&target).unwrap();
    let mut derived = DerivedWriter::create(&before).unwrap();
    derived.write(CpuProcess::TABLE, sums(1)).unwrap();
    derived.finish(Default::default()).unwrap();
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    writer.write(Mark::TABLE, marks(&["new"])).unwrap();
    assert_eq!(
        salt_of(&target),
        1,
        "the old one is there until the new one is finished"
    );
    writer.finish(manifest("2")).unwrap();
    assert_eq!(names(&target), files(&[]));
    assert!(
        Extract::open(&target)
            .unwrap()
            .table("cpu_sample")
            .is_none()
    );
    assert_eq!(names(&folder.path("")), ["run.etwx"]);
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing_and_changes_nothing() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 10, 1).unwrap();
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    writer.write(CpuSample::TABLE, samples(10, 2)).unwrap();
    assert_eq!(names(&folder.path("")).len(), 2);
    drop(writer);
    assert_eq!(names(&folder.path("")), ["run.etwx"]);
    assert_eq!(salt_of(&target), 1);
}

#[test]
fn derived_tables_of_an_extract_that_was_replaced_meanwhile_are_not_put_into_the_new_one() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 10, 1).unwrap();
    let mut late = DerivedWriter::create(&Extract::open(&target).unwrap()).unwrap();
    late.write(CpuProcess::TABLE, sums(1)).unwrap();
    extract(&target, 10, 2).unwrap();
    let mut derived = DerivedWriter::create(&Extract::open(&target).unwrap()).unwrap();
    derived.write(CpuProcess::TABLE, sums(2)).unwrap();
    derived.finish(Default::default()).unwrap();
    assert_refused(
        late.finish(Default::default()),
        &[
            "derived",
            "hint: another program may have removed it: try again",
        ],
    );
    assert_eq!(
        Extract::open(&target)
            .unwrap()
            .table("cpu_process")
            .unwrap()
            .rows,
        2
    );
    assert_eq!(salt_of(&target), 2);
    assert_eq!(names(&target), files(&["derived"]));
}

#[test]
fn what_is_no_extract_is_not_replaced() {
    let folder = Folder::new();
    let file = folder.write("file.etwx", b"precious");
    fs::create_dir(folder.path("mine.etwx")).unwrap();
    folder.write("mine.etwx/manifest.json", b"{\"name\": \"some web page\"}");
    let create = |path: &Path| Writer::create(path, WriterOptions::default());
    assert_refused(
        create(&file),
        &[
            "will not replace ",
            "file.etwx: it is a file",
            "hint: remove it, or give",
        ],
    );
    assert_refused(
        create(&folder.path("mine.etwx")),
        &["it is a folder without the manifest of an extract"],
    );
    assert_refused(
        create(&folder.path("gone/run.etwx")),
        &["gone does not exist", "hint: create it, or give"],
    );
    assert_refused(
        create(&file.join("run.etwx")),
        &["file.etwx does not exist"],
    );
    assert_refused(create(Path::new("/")), &["it is a folder without"]);
    assert_eq!(fs::read(&file).unwrap(), b"precious");
    assert_eq!(names(&folder.path("")), ["file.etwx", "mine.etwx"]);
    // A file that appears there while rows are written is not replaced either.
    let late = folder.path("late.etwx");
    let writer = create(&late).unwrap();
    fs::write(&late, b"precious").unwrap();
    assert_refused(writer.finish(manifest("0")), &["late.etwx: it is a file"]);
    assert_eq!(fs::read(&late).unwrap(), b"precious");
}

#[test]
fn an_extract_of_the_same_trace_is_kept_if_that_is_wanted() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let finish = |hash: &str, text: &str| {
        let mut writer = Writer::create(
            &target,
            WriterOptions {
                no_overwrite: true,
                ..WriterOptions::default()
            },
        )
        .unwrap();
        writer.write(Mark::TABLE, marks(&[text])).unwrap();
        writer.finish(manifest(hash)).unwrap().kept
    };
    let is_there = |hash: &str, detail| Extract::same_source(&target, hash, detail).is_some();
    assert!(!is_there("a", Detail::Full));
    assert!(!finish("a", "first"));
    assert!(
        is_there("a", Detail::Full)
            && !is_there("a", Detail::Summary)
            && !is_there("b", Detail::Full)
    );
    assert!(finish("a", "second"), "the same trace");
    assert!(!finish("b", "third"), "another trace");
    // A damaged extract is not complete.
    fs::write(target.join("mark.parquet"), b"PAR1").unwrap();
    assert!(!is_there("b", Detail::Full));
    assert!(!finish("b", "fourth"));
    assert_eq!(names(&folder.path("")), ["run.etwx"]);
}

#[test]
fn writers_at_the_same_time_never_mix() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 1000, 1).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let opened = scope.spawn(|| {
            let mut opened = 0;
            while !done.load(Ordering::Relaxed) {
                Extract::open(&target).unwrap();
                opened += 1;
            }
            opened
        });
        let mut children: Vec<_> = [2, 3]
            .map(|salt| command("times", &target, salt).spawn().unwrap())
            .into_iter()
            .collect();
        for _ in 0..20 {
            extract(&target, 1000, 4).unwrap();
        }
        let ended: Vec<_> = children
            .iter_mut()
            .map(|child| child.wait().unwrap().success())
            .collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(ended, [true, true]);
        assert!(opened.join().unwrap() > 0, "it could be read all the time");
    });
    assert!((2..=4).contains(&salt_of(&target)));
    assert_eq!(names(&folder.path("")), ["run.etwx"]);
}

#[test]
fn a_killed_writer_leaves_the_old_extract_and_the_next_one_cleans_up() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 10, 1).unwrap();
    let mut child = start("endless", &target, 2);
    // No other process removes the folder of a running writer.
    extract(&folder.path("other.etwx"), 10, 3).unwrap();
    assert_eq!(names(&folder.path("")).len(), 3);
    assert!(child.try_wait().unwrap().is_none(), "it writes on");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(salt_of(&target), 1);
    assert_eq!(names(&folder.path("")).len(), 3, "a dead folder is left");
    extract(&folder.path("other.etwx"), 10, 3).unwrap();
    assert_eq!(names(&folder.path("")), ["other.etwx", "run.etwx"]);
}

#[test]
fn killed_at_any_moment_the_target_is_whole_or_absent() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    // A busy machine needs more rounds. They get longer until one of them completes.
    for round in (0..400).take_while(|round| *round < 24 || !target.exists()) {
        let mut child = start("again", &target, round);
        std::thread::sleep(Duration::from_micros(
            500 * round as u64 * (1 + round as u64 % 3),
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        if target.exists() {
            assert!((0..=round).contains(&salt_of(&target)));
        }
    }
    assert!(target.exists(), "one of them came to an end");
    extract(&target, 10, 100).unwrap();
    assert_eq!(salt_of(&target), 100);
    assert_eq!(
        names(&folder.path("")),
        ["run.etwx"],
        "all they left is swept"
    );
}

#[test]
fn foreign_folders_are_not_swept() {
    let folder = Folder::new();
    for name in [".backup.partial", ".run.etwx.abc.partial"] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/notes.txt"), b"precious");
    }
    extract(&folder.path("run.etwx"), 10, 1).unwrap();
    assert_eq!(
        names(&folder.path("")),
        [".backup.partial", ".run.etwx.abc.partial", "run.etwx"]
    );
}

/// A folder cannot be created there, not even by the superuser.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_to_is_named_with_what_to_do() {
    let created = Writer::create(Path::new("/sys/run.etwx"), WriterOptions::default());
    assert_refused(
        created,
        &[
            "cannot create a folder in /sys",
            "give another folder with --out",
        ],
    );
}

/// On a full file system writing fails in the middle of a file, as it does at a limit for the size
/// of a file.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_grow_is_named_with_what_to_do() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let large = command("large", &target, 1);
    let mut limited = std::process::Command::new("sh");
    // Without the signal handler the system would end the process instead of refusing the write.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]);
    limited.arg(large.get_program()).args(large.get_args());
    limited.envs(
        large
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = limited.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "outcome: cannot write ",
        "cpu_sample.parquet | ",
        "hint: the file system or a limit",
    ] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    assert!(names(&folder.path("")).is_empty(), "nothing is left");
}

/// A full device, if the tests may mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_with_what_to_do() {
    let folder = Folder::new();
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    // In a separate mount namespace, so that nothing stays mounted after a failure.
    let large = command("large", &disk.join("run.etwx"), 1);
    let mut small = std::process::Command::new("unshare");
    small.args([
        "-m",
        "-r",
        "sh",
        "-c",
        "mount -t tmpfs -o size=16k none \"$DISK\" && exec \"$0\" \"$@\"",
    ]);
    small
        .arg(large.get_program())
        .args(large.get_args())
        .env("DISK", &disk);
    small.envs(
        large
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let Some(output) = small.output().ok().filter(|output| output.status.success()) else {
        // The limit of the test above reaches the same code on every system.
        eprintln!("no tmpfs can be mounted here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "outcome: cannot write ",
        "hint: no space is left there: free some, or give another folder",
    ] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}
