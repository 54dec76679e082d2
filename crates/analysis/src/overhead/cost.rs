//! Sums of the costs of products.

use std::collections::BTreeSet;

use etwkit_question::FromRows;
use etwkit_question::range::Range;
use etwkit_sql::Session;

use super::owners::{NOBODY, Owner, Owners};
use crate::Result;

/// Maximum number of files that are listed for a product.
const LISTED: usize = 4;

/// The costs of a product.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    pub(super) own_cpu_ns: i64,
    pub(super) other_cpu_ns: i64,
    pub(super) dpc_isr_ns: i64,
    pub(super) waits: i64,
    pub(super) wait_ns: i64,
    pub(super) max_wait_ns: i64,
    pub(super) ready_ns: i64,
    pub(super) disk_ns: i64,
    pub(super) disk_bytes: i64,
    /// Names of the files with these costs.
    files: BTreeSet<String>,
}

impl Cost {
    pub(super) fn is_something(&self) -> bool {
        let times = [
            self.own_cpu_ns,
            self.other_cpu_ns,
            self.dpc_isr_ns,
            self.wait_ns,
            self.ready_ns,
        ];
        times.iter().any(|time| *time > 0) || self.disk_bytes > 0
    }

    /// Returns the files: the first few, and the number of the others.
    pub(super) fn files(&self) -> String {
        let mut names: Vec<&str> = self.files.iter().take(LISTED).map(String::as_str).collect();
        let more = self.files.len().saturating_sub(LISTED);
        let more = format!("and {more} more");
        names.extend((self.files.len() > LISTED).then_some(more.as_str()));
        names.join("; ")
    }
}

/// The recorded topics.
#[derive(Debug, Clone, Copy)]
pub(super) struct Has {
    pub(super) samples: bool,
    pub(super) switches: bool,
    pub(super) dpcs: bool,
    pub(super) disk: bool,
}

/// The costs of all products.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// Costs by the number of the product.
    pub(super) of: Vec<Cost>,
}

etwkit_question::declare! {
    /// Samples of a thread in a stack.
    row Cpu {
        thread_key: i64 = "Thread.",
        stack_id: i64 = "Stack.",
        cpu_ns: i64 = "Their weight.",
        code_ns: i64 = "Weight of those that were not taken in a DPC or interrupt.",
    }

    /// Waits of a thread in a stack.
    row Waits {
        thread_key: i64 = "Thread.",
        stack_id: Option<i64> = "Stack.",
        waits: i64 = "How many.",
        wait_ns: i64 = "Their sum.",
        max_wait_ns: i64 = "The longest one.",
    }

    /// Time in which a thread was ready and another one ran.
    row Ready {
        thread_key: i64 = "Thread that was ready.",
        instead_thread_key: Option<i64> = "Thread that ran.",
        ready_ns: i64 = "Time in which it ran.",
    }

    /// DPCs and interrupts of a routine.
    row Dpcs {
        frame_id: i64 = "Routine.",
        own_ns: i64 = "Their time, without the DPCs and interrupts that interrupted them.",
    }

    /// I/O of a thread.
    row Transfers {
        thread_key: Option<i64> = "Thread.",
        disk_ns: i64 = "Service time.",
        disk_bytes: i64 = "Bytes.",
    }
}

/// Returns the SQL for CPU of threads by stack. A sample in a DPC or interrupt counts for the
/// interrupted thread, as in `dump cpu`, but that thread did not call the code there.
pub(super) fn cpu_sql(time: Range) -> String {
    format!(
        "SELECT thread_key, stack_id, sum(weight_ns) AS cpu_ns,
  coalesce(sum(weight_ns) FILTER (WHERE NOT is_dpc_isr), 0) AS code_ns
FROM cpu_sample
WHERE NOT is_idle{}
GROUP BY thread_key, stack_id",
        and_in("ts_ns", time)
    )
}

/// Returns the condition that a time is in a range of the trace.
fn and_in(moment: &str, time: Range) -> String {
    match time.is_unlimited() {
        true => String::new(),
        false => format!(" AND {moment} BETWEEN {} AND {}", time.min, time.max),
    }
}

impl Costs {
    /// Queries the costs in a range of the trace.
    pub(super) fn sum(session: &Session, owners: &Owners, time: Range) -> Result<Self> {
        let mut costs = Self {
            of: vec![Cost::default(); owners.products().count()],
        };
        costs.cpu(session, owners, time)?;
        costs.switches(session, owners, time)?;
        costs.dpcs(session, owners, time)?;
        costs.transfers(session, owners, time)?;
        Ok(costs)
    }

    fn add(&mut self, owners: &Owners, owner: Owner, add: impl FnOnce(&mut Cost)) {
        // Windows and unknown code have a number beyond the numbers of all products, so their costs
        // are dropped here.
        if let Some(cost) = self.of.get_mut(owner.product as usize) {
            add(cost);
            if let Some(file) = owners.file(owner.module)
                && !cost.files.contains(file)
            {
                cost.files.insert(file.to_owned());
            }
        }
    }

