//! Spots: views of the page that show the rows behind a finding, with what narrows them.

use etwkit_base::shell;
use etwkit_question::{AnyQuestion, Opt, OptionKind, Values};
use etwkit_trace::table::{ColumnKind, Table};
use etwkit_trace::topics;
use serde_json::Value;

/// Contents of a view of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// Stacks, by a weight.
    Stacks,
    /// Rows of this table.
    Rows(&'static str),
    /// The answer to this question.
    Answer(&'static str),
    /// The answer to any question, with any of its options.
    AnyAnswer,
}

use Shows::{Answer, AnyAnswer, Rows, Stacks};

/// Views that a spot can name, by their names in links of the page.
pub static VIEWS: &[(&str, Shows)] = &[
    ("flame", Stacks),
    ("ask", AnyAnswer),
    ("cpu-precise", Rows("context_switch")),
    ("cpu-sampled", Rows("cpu_sample")),
    ("disk", Rows("disk_io")),
    ("file", Rows("file_io")),
    ("hard-fault", Rows("hard_fault")),
    ("network", Rows("net_io")),
    ("dns", Rows("dns_query")),
    ("registry", Rows("registry_io")),
    ("modules", Rows("module")),
    ("exceptions", Rows("exception")),
    ("window-lock", Rows("user_lock")),
    ("alpc", Rows("alpc")),
    ("marks", Rows("mark")),
    ("events", Rows("generic_event")),
    ("overview", Answer("overview")),
    ("configuration", Answer("stats")),
    ("health", Answer("trace-stats")),
    ("dpc-isr", Answer("dpc")),
    ("ready", Answer("ready")),
    ("cores", Answer("cores")),
    ("timer", Answer("timer")),
    ("power", Answer("power")),
    ("mini-filter", Answer("mini-filter")),
    ("tcp", Answer("tcp")),
    ("memory", Answer("memory")),
    ("page-fault", Answer("page-fault")),
    ("virtual-alloc", Answer("virtual-alloc")),
    ("heap", Answer("heap")),
    ("pool", Answer("pool")),
    ("objectref", Answer("objectref")),
    ("gdi-user", Answer("gdi-user")),
    ("start", Answer("start")),
    ("service", Answer("service")),
    ("gc", Answer("gc")),
    ("jit", Answer("jit")),
    ("thread-pool", Answer("thread-pool")),
    ("ui-delay", Answer("ui-delay")),
    ("focus", Answer("focus")),
    ("syscalls", Answer("syscall")),
    ("standby", Answer("standby")),
    ("loggers", Answer("loggers")),
];

/// Weights of stacks, each with the table that has it.
const WEIGHTS: [(&str, &str); 3] = [
    ("cpu", "cpu_sample"),
    ("wait", "context_switch"),
    ("ready", "context_switch"),
];

/// Something that all rows of a view have, in whatever column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpotField {
    /// Ids of processes, separated by `;`, or `*` for all.
    Process,
    /// Module of a frame of the stack.
    Module,
    /// Patterns of methods of a frame of the stack, separated by `;`.
    Method,
    /// Path of a file.
    File,
}

use SpotField::{File, Method, Module, Process};

const FIELDS: [(&str, SpotField); 4] = [
    ("process", Process),
    ("module", Module),
    ("method", Method),
    ("file", File),
];

/// An option of a spot.
enum Filter {
    Weight,
    Field(SpotField),
    Column(&'static str),
    Option(Box<Opt>),
}

/// A view of the page with what narrows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// Name of the view.
    pub view: &'static str,
    /// Table whose rows it shows; `None` where it shows the answer to a question.
    pub table: Option<&'static str>,
    /// Question that it answers; `None` where it shows rows.
    pub question: Option<&'static str>,
    /// Weight of stacks.
    pub weight: Option<&'static str>,
    /// Conditions on fields.
    pub fields: Vec<(SpotField, String)>,
    /// Conditions on columns of the table.
    pub columns: Vec<(&'static str, String)>,
    /// Options of the question.
    pub options: Values,
}

/// A word of a spot that means nothing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongWord {
    /// The word; empty if one is missing.
    pub word: String,
    /// The expected word.
    pub expected: String,
}

impl WrongWord {
    fn new(word: &str, expected: impl Into<String>) -> Self {
        Self {
            word: word.to_owned(),
            expected: expected.into(),
        }
    }

    /// The word as errors name it.
    pub(super) fn found(&self) -> &str {
        match self.word.as_str() {
            "" => "none",
            word => word,
        }
    }
}

type Result<T> = std::result::Result<T, WrongWord>;

