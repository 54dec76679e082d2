//! Findings as a file to pass on: a page of HTML, or Markdown for an issue or a mail.

use std::fmt::{Display, Formatter, Result, Write as _};

use etwkit_base::shell;
use etwkit_sql::library::Param;

use super::evidence::Printed;
use super::finding::FindingRow;
use super::question::headline;
use super::sentence::of_cause;
use super::view::unchecked;
use super::{Diagnosis, Rule};
use crate::duration::duration;
use crate::page::{END, Text, head, write_visible};

/// The diagnosis of a trace, with what the trace is called.
#[derive(Debug, Clone)]
pub struct Reported {
    /// Name of the trace, without the folders that lead to it.
    pub trace: String,
    /// Name of the queried file without folders: a trace, an extract or an archive.
    pub input: String,
    /// What the rules say of it.
    pub diagnosis: Diagnosis,
}

/// Columns of the table of findings, and whether they are numbers, which are aligned to the right.
const COLUMNS: [(&str, bool); 8] = [
    ("#", true),
    ("Cost", true),
    ("Share", true),
    ("Culprit", false),
    ("Victim", false),
    ("Longest at", true),
    ("Rule", false),
    ("Confidence", false),
];

/// A title above costs that no rule finds fault with.
const LARGEST: &str = "Largest costs, which are not findings";

/// The cells of a finding.
fn cells(finding: &FindingRow) -> [String; COLUMNS.len()] {
    let percent = finding
        .cost_percent
        .map_or_else(String::new, |percent| format!("{percent:.1} %"));
    let victim = finding
        .process
        .as_ref()
        .zip(finding.pid)
        .map_or_else(String::new, |(name, pid)| format!("{name} ({pid})"));
    // Seconds from the start of the trace, as in the other answers.
    // A finding without a longest piece still has its first one.
    let from = finding
        .at_ns
        .or(finding.from_ns)
        .map_or_else(String::new, |ns| format!("{:.3} s", ns as f64 / 1e9));
    [
        finding.number.to_string(),
        finding.cost_ns.map_or_else(|| "note".to_owned(), duration),
        percent,
        finding.culprit.clone(),
        victim,
        from,
        finding.rule.clone(),
        finding.confidence.clone(),
    ]
}

