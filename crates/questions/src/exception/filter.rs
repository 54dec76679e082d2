//! Rules that exclude uninteresting exceptions, which programs handle themselves.
//!
//! ```xml
//! <ExceptionFilters>
//!   <Filters>
//!     <ExceptionFilterItem>
//!       <ProcessName>shop;db</ProcessName>
//!       <ExceptionType>System.TimeoutException</ExceptionType>
//!       <Message>no answer;busy</Message>
//!       <StackTracePart>Shop.Retry.Run</StackTracePart>
//!       <IsPositiveFilter>false</IsPositiveFilter>
//!       <IsActive>true</IsActive>
//!       <Reason>is tried again</Reason>
//!     </ExceptionFilterItem>
//!   </Filters>
//! </ExceptionFilters>
//! ```

use etwkit_sql::xml::{Element, FileError, Source};

/// The expected form of a file.
const HINT: &str = "rules for exceptions are XML: <ExceptionFilters><Filters> around <ExceptionFilterItem> with <ProcessName>, <ExceptionType>, \
     <Message> and <StackTracePart>, as `etwkit docs dump` describes";

/// Elements allowed in an item.
const PARTS: [&str; 8] = [
    "ProcessName",
    "ExceptionType",
    "Message",
    "StackTracePart",
    "IsPositiveFilter",
    "IsActive",
    "IsCustom",
    "Reason",
];

/// Rules that exclude exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExceptionFilters {
    items: Vec<Item>,
}

/// Conditions that all have to hold; absent ones are empty, and at least one is present.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Item {
    /// Lowercase prefixes of the process name; one of them must match.
    process: Vec<String>,
    exception_type: Option<String>,
    /// Lowercase parts of the message; one of them must match.
    message: Vec<String>,
    /// Parts of the stack; one of them must match.
    stack: Vec<String>,
}

/// The properties of an exception that rules use.
#[derive(Debug, Clone, Copy)]
pub struct Thrown<'t> {
    /// Name of the process; empty if it is not known.
    pub process: &'t str,
    /// Type with namespace.
    pub exception_type: &'t str,
    /// Message.
    pub message: &'t str,
}

impl ExceptionFilters {
    /// Reads a file. Items that are inactive or positive, or without a condition, exclude nothing.
    ///
    /// # Errors
    /// It is not XML, or has elements that rules do not have.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let (source, document) = Source::read(file, bytes, HINT)?;
        let root = source.inner(&document, "ExceptionFilters")?;
        source.check(root, &[], &["Filters"])?;
        let mut items = Vec::new();
        for list in root.all("Filters") {
            source.check(list, &[], &["ExceptionFilterItem"])?;
            for element in &list.children {
                items.extend(item(&source, element)?);
            }
        }
        Ok(Self { items })
    }

    /// Returns the number of rules that can exclude an exception.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns `true` if no rule can exclude an exception.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns `true` if a rule excludes an exception. `stack` returns the frames of its stack as
    /// lines; it is called only if all other conditions hold.
    pub fn leave_out(&self, thrown: Thrown<'_>, stack: impl Fn() -> String) -> bool {
        let process = thrown.process.to_lowercase();
        let message = thrown.message.to_lowercase();
        let mut lines = None;
        self.items.iter().any(|item| {
            holds(&item.process, |begin| process.starts_with(begin))
                && item
                    .exception_type
                    .as_ref()
                    .is_none_or(|wanted| wanted == thrown.exception_type)
                && holds(&item.message, |part| message.contains(part))
                && (item.stack.is_empty() || {
                    // The text of a stack is built once for all rules, and only if one needs it.
                    let lines: &String = lines.get_or_insert_with(&stack);
                    holds(&item.stack, |part| lines.contains(part))
                })
        })
    }
}

/// Returns `true` if one of the texts passes the test, or if there are no texts.
fn holds(texts: &[String], test: impl Fn(&str) -> bool) -> bool {
    texts.is_empty() || texts.iter().any(|text| test(text))
}

