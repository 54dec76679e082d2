//! Stack tags: the built-in rules, the meaning of rules, and invalid rule files.

use std::collections::BTreeSet;

use etwkit_testkit::Random;
use etwkit_trace::tags::{OTHER, TagFileError, TagSet, Tagged};

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
    let text = |declared: &str| {
        format!(
            "<?xml version=\"1.0\"{declared}?>\r\n<!-- c -->\r\n<Tag Name=\"\">{}</Tag>",
            one("Größe &amp; &lt;", 0, "m", "*")
        )
    };
    let mark = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    type Encoding = (&'static str, fn(&str) -> Vec<u8>);
    let encodings: [Encoding; 3] = [
        ("UTF-8", |text| text.as_bytes().to_vec()),
        ("UTF-16 LE", |text| {
            text.encode_utf16().flat_map(u16::to_le_bytes).collect()
        }),
        ("UTF-16 BE", |text| {
            text.encode_utf16().flat_map(u16::to_be_bytes).collect()
        }),
    ];
    let marks: [&[u8]; 3] = [&[0xEF, 0xBB, 0xBF], &[0xFF, 0xFE], &[0xFE, 0xFF]];
    // What a file declares is often not what it is: the bytes decide.
    for declared in [
        "",
        "utf-8",
        "utf-16",
        "windows-1252",
        "Shift_JIS",
        "nonsense",
    ] {
        let declaration = if declared.is_empty() {
            String::new()
        } else {
            format!(" encoding=\"{declared}\"")
        };
        let text = text(&declaration);
        for ((name, encoded), order) in encodings.iter().zip(marks) {
            let once = mark(order, &encoded(&text));
            let twice = mark(order, &once);
            for bytes in [encoded(&text), once, twice] {
                let set = whole(&bytes);
                assert!(set.warnings().is_empty(), "{name} {declared}");
                check(&set, &[("m!x", "Größe & <")]);
            }
        }
    }
}

#[test]
fn text_of_older_editors_and_damaged_text_are_read() {
    let old = |declared: &str| {
        let text = format!(
            "<?xml version='1.0'{declared}?><Tag Name='Gr\u{f6}\u{df}e'><Entrypoint Module='m'/></Tag>"
        );
        text.chars().map(|c| c as u8).collect::<Vec<u8>>()
    };
    let set = whole(&old(""));
    check(&set, &[("m!x", "Größe")]);
    let expected = "1:1: byte 34 (0xf6) is not UTF-8: the text is read as Windows-1252";
    assert_eq!(warnings(&set), [expected]);
    let set = whole(&old(" encoding='Windows-1252'"));
    check(&set, &[("m!x", "Größe")]);
    assert!(set.warnings().is_empty());

    let mut damaged = "<Tag Name='Größe ü'><Entrypoint Module='m'/></Tag>"
        .as_bytes()
        .to_vec();
    let last = damaged.iter().rposition(|byte| *byte == 0xBC).unwrap();
    damaged.remove(last);
    let set = whole(&damaged);
    check(&set, &[("m!x", "Größe \u{FFFD}")]);
    assert_eq!(warnings(&set).len(), 1);

    let mut wide: Vec<u8> = "<Tag Name='a!'><Entrypoint Module='m'/></Tag>"
        .encode_utf16()
        .map(|unit| {
            if unit == u16::from(b'!') {
                0xD800
            } else {
                unit
            }
        })
        .flat_map(u16::to_le_bytes)
        .collect();
    wide.push(b'x');
    let set = whole(&wide);
    check(&set, &[("m!x", "a\u{FFFD}")]);
    assert_eq!(warnings(&set).len(), 2);
    assert_eq!(
        error(&[0xFF, 0xFE, 0, 0, 60, 0, 0, 0]).expected,
        "text in UTF-8 or UTF-16"
    );
}

fn error(text: &[u8]) -> TagFileError {
    TagSet::read("own", &[("own.stacktags", text)])
        .err()
        .unwrap_or_else(|| panic!("{}", text.escape_ascii()))
}

/// A set of a whole file.
fn whole(text: &[u8]) -> TagSet {
    TagSet::read("own", &[("own.stacktags", text)]).unwrap_or_else(|error| panic!("{error}"))
}

/// The warnings, without the name of the file.
fn warnings(set: &TagSet) -> Vec<String> {
    let lines = set.warnings().lines();
    lines
        .iter()
        .map(|line| line.replacen("own.stacktags:", "", 1))
        .collect()
}

