//! The thread pool of the .NET runtime (Microsoft-Windows-DotNETRuntime): changes of its number of
//! threads.

use std::io::{Seek, Write};

use super::super::Sim;
use super::collection::{INSTANCE, RUNTIME};
use crate::Result;
use crate::act::PoolAdjustment;
use crate::table::{Cpu, Thread};
use crate::tape::Provided;

/// Event of an adjustment: id, opcode and keyword of threading.
const ADJUSTMENT: Provided = Provided {
    provider: RUNTIME,
    id: 55,
    version: 0,
    opcode: 101,
    keyword: 0x1_0000,
};

impl<W: Write + Seek> Sim<W> {
    pub(super) fn adjusts_pool(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        adjustment: PoolAdjustment,
    ) -> Result<()> {
        // Finished work items per second, as the runtime has measured them.
        let throughput: f64 = 0.0;
        self.provider_event(cpu, thread, ADJUSTMENT, |p| {
            p.u64(throughput.to_bits())
                .u32(adjustment.workers)
                .u32(adjustment.reason.number())
                .u16(INSTANCE);
        })?;
        Ok(())
    }
}
