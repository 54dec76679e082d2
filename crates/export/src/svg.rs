//! A flame graph as one SVG file, without external resources.
//!
//! Width is weight, the outermost frames are at the bottom, and callees are on top of their caller;
//! its own weight is at the left. Each frame has its name and its numbers in a title, which viewers
//! show at the pointer. There is no script and no external resource.

mod color;
mod layout;

use std::collections::HashMap;
use std::io::Write;

use etwkit_base::escape::xml;
use etwkit_question::range::Range;
use etwkit_questions::cpu::Metric;
use etwkit_questions::cpu::source::CpuSource;
use etwkit_sql::time_format::seconds;

use crate::json::milliseconds;
use crate::profile::{Format, Head, Samples, WeighedStack, Writer, WrittenProfile};
use crate::stacks::Names;
use crate::text::visible;
use crate::{Error, Result};
use layout::{Drawn, Flames, What};

/// The format.
pub(crate) struct Svg;

/// Sizes in pixels: the picture, its margin, the lines above the frames, and a frame.
const WIDTH: u32 = 1200;
const MARGIN: u32 = 10;
const LINE: u32 = 18;
const FRAME: u32 = 17;

/// Width of all frames together, in thousandths of a pixel.
const ROOM: u32 = (WIDTH - 2 * MARGIN) * 1000;

/// Width of a letter in thousandths of a pixel: fixed pitch, 12 pixels high. DejaVu Sans Mono, the
/// wider one of the named fonts, has 0.602 of its height.
const LETTER: u32 = 7_230;

/// Maximum number of letters of a name in a title.
const MAX_NAME: usize = 500;

/// Maximum number of modules in the legend of colors.
const MAX_MODULES: usize = 8;

impl Format for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }

    fn sentence(&self) -> &'static str {
        "Flame graph as one picture, for browsers and other viewers of SVG"
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>> {
        let range = if head.time == Range::default() {
            "the whole trace".to_owned()
        } else {
            let end = |ns: i64| {
                if ns == i64::MIN || ns == i64::MAX {
                    String::new()
                } else {
                    seconds(ns, 6)
                }
            };
            format!(
                "{}..{} s of the trace",
                end(head.time.min),
                end(head.time.max)
            )
        };
        let recording = head.recording;
        let recorded = [recording.file_name.as_str(), &recording.start_utc].join(" ");
        Ok(Writer::Stacks(Box::new(Picture {
            out,
            name: head.name.to_owned(),
            metric: head.metric,
            range,
            recorded: recorded.trim().to_owned(),
            flames: Flames::default(),
        })))
    }
}

/// Collects stacks: a picture is drawn when all are known. Memory grows with distinct stacks.
struct Picture<'o> {
    out: &'o mut dyn Write,
    name: String,
    metric: Metric,
    range: String,
    recorded: String,
    flames: Flames,
}

impl Samples for Picture<'_> {
    fn sample(&mut self, sample: &WeighedStack<'_>, _: &Names) -> Result<()> {
        self.flames.add(sample.path, sample.weight_ns);
        Ok(())
    }

    fn end(mut self: Box<Self>, written: &WrittenProfile, names: &Names) -> Result<()> {
        let drawn = self.flames.drawn(ROOM);
        let levels = drawn.iter().map(|frame| frame.level + 1).fold(0, u32::max);
        let modules = modules(&self.flames, names);
        let above = MARGIN + LINE * (3 + u32::from(!modules.is_empty()));
        let bottom = above + FRAME * levels;
        self.head(written, bottom + MARGIN, &drawn)
            .map_err(Error::Write)?;
        self.legend(&modules, MARGIN + LINE * 3)
            .map_err(Error::Write)?;
        for frame in &drawn {
            self.frame(frame, bottom, (written.total_ns, names))
                .map_err(Error::Write)?;
        }
        self.out.write_all(b"</g>\n</svg>\n").map_err(Error::Write)
    }
}

