//! Handles and their objects: opened, duplicated to other processes, closed. Values of handles and
//! addresses of objects are reused.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Seek, Write};

use super::super::lifetime::process_object;
use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::act::{ObjectKind, ObjectPlan};
use crate::table::{Cpu, Program, Thread};
use crate::tape::Kind;
use crate::truth::HandleSums;

/// Address of the first object, and bytes between two.
const OBJECTS: u64 = 0xFFFF_A08D_6000_0000;
const OBJECT_STEP: u64 = 0x180;

/// An object.
#[derive(Debug, Clone, Copy)]
struct Object {
    plan: ObjectPlan,
    handles: u32,
    /// Time of its creation; `None`: before the trace.
    since: Option<i64>,
}

/// A handle.
#[derive(Debug, Clone, Copy)]
struct Handle {
    value: u32,
    object: u64,
    /// Time at which it was opened; `None`: before the trace.
    since: Option<i64>,
}

/// Handles of a process, the oldest first.
#[derive(Debug, Default)]
struct HandleTable {
    open: VecDeque<Handle>,
    free: Vec<u32>,
    values: u32,
}

impl HandleTable {
    /// Returns the value of a new handle: the one that was closed last, or an unused one.
    fn value(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            // Values of handles are multiples of four, since Windows leaves the two lowest bits to
            // programs.
            self.values += 4;
            self.values
        })
    }
}

/// All handles and objects.
#[derive(Debug, Default)]
pub(in crate::sim) struct HandleState {
    tables: BTreeMap<Program, HandleTable>,
    objects: BTreeMap<u64, Object>,
    free: Vec<u64>,
    addresses: u64,
}

impl HandleState {
    fn address(&mut self) -> u64 {
        self.free.pop().unwrap_or_else(|| {
            self.addresses += 1;
            OBJECTS + OBJECT_STEP * self.addresses
        })
    }
}

impl<W: Write + Seek> Sim<W> {
    /// Creates an object and opens it.
    pub(super) fn handle_opens(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        plan: ObjectPlan,
    ) -> Result<()> {
        let object = self.world.handles.address();
        let number = plan.kind.number();
        let born = self.user_event(cpu, thread, kind::OBJECT_CREATE, |p| {
            p.u64(object).u16(number).u16(0);
        })?;
        self.world.handles.objects.insert(
            object,
            Object {
                plan,
                handles: 1,
                since: Some(born),
            },
        );
        self.truth.handles.objects.created += 1;
        let program = self.plan.threads[thread].program;
        let value = self
            .world
            .handles
            .tables
            .entry(program)
            .or_default()
            .value();
        let time = self.user_event(cpu, thread, kind::HANDLE_CREATE, |p| {
            p.u64(object).u32(value).u16(number).u16(0);
        })?;
        self.add_handle(
            program,
            Handle {
                value,
                object,
                since: Some(time),
            },
        );
        self.count_handle(program, plan.kind, |sums| sums.opened += 1);
        Ok(())
    }

    /// Opens a process, whose object exists as long as there is a handle to it.
    pub(super) fn handle_opens_process(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        of: Program,
    ) -> Result<()> {
        let object = process_object(&self.plan.programs[of]);
        let plan = ObjectPlan {
            kind: ObjectKind::Process,
            name: "",
        };
        // The object came with its process, which has no event of an object: the time of its
        // creation is unknown.
        let known = self.world.handles.objects.entry(object);
        known
            .or_insert(Object {
                plan,
                handles: 0,
                since: None,
            })
            .handles += 1;
        let program = self.plan.threads[thread].program;
        let value = self
            .world
            .handles
            .tables
            .entry(program)
            .or_default()
            .value();
        let time = self.user_event(cpu, thread, kind::HANDLE_CREATE, |p| {
            p.u64(object).u32(value).u16(plan.kind.number()).u16(0);
        })?;
        self.add_handle(
            program,
            Handle {
                value,
                object,
                since: Some(time),
            },
        );
        self.count_handle(program, plan.kind, |sums| sums.opened += 1);
        Ok(())
    }

    fn add_handle(&mut self, program: Program, handle: Handle) {
        self.world
            .handles
            .tables
            .entry(program)
            .or_default()
            .open
            .push_back(handle);
    }

    /// Duplicates the newest handle into another process.
    pub(super) fn handle_duplicates(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        target: Program,
    ) -> Result<()> {
        let source = self.plan.threads[thread].program;
        let newest = self
            .world
            .handles
            .tables
            .get(&source)
            .and_then(|table| table.open.back().copied());
        let Some(Handle { value, object, .. }) = newest else {
            return Ok(());
        };
        let Some(of) = self.world.handles.objects.get_mut(&object) else {
            return Ok(());
        };
        of.handles += 1;
        let kind = of.plan.kind;
        // The copy has a value of the other process, which may be in use in this one for another
        // object.
        let copy = self.world.handles.tables.entry(target).or_default().value();
        let (source_pid, target_pid) = (
            self.plan.programs[source].pid,
            self.plan.programs[target].pid,
        );
        let time = self.user_event(cpu, thread, kind::HANDLE_DUPLICATE, |p| {
            p.u64(object)
                .u32(value)
                .u32(copy)
                .u32(target_pid)
                .u16(kind.number())
                .u32(source_pid);
        })?;
        self.add_handle(
            target,
            Handle {
                value: copy,
                object,
                since: Some(time),
            },
        );
        self.count_handle(target, kind, |sums| sums.duplicated += 1);
        Ok(())
    }

