//! Symbol servers: their files are cached, their errors are reported, and every request ends.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use etwkit_symbols::search_path::Defaults;
use etwkit_symbols::store::Limits;
use etwkit_symbols::{Event, Identity, Options, Outcome, SearchPath, Symbols};

use crate::server::{Answer, Server};
use crate::{fixture, identity_of, of_another_build};

const NAME: &str = "shapes-x86_64.pdb";

/// Limits short enough for a test.
fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(2),
        silence: Duration::from_millis(400),
        total: Duration::from_secs(4),
        slowest: 1000,
        bytes: 1 << 20,
    }
}

fn symbols(path: &str, folder: &Path) -> Symbols {
    let defaults = Defaults {
        cache: Some(folder.join("cache")),
        ..Defaults::default()
    };
    Symbols::new(
        SearchPath::parse([path], &defaults),
        Options {
            limits: limits(),
            ..Options::default()
        },
    )
}

fn place(identity: &Identity, file: &str) -> String {
    format!("/{}/{}/{file}", identity.name(), identity.key())
}

fn reasons(outcome: &Outcome) -> String {
    let tried = match outcome {
        Outcome::Missing { tried } => tried,
        Outcome::Loaded(module) => &module.tried,
    };
    tried
        .iter()
        .map(|attempt| format!("{}: {}\n", attempt.place, attempt.reason))
        .collect()
}

fn is_loaded(outcome: &Outcome) -> bool {
    let Outcome::Loaded(module) = outcome else {
        return false;
    };
    module.resolve_sorted(&[0x1000]).unwrap()[0]
        .as_ref()
        .unwrap()
        .name
        == "geometry::Shape::area"
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.file_name().into_string().unwrap());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_search_that_is_given_up_contacts_no_server() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let server = Server::start([(place(&identity, NAME), Answer::File(fixture(NAME)))]);
    let defaults = Defaults {
        cache: Some(folder.path().join("cache")),
        ..Defaults::default()
    };
    let options = Options {
        limits: limits(),
        ..Options::default()
    };
    let cancel = options.cancel.clone();
    let symbols = Symbols::new(SearchPath::parse([server.url.as_str()], &defaults), options);
    cancel.ask();
    let outcome = symbols.load(&identity, &mut ());
    assert!(!is_loaded(&outcome) && symbols.is_cancelled());
    assert!(reasons(&outcome).contains("the search was given up"));
    assert!(server.asked().is_empty() && files(folder.path()).is_empty());
}

#[test]
fn what_a_server_has_is_kept_and_not_asked_for_again() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let server = Server::start([(place(&identity, NAME), Answer::File(fixture(NAME)))]);
    let near = folder.path().join("near");
    let path = format!(
        "srv*{}*{}*{}",
        near.display(),
        folder.path().join("far").display(),
        server.url
    );
    let seen = Mutex::new(Vec::new());
    let mut progress = |_: &str, event: Event<'_>| {
        seen.lock().unwrap().push(match event {
            Event::Received { bytes, total, .. } => format!("{bytes} of {total:?}"),
            Event::Started => "started".to_owned(),
            Event::Finished { is_loaded } => format!("finished {is_loaded}"),
            _ => "reading".to_owned(),
        });
    };
    let outcome = symbols(&path, folder.path()).load(&identity, &mut progress);
    assert!(is_loaded(&outcome), "{outcome:?}");
    let len = fixture(NAME).len();
    let seen = seen.into_inner().unwrap();
    assert_eq!(
        (seen[0].as_str(), seen.last().unwrap().as_str()),
        ("started", "finished true")
    );
    assert!(seen.contains(&format!("{len} of Some({len})")), "{seen:?}");
    assert_eq!(
        server.asked(),
        ["/index2.txt".to_owned(), place(&identity, NAME)]
    );
    for store in ["near", "far"] {
        let kept = folder
            .path()
            .join(store)
            .join(NAME)
            .join(identity.key())
            .join(NAME);
        assert_eq!(std::fs::read(kept).unwrap(), fixture(NAME));
    }
    let again = symbols(&path, folder.path()).load(&identity, &mut ());
    assert!(is_loaded(&again));
    assert_eq!(server.asked().len(), 2, "the cache answers");
}

#[test]
fn a_file_that_nobody_has_is_asked_for_once() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), of_another_build(NAME));
    let server = Server::start([]);
    let symbols = symbols(&server.url, folder.path());
    for _ in 0..2 {
        let outcome = symbols.load(&identity, &mut ());
        assert_eq!(
            reasons(&outcome),
            format!("{}: does not have it\n", server.url)
        );
    }
    let key = identity.key();
    let portable = format!("{}FFFFFFFF", &key[..32]);
    let asked = ["shapes-x86_64.pdb", "shapes-x86_64.pd_", "file.ptr"]
        .map(|file| format!("/{NAME}/{key}/{file}"));
    let mut asked = asked.to_vec();
    asked.extend([
        format!("/{NAME}/{portable}/{NAME}"),
        format!("/{NAME}/{key}/shapes-x86_64.sym"),
    ]);
    assert_eq!(server.files_asked(), asked);
    assert_eq!(files(folder.path()), Vec::<String>::new());
    assert!(
        !folder.path().join("cache").join(NAME).exists(),
        "no empty folders are left"
    );
}

