//! Queries of names (Microsoft-Windows-DNS-Client): a program queries the service of the DNS
//! client, and the service queries servers.

use std::io::{Seek, Write};
use std::net::Ipv4Addr;

use etwkit_etl::Guid;

use super::super::Sim;
use super::super::times::TICK_NS;
use crate::Result;
use crate::act::Lookup;
use crate::plan::AdapterPlan;
use crate::table::{Cpu, Thread};
use crate::tape::Provided;
use crate::truth::Lookups;

/// Microsoft-Windows-DNS-Client.
const DNS_CLIENT: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");

const fn event(id: u16, version: u8) -> Provided {
    Provided {
        provider: DNS_CLIENT,
        id,
        version,
        opcode: 0,
        keyword: 0x8000_0000_0000_0000,
    }
}

/// A query without an answer.
#[derive(Debug, Clone, Copy)]
struct OpenLookup {
    lookup: Lookup,
    began: i64,
    is_timed_out: bool,
}

/// Queries of a thread, the latest one last.
#[derive(Debug, Default)]
pub(in crate::sim) struct LookingUp(Vec<OpenLookup>);

impl<W: Write + Seek> Sim<W> {
    pub(super) fn lookup_begins(&mut self, cpu: Cpu, thread: Thread, lookup: Lookup) -> Result<()> {
        let Lookup { name, kind, .. } = lookup;
        let began = self.provider_event(cpu, thread, event(3006, 0), |p| {
            p.wide(name)
                .u32(kind)
                .u64(0x4000_4000)
                .wide("")
                .u32(0)
                .u32(0)
                .u32(0)
                .u32(0);
        })?;
        self.threads[thread].acting.lookup.0.push(OpenLookup {
            lookup,
            began,
            is_timed_out: false,
        });
        Ok(())
    }

    pub(super) fn lookup_ends(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let Some(open) = self.threads[thread].acting.lookup.0.pop() else {
            return Ok(());
        };
        let Lookup {
            name,
            kind,
            status,
            result,
        } = open.lookup;
        let time = self.provider_event(cpu, thread, event(3008, 0), |p| {
            p.wide(name)
                .u32(kind)
                .u64(0x4000_4000)
                .u32(status)
                .wide(result);
        })?;
        let pid = self.pid_text(thread);
        let dns = &mut self.truth.dns;
        for sums in [
            dns.by_process.entry(pid).or_default(),
            dns.by_name.entry(name.to_owned()).or_default(),
        ] {
            let sums: &mut Lookups = sums;
            sums.queries += 1;
            sums.failed += u64::from(status != 0);
            sums.timed_out += u64::from(open.is_timed_out);
            sums.duration_ns += (time - open.began) * TICK_NS;
        }
        Ok(())
    }

    /// Returns the query that a thread of the service works on, with the id of the client's thread,
    /// and the client.
    fn looked_up(&self, thread: Thread) -> Option<(Lookup, u32, Thread)> {
        let client = self.serves(thread)?;
        // The events of the service carry the id of the client, which is all that joins them to its
        // query.
        let open = self.threads[client].acting.lookup.0.last()?;
        Some((open.lookup, self.ids(Some(client)).1, client))
    }

    /// Handles the service's queries to the servers of that adapter.
    pub(super) fn lookup_adapter(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        adapter: usize,
    ) -> Result<()> {
        let Some((lookup, client, _)) = self.looked_up(thread) else {
            return Ok(());
        };
        let Some(AdapterPlan {
            name,
            address,
            servers,
        }) = self.plan.adapters.get(adapter)
        else {
            return Ok(());
        };
        let (name, address) = (*name, *address);
        // A semicolon also after the last server, as Windows writes these lists.
        let servers: String = servers.iter().map(|server| format!("{server};")).collect();
        self.provider_event(cpu, thread, event(3009, 1), |p| {
            p.wide(lookup.name)
                .u32(0)
                .u32(0)
                .u32(1)
                .wide(name)
                .wide(address)
                .wide(&servers);
            p.u32(client);
        })?;
        Ok(())
    }

    /// Returns the server of that number, counted over all adapters.
    fn server(&self, number: usize) -> Option<Ipv4Addr> {
        self.plan
            .adapters
            .iter()
            .flat_map(|adapter| &adapter.servers)
            .nth(number)
            .copied()
    }

    /// Handles the service's query to the server with that number.
    pub(super) fn lookup_server(&mut self, cpu: Cpu, thread: Thread, server: usize) -> Result<()> {
        let Some((lookup, client, _)) = self.looked_up(thread) else {
            return Ok(());
        };
        let Some(address) = self.server(server) else {
            return Ok(());
        };
        self.provider_event(cpu, thread, event(3010, 1), |p| {
            p.wide(lookup.name)
                .u32(lookup.kind)
                .wide(&address.to_string())
                .u32(client);
        })?;
        Ok(())
    }

    /// Handles the timeout of that server.
    pub(super) fn lookup_times_out(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        server: usize,
    ) -> Result<()> {
        let Some((lookup, client, asking)) = self.looked_up(thread) else {
            return Ok(());
        };
        let Some(address) = self.server(server) else {
            return Ok(());
        };
        // An address of IPv4 at port 53, in the order of the network.
        let socket = [&[2, 0, 0, 53], &address.octets()[..], &[0; 8]].concat();
        self.provider_event(cpu, thread, event(1015, 1), |p| {
            p.wide(lookup.name)
                .u32(socket.len() as u32)
                .bytes(&socket)
                .u32(client);
        })?;
        if let Some(open) = self.threads[asking].acting.lookup.0.last_mut() {
            open.is_timed_out = true;
        }
        Ok(())
    }

    pub(super) fn finish_lookups(&mut self) {
        let open = self
            .threads
            .iter()
            .map(|(_, thread)| thread.acting.lookup.0.len() as u64);
        self.truth.dns.open_at_end = open.sum();
    }
}
