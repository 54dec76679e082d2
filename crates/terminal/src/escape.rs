//! Escapes of untrusted text: no string from a trace reaches a terminal unescaped.
//!
//! Escape sequences could hide or forge output, bidirectional controls could reorder it.

use std::borrow::Cow;
use std::fmt::Write;

/// True if the character can change how other characters are displayed: C0 and C1 controls, DEL,
/// bidirectional controls, line and paragraph separators.
const fn is_hostile(c: char) -> bool {
    matches!(c, '\0'..='\x1F' | '\x7F'..='\u{9F}' | '\u{61C}' | '\u{200E}' | '\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text with every hostile character escaped: `\t`, `\n`, `\r`, otherwise `\u{1b}`.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, |c, out| match c {
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c => out.extend(c.escape_unicode()),
    })
}

/// Returns JSON with every hostile character escaped as `\u001b`. The rules of JSON cover only the
/// C0 controls. The other characters are legal in strings, and occur nowhere else.
#[must_use]
pub fn json_text(json: &str) -> Cow<'_, str> {
    escape(json, |c, out| {
        let _ = write!(out, "\\u{:04x}", u32::from(c));
    })
}

fn escape(text: &str, one: impl Fn(char, &mut String)) -> Cow<'_, str> {
    // Nearly all texts are harmless, and answers have millions of them.
    let Some(first) = text.find(is_hostile) else {
        return Cow::Borrowed(text);
    };
    let (good, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(good);
    for c in rest.chars() {
        if is_hostile(c) {
            one(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_is_not_copied() {
        for harmless in [
            "",
            "C:\\Windows\\x.exe",
            "Grüße 日本 🎉",
            "a\u{A0}b\u{200D}c\u{200B}",
        ] {
            assert!(matches!(text(harmless), Cow::Borrowed(same) if same == harmless));
        }
    }

    #[test]
    fn controls_are_escaped() {
        assert_eq!(text("a\x1B[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(text("a\tb\nc\rd\0"), "a\\tb\\nc\\rd\\u{0}");
        assert_eq!(
            text("\x7F\u{80}\u{9B}\u{9F}"),
            "\\u{7f}\\u{80}\\u{9b}\\u{9f}"
        );
    }

    #[test]
    fn bidirectional_controls_and_separators_are_escaped() {
        let hostile = (0x202A..=0x202E)
            .chain(0x2066..=0x2069)
            .chain([0x200E, 0x200F, 0x061C, 0x2028, 0x2029]);
        for code in hostile {
            let c = char::from_u32(code).unwrap();
            assert_eq!(
                text(&format!("gpj.{c}exe")),
                format!("gpj.\\u{{{code:x}}}exe")
            );
            assert_eq!(json_text(&format!("\"{c}\"")), format!("\"\\u{code:04x}\""));
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{9B}": "x\x1B[0m\x7F\u{202E}\n"});
        let printed = value.to_string();
        let printed = json_text(&printed);
        assert_eq!(printed, r#"{"a\u009b":"x\u001b[0m\u007f\u202e\n"}"#);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&printed).unwrap(),
            value
        );
    }
}
