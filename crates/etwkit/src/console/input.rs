//! Source of lines: an editor on a terminal, otherwise the plain standard input.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};

use super::complete::Completions;

/// Lines that are remembered.
const MAX_HISTORY: usize = 2000;
/// A longer line was not typed by a person.
const MAX_LINE: u64 = 8 << 20;
const PROMPT: &str = "> ";

/// Result of reading a line.
pub(super) enum Next {
    Line(String),
    /// Ctrl-C at the prompt: the typed text is discarded.
    Nothing,
    End,
}

/// Source of lines.
pub(super) enum Input {
    Terminal {
        editor: Box<Editor<Completions, DefaultHistory>>,
        history: Option<PathBuf>,
    },
    Lines,
}

impl Input {
    /// Creates the input of a terminal, with the history of earlier lines if `has_history`.
    pub(super) fn terminal(completions: Completions, has_history: bool) -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(MAX_HISTORY)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(completions));
        let history = if has_history { history_file() } else { None };
        if let Some(file) = &history {
            // The first time, the file does not exist; a file that is not a history is replaced.
            let _ = editor.load_history(file);
        }
        Ok(Self::Terminal {
            editor: Box::new(editor),
            history,
        })
    }

    /// Reads the next line.
    pub(super) fn next(&mut self) -> anyhow::Result<Next> {
        match self {
            Self::Terminal { editor, history } => match editor.readline(PROMPT) {
                Ok(line) => {
                    if !line.trim().is_empty() && editor.add_history_entry(line.as_str())? {
                        remember(editor, history.as_deref());
                    }
                    Ok(Next::Line(line))
                }
                Err(ReadlineError::Interrupted) => Ok(Next::Nothing),
                Err(ReadlineError::Eof) => Ok(Next::End),
                Err(error) => Err(error.into()),
            },
            Self::Lines => {
                let mut bytes = Vec::new();
                // Locked for a line only: a command may read the rest, as `sql -` does.
                if std::io::stdin()
                    .lock()
                    .by_ref()
                    .take(MAX_LINE)
                    .read_until(b'\n', &mut bytes)?
                    == 0
                {
                    return Ok(Next::End);
                }
                // Some editors on Windows write a byte order mark before the text.
                let text = String::from_utf8_lossy(&bytes);
                Ok(Next::Line(text.trim_start_matches('\u{feff}').to_owned()))
            }
        }
    }
}

/// Appends new lines to the file after each line, so that no history is lost if the console does
/// not end normally. Write errors are ignored.
fn remember(editor: &mut Editor<Completions, DefaultHistory>, file: Option<&Path>) {
    let Some(file) = file else { return };
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.append_history(file);
}

/// `etwkit/history` in the user's folder for state files.
fn history_file() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let folder = variable("XDG_STATE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local").join("state")));
    folder.map(|folder| folder.join("etwkit").join("history"))
}
