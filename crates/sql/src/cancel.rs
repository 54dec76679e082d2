//! Giving up questions.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, select};
use tokio::sync::watch;

use crate::{Error, Result};

/// Stops all questions that carry it: each ends with [`Error::Cancelled`] as soon as it notices.
/// Copies are the same switch, which is not switched back: each question that can be given up on
/// its own has its own switch.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Cancel {
    /// Stops running questions and all later ones.
    pub fn ask(&self) {
        // Unlike `send` it also works while nothing waits, so that a question that starts later
        // sees it.
        self.0.send_replace(true);
    }

    /// Returns `true` if questions are to stop.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Does the work unless it is given up before.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        // Subscribed before the value is looked at, so that a switch in between is not missed.
        let mut asked = self.0.subscribe();
        let asked = pin!(asked.wait_for(|asked| *asked));
        // The switch is polled first: when both are ready, the question counts as cancelled.
        match select(asked, pin!(work)).await {
            Either::Left(_) => Err(Error::Cancelled),
            Either::Right((done, _)) => done,
        }
    }
}
