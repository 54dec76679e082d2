//! Stack tag files: the XML that Windows Performance Analyzer reads.
//!
//! ```xml
//! <Tag Name="">
//!   <Tag Name="Parent" Priority="2">
//!     <Entrypoint Module="ntfs.sys" Method="NtfsCommon*"/>
//!     <Tag Name="Child"> … </Tag>
//!     <HintTag Name="Servers" HintOperator="Callee" OnlyShowModule="false"> <Entrypoint …/> </HintTag>
//!   </Tag>
//! </Tag>
//! ```
//!
//! Whatever can be followed is used; everything else is a warning.

use etwkit_base::index::IndexVec;

use super::TagFileError;
use super::entries::Declared;
use super::rule::{Hint, Neighbour, Rule};
use crate::xml::{Attributes, Node, Nodes, Text, Warnings, clipped};

/// Limits of a file. Known files have some hundred tags, three levels deep; generated ones have a
/// hundred thousand.
const MAX_BYTES: usize = 32 << 20;
const MAX_DEPTH: usize = 64;
const MAX_ELEMENTS: usize = 1_000_000;
const MAX_NAME: usize = 1024;
const MAX_PATTERN: usize = 4096;
/// Bytes of one path. A hint tag repeats its path for each frame that it adds.
const MAX_PATH: usize = 4096;
/// Bytes of all paths: a path has the names of all tags around its own.
const MAX_PATHS: usize = 64 << 20;

/// Appends the rules of a file to those read so far. Returns what could not be followed.
pub(super) fn read(
    file: &str,
    bytes: &[u8],
    rules: &mut IndexVec<Rule>,
    entries: &mut Declared,
) -> Result<Warnings, TagFileError> {
    let none = |expected: &str, found: String| TagFileError::at(file, "", 0, expected, found);
    if bytes.len() > MAX_BYTES {
        return Err(none("at most 32 MiB", format!("{} bytes", bytes.len())));
    }
    let Some(Text { text, doubts }) = Text::decode(bytes) else {
        let found = format!("{} bytes that are none", bytes.len());
        return Err(none("text in UTF-8 or UTF-16", found));
    };
    let mut warnings = Warnings::default();
    for doubt in doubts {
        warnings.add(file, &text, 0, || doubt);
    }
    let before = entries.count();
    let parser = Parser {
        file,
        text: &text,
        open: Vec::new(),
        skipped: 0,
        elements: 0,
        path_bytes: 0,
        first: None,
        has_tag: false,
        warnings,
        rules,
        entries,
    };
    parser.parse(before)
}

/// An open element.
#[derive(Debug)]
enum OpenElement {
    Tag(Tag),
    /// An entry point, or an element around the tags of the file.
    Passed,
}

/// A tag that is open.
#[derive(Debug)]
struct Tag {
    /// Names of it and the tags around it, joined by `\`.
    path: String,
    priority: i32,
    hint: Option<Hint>,
    entries: Vec<(String, String)>,
}

struct Parser<'p> {
    file: &'p str,
    text: &'p str,
    open: Vec<OpenElement>,
    /// Elements in each other that are left out.
    skipped: usize,
    elements: usize,
    path_bytes: usize,
    /// The first element.
    first: Option<(usize, String)>,
    has_tag: bool,
    warnings: Warnings,
    rules: &'p mut IndexVec<Rule>,
    entries: &'p mut Declared,
}

