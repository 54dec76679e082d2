//! Operations on files that filter drivers see: each driver may be called before and after the
//! operation.
//!
//! Events of callbacks name no thread. A callback that fails has an event of its failure after the
//! event of its end: they are enabled by different flags.

use std::io::{Seek, Write};

use super::super::io::{FILE_OBJECT, IRP, address};
use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::act::{Callback, FileOperation, Major};
use crate::plan::file_key;
use crate::table::{Cpu, Thread};

/// Address of the callback data that drivers receive.
const CALLBACK_DATA: u64 = 0xFFFF_A08D_7800_0000;

/// Open operations of a thread.
#[derive(Debug, Default)]
pub(in crate::sim) struct Filtering {
    operation: Option<(FileOperation, i64)>,
    /// Callbacks, the innermost one last.
    callbacks: Vec<(Callback, i64)>,
}

impl<W: Write + Seek> Sim<W> {
    pub(super) fn file_begins(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        operation: FileOperation,
    ) -> Result<()> {
        let (tid, _) = self.ids(Some(thread));
        let (irp, object) = (address(IRP, tid), address(FILE_OBJECT, tid));
        let (key, FileOperation { major, file, bytes }) = (file_key(operation.file), operation);
        let path = self.plan.files[file].nt_path();
        let kind = match major {
            Major::Create => kind::FILE_CREATE,
            Major::Read => kind::FILE_READ,
            Major::Write => kind::FILE_WRITE,
            Major::Cleanup => kind::FILE_CLEANUP,
            Major::Close => kind::FILE_CLOSE,
        };
        let time = self.kernel_event(cpu, thread, kind, |p| {
            match major {
                Major::Create => p
                    .u64(irp)
                    .u64(object)
                    .u32(tid)
                    .u32(0x0100_0060)
                    .u32(0x80)
                    .u32(7)
                    .wide(&path),
                Major::Read | Major::Write => p
                    .u64(0)
                    .u64(irp)
                    .u64(object)
                    .u64(key)
                    .u32(tid)
                    .u32(bytes)
                    .u32(0)
                    .u32(0),
                Major::Cleanup | Major::Close => p.u64(irp).u64(object).u64(key).u32(tid),
            };
        })?;
        self.threads[thread].acting.filter.operation = Some((operation, time));
        let path = self.plan.files[file].dos_path();
        self.call_is_about(thread, &path);
        Ok(())
    }

    pub(super) fn file_ends(&mut self, cpu: Cpu, thread: Thread, status: u32) -> Result<()> {
        let Some((operation, began)) = self.threads[thread].acting.filter.operation.take() else {
            return Ok(());
        };
        // An operation that failed has transferred nothing.
        let bytes = if status == 0 { operation.bytes } else { 0 };
        self.end_operation_with(cpu, thread, (operation.major.name(), began, bytes), status)
    }

    pub(super) fn callback_begins(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        callback: Callback,
    ) -> Result<()> {
        let kind = if callback.is_post {
            kind::FILTER_POST_INIT
        } else {
            kind::FILTER_PRE_INIT
        };
        let time = self.callback_event(cpu, thread, kind, callback, None, None)?;
        self.threads[thread]
            .acting
            .filter
            .callbacks
            .push((callback, time));
        Ok(())
    }

    pub(super) fn callback_ends(&mut self, cpu: Cpu, thread: Thread, status: u32) -> Result<()> {
        let Some((callback, began)) = self.threads[thread].acting.filter.callbacks.pop() else {
            return Ok(());
        };
        let is_post = callback.is_post;
        let kind = if is_post {
            kind::FILTER_POST_END
        } else {
            kind::FILTER_PRE_END
        };
        let ended = self.callback_event(cpu, thread, kind, callback, Some(began), None)?;
        if status != 0 {
            let kind = if is_post {
                kind::FILTER_POST_FAILURE
            } else {
                kind::FILTER_PRE_FAILURE
            };
            self.callback_event(cpu, thread, kind, callback, None, Some(status))?;
        }
        self.count_callback(thread, callback, status, (ended - began) * TICK_NS);
        Ok(())
    }

    fn callback_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        kind: crate::tape::Kind,
        callback: Callback,
        began: Option<i64>,
        status: Option<u32>,
    ) -> Result<i64> {
        let (tid, _) = self.ids(Some(thread));
        let routine = self.plan.code.address(&self.plan.modules, callback.routine);
        let operation = self.threads[thread]
            .acting
            .filter
            .operation
            .map(|(operation, _)| operation);
        let major = operation.map_or(Major::Create, |operation| operation.major);
        // A file has no context before the file system has opened it.
        let is_open = major != Major::Create || callback.is_post;
        let context = operation
            .filter(|_| is_open)
            .map_or(0, |operation| file_key(operation.file));
        self.kernel_event(cpu, thread, kind, |p| {
            // Only the events of ends have the time of the start before the other fields.
            if let Some(began) = began {
                p.time(began);
            }
            p.u64(routine)
                .u64(address(FILE_OBJECT, tid))
                .u64(context)
                .u64(address(IRP, tid));
            p.u64(address(CALLBACK_DATA, tid)).u32(major.number());
            if let Some(status) = status {
                p.u32(status);
            }
        })
    }

    fn count_callback(
        &mut self,
        thread: Thread,
        callback: Callback,
        status: u32,
        duration_ns: i64,
    ) {
        // A callback outside of an operation has an event, but no file to count it for.
        let Some((operation, _)) = self.threads[thread].acting.filter.operation else {
            return;
        };
        let function = &self.plan.code.functions[callback.routine];
        let driver = self.plan.modules[function.module].name.to_owned();
        let phase = if callback.is_post { "post" } else { "pre" };
        let path = self.plan.files[operation.file].dos_path();
        let pid = self.pid_text(thread);
        let truth = &mut self.truth.mini_filter;
        let of_driver = truth.by_driver.entry(driver).or_default();
        for sums in [
            of_driver
                .entry(format!("{phase} {}", operation.major.name()))
                .or_default(),
            truth.by_process.entry(pid).or_default(),
            truth.by_file.entry(path).or_default(),
        ] {
            sums.count += 1;
            sums.failed += u64::from(status != 0);
            sums.duration_ns += duration_ns;
        }
        if status != 0 {
            *truth
                .failed_by_status
                .entry(format!("{status:#010x}"))
                .or_default() += 1;
        }
    }

    pub(super) fn finish_filters(&mut self) {
        let open = self
            .threads
            .iter()
            .map(|(_, thread)| thread.acting.filter.callbacks.len() as u64);
        self.truth.mini_filter.open_at_end = open.sum();
    }
}
