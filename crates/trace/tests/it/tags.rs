//! Stack tags: the built-in rules, the meaning of rules, and invalid rule files.

use std::collections::BTreeSet;

use etwkit_testkit::Random;
use etwkit_trace::tags::{OTHER, TagFileError, TagSet};

const CASES: &str = include_str!("../data/default-stacktags.txt");

/// `module!method`, or `?` if unknown.
fn frame(text: &str) -> (Option<&str>, Option<&str>) {
    let known = |text| Some(text).filter(|text| *text != "?");
    let (module, method) = text
        .split_once('!')
        .unwrap_or_else(|| panic!("{text:?} is no frame"));
    (known(module), known(method))
}

/// `innermost < … < outermost`.
fn tag(set: &TagSet, stack: &str) -> Option<String> {
    set.tag(&stack.split(" < ").map(frame).collect::<Vec<_>>())
}

/// A set of one file with these tags.
fn set(tags: &str) -> TagSet {
    let text = format!("<Tag Name=\"\">{tags}</Tag>");
    TagSet::read("own", &[("own.stacktags", text.as_bytes())])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A tag with one entry point.
fn one(name: &str, priority: i32, module: &str, method: &str) -> String {
    format!(
        "<Tag Name=\"{name}\" Priority=\"{priority}\"><Entrypoint Module=\"{module}\" Method=\"{method}\"/></Tag>"
    )
}

fn check(set: &TagSet, cases: &[(&str, &str)]) {
    for (stack, expected) in cases {
        assert_eq!(tag(set, stack).unwrap_or_default(), *expected, "{stack}");
    }
}

#[test]
fn the_default_rules_name_what_is_known_of_windows() {
    let set = TagSet::built_in();
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    for case in CASES
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let (stack, expected) = case.split_once(" => ").unwrap();
        let found = tag(&set, stack).unwrap();
        if found != expected {
            wrong.push(format!(
                "{stack}\n  found    {found}\n  expected {expected}"
            ));
        }
        met.insert(expected.to_owned());
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        CASES.lines().count(),
        wrong.join("\n")
    );
    // A tag with a callee in its path has another path than its rule.
    let missing = |tag: &&str| {
        !met.iter()
            .any(|met| met == tag || met.starts_with(&format!("{tag}\\")))
    };
    let missing: Vec<&str> = set.tags().filter(missing).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn an_unknown_stack_is_other_in_the_default_set_alone() {
    assert_eq!(tag(&TagSet::built_in(), "?!?").as_deref(), Some(OTHER));
    assert_eq!(tag(&set(&one("A", 0, "a", "*")), "?!?"), None);
    assert_eq!(TagSet::built_in().tag(&[]).as_deref(), Some(OTHER));
}

#[test]
fn the_highest_priority_wins_then_the_innermost_frame() {
    let tags = [
        one("A", 0, "m", "a"),
        one("B", 0, "m", "b"),
        one("High", 5, "m", "high"),
        one("Low", -3, "m", "low"),
        one("Lowest", i32::MIN, "m", "lowest"),
    ];
    check(
        &set(&tags.concat()),
        &[
            ("m!a < m!b", "A"),
            ("m!b < m!a", "B"),
            ("m!x < m!b < m!x < m!a", "B"),
            ("m!a < m!b < m!high < m!b", "High"),
            ("m!low < m!a", "A"),
            ("m!x < m!low < m!x", "Low"),
            ("m!lowest", "Lowest"),
            ("m!a < m!a < m!b < m!a", "A"),
            ("m!x", ""),
        ],
    );
}

#[test]
fn a_path_names_the_tags_around_and_inherits_no_priority() {
    let tags = "<Tag Name=\"P\" Priority=\"9\"><Entrypoint Module=\"m\" Method=\"*\"/>\
        <Tag Name=\"C\\why\"><Entrypoint Module=\"m\" Method=\"c\"/>\
        <Tag Name=\"G\" Priority=\"9\"><Entrypoint Module=\"m\" Method=\"g\"/></Tag></Tag></Tag>";
    // Among rules for the same frame and priority, a child comes before its parents.
    check(
        &set(tags),
        &[
            ("m!c", "P"),
            ("m!g", "P\\C\\why\\G"),
            ("m!g < m!x", "P\\C\\why\\G"),
        ],
    );
}

#[test]
fn modules_match_in_any_case_and_methods_in_both_spellings() {
    let tags = [
        one("File", 0, "NTDLL*", "Nt*File"),
        one("Net", 0, "*", "N.T::M"),
    ]
    .concat();
    check(
        &set(&tags),
        &[
            ("ntdll.dll!NtCreateFile", "File"),
            ("NtDll.DLL!NtCreateFile", "File"),
            ("ntdll.dll!ntcreatefile", ""),
            ("xntdll.dll!NtCreateFile", ""),
            ("a.ni.dll!N.T.M", "Net"),
            ("?!N.T::M", "Net"),
            ("a!N.T.M2", ""),
        ],
    );
}

#[test]
fn only_a_star_alone_matches_a_method_without_a_name() {
    let tags = [one("Any", 0, "m", "*"), one("Some", 1, "m", "*x*")].concat();
    check(
        &set(&tags),
        &[("m!?", "Any"), ("m!ax", "Some"), ("?!?", "")],
    );
}

#[test]
fn a_hint_adds_the_frame_beside_the_one_that_matches() {
    let hint = |name: &str, operator: &str, rest: &str| {
        format!(
            "<HintTag Name=\"{name}\" HintOperator=\"{operator}\"{rest}><Entrypoint Module=\"m\" Method=\"{name}\"/></HintTag>"
        )
    };
    let tags = [
        hint("callee", "Callee", " OnlyShowModule=\"false\""),
        hint("module", "Callee", ""),
        hint("caller", "Caller", " OnlyShowModule=\"false\""),
        one("Strong", 1, "m", "strong"),
        one("Equal", 0, "m", "equal"),
    ];
    check(
        &set(&tags.concat()),
        &[
            ("x!y < a!b < m!callee < m!z", "callee\\a\\b"),
            ("a!? < m!callee", "callee\\a"),
            ("?!? < m!callee", "callee\\Unknown"),
            // There is no callee, or no caller.
            ("m!callee", "callee"),
            ("m!caller", "caller"),
            ("a!b < m!module", "module\\a"),
            ("m!caller < a!b", "caller\\a\\b"),
            ("x!y < m!caller < a!b", "caller\\a\\b"),
            // It calls itself: the inner one counts.
            ("a!b < m!callee < m!callee", "callee\\a\\b"),
            ("m!strong < m!callee", "Strong"),
            ("a!b < m!callee < m!strong", "Strong"),
            ("m!equal < m!callee", "Equal"),
        ],
    );
}

#[test]
fn entry_points_may_be_closed_by_an_element_of_their_own() {
    let tags = "<Tag Name=\"A\"><Entrypoint Module=\"m\" Method=\"a\"></Entrypoint><Entrypoint Module=\"m\" Method=\"b\"> </Entrypoint>\
        <Tag Name=\"B\"><Entrypoint Module=\"m\" Method=\"c\"/></Tag></Tag>";
    check(&set(tags), &[("m!a", "A"), ("m!b", "A"), ("m!c", "A\\B")]);
}

#[test]
fn several_files_are_one_set() {
    let file = |name, priority| format!("<Tag Name=\"\">{}</Tag>", one(name, priority, "m", "*"));
    let read = |first: &str, second: &str| {
        TagSet::read("both", &[("1", first.as_bytes()), ("2", second.as_bytes())]).unwrap()
    };
    check(&read(&file("A", 0), &file("B", 0)), &[("m!x", "A")]);
    check(&read(&file("A", 0), &file("B", 1)), &[("m!x", "B")]);
    let (ab, ba) = (
        read(&file("A", 0), &file("B", 0)),
        read(&file("B", 0), &file("A", 0)),
    );
    assert_ne!(ab.fingerprint(), ba.fingerprint());
    assert_eq!(
        ab.fingerprint(),
        read(&file("A", 0), &file("B", 0)).fingerprint()
    );
}

#[test]
fn files_are_read_in_the_encodings_of_windows() {
    let text = format!(
        "<?xml version=\"1.0\"?>\r\n<!-- c -->\r\n<Tag Name=\"\">{}</Tag>",
        one("Größe &amp; &lt;", 0, "m", "*")
    );
    let units = text.encode_utf16();
    let wide: Vec<u8> = units.clone().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units.flat_map(u16::to_be_bytes).collect();
    let mark = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for bytes in [
        text.as_bytes().to_vec(),
        mark(&[0xEF, 0xBB, 0xBF], text.as_bytes()),
        mark(&[0xFF, 0xFE], &wide),
        mark(&[0xFE, 0xFF], &big),
    ] {
        check(
            &TagSet::read("w", &[("w", &bytes)]).unwrap(),
            &[("m!x", "Größe & <")],
        );
    }
}

fn error(text: &[u8]) -> TagFileError {
    TagSet::read("own", &[("own.stacktags", text)])
        .err()
        .unwrap_or_else(|| panic!("{}", text.escape_ascii()))
}

#[test]
fn errors_name_place_and_expectation() {
    let root = "<Tag Name=\"\">\n";
    for (inner, expected) in [
        (
            "  <Tagg/>",
            "2:3 (byte 16): expected <Tag>, <HintTag> or <Entrypoint>, found <Tagg>",
        ),
        (
            "  <Tag/>",
            "2:3 (byte 16): expected an attribute Name, found <Tag> without one",
        ),
        (
            "<Tag Name=\"\"/>",
            "2:1 (byte 14): expected a Name, found Name=\"\"",
        ),
        (
            "<Tag Name=\"a\" Priority=\"high\"/>",
            "2:1 (byte 14): expected a whole number as Priority, found \"high\"",
        ),
        (
            "<Entrypoint Module=\"\" Method=\"\"/>",
            "2:1 (byte 14): expected <Entrypoint> in a <Tag> with a Name, found one outside",
        ),
        (
            "<Tag Name=\"ä\"><Entrypoint Module=\"m\"/></Tag>",
            "2:15 (byte 29): expected an attribute Method, found <Entrypoint> without one",
        ),
        (
            "<HintTag Name=\"h\"/>",
            "2:1 (byte 14): expected an attribute HintOperator, found <HintTag> without one",
        ),
        (
            "<HintTag Name=\"h\" HintOperator=\"Up\"/>",
            "2:1 (byte 14): expected Callee or Caller as HintOperator, found \"Up\"",
        ),
        (
            "<HintTag Name=\"h\" HintOperator=\"Callee\" OnlyShowModule=\"maybe\"/>",
            "2:1 (byte 14): expected true or false as OnlyShowModule, found \"maybe\"",
        ),
        (
            "<HintTag Name=\"h\" HintOperator=\"Callee\"><Tag Name=\"t\"/></HintTag>",
            "2:41 (byte 54): expected <Entrypoint> in a <HintTag>, found <Tag>",
        ),
    ] {
        let found = error(format!("{root}{inner}</Tag>").as_bytes());
        assert_eq!(found.to_string(), format!("own.stacktags:{expected}"));
        assert!(!found.hint().is_empty());
    }
    let starts = |text: &[u8], expected: &str| {
        let found = error(text).to_string();
        assert!(found.contains(&format!("expected {expected}")), "{found}");
    };
    starts(b"", "<Tag Name=\"\">");
    starts(b"<Tag Name=\"\"><Tag Name=\"a\">", "</Tag> for \"a\"");
    starts(
        b"<Tag Name=\"\"></Tag><Tag Name=\"\"/>",
        "one <Tag> around everything",
    );
    starts(
        b"<Tag Name=\"t\"><Entrypoint Module=\"\" Method=\"\"><Tag Name=\"a\"/></Entrypoint></Tag>",
        "</Entrypoint>",
    );
    starts(b"<StackTags/>", "<Tag Name=\"\"> around everything");
    starts(b"<Tag Name=\"\"></Tagg>", "well-formed XML");
    starts(b"<Tag Name=\"&other;\"/>", "a value with known entities");
    starts(
        b"<!DOCTYPE t [<!ENTITY a \"aaaa\">]><Tag Name=\"&a;\"/>",
        "no document type",
    );
    starts(b"<Tag Name=\"\xFF\"/>", "text in UTF-8 or UTF-16");
}

#[test]
fn a_hostile_file_is_bounded() {
    let deep = "<Tag Name=\"a\">".repeat(1000);
    assert_eq!(
        error(deep.as_bytes()).expected,
        "at most 16 tags in each other"
    );
    let many = format!(
        "<Tag Name=\"\">{}</Tag>",
        "<Tag Name=\"a\"/>".repeat(30_000)
    );
    assert_eq!(error(many.as_bytes()).expected, "at most 20000 elements");
    assert_eq!(error(&vec![b' '; (8 << 20) + 1]).expected, "at most 8 MiB");
    let long = |length| format!("<Tag Name=\"{}\"/>", "n".repeat(length));
    assert_eq!(
        error(long(257).as_bytes()).expected,
        "Name of at most 256 bytes"
    );
    let stars = format!(
        "<Tag Name=\"t\"><Entrypoint Module=\"*\" Method=\"{}b\"/></Tag>",
        "*a".repeat(500)
    );
    let set = TagSet::read("stars", &[("stars", stars.as_bytes())]).unwrap();
    let method = "a".repeat(1 << 20);
    assert_eq!(set.tag(&[(Some("m"), Some(method.as_str()))]), None);
}

#[test]
fn damaged_files_are_errors_or_rules() {
    let file = "<?xml version=\"1.0\"?><Tag Name=\"\"><!-- ä --><Tag Name=\"A\" Priority=\"-1\"><Entrypoint Module=\"m*\" Method=\"*::x\"/>\
        <HintTag Name=\"&amp;h\" HintOperator=\"Callee\" OnlyShowModule=\"false\"><Entrypoint Module='*' Method=\"*y*\"/></HintTag></Tag></Tag>";
    let (mut random, mut read, mut refused) = (Random::new(7), 0, 0);
    for _ in 0..5000 {
        let mut bytes = file.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let (at, size) = (random.below(bytes.len()), random.below(40));
            let end = (at + size).min(bytes.len());
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = b"<>\"'&/*?!-\0\xFF"[random.below(12)],
                2 => _ = bytes.drain(at..end),
                _ => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'<');
            }
        }
        match TagSet::read("damaged", &[("damaged", &bytes)]) {
            Ok(set) => {
                read += 1;
                let stack = [
                    (Some("m1"), Some("a::xy")),
                    (None, None),
                    (Some("m2"), Some("N.x")),
                ];
                assert!(set.tag(&stack).is_none_or(|tag| tag.len() < 4096));
            }
            Err(error) => {
                refused += 1;
                assert!(
                    error.offset <= bytes.len() && error.line > 0 && error.column > 0,
                    "{error}"
                );
            }
        }
    }
    assert!(read > 100 && refused > 1000, "{read} {refused}");
}

#[test]
fn the_default_tags_have_the_words_that_people_ask_for() {
    let set = TagSet::built_in();
    for word in [
        "virus",
        "checkpoint",
        "defender",
        "sleep",
        "gc",
        "jit",
        "firewall",
        "openmp",
        "registry",
        "lock",
    ] {
        assert!(
            set.tags().any(|tag| tag.to_lowercase().contains(word)),
            "{word}"
        );
    }
    let products = [
        "AppLocker",
        "Avast",
        "CrowdStrike",
        "CyberArk",
        "Defender",
        "ESET",
        "McAfee",
        "Palo Alto",
        "SentinelOne",
        "Sophos",
        "Symantec",
        "Trend Micro",
        "Elastic",
        "Bitdefender",
        "HP Sure Click",
        "Carbon Black",
    ];
    for product in products {
        let is_meant = |tag: &str| tag.starts_with("Antivirus\\") && tag.contains(product);
        assert!(set.tags().any(is_meant), "{product}");
    }
}