#[test]
fn a_server_with_two_tiers() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let path = format!("/sh{}", place(&identity, NAME));
    let server = Server::start([
        ("/index2.txt".to_owned(), Answer::File(Vec::new())),
        (path, Answer::File(fixture(NAME))),
    ]);
    assert!(is_loaded(
        &symbols(&server.url, folder.path()).load(&identity, &mut ())
    ));
    // A store of this program has one level, independent of the server's layout.
    assert!(
        folder
            .path()
            .join("cache")
            .join(NAME)
            .join(identity.key())
            .join(NAME)
            .is_file()
    );
}

/// Loads with one answer for the plain file. Returns the result and the cached files.
fn with(answer: Answer) -> (Outcome, Vec<String>, usize) {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let server = Server::start([(place(&identity, NAME), answer)]);
    let outcome = symbols(&server.url, folder.path()).load(&identity, &mut ());
    let times = server
        .asked()
        .iter()
        .filter(|path| **path == place(&identity, NAME))
        .count();
    (outcome, files(folder.path()), times)
}

#[test]
fn what_is_not_the_file_is_neither_used_nor_kept() {
    let whole = fixture(NAME);
    let bombed = whole
        .iter()
        .copied()
        .cycle()
        .take(2 << 20)
        .collect::<Vec<u8>>();
    for (answer, reason, times) in [
        (
            Answer::File(b"<html>Not found, but 200</html>".to_vec()),
            "expected a symbol file, found \"<html>",
            1,
        ),
        (
            Answer::File(Vec::new()),
            "expected a symbol file, found \"\"",
            1,
        ),
        (
            Answer::File(fixture("shapes-i686.pdb")),
            "belongs to another build: it is ",
            1,
        ),
        (
            Answer::File(whole[..whole.len() / 2].to_vec()),
            "the file is cut off",
            1,
        ),
        (
            Answer::File(bombed),
            "2097152 bytes are more than the limit of 1048576",
            1,
        ),
        (Answer::CutOff(whole.clone()), "did not come as a whole", 1),
        (Answer::Status(500), "the server answers 500", 2),
        (Answer::Status(403), "the server answers 403", 1),
        (Answer::Drip(1 << 16), "it is too slow: ", 1),
        (
            Answer::Noise(b"\0\x01\x02 what?\r\n\r\n".to_vec()),
            "does not speak HTTP",
            1,
        ),
    ] {
        let (outcome, kept, asked) = with(answer);
        let reasons = reasons(&outcome);
        assert!(
            matches!(outcome, Outcome::Missing { .. }) && reasons.contains(reason),
            "{reason}: {reasons}"
        );
        assert_eq!(kept, Vec::<String>::new(), "{reason}");
        assert_eq!(asked, times, "{reason}");
    }
}

#[test]
fn a_second_try_may_succeed() {
    let (outcome, kept, _) = with(Answer::SecondTime(503, fixture(NAME)));
    assert!(is_loaded(&outcome), "{outcome:?}");
    assert_eq!(kept, [NAME]);
}

#[test]
fn a_server_that_does_not_answer_is_left_alone() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let server = Server::start([("/index2.txt".to_owned(), Answer::Silence)]);
    let other = Server::start([(place(&identity, NAME), Answer::File(fixture(NAME)))]);
    let symbols = symbols(&format!("{};{}", server.url, other.url), folder.path());
    for nth in 0..3 {
        let outcome = symbols.load(&of_another_build(&format!("other{nth}.pdb")), &mut ());
        assert!(
            reasons(&outcome).contains("no answer in time"),
            "{outcome:?}"
        );
    }
    assert!(is_loaded(&symbols.load(&identity, &mut ())));
    assert_eq!(server.asked(), ["/index2.txt"], "one wait is enough");
}

/// Every byte arrives in time, but the file would take an hour.
#[test]
fn a_server_that_drips_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["one.pdb", "two.pdb", "three.pdb"].map(of_another_build);
    let drips = names
        .each_ref()
        .map(|identity| (place(identity, identity.name()), Answer::Drip(1 << 16)));
    let server = Server::start(drips);
    let symbols = symbols(&server.url, folder.path());
    let begin = std::time::Instant::now();
    for identity in &names {
        let outcome = symbols.load(identity, &mut ());
        assert!(
            reasons(&outcome).contains("it is too slow: "),
            "{outcome:?}"
        );
    }
    assert_eq!(server.files_asked().len(), 1, "one slow file is enough");
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

