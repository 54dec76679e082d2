//! Sessions of the tracing system and their providers (Microsoft-Windows-Kernel-EventTracing).

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use etwkit_etl::Guid;

use super::super::Sim;
use crate::Result;
use crate::act::{Enabled, SessionPlan};
use crate::table::{Cpu, Thread};
use crate::tape::Provided;
use crate::truth::Session;

/// Microsoft-Windows-Kernel-EventTracing.
const EVENT_TRACING: Guid = Guid::literal("b675ec37-bdb6-4648-bc92-f3fdc74d3ca2");
/// Error of starting a session: its name is already in use (`STATUS_OBJECT_NAME_COLLISION`).
const COLLISION: u32 = 0xC000_0035;
/// Reason for a lost event: it is larger than a buffer (`STATUS_BUFFER_OVERFLOW`).
const OVERFLOW: u32 = 0x8000_0005;
/// Sizes of sessions: minimum and maximum number of buffers, size of one in KB, highest and current
/// number, seconds between two flushes.
const BUFFERS: [u32; 6] = [8, 30, 64, 9, 8, 1];

const fn event(id: u16, version: u8, opcode: u8) -> Provided {
    Provided {
        provider: EVENT_TRACING,
        id,
        version,
        opcode,
        keyword: 0x10,
    }
}

/// Running sessions: index in the truth, and number.
#[derive(Debug, Default)]
pub(in crate::sim) struct SessionState {
    live: BTreeMap<&'static str, (usize, u32, SessionPlan)>,
    numbers: u32,
}

impl<W: Write + Seek> Sim<W> {
    /// Starts a session. Fails if its name is taken.
    pub(super) fn session_starts(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        plan: SessionPlan,
    ) -> Result<()> {
        if self.world.sessions.live.contains_key(plan.name) {
            self.provider_event(cpu, thread, event(2, 0, 12), |p| {
                p.wide(plan.name)
                    .wide(plan.file)
                    .u32(COLLISION)
                    .u32(plan.mode);
            })?;
            *self
                .truth
                .sessions
                .start_errors
                .entry(plan.name.to_owned())
                .or_default() += 1;
            return Ok(());
        }
        let time = self.provider_event(cpu, thread, event(10, 1, 12), |p| {
            p.guid(plan.guid)
                .u32(plan.mode)
                .wide(plan.name)
                .wide(plan.file);
            BUFFERS.iter().for_each(|number| {
                p.u32(*number);
            });
        })?;
        self.session_runs(plan, Some(time));
        Ok(())
    }

    fn session_runs(&mut self, plan: SessionPlan, time: Option<i64>) {
        // The index in the truth, since sessions with the same name follow each other in it.
        let place = self.truth.sessions.sessions.len();
        self.truth.sessions.sessions.push(Session {
            name: plan.name.to_owned(),
            file: plan.file.to_owned(),
            mode: plan.mode,
            start_ns: time.map(Self::ns),
            ..Session::default()
        });
        let state = &mut self.world.sessions;
        state.numbers += 1;
        // Windows has 64 loggers and gives numbers of stopped ones to new sessions, so that readers
        // must not take the number for an identity.
        state
            .live
            .insert(plan.name, (place, 2 + state.numbers % 60, plan));
    }

    /// Stops a session, which has lost this number of events.
    pub(super) fn session_stops(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (name, lost): (&'static str, u32),
    ) -> Result<()> {
        let Some((place, number, plan)) = self.world.sessions.live.remove(name) else {
            return Ok(());
        };
        let time = self.provider_event(cpu, thread, event(11, 2, 13), |p| {
            p.guid(plan.guid)
                .u32(plan.mode)
                .wide(plan.name)
                .wide(plan.file);
            BUFFERS
                .iter()
                .chain(&[lost, 0, 0, number])
                .for_each(|number| {
                    p.u32(*number);
                });
        })?;
        if let Some(session) = self.truth.sessions.sessions.get_mut(place) {
            (session.stop_ns, session.events_lost) = (Some(Self::ns(time)), Some(lost));
        }
        Ok(())
    }

    /// Enables a provider for a session.
    pub(super) fn provider_on(&mut self, cpu: Cpu, thread: Thread, enabled: Enabled) -> Result<()> {
        let Enabled {
            session,
            provider,
            keywords,
            level,
        } = enabled;
        let Some((place, ..)) = self.world.sessions.live.get(session).copied() else {
            return Ok(());
        };
        self.provider_event(cpu, thread, event(14, 1, 14), |p| {
            p.guid(provider)
                .wide(session)
                .u64(keywords)
                .u64(0)
                .u32(0)
                .bytes(&[level]);
        })?;
        if let Some(session) = self.truth.sessions.sessions.get_mut(place) {
            *session.enabled.entry(provider.to_string()).or_default() += 1;
        }
        Ok(())
    }

    /// Disables a provider for a session.
    pub(super) fn provider_off(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        enabled: Enabled,
    ) -> Result<()> {
        let Enabled {
            session, provider, ..
        } = enabled;
        let Some((place, ..)) = self.world.sessions.live.get(session).copied() else {
            return Ok(());
        };
        self.provider_event(cpu, thread, event(15, 0, 15), |p| {
            p.guid(provider).wide(session);
        })?;
        if let Some(session) = self.truth.sessions.sessions.get_mut(place) {
            *session.disabled.entry(provider.to_string()).or_default() += 1;
        }
        Ok(())
    }

    /// Registers or unregisters a provider for a process.
    pub(super) fn registers(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (provider, is_begin): (Guid, bool),
    ) -> Result<()> {
        let kind = if is_begin {
            event(8, 0, 10)
        } else {
            event(9, 0, 11)
        };
        self.provider_event(cpu, thread, kind, |p| {
            p.guid(provider);
        })?;
        let pid = self.pid_text(thread);
        let sessions = &mut self.truth.sessions;
        let counts = if is_begin {
            &mut sessions.registered
        } else {
            &mut sessions.unregistered
        };
        *counts.entry(pid).or_default() += 1;
        Ok(())
    }

    /// Loses an event of a provider in a session.
    pub(super) fn loses_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (enabled, id): (Enabled, u16),
    ) -> Result<()> {
        let Enabled {
            session, provider, ..
        } = enabled;
        self.provider_event(cpu, thread, event(19, 0, 0), |p| {
            p.guid(provider).u32(OVERFLOW).u16(id).wide(session);
        })?;
        *self
            .truth
            .sessions
            .lost_events
            .entry(session.to_owned())
            .or_default() += 1;
        Ok(())
    }

    /// Writes the sessions that run when the trace begins.
    pub(in crate::sim) fn session_rundown_at_start(&mut self) -> Result<()> {
        for plan in self.plan.sessions.clone() {
            self.session_runs(plan, None);
        }
        self.session_rundown()
    }

    /// Writes the sessions that run when the trace begins or ends.
    pub(in crate::sim) fn session_rundown(&mut self) -> Result<()> {
        for (_, number, plan) in self.world.sessions.live.values() {
            self.tape.provided(0, event(20, 1, 0), (0, 4), &[], |p| {
                p.guid(plan.guid)
                    .u32(plan.mode)
                    .wide(plan.name)
                    .wide(plan.file);
                BUFFERS
                    .iter()
                    .chain(&[0, 0, 0, *number])
                    .for_each(|number| {
                        p.u32(*number);
                    });
            })?;
        }
        Ok(())
    }
}