impl Picture<'_> {
    /// Writes the text above the frames: name, weight, unit, and the part that is not drawn.
    fn head(
        &mut self,
        written: &WrittenProfile,
        height: u32,
        drawn: &[Drawn],
    ) -> std::io::Result<()> {
        let title = xml(&visible(&self.name, MAX_NAME));
        let lines = [
            format!(
                "{}: {} ms",
                visible(&self.name, 100),
                milliseconds(written.total_ns)
            ),
            format!("{}; {}", weight(self.metric, written.source), self.range),
            format!("{}; {}", self.recorded, hidden(drawn)),
        ];
        let out = &mut self.out;
        let version = env!("CARGO_PKG_VERSION");
        write!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n<title>{title}</title>\n<desc>Written by etwkit {version}.</desc>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <g font-family=\"DejaVu Sans Mono, Consolas, monospace\" font-size=\"12\" fill=\"#111111\">\n"
        )?;
        for (line, y) in lines.iter().zip((MARGIN + 12..).step_by(LINE as usize)) {
            let text = xml(&cut(line, ROOM));
            writeln!(
                out,
                "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>"
            )?;
        }
        Ok(())
    }

    /// Writes the modules with most of the weight, with their colors.
    fn legend(&mut self, modules: &[(String, i64)], y: u32) -> std::io::Result<()> {
        let mut x = MARGIN * 1000;
        for (module, own_ns) in modules {
            let text = format!(
                "{} {} ms",
                cut(&visible(module, MAX_NAME), LETTER * 24),
                milliseconds(*own_ns)
            );
            let width = 16_000 + LETTER * (columns(&text) + 2);
            // The legend has one line. Omitted modules have less weight than the listed ones, and
            // are named in the titles of frames.
            if x + width > ROOM {
                break;
            }
            let fill = color::of(module);
            let text = xml(&text);
            let at = pixels(x);
            let words = pixels(x + 16_000);
            writeln!(
                self.out,
                "<rect x=\"{at}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{fill}\"/>\
                 <text x=\"{words}\" y=\"{}\">{text}</text>",
                y + 11
            )?;
            x += width;
        }
        Ok(())
    }

    fn frame(
        &mut self,
        frame: &Drawn,
        bottom: u32,
        (total, names): (i64, &Names),
    ) -> std::io::Result<()> {
        let y = bottom - FRAME * (frame.level + 1);
        let name = match frame.what {
            What::Frame(number) => visible(names.text(number), MAX_NAME),
            What::Rest(count) => format!("+{count} {} not drawn", frames(count)),
        };
        let fill = match frame.what {
            What::Frame(number) => names
                .module(number)
                .map_or_else(|| color::NO_MODULE.to_owned(), color::of),
            What::Rest(_) => color::REST.to_owned(),
        };
        let percent = thousandths(frame.weight_ns, total);
        let mut title = format!("{name}\n{} ms, {percent} %", milliseconds(frame.weight_ns));
        if matches!(frame.what, What::Frame(_)) {
            title += &format!("\n{} ms of it in itself", milliseconds(frame.own_ns));
        }
        let x = pixels(MARGIN * 1000 + frame.x);
        let width = pixels(frame.width);
        write!(
            self.out,
            "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{fill}\"/>",
            xml(&title),
            FRAME - 1
        )?;
        // Two pixels stay free at each side, so that names of neighbors do not run into each other.
        let text = cut(&name, frame.width.saturating_sub(4000));
        if !text.is_empty() {
            let x = pixels(MARGIN * 1000 + frame.x + 2000);
            let y = y + 12;
            write!(self.out, "<text x=\"{x}\" y=\"{y}\">{}</text>", xml(&text))?;
        }
        self.out.write_all(b"</g>\n")
    }
}