impl Spot {
    /// Reads a line such as `flame --weight wait --process 12 --method "*!Ntfs*"`, with values or with
    /// the columns that stand for them.
    ///
    /// # Errors
    /// A view, an option or a value that does not exist.
    pub fn read(line: &str) -> Result<Self> {
        let all = shell::split(line);
        let mut words = all.iter().map(String::as_str);
        let (view, shows) = view(words.next().unwrap_or(""))?;
        let (table, question) = match shows {
            Stacks => (None, None),
            Rows(table) => (Some(table), None),
            Answer(question) => (None, Some(question)),
            AnyAnswer => {
                let name = words.next().unwrap_or("");
                let known =
                    question_of(name).ok_or_else(|| WrongWord::new(name, "a question of dump"))?;
                (None, Some(known.name()))
            }
        };
        let mut spot = Self {
            view,
            table,
            question,
            weight: None,
            fields: Vec::new(),
            columns: Vec::new(),
            options: Values::new(),
        };
        while let Some(word) = words.next() {
            spot.narrow(shows, word, &mut words)?;
        }
        if shows == Stacks && spot.weight.is_none() {
            return Err(WrongWord::new("", "--weight cpu, wait or ready"));
        }
        Ok(spot)
    }

    /// Adds an option with its value.
    fn narrow<'w>(
        &mut self,
        shows: Shows,
        word: &str,
        words: &mut impl Iterator<Item = &'w str>,
    ) -> Result<()> {
        let filter = word
            .strip_prefix("--")
            .and_then(|name| self.filter(shows, name))
            .ok_or_else(|| WrongWord::new(word, format!("a filter of {}", self.called(shows))))?;
        if let Filter::Option(option) = &filter
            && matches!(option.kind, OptionKind::Flag)
        {
            self.options.insert(option.name.to_owned(), true.into());
            return Ok(());
        }
        let value = words
            .next()
            .ok_or_else(|| WrongWord::new("", format!("a value after {word}")))?;
        match filter {
            Filter::Weight => self.weigh(value)?,
            Filter::Field(field) => self.fields.push((field, value.to_owned())),
            Filter::Column(column) => self.columns.push((column, value.to_owned())),
            Filter::Option(option) => {
                let read = json(&option, value)
                    .ok_or_else(|| WrongWord::new(value, format!("a value of {word}")))?;
                self.options.insert(option.name.to_owned(), read);
            }
        }
        Ok(())
    }

    /// Returns the filter of that name, if what is shown has it.
    fn filter(&self, shows: Shows, name: &str) -> Option<Filter> {
        if shows == Stacks && name == "weight" {
            return Some(Filter::Weight);
        }
        if let Some(field) = self.field(name) {
            return Some(Filter::Field(field));
        }
        match shows {
            Rows(table) => column(table, name).map(Filter::Column),
            AnyAnswer => option(self.question?, name).map(|one| Filter::Option(Box::new(one))),
            Stacks | Answer(_) => None,
        }
    }

    /// Sets the weight, which decides the table.
    fn weigh(&mut self, value: &str) -> Result<()> {
        let (weight, table) = WEIGHTS
            .into_iter()
            .find(|(weight, _)| *weight == value)
            .ok_or_else(|| WrongWord::new(value, "cpu, wait or ready"))?;
        self.weight = Some(weight);
        self.table = Some(table);
        Ok(())
    }

    /// Returns the words that errors have for it.
    fn called(&self, shows: Shows) -> String {
        match self.question {
            Some(question) if shows == AnyAnswer => format!("dump {question}"),
            _ => self.view.to_owned(),
        }
    }

    /// Returns the field of that name, if what is shown has it.
    fn field(&self, name: &str) -> Option<SpotField> {
        let (_, field) = FIELDS.into_iter().find(|(known, _)| *known == name)?;
        let has = match (self.question, self.table) {
            (Some(question), _) => field == Process && option(question, name).is_some(),
            (None, Some(table)) => has_field(topics::find(table)?, field),
            // Stacks, before their weight is known.
            (None, None) => field != File,
        };
        has.then_some(field)
    }
}

fn view(name: &str) -> Result<(&'static str, Shows)> {
    VIEWS
        .iter()
        .find(|(known, _)| *known == name)
        .copied()
        .ok_or_else(|| WrongWord::new(name, "a view of the page, such as flame, disk or gc"))
}

/// Returns the question of that name.
fn question_of(name: &str) -> Option<&'static dyn AnyQuestion> {
    etwkit_questions::QUESTIONS
        .iter()
        .chain(crate::questions::QUESTIONS)
        .copied()
        .find(|question| question.name() == name)
}

/// Returns the option of a question.
fn option(question: &str, name: &str) -> Option<Opt> {
    let options = question_of(question)?.options();
    options.into_iter().find(|option| option.name == name)
}

