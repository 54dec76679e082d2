//! Words of command lines: quoting them, and splitting lines into them.

/// Characters, beside letters and digits, that no shell gives a meaning inside a word.
const PLAIN: &str = "-_=./:,+@%";

/// Whether a backslash stays bare. Shells of Windows read it as a part of a path; `sh` drops it and takes the
/// next character as it is.
const IS_BACKSLASH_PLAIN: bool = cfg!(windows);

/// Characters between which `cmd` sees several commands, files or an escape, unless they are in double
/// quotes.
const OPERATORS: &str = "&|<>^";

/// Quotes a word so that a shell reads it as one word and gives no part of it a meaning. A word without
/// special characters stays bare. Others get double quotes, which `cmd`, PowerShell and `sh` know. Around
/// a character that one of them reads between these, single quotes remain, which `cmd` takes as text.
///
/// `cmd` alone cannot be given a line break or an odd number of double quotes: names out of a trace are
/// better written by [`quoted_pattern`].
#[must_use]
pub fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.starts_with('@') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // `cmd` expands `%NAME%` between any quotes, and keeps it where no variable has that name.
    let mut pairs = with_next(word);
    if !pairs.any(|(letter, next)| letter != '%' && is_read(letter, next)) {
        return format!("\"{word}\"");
    }
    // Between single quotes a shell takes everything as it is, but for a single quote itself.
    let is_special = |letter| is_single_quote(letter) || OPERATORS.contains(letter);
    if !word.contains(is_special) {
        return format!("'{word}'");
    }
    in_pieces(word)
}

/// Quotes a word piece by piece, each with the quotes between which no shell reads it. PowerShell takes
/// the pieces as one word only if plain characters precede them: no line is one word for all three shells
/// if the word begins with another sign, such as `$it's`.
fn in_pieces(word: &str) -> String {
    let plain = word.find(|letter: char| !is_plain_start(letter));
    let (bare, rest) = word.split_at(plain.unwrap_or(word.len()));
    let mut line = bare.to_owned();
    let mut open = None;
    // `cmd` knows only double quotes, and counts those of the word as well.
    let mut is_odd = false;
    for letter in rest.chars() {
        let kept_from_cmd = if is_odd { '\'' } else { '"' };
        let quote = match letter {
            letter if is_single_quote(letter) => '"',
            '\\' => '\'',
            '%' => open.unwrap_or('"'),
            letter if is_read(letter, None) => '\'',
            letter if letter == ' ' || is_plain(letter) => open.unwrap_or('"'),
            _ => kept_from_cmd,
        };
        if open.is_none() && quote == '\'' && !bare.is_empty() {
            // A single quote after a letter is an apostrophe for `split`.
            line.push_str("\"\"");
        }
        if open != Some(quote) {
            line.extend(open);
            line.push(quote);
            open = Some(quote);
        }
        line.push(letter);
        is_odd ^= letter == '"';
    }
    line.extend(open);
    line
}

/// Returns `true` for a character that stays bare at the start of a word, before quotes. A backslash would
/// escape the quote after it, and PowerShell makes a list of what a comma separates.
fn is_plain_start(letter: char) -> bool {
    letter.is_alphanumeric() || "-_=./:+".contains(letter)
}

/// Returns `true` for a character that PowerShell reads as a single quote.
const fn is_single_quote(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2018}'..='\u{201B}')
}

/// Quotes a pattern so that `cmd`, PowerShell and `sh` read it as one word and give no part of it a
/// meaning: with double quotes, which all three know. A character that one of them reads between
/// these becomes `?`, which stands for any character in a pattern, and so does a part of a file
/// name that is not UTF-8.
#[must_use]
pub fn quoted_pattern(pattern: &str) -> String {
    let is_lost = |(letter, next): (char, Option<char>)| {
        letter == char::REPLACEMENT_CHARACTER || is_read(letter, next)
    };
    let safe: String = with_next(pattern)
        .map(|pair| if is_lost(pair) { '?' } else { pair.0 })
        .collect();
    let is_bare = |letter: char| letter.is_alphanumeric() || "-_=./:,+@".contains(letter);
    if !safe.is_empty() && !safe.starts_with('@') && safe.chars().all(is_bare) {
        return safe;
    }
    format!("\"{safe}\"")
}

