//! Self-contained HTML pages: no script, no external resources; light, dark, printable.

use std::fmt::{Display, Formatter, Result, Write as _};

use etwkit_base::escape::xml_entity;

/// Text of a page, escaped, since names come from files of strangers. Characters that are invisible or change
/// the direction of text are written as their numbers.
pub(crate) struct Text<'t>(pub(crate) &'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for letter in self.0.chars() {
            match xml_entity(letter) {
                Some(entity) => f.write_str(entity)?,
                None => write_visible(f, letter)?,
            }
        }
        Ok(())
    }
}

/// Writes a letter, or its number if it is invisible or changes the direction of text.
pub(crate) fn write_visible(f: &mut Formatter<'_>, letter: char) -> Result {
    match letter {
        '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => write!(f, "\\u{{{:x}}}", u32::from(letter)),
        letter if letter.is_control() => write!(f, "\\x{:02x}", u32::from(letter)),
        letter => f.write_char(letter),
    }
}

/// Returns the first lines of a page of a command, with which no other file starts.
#[must_use]
pub fn page_begins(command: &str) -> String {
    format!("<!doctype html>\n<!-- etwkit {command} -->\n")
}

/// Returns the head of a page, up to the start of its body.
pub(crate) fn head(command: &str) -> String {
    page_begins(command)
        + &format!(
            "<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>etwkit {command}</title><style>\n{STYLE}</style></head><body>\n"
        )
}

/// The end of a page.
pub(crate) const END: &str = "</body></html>\n";

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #222; --soft: #666; --back: #fff; --line: #ddd; --head: #f4f4f4; --odd: #a33 }
@media (prefers-color-scheme: dark) {
:root { --text: #ddd; --soft: #999; --back: #1b1c1e; --line: #3a3c40; --head: #26282b; --odd: #f08a80 } }
body { font: 14px system-ui, sans-serif; margin: 2em; color: var(--text); background: var(--back) }
h1 { font-size: 1.3em; max-width: 60em } h2 { font-size: 1.1em; margin-top: 2em; max-width: 60em }
p, dd { max-width: 60em } dt { color: var(--soft); margin-top: .5em } dd { margin-left: 0 }
table { border-collapse: collapse }
th, td { padding: 3px 8px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
th { position: sticky; top: 0; background: var(--head) }
td.heat { color: #222 }
svg.bar { display: block } figure { display: inline-block; margin: 0 1em 1em 0; vertical-align: top; max-width: 380px }
svg text { font-size: 11px; fill: var(--soft) } svg circle { fill: #0072b2; fill-opacity: .6 }
svg circle.slow { fill: #d55e00 } svg circle.middle { fill: var(--soft) } svg .median { fill: #9fb6cc }
svg .axis { fill: none; stroke: var(--soft) } svg .trend { stroke: var(--text); stroke-dasharray: 5 3 }
svg .spread { fill: none; stroke: var(--text); stroke-width: 2 }
figcaption { color: var(--soft); font-size: .9em }
pre { background: var(--head); padding: 6px 8px; overflow-x: auto }
.names { color: var(--soft); font-size: .9em } .odd { color: var(--odd) }
@media print { body { margin: 0 } th { position: static } pre { white-space: pre-wrap } h2, dl { break-inside: avoid } }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_markup_or_invisible() {
        let hostile = "<b a='1' c=\"2\">&\u{202e}\u{200b}\u{61c}\x1b\n";
        let want =
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\\u{202e}\\u{200b}\\u{61c}\\x1b\\x0a";
        assert_eq!(Text(hostile).to_string(), want);
    }
}