/// Returns `true` if rows of a table have a field.
fn has_field(table: &Table, field: SpotField) -> bool {
    let has = |name: &str| table.column(name).is_some();
    match field {
        Process => has("process_key") || has("thread_key"),
        Module | Method => has("stack_id"),
        File => has("path"),
    }
}

/// Returns the column of texts that an option names.
fn column(table: &str, option: &str) -> Option<&'static str> {
    let column = topics::find(table)?.column(&option.replace('-', "_"))?;
    (column.kind == ColumnKind::Text).then_some(column.name)
}

/// Returns the value of an option as questions read it, or the column that stands for it.
fn json(option: &Opt, text: &str) -> Option<Value> {
    let is_column = text.starts_with('{') && text.ends_with('}');
    match &option.kind {
        OptionKind::Words(_) | OptionKind::Whole(..) | OptionKind::Number if is_column => {
            Some(Value::from(text))
        }
        OptionKind::Text | OptionKind::Range(_) => Some(Value::from(text)),
        OptionKind::Words(known) => known.contains(&text).then(|| Value::from(text)),
        OptionKind::Whole(..) => text.parse::<i64>().ok().map(Value::from),
        OptionKind::Number => text.parse::<f64>().ok().map(Value::from),
        // Flags have no value, and the page cannot name files.
        OptionKind::Flag
        | OptionKind::Several(_)
        | OptionKind::Files
        | OptionKind::List
        | OptionKind::Two => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(line: &str) -> (String, String) {
        let wrong = Spot::read(line).unwrap_err();
        (wrong.word, wrong.expected)
    }

    #[test]
    fn a_line_names_a_view_and_what_narrows_it() {
        let stacks = Spot::read("flame --weight wait --process {pid} --method '*!Ntfs*'").unwrap();
        assert_eq!(stacks.weight, Some("wait"));
        assert_eq!(stacks.table, Some("context_switch"));
        let fields = [
            (Process, "{pid}".to_owned()),
            (Method, "*!Ntfs*".to_owned()),
        ];
        assert_eq!(stacks.fields, fields);

        let rows = Spot::read("network --process 12 --remote-address 10.0.0.1").unwrap();
        assert_eq!(rows.table, Some("net_io"));
        assert_eq!(rows.columns, [("remote_address", "10.0.0.1".to_owned())]);

        let answer = Spot::read("ask gdi-user --leak --by stack --process 12;16").unwrap();
        assert_eq!(answer.question, Some("gdi-user"));
        assert_eq!(answer.options["leak"], true);
        assert_eq!(answer.options["by"], "stack");
        assert_eq!(answer.fields, [(Process, "12;16".to_owned())]);

        let columns = Spot::read("ask gc --by {kind} --top {count}").unwrap();
        assert_eq!(columns.options["by"], "{kind}");
        assert_eq!(columns.options["top"], "{count}");
        let filled = Spot::read("ask gc --top 3").unwrap();
        assert_eq!(filled.options["top"], 3);
    }

    #[test]
    fn each_word_that_means_nothing_is_named() {
        for (line, word, expected) in [
            ("", "", "a view of the page, such as flame, disk or gc"),
            (
                "flam --weight cpu",
                "flam",
                "a view of the page, such as flame, disk or gc",
            ),
            ("flame --process 1", "", "--weight cpu, wait or ready"),
            ("flame --weight disk", "disk", "cpu, wait or ready"),
            ("flame --weight cpu --file x", "--file", "a filter of flame"),
            ("disk 12", "12", "a filter of disk"),
            ("disk --process", "", "a value after --process"),
            ("disk --pth x", "--pth", "a filter of disk"),
            // A column of numbers is not compared with a text.
            ("disk --size-bytes 1", "--size-bytes", "a filter of disk"),
            ("modules --method x", "--method", "a filter of modules"),
            ("dpc-isr --process 12", "--process", "a filter of dpc-isr"),
            ("gc --details x", "--details", "a filter of gc"),
            ("ask gcs", "gcs", "a question of dump"),
            ("ask gc --leak", "--leak", "a filter of dump gc"),
            ("ask gc --by", "", "a value after --by"),
            ("ask gc --by colour", "colour", "a value of --by"),
            ("ask gc --top many", "many", "a value of --top"),
        ] {
            assert_eq!(
                wrong(line),
                (word.to_owned(), expected.to_owned()),
                "{line}"
            );
        }
    }

    #[test]
    fn each_view_has_its_table_or_question_and_is_documented() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnose.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        let (_, docs) = docs.split_once("### Views of a spot").unwrap();
        for (name, shows) in VIEWS {
            assert!(docs.contains(&format!("`{name}")), "{name}");
            match shows {
                Rows(table) => assert!(topics::find(table).is_some(), "{name}"),
                Answer(question) => assert!(question_of(question).is_some(), "{name}"),
                Stacks | AnyAnswer => {}
            }
        }
    }
}