#[test]
fn what_cannot_be_followed_is_a_warning_and_the_rest_is_used() {
    // A file, what `m!x` is tagged with, and the beginning of the warning.
    let used = "<Entrypoint Module=\"m\" Method=\"x\"/>";
    for (inner, tagged, warning) in [
        (
            "<Tagg><Tag Name=\"b\"><Entrypoint Module=\"m\"/></Tag></Tagg>",
            "a",
            "2:15: <Tagg> is unknown: it is left out, with all in it",
        ),
        (
            "<Tag><Entrypoint Module=\"m\" Method=\"x*\"/></Tag>",
            "a",
            "2:15: <Tag> has no Name: its content belongs to the tag around it",
        ),
        (
            "<Tag Name=\"b\" Priority=\"high\"><Entrypoint Module=\"m\" Method=\"*\"/></Tag>",
            "a\\b",
            "2:15: Priority \"high\" is not a whole number: it counts as 0",
        ),
        (
            "<Tag Name=\"b\" Color=\"red\"><Entrypoint Module=\"m\"/></Tag>",
            "a\\b",
            "2:15: Color of <Tag> is unknown and has no effect",
        ),
        (
            "<Tag Name=\"b\" HintOperator=\"Callee\"><Entrypoint Module=\"m\"/></Tag>",
            "a\\b",
            "2:15: HintOperator has no effect: it belongs to a <HintTag>",
        ),
        (
            "<HintTag Name=\"h\"><Entrypoint Module=\"m\"/></HintTag>",
            "a\\h",
            "2:15: HintOperator is Callee or Caller, and here none",
        ),
        (
            "<HintTag Name=\"h\" HintOperator=\"Up\"><Entrypoint Module=\"m\"/></HintTag>",
            "a\\h",
            "2:15: HintOperator is Callee or Caller, and here \"Up\"",
        ),
        (
            "<HintTag Name=\"h\" HintOperator=\"callee\" OnlyShowModule=\"maybe\"><Entrypoint Module=\"m\"/></HintTag>",
            "a\\h",
            "2:15: OnlyShowModule \"maybe\" is not true or false",
        ),
        (
            "<Entrypoint/>",
            "a",
            "2:15: left out: the <Entrypoint> has neither Module nor Method",
        ),
        (
            "<Entrypoint Module=\"y\" Method=\"^x.*|y$\"/>",
            "a",
            "2:15: \"^x.*|y$\" is not read as a regular expression",
        ),
        (
            "<Entrypoint Module=\"C:\\Windows\\m\" Method=\"x\"/>",
            "a",
            "2:15: Module \"C:\\\\Windows\\\\m\" has a folder: the file name \"m\"",
        ),
        (
            "<Entrypoint Module=\"m\" Method=\"y\"><Entrypoint Module=\"m\" Method=\"z\"/></Entrypoint>",
            "a",
            "2:49: an <Entrypoint> in another one",
        ),
        (
            "<Entrypoint Module=\"m\" Module=\"n\" Method=\"x\"/>",
            "a",
            "2:15: <Entrypoint> has Module twice: the first one is used",
        ),
        (
            "<Tag Name=\"&b;\"><Entrypoint Module=\"m\"/></Tag>",
            "a\\&b;",
            "2:15: Name of <Tag> is used as it is written: an & that starts no entity of XML",
        ),
        (
            "<Tag Name=\"b & c\"><Entrypoint Module=\"m\"/></Tag>",
            "a\\b & c",
            "2:15: Name of <Tag> is used as it is written: an & that starts no entity of XML",
        ),
        (
            "<Tag Name=“b”><Entrypoint Module=\"m\"/></Tag>",
            "a\\b",
            "2:15: Name of <Tag> has typographic quotes, which are left out",
        ),
        (
            "</Entrypoint>",
            "a",
            "2:15: </Entrypoint> is left out: no element of this name is open",
        ),
    ] {
        let text = format!("<Tag Name=\"\">\n<Tag Name=\"a\">{inner}{used}</Tag></Tag>");
        let set = whole(text.as_bytes());
        check(&set, &[("m!x", tagged)]);
        let found = warnings(&set);
        assert!(
            found.len() == 1 && found[0].starts_with(warning),
            "{inner}: {found:?}"
        );
    }
}

