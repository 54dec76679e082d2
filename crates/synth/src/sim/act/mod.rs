//! Actions of threads with events of their own: callbacks of filter drivers, page faults, memory,
//! messages.

mod birth;
mod call;
mod collection;
mod compilation;
mod filter;
mod handle;
mod heap;
mod lookup;
mod memory;
mod message;
mod network;
mod power;
mod registry;
mod session;
mod thread_pool;
mod window;

use std::io::{Seek, Write};

use super::Sim;
use crate::Result;
use crate::act::Act;
use crate::payload::Payload;
use crate::rng::mix;
use crate::stacks::Taken;
use crate::table::{Cpu, Thread};
use crate::tape::{Kind, Provided};

/// Open actions of a thread.
#[derive(Debug, Default)]
pub(super) struct Acting {
    birth: birth::Birth,
    call: call::Calling,
    collection: collection::Collecting,
    compilation: compilation::Compiling,
    filter: filter::Filtering,
    lookup: lookup::LookingUp,
    message: message::Messaging,
    registry: registry::Registering,
    window: window::Windowing,
}

/// State that all threads share.
#[derive(Debug, Default)]
pub(super) struct World {
    pool: memory::PoolState,
    heaps: heap::Heaps,
    messages: message::Messages,
    power: power::PowerState,
    registry: registry::RegistryState,
    handles: handle::HandleState,
    window: window::WindowState,
    sessions: session::SessionState,
    runtimes: collection::Runtimes,
    compiled: compilation::Methods,
}

impl<W: Write + Seek> Sim<W> {
    /// Carries out the action of a step.
    pub(super) fn act_out(&mut self, cpu: Cpu, thread: Thread, act: Act) -> Result<()> {
        match act {
            Act::FileBegins(operation) => self.file_begins(cpu, thread, operation),
            Act::FileEnds(status) => self.file_ends(cpu, thread, status),
            Act::CallbackBegins(callback) => self.callback_begins(cpu, thread, callback),
            Act::CallbackEnds(status) => self.callback_ends(cpu, thread, status),
            Act::Fault(kind) => self.soft_fault(cpu, thread, kind),
            Act::PoolAllocates(pool) => self.pool_allocates(cpu, thread, pool),
            Act::PoolFrees(tag) => self.pool_frees(cpu, thread, tag),
            Act::PoolFreesEarlier(tag, bytes) => self.pool_frees_earlier(cpu, thread, tag, bytes),
            Act::HeapBegins(heap) => self.heap_begins(cpu, thread, heap),
            Act::HeapAllocates(heap, low, high) => {
                self.heap_allocates(cpu, thread, heap, (low, high))
            }
            Act::HeapResizes(heap, low, high) => self.heap_resizes(cpu, thread, heap, (low, high)),
            Act::HeapFrees(heap) => self.heap_frees(cpu, thread, heap),
            Act::HeapEnds(heap) => self.heap_ends(cpu, thread, heap),
            Act::CallBegins(function) => self.call_begins(cpu, thread, function),
            Act::CallEnds(status) => self.call_ends(cpu, thread, status),
            Act::Terminates(program, status) => self.terminates(cpu, thread, (program, status)),
            Act::AsksTimer(resolution, ignored) => {
                self.asks_timer(cpu, thread, (resolution, ignored))
            }
            Act::KernelAsksTimer(resolution) => self.kernel_asks_timer(cpu, thread, resolution),
            Act::SetsPower(setting, data) => self.sets_power(cpu, thread, (setting, data)),
            Act::LookupBegins(lookup) => self.lookup_begins(cpu, thread, lookup),
            Act::LookupEnds => self.lookup_ends(cpu, thread),
            Act::LookupAdapter(adapter) => self.lookup_adapter(cpu, thread, adapter),
            Act::LookupServer(server) => self.lookup_server(cpu, thread, server),
            Act::LookupTimesOut(server) => self.lookup_times_out(cpu, thread, server),
            Act::RegistryBegins(act) => {
                self.registry_begins(thread, act);
                Ok(())
            }
            Act::RegistryEnds(status) => self.registry_ends(cpu, thread, status),
            Act::BlockBegins(key) => self.block_begins(cpu, key),
            Act::BlockEnds(key) => self.block_ends(cpu, key),
            Act::HandleOpens(object) => self.handle_opens(cpu, thread, object),
            Act::HandleOpensProcess(of) => self.handle_opens_process(cpu, thread, of),
            Act::HandleDuplicates(target) => self.handle_duplicates(cpu, thread, target),
            Act::HandleCloses => self.handle_closes(cpu, thread),
            _ => self.act_out_windows(cpu, thread, act),
        }
    }