/// Returns each character with the one after it.
fn with_next(word: &str) -> impl Iterator<Item = (char, Option<char>)> {
    let following = word.chars().skip(1).map(Some).chain([None]);
    word.chars().zip(following)
}

/// Returns `true` if a shell gives this character a meaning between double quotes.
fn is_read(letter: char, next: Option<char>) -> bool {
    match letter {
        // `sh` takes two backslashes as one, and the last one would take the closing quote along. On
        // Windows two are the start of a path on a server, which `cmd` and PowerShell leave alone.
        '\\' => match next {
            Some('\\') => !IS_BACKSLASH_PLAIN,
            next => matches!(next, None | Some('"' | '$' | '`')),
        },
        // PowerShell reads the double quotes of printed text as those of a keyboard.
        '\u{201C}' | '\u{201D}' | '\u{201E}' => true,
        letter => "\"$`%!".contains(letter) || letter.is_control(),
    }
}

/// Quotes words as [`quoted_pattern`] does and joins them with blanks.
#[must_use]
pub fn joined_patterns<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    joined_by(quoted_pattern, words)
}

/// Quotes words and joins them with blanks.
#[must_use]
pub fn joined<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    joined_by(quoted, words)
}

fn joined_by<W: AsRef<str>>(
    quote: fn(&str) -> String,
    words: impl IntoIterator<Item = W>,
) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| quote(word.as_ref())).collect();
    quoted.join(" ")
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || PLAIN.contains(letter) || (letter == '\\' && IS_BACKSLASH_PLAIN)
}

/// Splits a line into its words. It reads what [`quoted`] writes, and what people type on any system:
///
/// - Between quotes, single or double, everything is taken as it is.
/// - A single quote after a letter or a digit is an apostrophe (`it's`).
/// - A backslash is a part of a path, unless a single quote follows outside quotes (`'it'\''s'`).
///
/// A quote that is not closed ends with the line.
#[must_use]
pub fn split(line: &str) -> Vec<String> {
    let Partial {
        before: mut words,
        word,
        start,
    } = partial(line);
    if start < line.len() {
        words.push(word);
    }
    words
}

/// A line whose last word is still being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partial {
    /// The complete words.
    pub before: Vec<String>,
    /// The last word as far as it is there, without quotes; empty after a blank.
    pub word: String,
    /// Position of the last word in the line, its quote included.
    pub start: usize,
}

