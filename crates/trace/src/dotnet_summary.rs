//! Section `dotnet`: exceptions, collections, compiled methods, modules and runtimes of .NET
//! programs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use etwkit_decode::clr::{
    self, Exception, GcStart, Method, Module, Origin, RuntimeInformation, id, method_flag,
};
use etwkit_decode::kernel::merge::Pdb;
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;
use serde_json::{Value, json};

use crate::interner::Interner;
use crate::tracker::il_map::IlMaps;
use crate::tracker::method::{self, MethodTracker};
use crate::tracker::runtime_module::{RuntimeModule, RuntimeModuleTracker};

/// Rows of the list `top_methods`.
const TOP_METHODS: usize = 30;

/// Limits for the list of exceptions: their number, and the bytes of their texts. All others are
/// only counted. Otherwise a file with nothing else would take several times its size.
const MAX_EXCEPTIONS: usize = 100_000;
const MAX_EXCEPTION_TEXT: usize = 64 << 20;

/// Events of .NET runtimes, by process ID.
#[derive(Debug, Default)]
pub struct DotnetSummary {
    exceptions: Exceptions,
    gc: BTreeMap<u32, Gc>,
    jit: BTreeMap<u32, Jit>,
    modules: BTreeMap<u32, BTreeMap<String, Modules>>,
    /// Runtimes by process ID, each with the order of its first occurrence.
    runtimes: BTreeMap<u32, BTreeMap<RuntimeInformation, usize>>,
    methods: MethodTracker,
    il_maps: IlMaps,
    runtime_modules: RuntimeModuleTracker,
    texts: Interner,
}

/// Exceptions in the order of time.
#[derive(Debug, Default)]
struct Exceptions {
    /// Time, process ID, thread ID, and the exception.
    listed: Vec<(i64, u32, u32, Exception)>,
    text_bytes: usize,
    not_listed: u64,
}

impl Exceptions {
    fn add(&mut self, time: i64, pid: u32, tid: u32, thrown: Exception) {
        let text_bytes = self
            .text_bytes
            .saturating_add(thrown.type_name.len() + thrown.message.len());
        if self.listed.len() >= MAX_EXCEPTIONS || text_bytes > MAX_EXCEPTION_TEXT {
            self.not_listed += 1;
            return;
        }
        self.text_bytes = text_bytes;
        self.listed.push((time, pid, tid, thrown));
    }
}

#[derive(Debug, Default)]
struct Gc {
    starts: u64,
    stops: u64,
    ticks: u64,
    tick_bytes: u64,
    collections: BTreeMap<(u16, u32), GcStart>,
}

#[derive(Debug, Default)]
struct Jit {
    jitting_started: u64,
    load_verbose: u64,
    load_verbose_jitted: u64,
    load_verbose_dynamic: u64,
    unload_verbose: u64,
    rundown_methods: u64,
    rundown_methods_jitted: u64,
    il_to_native_maps: u64,
}

#[derive(Debug, Default)]
struct Modules {
    native_path: String,
    pdb: Option<Pdb>,
    flags: u32,
    ids: BTreeSet<u64>,
}

