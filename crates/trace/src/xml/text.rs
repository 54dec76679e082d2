//! The characters of a file.

use std::borrow::Cow;

use etwkit_base::code_page::of_windows_1252;

/// The byte order mark, which may stand in front of a text.
const MARK: char = '\u{FEFF}';

/// The characters of a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'b> {
    /// The characters, without a byte order mark.
    pub text: Cow<'b, str>,
    /// What was lost or guessed.
    pub doubts: Vec<String>,
}

impl<'b> Text<'b> {
    /// Decodes UTF-8 and UTF-16, both with and without a byte order mark, and the encoding of
    /// older editors, Windows-1252. The bytes decide, not the declaration, which editors often
    /// leave as it was. `None` if the bytes are no text.
    #[must_use]
    pub fn decode(bytes: &'b [u8]) -> Option<Self> {
        let text = match bytes {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => None,
            [0xFF, 0xFE, rest @ ..] => Some(wide(rest, u16::from_le_bytes)),
            [0xFE, 0xFF, rest @ ..] => Some(wide(rest, u16::from_be_bytes)),
            [0xEF, 0xBB, 0xBF, rest @ ..] => narrow(rest),
            // The first two characters of XML are never beyond ASCII.
            [1..=0xFF, 0, 1..=0xFF, 0, ..] => Some(wide(bytes, u16::from_le_bytes)),
            [0, 1..=0xFF, 0, 1..=0xFF, ..] => Some(wide(bytes, u16::from_be_bytes)),
            _ => narrow(bytes),
        };
        text.map(Self::without_marks)
    }

    /// Leaves out further byte order marks, which editors add to a text that has one. The reader of
    /// XML would leave them out without counting them, so that all places were wrong.
    fn without_marks(self) -> Self {
        let text = match self.text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches(MARK)),
            Cow::Owned(text) if text.starts_with(MARK) => {
                Cow::Owned(text.trim_start_matches(MARK).to_owned())
            }
            text => text,
        };
        Self { text, ..self }
    }

    const fn certain(text: Cow<'b, str>) -> Self {
        Self {
            text,
            doubts: Vec::new(),
        }
    }
}

/// UTF-16, with the byte order of `unit`.
fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Text<'static> {
    let (pairs, rest) = bytes.as_chunks();
    let mut damaged = 0_usize;
    let characters = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
    let text: String = characters
        .map(|character| {
            character.unwrap_or_else(|_| {
                damaged += 1;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    let mut doubts = Vec::new();
    if damaged > 0 {
        doubts.push(format!(
            "{damaged} characters of the text in UTF-16 are damaged: \u{FFFD} stands for each"
        ));
    }
    if !rest.is_empty() {
        doubts.push("the text in UTF-16 ends inside a character".to_owned());
    }
    Text {
        text: Cow::Owned(text),
        doubts,
    }
}

/// UTF-8, or Windows-1252 if it is not.
fn narrow(bytes: &[u8]) -> Option<Text<'_>> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Some(Text::certain(Cow::Borrowed(text))),
        Err(error) => error,
    };
    if bytes.contains(&0) {
        return None;
    }
    let position = error.valid_up_to();
    let byte = *bytes.get(position)?;
    // A text with characters of several bytes is UTF-8 with damage; one without them was never
    // UTF-8.
    let is_damaged = !bytes.get(..position)?.is_ascii();
    if is_damaged {
        return Some(Text {
            text: String::from_utf8_lossy(bytes),
            doubts: vec![format!(
                "byte {position} ({byte:#04x}) is not UTF-8: \u{FFFD} stands for damaged characters"
            )],
        });
    }
    let text = bytes.iter().map(|byte| of_windows_1252(*byte)).collect();
    let is_declared = declared(bytes).is_some_and(|name| {
        let known = ["windows-1252", "iso-8859-1", "latin1", "us-ascii", "cp1252"];
        known.contains(&name.as_str())
    });
    let doubt =
        || format!("byte {position} ({byte:#04x}) is not UTF-8: the text is read as Windows-1252");
    Some(Text {
        text: Cow::Owned(text),
        doubts: if is_declared {
            Vec::new()
        } else {
            vec![doubt()]
        },
    })
}

/// The encoding that the declaration names, in lower case.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..bytes.len().min(200))?;
    let head: String = head.iter().map(|byte| char::from(*byte)).collect();
    let declaration = head.strip_prefix("<?xml")?.split_once("?>")?.0;
    let value = declaration.split_once("encoding")?.1.trim_start();
    let value = value.strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let name = value.strip_prefix(quote)?.split_once(quote)?.0;
    Some(name.to_lowercase())
}
