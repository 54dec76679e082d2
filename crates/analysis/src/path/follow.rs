//! Following waits to the threads that ended them.

use std::collections::BTreeMap;

use super::Parts;
use crate::Result;
use crate::root::Roots;
use crate::slice::{NONE, Slice};
use crate::time_line::{Piece, State, time_line};

/// Maximum number of threads that wait for each other, one inside the other; deeper waits stay
/// waits.
const MAX_DEPTH: usize = 64;

/// Pieces that are held until they are handed on: with their rows about 50 MB.
const HELD_PIECES: usize = 100_000;

/// A piece of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathPiece {
    pub(super) piece: Piece,
    pub(super) thread: i32,
    /// Number of waits that were replaced to get here.
    pub(super) depth: usize,
    /// The node of the tree that it belongs to.
    pub(super) node: usize,
}

impl PathPiece {
    /// Adds a wait that a DPC ended to those that are looked up later; returns its index there.
    pub(super) fn ended_by_dpc(&self, parts: &Parts, roots: &mut Roots) -> Option<usize> {
        let slice = self
            .piece
            .slice
            // Looked up later for all pieces at once.
            .filter(|_| self.piece.state == State::Waiting)?;
        let is_by_dpc = slice.is_by_dpc() || parts.threads.is_idle(slice.by);
        let wait = slice.wait().filter(|_| is_by_dpc)?;
        Some(roots.add(self.thread, &slice, wait, &parts.slices, &parts.threads))
    }
}

/// A thread that another one waited for, along one chain of waits.
#[derive(Debug, Default)]
pub(super) struct PathNode {
    pub(super) thread: i32,
    pub(super) depth: usize,
    /// Threads that ended waits of this one, in the order of their keys.
    pub(super) children: BTreeMap<i32, usize>,
    /// Waits of the thread above that it ended.
    pub(super) waits: i64,
    /// Length of the longest wait of the thread above, and the stack of that wait.
    pub(super) stack: (i64, i32),
    /// Stack that ended that wait.
    pub(super) by_stack: i32,
    /// True if it created the thread above, so that its work fills the time before that thread
    /// started.
    pub(super) is_creator: bool,
}

impl PathNode {
    /// Adds a wait of the thread above that this one ended.
    fn waited(&mut self, slice: &Slice, length: i64) {
        self.waits += 1;
        // The longest wait stands for all of them in the tree.
        if length > self.stack.0 {
            self.stack = (length, slice.stack);
            self.by_stack = slice.by_stack;
        }
    }
}

/// Takes the next pieces of a path, in order of time.
type Take<'t> = dyn FnMut(&[PathPiece]) -> Result<()> + 't;

/// Follows waits.
pub(super) struct Follower<'p, 't> {
    parts: &'p Parts,
    /// Pieces that are not handed on yet.
    pieces: Vec<PathPiece>,
    take: &'t mut Take<'t>,
    nodes: Vec<PathNode>,
    /// Threads that wait for the current one, each with its node; the current one is last.
    way: Vec<(i32, usize)>,
}

impl<'p, 't> Follower<'p, 't> {
    /// Returns a follower that hands the pieces on to `take` as it goes: a path may have as many as
    /// the trace has switches.
    pub(super) fn new(parts: &'p Parts, thread: i32, take: &'t mut Take<'t>) -> Self {
        let root = PathNode {
            thread,
            stack: (0, NONE),
            by_stack: NONE,
            ..PathNode::default()
        };
        Self {
            parts,
            pieces: Vec::new(),
            take,
            nodes: vec![root],
            way: vec![(thread, 0)],
        }
    }