    fn act_out_windows(&mut self, cpu: Cpu, thread: Thread, act: Act) -> Result<()> {
        match act {
            Act::LockAsks => self.lock_asks(thread),
            Act::LockHas { exclusive } => self.lock_has(cpu, thread, exclusive)?,
            Act::LockGives => self.lock_gives(cpu, thread)?,
            Act::GuiCreates(kind) => self.gui_creates(cpu, thread, kind)?,
            Act::GuiDestroys => self.gui_destroys(cpu, thread)?,
            Act::GuiMoves(target) => self.gui_moves(cpu, thread, target)?,
            Act::GuiTransforms => self.gui_transforms(cpu, thread)?,
            Act::FocusIs => self.focus_is(thread),
            Act::FocusMoves(to) => self.focus_moves(cpu, thread, to)?,
            Act::DelayBegins => self.delay_begins(thread),
            Act::DelayEnds(what) => self.delay_ends(cpu, thread, what)?,
            Act::SessionStarts(plan) => self.session_starts(cpu, thread, plan)?,
            Act::TakesKernel(plan) => {
                self.session_starts(cpu, thread, plan)?;
                // The new session starts first: its event is the last thing that a provider reports
                // before the kernel falls silent.
                self.tape.ends_kernel()?;
            }
            Act::SessionStops(name, lost) => self.session_stops(cpu, thread, (name, lost))?,
            Act::ProviderOn(enabled) => self.provider_on(cpu, thread, enabled)?,
            Act::ProviderOff(enabled) => self.provider_off(cpu, thread, enabled)?,
            Act::Registers(provider) => self.registers(cpu, thread, (provider, true))?,
            Act::Unregisters(provider) => self.registers(cpu, thread, (provider, false))?,
            Act::LosesEvent(enabled, id) => self.loses_event(cpu, thread, (enabled, id))?,
            Act::Collects(step) => self.collects(cpu, thread, step)?,
            Act::CompileBegins(method) => self.compile_begins(cpu, thread, method)?,
            Act::CompileEnds => self.compile_ends(cpu, thread)?,
            Act::Lists(listed) => self.lists(cpu, thread, listed)?,
            Act::AdjustsPool(adjustment) => self.adjusts_pool(cpu, thread, adjustment)?,
            Act::Transfers(packet) => self.transfers(cpu, thread, packet)?,
            Act::Parks(parked) => self.parks(parked)?,
            Act::ParksSoftly(parked) => self.parks_softly(parked)?,
            Act::Unparks(parked) => self.unparks(parked)?,
            Act::DeviceOn(device) => self.device_on(device),
            Act::DeviceOff(device) => self.device_off(device),
            Act::WritesForeign(provider, id, bytes) => {
                let kind = Provided {
                    provider,
                    id,
                    version: 1,
                    opcode: 0,
                    keyword: 0x2_0000,
                };
                // Noise, so that no decoder can make sense of the payload by chance.
                let first = self.rng.below(u64::MAX);
                self.provider_event(cpu, thread, kind, |p| {
                    (0..u64::from(bytes / 8)).for_each(|at| {
                        p.u64(mix(first.wrapping_add(at)));
                    });
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes an event that names no thread, with the stack of the running one. Returns its time.
    fn kernel_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        kind: Kind,
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        let time = self.tape.kernel(cpu.0 as u16, kind, None, payload)?;
        self.script_stack(cpu, thread, time)?;
        Ok(time)
    }

    /// Writes an event whose header names the thread, with the thread's stack. Returns its time.
    fn user_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        kind: Kind,
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        let ids = self.ids(Some(thread));
        let time = self.tape.kernel(cpu.0 as u16, kind, Some(ids), payload)?;
        self.script_stack(cpu, thread, time)?;
        Ok(time)
    }

    /// Writes an event of a provider, which carries its own stack. Returns its time.
    fn provider_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        kind: Provided,
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        self.take_frames(thread, Taken::Ready);
        // Providers write the stack into the event itself as one list, unlike the kernel, which
        // writes it as an event of its own.
        let stack = [self.frames.kernel.as_slice(), &self.frames.user].concat();
        let ids = self.ids(Some(thread));
        self.tape.provided(cpu.0 as u16, kind, ids, &stack, payload)
    }

    /// Returns the id of the process of a thread, as the truth writes it.
    fn pid_text(&self, thread: Thread) -> String {
        self.ids(Some(thread)).1.to_string()
    }

    /// Adds the actions that are open at the end of the trace to the truth.
    pub(super) fn finish_acts(&mut self) {
        self.finish_calls();
        self.finish_filters();
        self.finish_pool();
        self.finish_handles();
        self.finish_heaps();
        self.finish_lookups();
        self.finish_messages();
        self.finish_windows();
    }
}
