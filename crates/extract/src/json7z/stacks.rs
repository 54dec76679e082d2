//! Modules, and stacks that the file has as text: a line for each frame, innermost first.

use std::collections::HashMap;

use etwkit_trace::sink::Sink;
use etwkit_trace::table::{Frame, Method, Module, Stack};

use crate::json7z::error::Result;
use crate::json7z::rows::write_all;

/// A method as the file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonMethod<'t> {
    /// File name of the module, if it is known.
    pub(crate) module: Option<&'t str>,
    /// Function; without a name the offset in the module, as `+0x1a2b`.
    pub(crate) method: &'t str,
}

/// Endings of files with code, as names of code without symbols have them.
const CODE: [&str; 3] = [".dll", ".exe", ".sys"];

impl<'t> JsonMethod<'t> {
    /// `ntdll.dll!RtlUserThreadStart`, or `ntdll.dll+0x1a2b` for code without a name.
    pub(crate) fn parse(text: &'t str) -> Self {
        // A name that starts with `!` has no module: the mark belongs to the name.
        if let Some((module, method)) = text
            .split_once('!')
            .filter(|(module, _)| !module.is_empty())
        {
            return Self {
                module: Some(module).filter(|module| *module != "<UnknownModule>"),
                method,
            };
        }
        // Only after the name of a file with code is this an offset. Any other text is the name of
        // a method.
        if let Some(at) = text.rfind("+0x")
            && let (Some(module), Some(method)) = (text.get(..at), text.get(at..))
            && CODE
                .iter()
                .any(|ending| module.to_ascii_lowercase().ends_with(ending))
        {
            return Self {
                module: Some(module),
                method,
            };
        }
        Self {
            module: None,
            method: text,
        }
    }
}

/// Modules that no process maps, besides drivers.
const KERNEL: [&str; 3] = ["ntoskrnl.exe", "ntkrnlmp.exe", "hal.dll"];

/// Modules of processes.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    rows: Vec<Module>,
    /// Position by process and file name in lower case.
    of_process: HashMap<(Option<i32>, String), usize>,
    /// Position of the first one with a file name.
    first: HashMap<String, usize>,
    /// Positions of the modules that only stacks have named so far, by file name.
    only_in_stacks: HashMap<String, usize>,
}

impl Modules {
    /// Adds a module of a process and numbers it. It replaces a module that a stack named before.
    pub(crate) fn add(&mut self, mut row: Module) -> i32 {
        let name = row.name.to_lowercase();
        let only_in_stacks = self.only_in_stacks.remove(&name);
        // The module was added without its path when a stack named it. It keeps its number now,
        // which frames have already.
        if let Some(at) = only_in_stacks
            && let Some(named) = self.rows.get_mut(at)
        {
            self.of_process.remove(&(named.process_key, name.clone()));
            self.of_process.insert((row.process_key, name), at);
            *named = Module {
                module_id: named.module_id,
                ..row
            };
            return at as i32;
        }
        let at = self.rows.len();
        row.module_id = at as i32;
        self.of_process
            .entry((row.process_key, name.clone()))
            .or_insert(at);
        self.first.entry(name).or_insert(at);
        self.rows.push(row);
        at as i32
    }

    /// Path of the module with that name in a process, or otherwise in the kernel's process.
    pub(crate) fn path(
        &self,
        process: Option<i32>,
        system: Option<i32>,
        name: &str,
    ) -> Option<&str> {
        let name = name.to_lowercase();
        let of = |process| self.of_process.get(&(process, name.clone()));
        let at = of(process).or_else(|| system.and_then(|system| of(Some(system))))?;
        self.rows.get(*at).map(|row| row.path.as_str())
    }

    /// A module with that name. If no list contains it, it was found in a stack of that process, so
    /// the process had it.
    fn named(&mut self, name: &str, process_key: Option<i32>) -> i32 {
        match self.first.get(&name.to_lowercase()) {
            Some(at) => *at as i32,
            None => {
                let lower = name.to_lowercase();
                // Drivers and the kernel are visible to all processes, and belong to none.
                let is_kernel = lower.ends_with(".sys") || KERNEL.contains(&lower.as_str());
                let at = self.add(Module {
                    process_key: process_key.filter(|_| !is_kernel),
                    path: name.to_owned(),
                    name: name.to_owned(),
                    ..Module::default()
                });
                self.only_in_stacks.insert(lower, at as usize);
                at
            }
        }
    }
}

/// Stacks by their texts.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    pub(crate) modules: Modules,
    stacks: Vec<Stack>,
    nodes: HashMap<(Option<i32>, i32), i32>,
    frames: Vec<Frame>,
    by_text: HashMap<String, i32>,
    methods: Vec<Method>,
}