impl DotnetSummary {
    /// Takes one event; events must come in order of time.
    pub fn observe(&mut self, event: &RawEvent<'_>) {
        let Some(origin) = clr::origin(event) else {
            return;
        };
        // Events of providers always have both IDs in the header, so the defaults never show.
        let pid = event.process_id().unwrap_or(u32::MAX);
        let tid = event.thread_id().unwrap_or(u32::MAX);
        let payload = event.payload();
        let version = event.version() as u8;
        match (origin, event.descriptor().id) {
            (Origin::Runtime, id::EXCEPTION) => {
                if let Some(thrown) = Exception::parse(payload, event.pointer_size()) {
                    self.exceptions.add(event.timestamp, pid, tid, thrown);
                }
            }
            (Origin::Runtime, id::GC_START | id::GC_END | id::ALLOCATION_TICK) => {
                self.gc
                    .entry(pid)
                    .or_default()
                    .add(event.descriptor().id, version, payload);
            }
            (_, id::METHOD_LOAD_VERBOSE | id::METHOD_UNLOAD_VERBOSE) => {
                self.method(
                    (origin, event.descriptor().id),
                    (pid, tid),
                    event.timestamp,
                    payload,
                );
            }
            (Origin::Runtime, id::JITTING_STARTED) => {
                self.jit.entry(pid).or_default().jitting_started += 1;
            }
            (Origin::Runtime, id::IL_TO_NATIVE_MAP)
            | (Origin::Rundown, id::IL_TO_NATIVE_MAP_DC_START | id::IL_TO_NATIVE_MAP_DC_END) => {
                self.jit.entry(pid).or_default().il_to_native_maps += 1;
                let id = event.descriptor().id;
                self.il_maps.map((pid, tid), id, payload, &mut self.methods);
            }
            (Origin::Runtime, id::MODULE_LOAD | id::MODULE_UNLOAD)
            | (Origin::Rundown, id::MODULE_UNLOAD | id::MODULE_DC_END) => {
                if let Some(module) = Module::parse(payload, version) {
                    self.names_module(pid, event.timestamp, &module);
                    self.module(pid, module);
                }
            }
            // The same module as a domain sees it; some recordings have only these.
            (_, id::DOMAIN_MODULE_LOAD) | (Origin::Rundown, id::DOMAIN_MODULE_DC_END) => {
                if let Some(module) = Module::parse_domain(payload) {
                    self.names_module(pid, event.timestamp, &module);
                }
            }
            (_, id::RUNTIME_INFORMATION) => {
                let runtimes = self.runtimes.entry(pid).or_default();
                if let Some(runtime) = RuntimeInformation::parse(payload) {
                    let next = runtimes.len();
                    runtimes.entry(runtime).or_insert(next);
                }
            }
            _ => {}
        }
    }

    fn method(
        &mut self,
        (origin, id): (Origin, u16),
        (pid, tid): (u32, u32),
        timestamp: i64,
        payload: &[u8],
    ) {
        let Some(m) = Method::parse(payload) else {
            return;
        };
        let jitted = u64::from(m.flags & method_flag::JITTED != 0);
        let jit = self.jit.entry(pid).or_default();
        // A method known only from a rundown or unload existed before the trace.
        let mut begin = i64::MIN;
        match (origin, id) {
            (Origin::Rundown, _) => {
                jit.rundown_methods += 1;
                jit.rundown_methods_jitted += jitted;
            }
            (Origin::Runtime, id::METHOD_UNLOAD_VERBOSE) => jit.unload_verbose += 1,
            (Origin::Runtime, _) => {
                jit.load_verbose += 1;
                jit.load_verbose_jitted += jitted;
                jit.load_verbose_dynamic += u64::from(m.flags & method_flag::DYNAMIC != 0);
                begin = timestamp;
            }
        }
        let unloads = origin == Origin::Runtime && id == id::METHOD_UNLOAD_VERBOSE;
        // A rundown or unload repeats a method that was loaded in the trace. If the method is
        // unknown, it was compiled before the trace.
        if begin != i64::MIN || !self.methods.is_known(pid, m.start, m.method_id) {
            let method = self.tracked(&m, begin);
            self.methods.add(pid, method);
        }
        self.il_maps
            .method((pid, tid), (origin, id), &m, &mut self.methods);
        if unloads {
            self.methods.unload(pid, m.start, timestamp);
        }
    }

    fn tracked(&mut self, m: &Method, begin: i64) -> method::Method {
        method::Method {
            start: m.start,
            size: m.size,
            namespace: self.texts.intern(&m.namespace),
            name: self.texts.intern(&m.name),
            signature: self.texts.intern(&m.signature),
            method_id: m.method_id,
            module_id: m.module_id,
            token: m.token,
            flags: m.flags,
            begin,
            end: i64::MAX,
            il_map: None,
        }
    }

    fn names_module(&mut self, pid: u32, time: i64, module: &Module) {
        let path = self.texts.intern(&module.il_path);
        let pdb = module.pdb.clone().map(Arc::new);
        self.runtime_modules
            .add(pid, module.module_id, RuntimeModule { time, path, pdb });
    }

