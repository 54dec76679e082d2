//! Open traces, by handles that stay short and are never reused.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use etwkit_base::lock::lock;

use crate::mcp::problem::{Problem, Result};

/// Largest number of open traces: the same number of extracts stays open between questions.
const MOST: usize = 24;

/// A trace that is ready for queries.
#[derive(Debug)]
pub(crate) struct Trace {
    /// Its handle in calls, such as `t1`.
    pub(crate) handle: String,
    /// As it was named.
    pub(crate) named: PathBuf,
    /// Its extract.
    pub(crate) extract: PathBuf,
}

/// All that are open.
#[derive(Debug, Default)]
pub(crate) struct Traces(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    /// The last assigned number.
    last: u32,
    open: Vec<Arc<Trace>>,
}

impl All {
    fn check_room(&self) -> Result<()> {
        if self.open.len() < MOST {
            return Ok(());
        }
        Err(Problem::failed(format!("{MOST} traces are open already"))
            .with_hint("`close` one of them first"))
    }
}

impl Traces {
    fn lock(&self) -> MutexGuard<'_, All> {
        lock(&self.0)
    }

    /// Returns the open trace of that path.
    pub(crate) fn find(&self, named: &Path) -> Option<Arc<Trace>> {
        self.lock()
            .open
            .iter()
            .find(|trace| trace.named == named)
            .cloned()
    }

    /// Rejects a trace beyond the limit before it is extracted in vain.
    pub(crate) fn check_room(&self) -> Result<()> {
        self.lock().check_room()
    }

    /// Opens a trace. Two concurrent calls that open the same trace get the same handle.
    pub(crate) fn add(&self, named: &Path, extract: PathBuf) -> Result<Arc<Trace>> {
        let mut all = self.lock();
        if let Some(known) = all.open.iter().find(|trace| trace.named == named) {
            return Ok(known.clone());
        }
        // While this call extracted its trace, other calls may have taken the last places.
        all.check_room()?;
        all.last += 1;
        let handle = format!("t{}", all.last);
        let trace = Arc::new(Trace {
            handle,
            named: named.to_owned(),
            extract,
        });
        all.open.push(trace.clone());
        Ok(trace)
    }

    /// Returns the trace with this handle.
    pub(crate) fn get(&self, handle: &str) -> Result<Arc<Trace>> {
        let all = self.lock();
        let found = all
            .open
            .iter()
            .find(|trace| trace.handle == handle)
            .cloned();
        found.ok_or_else(|| {
            let open: Vec<&str> = all.open.iter().map(|trace| trace.handle.as_str()).collect();
            let open = if open.is_empty() {
                "none".to_owned()
            } else {
                open.join(", ")
            };
            Problem::bad(format!("there is no trace {handle:?}; open: {open}"))
                .with_hint("`open` a trace by its path, and use the handle that it answers")
        })
    }

    /// Closes the trace with this handle.
    pub(crate) fn close(&self, handle: &str) -> Result<Arc<Trace>> {
        // Calls that still use the trace hold it themselves, and finish normally.
        let trace = self.get(handle)?;
        self.lock().open.retain(|open| open.handle != handle);
        Ok(trace)
    }

    /// Returns all open traces, in the order in which they were opened.
    pub(crate) fn all(&self) -> Vec<Arc<Trace>> {
        self.lock().open.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_short_and_are_never_used_again() {
        let traces = Traces::default();
        let open = |name: &str| {
            traces
                .add(Path::new(name), PathBuf::from(name))
                .unwrap()
                .handle
                .clone()
        };
        assert_eq!(
            [open("a.etl"), open("b.etl"), open("a.etl")],
            ["t1", "t2", "t1"]
        );
        traces.close("t1").unwrap();
        assert_eq!(open("a.etl"), "t3");
        let error = traces.get("t1").unwrap_err().json();
        assert_eq!(
            error["error"]["message"],
            "there is no trace \"t1\"; open: t2, t3"
        );
        assert!(error["error"]["hint"].as_str().unwrap().contains("`open`"));
    }

    #[test]
    fn no_more_are_open_than_can_be_even_if_all_looked_before() {
        let traces = Traces::default();
        let add = |name: String| traces.add(Path::new(&name), PathBuf::from(&name));
        traces.check_room().unwrap();
        for number in 0..MOST {
            add(format!("{number}.etl")).unwrap();
        }
        assert!(traces.check_room().is_err() && add("one more.etl".to_owned()).is_err());
        assert_eq!(
            add("0.etl".to_owned()).unwrap().handle,
            "t1",
            "one that is open needs no room"
        );
    }
}
