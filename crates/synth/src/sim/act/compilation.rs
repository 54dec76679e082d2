//! Compilation of methods by the .NET runtime (Microsoft-Windows-DotNETRuntime).

use std::io::{Seek, Write};

use etwkit_etl::Guid;

use super::super::Sim;
use super::collection::{INSTANCE, RUNTIME};
use crate::Result;
use crate::act::{Compiled, Listed};
use crate::payload::Payload;
use crate::table::{Cpu, Thread};
use crate::tape::Provided;

/// Microsoft-Windows-DotNETRuntimeRundown.
const RUNDOWN: Guid = Guid::literal("a669021c-c450-4609-a035-5af59af4df18");
/// Keyword of compilation, which lists have together with that of their end.
const JIT: u64 = 0x10;
const JITTING_STARTED: Provided = event(145, 1, 42);
const METHOD_LOAD_VERBOSE: Provided = event(143, 2, 37);
const LIST_BEGINS: Provided = rundown(148, 1, 17);
const LISTED_VERBOSE: Provided = rundown(144, 2, 40);
const LIST_ENDS: Provided = rundown(146, 1, 15);
/// Flag of a method that was compiled at run time, and place of its tier.
const JITTED: u32 = 8;
const TIER_SHIFT: u32 = 7;
/// Address of the first compiled method, and bytes between the ends and starts of methods.
const CODE: u64 = 0x7FF8_3000_0000;
const ALIGNMENT: u64 = 0x40;
/// Descriptor of the first method, and bytes from one to the next.
const DESCRIPTORS: u64 = 0x7FF8_2000_0000;
const DESCRIPTOR: u64 = 0x28;
/// The only module with compiled methods.
const MODULE: u64 = 0x7FF8_1F00_4000;
/// Token of the first method.
const TOKENS: u32 = 0x0600_0001;
/// Bytes of code for each byte of IL.
const EXPANSION: u32 = 5;

const fn event(id: u16, version: u8, opcode: u8) -> Provided {
    Provided {
        provider: RUNTIME,
        id,
        version,
        opcode,
        keyword: JIT,
    }
}

const fn rundown(id: u16, version: u8, opcode: u8) -> Provided {
    Provided {
        provider: RUNDOWN,
        keyword: JIT | 0x100,
        ..event(id, version, opcode)
    }
}

/// The method that a thread compiles, and its number.
#[derive(Debug, Default)]
pub(in crate::sim) struct Compiling(Option<(Compiled, u32)>);

/// Methods of all runtimes.
#[derive(Debug, Default)]
pub(in crate::sim) struct Methods {
    /// Methods so far.
    count: u32,
    /// Bytes of code so far.
    bytes: u64,
}

impl<W: Write + Seek> Sim<W> {
    pub(super) fn compile_begins(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        method: Compiled,
    ) -> Result<()> {
        let number = self.world.compiled.count;
        self.world.compiled.count += 1;
        self.provider_event(cpu, thread, JITTING_STARTED, |p| {
            identity(p, number)
                .u32(TOKENS + number)
                .u32(method.il_bytes);
            names(p, &method);
        })?;
        self.threads[thread].acting.compilation.0 = Some((method, number));
        Ok(())
    }

    pub(super) fn compile_ends(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let Some((method, number)) = self.threads[thread].acting.compilation.0.take() else {
            return Ok(());
        };
        let address = self.world.compiled.places(&method);
        self.provider_event(cpu, thread, METHOD_LOAD_VERBOSE, |p| {
            describe(p, number, (address, &method));
        })?;
        Ok(())
    }

    /// Writes a part of the list of methods. Sessions do not ask for stacks of these events.
    pub(super) fn lists(&mut self, cpu: Cpu, thread: Thread, listed: Listed) -> Result<()> {
        let kind = match listed {
            Listed::Begins => LIST_BEGINS,
            Listed::Method(_) => LISTED_VERBOSE,
            Listed::Ends => LIST_ENDS,
        };
        let methods = &mut self.world.compiled;
        let place = match listed {
            Listed::Method(method) => {
                methods.count += 1;
                Some((methods.count - 1, methods.places(&method), method))
            }
            Listed::Begins | Listed::Ends => None,
        };
        let ids = self.ids(Some(thread));
        self.tape
            .provided(cpu.0 as u16, kind, ids, &[], |p| match &place {
                Some((number, address, method)) => describe(p, *number, (*address, method)),
                None => {
                    p.u16(INSTANCE);
                }
            })?;
        Ok(())
    }
}

impl Methods {
    /// Returns the address of a method's code, after that of all others.
    fn places(&mut self, method: &Compiled) -> u64 {
        let address = CODE + self.bytes;
        self.bytes += u64::from(method.il_bytes * EXPANSION).next_multiple_of(ALIGNMENT);
        address
    }
}

/// Appends a method with its code.
fn describe(p: &mut Payload, number: u32, (address, method): (u64, &Compiled)) {
    identity(p, number)
        .u64(address)
        .u32(method.il_bytes * EXPANSION)
        .u32(TOKENS + number)
        .u32(JITTED | method.tier.number() << TIER_SHIFT);
    // The id of a recompilation by a profiler, of which there is none.
    names(p, method).u64(0);
}

/// Appends the method and its module.
fn identity(p: &mut Payload, number: u32) -> &mut Payload {
    p.u64(DESCRIPTORS + DESCRIPTOR * u64::from(number))
        .u64(MODULE)
}

/// Appends the names of a method, and its runtime.
fn names<'p>(p: &'p mut Payload, method: &Compiled) -> &'p mut Payload {
    p.wide(method.namespace)
        .wide(method.name)
        .wide("void ()")
        .u16(INSTANCE)
}