    /// Closes the oldest handle of the process, and ends its object with the last handle to that.
    pub(super) fn handle_closes(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let program = self.plan.threads[thread].program;
        let Some(table) = self.world.handles.tables.get_mut(&program) else {
            return Ok(());
        };
        let Some(Handle {
            value,
            object,
            since,
        }) = table.open.pop_front()
        else {
            return Ok(());
        };
        table.free.push(value);
        let Some(of) = self.world.handles.objects.get_mut(&object) else {
            return Ok(());
        };
        of.handles = of.handles.saturating_sub(1);
        let Object {
            plan,
            handles,
            since: born,
        } = *of;
        let time = self.user_event(cpu, thread, kind::HANDLE_CLOSE, |p| {
            p.u64(object).u32(value).u16(plan.kind.number());
            // A nameless object has only the end of the text.
            if plan.name.is_empty() {
                p.u16(0)
            } else {
                p.wide(plan.name)
            };
        })?;
        self.count_handle(program, plan.kind, |sums| {
            sums.closed += 1;
            sums.closed_of_earlier += u64::from(since.is_none());
            sums.lifetime_ns += since.map_or(0, |since| (time - since) * TICK_NS);
        });
        if handles > 0 {
            return Ok(());
        }
        let gone = self.user_event(cpu, thread, kind::OBJECT_DELETE, |p| {
            p.u64(object).u16(plan.kind.number()).u16(0);
        })?;
        self.world.handles.objects.remove(&object);
        // Objects of processes are at other addresses.
        if object >= OBJECTS {
            self.world.handles.free.push(object);
        }
        let objects = &mut self.truth.handles.objects;
        objects.deleted += 1;
        objects.deleted_of_earlier += u64::from(born.is_none());
        objects.lifetime_ns += born.map_or(0, |born| (gone - born) * TICK_NS);
        Ok(())
    }

    fn count_handle(
        &mut self,
        program: Program,
        kind: ObjectKind,
        count: impl Fn(&mut HandleSums),
    ) {
        let pid = self.plan.programs[program].pid.to_string();
        let handles = &mut self.truth.handles;
        count(handles.by_process.entry(pid).or_default());
        count(handles.by_type.entry(kind.name().to_owned()).or_default());
    }

    /// Writes the types, and the handles that are open when the session begins.
    pub(in crate::sim) fn handle_rundown_at_start(&mut self) -> Result<()> {
        let before = self.plan.handles.clone();
        if before.is_empty() {
            return Ok(());
        }
        self.type_rundown(kind::TYPE_START)?;
        for (program, plan) in before {
            let object = self.world.handles.address();
            self.world.handles.objects.insert(
                object,
                Object {
                    plan,
                    handles: 1,
                    since: None,
                },
            );
            let value = self
                .world
                .handles
                .tables
                .entry(program)
                .or_default()
                .value();
            self.add_handle(
                program,
                Handle {
                    value,
                    object,
                    since: None,
                },
            );
        }
        self.handle_rundown(kind::HANDLE_START)
    }

    /// Writes the types, and the handles that are open when the session ends.
    pub(in crate::sim) fn handle_rundown_at_end(&mut self) -> Result<()> {
        if self.plan.handles.is_empty() {
            return Ok(());
        }
        self.type_rundown(kind::TYPE_END)?;
        self.handle_rundown(kind::HANDLE_END)
    }

    fn type_rundown(&mut self, kind: Kind) -> Result<()> {
        for of in ObjectKind::ALL {
            self.tape.kernel(0, kind, None, |p| {
                p.u16(of.number()).u16(0).wide(of.name());
            })?;
        }
        Ok(())
    }

    fn handle_rundown(&mut self, kind: Kind) -> Result<()> {
        for (program, table) in &self.world.handles.tables {
            let pid = self.plan.programs[*program].pid;
            for handle in &table.open {
                let Some(of) = self.world.handles.objects.get(&handle.object) else {
                    continue;
                };
                let number = of.plan.kind.number();
                self.tape.kernel(0, kind, None, |p| {
                    p.u64(handle.object)
                        .u32(pid)
                        .u32(handle.value)
                        .u16(number)
                        .wide(of.plan.name);
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn finish_handles(&mut self) {
        let state = &self.world.handles;
        self.truth.handles.objects.live_at_end = state.objects.len() as u64;
        let open = state
            .tables
            .iter()
            .flat_map(|(program, table)| table.open.iter().map(move |h| (*program, h)));
        let kinds: Vec<(Program, ObjectKind)> = open
            .filter_map(|(program, handle)| {
                Some((program, state.objects.get(&handle.object)?.plan.kind))
            })
            .collect();
        for (program, kind) in kinds {
            self.count_handle(program, kind, |sums| sums.open_at_end += 1);
        }
    }
}
