//! The output of a console: closed for a command that is still printing after it was canceled.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use etwkit_sql::Cancel;

/// The cancel switch of the running command. Each command has its own, so that an earlier one stays
/// canceled.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Rc<RefCell<Cancel>>);

impl Running {
    /// Returns the switch of the running command.
    pub(super) fn switch(&self) -> Cancel {
        self.0.borrow().clone()
    }

    /// Creates the switch of a command that starts.
    pub(super) fn begin(&self) -> Cancel {
        let cancel = Cancel::default();
        *self.0.borrow_mut() = cancel.clone();
        cancel
    }
}

/// Passes output on unless the command was canceled.
pub(super) struct Gate<'w> {
    out: &'w mut dyn Write,
    cancel: Running,
    is_closed: Rc<Cell<bool>>,
}

impl<'w> Gate<'w> {
    pub(super) fn new(out: &'w mut dyn Write, cancel: Running) -> Self {
        Self {
            out,
            cancel,
            is_closed: Rc::default(),
        }
    }

    /// Returns a flag that is true if the reader at the other end of a pipe has gone.
    pub(super) fn is_closed(&self) -> Rc<Cell<bool>> {
        self.is_closed.clone()
    }

    fn watched<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        {
            self.is_closed.set(true);
        }
        result
    }
}

impl Write for Gate<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.switch().is_asked() {
            return Err(io::Error::other("given up"));
        }
        let result = self.out.write(bytes);
        self.watched(result)
    }

    /// Flushes even after a cancel, so that earlier output is shown.
    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.watched(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nothing_passes_once_a_command_was_given_up() {
        let (mut out, running) = (Vec::new(), Running::default());
        let mut gate = Gate::new(&mut out, running.clone());
        gate.write_all(b"a").unwrap();
        running.switch().ask();
        assert!(gate.write_all(b"b").is_err());
        running.begin();
        gate.write_all(b"c").unwrap();
        assert!(!gate.is_closed().get());
        assert_eq!(out, b"ac");
        let mut out = Closed;
        let mut gate = Gate::new(&mut out, running);
        assert!(gate.write_all(b"a").is_err());
        assert!(gate.is_closed().get());
    }
}
