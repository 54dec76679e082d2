//! Questions block: each has a thread of its own while it is answered.

use std::sync::Arc;

use etwkit_engine::{Asking, Resources};
use etwkit_query::Cancel;
use tokio::sync::oneshot;

use crate::problem::{Problem, Result};
use crate::state::Shared;

/// Folding stacks and planning recurse.
const STACK_BYTES: usize = 16 << 20;

/// Gives a question up when whoever waits for it is gone.
struct GiveUp(Option<Arc<Shared>>, Cancel);

impl Drop for GiveUp {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            shared.count_given_up();
            self.1.ask();
        }
    }
}

/// Answers on a thread of its own. The question is given up when what is returned is dropped, which it is
/// when the client has gone, and after the longest time of an answer.
pub(crate) async fn answer<T: Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Asking) -> Result<T> + Send + 'static,
) -> Result<T> {
    // Those above this wait in no line: whoever asks so much is told to ask later.
    let place = shared.line.clone().try_acquire_owned().map_err(|_| Problem::busy())?;
    let turn = shared.turns.clone().acquire_owned().await;
    let turn = turn.map_err(|_| Problem::internal("the server ends"))?;
    let asking = Asking {
        resources: Resources { memory_bytes: Some(shared.limits.question_bytes), threads: None },
        ..Asking::default()
    };
    let mut give_up = GiveUp(Some(shared.clone()), asking.cancel.clone());
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("answer".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || {
        // What was given up computes until it notices, and counts as long.
        let _held = (place, turn);
        let answer = work(&asking);
        // Nobody waits for it any more if the client has gone.
        let _ = sender.send(answer);
    })?;
    let most = shared.limits.question_time;
    let answer = tokio::time::timeout(most, receiver).await;
    let Ok(answer) = answer else {
        return Err(Problem::limit(format!("the answer took more than {} s", most.as_secs()))
            .with_hint("ask for a smaller part of the trace"));
    };
    give_up.0 = None;
    answer.unwrap_or_else(|_| Err(Problem::internal("the answer failed: this is a defect of etwkit")))
}
