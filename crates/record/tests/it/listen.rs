//! Marks on two machines, both of them on this one.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::NaiveDateTime;
use etwkit_record::Clock;

use crate::recording::{record, record_at};
use crate::stand_in::StandIn;

/// A user who wants no more at some time.
#[derive(Default)]
struct Until(AtomicBool);

impl Clock for Until {
    fn now(&self) -> NaiveDateTime {
        NaiveDateTime::default()
    }

    fn pause(&self, _time: Duration) -> bool {
        !self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn a_mark_is_in_both_recordings() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [mut here, mut there] = folders.each_ref().map(|folder| StandIn {
        folder: folder.path().to_owned(),
    });
    for wpr in [&mut here, &mut there] {
        record(wpr, true, &["start", "cpu"]).unwrap();
    }
    // A port that is free now.
    let address = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let until = Until::default();
    let heard = std::thread::scope(|scope| {
        let listens = scope.spawn(|| {
            record_at(
                &until,
                &mut there,
                true,
                &["listen", "--address", &address, "--word", "w0rd"],
            )
        });
        let mark = |wpr: &mut StandIn, word: &str| {
            record(
                wpr,
                true,
                &["mark", "slow now", "--also", &address, "--word", word],
            )
        };
        // Without a listener there is no answer: the mark is only set here, and this is reported.
        let mut tries = 0;
        let said = loop {
            tries += 1;
            match mark(&mut here, "w0rd") {
                Ok(said) => break said,
                Err(error) => {
                    assert!(
                        error.starts_with(&format!("no mark on {address}: no answer")),
                        "{error}"
                    );
                    assert!(tries < 20);
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        };
        assert!(
            said.starts_with(&format!("Marked: slow now\nMarked on {address}, at most ")),
            "{said}"
        );
        let error = mark(&mut here, "wrong").unwrap_err();
        assert!(error.contains("with the same --word"), "{error}");
        until.0.store(true, Ordering::SeqCst);
        listens.join().unwrap().unwrap()
    });
    let first = format!(
        "Listening at {address} for marks; Ctrl-C ends it\nMarked: slow now (from 127.0.0.1:"
    );
    assert!(
        heard.starts_with(&first) && heard.lines().count() == 2,
        "{heard}"
    );
    let marks = |wpr: &StandIn| {
        wpr.lines()
            .iter()
            .filter(|line| *line == "wpr -marker slow now")
            .count()
    };
    assert!(marks(&here) >= 2, "here is marked in any case");
    assert_eq!(marks(&there), 1);
}

#[test]
fn a_mark_that_fails_there_is_no_mark() {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = StandIn {
        folder: folder.path().to_owned(),
    };
    for (line, expected) in [
        (
            &["mark", "slow", "--also", "nobody", "--word", "w"][..],
            "cannot reach nobody",
        ),
        (&["mark", "two\nlines"], "the text is too long for a mark"),
        (&["mark", "slow"], "nothing is being recorded"),
    ] {
        let error = record(&mut wpr, true, line).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = record(&mut wpr, false, &["listen", "--word", "w"]).unwrap_err();
    assert!(
        error.starts_with("listen works only on Windows, and not as a script"),
        "{error}"
    );
}
