//! A small machine: processes, threads, and their activity.

use etwkit_analysis::diagnose::{DiagnoseRequest, Diagnosis, FindingRow};
use etwkit_sql::Session;
use etwkit_trace::table::{Columns, Row};
use etwkit_trace::table::{
    ContextSwitch, CpuClass, CpuClassPriority, CpuCore, CpuFrequency, CpuMethod, CpuParking,
    CpuProcess, CpuSample, Disk, DiskIo, DnsQuery, DpcIsr, EventCount, FileIo, FocusChange, Frame,
    Gc, HardFault, Jit, Method, Module, NetIo, Process, RegistryIo, Stack, Thread, ThreadPool,
    Trace, UiDelay, UserLock,
};

/// Rows of all tables.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) threads: Vec<Thread>,
    pub(crate) processes: Vec<Process>,
    pub(crate) switches: Vec<ContextSwitch>,
    pub(crate) samples: Vec<CpuSample>,
    pub(crate) dpcs: Vec<DpcIsr>,
    pub(crate) disks: Vec<Disk>,
    pub(crate) transfers: Vec<DiskIo>,
    pub(crate) sums: Vec<CpuProcess>,
    pub(crate) code: Vec<CpuMethod>,
    pub(crate) faults: Vec<HardFault>,
    pub(crate) locks: Vec<UserLock>,
    pub(crate) delays: Vec<UiDelay>,
    pub(crate) cores: Vec<CpuCore>,
    pub(crate) parkings: Vec<CpuParking>,
    pub(crate) classes: Vec<CpuClass>,
    pub(crate) priorities: Vec<CpuClassPriority>,
    pub(crate) collections: Vec<Gc>,
    pub(crate) packets: Vec<NetIo>,
    pub(crate) files: Vec<FileIo>,
    pub(crate) keys: Vec<RegistryIo>,
    pub(crate) pools: Vec<ThreadPool>,
    pub(crate) lookups: Vec<DnsQuery>,
    pub(crate) compiled: Vec<Jit>,
    pub(crate) counts: Vec<EventCount>,
    /// File name of the module that all methods without one are in, if it is not `a.dll`.
    pub(crate) module: Option<&'static str>,
    /// Modules of the kernel, which belong to no process.
    pub(crate) drivers: Vec<&'static str>,
    /// `MODULE!METHOD` with a module of process 1, or `METHOD`; `MODULE+PLACE` is a place without a name.
    pub(crate) methods: Vec<&'static str>,
    /// Parent and method of each stack.
    pub(crate) stacks: Vec<(Option<i32>, i32)>,
    pub(crate) end_ns: i64,
    pub(crate) kernel_end_ns: Option<i64>,
    /// First event of a ring of buffers, and the time from which it has all processors.
    pub(crate) ring_ns: Option<(i64, i64)>,
    /// Start and end of the part that was extracted, unless all was.
    pub(crate) range_ns: Option<(i64, i64)>,
    pub(crate) lost_events: i64,
}

/// A thread that was off a processor and came back, or did not.
#[derive(Debug, Clone)]
pub(crate) struct Slice(pub(crate) ContextSwitch);

impl Machine {
    /// Thread 0 is idle; the others have the tids 100 + their number. `processes[i]` is the process
    /// of thread i + 1.
    pub(crate) fn new(processes: &[&str], end_ns: i64) -> Self {
        let mut machine = Self {
            end_ns,
            ..Self::default()
        };
        machine.process("Idle");
        machine.threads.push(Thread {
            thread_key: 0,
            tid: 0,
            process_key: Some(0),
            ..Thread::default()
        });
        for (thread_key, name) in (1..).zip(processes) {
            let process_key = machine.process(name);
            machine.threads.push(Thread {
                thread_key,
                tid: 100 + thread_key,
                process_key: Some(process_key),
                ..Thread::default()
            });
        }
        machine
    }

    fn process(&mut self, name: &str) -> i32 {
        let known = self
            .processes
            .iter()
            .find(|process| process.name.as_deref() == Some(name));
        if let Some(known) = known {
            return known.process_key;
        }
        let key = i32::try_from(self.processes.len()).unwrap();
        self.processes.push(Process {
            process_key: key,
            pid: key * 4,
            name: Some(name.into()),
            ..Process::default()
        });
        key
    }

