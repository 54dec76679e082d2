//! Rules that rename processes: hosts such as `svchost.exe` get the name of their service.
//!
//! ```xml
//! <ProcessRenamer>
//!   <ProcessRenamers>
//!     <RenameRule>
//!       <ExeName>svchost.exe</ExeName>
//!       <CmdLineSubstrings> <string>-s EventLog</string> </CmdLineSubstrings>
//!       <NotCmdLineSubstrings/>
//!       <NewExeName>svchost Event Log Service</NewExeName>
//!     </RenameRule>
//!   </ProcessRenamers>
//! </ProcessRenamer>
//! ```

use std::collections::HashMap;

use crate::xml::{Element, FileError, Source};

/// The expected form of a file.
const HINT: &str = "rules for names are XML: <ProcessRenamer><ProcessRenamers> around <RenameRule> with <ExeName>, <CmdLineSubstrings>, \
     <NotCmdLineSubstrings> and <NewExeName>, as `etwkit docs process-names` shows";

/// Maximum number of characters of a name that a rule assigns. Each process that it matches gets a
/// copy.
const MAX_NAME: usize = 260;

/// Rules that came with ETWAnalyzer: a part of the command line of `svchost.exe`, and the new name.
const SUPPLIED: [(&str, &str); 4] = [
    ("-s EventLog", "svchost Event Log Service"),
    ("-s TermService", "svchost RDP Service"),
    ("-s Winmgmt", "svchost WMI Service"),
    ("LocalServiceNoNetworkFirewall", "svchost Firewall"),
];

/// Rules for the names of processes. Of the rules that match a process, the first one that changes
/// its name counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameRules {
    /// Rules in the order of the file, by the lowercase name of the executable.
    rules: HashMap<String, Vec<Rule>>,
}

/// A rule, with the new name of the processes that it matches.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// Lowercase parts of the command line that all have to be present.
    with: Vec<String>,
    /// Lowercase parts that must all be absent.
    without: Vec<String>,
    name: String,
}

