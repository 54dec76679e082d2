//! The density of the source code: tokens a line, tokens a function, first words of comments. There is
//! no maximum for the length of a file or a function, since such a maximum makes lines dense and
//! scatters what belongs together.

use std::path::{Path, PathBuf};

use crate::architecture::{root, sources};

/// Tokens of a line of code, in the mean. ripgrep and samply have 6.9 and 6.5.
const TOKENS_A_LINE: f64 = 8.0;

/// Tokens of a function that 99 of 100 do not exceed.
const TOKENS_OF_A_LONG_FUNCTION: usize = 505;

/// Tokens of the function in the middle. ripgrep and samply have 18 and 32.
const TOKENS_OF_A_FUNCTION: usize = 65;

/// Percent of doc comments that begin with a question word. ripgrep and samply have 6.1 and 2.7.
const QUESTION_WORDS: f64 = 1.0;

/// Calls of `unwrap_or_default` and `unwrap_or(0)` in 1,000 lines of code. May only fall.
const SILENT_DEFAULTS: f64 = 0.66;

/// All Rust files of the workspace and of its fuzz targets.
fn all_sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("fuzz"), &mut files);
    assert!(files.len() > 300, "{}", files.len());
    files
}

fn name(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().display().to_string()
}

/// The measures of source code without its tests.
#[derive(Default)]
struct Density {
    code_lines: usize,
    tokens: usize,
    /// Tokens of the body of each function.
    functions: Vec<usize>,
    doc_comments: usize,
    question_words: usize,
    silent_defaults: usize,
}

impl Density {
    fn add(&mut self, source: &str) {
        let mut code = String::new();
        let mut is_within_comment = false;
        for line in source.lines() {
            let line = line.trim();
            let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
            if let Some(text) = comment {
                if !is_within_comment {
                    self.doc_comments += 1;
                    self.question_words += usize::from(begins_with_question_word(text));
                }
            } else if !line.is_empty() && !line.starts_with("//") {
                self.code_lines += 1;
                code.push_str(line);
                code.push('\n');
            }
            is_within_comment = comment.is_some();
        }
        self.silent_defaults += code.matches("unwrap_or_default()").count();
        self.silent_defaults += code.matches("unwrap_or(0)").count();
        let tokens = tokens(&code);
        self.tokens += tokens.len();
        for (at, token) in tokens.iter().enumerate() {
            if *token == "fn" {
                self.functions.extend(length_of_body(&tokens[at..]));
            }
        }
    }

    fn per_line(&self, count: usize) -> f64 {
        count as f64 / self.code_lines as f64
    }
}

fn begins_with_question_word(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "What", "Which", "Who", "Whom", "Whose", "Where", "When", "Why", "How", "Whether",
        "Whatever", "Whoever",
    ];
    let first = text.trim_start().split(|c: char| !c.is_alphabetic()).next();
    first.is_some_and(|first| WORDS.contains(&first))
}