    fn module(&mut self, pid: u32, module: Module) {
        let known = self
            .modules
            .entry(pid)
            .or_default()
            .entry(module.il_path)
            .or_default();
        // One file can be loaded several times; the first load describes it.
        if known.ids.is_empty() {
            known.flags = module.flags;
        }
        known.ids.insert(module.module_id);
        if known.native_path.is_empty() {
            known.native_path = module.native_path;
        }
        known.pdb = known.pdb.take().or(module.pdb);
    }

    /// The methods, ready for look-ups; call it once after all events.
    pub fn finish_methods(&mut self) -> MethodTracker {
        let mut methods = std::mem::take(&mut self.methods);
        methods.finish();
        methods
    }

    /// Maps to IL that were not kept, because there were too many.
    #[must_use]
    pub const fn dropped_maps(&self) -> u64 {
        self.il_maps.dropped()
    }

    /// The modules of runtimes; call it once after all events.
    pub fn finish_modules(&mut self) -> RuntimeModuleTracker {
        std::mem::take(&mut self.runtime_modules)
    }

    pub(crate) fn section(
        &self,
        clock: &Clock,
        methods: &MethodTracker,
        managed: &ManagedSamples,
    ) -> Value {
        let exception = |(time, pid, tid, e): &(i64, u32, u32, Exception)| {
            json!({
                "time_s": clock.seconds(*time),
                "pid": pid,
                "tid": tid,
                "type": e.type_name,
                "message": e.message,
                "hresult": format!("{:#x}", e.hresult),
                "flags": e.flags,
                "eip": format!("{:#x}", e.eip),
            })
        };
        let mut section = json!({
            "exceptions": self.exceptions.listed.iter().map(exception).collect::<Vec<_>>(),
            "gc": by_pid(&self.gc, Gc::value),
            "jit": by_pid(&self.jit, Jit::value),
            "modules": by_pid(&self.modules, |m| Value::Object(m.iter().map(|(path, m)| (path.clone(), m.value())).collect())),
            "runtimes": by_pid(&self.runtimes, runtimes_value),
            "managed_samples": managed.value(methods),
        });
        if let (Some(members), not_listed @ 1..) =
            (section.as_object_mut(), self.exceptions.not_listed)
        {
            members.insert("exceptions_not_listed".to_owned(), not_listed.into());
        }
        section
    }
}

fn by_pid<T>(table: &BTreeMap<u32, T>, value: impl Fn(&T) -> Value) -> Value {
    Value::Object(
        table
            .iter()
            .map(|(pid, row)| (pid.to_string(), value(row)))
            .collect(),
    )
}

impl Gc {
    fn add(&mut self, id: u16, version: u8, payload: &[u8]) {
        match id {
            id::GC_START => {
                self.starts += 1;
                // CLR 4.5 logs each start in two versions.
                if let Some(start) = GcStart::parse(payload, version) {
                    self.collections
                        .entry((start.clr_instance, start.number))
                        .or_insert(start);
                }
            }
            id::GC_END => self.stops += 1,
            _ => {
                self.ticks += 1;
                if let Some(bytes) = clr::allocation_tick_bytes(payload, version) {
                    // A broken payload can claim any number.
                    self.tick_bytes = self.tick_bytes.saturating_add(bytes);
                }
            }
        }
    }

    fn value(&self) -> Value {
        let (mut by_generation, mut by_reason) = (
            BTreeMap::<String, u64>::new(),
            BTreeMap::<String, u64>::new(),
        );
        for gc in self.collections.values() {
            if let Some(depth) = gc.depth {
                *by_generation.entry(depth.to_string()).or_default() += 1;
            }
            *by_reason.entry(gc.reason.to_string()).or_default() += 1;
        }
        json!({
            "count": self.collections.len(),
            "start_events": self.starts,
            "stop_events": self.stops,
            "by_generation": by_generation,
            "by_reason": by_reason,
            "allocation_ticks": self.ticks,
            "allocation_tick_bytes": self.tick_bytes,
        })
    }
}

