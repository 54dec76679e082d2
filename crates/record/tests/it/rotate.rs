//! A day of recordings, on a clock that only pauses move.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::time::Duration;

use chrono::{NaiveDateTime, TimeDelta};
use etwkit_record::Clock;

use crate::recording::record_at;
use crate::stand_in::StandIn;

/// An action at a second of the day.
type Deed<'a> = (i64, Box<dyn Fn() + 'a>);

/// A clock that advances with each pause. After this many seconds the user stops the recording.
pub(crate) struct At<'a> {
    seconds: Cell<i64>,
    end: i64,
    deeds: RefCell<Vec<Deed<'a>>>,
}

impl Default for At<'_> {
    fn default() -> Self {
        Self {
            seconds: Cell::default(),
            end: i64::MAX,
            deeds: RefCell::default(),
        }
    }
}

impl Clock for At<'_> {
    fn now(&self) -> NaiveDateTime {
        let begin: NaiveDateTime = "2023-03-07T23:21:41".parse().unwrap();
        begin + TimeDelta::seconds(self.seconds.get())
    }

    fn pause(&self, time: Duration) -> bool {
        let until = self.seconds.get() + i64::try_from(time.as_secs()).unwrap();
        self.seconds.set(until.min(self.end));
        self.deeds.borrow_mut().retain(|(at, deed)| {
            let is_time = *at <= self.seconds.get();
            if is_time {
                deed();
            }
            !is_time
        });
        self.seconds.get() < self.end
    }
}

/// A day that the user ends after this many seconds, with the actions until then.
fn day(
    folder: &Path,
    end: i64,
    more: &[&str],
    deeds: Vec<Deed<'_>>,
) -> (Result<String, String>, Vec<String>) {
    let mut wpr = StandIn {
        folder: folder.to_owned(),
    };
    let into = folder.join("day").display().to_string();
    let clock = At {
        end,
        deeds: RefCell::new(deeds),
        ..At::default()
    };
    let words = [
        &["start", "cpu", "--rotate", "5m", "--into", &into][..],
        more,
    ]
    .concat();
    let said = record_at(&clock, &mut wpr, true, &words);
    let mut files: Vec<String> = fs::read_dir(into)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    (
        said.map(|said| said.replace(folder.to_str().unwrap(), "")),
        files,
    )
}

#[test]
fn every_five_minutes_there_is_a_file_and_the_oldest_make_room() {
    let folder = tempfile::tempdir().unwrap();
    // A file of the stand-in has 1.1 MB.
    let (said, files) = day(
        folder.path(),
        1000,
        &["--keep", "3MB", "--name", "Mail"],
        Vec::new(),
    );
    let said = said.unwrap();
    let of = |at: &str| format!("Mail_MAGNON.20230307-{at}.etl");
    assert_eq!(files, [of("233641"), of("233821")]);
    let first = of("232641");
    let begin = format!(
        "Recording since 23:21:41; Ctrl-C ends it and writes the file\nRecorded /day/{first} (1.1 MB)\n\
         Recording since 23:26:41; Ctrl-C ends it and writes the file\n"
    );
    assert!(said.starts_with(&begin), "{said}");
    assert!(
        said.ends_with(&format!("Removed /day/{}\n", of("233141"))),
        "{said}"
    );
    assert_eq!(said.matches("\nRecorded ").count(), 4, "{said}");
}

#[test]
fn a_recording_that_somebody_ends_is_reported_and_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let ends = || fs::remove_file(folder.path().join("recording")).unwrap();
    let (said, files) = day(folder.path(), 400, &[], vec![(33, Box::new(ends))]);
    let said = said.unwrap();
    let lost = "warning: another program ended the recording: what happened from 23:21:41 to 23:22:16 is lost\n\
                Recording since 23:22:16; Ctrl-C ends it and writes the file\n";
    assert!(said.contains(lost), "{said}");
    assert_eq!(
        files,
        [
            "Day_MAGNON.20230307-232716.etl",
            "Day_MAGNON.20230307-232821.etl"
        ]
    );
    // When the user wants no more at that time, no other one begins.
    let folder = tempfile::tempdir().unwrap();
    let ends = || fs::remove_file(folder.path().join("recording")).unwrap();
    let (said, files) = day(folder.path(), 35, &[], vec![(33, Box::new(ends))]);
    let said = said.unwrap();
    assert_eq!(said.matches("Recording since").count(), 1, "{said}");
    assert!(
        said.contains("warning: another program ended the recording") && files.is_empty(),
        "{said}"
    );
    assert!(!folder.path().join("recording").exists());
    // Who ends it each time does not want it.
    let folder = tempfile::tempdir().unwrap();
    let each = (1..=3).map(|time| {
        let path = folder.path().join("recording");
        (
            5 * time,
            Box::new(move || fs::remove_file(&path).unwrap()) as Box<dyn Fn()>,
        )
    });
    let (said, files) = day(folder.path(), 400, &[], each.collect());
    let said = said.unwrap_err();
    assert!(
        said.contains("after 0 files")
            && said.contains("another program ends the recording as soon as it starts"),
        "{said}"
    );
    assert!(files.is_empty());
}

#[test]
fn who_changes_the_recording_is_noticed_once() {
    let folder = tempfile::tempdir().unwrap();
    let changes = || fs::write(folder.path().join("changed"), "").unwrap();
    let (said, files) = day(folder.path(), 290, &[], vec![(33, Box::new(changes))]);
    let said = said.unwrap();
    assert_eq!(
        said.matches("warning: another program changed the recording: it was System Keywords")
            .count(),
        1,
        "{said}"
    );
    assert_eq!(files.len(), 1);
}

#[test]
fn a_full_disk_takes_the_oldest_file_if_it_may_and_nothing_else_is_lost() {
    for (more, left) in [(&[][..], 1), (&["--keep", "1GB"][..], 0)] {
        let folder = tempfile::tempdir().unwrap();
        let full = folder.path().join("full");
        let fills = || fs::write(&full, "").unwrap();
        let (said, files) = day(folder.path(), 2000, more, vec![(310, Box::new(fills))]);
        let said = said.unwrap_err();
        let goes_on = "the file could not be written; the recording goes on and nothing is lost";
        assert!(
            said.contains(goes_on) && said.contains("no space is left on the disk"),
            "{said}"
        );
        assert_eq!(files.len(), left, "{files:?}");
        assert!(
            folder.path().join("recording").exists(),
            "the last minutes can still be written"
        );
    }
}

#[test]
fn nothing_stays_recording_when_the_day_ends() {
    let folder = tempfile::tempdir().unwrap();
    day(folder.path(), 7, &[], Vec::new()).0.unwrap();
    assert!(!folder.path().join("recording").exists());
    let mut wpr = StandIn {
        folder: folder.path().to_owned(),
    };
    let clock = At::default();
    let said = record_at(&clock, &mut wpr, false, &["start", "cpu", "--rotate", "5m"]).unwrap_err();
    assert!(
        said.starts_with("--rotate works only on Windows, and not as a script"),
        "{said}"
    );
    for (wrong, expected) in [
        ("5", "expected 10s to 24h"),
        ("1s", "expected 10s to 24h"),
        ("99999999999999999999h", "10s"),
    ] {
        let said =
            record_at(&clock, &mut wpr, true, &["start", "cpu", "--rotate", wrong]).unwrap_err();
        assert!(said.contains(expected), "{said}");
    }
}