/// What is known about a finding besides its row, in the order in which people want to know it.
fn details(finding: &FindingRow) -> impl Iterator<Item = (&'static str, &str)> {
    let all: [(&'static str, &str); 5] = [
        ("What to do", &finding.fix),
        ("Why", &finding.why),
        ("Does not prove", &finding.not_proved),
        ("Victims", &finding.victims),
        ("The evidence shows", &finding.shows),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty())
}

/// Commands that show the rows behind a finding, its waits and its stack. They run in the folder of
/// the file `input`.
fn blocks<'f>(
    finding: &'f FindingRow,
    input: &str,
) -> impl Iterator<Item = (&'static str, String)> + use<'f> {
    // Commands are copied into a shell, and the name may have blanks and wildcards.
    let input = shell::quoted_pattern(input);
    let commands: String = finding
        .evidence
        .lines()
        .map(|line| format!("etwkit {line} {input}\n"))
        .collect();
    let commands = Some(("Evidence", commands)).filter(|(_, text)| !text.is_empty());
    commands
        .into_iter()
        .chain(longest(finding).map(|(title, text)| (title, text.to_owned())))
}

/// The waits and the stack of the longest piece.
fn longest(finding: &FindingRow) -> impl Iterator<Item = (&'static str, &str)> {
    let all = [
        ("Waits of the longest piece", &finding.chain),
        ("Stack of the longest piece", &finding.stack),
    ];
    all.into_iter()
        .filter_map(|(title, text)| Some((title, text.as_deref()?)))
        .filter(|(_, text)| !text.is_empty())
}

/// A page of HTML without scripts, which loads nothing.
#[must_use]
pub fn html(all: &[Reported]) -> String {
    // No script and no link: mail programs and issue trackers show the page as it is.
    let mut page = head("diagnose");
    // Writing into a text cannot fail.
    let _ = all.iter().try_for_each(|one| html_of(&mut page, one));
    page + END
}

fn html_of(page: &mut String, reported: &Reported) -> Result {
    let Diagnosis {
        findings,
        rules,
        costs,
        failed_costs,
        ..
    } = &reported.diagnosis;
    writeln!(page, "<h1>{}</h1>", Text(&headline(&reported.diagnosis)))?;
    writeln!(page, "<p class=names>{}</p>", Text(&reported.trace))?;
    let class = |is_number: bool| if is_number { " class=n" } else { "" };
    // Titles over nothing would look like an error.
    if !findings.is_empty() {
        page.write_str("<table><tr>")?;
        for (title, is_number) in COLUMNS {
            write!(page, "<th{}>{title}", class(is_number))?;
        }
        writeln!(page, "</tr>")?;
        for finding in findings {
            page.write_str("<tr>")?;
            for ((_, is_number), cell) in COLUMNS.iter().zip(cells(finding)) {
                write!(page, "<td{}>{}", class(*is_number), Text(&cell))?;
            }
            writeln!(page, "</tr>")?;
        }
        writeln!(page, "</table>")?;
    }
    for finding in findings {
        writeln!(
            page,
            "<h2>{}. {}</h2><dl>",
            finding.number,
            Text(&finding.sentence)
        )?;
        if let Some(cause) = finding.explained_by {
            writeln!(page, "<dt>Cause<dd>{}", of_cause(cause))?;
        }
        details(finding)
            .try_for_each(|(title, text)| writeln!(page, "<dt>{title}<dd>{}", Text(text)))?;
        blocks(finding, &reported.input).try_for_each(|(title, text)| block(page, title, &text))?;
        writeln!(page, "</dl>")?;
    }
    // Costs only exist where no finding has one.
    if !costs.is_empty() {
        writeln!(page, "<h2>{LARGEST}</h2><ul>")?;
        costs
            .iter()
            .try_for_each(|cost| writeln!(page, "<li>{}", Text(&cost.sentence)))?;
        writeln!(page, "</ul>")?;
    }
    let missing = unchecked(&[rules.as_slice(), failed_costs.as_slice()].concat());
    if !missing.is_empty() {
        writeln!(page, "<h2>Not checked</h2><ul>")?;
        missing
            .iter()
            .try_for_each(|line| writeln!(page, "<li>{}", Text(line)))?;
        writeln!(page, "</ul>")?;
    }
    Ok(())
}

/// A part of a list whose lines stand as they are.
fn block(page: &mut String, title: &str, text: &str) -> Result {
    write!(page, "<dt>{}<dd><pre>", Text(title))?;
    text.lines()
        .try_for_each(|line| writeln!(page, "{}", Text(line)))?;
    writeln!(page, "</pre>")
}

/// A page of HTML about one finding of a trace, with the rows behind it.
#[must_use]
pub fn html_of_one(trace: &str, finding: &FindingRow, evidence: &[Printed]) -> String {
    let mut page = head("diagnose");
    // Writing into a text cannot fail.
    let _ = write_one(&mut page, (trace, finding), evidence);
    page + END
}

fn write_one(
    page: &mut String,
    (trace, finding): (&str, &FindingRow),
    evidence: &[Printed],
) -> Result {
    writeln!(page, "<h1>{}</h1>", Text(&finding.sentence))?;
    writeln!(page, "<p class=names>{}</p><dl>", Text(trace))?;
    let cells = cells(finding);
    for ((title, _), cell) in COLUMNS
        .iter()
        .zip(&cells)
        // The number is of no use to a page of one finding.
        .skip(1)
        .filter(|(_, cell)| !cell.is_empty())
    {
        writeln!(page, "<dt>{title}<dd>{}", Text(cell))?;
    }
    details(finding)
        .try_for_each(|(title, text)| writeln!(page, "<dt>{title}<dd>{}", Text(text)))?;
    let input = shell::quoted_pattern(trace);
    evidence
        .iter()
        .try_for_each(|one| block(page, &format!("etwkit {} {input}", one.line), &one.text))?;
    longest(finding).try_for_each(|(title, text)| block(page, title, text))?;
    writeln!(page, "</dl>")
}

/// Text in Markdown: whatever could be markup is escaped, line breaks become spaces.
struct Plain<'t>(&'t str);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for letter in self.0.chars() {
            match letter {
                // A line break would end the row of the table, or begin a list or heading.
                '\n' | '\r' | '\t' => f.write_char(' ')?,
                // `@` and `#` are among them since trackers make links to people and issues of them.
                '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~'
                | '&' | '!' | '@' => {
                    f.write_char('\\')?;
                    f.write_char(letter)?;
                }
                letter => write_visible(f, letter)?,
            }
        }
        Ok(())
    }
}