/// Words, numbers, literals and signs of code; a sign of two or three characters is one token.
fn tokens(code: &str) -> Vec<&str> {
    const SIGNS: [&str; 19] = [
        "..=", "::", "->", "=>", "..", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=",
        "|=", "^=", "&=", "<<",
    ];
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = length_of_literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else {
            SIGNS
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .map_or(first.len_utf8(), |sign| sign.len())
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

/// The length of the text or character literal, or the lifetime, at the start of code.
fn length_of_literal(code: &str) -> Option<usize> {
    let bytes = code.as_bytes();
    let prefix = usize::from(bytes[0] == b'b' && bytes.len() > 1);
    if bytes[prefix] == b'r' {
        let signs = code[prefix + 1..]
            .bytes()
            .take_while(|byte| *byte == b'#')
            .count();
        let begin = prefix + 1 + signs;
        if bytes.get(begin) != Some(&b'"') {
            return None;
        }
        let end = format!("\"{}", "#".repeat(signs));
        let length = code[begin + 1..].find(&end)? + 1 + end.len();
        return Some(begin + length);
    }
    let quote = bytes[prefix];
    let is_lifetime = quote == b'\'' && bytes.get(prefix + 1) != Some(&b'\\') && {
        let mut after = code[prefix + 1..].chars();
        after.next();
        after.next() != Some('\'')
    };
    if is_lifetime {
        let name = code[1..].find(|c: char| !c.is_alphanumeric() && c != '_');
        return Some(1 + name.unwrap_or(code.len() - 1));
    }
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    let mut at = prefix + 1;
    while bytes.get(at).is_some_and(|byte| *byte != quote) {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some((at + 1).min(code.len()))
}

/// The tokens of a function's body with its braces; none for a declaration.
fn length_of_body(tokens: &[&str]) -> Option<usize> {
    let body = tokens
        .iter()
        .position(|token| *token == "{" || *token == ";")?;
    if tokens[body] == ";" {
        return None;
    }
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(body) {
        match *token {
            "{" => depth += 1,
            "}" if depth == 1 => return Some(at + 1 - body),
            "}" => depth -= 1,
            _ => {}
        }
    }
    None
}

#[test]
fn tokens_are_counted_as_a_reader_would() {
    let code = r##"fn f<'a>(x: &'a str) -> bool { x == "a \" b" || x != r#"c"d"# && *x <= 'e' }"##;
    let expected = [
        "fn",
        "f",
        "<",
        "'a",
        ">",
        "(",
        "x",
        ":",
        "&",
        "'a",
        "str",
        ")",
        "->",
        "bool",
        "{",
        "x",
        "==",
        r#""a \" b""#,
        "||",
        "x",
        "!=",
        r##"r#"c"d"#"##,
        "&&",
        "*",
        "x",
        "<=",
        "'e'",
        "}",
    ];
    assert_eq!(tokens(code), expected);
    let body = expected.iter().position(|token| *token == "{").unwrap();
    assert_eq!(length_of_body(&tokens(code)), Some(expected.len() - body));
    assert_eq!(length_of_body(&tokens("fn f(); fn g() {}")), None);
}

#[test]
fn code_is_no_denser_than_a_reader_likes() {
    let mut density = Density::default();
    for file in all_sources() {
        let inside = file.strip_prefix(root()).unwrap();
        if inside.components().any(|part| part.as_os_str() == "src") {
            let source = std::fs::read_to_string(&file).unwrap();
            density.add(source.split("#[cfg(test)]\nmod ").next().unwrap());
        }
    }
    density.functions.sort_unstable();
    let functions = density.functions.len();
    let measures = [
        (
            "tokens a line",
            density.per_line(density.tokens),
            TOKENS_A_LINE,
        ),
        (
            "tokens of the function in the middle",
            density.functions[functions / 2] as f64,
            TOKENS_OF_A_FUNCTION as f64,
        ),
        (
            "tokens of a function that 99 of 100 do not exceed",
            density.functions[functions * 99 / 100] as f64,
            TOKENS_OF_A_LONG_FUNCTION as f64,
        ),
        (
            "percent of doc comments that begin with a question word",
            density.question_words as f64 * 100.0 / density.doc_comments as f64,
            QUESTION_WORDS,
        ),
        (
            "silent defaults in 1,000 lines",
            density.per_line(density.silent_defaults) * 1000.0,
            SILENT_DEFAULTS,
        ),
    ];
    for (measure, ours, most) in measures {
        println!("{measure}: {ours:.1}, at most {most}");
    }
    for (measure, ours, most) in measures {
        assert!(ours <= most, "{measure}: {ours:.2}, at most {most}");
    }
}

#[test]
fn comments_stand_alone() {
    // Whoever reads help in an editor sees one comment, without its neighbour.
    let mut leaning = Vec::new();
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        for (number, line) in (1..).zip(source.lines()) {
            if line.trim_start().starts_with("/// The same ") && !line.contains("The same as [`") {
                leaning.push(format!("{}:{number}", name(&file)));
            }
        }
    }
    assert!(
        leaning.is_empty(),
        "comments that need their neighbours: {leaning:#?}"
    );
}

/// Texts of the program name pages by the command that shows them, since no package has the files.
#[test]
fn hints_name_pages_that_the_program_has() {
    let mut topics = Vec::new();
    let mut wrong = Vec::new();
    for path in all_sources() {
        let shown = name(&path);
        if !shown.contains("/src/") || shown.ends_with("tests.rs") {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        // What is included or compared when the program is built names the file.
        let code = source
            .lines()
            .filter(|line| !line.trim().starts_with("//") && !line.contains("../docs/"));
        for line in code {
            if line.contains("see docs/") || line.contains("; docs/") || line.contains(", as docs/")
            {
                wrong.push(format!("{shown}: {}", line.trim()));
            }
            let named = line.split("`etwkit docs ").skip(1);
            let named = named.filter_map(|rest| rest.split_once('`'));
            topics.extend(named.map(|(topic, _)| topic.to_owned()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    topics.retain(|topic| !topic.starts_with("--") && !topic.contains('{'));
    topics.sort();
    topics.dedup();
    assert!(topics.len() > 5, "{topics:?}");
    for topic in topics {
        let answer = crate::support::run(&["docs", "--plain", &topic]);
        assert_eq!(
            answer.exit,
            crate::support::Exit::Answered,
            "{}",
            answer.err
        );
    }
}

/// The arguments of each command line of the program in a line of text, up to a backtick.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("etwkit ").skip(1);
    after.map(|rest| rest.split('`').next().unwrap_or(rest))
}

/// PowerShell takes a word such as `@list` as the variable `list`, whose elements become arguments.
#[test]
fn examples_quote_words_that_start_with_an_at_sign() {
    let mut pages = all_sources();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.push(root().join("README.md"));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for line in text.lines().filter(|line| line.contains('@')) {
            let is_bare = commands(line).any(|arguments| arguments.contains(" @"));
            assert!(!is_bare, "{}: {line}", page.display());
        }
    }
}