    /// Adds a slice.
    pub(crate) fn add(&mut self, slice: Slice) -> &mut Self {
        let mut row = slice.0;
        row.process_key = self
            .threads
            .iter()
            .find(|t| t.thread_key == row.thread_key)
            .and_then(|t| t.process_key);
        self.switches.push(row);
        self
    }

    /// A stack of these methods, innermost first; its number.
    pub(crate) fn stack(&mut self, methods: &[&'static str]) -> i32 {
        let mut parent = None;
        for method in methods.iter().rev() {
            let known = self.methods.iter().position(|name| name == method);
            let number = known.unwrap_or_else(|| {
                self.methods.push(method);
                self.methods.len() - 1
            });
            self.stacks.push((parent, i32::try_from(number).unwrap()));
            parent = i32::try_from(self.stacks.len() - 1).ok();
        }
        parent.unwrap()
    }

    /// The session over it.
    pub(crate) fn session(&self) -> Session {
        Session::from_batches(self.tables()).unwrap()
    }

    /// Its tables.
    pub(crate) fn tables(&self) -> Vec<TableRows> {
        let common = self.module.unwrap_or("a.dll");
        let split = |name: &&'static str| -> (&'static str, Option<&'static str>) {
            if let Some((module, _)) = name.split_once('+') {
                return (module, None);
            }
            let (module, method) = name.split_once('!').unwrap_or((common, name));
            (module, Some(method))
        };
        let mut names = vec![common];
        names.extend(self.methods.iter().map(|name| split(name).0));
        let module_of = |name: &str| names.iter().position(|module| *module == name).unwrap();
        let modules: Vec<Module> = (0..)
            .zip(&names)
            .map(|(module_id, name)| Module {
                module_id,
                process_key: (module_id > 0 && !self.drivers.contains(name)).then_some(1),
                path: match *name {
                    "ntdll.dll" | "kernel32.dll" => format!("C:\\Windows\\System32\\{name}"),
                    _ => format!("C:\\{name}"),
                },
                name: (*name).into(),
                ..Module::default()
            })
            .collect();
        let numbered = || {
            let parts = self.methods.iter().map(split);
            (0..).zip(parts).map(|(id, (module, method))| {
                let module_id = i32::try_from(module_of(module)).unwrap();
                (id, module_id, method)
            })
        };
        let methods: Vec<Method> = numbered()
            .filter_map(|(method_id, module_id, name)| {
                Some(Method {
                    method_id,
                    module_id: Some(module_id),
                    name: name?.into(),
                    ..Method::default()
                })
            })
            .collect();
        let frames: Vec<Frame> = numbered()
            .map(|(id, module_id, name)| Frame {
                frame_id: id,
                module_id: Some(module_id),
                method_id: name.map(|_| id),
                rva: Some(16 * i64::from(id)),
                ..Frame::default()
            })
            .collect();
        let stacks: Vec<Stack> = (0..)
            .zip(&self.stacks)
            .map(|(stack_id, (parent_id, frame_id))| Stack {
                stack_id,
                parent_id: *parent_id,
                frame_id: *frame_id,
                ..Stack::default()
            })
            .collect();
        let trace = Trace {
            file_name: "made.etl".into(),
            duration_ns: self.end_ns,
            kernel_start_ns: self.ring_ns.map(|(start, _)| start),
            kernel_end_ns: self.kernel_end_ns,
            ring_start_ns: self.ring_ns.map(|(_, start)| start),
            range_start_ns: self.range_ns.map(|(start, _)| start),
            range_end_ns: self.range_ns.map(|(_, end)| end),
            lost_events: self.lost_events,
            ..Trace::default()
        };
        vec![
            rows(&[trace]),
            rows(&self.processes),
            rows(&self.threads),
            rows(&self.switches),
            rows(&self.samples),
            rows(&self.dpcs),
            rows(&self.disks),
            rows(&self.transfers),
            rows(&self.sums),
            rows(&self.code),
            rows(&self.faults),
            rows(&self.locks),
            rows(&self.delays),
            rows(&self.cores),
            rows(&self.parkings),
            rows(&self.classes),
            rows(&self.priorities),
            rows::<CpuFrequency>(&[]),
            rows::<FocusChange>(&[]),
            rows(&self.collections),
            rows(&self.packets),
            rows(&self.files),
            rows(&self.keys),
            rows(&self.pools),
            rows(&self.lookups),
            rows(&self.compiled),
            rows(&self.counts),
            rows(&modules),
            rows(&methods),
            rows(&frames),
            rows(&stacks),
        ]
    }
}

