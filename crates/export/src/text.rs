//! Texts from traces in the form that files of other programs can hold.

/// Returns a text without characters that would end it, hide or reorder adjacent text, or that are
/// not allowed in text files: each is replaced with its number, `\u{202e}`. Longer texts end with
/// `…`.
pub(crate) fn visible(text: &str, max_chars: usize) -> String {
    let mut visible = String::with_capacity(text.len());
    for (count, c) in text.chars().enumerate() {
        if count >= max_chars {
            visible.push('…');
            break;
        }
        if is_hidden(c) {
            visible.extend(c.escape_unicode());
        } else {
            visible.push(c);
        }
    }
    visible
}

/// Returns `true` for controls, marks of direction, separators of lines, and noncharacters.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
        )
        // The last two code points of each plane of Unicode are noncharacters, and XML forbids some
        // of them.
        || u32::from(c) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, written) in [
            ("a.dll!b<c>", "a.dll!b<c>"),
            ("gut größer 名", "gut größer 名"),
            ("a\nb\0", r"a\u{a}b\u{0}"),
            ("exe.\u{202e}cod", r"exe.\u{202e}cod"),
            ("\u{ffff}", r"\u{ffff}"),
            ("0123456789abcdefghijk", "0123456789abcdefghij…"),
        ] {
            assert_eq!(visible(text, 20), written);
        }
    }
}