/// Returns the modules with most of the weight, largest first.
fn modules(flames: &Flames, names: &Names) -> Vec<(String, i64)> {
    let mut sums: HashMap<&str, i64> = HashMap::new();
    for (number, own_ns) in flames.own() {
        if let Some(module) = names.module(number) {
            let sum = sums.entry(module).or_default();
            *sum = sum.saturating_add(own_ns);
        }
    }
    let mut sums: Vec<(String, i64)> = sums
        .into_iter()
        .map(|(name, ns)| (name.to_owned(), ns))
        .collect();
    sums.retain(|(_, ns)| *ns > 0);
    // By name if sums are equal: the map has no order, and the picture has to be the same in every
    // run.
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums.truncate(MAX_MODULES);
    sums
}

/// Returns the description of a weight.
fn weight(metric: Metric, source: Option<CpuSource>) -> &'static str {
    match (metric, source) {
        (Metric::Wait, _) => "waits by the stack that they ended with, summed over threads",
        (Metric::Ready, _) => "ready times by the stack that was switched in, summed over threads",
        (Metric::Cpu, Some(CpuSource::ContextSwitches)) => {
            "time on processors, from context switches"
        }
        (Metric::Cpu, _) => "sampled CPU",
    }
}

/// Returns the text about frames that are not drawn.
fn hidden(drawn: &[Drawn]) -> String {
    let count = drawn.iter().filter_map(|frame| {
        if let What::Rest(count) = frame.what {
            Some(count)
        } else {
            None
        }
    });
    match count.sum() {
        0 => "every frame is drawn".to_owned(),
        count => format!(
            "{count} narrow {} not drawn",
            if count == 1 { "frame is" } else { "frames are" }
        ),
    }
}

fn frames(count: usize) -> &'static str {
    if count == 1 { "frame" } else { "frames" }
}

/// Formats thousandths of a pixel as pixels.
fn pixels(thousandths: u32) -> String {
    milliseconds(i64::from(thousandths) * 1000)
}

/// Formats a share in per cent, with three digits after the mark.
fn thousandths(part: i64, whole: i64) -> String {
    let share = if whole > 0 {
        i128::from(part) * 100_000_000 / i128::from(whole) / 1000
    } else {
        0
    };
    // A part is at most the whole, and is not negative.
    pixels(share.clamp(0, 100_000) as u32)
}

/// Returns the width of a text in letters: letters of other scripts may be twice as wide as Latin
/// ones.
fn columns(text: &str) -> u32 {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// Returns as much of a text as `width` thousandths of a pixel hold; empty if that would be
/// meaningless.
fn cut(text: &str, width: u32) -> String {
    let room = width / LETTER;
    if columns(text) <= room {
        return text.to_owned();
    }
    // Fewer than four letters do not identify a function; the title of the frame does.
    if room < 4 {
        return String::new();
    }
    // The ellipsis counts as two columns, as every character beyond ASCII does.
    let mut used = 2;
    let fitting = text.chars().take_while(|c| {
        used += if c.is_ascii() { 1 } else { 2 };
        used <= room
    });
    fitting.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_the_room_that_they_have() {
        for (text, letters, expected) in [
            ("ntdll.dll!A", 11, "ntdll.dll!A"),
            ("ntdll.dll!A", 10, "ntdll.dl…"),
            ("ntdll.dll!A", 3, ""),
            ("名名名名", 8, "名名名名"),
            ("名名名名", 7, "名名…"),
        ] {
            assert_eq!(cut(text, letters * LETTER), expected, "{text} {letters}");
        }
    }

    #[test]
    fn shares_and_pixels_are_numbers_with_a_point() {
        assert_eq!(
            (thousandths(1, 3), thousandths(0, 0), thousandths(5, 5)),
            ("33.333".into(), "0".into(), "100".into())
        );
        assert_eq!(pixels(1_200_500), "1200.5");
        assert_eq!(
            xml("</title><script a='\"'>&"),
            "&lt;/title&gt;&lt;script a=&#39;&quot;&#39;&gt;&amp;"
        );
    }
}
