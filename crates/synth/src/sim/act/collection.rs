//! Collections of the .NET runtime (Microsoft-Windows-DotNETRuntime): pauses, collections, and the
//! sizes of the heaps after them.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use etwkit_etl::Guid;

use super::super::Sim;
use super::super::times::TICK_NS;
use crate::Result;
use crate::act::CollectionStep;
use crate::table::{Cpu, Program, Thread};
use crate::tape::Provided;
use crate::truth::Collection;

/// Microsoft-Windows-DotNETRuntime.
pub(super) const RUNTIME: Guid = Guid::literal("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
/// Keyword of collections.
const GC: u64 = 1;
/// The only runtime of a process.
pub(super) const INSTANCE: u16 = 9;
/// Types of collections.
const BLOCKING: u32 = 0;
const BACKGROUND: u32 = 1;
const BLOCKING_WITHIN: u32 = 2;

const fn event(id: u16, version: u8, opcode: u8) -> Provided {
    Provided {
        provider: RUNTIME,
        id,
        version,
        opcode,
        keyword: GC,
    }
}

/// A pause that has not ended: its start, the time when all threads had stopped, and the time when
/// they were resumed.
#[derive(Debug, Clone, Copy, Default)]
struct Pause {
    begin: i64,
    stopped: i64,
    restart: i64,
    /// Index of the collection that began in it.
    began: Option<usize>,
}

/// Garbage collection state of a thread.
#[derive(Debug, Default)]
pub(in crate::sim) struct Collecting(Option<Pause>);

/// Collections of each program.
#[derive(Debug, Default)]
struct Runtime {
    numbers: u32,
    /// Index of the collection that runs while threads are suspended, and of the background
    /// collection.
    blocking: Option<usize>,
    background: Option<usize>,
}

/// All runtimes.
#[derive(Debug, Default)]
pub(in crate::sim) struct Runtimes(BTreeMap<Program, Runtime>);

impl<W: Write + Seek> Sim<W> {
    pub(super) fn collects(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        step: CollectionStep,
    ) -> Result<()> {
        match step {
            CollectionStep::SuspendBegins(reason) => {
                let time = self.provider_event(cpu, thread, event(9, 1, 137), |p| {
                    p.u32(reason).u32(0).u16(INSTANCE);
                })?;
                self.threads[thread].acting.collection.0 = Some(Pause {
                    begin: time,
                    ..Pause::default()
                });
                Ok(())
            }
            CollectionStep::SuspendEnds => {
                let time = self.of_runtime(cpu, thread, event(8, 1, 136))?;
                self.pause(thread, |pause| pause.stopped = time);
                Ok(())
            }
            CollectionStep::RestartBegins => {
                let time = self.of_runtime(cpu, thread, event(7, 1, 135))?;
                self.pause(thread, |pause| pause.restart = time);
                Ok(())
            }
            CollectionStep::RestartEnds => self.restarts(cpu, thread),
            CollectionStep::Begins(generation, is_background) => {
                self.collection_begins(cpu, thread, (generation, is_background))
            }
            CollectionStep::Ends(is_background) => self.collection_ends(cpu, thread, is_background),
        }
    }

    /// Writes an event that only names the runtime.
    fn of_runtime(&mut self, cpu: Cpu, thread: Thread, kind: Provided) -> Result<i64> {
        self.provider_event(cpu, thread, kind, |p| {
            p.u16(INSTANCE);
        })
    }

    fn pause(&mut self, thread: Thread, change: impl FnOnce(&mut Pause)) {
        if let Some(pause) = &mut self.threads[thread].acting.collection.0 {
            change(pause);
        }
    }

    fn collection_begins(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (generation, is_background): (u32, bool),
    ) -> Result<()> {
        let (program, pid) = (self.plan.threads[thread].program, self.ids(Some(thread)).1);
        let place = self.truth.collections.len();
        let runtime = self.world.runtimes.0.entry(program).or_default();
        runtime.numbers += 1;
        let (number, within) = (runtime.numbers, runtime.background.is_some());
        // A blocking collection that runs while one runs in the background has a kind of its own:
        // readers have to keep two open collections of a process apart.
        let kind = match (is_background, within) {
            (true, _) => BACKGROUND,
            (false, true) => BLOCKING_WITHIN,
            (false, false) => BLOCKING,
        };
        *(if is_background {
            &mut runtime.background
        } else {
            &mut runtime.blocking
        }) = Some(place);
        let time = self.provider_event(cpu, thread, event(1, 2, 1), |p| {
            p.u32(number)
                .u32(generation)
                .u32(0)
                .u32(kind)
                .u16(INSTANCE)
                .u64(0);
        })?;
        self.pause(thread, |pause| pause.began = Some(place));
        self.truth.collections.push(Collection {
            pid,
            number,
            generation,
            kind,
            start_ns: Self::ns(time),
            ..Collection::default()
        });
        Ok(())
    }

    fn collection_ends(&mut self, cpu: Cpu, thread: Thread, is_background: bool) -> Result<()> {
        let program = self.plan.threads[thread].program;
        let runtime = self.world.runtimes.0.entry(program).or_default();
        let place = if is_background {
            runtime.background.take()
        } else {
            runtime.blocking.take()
        };
        let found =
            place.and_then(|place| Some((place, self.truth.collections.get(place)?.clone())));
        let Some((place, collection)) = found else {
            return Ok(());
        };
        let time = self.provider_event(cpu, thread, event(2, 1, 2), |p| {
            p.u32(collection.number)
                .u32(collection.generation)
                .u16(INSTANCE);
        })?;
        // Generations 0 to 2, large and pinned objects; and the surviving bytes of each.
        let sizes = [1, 4, 24, 12, 2].map(|mb| u64::from(self.rng.between(mb << 18, mb << 20)));
        let survived = sizes.map(|size| size / 5);
        let (pinned_objects, handles) = (self.rng.between(0, 40), self.rng.between(200, 400));
        self.provider_event(cpu, thread, event(4, 2, 133), |p| {
            // The heap of pinned objects came with .NET 5: its sizes follow the fields that older
            // versions of the event have, and are not next to the sizes of the other heaps.
            sizes
                .iter()
                .zip(&survived)
                .take(4)
                .for_each(|(size, survived)| {
                    p.u64(*size).u64(*survived);
                });
            p.u64(0)
                .u64(0)
                .u32(pinned_objects)
                .u32(3)
                .u32(handles)
                .u16(INSTANCE);
            sizes
                .iter()
                .zip(&survived)
                .skip(4)
                .for_each(|(size, survived)| {
                    p.u64(*size).u64(*survived);
                });
        })?;
        if let Some(collection) = self.truth.collections.get_mut(place) {
            collection.end_ns = Some(Self::ns(time));
            [
                collection.gen0_bytes,
                collection.gen1_bytes,
                collection.gen2_bytes,
                collection.large_bytes,
                collection.pinned_bytes,
            ] = sizes;
            collection.promoted_bytes = survived.iter().sum();
            (collection.pinned_objects, collection.handles) = (pinned_objects, handles);
        }
        Ok(())
    }

    /// Resumes the threads: the pause belongs to the collection that began in it, or otherwise to
    /// the background collection.
    fn restarts(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let time = self.of_runtime(cpu, thread, event(3, 1, 132))?;
        let Some(pause) = self.threads[thread].acting.collection.0.take() else {
            return Ok(());
        };
        let runtime = self
            .world
            .runtimes
            .0
            .entry(self.plan.threads[thread].program)
            .or_default();
        // A background collection stops threads a second time, when it marks changed objects, and
        // no collection starts in that pause.
        let place = pause.began.or(runtime.background);
        let collection = place.and_then(|place| self.truth.collections.get_mut(place));
        collection.into_iter().for_each(|collection| {
            collection.suspended_ns += (time - pause.begin) * TICK_NS;
            collection.suspending_ns += (pause.stopped - pause.begin) * TICK_NS;
            collection.restarting_ns += (time - pause.restart) * TICK_NS;
        });
        Ok(())
    }
}