/// A line of a block of code.
struct Code<'t>(&'t str);

impl Display for Code<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.0
            .chars()
            .try_for_each(|letter| write_visible(f, letter))
    }
}

/// Markdown, for an issue or a mail.
#[must_use]
pub fn markdown(all: &[Reported]) -> String {
    let mut text = String::new();
    // Several traces in one text, with an empty line between them.
    for (number, one) in all.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        // Writing into a text cannot fail.
        // The traces after it are still worth having.
        let _ = markdown_of(&mut text, one);
    }
    text
}

fn markdown_of(to: &mut String, reported: &Reported) -> Result {
    let Diagnosis {
        findings,
        rules,
        costs,
        failed_costs,
        ..
    } = &reported.diagnosis;
    writeln!(
        to,
        "# {}\n\n{}",
        Plain(&headline(&reported.diagnosis)),
        Plain(&reported.trace)
    )?;
    if !findings.is_empty() {
        let titles: Vec<&str> = COLUMNS.iter().map(|(title, _)| *title).collect();
        let lines = COLUMNS
            .iter()
            .map(|(_, is_number)| if *is_number { "--:" } else { "---" });
        // A # would begin a heading.
        writeln!(
            to,
            "\n| {} |\n|{}|",
            titles.join(" | ").replace('#', "\\#"),
            lines.collect::<Vec<_>>().join("|")
        )?;
        for finding in findings {
            let cells = cells(finding).map(|cell| Plain(&cell).to_string());
            writeln!(to, "| {} |", cells.join(" | "))?;
        }
    }
    for finding in findings {
        writeln!(to, "\n## {}. {}", finding.number, Plain(&finding.sentence))?;
        if let Some(cause) = finding.explained_by {
            writeln!(to, "\n**Cause**: {}", of_cause(cause))?;
        }
        for (title, text) in details(finding) {
            writeln!(to, "\n**{title}**: {}", Plain(text))?;
        }
        for (title, text) in blocks(finding, &reported.input) {
            // A stack may have backticks: names of generic methods of .NET do.
            let fence = fence(&text);
            writeln!(to, "\n**{title}**:\n\n{fence}")?;
            text.lines()
                .try_for_each(|line| writeln!(to, "{}", Code(line)))?;
            writeln!(to, "{fence}")?;
        }
    }
    if !costs.is_empty() {
        writeln!(to, "\n## {LARGEST}\n")?;
        costs
            .iter()
            .try_for_each(|cost| writeln!(to, "- {}", Plain(&cost.sentence)))?;
    }
    let missing = unchecked(&[rules.as_slice(), failed_costs.as_slice()].concat());
    if !missing.is_empty() {
        writeln!(to, "\n## Not checked\n")?;
        missing
            .iter()
            .try_for_each(|line| writeln!(to, "- {}", Plain(line)))?;
    }
    Ok(())
}

/// A fence around code that nothing in the code can close.
fn fence(code: &str) -> String {
    // A fence is closed only by one at least as long, so that it is one longer than any run inside.
    // At least three, which is the shortest fence.
    let runs = code.split(|c| c != '`').map(str::len);
    "`".repeat(runs.fold(2, usize::max) + 1)
}