fn item(source: &Source<'_>, element: &Element) -> Result<Option<Item>, FileError> {
    source.check(element, &[], &PARTS)?;
    element
        .children
        .iter()
        .try_for_each(|child| source.check(child, &[], &[]))?;
    let text = |name: &'static str| element.all(name).next().map(|child| child.content.trim());
    let list = |name| -> Vec<String> {
        let parts = text(name).unwrap_or("").split(';').map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let lower = |name| list(name).iter().map(|part| part.to_lowercase()).collect();
    let item = Item {
        process: lower("ProcessName"),
        exception_type: text("ExceptionType")
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
        message: lower("Message"),
        stack: list("StackTracePart"),
    };
    let is_active = flag(source, element, "IsActive", true)?;
    let is_positive = flag(source, element, "IsPositiveFilter", false)?;
    flag(source, element, "IsCustom", false)?;
    Ok(Some(item).filter(|item| is_active && !is_positive && *item != Item::default()))
}

/// Returns the flag that an element of an item sets, or `usual` if it sets none.
fn flag(source: &Source<'_>, item: &Element, name: &str, usual: bool) -> Result<bool, FileError> {
    let Some(element) = item.children.iter().find(|child| child.name == name) else {
        return Ok(usual);
    };
    match element.content.trim() {
        "" => Ok(usual),
        "1" => Ok(true),
        "0" => Ok(false),
        text if text.eq_ignore_ascii_case("true") => Ok(true),
        text if text.eq_ignore_ascii_case("false") => Ok(false),
        text => Err(source.error(
            element.at,
            &format!("true or false in <{name}>"),
            format!("{text:?}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(items: &[&str]) -> Result<ExceptionFilters, FileError> {
        let items: String = items
            .iter()
            .map(|item| format!("<ExceptionFilterItem>{item}</ExceptionFilterItem>\n"))
            .collect();
        let file = format!("<ExceptionFilters>\n<Filters>\n{items}</Filters></ExceptionFilters>");
        ExceptionFilters::parse("filters.xml", file.as_bytes())
    }

    /// Returns `true` if a rule excludes the exception that `shop.exe` throws.
    fn leaves_out(item: &str) -> bool {
        let thrown = Thrown {
            process: "Shop.exe",
            exception_type: "System.TimeoutException",
            message: "No answer\nfrom db",
        };
        parse(&[item]).unwrap().leave_out(thrown, || {
            "shop!Shop.Retry.Run\nshop!Shop.Program.Main".to_owned()
        })
    }

    #[test]
    fn each_condition_has_to_hold() {
        for (item, expected) in [
            ("<ProcessName>sho</ProcessName>", true),
            ("<ProcessName>db; SHOP.EXE ;</ProcessName>", true),
            ("<ProcessName>hop</ProcessName>", false),
            ("<ProcessName>shop.exe.</ProcessName>", false),
            (
                "<ExceptionType>System.TimeoutException</ExceptionType>",
                true,
            ),
            (
                "<ExceptionType>system.timeoutexception</ExceptionType>",
                false,
            ),
            ("<ExceptionType>TimeoutException</ExceptionType>", false),
            ("<Message>busy;NO ANSWER</Message>", true),
            ("<Message>from db</Message>", true),
            ("<Message>from  db</Message>", false),
            ("<StackTracePart>Retry.Run</StackTracePart>", true),
            (
                "<StackTracePart>nothing;shop!Shop.Program</StackTracePart>",
                true,
            ),
            ("<StackTracePart>retry.run</StackTracePart>", false),
            (
                "<ProcessName>shop</ProcessName><Message>answer</Message><StackTracePart>Main</StackTracePart>",
                true,
            ),
            (
                "<ProcessName>shop</ProcessName><Message>answer</Message><StackTracePart>Other</StackTracePart>",
                false,
            ),
            (
                "<ProcessName>db</ProcessName><Message>answer</Message>",
                false,
            ),
            (
                "<ExceptionType>System.Exception</ExceptionType><StackTracePart>Main</StackTracePart>",
                false,
            ),
        ] {
            assert_eq!(leaves_out(item), expected, "{item}");
        }
    }

    #[test]
    fn items_that_leave_nothing_out() {
        let item = "<Message>answer</Message>";
        for (more, expected) in [
            (
                "<IsActive>true</IsActive><IsPositiveFilter>False</IsPositiveFilter><IsCustom>1</IsCustom>",
                true,
            ),
            (
                "<IsActive/><IsPositiveFilter/><Reason>is &lt;tried&gt; again</Reason>",
                true,
            ),
            ("<IsActive>false</IsActive>", false),
            ("<IsActive>0</IsActive>", false),
            ("<IsPositiveFilter>true</IsPositiveFilter>", false),
        ] {
            assert_eq!(leaves_out(&format!("{item}{more}")), expected, "{more}");
        }
        for empty in [
            "",
            "<Message/>",
            "<Message>;;</Message><ProcessName> </ProcessName>",
            "<Reason>x</Reason>",
        ] {
            assert!(
                !leaves_out(empty) && parse(&[empty]).unwrap().is_empty(),
                "{empty}"
            );
        }
        assert_eq!(parse(&[item, "", item]).unwrap().len(), 2);
    }

    #[test]
    fn a_stack_is_read_only_where_it_decides() {
        let filters =
            parse(&["<ProcessName>db</ProcessName><StackTracePart>x</StackTracePart>"]).unwrap();
        let thrown = Thrown {
            process: "",
            exception_type: "A",
            message: "",
        };
        assert!(!filters.leave_out(thrown, || panic!("the process does not fit")));
        let thrown = Thrown {
            process: "db.exe",
            ..thrown
        };
        assert!(filters.leave_out(thrown, || "a!x".to_owned()));
        assert!(!filters.leave_out(thrown, String::new));
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_place() {
        for (item, expected) in [
            (
                "<IsActive>perhaps</IsActive>",
                "filters.xml:3:22: expected true or false in <IsActive>, found \"perhaps\"",
            ),
            ("<Massage>x</Massage>", "found <Massage>"),
            (
                "<Message><b/></Message>",
                "expected in <Message>: nothing, found <b>",
            ),
            (
                "<Message Case=\"1\"/>",
                "expected as attribute of <Message>: nothing, found Case",
            ),
            ("<Message>", "expected well-formed XML"),
        ] {
            let error = parse(&[item]).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}\n{error}");
        }
        for text in [
            "",
            "<Filters/>",
            "<ExceptionFilters><Item/></ExceptionFilters>",
            "\0",
            "<!DOCTYPE a><ExceptionFilters/>",
        ] {
            let error = ExceptionFilters::parse("f.xml", text.as_bytes()).unwrap_err();
            assert!(
                error.to_string().starts_with("f.xml:1:") && error.hint().contains("<Filters>"),
                "{error}"
            );
        }
        let many = format!(
            "<ExceptionFilters><Filters>{}",
            "<ExceptionFilterItem/>".repeat(30_000)
        );
        let error = ExceptionFilters::parse("f.xml", many.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.contains("at most 20000 elements"), "{error}");
    }
}
