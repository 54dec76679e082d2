//! Profiles for the performance panel of Chrome and Edge, and for Visual Studio Code: the JSON of
//! V8's CPU profiler (`Profiler.Profile` of the Chrome DevTools protocol).
//!
//! The format has times between samples, and its readers do not agree whether such a time belongs
//! to the sample before it (Chrome, speedscope) or after it (`cpuprofile-to-flamegraph`). So each
//! stack has two samples with its weight between them, and no time passes between two stacks.
//!
//! Samples are in the order of the names of their frames, since a weight is the sum of samples from
//! anywhere in the trace: the time axis of a viewer has no order of time. Weights are microseconds
//! with three decimals, which keeps nanoseconds exact.

use std::collections::HashMap;
use std::io::Write;

use crate::json::{microseconds, text as json};
use crate::profile::{Format, Head, Samples, WeighedStack, Writer, WrittenProfile};
use crate::stacks::Names;
use crate::{Error, Result};

/// The format.
pub(crate) struct CpuProfile;

impl Format for CpuProfile {
    fn name(&self) -> &'static str {
        "cpuprofile"
    }

    fn sentence(&self) -> &'static str {
        "JSON of V8's CPU profiler, for the performance panel of Chrome and Edge and for Visual Studio Code"
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, _: &Head<'_>) -> Result<Writer<'o>> {
        Ok(Writer::Stacks(Box::new(Tree::new(out))))
    }
}

/// Id of the root node of all stacks.
const ROOT: usize = 1;

/// A function in its chain of callers.
#[derive(Debug, Default)]
struct Node {
    /// Number of its name; `None` for the root.
    frame: Option<u32>,
    children: Vec<usize>,
    hits: u32,
}

/// The tree of nodes. Nodes come before samples in the file and name their children, so all of them
/// have to be known before the first one is written. There are as many as there are distinct frames
/// in stacks.
struct Tree<'o> {
    out: &'o mut dyn Write,
    /// Nodes by id − 1.
    nodes: Vec<Node>,
    /// Ids by parent and frame.
    known: HashMap<(usize, u32), usize>,
    /// The innermost node of each stack, and its weight.
    samples: Vec<(usize, i64)>,
}

impl<'o> Tree<'o> {
    fn new(out: &'o mut dyn Write) -> Self {
        Self {
            out,
            nodes: vec![Node::default()],
            known: HashMap::new(),
            samples: Vec::new(),
        }
    }

    fn child(&mut self, parent: usize, frame: u32) -> usize {
        let next = self.nodes.len() + 1;
        let id = *self.known.entry((parent, frame)).or_insert(next);
        if id == next {
            self.nodes.push(Node {
                frame: Some(frame),
                ..Node::default()
            });
            if let Some(parent) = self.nodes.get_mut(parent - 1) {
                parent.children.push(id);
            }
        }
        id
    }
}

impl Samples for Tree<'_> {
    fn sample(&mut self, sample: &WeighedStack<'_>, _: &Names) -> Result<()> {
        let leaf = sample
            .path
            .iter()
            .fold(ROOT, |parent, frame| self.child(parent, *frame));
        if let Some(node) = self.nodes.get_mut(leaf - 1) {
            // One for each of the two samples that the stack gets.
            node.hits += 2;
        }
        self.samples.push((leaf, sample.weight_ns));
        Ok(())
    }

    fn end(self: Box<Self>, written: &WrittenProfile, names: &Names) -> Result<()> {
        let Self {
            out,
            nodes,
            samples,
            ..
        } = *self;
        out.write_all(b"{\"nodes\":[").map_err(Error::Write)?;
        for (id, node) in (ROOT..).zip(&nodes) {
            let comma = if id > ROOT { "," } else { "" };
            let name = json(node.frame.map_or("(root)", |frame| names.text(frame)));
            let children: Vec<String> = node.children.iter().map(usize::to_string).collect();
            let hits = node.hits;
            let children = children.join(",");
            write!(
                out,
                "{comma}\n{{\"id\":{id},\"callFrame\":{{\"functionName\":{name},\"scriptId\":\"0\",\"url\":\"\",\
                 \"lineNumber\":-1,\"columnNumber\":-1}},\"hitCount\":{hits},\"children\":[{children}]}}"
            )
            .map_err(Error::Write)?;
        }
        let end = microseconds(written.total_ns);
        write!(out, "],\n\"startTime\":0,\"endTime\":{end},\n\"samples\":[")
            .map_err(Error::Write)?;
        for (at, (leaf, _)) in samples.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{leaf},{leaf}").map_err(Error::Write)?;
        }
        out.write_all(b"],\n\"timeDeltas\":[")
            .map_err(Error::Write)?;
        for (at, (_, weight_ns)) in samples.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}0,{}", microseconds(*weight_ns)).map_err(Error::Write)?;
        }
        out.write_all(b"]}\n").map_err(Error::Write)
    }
}