    /// Adds the activity of the thread, the last one of `way`, from `from` to `to`.
    ///
    /// # Errors
    /// The errors of `take`.
    pub(super) fn follow(&mut self, thread: i32, from: i64, to: i64) -> Result<()> {
        let depth = self.way.len().saturating_sub(1);
        let node = self.way.last().map_or(0, |(_, node)| *node);
        // Piece by piece in order of time, each replaced by what its thread waited for.
        for piece in time_line(&self.parts.slices, thread, from, to, self.parts.ends.end_ns) {
            match self.ended_by(&piece) {
                Some((by, slice)) => {
                    let child = self.child(node, by);
                    if let Some(child) = self.nodes.get_mut(child) {
                        child.waited(&slice, piece.to.saturating_sub(piece.from));
                    }
                    self.step(by, child, piece.from, piece.to)?;
                }
                None => {
                    let from = self.before_creation(thread, node, &piece)?;
                    // The rest of the piece, after the thread existed.
                    let piece = Piece { from, ..piece };
                    // Nothing is left if the creator explains all of it.
                    if piece.from < piece.to {
                        self.push(PathPiece {
                            piece,
                            thread,
                            depth,
                            node,
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, piece: PathPiece) -> Result<()> {
        self.pieces.push(piece);
        // Handed on early, as a path may have millions of pieces.
        if self.pieces.len() >= HELD_PIECES {
            (self.take)(&self.pieces)?;
            self.pieces.clear();
        }
        Ok(())
    }

    fn step(&mut self, thread: i32, node: usize, from: i64, to: i64) -> Result<()> {
        // The thread is on the way as long as it is followed, which shows loops.
        self.way.push((thread, node));
        self.follow(thread, from, to)?;
        self.way.pop();
        Ok(())
    }

    /// Follows the creator of a thread for the part of a piece in which the thread did not exist
    /// yet. Returns the time from which on it did.
    fn before_creation(&mut self, thread: i32, node: usize, piece: &Piece) -> Result<i64> {
        if piece.state != State::Unknown || piece.slice.is_some() {
            return Ok(piece.from);
        }
        // Only the time before the start belongs to the creator. Unknown time after it means lost
        // events of the thread itself, which another thread does not explain.
        let Some((start, creator)) = self.parts.creator(thread) else {
            // A thread whose start was not recorded existed before.
            return Ok(piece.from);
        };
        let until = start.min(piece.to);
        let is_known = || self.parts.slices.has_state(creator, piece.from, until);
        if until <= piece.from || !self.can_follow(creator) || !is_known() {
            return Ok(piece.from);
        }
        let child = self.child(node, creator);
        if let Some(child) = self.nodes.get_mut(child) {
            child.is_creator = true;
        }
        self.step(creator, child, piece.from, until)?;
        Ok(until)
    }

    /// Returns `true` if a thread is not already in the chain of waiting threads, and the chain may
    /// get longer.
    fn can_follow(&self, thread: i32) -> bool {
        self.way.len() <= MAX_DEPTH && self.way.iter().all(|(waiting, _)| *waiting != thread)
    }

    /// Returns the thread that ended a wait, if it is to be followed. These are not followed: a
    /// thread that a DPC only interrupted, the idle thread, a thread that itself waits for this one
    /// (which only damage has), and a thread without any known state.
    fn ended_by(&self, piece: &Piece) -> Option<(i32, Slice)> {
        let slice = piece.slice.filter(|_| piece.state == State::Waiting)?;
        let by = slice.by;
        let is_thread = by != NONE
            && !slice.is_by_dpc()
            && !self.parts.threads.is_idle(by)
            && slice.wait().is_some();
        // A thread without any state in that time would only replace a wait by unknown time.
        (is_thread && self.can_follow(by) && self.parts.slices.has_state(by, piece.from, piece.to))
            .then_some((by, slice))
    }

    /// Returns the node of a thread below the node of the thread that waits for it.
    fn child(&mut self, node: usize, by: i32) -> usize {
        let next = self.nodes.len();
        let depth = self.way.len();
        let Some(parent) = self.nodes.get_mut(node) else {
            return node;
        };
        // One node for each thread below another one, however often it ended a wait.
        let number = *parent.children.entry(by).or_insert(next);
        if number == next {
            self.nodes.push(PathNode {
                thread: by,
                depth,
                // Less than 0, so that even a wait of length 0 gives the node its stack.
                stack: (-1, NONE),
                by_stack: NONE,
                ..PathNode::default()
            });
        }
        number
    }

    /// Hands on the last pieces, and returns the tree.
    ///
    /// # Errors
    /// The errors of `take`.
    pub(super) fn finish(self) -> Result<Vec<PathNode>> {
        (self.take)(&self.pieces)?;
        Ok(self.nodes)
    }
}