impl Jit {
    fn value(&self) -> Value {
        json!({
            "jitting_started": self.jitting_started,
            "load_verbose": self.load_verbose,
            "load_verbose_jitted": self.load_verbose_jitted,
            "load_verbose_dynamic": self.load_verbose_dynamic,
            "unload_verbose": self.unload_verbose,
            "rundown_methods": self.rundown_methods,
            "rundown_methods_jitted": self.rundown_methods_jitted,
            "il_to_native_maps": self.il_to_native_maps,
        })
    }
}

impl Modules {
    fn value(&self) -> Value {
        let pdb = self.pdb.as_ref();
        json!({
            "native_path": self.native_path,
            "pdb": pdb.map(|p| json!({ "guid": p.guid.to_string(), "age": p.age, "name": p.name })),
            "flags": format!("{:#x}", self.flags),
            "instances": self.ids.len(),
        })
    }
}

fn runtimes_value(runtimes: &BTreeMap<RuntimeInformation, usize>) -> Value {
    let mut rows: Vec<_> = runtimes.iter().collect();
    // The map is sorted by content; the output is in order of first occurrence.
    rows.sort_unstable_by_key(|(_, order)| **order);
    rows.into_iter()
        .map(|(runtime, _)| runtime_value(runtime))
        .collect()
}

fn runtime_value(r: &RuntimeInformation) -> Value {
    let version = |v: &[u16; 4]| v.map(|part| part.to_string()).join(".");
    json!({
        "clr_instance": r.clr_instance,
        "sku": r.sku,
        "bcl_version": version(&r.bcl_version),
        "vm_version": version(&r.vm_version),
        "startup_flags": r.startup_flags,
        "startup_mode": r.startup_mode,
        "command_line": r.command_line,
        "runtime_dll": r.runtime_dll,
    })
}

/// CPU samples in code of .NET methods.
#[derive(Debug, Default)]
pub(crate) struct ManagedSamples {
    samples: u64,
    /// Process key text, namespace and name.
    by_method: BTreeMap<(String, Arc<str>, Arc<str>), u64>,
}

impl ManagedSamples {
    pub(crate) fn add(&mut self, process: String, method: &method::Method) {
        self.samples += 1;
        *self
            .by_method
            .entry((
                process,
                Arc::clone(&method.namespace),
                Arc::clone(&method.name),
            ))
            .or_default() += 1;
    }

    fn value(&self, methods: &MethodTracker) -> Value {
        let mut rows: Vec<_> = self.by_method.iter().collect();
        // Methods with equal counts are sorted by name, so that the output is the same in every
        // run.
        rows.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let row = |((process, namespace, name), n): &(&(String, Arc<str>, Arc<str>), &u64)| json!({ "process": process, "namespace": &**namespace, "name": &**name, "samples": n });
        let known: BTreeMap<String, u64> = methods
            .distinct()
            .into_iter()
            .map(|(pid, n)| (pid.to_string(), n))
            .collect();
        json!({
            "known_methods": known,
            "samples": self.samples,
            "top_methods": rows.iter().take(TOP_METHODS).map(row).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_beyond_their_texts_are_counted() {
        let thrown = |length| {
            let (type_name, message) = (String::new(), "x".repeat(length));
            Exception {
                type_name,
                message,
                eip: 0,
                hresult: 0,
                flags: 0,
            }
        };
        let mut all = Exceptions::default();
        all.add(1, 4, 8, thrown(MAX_EXCEPTION_TEXT - 10));
        all.add(2, 4, 8, thrown(20));
        all.add(3, 4, 8, thrown(10));
        assert_eq!(
            all.listed
                .iter()
                .map(|(time, ..)| *time)
                .collect::<Vec<_>>(),
            [1, 3]
        );
        assert_eq!(all.not_listed, 1);
        (0..MAX_EXCEPTIONS as i64).for_each(|time| all.add(time, 4, 8, thrown(0)));
        assert_eq!((all.listed.len(), all.not_listed), (MAX_EXCEPTIONS, 3));
    }
}