impl RenameRules {
    /// Returns the rules that apply without a file.
    #[must_use]
    pub fn supplied() -> Self {
        let rule = |(part, name): (&str, &str)| Rule {
            with: vec![part.to_lowercase()],
            without: Vec::new(),
            name: name.to_owned(),
        };
        Self {
            rules: HashMap::from([("svchost.exe".to_owned(), SUPPLIED.map(rule).into())]),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is not XML, or has elements that rules do not have.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let (source, document) = Source::read(file, bytes, HINT)?;
        let root = source.inner(&document, "ProcessRenamer")?;
        source.check(root, &[], &["ProcessRenamers"])?;
        let mut rules: HashMap<String, Vec<Rule>> = HashMap::new();
        for list in root.all("ProcessRenamers") {
            source.check(list, &[], &["RenameRule"])?;
            for element in &list.children {
                let (exe, rule) = rule(&source, element)?;
                rules.entry(exe).or_default().push(rule);
            }
        }
        Ok(Self { rules })
    }

    /// Returns the name of a process with this executable. A process whose command line is not
    /// known keeps its name.
    #[must_use]
    pub fn name<'n>(&'n self, exe: &'n str, command_line: Option<&str>) -> &'n str {
        // Rules look at command lines alone: without one, a rule with nothing but excluded parts
        // would match by accident.
        let Some((rules, line)) = self.rules.get(&exe.to_lowercase()).zip(command_line) else {
            return exe;
        };
        let line = line.to_lowercase();
        let has = |part: &String| line.contains(part.as_str());
        // A rule that would not change the name is skipped, so that a later one may still change
        // it.
        let fits = |rule: &&Rule| {
            rule.name != exe && rule.with.iter().all(has) && !rule.without.iter().any(has)
        };
        rules.iter().find(fits).map_or(exe, |rule| &rule.name)
    }
}

/// Returns the executable of a rule, and the rule.
fn rule(source: &Source<'_>, element: &Element) -> Result<(String, Rule), FileError> {
    source.check(
        element,
        &[],
        &[
            "ExeName",
            "CmdLineSubstrings",
            "NotCmdLineSubstrings",
            "NewExeName",
        ],
    )?;
    let name = |what: &str| {
        let text = source.inner(element, what)?;
        source.check(text, &[], &[])?;
        let (name, expected) = (
            text.content.trim(),
            format!("a name of 1 to {MAX_NAME} characters in <{what}>"),
        );
        match name.chars().count() {
            1..=MAX_NAME => Ok(name.to_owned()),
            count => Err(source.error(text.at, &expected, format!("{count}"))),
        }
    };
    // An empty part is in every command line; in a list of excluded parts it is ignored.
    let parts = |what: &'static str| {
        let mut all = Vec::new();
        for list in element.all(what) {
            source.check(list, &[], &["string"])?;
            for part in &list.children {
                source.check(part, &[], &[])?;
                all.extend(Some(part.content.to_lowercase()).filter(|part| !part.is_empty()));
            }
        }
        Ok(all)
    };
    let rule = Rule {
        with: parts("CmdLineSubstrings")?,
        without: parts("NotCmdLineSubstrings")?,
        name: name("NewExeName")?,
    };
    Ok((name("ExeName")?.to_lowercase(), rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(rules: &str) -> RenameRules {
        let file = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ProcessRenamer xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n\
             <ProcessRenamers>{rules}</ProcessRenamers></ProcessRenamer>"
        );
        RenameRules::parse("rules.xml", file.as_bytes()).unwrap()
    }

    fn rule(exe: &str, with: &[&str], without: &[&str], name: &str) -> String {
        let list = |parts: &[&str]| {
            parts
                .iter()
                .map(|p| format!("<string>{p}</string>"))
                .collect::<String>()
        };
        format!(
            "<RenameRule><ExeName>{exe}</ExeName><CmdLineSubstrings>{}</CmdLineSubstrings>\
             <NotCmdLineSubstrings>{}</NotCmdLineSubstrings><NewExeName>{name}</NewExeName></RenameRule>",
            list(with),
            list(without)
        )
    }

    #[test]
    fn all_parts_have_to_be_there_and_none_of_the_others() {
        let rules = rules(&rule(
            "Host.EXE",
            &["-k net", "/S:1"],
            &["-test", ""],
            "Host of nets",
        ));
        for (exe, line, name) in [
            ("host.exe", Some("host.exe -K NETSVCS /s:1"), "Host of nets"),
            ("HOST.exe", Some("/s:1 -k net"), "Host of nets"),
            ("host.exe", Some("host.exe -k net"), "host.exe"),
            ("host.exe", Some("-k net /s:1 -TEST"), "host.exe"),
            ("host", Some("-k net /s:1"), "host"),
            ("ghost.exe", Some("-k net /s:1"), "ghost.exe"),
            ("host.exe", None, "host.exe"),
            ("", Some(""), ""),
        ] {
            assert_eq!(rules.name(exe, line), name, "{exe} {line:?}");
        }
    }

    #[test]
    fn the_first_rule_that_changes_the_name_counts() {
        let all = [
            rule("a.exe", &["x"], &[], "a.exe"),
            rule("a.exe", &["x"], &[], "second"),
            rule("a.exe", &["x"], &[], "third"),
            rule("a.exe", &[], &[], "any"),
            // A rule is about the executable, not about the new name from another rule.
            rule("second", &[], &[], "fourth"),
        ];
        let rules = rules(&all.concat());
        assert_eq!(rules.name("a.exe", Some("-x")), "second");
        assert_eq!(
            rules.name("a.exe", Some("")),
            "any",
            "a rule without parts fits every command line"
        );
        assert_eq!(
            rules.name("A.exe", Some("-x")),
            "a.exe",
            "another spelling is another name"
        );
    }

    #[test]
    fn parts_are_plain_text() {
        let rules = rules(&rule(
            "a.exe",
            &["it's 100%_*? &amp; &lt;x&gt;"],
            &[],
            "a &quot;b&quot;",
        ));
        assert_eq!(rules.name("a.exe", Some("IT'S 100%_*? & <X>!")), "a \"b\"");
        assert_eq!(rules.name("a.exe", Some("it's 100 __ & <x>")), "a.exe");
    }

    #[test]
    fn supplied_rules_name_services() {
        let rules = RenameRules::supplied();
        for (line, name) in [
            (
                r"C:\WINDOWS\System32\svchost.exe -k LocalServiceNetworkRestricted -p -s EventLog",
                "svchost Event Log Service",
            ),
            (
                r"svchost.exe -k NetworkService -s TermService",
                "svchost RDP Service",
            ),
            (
                r"svchost.exe -k netsvcs -p -s Winmgmt",
                "svchost WMI Service",
            ),
            (
                r"svchost.exe -k LocalServiceNoNetworkFirewall -p",
                "svchost Firewall",
            ),
            (r"svchost.exe -k NetworkService -s Dnscache", "svchost.exe"),
        ] {
            assert_eq!(rules.name("svchost.exe", Some(line)), name);
        }
        assert_eq!(rules.name("cmd.exe", Some("-s EventLog")), "cmd.exe");
    }

    #[test]
    fn errors_are_reported_with_their_place() {
        let long = "x".repeat(MAX_NAME + 1);
        let deep = format!("<ProcessRenamer>{}", "<a>".repeat(100));
        let many = format!("<ProcessRenamer>{}", "<a/>".repeat(30_000));
        let named = |name: &str| {
            let rule = rule("a.exe", &[], &[], name);
            format!("<ProcessRenamer>\n<ProcessRenamers>{rule}</ProcessRenamers></ProcessRenamer>")
        };
        for (text, expected) in [
            ("", "1:1: expected <ProcessRenamer>, found the end"),
            (
                "<Filters/>",
                "1:1: expected <ProcessRenamer>, found <Filters>",
            ),
            (
                "<ProcessRenamer>\n <Rules/>",
                "expected </ProcessRenamer>, found the end",
            ),
            (
                "<ProcessRenamer>\n <Rules/></ProcessRenamer>",
                "2:2: expected in <ProcessRenamer>: ProcessRenamers, found <Rules>",
            ),
            (
                "<!DOCTYPE a [<!ENTITY b \"c\">]><ProcessRenamer/>",
                "1:1: expected no document type",
            ),
            (
                &named(""),
                "a name of 1 to 260 characters in <NewExeName>, found 0",
            ),
            (
                &named(&long),
                "a name of 1 to 260 characters in <NewExeName>, found 261",
            ),
            (&named("&b;"), "expected an entity that XML has, found &b;"),
            (&deep, "64 in each other, found one more"),
            (&many, "expected at most 20000 elements"),
            (
                "<ProcessRenamer><ProcessRenamers><RenameRule><ExeName>a</ExeName></RenameRule></ProcessRenamers></ProcessRenamer>",
                "1:34: expected <NewExeName>, found <ExeName>",
            ),
        ] {
            let error = RenameRules::parse("r.xml", text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(expected), "{expected}\n{error}");
            assert!(error.hint().contains("<RenameRule>"));
        }
        assert!(RenameRules::parse("r.xml", b"\xFF\x00\x00").is_err());
        assert!(RenameRules::parse("r.xml", &vec![b' '; 17 << 20]).is_err());
    }
}
