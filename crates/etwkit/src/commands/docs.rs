//! `etwkit docs`: the documentation, which is a part of the program.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use etwkit_sql::similar;
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use crate::cli::DocsArgs;
use crate::printer::Printer;

include!(concat!(env!("OUT_DIR"), "/docs.rs"));

/// The page that lists all others.
const SUMMARY: &str = "SUMMARY.md";
/// The page that is opened without a topic.
const START: &str = "README.md";

pub(crate) fn run(args: &DocsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let page = match &args.topic {
        Some(topic) => Some(find(topic)?),
        None => None,
    };
    if args.plain {
        let text = match page {
            Some((_, text)) => without_comments(text),
            None => contents(),
        };
        printer.block(&text)?;
        return Ok(Exit::Answered);
    }
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => folder_in_cache(printer)?,
    };
    write_site(&folder)
        .with_context(|| format!("cannot write the documentation to {}", folder.display()))?;
    let (name, _) = page.unwrap_or((START, ""));
    let file = folder.join(with_html(name));
    printer.line(&format!("The documentation: {}", file.display()))?;
    if !args.no_open && args.out.is_none() && open::that_detached(&file).is_err() {
        printer.note(
            "no browser can be opened: open this file yourself, or print a page with `etwkit docs --plain TOPIC`",
        );
    }
    Ok(Exit::Answered)
}

fn folder_in_cache(printer: &Printer<'_>) -> anyhow::Result<PathBuf> {
    let cache = printer.context().engine.settings().cache.clone();
    let cache = cache.context("there is no folder for the cache; set ETWKIT_CACHE")?;
    Ok(cache.join("docs").join(env!("CARGO_PKG_VERSION")))
}

/// Finds a page by its path in `docs` or by its last part, with or without `.md`.
///
/// # Errors
/// No page has this name; the hint has similar ones.
fn find(topic: &str) -> anyhow::Result<(&'static str, &'static str)> {
    let wanted = topic.trim_end_matches(".md").to_lowercase();
    let wanted = wanted.strip_prefix("docs/").unwrap_or(&wanted);
    let path = |name: &str| topic_of(name).to_lowercase();
    let last = |name: &str| {
        let path = path(name);
        path.rsplit('/').next().unwrap_or(&path).to_owned()
    };
    let by_path = PAGES.iter().find(|(name, _)| path(name) == wanted);
    let by_name = || PAGES.iter().find(|(name, _)| last(name) == wanted);
    if let Some(page) = by_path.or_else(by_name) {
        return Ok(*page);
    }
    Err(advised(
        format!("no page of the documentation is named {topic}"),
        hint(topic),
    ))
}

/// Returns the names of pages that are close to a topic.
fn hint(topic: &str) -> String {
    let last = |(name, _): &(&'static str, &str)| topic_of(name).rsplit('/').next();
    let topics: Vec<&str> = PAGES.iter().filter_map(last).collect();
    match similar(topic, &topics).as_slice() {
        [] => "`etwkit docs --plain` lists all pages".to_owned(),
        close => format!("similar: {}", close.join(", ")),
    }
}

/// Returns the name of a page on the command line: `howto/leaks` for `howto/leaks.md`.
fn topic_of(name: &str) -> &str {
    let name = name.trim_end_matches(".md");
    name.strip_suffix("/README").unwrap_or(name)
}

fn text_of(name: &str) -> &'static str {
    PAGES
        .iter()
        .find(|(page, _)| *page == name)
        .map_or("", |(_, text)| text)
}

/// A line of the table of contents.
#[derive(Debug, PartialEq, Eq)]
enum Entry<'a> {
    Part(&'a str),
    Page {
        level: usize,
        title: &'a str,
        name: &'a str,
    },
}

/// Returns the parts and pages of the table of contents.
fn entries(summary: &str) -> Vec<Entry<'_>> {
    summary.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<Entry<'_>> {
    if let Some(part) = line.strip_prefix("# ") {
        return (part != "Summary").then_some(Entry::Part(part));
    }
    let text = line.trim_start();
    let level = (line.len() - text.len()) / 2;
    let link = text.trim_start_matches("- ").strip_prefix('[')?;
    let (title, name) = link.strip_suffix(')')?.split_once("](")?;
    Some(Entry::Page { level, title, name })
}

/// Returns the table of contents with the names that `etwkit docs` takes.
fn contents() -> String {
    let mut text = "etwkit docs TOPIC opens a page, with --plain it is printed.\n".to_owned();
    for entry in entries(text_of(SUMMARY)) {
        let _ = match entry {
            Entry::Part(part) => write!(text, "\n{part}:\n"),
            Entry::Page { level, title, name } => {
                let topic = format!("{:indent$}{}", "", topic_of(name), indent = 2 * level);
                writeln!(text, "  {topic:<34} {title}")
            }
        };
    }
    text
}

/// Returns a page without its comments, which are for the tests of examples.
fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| line.starts_with("<!--") && line.ends_with("-->");
    let lines: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    lines.join("\n") + "\n"
}