impl Rule {
    /// What the rule is, in words: names and texts, in the order in which people want to know them.
    #[must_use]
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let threshold = |one: Param<'_>| {
            let default = one.default.unwrap_or("");
            (
                "threshold",
                format!("{} = {default}: {}", one.name, one.doc),
            )
        };
        let texts = [
            ("rule", self.name.clone()),
            ("why", self.why.clone()),
            ("fix", self.fix.clone()),
            ("does not prove", self.not_proved.clone()),
            ("needs", self.needs.join(", ")),
            ("needs to exclude", self.needs_to_exclude.join(", ")),
            ("names", self.names.join(", ")),
            ("modules", self.modules.join(", ")),
        ];
        let evidence = self
            .evidence
            .iter()
            .map(|line| ("evidence", format!("etwkit {}", line.template)));
        let shows = [("shows", self.shows.clone())];
        let all = texts
            .into_iter()
            .chain(self.thresholds().map(threshold))
            .chain(evidence)
            .chain(shows);
        all.filter(|(_, text)| !text.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::RuleRow;
    use super::*;

    fn reported() -> Reported {
        let hostile = "a|b`*c*`\u{202e}<b>.sys";
        let finding = FindingRow {
            number: 1,
            rule: "filter-scan".into(),
            sentence: format!("cmd.exe waited 1.19 s for {hostile}."),
            culprit: hostile.into(),
            cost_ns: Some(1_190_000_000),
            cost_percent: Some(12.34),
            process: Some("cmd.exe".into()),
            pid: Some(4711),
            from_ns: Some(2_500_000_000),
            confidence: "high".into(),
            evidence: "dump wait --method '```'\ndump file".into(),
            fix: "Ask its vendor.\nOr not.".into(),
            stack: Some("nt!Wait\n<b>.sys+0x1".into()),
            ..FindingRow::default()
        };
        let rule = RuleRow {
            rule: "dns-timeout".into(),
            state: "not checked".into(),
            missing: Some("DNS queries".into()),
            ..RuleRow::default()
        };
        Reported {
            trace: "slow|run.etl".into(),
            input: "slow|run.zip".into(),
            diagnosis: Diagnosis {
                findings: vec![finding],
                rules: vec![rule],
                ..Diagnosis::default()
            },
        }
    }

    #[test]
    fn markdown_is_a_table_and_a_section_each_and_names_stay_text() {
        let want = r#"# cmd.exe waited 1.19 s for a\|b\`\*c\*\`\u{202e}\<b\>.sys.

slow\|run.etl

| \# | Cost | Share | Culprit | Victim | Longest at | Rule | Confidence |
|--:|--:|--:|---|---|--:|---|---|
| 1 | 1.19 s | 12.3 % | a\|b\`\*c\*\`\u{202e}\<b\>.sys | cmd.exe (4711) | 2.500 s | filter-scan | high |

## 1. cmd.exe waited 1.19 s for a\|b\`\*c\*\`\u{202e}\<b\>.sys.

**What to do**: Ask its vendor. Or not.

**Evidence**:

````
etwkit dump wait --method '```' "slow|run.zip"
etwkit dump file "slow|run.zip"
````

**Stack of the longest piece**:

```
nt!Wait
<b>.sys+0x1
```

## Not checked

- dns-timeout: no DNS queries
"#;
        assert_eq!(markdown(&[reported()]), want);
    }

    #[test]
    fn a_page_has_the_same_and_no_markup_of_strangers() {
        let page = html(&[reported()]);
        assert!(page.starts_with(&crate::page_begins("diagnose")) && page.ends_with(END));
        assert!(
            page.contains("<h1>cmd.exe waited 1.19 s for a|b`*c*`\\u{202e}&lt;b&gt;.sys.</h1>"),
            "{page}"
        );
        assert!(
            page.contains("<td class=n>1.19 s<td class=n>12.3 %<td>a|b"),
            "{page}"
        );
        assert!(
            page.contains("nt!Wait\n&lt;b&gt;.sys+0x1\n</pre>"),
            "{page}"
        );
        assert!(page.contains("<li>dns-timeout: no DNS queries"), "{page}");
        assert!(!page.contains("<b>") && !page.contains("<script"));
    }

    #[test]
    fn without_findings_the_first_line_says_what_was_checked() {
        let nothing = |rule: &str| RuleRow {
            rule: rule.into(),
            state: "nothing".into(),
            ..RuleRow::default()
        };
        let diagnosis = Diagnosis {
            rules: vec![nothing("a"), nothing("b")],
            ..Diagnosis::default()
        };
        let text = markdown(&[Reported {
            trace: "x.etl".into(),
            input: "x.etl".into(),
            diagnosis,
        }]);
        assert_eq!(
            text,
            "# No known cause was found: 2 of 2 rules could be checked\n\nx.etl\n"
        );
    }
}
