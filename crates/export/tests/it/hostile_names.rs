//! Names that would end a name, escape from it or make it a path, in each format of stacks.

use etwkit_export::{ExportRequest, format};
use serde_json::Value;

use super::made_stacks::{named, session};
use super::pictures::Picture;
use super::pprof::Profile;

/// Names for a program, a module, and methods, each used once.
const NAMES: [&str; 15] = [
    "a;b 7",
    "a\nb 7\r\nc",
    "\0\u{1}\u{1b}[31mred",
    "\"],\"weights\":[1]}",
    "\\",
    "</title></g></svg><script>alert(1)</script>",
    "]]><!--&lt;&#0;%s",
    "' onload='alert(1)",
    "..\\..\\windows\\a.dll",
    "../../etc/passwd",
    r"\\host\share\a.dll",
    "exe.\u{202e}cod\u{2028}x\u{feff}",
    "\u{ffff}\u{fffe}\u{10ffff}",
    "名前 größer 🔥",
    "",
];

fn written(name: &str, to: &str) -> Vec<u8> {
    let session = named(&[name; 5]);
    let request = ExportRequest {
        name: name.into(),
        process_roots: true,
        ..ExportRequest::default()
    };
    let mut out = Vec::new();
    let written = request
        .write(format(to).unwrap(), &session, &mut out)
        .unwrap();
    assert_eq!(
        (written.stacks, written.total_ns),
        (5, 6 * super::made_stacks::WEIGHT),
        "{name:?}"
    );
    out
}

/// Frames of one stack: the process, and a method that called another.
fn frames(name: &str) -> [String; 2] {
    [format!("{name} (8)"), format!("{name}!{name}")]
}

#[test]
fn a_cpu_profile_of_v8_has_every_name_as_it_is() {
    for name in NAMES {
        let file: Value = serde_json::from_slice(&written(name, "cpuprofile")).unwrap();
        let nodes = file["nodes"].as_array().unwrap();
        let names: Vec<&str> = nodes
            .iter()
            .map(|node| node["callFrame"]["functionName"].as_str().unwrap())
            .collect();
        assert!(
            frames(name)
                .iter()
                .all(|frame| names.contains(&frame.as_str())),
            "{name:?}: {names:?}"
        );
        assert_eq!(
            (
                file.as_object().unwrap().len(),
                file["samples"].as_array().unwrap().len()
            ),
            (5, 10)
        );
    }
}

#[test]
fn speedscope_has_every_name_as_it_is() {
    for name in NAMES {
        let file: Value = serde_json::from_slice(&written(name, "speedscope")).unwrap();
        let names: Vec<&str> = file["shared"]["frames"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["name"].as_str().unwrap())
            .collect();
        assert!(
            frames(name)
                .iter()
                .all(|frame| names.contains(&frame.as_str())),
            "{name:?}: {names:?}"
        );
        assert_eq!(
            (&file["name"], file.as_object().unwrap().len()),
            (&Value::from(name), 6),
            "{name:?}"
        );
        assert_eq!(file["profiles"].as_array().unwrap().len(), 1);
        assert_eq!(
            file["profiles"][0]["weights"].as_array().unwrap().len(),
            5,
            "{name:?}"
        );
    }
}

#[test]
fn folded_has_one_line_for_a_stack_whatever_its_names_are() {
    let depths = |text: &str| {
        let depth = |line: &str| {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            assert!(weight.parse::<i64>().is_ok(), "{line:?}");
            stack.split(';').count()
        };
        let mut depths: Vec<usize> = text.lines().map(depth).collect();
        depths.sort_unstable();
        depths
    };
    for name in NAMES {
        let text = String::from_utf8(written(name, "folded")).unwrap();
        assert_eq!(depths(&text), [2, 2, 3, 3, 3], "{name:?}: {text}");
        assert!(
            !text.contains(['\0', '\r', '\u{1b}', '\u{2028}', '\u{85}']),
            "{name:?}"
        );
    }
}

#[test]
fn a_picture_holds_nothing_but_frames_and_texts() {
    for name in NAMES {
        let text = String::from_utf8(written(name, "svg")).unwrap();
        assert!(
            !text.contains([
                '\0', '\u{1b}', '\u{202e}', '\u{2028}', '\u{feff}', '\u{ffff}'
            ]),
            "{name:?}"
        );
        let picture = Picture::read(&text);
        let title = picture
            .frames
            .iter()
            .map(|frame| frame.name.clone())
            .collect::<Vec<_>>();
        let shown: String = name.chars().filter(char::is_ascii_graphic).collect();
        let squeezed = |text: &String| {
            text.chars()
                .filter(char::is_ascii_graphic)
                .collect::<String>()
        };
        if name.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            assert!(
                title
                    .iter()
                    .any(|title| squeezed(title) == format!("{shown}!{shown}")),
                "{name:?}: {title:?}"
            );
        }
        assert_eq!(picture.frames.len(), 2 + 3 + 3, "{name:?}: {title:?}");
    }
}

#[test]
fn pprof_has_names_that_can_be_seen_and_no_paths() {
    for name in NAMES {
        let profile = Profile::read(&written(name, "pprof"));
        assert_eq!(profile.samples.len(), 5, "{name:?}");
        assert!(
            profile
                .strings
                .iter()
                .all(|text| !text.chars().any(char::is_control)),
            "{name:?}"
        );
        let files: Vec<&String> = profile.mappings.iter().map(|(file, _)| file).collect();
        assert!(
            files
                .iter()
                .all(|file| !file.contains(['/', '\\']) || file.contains("\\u{")),
            "{files:?}"
        );
        if name.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            let [_, method] = frames(name);
            assert!(profile.strings.contains(&method), "{name:?}");
        }
    }
}

#[test]
fn numbers_do_not_depend_on_names() {
    let request = ExportRequest {
        process_roots: true,
        ..ExportRequest::default()
    };
    let mut out = Vec::new();
    let written = request
        .write(format("folded").unwrap(), &session(), &mut out)
        .unwrap();
    assert_eq!((written.stacks, written.frames), (5, 6));
}
