//! All declared questions that SQL answers.

use super::{
    cores, cpu_question, disk, dns, exception, file, focus, gdi_user, lbr, logger, mark, memory, object_ref,
    overview, pmc, power, process, registry, screenshot, standby, stats, syscall, tcp, thread_pool, time,
    trace_log, ui_delay, user_lock, version, virtual_alloc,
};
use crate::question::{AnyQuestion, Of};

/// The questions, in the order in which help lists them.
pub static QUESTIONS: &[&dyn AnyQuestion] = &[
    &Of::<overview::OverviewRequest>::QUESTION,
    &Of::<process::ProcessRequest>::QUESTION,
    &Of::<cpu_question::CpuQuestion>::QUESTION,
    &Of::<disk::DiskRequest>::QUESTION,
    &Of::<file::FileRequest>::QUESTION,
    &Of::<dns::DnsRequest>::QUESTION,
    &Of::<tcp::TcpRequest>::QUESTION,
    &Of::<cores::CoresRequest>::QUESTION,
    &Of::<pmc::PmcRequest>::QUESTION,
    &Of::<lbr::LbrRequest>::QUESTION,
    &Of::<exception::ExceptionRequest>::QUESTION,
    &Of::<mark::MarkRequest>::QUESTION,
    &Of::<trace_log::TraceLogRequest>::QUESTION,
    &Of::<thread_pool::ThreadPoolRequest>::QUESTION,
    &Of::<power::PowerRequest>::QUESTION,
    &Of::<memory::MemoryRequest>::QUESTION,
    &Of::<syscall::SyscallRequest>::QUESTION,
    &Of::<object_ref::ObjectRequest>::QUESTION,
    &Of::<virtual_alloc::VirtualAllocRequest>::QUESTION,
    &Of::<user_lock::UserLockRequest>::QUESTION,
    &Of::<gdi_user::GdiUserRequest>::QUESTION,
    &Of::<ui_delay::UiDelayRequest>::QUESTION,
    &Of::<focus::FocusRequest>::QUESTION,
    &Of::<screenshot::ScreenshotRequest>::QUESTION,
    &Of::<registry::RegistryRequest>::QUESTION,
    &Of::<logger::LoggersRequest>::QUESTION,
    &Of::<standby::StandbyRequest>::QUESTION,
    &Of::<stats::StatsRequest>::QUESTION,
    &Of::<time::TimeRequest>::QUESTION,
    &Of::<version::VersionRequest>::QUESTION,
];
