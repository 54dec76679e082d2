//! Owners by stack tag: the cost of tagged code to the threads that run it.

use std::collections::HashMap;

use etwkit_question::ask;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::frames::TraceFrames;
use etwkit_sql::{NO_TAG, Session, TagSet, Tagged};

use super::owners::{FileSystems, MODULES, ModuleRow, NOBODY, Owner, Owners, at, key, of_threads};
use super::product::Products;
use crate::Result;

etwkit_question::declare! {
    /// A routine of DPCs or interrupts.
    row RoutineRow {
        frame_id: i64 = "Its frame.",
    }
}

/// Tags that become rows, numbered in the order of their first occurrence.
struct Tags<'a> {
    set: &'a TagSet,
    shown: &'a TextFilter,
    products: Products,
    /// Tags of files without any known function, by file.
    files: HashMap<String, Option<u32>>,
}

/// Returns owners by the rules of a set: the tags that `shown` passes.
pub(super) fn owners(session: &Session, set: &TagSet, shown: &TextFilter) -> Result<Owners> {
    let rows: Vec<ModuleRow> = ask(session, MODULES)?;
    let frames = session.frames()?;
    let empty = TraceFrames::default();
    let trace = frames.trace(0).unwrap_or(&empty);
    let mut tags = Tags {
        set,
        shown,
        products: Products::of_tags(),
        files: HashMap::new(),
    };
    let (stacks, waiting) = tags.of_stacks(trace, &trace.tagged(set));
    let mut processes = HashMap::new();
    for row in rows.iter().filter(|row| row.is_executable) {
        if let (Some(process), Some(product)) = (row.process_key, tags.of_file(&row.name)) {
            processes.insert(
                process,
                Owner {
                    product,
                    module: key(row.module_id),
                },
            );
        }
    }
    let threads = of_threads(session, &processes, |frame| {
        tags.of_frame(trace, key(frame))
    })?;
    let routines: Vec<RoutineRow> = ask(session, "SELECT DISTINCT frame_id FROM dpc_isr")?;
    let mut of_frame = vec![NOBODY; trace.frames()];
    for frame in routines.iter().map(|row| key(row.frame_id)) {
        let owner = tags.of_frame(trace, frame);
        if let Some(place) = usize::try_from(frame)
            .ok()
            .and_then(|frame| of_frame.get_mut(frame))
        {
            *place = owner;
        }
    }
    let names = rows
        .into_iter()
        .map(|row| (key(row.module_id), row.name))
        .collect();
    // The notes about companies and the kernel's symbols concern only rows that are products.
    let is_kernel_named = true;
    Ok(Owners {
        products: tags.products,
        stacks,
        waiting,
        frames: of_frame,
        threads,
        names,
        is_kernel_named,
    })
}

impl Tags<'_> {
    /// Returns the number of a tag, if it becomes a row.
    fn number(&mut self, tag: &str, file: Option<&str>) -> Option<u32> {
        let is_row = tag != NO_TAG && self.shown.matches(Some(tag));
        is_row.then(|| self.products.of_tag(tag, file))
    }

    /// Returns the tag that all code of a file has, whatever its function. The tag of one of its
    /// functions means nothing for a thread that merely runs in the file.
    fn of_file(&mut self, name: &str) -> Option<u32> {
        if let Some(known) = self.files.get(name) {
            return *known;
        }
        let tag = self.set.tag(&[(Some(name), None)]);
        let number = tag.and_then(|tag| self.number(&tag, Some(name)));
        self.files.insert(name.to_owned(), number);
        number
    }

    /// Returns the tag of a frame without a caller.
    fn of_frame(&mut self, trace: &TraceFrames, frame: i32) -> Owner {
        let module = trace.module(frame);
        let number = match trace.method(frame) {
            None => module.and_then(|name| self.of_file(name)),
            method => self
                .set
                .tag(&[(module, method)])
                .and_then(|tag| self.number(&tag, module)),
        };
        number.map_or(NOBODY, |product| Owner {
            product,
            module: trace.module_id(frame).unwrap_or(-1),
        })
    }

    /// Returns owners of running and of waiting stacks; see [`Owners`].
    fn of_stacks(&mut self, trace: &TraceFrames, tagged: &Tagged) -> (Vec<Owner>, Vec<Owner>) {
        let systems = FileSystems::of(trace);
        let mut numbers: HashMap<u32, Option<u32>> = HashMap::new();
        let mut all: Vec<Owner> = Vec::with_capacity(trace.stacks());
        let mut waiting: Vec<Owner> = Vec::with_capacity(trace.stacks());
        for stack in 0..i32::try_from(trace.stacks()).unwrap_or(i32::MAX) {
            let (caller, frame) = trace.node(stack).unwrap_or((None, -1));
            let product = tagged.tag(stack).and_then(|tag| {
                *numbers
                    .entry(tag)
                    .or_insert_with(|| self.number(tagged.name(tag)?, trace.module(frame)))
            });
            let from = |all: &[Owner]| caller.map_or(NOBODY, |caller| at(all, caller.into()));
            let above = from(&all);
            let Some(product) = product else {
                all.push(NOBODY);
                waiting.push(NOBODY);
                continue;
            };
            // The outermost frame with the tag is the one that the rule matched: its file is the
            // owner.
            let goes_on = above.product == product;
            let own = Owner {
                product,
                module: trace.module_id(frame).unwrap_or(-1),
            };
            all.push(if goes_on { above } else { own });
            // A tag of the file system itself continues in the file system's own frames.
            let passes_on = systems.has(frame)
                && caller
                    .and_then(|caller| trace.node(caller))
                    .is_some_and(|(_, caller)| !systems.has(caller));
            waiting.push(match goes_on {
                true if passes_on => NOBODY,
                true => from(&waiting),
                false => own,
            });
        }
        (all, waiting)
    }
}