    fn cpu(&mut self, session: &Session, owners: &Owners, time: Range) -> Result<()> {
        each(session, &cpu_sql(time), |row: Cpu| {
            let thread = owners.thread(row.thread_key);
            let code = owners.stack(row.stack_id);
            self.add(owners, thread, |cost| {
                plus(&mut cost.own_cpu_ns, row.cpu_ns);
            });
            // A product's own code in its own threads is already counted with these.
            if code.product != thread.product && row.code_ns > 0 {
                self.add(owners, code, |cost| {
                    plus(&mut cost.other_cpu_ns, row.code_ns);
                });
            }
        })
    }

    fn switches(&mut self, session: &Session, owners: &Owners, time: Range) -> Result<()> {
        let within = and_in("in_ns", time);
        let waits = format!(
            "SELECT thread_key, stack_id, count(*) AS waits, sum(wait_ns) AS wait_ns, max(wait_ns) AS max_wait_ns
FROM context_switch WHERE wait_ns > 0 AND in_ns IS NOT NULL{within}
GROUP BY thread_key, stack_id"
        );
        each(session, &waits, |row: Waits| {
            let thread = owners.thread(row.thread_key);
            // Without a stack it is not known whose code waits.
            let code = row.stack_id.map_or(NOBODY, |stack| owners.waiting(stack));
            if code.product != thread.product {
                self.add(owners, code, |cost| {
                    plus(&mut cost.waits, row.waits);
                    plus(&mut cost.wait_ns, row.wait_ns);
                    cost.max_wait_ns = cost.max_wait_ns.max(row.max_wait_ns);
                });
            }
        })?;
        // `instead_ns` is set only if the named thread ran for just a part of the ready time.
        let ready = format!(
            "SELECT thread_key, instead_thread_key, sum(coalesce(instead_ns, ready_ns)) AS ready_ns
FROM context_switch WHERE ready_ns > 0 AND instead_thread_key IS NOT NULL{within}
GROUP BY thread_key, instead_thread_key"
        );
        each(session, &ready, |row: Ready| {
            let thread = owners.thread(row.thread_key);
            let instead = row
                .instead_thread_key
                .map_or(NOBODY, |instead| owners.thread(instead));
            if instead.product != thread.product {
                self.add(owners, instead, |cost| {
                    plus(&mut cost.ready_ns, row.ready_ns);
                });
            }
        })
    }

    fn dpcs(&mut self, session: &Session, owners: &Owners, time: Range) -> Result<()> {
        let sql = format!(
            "SELECT frame_id, sum(duration_ns - nested_ns) AS own_ns
FROM dpc_isr WHERE TRUE{}
GROUP BY frame_id",
            and_in("end_ns", time)
        );
        each(session, &sql, |row: Dpcs| {
            self.add(owners, owners.frame(row.frame_id), |cost| {
                plus(&mut cost.dpc_isr_ns, row.own_ns);
            });
        })
    }

    fn transfers(&mut self, session: &Session, owners: &Owners, time: Range) -> Result<()> {
        let sql = format!(
            "SELECT thread_key, coalesce(sum(service_ns), 0) AS disk_ns, sum(size_bytes) AS disk_bytes
FROM disk_io WHERE TRUE{}
GROUP BY thread_key",
            and_in("complete_ns", time)
        );
        each(session, &sql, |row: Transfers| {
            let owner = row
                .thread_key
                .map_or(NOBODY, |thread| owners.thread(thread));
            self.add(owners, owner, |cost| {
                plus(&mut cost.disk_ns, row.disk_ns);
                plus(&mut cost.disk_bytes, row.disk_bytes);
            });
        })
    }
}

/// Adds to a sum without overflow, since a damaged extract may claim any number.
fn plus(sum: &mut i64, more: i64) {
    *sum = sum.saturating_add(more);
}

fn each<R: FromRows>(session: &Session, sql: &str, mut take: impl FnMut(R)) -> Result<()> {
    for batch in session.sql(sql)? {
        R::read(&batch?)?.into_iter().for_each(&mut take);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::OverheadRequest;
    use super::super::product::Product;
    use super::*;

    #[test]
    fn sums_stay_at_the_largest_number() {
        let mut cost = Cost {
            other_cpu_ns: i64::MAX,
            ready_ns: i64::MAX,
            ..Cost::default()
        };
        plus(&mut cost.own_cpu_ns, 7);
        plus(&mut cost.other_cpu_ns, 7);
        let has = Has {
            samples: true,
            switches: true,
            dpcs: true,
            disk: true,
        };
        let product = Product {
            name: "a.sys".to_owned(),
            company: None,
            files: Vec::new(),
        };
        let row = OverheadRequest::default().row(&product, &cost, has);
        assert_eq!(
            (row.own_cpu_ns, row.other_cpu_ns, row.caused_ns),
            (Some(7), Some(i64::MAX), i64::MAX)
        );
    }
}