impl Parser<'_> {
    /// `before` is the number of entry points of other files.
    fn parse(mut self, before: usize) -> Result<Warnings, TagFileError> {
        let mut nodes = Nodes::new(self.file, self.text);
        while let Some(node) = nodes.next(&mut self.warnings) {
            match node {
                Node::Open(_) | Node::Close if self.skipped > 0 => {
                    let opens = matches!(node, Node::Open(_));
                    self.skipped = if opens {
                        self.skipped + 1
                    } else {
                        self.skipped - 1
                    };
                }
                Node::Open(element) => self.start(element),
                Node::Close => self.end(),
                // Some files have notes between their elements.
                Node::Text(_) => {}
            }
        }
        self.checked(before)
    }

    /// The warnings, if the file has something that can be used.
    fn checked(mut self, before: usize) -> Result<Warnings, TagFileError> {
        if !self.has_tag {
            let end = (self.text.len(), "the end".to_owned());
            let (at, found) = self.first.unwrap_or(end);
            return Err(TagFileError::at(
                self.file,
                self.text,
                at,
                "<Tag Name=\"\">",
                found,
            ));
        }
        if self.entries.count() > before {
            return Ok(self.warnings);
        }
        if let Some(first) = self.warnings.first() {
            return Err(TagFileError {
                file: first.file.clone(),
                line: first.line,
                column: first.column,
                expected: "at least one <Entrypoint> that can be used".to_owned(),
                found: format!("none: {}", first.text),
            });
        }
        // Tools come with such files, for rules to be added to.
        self.warn(0, || {
            "there is no <Entrypoint>: the file tags nothing".to_owned()
        });
        Ok(self.warnings)
    }

    fn start(&mut self, element: Attributes<'_>) {
        self.elements += 1;
        if self.first.is_none() {
            self.first = Some((element.at, format!("<{}>", clipped(element.name))));
        }
        if self.elements > MAX_ELEMENTS {
            self.leave_out(element.at, || {
                format!("left out: only the first {MAX_ELEMENTS} elements are read")
            });
        } else if self.open.len() >= MAX_DEPTH {
            self.leave_out(element.at, || {
                format!("left out: only {MAX_DEPTH} elements in each other are read")
            });
        } else if element.is("Entrypoint") {
            self.entry(element);
        } else if element.is("Tag") {
            self.tag(element, false);
        } else if element.is("HintTag") {
            self.tag(element, true);
        } else if self.tag_around().is_none() {
            // Some tool put its own element around the tags.
            self.warn(element.at, || {
                let name = clipped(element.name);
                format!("<{name}> is unknown: the tags in it are read as if it were not there")
            });
            self.open.push(OpenElement::Passed);
        } else {
            self.leave_out(element.at, || {
                let name = clipped(element.name);
                format!("<{name}> is unknown: it is left out, with all in it")
            });
        }
    }

    /// The innermost open tag.
    fn tag_around(&self) -> Option<&Tag> {
        self.open.iter().rev().find_map(|open| match open {
            OpenElement::Tag(tag) => Some(tag),
            OpenElement::Passed => None,
        })
    }

    fn tag(&mut self, mut element: Attributes<'_>, has_hint: bool) {
        let at = element.at;
        let name = element.take("Name");
        let is_inner = self.tag_around().is_some();
        if name.is_none() && is_inner {
            let kind = element.name;
            self.warn(at, || {
                format!("<{kind}> has no Name: its content belongs to the tag around it")
            });
        }
        let name = name.unwrap_or_default();
        if name.len() > MAX_NAME {
            return self.leave_out(at, || {
                let length = name.len();
                format!("left out: its Name has {length} bytes, and {MAX_NAME} are the most")
            });
        }
        let around = self.tag_around().map_or("", |tag| tag.path.as_str());
        // A root without a name does not appear in paths.
        let path = match (around, &*name) {
            ("", name) => name.to_owned(),
            (around, "") => around.to_owned(),
            (around, name) => format!("{around}\\{name}"),
        };
        if path.len() > MAX_PATH {
            return self.leave_out(at, || {
                let length = path.len();
                format!("left out: its path has {length} bytes, and {MAX_PATH} are the most")
            });
        }
        self.path_bytes += path.len();
        if self.path_bytes > MAX_PATHS {
            return self.leave_out(at, || {
                let most = MAX_PATHS >> 20;
                format!("left out: all paths together have more than {most} MiB")
            });
        }
        let priority = self.priority(&mut element);
        let hint = if has_hint {
            self.hint(&mut element)
        } else {
            None
        };
        if !has_hint {
            for name in ["HintOperator", "OnlyShowModule"] {
                if element.take(name).is_some() {
                    self.warn(at, || {
                        format!("{name} has no effect: it belongs to a <HintTag>")
                    });
                }
            }
        }
        self.unknown(&element);
        if std::mem::replace(&mut self.has_tag, true) && !is_inner {
            self.warn(at, || {
                "a second tag that is in no other: it is read as if both were in one".to_owned()
            });
        }
        self.open.push(OpenElement::Tag(Tag {
            path,
            priority,
            hint,
            entries: Vec::new(),
        }));
    }

    fn priority(&mut self, element: &mut Attributes<'_>) -> i32 {
        let Some(text) = element.take("Priority") else {
            return 0;
        };
        match text.trim() {
            "" => 0,
            // A number beyond all others is stronger or weaker than them.
            number => number.parse::<i64>().map_or_else(
                |_| {
                    self.warn(element.at, || {
                        let text = clipped(number);
                        format!("Priority {text:?} is not a whole number: it counts as 0")
                    });
                    0
                },
                |number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
            ),
        }
    }

    /// The hint of a `HintTag`. Without a known operator it is a tag like others.
    fn hint(&mut self, element: &mut Attributes<'_>) -> Option<Hint> {
        let at = element.at;
        let operator = element.take("HintOperator");
        let neighbour = match operator.as_deref().map(str::trim) {
            Some(text) if text.eq_ignore_ascii_case("Callee") => Some(Neighbour::Callee),
            Some(text) if text.eq_ignore_ascii_case("Caller") => Some(Neighbour::Caller),
            other => {
                self.warn(at, || {
                    let found = other.map_or("none".to_owned(), |o| format!("{:?}", clipped(o)));
                    format!(
                        "HintOperator is Callee or Caller, and here {found}: the tag is used \
                         without the frame next to it"
                    )
                });
                None
            }
        };
        let shown = element.take("OnlyShowModule");
        let only_module = match shown.as_deref().map(str::trim) {
            None | Some("" | "1") => true,
            Some("0") => false,
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            Some(other) => {
                self.warn(at, || {
                    let text = clipped(other);
                    format!("OnlyShowModule {text:?} is not true or false: it counts as true")
                });
                true
            }
        };
        Some(Hint {
            neighbour: neighbour?,
            only_module,
        })
    }

    fn entry(&mut self, mut element: Attributes<'_>) {
        let at = element.at;
        let [module, method] = ["Module", "Method"].map(|name| element.take(name));
        self.unknown(&element);
        if matches!(self.open.last(), Some(OpenElement::Passed)) && self.tag_around().is_some() {
            self.warn(at, || {
                "an <Entrypoint> in another one: it is read as one that follows it".to_owned()
            });
        }
        let entry = self.patterns(at, module.as_deref(), method.as_deref());
        let tag = self.open.iter_mut().rev().find_map(|open| match open {
            OpenElement::Tag(tag) => Some(tag),
            OpenElement::Passed => None,
        });
        match tag.filter(|tag| !tag.path.is_empty()) {
            Some(tag) => tag.entries.extend(entry),
            None => self.warn(at, || {
                "left out: the <Entrypoint> is in no <Tag> with a Name".to_owned()
            }),
        }
        self.open.push(OpenElement::Passed);
    }

    /// The patterns of an entry point. A missing one, or an empty one, restricts nothing.
    fn patterns(
        &mut self,
        at: usize,
        module: Option<&str>,
        method: Option<&str>,
    ) -> Option<(String, String)> {
        let [module, method] = [module, method].map(|text| text.unwrap_or("").trim());
        let longest = module.len().max(method.len());
        if longest > MAX_PATTERN {
            self.warn(at, || {
                format!("left out: a pattern has {longest} bytes, and {MAX_PATTERN} are the most")
            });
            return None;
        }
        if module.is_empty() && method.is_empty() {
            self.warn(at, || {
                "left out: the <Entrypoint> has neither Module nor Method".to_owned()
            });
            return None;
        }
        if let Some(text) = [module, method]
            .into_iter()
            .find(|text| is_expression(text))
        {
            self.warn(at, || {
                let text = clipped(text);
                format!("{text:?} is not read as a regular expression: only * has a meaning")
            });
        }
        // Debuggers write a method as module!method.
        let (module, method) = match method.split_once('!') {
            Some((file, name)) if module.is_empty() && is_file(file) => (file, name),
            _ => (module, method),
        };
        let file = module.rsplit(['\\', '/']).next().unwrap_or(module);
        if file.len() < module.len() {
            self.warn(at, || {
                let module = clipped(module);
                let file = clipped(file);
                format!("Module {module:?} has a folder: the file name {file:?} is looked for")
            });
        }
        let any = |text: &str| {
            if text.is_empty() {
                "*".to_owned()
            } else {
                text.to_owned()
            }
        };
        Some((any(file), any(method)))
    }

    /// Warns of attributes that have not been taken.
    fn unknown(&mut self, element: &Attributes<'_>) {
        for (name, _) in &element.all {
            self.warn(element.at, || {
                let name = clipped(name);
                format!("{name} of <{}> is unknown and has no effect", element.name)
            });
        }
    }

    /// Ends an element. Rules are numbered as tags end, so a child comes before its parents.
    fn end(&mut self) {
        // A tag without entry points matches nothing: it only names the tags inside.
        let Some(OpenElement::Tag(tag)) = self.open.pop() else {
            return;
        };
        if tag.entries.is_empty() {
            return;
        }
        let rule = self.rules.push(Rule {
            path: tag.path,
            priority: tag.priority,
            hint: tag.hint,
        });
        for (module, method) in &tag.entries {
            self.entries.add(module, method, rule);
        }
    }

    /// Leaves the element out that has just started, with all in it.
    fn leave_out(&mut self, at: usize, warning: impl FnOnce() -> String) {
        self.warn(at, warning);
        self.skipped = 1;
    }

    fn warn(&mut self, at: usize, warning: impl FnOnce() -> String) {
        self.warnings.add(self.file, self.text, at, warning);
    }
}

/// True if someone meant a regular expression: no name has these characters there.
fn is_expression(text: &str) -> bool {
    text.starts_with('^') || text.contains('|')
}

/// True if a text is a pattern of a file and not of an operator in C++.
fn is_file(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-*+".contains(c);
    !text.is_empty() && text.chars().all(is_part) && !text.ends_with("operator")
}