#[test]
fn files_of_all_shapes_are_read() {
    let entry = "<Entrypoint Module=\"m\" Method=\"x\"/>";
    for (text, tagged, count) in [
        // Element and attribute names in any case, prefixes, spaces, comments, instructions.
        (
            "<TAG name=\"\"><tag NAME = 'a'><ENTRYPOINT module='M' method='x'/></tag></TAG>",
            "a",
            0,
        ),
        (
            "<s:Tag xmlns:s=\"u\" Name=\"\"><s:Tag Name=\"a\"><s:Entrypoint Module=\"m\" Method=\"x\"/></s:Tag></s:Tag>",
            "a",
            0,
        ),
        (
            "<?xml version=\"1.0\"?><?editor x?><!--- a -- b --><Tag Name=\"\"><!-- c --><Tag Name=\"a\">text<![CDATA[<Tag>]]><Entrypoint Module=\"m\" Method=\"x\"/></Tag></Tag>",
            "a",
            0,
        ),
        // No module, no method, both with stars, a debugger's name.
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Module=\"m\"/></Tag></Tag>",
            "a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Module=\"m\" Method=\"\"/></Tag></Tag>",
            "a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Method=\"x\"/></Tag></Tag>",
            "a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Method=\"m!x\"/></Tag></Tag>",
            "a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Module=\"**\" Method=\"**\"/></Tag></Tag>",
            "a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Module=\" m \" Method=\" x \"/></Tag></Tag>",
            "a",
            0,
        ),
        // Names that are empty or begin all paths; tags in hint tags.
        (
            "<Tag Name=\"\"><Tag Name=\"a\"><Tag Name=\"\">@</Tag></Tag></Tag>",
            "a",
            0,
        ),
        ("<Tag><Tag Name=\"a\">@</Tag></Tag>", "a", 0),
        ("<Tag Name=\"r\">@</Tag>", "r", 0),
        (
            "<HintTag Name=\"h\" HintOperator=\"CALLER\" OnlyShowModule=\"FALSE\"><Tag Name=\"a\">@</Tag></HintTag>",
            "h\\a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\" Priority=\"\">@</Tag></Tag>",
            "a",
            0,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\" Priority=\" -99999999999 \">@</Tag></Tag>",
            "a",
            0,
        ),
        // Not quite XML.
        ("<Tag Name=\"a\">@</Tag><Tag Name=\"b\"/>", "a", 1),
        (
            "<StackTags><Tag Name=\"\"><Tag Name=\"a\">@</Tag></Tag></StackTags>",
            "a",
            1,
        ),
        (
            "<!DOCTYPE Tag [<!ENTITY a \"aaaa\"><!ELEMENT Tag ANY>]><Tag Name=\"&amp;\">@</Tag>",
            "&",
            1,
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\">@<Entrypoint Module=\"",
            "a",
            1,
        ),
        ("<Tag Name=\"\"><Tag Name=\"a\">@</Tag><!-- ", "a", 1),
        ("<Tag Name=a>@</Tag>", "a", 0),
        ("@<Tag Name=\"a\">@</Tag>", "a", 1),
        ("<Tag Name=\"R&D\">@</Tag>", "R&D", 1),
    ] {
        let text = text.replace('@', entry);
        let set = whole(text.as_bytes());
        check(&set, &[("m!x", tagged)]);
        assert_eq!(warnings(&set).len(), count, "{text}: {:?}", warnings(&set));
    }
}

#[test]
fn a_name_can_have_typographic_quotes() {
    let set = whole("<Tag Name=\"“b” c\"><Entrypoint Module=\"m\"/></Tag>".as_bytes());
    check(&set, &[("m!x", "“b” c")]);
    assert_eq!(warnings(&set), [""; 0]);
}

#[test]
fn a_file_with_nothing_to_use_is_an_error() {
    for (text, expected) in [
        ("", "1:1: expected <Tag Name=\"\">, found the end"),
        (
            "\n <svg><g/></svg>",
            "2:2: expected <Tag Name=\"\">, found <svg>",
        ),
        ("{\"a\": 1}", "1:9: expected <Tag Name=\"\">, found the end"),
        (
            "<Tag Name=\"\">\n<Entrypoint Module=\"m\"/></Tag>",
            "2:1: expected at least one <Entrypoint> that can be used, found none: left out: the \
             <Entrypoint> is in no <Tag> with a Name",
        ),
    ] {
        let found = error(text.as_bytes());
        assert_eq!(found.to_string(), format!("own.stacktags:{expected}"));
        assert!(!found.hint().is_empty());
    }
    assert_eq!(
        error(b"PK\x03\x04\0\0\xFF").expected,
        "text in UTF-8 or UTF-16"
    );
    // A tool brings such a file, for rules to be added to.
    let empty = whole(b"<?xml version=\"1.0\"?><Tag Name=\"\">\n</Tag>");
    assert_eq!(
        warnings(&empty),
        ["1:1: there is no <Entrypoint>: the file tags nothing"]
    );
}

