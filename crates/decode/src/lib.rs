//! Decoding of raw events into typed fields.
//!
//! A [`schema::Schema`] lists the fields of a payload. It comes from the built-in tables, from the
//! trace itself (TraceLogging metadata, EventSource manifests, EventInfo records), or from files
//! that the user names (manifests, formats of WPP messages). It is compiled once into a
//! [`plan::Plan`], which then reads any number of payloads.
//!
//! This crate does not track processes; it sees one event at a time.

#![forbid(unsafe_code)]

pub mod afd;
pub mod ansi;
pub mod bounds;
pub mod clr;
pub mod cut_mark;
pub mod decoder;
pub mod describe;
pub mod dns;
pub mod element;
pub mod eventinfo;
pub mod eventsource;
pub mod found_text;
pub mod hook_events;
pub mod intype;
pub mod kernel;
pub mod manifest;
pub mod message;
pub mod named;
pub mod plan;
pub mod render;
pub mod schema;
pub mod script;
pub mod session_events;
pub mod socket;
pub mod standby;
pub mod status;
pub mod tables;
pub mod tcpip;
pub mod timer;
pub mod tracelogging;
pub mod win32k;
pub mod wpp;

pub use bounds::Problems;
pub use decoder::{Decoder, Descriptions};
pub use plan::{Plan, Spans};
pub use schema::{Count, Field, Length, Schema, Source, Type};
pub use tables::Tables;
