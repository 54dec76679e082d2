//! The timeline of a thread in a range of the trace, without gaps.

use etwkit_question::rows::{Cell, Field};
use etwkit_sql::arrow::array::RecordBatch;

use crate::slice::{Slice, Slices};

/// The state of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Running on a processor.
    Running,
    /// Ready, without a processor.
    Ready,
    /// Waiting.
    Waiting,
    /// Unknown: before its first switch, after its end, across lost events, or if no event
    /// separates waiting from ready.
    #[default]
    Unknown,
}

/// In rows, a state is a column of text with its name.
impl Cell for State {
    type Values = <String as Cell>::Values;

    fn fields(name: &'static str, sentence: &'static str) -> Vec<Field> {
        <String as Cell>::fields(name, sentence)
    }

    fn column(batch: &RecordBatch, name: &str) -> etwkit_sql::Result<Self::Values> {
        <String as Cell>::column(batch, name)
    }

    fn get(values: &Self::Values, row: usize) -> Self {
        let name = <String as Cell>::get(values, row);
        let all = [Self::Running, Self::Ready, Self::Waiting];
        all.into_iter()
            .find(|state| state.name() == name)
            .unwrap_or(Self::Unknown)
    }
}

impl State {
    /// Returns its name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
        }
    }
}

/// A piece of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) state: State,
    /// The slice that it comes from; missing if there is none.
    pub(crate) slice: Option<Slice>,
}

/// Returns the timeline of a thread from `from` to `to`. Pieces follow each other without gaps, are
/// never empty, and cover exactly that time. The trace ends at `end_ns`.
pub(crate) fn time_line(
    slices: &Slices,
    thread_key: i32,
    from: i64,
    to: i64,
    end_ns: i64,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    each_piece(slices, thread_key, (from, to), end_ns, &mut |piece| {
        pieces.push(piece);
    });
    pieces
}

/// Returns the time that a thread was in each state, in the order running, ready, waiting.
pub(crate) fn sums(
    slices: &Slices,
    thread_key: i32,
    (from, to): (i64, i64),
    end_ns: i64,
) -> (i64, i64, i64) {
    let mut run = 0i64;
    let mut ready = 0i64;
    let mut wait = 0i64;
    each_piece(slices, thread_key, (from, to), end_ns, &mut |piece| {
        let sum = match piece.state {
            State::Running => &mut run,
            State::Ready => &mut ready,
            State::Waiting => &mut wait,
            State::Unknown => return,
        };
        *sum = sum.saturating_add(piece.to.saturating_sub(piece.from));
    });
    (run, ready, wait)
}

fn each_piece(
    slices: &Slices,
    thread_key: i32,
    (from, to): (i64, i64),
    end_ns: i64,
    take: &mut dyn FnMut(Piece),
) {
    let mut line = ThreadLine { take, at: from, to };
    for slice in slices.since(thread_key, from) {
        // Slices are in order of time: none after this one reaches into the range.
        if slice
            .last_out()
            .or(slice.begin())
            .is_some_and(|first| first >= to)
        {
            break;
        }
        line.slice(slice, end_ns);
    }
    // Pieces cover the whole range, so that their lengths add up to its length.
    line.add(State::Unknown, to, None);
}

struct ThreadLine<'t> {
    take: &'t mut dyn FnMut(Piece),
    /// End of the pieces that have been taken.
    at: i64,
    to: i64,
}

impl ThreadLine<'_> {
    /// Adds the state of the thread from the end of the last piece up to a time.
    fn add(&mut self, state: State, until: i64, slice: Option<&Slice>) {
        let until = until.min(self.to);
        if until > self.at {
            (self.take)(Piece {
                from: self.at,
                to: until,
                state,
                slice: slice.copied(),
            });
            self.at = until;
        }
    }

    fn slice(&mut self, slice: &Slice, end_ns: i64) {
        let begin = slice.begin();
        if let Some(last_out) = slice.last_out() {
            self.add(State::Unknown, last_out, None);
            // A thread that is not switched in again stays as it is until the end of the trace.
            let back = begin.unwrap_or(end_ns);
            match slice.readied() {
                Some(readied) => {
                    // For a preempted thread this piece is empty, since it counts as readied when
                    // it was switched out.
                    self.add(State::Waiting, readied.min(back), Some(slice));
                    self.add(State::Ready, back, Some(slice));
                }
                None if slice.is_open() => self.add(State::Waiting, end_ns, Some(slice)),
                None => self.add(State::Unknown, back, Some(slice)),
            }
        }
        if let Some(begin) = begin {
            // Empty if the slice has the event that made the thread run; otherwise the switch-out
            // before it was not recorded.
            self.add(State::Unknown, begin, None);
            self.add(State::Running, slice.end().unwrap_or(begin), Some(slice));
        }
    }
}