/// Compressed files are kept in a separate folder, since other programs that use the cache may not
/// be able to read them.
#[test]
fn compressed_files_are_asked_for_and_kept_apart() {
    let identity = identity_of(NAME);
    let packed = crate::msfz::compressed(&crate::made::streams(&fixture(NAME)), 5000);
    let folder = tempfile::tempdir().unwrap();
    let answer = Answer::IfAccepted("application/msfz0", packed.clone());
    let server = Server::start([(place(&identity, NAME), answer)]);
    let outcome = symbols(&server.url, folder.path()).load(&identity, &mut ());
    assert!(is_loaded(&outcome), "{outcome:?}");
    let kept = folder
        .path()
        .join("cache")
        .join(NAME)
        .join(identity.key())
        .join("msfz0")
        .join(NAME);
    assert_eq!(std::fs::read(kept).unwrap(), packed);
    assert_eq!(files(folder.path()), [NAME]);
    let asked = server.asked().len();
    assert!(is_loaded(
        &symbols(&server.url, folder.path()).load(&identity, &mut ())
    ));
    assert_eq!(server.asked().len(), asked, "the cache answers");

    // An unreadable file is not cached, and it is reported.
    let folder = tempfile::tempdir().unwrap();
    let mut newer = packed;
    newer[32] = 1;
    let server = Server::start([(place(&identity, NAME), Answer::File(newer))]);
    let outcome = symbols(&server.url, folder.path()).load(&identity, &mut ());
    assert!(
        reasons(&outcome).contains("compressed PDB (MSFZ) of a version that is not supported"),
        "{outcome:?}"
    );
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn a_server_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let outcome =
        symbols(&format!("http://{port}"), folder.path()).load(&identity_of(NAME), &mut ());
    let Outcome::Missing { tried } = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(tried.len(), 1, "{tried:?}");
    assert_eq!(tried[0].place, format!("http://{port}"));
}

#[test]
fn redirects_are_followed_but_not_for_ever() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let behind = Server::start([("/blob".to_owned(), Answer::File(fixture(NAME)))]);
    let server = Server::start([(
        place(&identity, NAME),
        Answer::Redirect(format!("{}/blob", behind.url)),
    )]);
    assert!(is_loaded(
        &symbols(&server.url, folder.path()).load(&identity, &mut ())
    ));
    let (outcome, ..) = with(Answer::Redirect(place(&identity, NAME)));
    assert!(
        reasons(&outcome).contains("redirects without end"),
        "{outcome:?}"
    );
    let (outcome, ..) = with(Answer::Redirect("file:///etc/passwd".to_owned()));
    assert!(matches!(outcome, Outcome::Missing { .. }), "{outcome:?}");
}

#[test]
fn pointers_of_servers_are_not_followed() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let there = folder.path().join("there.pdb");
    crate::write(&there, &fixture(NAME));
    let pointer = Answer::File(format!("PATH:{}", there.display()).into_bytes());
    let server = Server::start([(place(&identity, "file.ptr"), pointer)]);
    let outcome = symbols(&server.url, folder.path()).load(&identity, &mut ());
    assert!(reasons(&outcome).contains("not followed"), "{outcome:?}");
}

#[test]
fn packed_files_and_text_symbols() {
    let identity = identity_of(NAME);
    let sym = format!(
        "MODULE windows x86_64 {} {NAME}\nFUNC 1000 10 0 geometry::Shape::area\n",
        identity.key()
    );
    for (file, bytes, kept) in [
        (
            "shapes-x86_64.pd_",
            crate::stores::packed(&fixture(NAME)),
            NAME,
        ),
        ("shapes-x86_64.sym", sym.into_bytes(), "shapes-x86_64.sym"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start([(place(&identity, file), Answer::File(bytes))]);
        let outcome = symbols(&server.url, folder.path()).load(&identity, &mut ());
        assert!(is_loaded(&outcome), "{file}: {outcome:?}");
        assert_eq!(files(folder.path()), [kept]);
        assert!(is_loaded(
            &symbols(
                &folder.path().join("cache").display().to_string(),
                folder.path()
            )
            .load(&identity, &mut ())
        ));
    }
}

#[test]
fn several_modules_are_loaded_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["shapes-x86_64.pdb", "shapes-i686.pdb", "public-x86_64.pdb"];
    let answers = names.map(|name| (place(&identity_of(name), name), Answer::File(fixture(name))));
    let server = Server::start(answers);
    let symbols = &symbols(&server.url, folder.path());
    std::thread::scope(|scope| {
        let load = |name| {
            scope.spawn(move || {
                matches!(
                    symbols.load(&identity_of(name), &mut ()),
                    Outcome::Loaded(_)
                )
            })
        };
        let threads: Vec<_> = names.into_iter().chain(names).map(load).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
    assert_eq!(files(folder.path()).len(), 3);
}

#[test]
fn nothing_is_asked_that_is_not_configured() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), of_another_build(NAME));
    let server = Server::start([]);
    let defaults = Defaults {
        cache: None,
        nt_symbol_path: Some(server.url.clone()),
        ..Defaults::default()
    };
    let path = SearchPath::parse([folder.path().to_str().unwrap()], &defaults);
    assert!(!path.has_server());
    let outcome = Symbols::new(path, Options::default()).load(&identity, &mut ());
    assert!(matches!(outcome, Outcome::Missing { .. }));
    assert_eq!(server.asked(), Vec::<String>::new());
}
