//! Code of scripts: functions that a JavaScript engine compiled at run time.

use etwkit_decode::script::{Event, Function};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::interner::Interner;
use crate::tracker::method::{Method, MethodTracker};
use crate::tracker::runtime_module::{RuntimeModule, RuntimeModuleTracker};

/// Set in the module IDs of scripts, which are small numbers. Modules of .NET are at addresses of
/// user mode.
const SCRIPT: u64 = 1 << 63;
/// A function without a name.
const ANONYMOUS: &str = "(anonymous)";

/// Scripts and their functions, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    functions: Vec<Loaded>,
    /// The latest function that was loaded at an address of a process.
    latest: FxHashMap<(u32, u64), usize>,
    /// Raw time and URL of each script, by process ID and its ID.
    sources: FxHashMap<(u32, u64), (i64, String)>,
}

#[derive(Debug)]
struct Loaded {
    pid: u32,
    function: Function,
    begin: i64,
    end: i64,
}

impl Scripts {
    /// Takes an event; events must come in order of time.
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) {
        let (Some(read), Some(pid)) = (Event::read(event), event.process_id()) else {
            return;
        };
        let time = event.timestamp;
        match read {
            Event::Source { id, url } => {
                self.sources.insert((pid, id), (time, url));
            }
            Event::Load(function) => {
                self.freed(pid, function.start, time - 1);
                let next = self.functions.len();
                self.latest.insert((pid, function.start), next);
                self.functions.push(Loaded {
                    pid,
                    function,
                    begin: time,
                    end: i64::MAX,
                });
            }
            Event::Unload(start) => self.freed(pid, start, time),
        }
    }

    /// Engines also reuse addresses of code without reporting that it was freed.
    fn freed(&mut self, pid: u32, start: u64, time: i64) {
        let latest = self.latest.remove(&(pid, start));
        if let Some(loaded) = latest.and_then(|at| self.functions.get_mut(at)) {
            loaded.end = time;
        }
    }

    /// Adds the functions as methods, and the scripts as their modules. Scripts can be reported
    /// after their functions, so this is done at the end.
    pub(crate) fn give(self, methods: &mut MethodTracker, modules: &mut RuntimeModuleTracker) {
        let mut texts = Interner::default();
        for ((pid, id), (time, url)) in &self.sources {
            let path = texts.intern(url);
            let time = *time;
            let pdb = None;
            modules.add(*pid, id | SCRIPT, RuntimeModule { time, path, pdb });
        }
        let none = texts.intern("");
        for loaded in self.functions {
            let Function {
                start,
                size,
                source,
                ..
            } = loaded.function;
            let url = self.sources.get(&(loaded.pid, source));
            let name = name(&loaded.function, url.map(|(_, url)| url.as_str()));
            let method = Method {
                start,
                size: u32::try_from(size).unwrap_or(u32::MAX),
                namespace: none.clone(),
                name: texts.intern(&name),
                signature: none.clone(),
                method_id: 0,
                module_id: source | SCRIPT,
                token: 0,
                flags: 0,
                begin: loaded.begin,
                end: loaded.end,
                il_map: None,
            };
            methods.add_script(loaded.pid, method);
        }
        methods.finish();
    }
}

/// `function url:line`.
fn name(function: &Function, url: Option<&str>) -> String {
    let name = match function.name.as_str() {
        "" => ANONYMOUS,
        name => name,
    };
    let place = url.filter(|url| !url.is_empty());
    match (place, function.line) {
        (None, _) => name.to_owned(),
        (Some(url), 0) => format!("{name} {url}"),
        (Some(url), line) => format!("{name} {url}:{line}"),
    }
}
