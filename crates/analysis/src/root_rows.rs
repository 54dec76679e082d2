//! Rows of DPCs and transfers near the ends of waits.

use etwkit_question::FromRows;
use etwkit_sql::Session;

use crate::Result;

etwkit_question::declare! {
    /// A DPC or interrupt.
    pub(crate) row Dpc {
        kind: String = "`dpc`, `timer_dpc`, `threaded_dpc` or `isr`.",
        cpu: i64 = "Processor.",
        start_ns: i64 = "Start.",
        end_ns: i64 = "End.",
        frame_id: i64 = "Its routine.",
    }

    /// A read, write or flush of a disk.
    pub(crate) row Transfer {
        kind: String = "`read`, `write` or `flush`.",
        thread_key: Option<i64> = "Thread that issued it.",
        init_ns: i64 = "When it was issued.",
        complete_ns: i64 = "When it completed.",
        size_bytes: i64 = "Bytes.",
        path: Option<String> = "File.",
    }
}

/// Calls `take` with the DPCs and interrupts that overlap with a range of the trace.
pub(crate) fn each_dpc(
    session: &Session,
    from: i64,
    to: i64,
    mut take: impl FnMut(Dpc),
) -> Result<()> {
    let sql = format!(
        "SELECT kind, cpu, start_ns, end_ns, frame_id FROM dpc_isr WHERE end_ns >= {from} AND start_ns <= {to}"
    );
    each(session, &sql, &mut take)
}

/// Calls `take` with the transfers that completed in a range of the trace.
pub(crate) fn each_transfer(
    session: &Session,
    from: i64,
    to: i64,
    mut take: impl FnMut(Transfer),
) -> Result<()> {
    let sql = format!(
        "SELECT kind, thread_key, init_ns, complete_ns, size_bytes, path FROM disk_io
WHERE complete_ns BETWEEN {from} AND {to} AND thread_key IS NOT NULL
ORDER BY complete_ns, init_ns, thread_key"
    );
    each(session, &sql, &mut take)
}

fn each<R: FromRows>(session: &Session, sql: &str, take: &mut dyn FnMut(R)) -> Result<()> {
    for batch in session.sql(sql)? {
        R::read(&batch?)?.into_iter().for_each(&mut *take);
    }
    Ok(())
}
