//! Trackers and summaries of a trace, fed with its events in time order.
//!
//! - [`events`]: the events that the trace describes itself

#![forbid(unsafe_code)]

pub mod events;
