//! Colors: the role of a text decides its color, and a color adds nothing that the words do not
//! express.
//!
//! Only whole lines or their labels are colored, after escaping and cutting, so widths are the
//! widths of the plain text, and no content of a file can end or start a color.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// Role of a text, which decides its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Rows and sentences.
    Plain,
    /// The heading of a trace or an extract.
    File,
    /// The heading of a section.
    Heading,
    /// Titles of columns.
    Titles,
    /// The label of a hint.
    Hint,
    /// The label of a note for the reader; a row with something to look at.
    Warning,
    /// The label of an error.
    Error,
}

impl Role {
    const fn style(self) -> Style {
        let style = Style::new();
        match self {
            Self::Plain => style,
            Self::File => AnsiColor::Cyan.on_default(),
            Self::Heading | Self::Titles => style.bold(),
            Self::Hint => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Error => AnsiColor::Red.on_default().bold(),
        }
    }

    /// Returns the text, which is already escaped, in the style of the role.
    pub fn paint(self, text: &str, is_colored: bool) -> Cow<'_, str> {
        if !is_colored || self == Self::Plain || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let style = self.style();
        Cow::Owned(format!("{style}{text}{style:#}"))
    }
}

/// Returns the label at the start of a line, such as `error:`, and its role.
pub fn label(line: &str) -> Option<(Role, &str)> {
    const LABELS: [(&str, Role); 5] = [
        ("error:", Role::Error),
        ("caused by:", Role::Error),
        ("warning:", Role::Warning),
        ("note:", Role::Warning),
        ("hint:", Role::Hint),
    ];
    LABELS.into_iter().find_map(|(label, role)| {
        Some((
            role,
            line.get(..label.len()).filter(|begin| *begin == label)?,
        ))
    })
}

/// Returns a line with only its label colored.
pub fn labelled(line: &str, is_colored: bool) -> Cow<'_, str> {
    let indent = line.len() - line.trim_start().len();
    match (is_colored, label(line.trim_start())) {
        (true, Some((role, label))) => {
            let (front, rest) = line.split_at(indent + label.len());
            let (front, _) = front.split_at(indent);
            Cow::Owned(format!("{front}{}{rest}", role.paint(label, true)))
        }
        _ => Cow::Borrowed(line),
    }
}

/// Choice of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorMode {
    /// On a terminal that can, unless NO_COLOR is set; CLICOLOR_FORCE=1 wants them anywhere
    Auto,
    /// In files and pipes, too
    Always,
    /// Nowhere
    Never,
}

/// True for each stream that is colored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Colors {
    /// The answer.
    pub out: bool,
    /// Errors and notes.
    pub err: bool,
}

impl Colors {
    /// Returns the colors after the choice of a command line.
    pub fn chosen(self, when: Option<ColorMode>) -> Self {
        match when {
            None | Some(ColorMode::Auto) => self,
            Some(ColorMode::Always) => Self {
                out: true,
                err: true,
            },
            Some(ColorMode::Never) => Self::default(),
        }
    }
}

/// Returns the `--color` choice in arguments that could not be parsed, so that the parser's error
/// is also colored.
pub fn choice(args: &[std::ffi::OsString]) -> Option<ColorMode> {
    let words: Vec<Cow<'_, str>> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    // By hand, since the parser of arguments has already failed on them.
    let value = |at: usize, word: &str| match word.strip_prefix("--color") {
        Some("") => words.get(at + 1).map(ToString::to_string),
        Some(rest) => rest.strip_prefix('=').map(str::to_owned),
        None => None,
    };
    let values = words.iter().take_while(|word| *word != "--").enumerate();
    let last = values.filter_map(|(at, word)| value(at, word)).last()?;
    ColorMode::from_str(&last, false).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labels_are_coloured() {
        assert_eq!(
            labelled("hint: do it", true),
            "\u{1B}[32mhint:\u{1B}[0m do it"
        );
        assert_eq!(
            labelled("  warning: lost (3)", true),
            "  \u{1B}[33mwarning:\u{1B}[0m lost (3)"
        );
        for (line, is_colored) in [
            ("hint: do it", false),
            ("a hint: b", true),
            ("hints: x", true),
            ("", true),
            ("é", true),
        ] {
            assert_eq!(labelled(line, is_colored), line);
        }
        assert_eq!(Role::File.paint("a", true), "\u{1B}[36ma\u{1B}[0m");
        assert_eq!(Role::File.paint("a", false), "a");
        assert_eq!(Role::Plain.paint("a", true), "a");
        assert_eq!(Role::Titles.paint("", true), "");
    }

    #[test]
    fn a_choice_is_found_in_wrong_arguments() {
        let of = |line: &str| choice(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        assert_eq!(of("etwkit nonsense --color never"), Some(ColorMode::Never));
        assert_eq!(
            of("etwkit --color=never x --color=always"),
            Some(ColorMode::Always)
        );
        assert_eq!(of("etwkit x --color"), None);
        assert_eq!(of("etwkit x --color=green"), None);
        assert_eq!(of("etwkit x -- --color=never"), None);
        assert_eq!(of("etwkit x --colors"), None);
    }

    #[test]
    fn a_choice_goes_before_the_terminal() {
        let terminal = Colors {
            out: true,
            err: false,
        };
        assert_eq!(terminal.chosen(None), terminal);
        assert_eq!(terminal.chosen(Some(ColorMode::Auto)), terminal);
        assert_eq!(
            terminal.chosen(Some(ColorMode::Always)),
            Colors {
                out: true,
                err: true
            }
        );
        assert_eq!(terminal.chosen(Some(ColorMode::Never)), Colors::default());
    }
}
