//! Values, errors and skipped content.

use super::*;

fn reader(text: &str) -> Reader {
    Reader::new(
        "x.json",
        Box::new(std::io::Cursor::new(text.as_bytes().to_vec())),
    )
    .unwrap()
}

fn text(json: &str) -> String {
    reader(json).text().unwrap().unwrap()
}

#[test]
fn texts_have_all_escapes() {
    for (json, expected) in [
        (r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
        (r#""\u00e4\u20AC""#, "ä€"),
        (r#""\ud83d\ude00!""#, "😀!"),
        (r#""\ud83d!""#, "\u{FFFD}!"),
        (r#""\ud83d\n""#, "\u{FFFD}\n"),
        (r#""\ud83d\u0041""#, "\u{FFFD}A"),
        (r#""\ude00""#, "\u{FFFD}"),
        ("\u{FEFF}\"ä\"", "ä"),
    ] {
        assert_eq!(text(json), expected, "{json}");
    }
}

#[test]
fn texts_longer_than_the_buffer_are_whole() {
    for length in [CHUNK - 2, CHUNK - 1, CHUNK, 3 * CHUNK] {
        let long = "x".repeat(length);
        assert_eq!(
            text(&format!("\"{long}\\n{long}\"")),
            format!("{long}\n{long}")
        );
    }
}

#[test]
fn a_text_without_an_end_is_given_up() {
    let endless = Box::new(std::io::Cursor::new(b"\"").chain(std::io::repeat(b'x')));
    let error = Reader::new("x.json", endless).unwrap().text().unwrap_err();
    assert!(format!("{error:?}").contains("a longer one"), "{error:?}");
}

#[test]
fn numbers_have_their_types() {
    assert_eq!(reader("-12 ").int().unwrap(), Some(-12));
    assert_eq!(reader("3.0").int().unwrap(), Some(3));
    assert_eq!(reader("1E+3").int().unwrap(), Some(1000));
    assert_eq!(
        reader("18446677618096345104").bits().unwrap(),
        Some(18_446_677_618_096_345_104u64 as i64)
    );
    assert_eq!(
        reader("18446677618096345104").int().unwrap(),
        Some(i64::MAX)
    );
    assert_eq!(reader("1.5E-05").float().unwrap(), Some(1.5e-5));
    assert_eq!(
        (
            reader("null").int().unwrap(),
            reader("\"NaN\"").float().unwrap()
        ),
        (None, None)
    );
    for (json, what) in [
        ("1.5", "the number 1.5"),
        ("\"1\"", "a text"),
        ("--", "the number --"),
    ] {
        let error = reader(json).int().unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("expected a whole number, found {what}")),
            "{error}"
        );
    }
}

#[test]
fn simple_values_are_texts() {
    for (json, expected) in [
        ("133590312000000001", Some("133590312000000001")),
        ("-3.0", Some("-3")),
        ("1.5E-05", Some("0.000015")),
        ("true", Some("true")),
        ("\"C:\"", Some("C:")),
        ("\"\"", None),
        ("null", None),
        ("[1]", None),
    ] {
        assert_eq!(
            reader(json).simple().unwrap().as_deref(),
            expected,
            "{json}"
        );
    }
    assert!(reader("1e400").simple().is_err());
}

#[test]
fn texts_that_are_numbered_keep_their_places() {
    assert_eq!(
        reader(r#"["a", null, "b"]"#).texts().unwrap(),
        ["a", "", "b"]
    );
}

#[test]
fn an_error_names_the_member_and_its_place() {
    let mut reader = reader("{\n  \"CPU\": {\"Costs\": [1, 2,\n 3, \"x\"]}}");
    let read = reader.object(|reader, _| {
        reader
            .object(|reader, _| reader.list(|reader| reader.int().map(|_| ())).map(|_| ()))
            .map(|_| ())
    });
    assert_eq!(
        read.unwrap_err().to_string(),
        "x.json: CPU.Costs[3] (line 3, column 5): expected a whole number, found a text"
    );
}

#[test]
fn unknown_members_are_passed_over_and_counted() {
    let json = r#"{"list": [{"a": 1, "b": {"c": [[], {}, null, "\"]}", -1.5e3, true]}}, {"b": 2}], "z": [] }"#;
    let mut reader = reader(json);
    let mut sum = 0;
    reader
        .object(|reader, name| match name {
            "list" => reader
                .list(|reader| {
                    let each = |reader: &mut Reader, name: &str| match name {
                        "a" => {
                            sum += reader.given(Reader::int)?;
                            Ok(())
                        }
                        _ => reader.unknown(),
                    };
                    reader.object(each).map(|_| ())
                })
                .map(|_| ()),
            _ => reader.unknown(),
        })
        .unwrap();
    reader.end().unwrap();
    assert_eq!(sum, 1);
    assert_eq!(
        reader.into_unknown().into_iter().collect::<Vec<_>>(),
        [("list[].b".to_owned(), 2), ("z".to_owned(), 1)]
    );
}

#[test]
fn broken_values_are_errors_and_do_not_hang() {
    for json in [
        "",
        "{",
        "[",
        "[1",
        "[1,",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{1:2}",
        "[1 2]",
        "\"abc",
        "\"\\x\"",
        "\"\\u12\"",
        "nul",
        "tru",
        "{\"a\":[}",
        "[1}",
        "\"\\ud83d",
        "+1",
        "}",
    ] {
        let error = reader(json).skip().unwrap_err();
        assert!(
            matches!(&error, Failure::Json(error) if error.hint().is_some()),
            "{json:?}: {error}"
        );
    }
    let deep = "[".repeat(100_000);
    assert!(
        reader(&deep)
            .skip()
            .unwrap_err()
            .to_string()
            .contains("1000 levels")
    );
    let mut invalid =
        Reader::new("x", Box::new(std::io::Cursor::new(b"\"\xFF\"".to_vec()))).unwrap();
    assert!(invalid.skip().unwrap_err().to_string().contains("UTF-8"));
}