#[test]
fn a_hostile_file_is_bounded() {
    let entry = "<Entrypoint Module=\"m\" Method=\"x\"/>";
    let deep = format!("{}{entry}", "<Tag Name=\"a\">".repeat(100_000));
    let set = whole(format!("{entry}<Tag Name=\"b\">{entry}</Tag>{deep}").as_bytes());
    check(&set, &[("m!x", "b")]);
    let told = warnings(&set);
    let most = "left out: only 64 elements in each other are read";
    assert!(told.iter().any(|line| line.ends_with(most)), "{told:?}");

    let long = |length| {
        format!(
            "<Tag Name=\"b\">{entry}<Tag Name=\"{}\">{entry}</Tag></Tag>",
            "n".repeat(length)
        )
    };
    assert_eq!(
        warnings(&whole(long(10 << 20).as_bytes())),
        ["1:50: left out: its Name has 10485760 bytes, and 1024 are the most"]
    );
    let pattern = format!(
        "<Tag Name=\"b\">{entry}<Entrypoint Method=\"{}\"/></Tag>",
        "n".repeat(10 << 20)
    );
    assert_eq!(
        warnings(&whole(pattern.as_bytes())),
        ["1:50: left out: a pattern has 10485760 bytes, and 4096 are the most"]
    );
    assert_eq!(
        error(&vec![b' '; (32 << 20) + 1]).expected,
        "at most 32 MiB"
    );
    // Entities that would expand to gigabytes are not expanded.
    let bomb = "<!DOCTYPE t [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]><Tag Name=\"&b;\"><Entrypoint Module=\"m\"/></Tag>";
    check(&whole(bomb.as_bytes()), &[("m!x", "&b;")]);
    // An element with many attributes, and ends that fit nothing.
    let wide: String = (0..10_000).map(|n| format!(" a{n}=\"\"")).collect();
    let ends = "</x>".repeat(100_000);
    let text = format!("<Tag Name=\"b\"><Entrypoint Module=\"m\"{wide}/>{ends}</Tag>");
    let set = whole(text.as_bytes());
    check(&set, &[("m!x", "b")]);
    let last = warnings(&set).pop();
    assert!(last.is_some_and(|last| last.ends_with(" more warnings like these")));
    let stars = format!(
        "<Tag Name=\"t\"><Entrypoint Module=\"*\" Method=\"{}b\"/></Tag>",
        "*a".repeat(500)
    );
    let method = "a".repeat(1 << 20);
    assert_eq!(
        whole(stars.as_bytes()).tag(&[(Some("m"), Some(method.as_str()))]),
        None
    );
}

#[test]
fn paths_in_each_other_do_not_fill_the_memory() {
    let name = "n".repeat(1000);
    let open = format!("<Tag Name=\"{name}\">").repeat(4);
    let inner = "<Tag Name=\"i\"><Entrypoint Module=\"m\"/></Tag>".repeat(20_000);
    let set = whole(format!("{open}{inner}{}", "</Tag>".repeat(4)).as_bytes());
    let told = warnings(&set);
    assert!(
        told[0].ends_with("left out: all paths together have more than 64 MiB"),
        "{told:?}"
    );
    assert!(set.tags().map(str::len).sum::<usize>() <= 64 << 20);
}

#[test]
fn a_path_of_many_long_names_is_left_out() {
    let entry = "<Entrypoint Module=\"m\" Method=\"x\"/>";
    let open = format!("<Tag Name=\"{}\">", "n".repeat(1024)).repeat(4);
    let close = "</Tag>".repeat(4);
    let set = whole(format!("<Tag Name=\"b\">{entry}{open}{entry}{close}</Tag>").as_bytes());
    check(&set, &[("m!x", "b")]);
    let told = warnings(&set);
    assert!(
        told[0].ends_with("left out: its path has 4101 bytes, and 4096 are the most"),
        "{told:?}"
    );
}