impl Stacks {
    /// The node of the innermost frame of a stack; `None` for a text without frames.
    pub(crate) fn add(&mut self, text: &str, process: Option<i32>) -> Option<i32> {
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && *line != "No Stack");
        let lines: Vec<&str> = lines.collect();
        let mut parent_id = None;
        // Backwards, because nodes of the tree are created from the outermost frame on, and texts
        // have the innermost one first.
        for (depth, line) in (0..).zip(lines.into_iter().rev()) {
            let frame_id = self.frame(line, process);
            let stack_id = *self.nodes.entry((parent_id, frame_id)).or_insert_with(|| {
                let stack_id = self.stacks.len() as i32;
                self.stacks.push(Stack {
                    stack_id,
                    parent_id,
                    frame_id,
                    depth,
                });
                stack_id
            });
            parent_id = Some(stack_id);
        }
        parent_id
    }

    fn frame(&mut self, text: &str, process: Option<i32>) -> i32 {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let named = JsonMethod::parse(text);
        let module_id = named.module.map(|name| self.modules.named(name, process));
        let offset = named
            .method
            .strip_prefix("+0x")
            .and_then(|hex| i64::from_str_radix(hex, 16).ok());
        // An offset is meaningful only within a module.
        let rva = offset.filter(|_| module_id.is_some());
        let address = text
            .strip_prefix("0x")
            .and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let method_id = (rva.is_none() && address.is_none()).then(|| {
            let method_id = self.methods.len() as i32;
            self.methods.push(Method {
                method_id,
                module_id,
                name: named.method.to_owned(),
                ..Method::default()
            });
            method_id
        });
        let frame_id = self.frames.len() as i32;
        // The address of a frame that is known by its name alone is 0.
        let address = address.map(|address| address as i64).or(rva).unwrap_or(0);
        self.frames.push(Frame {
            frame_id,
            module_id,
            rva,
            address,
            method_id,
            ..Frame::default()
        });
        self.by_text.insert(text.to_owned(), frame_id);
        frame_id
    }

    /// Writes the rows.
    pub(crate) fn write(self, sink: &mut dyn Sink) -> Result<()> {
        write_all(self.modules.rows, sink)?;
        write_all(self.methods, sink)?;
        write_all(self.frames, sink)?;
        write_all(self.stacks, sink)
    }
}

/// A list of stacks that events name by number.
#[derive(Debug, Default)]
pub(crate) struct StackList {
    texts: Vec<String>,
    known: HashMap<i64, Option<i32>>,
    /// Number of references to stacks that are not in the list.
    pub(crate) missing: i64,
}

impl StackList {
    pub(crate) fn new(texts: Vec<String>) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }

    /// The stack with that number; -1 means none.
    pub(crate) fn get(
        &mut self,
        index: Option<i64>,
        process: Option<i32>,
        stacks: &mut Stacks,
    ) -> Option<i32> {
        let index = index.filter(|index| *index != -1)?;
        if let Some(known) = self.known.get(&index) {
            return *known;
        }
        let Some(text) = usize::try_from(index)
            .ok()
            .and_then(|index| self.texts.get(index))
        else {
            self.missing += 1;
            return None;
        };
        let stack = stacks.add(text, process);
        self.known.insert(index, stack);
        stack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_module_where_it_is_known() {
        for (text, module, method) in [
            (
                "ntdll.dll!RtlUserThreadStart",
                Some("ntdll.dll"),
                "RtlUserThreadStart",
            ),
            ("a.dll!operator!=", Some("a.dll"), "operator!="),
            ("ntdll.dll+0x1a2b", Some("ntdll.dll"), "+0x1a2b"),
            ("Foo.Sys+0x1", Some("Foo.Sys"), "+0x1"),
            ("<UnknownModule>!<UnknownMethod>", None, "<UnknownMethod>"),
            ("Main", None, "Main"),
            ("a+0x12", None, "a+0x12"),
            ("!x", None, "!x"),
        ] {
            assert_eq!(
                JsonMethod::parse(text),
                JsonMethod { module, method },
                "{text}"
            );
        }
    }

    #[test]
    fn stacks_share_their_callers() {
        let mut stacks = Stacks::default();
        let first = stacks.add("c.dll!C\r\nb.dll+0x10\na.dll!A\n", Some(1));
        let second = stacks.add("d.dll!D\nb.dll+0x10\na.dll!A", Some(2));
        assert_eq!(
            (
                first,
                second,
                stacks.add("No Stack", None),
                stacks.add("", None)
            ),
            (Some(2), Some(3), None, None)
        );
        let parents: Vec<_> = stacks
            .stacks
            .iter()
            .map(|row| (row.parent_id, row.depth))
            .collect();
        assert_eq!(
            parents,
            [(None, 0), (Some(0), 1), (Some(1), 2), (Some(1), 2)]
        );
        assert_eq!(
            (
                stacks.frames.len(),
                stacks.methods.len(),
                stacks.modules.rows.len()
            ),
            (4, 3, 4)
        );
        assert_eq!(
            (stacks.frames[1].rva, stacks.frames[1].method_id),
            (Some(0x10), None)
        );
        let mut list = StackList::new(vec!["a.dll!A".to_owned()]);
        assert_eq!(list.get(Some(0), None, &mut stacks), Some(0));
        assert_eq!(
            (
                list.get(Some(-1), None, &mut stacks),
                list.get(None, None, &mut stacks),
                list.missing
            ),
            (None, None, 0)
        );
        assert_eq!(
            (list.get(Some(9), None, &mut stacks), list.missing),
            (None, 1)
        );
    }
}
