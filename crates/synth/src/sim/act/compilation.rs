//! Compilation of methods by the .NET runtime (Microsoft-Windows-DotNETRuntime).

use std::io::{Seek, Write};

use super::super::Sim;
use super::collection::{INSTANCE, RUNTIME};
use crate::Result;
use crate::act::Compiled;
use crate::payload::Payload;
use crate::table::{Cpu, Thread};
use crate::tape::Provided;

/// Keyword of compilation.
const JIT: u64 = 0x10;
const JITTING_STARTED: Provided = event(145, 1, 42);
const METHOD_LOAD_VERBOSE: Provided = event(143, 2, 37);
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
        let size = method.il_bytes * EXPANSION;
        let address = CODE + self.world.compiled.bytes;
        self.world.compiled.bytes += u64::from(size).next_multiple_of(ALIGNMENT);
        let flags = JITTED | method.tier.number() << TIER_SHIFT;
        self.provider_event(cpu, thread, METHOD_LOAD_VERBOSE, |p| {
            identity(p, number)
                .u64(address)
                .u32(size)
                .u32(TOKENS + number)
                .u32(flags);
            // The id of a recompilation by a profiler, of which there is none.
            names(p, &method).u64(0);
        })?;
        Ok(())
    }
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