#[test]
fn names_of_hints_do_not_fill_the_memory() {
    let around = format!("<Tag Name=\"{}\">", "n".repeat(999)).repeat(4);
    let hint = "<HintTag Name=\"h\" HintOperator=\"Callee\" OnlyShowModule=\"false\">\
                <Entrypoint Module=\"m.dll\" Method=\"*\"/></HintTag>";
    let set = whole(format!("{around}{hint}{}", "</Tag>".repeat(4)).as_bytes());
    let path = set.tags().next().unwrap();
    let methods: Vec<String> = (0..20_000).map(|number| format!("f{number}")).collect();
    let callees = methods
        .iter()
        .map(|method| (Some("c.dll"), Some(method.as_str())));
    let frames: Vec<_> = std::iter::once((Some("m.dll"), Some("x")))
        .chain(callees)
        .collect();
    let tagged = Tagged::new(&set, frames.as_slice(), frames.len(), |node| {
        ((node > 0).then_some(0), node)
    });
    let name = |stack: i32| tagged.name(tagged.tag(stack).unwrap()).unwrap();
    assert_eq!(name(1), format!("{path}\\c.dll\\f0"));
    assert_eq!(name(20_000), path);
}

#[test]
fn a_large_file_is_read_and_matched_by_an_index() {
    // 60,000 entry points, of which each pattern shape has a part.
    let shapes = [
        "Type{}::Method",
        "Prefix{}_*",
        "*Suffix{}",
        "*Middle_{}_*",
        "First{}*Last",
        "Dotted{}.Name",
    ];
    let entries: String = (0..60_000)
        .map(|n| {
            let method = shapes[n % 6].replace("{}", &n.to_string());
            format!(
                "<Tag Name=\"t{n}\"><Entrypoint Module=\"m{}.dll\" Method=\"{method}\"/></Tag>",
                n % 100
            )
        })
        .collect();
    let set = whole(format!("<Tag Name=\"\">{entries}</Tag>").as_bytes());
    assert!(set.warnings().is_empty());
    check(
        &set,
        &[
            ("m0.dll!Type600::Method", "t600"),
            ("m0.dll!Type600.Method", "t600"),
            ("M1.DLL!Prefix1201_xyz", "t1201"),
            ("m2.dll!abcSuffix602", "t602"),
            ("m3.dll!abMiddle_603_cd", "t603"),
            ("m4.dll!First604abcLast", "t604"),
            ("m5.dll!Dotted605.Name", "t605"),
            ("m6.dll!Dotted605.Name", ""),
            ("m0.dll!Type601::Method", ""),
        ],
    );
    // A frame looks at few of the rules: a hundred thousand of them take no time.
    let names: Vec<String> = (0..20_000)
        .map(|n| format!("Other{n}Middle_{}_x", n * 6 + 3))
        .collect();
    let stack: Vec<_> = names
        .iter()
        .map(|name| (Some("m3.dll"), Some(name.as_str())))
        .collect();
    let start = std::time::Instant::now();
    assert_eq!(set.tag(&stack).as_deref(), Some("t3"));
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
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
                assert!(error.line > 0 && error.column > 0, "{error}");
            }
        }
    }
    assert!(read > 1000 && refused > 20, "{read} {refused}");
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

/// Elements in each other take time in proportion to their number, whatever they are called.
#[test]
fn deep_files_are_read_at_once() {
    const DEPTH: usize = 200_000;
    for name in ["x", "Entrypoint", "Tag"] {
        let deep = format!("<{name}>").repeat(DEPTH);
        let text = format!("<Tag Name=\"\">{}</Tag>{deep}", one("a", 3, "a.dll", "*"));
        let start = std::time::Instant::now();
        let set = TagSet::read("own", &[("own.stacktags", text.as_bytes())]).unwrap();
        check(&set, &[("a.dll!f", "a")]);
        // With a walk through all open elements it would be a minute.
        assert!(
            start.elapsed().as_secs() < 5,
            "{name}: {:?}",
            start.elapsed()
        );
        assert!(!set.warnings().is_empty(), "{name}");
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    let small = format!("<Tag Name=\"\">{}</Tag>", one("a", 3, "a*.dll", "b*"));
    let default = include_str!("../../src/tags/default.stacktags");
    let seeds = [small.as_bytes(), small.as_bytes(), default.as_bytes()];
    etwkit_testkit::xml_noise::each(&seeds, |bytes| {
        if let Ok(set) = TagSet::read("own", &[("own.stacktags", bytes)]) {
            tag(&set, "ntdll.dll!NtWaitForSingleObject < a.dll!bad < ?!?");
        }
    });
}