fn with_html(name: &str) -> String {
    format!("{}.html", name.trim_end_matches(".md"))
}

/// Writes all pages and pictures, their style, and an index for the search.
fn write_site(folder: &Path) -> std::io::Result<()> {
    for (name, bytes) in PICTURES {
        write(&folder.join(name), bytes)?;
    }
    let entries = entries(text_of(SUMMARY));
    let mut index = Vec::new();
    for (name, text) in PAGES.iter().filter(|(name, _)| *name != SUMMARY) {
        let page = page(name, text, &entries);
        write(&folder.join(with_html(name)), page.as_bytes())?;
        index.push(serde_json::json!({
            "page": with_html(name),
            "title": title(text),
            "text": text,
        }));
    }
    write(&folder.join("style.css"), STYLE.as_bytes())?;
    let index = serde_json::Value::from(index);
    let script = format!("const PAGES = {index};\n{SEARCH}");
    write(&folder.join("search.js"), script.as_bytes())
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, bytes)
}

/// Returns the first heading of a page.
fn title(text: &str) -> &str {
    text.lines()
        .find_map(|line| line.strip_prefix("# "))
        .unwrap_or("etwkit")
}

/// Returns a page as HTML, with the table of contents at its side.
fn page(name: &str, text: &str, entries: &[Entry<'_>]) -> String {
    let up = "../".repeat(name.matches('/').count());
    let mut contents = String::new();
    for entry in entries {
        let _ = match entry {
            Entry::Part(part) => writeln!(contents, "<h2>{part}</h2>"),
            Entry::Page {
                level,
                title,
                name: other,
            } => {
                let here = if *other == name {
                    " aria-current=\"page\""
                } else {
                    ""
                };
                let file = with_html(other);
                writeln!(
                    contents,
                    "<a class=\"level-{level}\" href=\"{up}{file}\"{here}>{title}</a>"
                )
            }
        };
    }
    let body = body(name, text);
    let title = title(text);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · etwkit</title>\n<link rel=\"stylesheet\" href=\"{up}style.css\">\n\
         <nav data-up=\"{up}\"><input type=\"search\" placeholder=\"Search\" aria-label=\"Search\">\n\
         <div id=\"found\"></div>\n<div id=\"contents\">{contents}</div></nav>\n\
         <main>\n{body}</main>\n<script src=\"{up}search.js\"></script>\n</html>\n"
    )
}

/// Returns the text of a page as HTML. Headings have anchors, links go to pages of the site, and
/// links that leave `docs` are plain text.
fn body(name: &str, text: &str) -> String {
    let mut anchors = BTreeSet::new();
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut heading = None;
    for at in 0..events.len() {
        match events.get(at) {
            Some(Event::Start(Tag::Heading { .. })) => heading = Some((at, String::new())),
            Some(Event::Text(text) | Event::Code(text)) => {
                if let Some((_, words)) = &mut heading {
                    words.push_str(text);
                }
            }
            Some(Event::End(TagEnd::Heading(_))) => {
                if let Some((start, words)) = heading.take()
                    && let Some(start) = events.get_mut(start)
                {
                    set_anchor(start, &words, &mut anchors);
                }
            }
            _ => {}
        }
    }
    let mut is_outside = false;
    let events = events.into_iter().filter_map(|event| match event {
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => match link(name, &dest_url) {
            Some(dest_url) => Some(Event::Start(Tag::Link {
                link_type,
                dest_url: dest_url.into(),
                title,
                id,
            })),
            None => {
                is_outside = true;
                None
            }
        },
        Event::End(TagEnd::Link) if is_outside => {
            is_outside = false;
            None
        }
        // Pages have no markup of their own but comments.
        Event::Html(_) | Event::InlineHtml(_) => None,
        other => Some(other),
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    body
}

/// Gives a heading the anchor that pages of repositories have: its words in lower case, with `-`
/// between them.
fn set_anchor(event: &mut Event<'_>, words: &str, anchors: &mut BTreeSet<String>) {
    let Event::Start(Tag::Heading { id, .. }) = event else {
        return;
    };
    let plain: String = words
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect();
    let mut anchor = plain.clone();
    let mut again = 1;
    while !anchors.insert(anchor.clone()) {
        anchor = format!("{plain}-{again}");
        again += 1;
    }
    *id = Some(CowStr::from(anchor));
}

/// Returns the target of a link on the site; `None` if it leaves `docs`.
fn link(name: &str, target: &str) -> Option<String> {
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, format!("#{anchor}")),
        None => (target, String::new()),
    };
    if file.is_empty() || target.contains("://") {
        return Some(target.to_owned());
    }
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            ".." => parts.pop().map(|_| ())?,
            "." | "" => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let readme = format!("{path}/README.md");
    let is_page = |name: &str| PAGES.iter().any(|(page, _)| *page == name);
    let folder = if file.ends_with('/') { "" } else { "/" };
    if is_page(&path) {
        Some(format!("{}{anchor}", with_html(file)))
    } else if is_page(&readme) {
        Some(format!("{file}{folder}README.html{anchor}"))
    } else {
        None
    }
}