/// Rows of a table.
pub(crate) type TableRows = (
    &'static etwkit_trace::table::Table,
    Vec<etwkit_sql::arrow::array::RecordBatch>,
);

pub(crate) fn rows<R: Row>(rows: &[R]) -> TableRows {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

/// One event of a provider in a second.
pub(crate) fn event(second: i64, provider: &str, event_id: i32, opcode: i32) -> EventCount {
    EventCount {
        second,
        provider: Some(provider.into()),
        event_id: Some(event_id),
        opcode: Some(opcode),
        events: 1,
        ..EventCount::default()
    }
}

/// A thread that is off its processor from `out` on, for `UserRequest`.
pub(crate) fn off(thread_key: i32, out: i64) -> Slice {
    Slice(ContextSwitch {
        thread_key,
        last_out_ns: Some(out),
        prev_state: Some(5),
        wait_reason: Some(6),
        ..ContextSwitch::default()
    })
}

/// A thread that runs from its first switch-in on, about which nothing was known before.
pub(crate) fn first(thread_key: i32, from: i64, to: i64) -> Slice {
    Slice(ContextSwitch {
        thread_key,
        ..ContextSwitch::default()
    })
    .ran(from, to)
}

impl Slice {
    /// A thread made it ready.
    pub(crate) fn readied(mut self, at: i64, by: i32) -> Self {
        self.0.readied_ns = Some(at);
        self.0.readying_thread_key = Some(by);
        self.0.wait_ns = Some(at - self.0.last_out_ns.unwrap());
        self
    }

    /// A DPC that interrupted a thread made it ready.
    pub(crate) fn readied_by_dpc(mut self, at: i64, interrupted: i32) -> Self {
        self = self.readied(at, interrupted);
        self.0.is_readied_by_dpc = true;
        self
    }

    /// It had been preempted.
    pub(crate) fn preempted(mut self) -> Self {
        (self.0.prev_state, self.0.wait_reason, self.0.wait_ns) = (Some(1), Some(32), Some(0));
        self
    }

    /// It ran.
    pub(crate) fn ran(mut self, from: i64, to: i64) -> Self {
        let row = &mut self.0;
        (row.cpu, row.in_ns, row.out_ns, row.run_ns) =
            (Some(row.thread_key), Some(from), Some(to), Some(to - from));
        let ready_from = if row.prev_state == Some(1) {
            row.last_out_ns
        } else {
            row.readied_ns
        };
        row.ready_ns = ready_from.map(|ready| from - ready);
        self
    }

    /// It had not come back when the trace ended.
    pub(crate) fn open(mut self) -> Self {
        self.0.is_open_wait = true;
        self
    }

    pub(crate) fn reason(mut self, reason: i32) -> Self {
        self.0.wait_reason = Some(reason);
        self
    }

    pub(crate) fn in_stack(mut self, stack_id: i32) -> Self {
        self.0.stack_id = Some(stack_id);
        self
    }
}

/// What rules say of a machine. Several have `;` between them.
pub(crate) fn diagnosed(machine: &Machine, rules: &str) -> Diagnosis {
    let request = DiagnoseRequest {
        rule: Some(rules.to_owned()),
        ..DiagnoseRequest::default()
    };
    request.ask(&machine.session()).unwrap()
}

/// What a rule finds. It has to be checked, since a rule that was not finds nothing either.
pub(crate) fn found(machine: &Machine, rule: &str) -> Vec<FindingRow> {
    let diagnosis = diagnosed(machine, rule);
    let [rule] = &diagnosis.rules[..] else {
        panic!("{:?}", diagnosis.rules)
    };
    assert!(
        rule.state != "failed" && rule.state != "not checked",
        "{rule:?}"
    );
    diagnosis.findings
}