/// Splits a line as [`split`] does, and keeps its last word apart.
#[must_use]
pub fn partial(line: &str) -> Partial {
    let mut partial = Partial {
        start: line.len(),
        ..Partial::default()
    };
    let mut quote = None;
    // Whether a letter or a digit without quotes comes just before.
    let mut is_after_letter = false;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if quote.is_none() && letter.is_whitespace() {
            if partial.start < line.len() {
                partial.before.push(std::mem::take(&mut partial.word));
            }
            partial.start = line.len();
            is_after_letter = false;
            continue;
        }
        partial.start = partial.start.min(at);
        let opens = letter == '"' || (letter == '\'' && !is_after_letter);
        let escapes = letter == '\\' && letters.peek().is_some_and(|(_, next)| *next == '\'');
        is_after_letter = false;
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => partial.word.push(letter),
            None if opens => quote = Some(letter),
            None if escapes => {
                letters.next();
                partial.word.push('\'');
            }
            None => {
                partial.word.push(letter);
                is_after_letter = letter.is_alphanumeric();
            }
        }
    }
    partial
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that shells, names out of traces and people make difficult.
    const DIFFICULT: [&str; 16] = [
        "",
        " ",
        "a b",
        "it's",
        "'",
        "''",
        "\"",
        "a\"b c",
        "$(reboot)",
        "`reboot`",
        "a;b|c&d<e>f",
        "*?[x]{a,b}",
        "~",
        "#no-comment",
        "C:\\a b\\it's\\",
        "line\nbreak\tand \\' end\\",
    ];

    #[test]
    fn a_pattern_has_no_meaning_for_any_shell() {
        let server = if IS_BACKSLASH_PLAIN {
            r#""\\server\share?""#
        } else {
            r#""?\server\share?""#
        };
        for (pattern, expected) in [
            ("", r#""""#),
            ("12", "12"),
            ("*.sys", r#""*.sys""#),
            ("a b;c*", r#""a b;c*""#),
            ("ntdll.dll!Nt*", r#""ntdll.dll?Nt*""#),
            (r"C:\a\b", r#""C:\a\b""#),
            (r"\\server\share\", server),
            (
                "$(reboot) `x` %PATH% \"y\" it's",
                r#""?(reboot) ?x? ?PATH? ?y? it's""#,
            ),
            ("card's trace.etl", r#""card's trace.etl""#),
            ("@list.txt", r#""@list.txt""#),
            ("a \u{201C}b\u{201D}", r#""a ?b?""#),
            ("a\nb", r#""a?b""#),
            ("slow-\u{FFFD}\u{FFFD}.etl", r#""slow-??.etl""#),
        ] {
            assert_eq!(quoted_pattern(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn plain_words_stay_bare_and_others_are_quoted() {
        for (word, expected) in [
            ("", r#""""#),
            ("traces/a-1.etl", "traces/a-1.etl"),
            ("größe.etl", "größe.etl"),
            ("--top=5", "--top=5"),
            ("my trace.etl", r#""my trace.etl""#),
            ("~a.etl", r#""~a.etl""#),
            ("a;reboot.etl", r#""a;reboot.etl""#),
            ("it's", r#""it's""#),
            ("SELECT 'x' LIKE '%y'", r#""SELECT 'x' LIKE '%y'""#),
            ("@cpu/processes", r#""@cpu/processes""#),
            ("SELECT \"x\"", r#"'SELECT "x"'"#),
            ("$(reboot)", "'$(reboot)'"),
            ("it's !1", r#"it"'s "'!1'"#),
            ("it's $(reboot)", r#"it"'s "'$'"(reboot)""#),
            ("a\u{2019}$x", "a\"\u{2019}\"'$x'"),
            ("$a&b", r#"'$a'"&b""#),
            ("a$b&c", r#"a""'$b'"&c""#),
            (r#"x < "y""#, r#"x" < "'"y"'"#),
        ] {
            assert_eq!(quoted(word), expected);
        }
        let path = quoted(r"C:\traces\a.etl");
        if cfg!(windows) {
            assert_eq!(path, r"C:\traces\a.etl");
        } else {
            assert_eq!(path, r#""C:\traces\a.etl""#);
        }
        assert_eq!(joined(["a", "", "b c"]), r#"a "" "b c""#);
    }

    #[test]
    fn a_word_that_begins_with_a_plain_sign_is_one_word_for_powershell() {
        for (word, expected) in [
            ("./it's $x", r#"./it"'s "'$x'"#),
            ("/tmp/a&$b", r#"/tmp/a"&"'$b'"#),
            ("_'$", r#"_"'"'$'"#),
            ("=$a|b", r#"=""'$a'"|b""#),
            ("--where=name = 'a$b'", r#"--where=name" = 'a"'$b'"'""#),
        ] {
            let line = quoted(word);
            assert_eq!(line, expected);
            assert!(!line.starts_with(['"', '\'']), "{line}");
            assert_eq!(split(&line), [word], "{line}");
            assert_eq!(read_by_powershell(&line), word, "{line}");
            assert!(!is_read_by_cmd(&line), "{line}");
        }
    }

    #[test]
    fn what_is_quoted_is_split_into_the_same_words() {
        let line = joined(DIFFICULT);
        assert_eq!(split(&line), DIFFICULT);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_same_words() {
        let pairs = pairs_of_punctuation();
        let signs = ["./it's $x", "=$a|b", "-'$(x)", "a/'$\\"];
        let all: Vec<&str> = pairs
            .iter()
            .map(String::as_str)
            .chain(DIFFICULT)
            .chain(signs)
            .collect();
        // No word contains the character that separates them here.
        let script = format!("printf '%s\\001' {}", joined(&all));
        let shell = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let printed = String::from_utf8(shell.stdout).unwrap();
        let words: Vec<&str> = printed.split_terminator('\u{1}').collect();
        assert_eq!(words, all);
    }

    /// Words with each pair of punctuation marks.
    fn pairs_of_punctuation() -> Vec<String> {
        let marks = || ('!'..='~').filter(char::is_ascii_punctuation);
        let pairs = marks().flat_map(|first| marks().map(move |second| (first, second)));
        let words = pairs.flat_map(|(first, second)| {
            [
                format!("{first}{second}"),
                format!("a {first}b{second}c"),
                format!("a{first}b {second}"),
            ]
        });
        words.collect()
    }

    /// The text that PowerShell reads, which takes each character outside quotes as text.
    fn read_by_powershell(line: &str) -> String {
        let mut text = String::new();
        let mut open = None;
        for letter in line.chars() {
            match open {
                Some(quote) if letter == quote => open = None,
                Some('"') if "$`".contains(letter) => panic!("{line}: it reads {letter}"),
                Some(_) => text.push(letter),
                None if "'\"".contains(letter) => open = Some(letter),
                None if !is_plain(letter) => panic!("{line}: it reads {letter}"),
                None => text.push(letter),
            }
        }
        assert_eq!(open, None, "{line}");
        text
    }

    /// Whether `cmd` sees more than one command or file, or ends between quotes.
    fn is_read_by_cmd(line: &str) -> bool {
        let mut is_quoted = false;
        for letter in line.chars() {
            if letter == '"' {
                is_quoted = !is_quoted;
            } else if !is_quoted && OPERATORS.contains(letter) {
                return true;
            }
        }
        is_quoted
    }

    #[test]
    fn no_pair_of_punctuation_has_a_meaning_for_any_shell() {
        for word in pairs_of_punctuation() {
            let line = quoted(&word);
            assert_eq!(split(&line), [word.as_str()], "{line}");
            assert_eq!(read_by_powershell(&line), word, "{line}");
            if word.matches('"').count().is_multiple_of(2) {
                assert!(!is_read_by_cmd(&line), "{line}");
            }
            let pattern = quoted_pattern(&word);
            assert!(!is_read_by_cmd(&pattern), "{pattern}");
            assert_eq!(read_by_powershell(&pattern).len(), word.len(), "{pattern}");
        }
    }

    #[test]
    fn lines_are_split_as_people_type_them() {
        for (line, expected) in [
            ("", &[][..]),
            ("  .list  ", &[".list"]),
            (
                "dump wait --method 'a b;c*' --path \"it's\" --name '' --details",
                &[
                    "dump",
                    "wait",
                    "--method",
                    "a b;c*",
                    "--path",
                    "it's",
                    "--name",
                    "",
                    "--details",
                ],
            ),
            (
                r#".load "c:\my traces\a.etl" b"#,
                &[".load", r"c:\my traces\a.etl", "b"],
            ),
            (r#"-fd "c:\my traces\" b"#, &["-fd", r"c:\my traces\", "b"]),
            (r#"-cmdline "*a b*";*c"#, &["-cmdline", "*a b*;*c"]),
            ("--method='a b'", &["--method=a b"]),
            ("x it's y", &["x", "it's", "y"]),
            (r#"a "" b"#, &["a", "", "b"]),
            ("  a\t'b", &["a", "b"]),
            ("a \"b c", &["a", "b c"]),
        ] {
            assert_eq!(split(line), expected, "{line}");
        }
    }

    #[test]
    fn the_last_word_of_a_line_begins_somewhere() {
        let of = |line: &str| {
            let partial = partial(line);
            (partial.before.join(" "), partial.word, partial.start)
        };
        assert_eq!(of(""), (String::new(), String::new(), 0));
        assert_eq!(of(".du"), (String::new(), ".du".into(), 0));
        assert_eq!(of(".dump cpu "), (".dump cpu".into(), String::new(), 10));
        assert_eq!(of(".load \"my tr"), (".load".into(), "my tr".into(), 6));
    }
}