const STYLE: &str = "
body{margin:0;display:flex;font:16px/1.55 system-ui,sans-serif;color:#1c2530;background:#fff}
nav{flex:none;width:19rem;height:100vh;position:sticky;top:0;overflow:auto;box-sizing:border-box;padding:1rem;
background:#f5f7f9;border-right:1px solid #dde3e8;font-size:14px}
nav h2{font-size:12px;text-transform:uppercase;color:#5b6875;margin:1.2rem 0 .2rem}
nav a{display:block;padding:.15rem .3rem;color:inherit;text-decoration:none;border-radius:4px}
nav a:hover,nav a[aria-current]{background:#e1eaf5}
nav .level-1{padding-left:1.2rem}
nav input{width:100%;box-sizing:border-box;padding:.35rem;font:inherit}
main{min-width:0;max-width:56rem;padding:1rem 2.5rem 4rem}
pre{background:#f5f7f9;padding:.8rem;overflow:auto;font-size:13px}
code{font-family:ui-monospace,Consolas,monospace;font-size:.9em}
table{border-collapse:collapse;display:block;overflow:auto}
td,th{border:1px solid #dde3e8;padding:.25rem .6rem;text-align:left;vertical-align:top}
img{max-width:100%}
@media(max-width:50rem){body{display:block}nav{width:auto;height:auto;position:static}}
@media(prefers-color-scheme:dark){body{color:#dfe5ea;background:#14191f}a{color:#7fb2f0}
nav,pre{background:#1b222a;border-color:#2d3741}nav a:hover,nav a[aria-current]{background:#27384d}
td,th{border-color:#2d3741}}
";

/// The search: pages with all words, those with the words in the title first.
const SEARCH: &str = r#"
const nav = document.querySelector("nav");
const found = document.getElementById("found");
nav.querySelector("input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  found.replaceChildren();
  document.getElementById("contents").hidden = words.length > 0;
  if (words.length === 0) return;
  const has = (text) => words.every((word) => text.toLowerCase().includes(word));
  const hits = PAGES.filter((page) => has(page.title + " " + page.text));
  hits.sort((a, b) => Number(has(b.title)) - Number(has(a.title)));
  for (const page of hits) {
    const link = document.createElement("a");
    link.href = nav.dataset.up + page.page;
    link.textContent = page.title;
    found.append(link);
  }
  if (hits.length === 0) found.textContent = "Nothing found.";
});
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_found_by_path_and_by_name() {
        for topic in [
            "howto/leaks",
            "leaks",
            "LEAKS",
            "howto/leaks.md",
            "docs/howto/leaks.md",
        ] {
            assert_eq!(find(topic).unwrap().0, "howto/leaks.md", "{topic}");
        }
        assert_eq!(find("cases").unwrap().0, "cases/README.md");
        assert!(find("leakz").is_err());
        assert_eq!(hint("leakz"), "similar: leaks");
        assert_eq!(hint("qqqqqqqq"), "`etwkit docs --plain` lists all pages");
    }

    #[test]
    fn every_page_of_the_contents_is_a_part_of_the_program() {
        let entries = entries(text_of(SUMMARY));
        assert!(entries.len() > 60, "{}", entries.len());
        for entry in entries {
            if let Entry::Page { name, .. } = entry {
                assert!(!text_of(name).is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn links_stay_on_the_site() {
        assert_eq!(
            link("howto/leaks.md", "../dump.md#heap").as_deref(),
            Some("../dump.html#heap")
        );
        assert_eq!(
            link("README.md", "howto/").as_deref(),
            Some("howto/README.html")
        );
        assert_eq!(
            link("README.md", "numbers").as_deref(),
            Some("numbers/README.html")
        );
        assert_eq!(link("README.md", "#here").as_deref(), Some("#here"));
        assert_eq!(link("README.md", "../CONTRIBUTING.md"), None);
        assert_eq!(
            link("README.md", "https://a.example").as_deref(),
            Some("https://a.example")
        );
        let html = body(
            "README.md",
            "# A `b` c\n\n[x](../y.md) [z](dump.md) <b>no</b>\n",
        );
        assert_eq!(
            html,
            "<h1 id=\"a-b-c\">A <code>b</code> c</h1>\n<p>x <a href=\"dump.html\">z</a> no</p>\n"
        );
    }

    #[test]
    fn the_site_has_every_page() {
        let folder = tempfile::tempdir().unwrap();
        write_site(folder.path()).unwrap();
        for (name, _) in PAGES.iter().filter(|(name, _)| *name != SUMMARY) {
            assert!(folder.path().join(with_html(name)).exists(), "{name}");
        }
        let index = fs::read_to_string(folder.path().join("search.js")).unwrap();
        assert!(index.starts_with("const PAGES = [{"), "{}", &index[..40]);
    }
}
