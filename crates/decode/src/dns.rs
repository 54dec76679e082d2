//! Events of the DNS client that describe queries.
//!
//! The start and end of a query are logged by the querying process. The steps in between are logged
//! by the DNS client service, which queries the servers: its events have the name of the host and,
//! in newer versions, the querying process.

use std::net::IpAddr;

use etwkit_etl::{Guid, RawEvent};

use crate::named::{NamedFields, Values};
use crate::{Decoder, socket};

/// Microsoft-Windows-DNS-Client.
pub const DNS_CLIENT: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");

/// IDs of [`DNS_CLIENT`].
pub mod id {
    /// A server did not answer in time.
    pub const SERVER_TIMEOUT: u16 = 1015;
    /// A query starts.
    pub const START: u16 = 3006;
    /// A query is answered.
    pub const END: u16 = 3008;
    /// A query is sent to the servers of an adapter.
    pub const ADAPTER: u16 = 3009;
    /// A query is sent to a server.
    pub const SERVER: u16 = 3010;
}

/// The decoded content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsEvent {
    /// Requested name.
    pub name: String,
    /// Querying process, if the payload contains it.
    pub client: Option<u32>,
    /// The rest.
    pub step: Step,
}

/// A step of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It starts.
    Start {
        /// Type of resource record: 1 A, 28 AAAA and so on.
        query_type: u32,
        /// Bits of `DNS_QUERY_…`.
        options: Option<u64>,
        /// True if the service sends the query to servers unchanged.
        is_network: bool,
        /// True if the caller does not wait for it.
        is_async: bool,
    },
    /// It is answered.
    End {
        /// Type of resource record.
        query_type: u32,
        /// Win32 error, 0 for success.
        status: u32,
        /// Records, each followed by `;`.
        results: Option<String>,
    },
    /// It is sent to the servers of an adapter.
    Adapter {
        /// Name of the adapter.
        adapter: String,
        /// Addresses of servers, each followed by `;`.
        servers: Option<String>,
    },
    /// It is sent to a server.
    Server {
        /// Type of resource record.
        query_type: u32,
        /// Address of the server.
        server: String,
    },
    /// Servers did not answer in time.
    Timeout {
        /// Their addresses.
        servers: Vec<IpAddr>,
    },
}

/// Fields, in the order of [`FIELDS`].
mod field {
    pub(super) const QUERY_NAME: usize = 0;
    pub(super) const QUERY_TYPE: usize = 1;
    pub(super) const QUERY_OPTIONS: usize = 2;
    pub(super) const IS_NETWORK_QUERY: usize = 3;
    pub(super) const IS_ASYNC_QUERY: usize = 4;
    pub(super) const QUERY_STATUS: usize = 5;
    pub(super) const QUERY_RESULTS: usize = 6;
    pub(super) const ADAPTER_NAME: usize = 7;
    pub(super) const DNS_SERVER_ADDRESS: usize = 8;
    pub(super) const DNS_SERVER_IP_ADDRESS: usize = 9;
    pub(super) const ADDRESS: usize = 10;
    pub(super) const CLIENT_PID: usize = 11;
}

const FIELDS: [&str; 12] = [
    "QueryName",
    "QueryType",
    "QueryOptions",
    "IsNetworkQuery",
    "IsAsyncQuery",
    "QueryStatus",
    "QueryResults",
    "AdapterName",
    "DNSServerAddress",
    "DnsServerIpAddress",
    "Address",
    "ClientPID",
];

/// Reads events of the DNS client.
#[derive(Debug)]
pub struct DnsReader(NamedFields<{ FIELDS.len() }>);

impl Default for DnsReader {
    fn default() -> Self {
        Self(NamedFields::new(FIELDS))
    }
}

impl DnsReader {
    /// Decodes an event with one of these IDs; `None` if it cannot be decoded.
    pub fn read(&mut self, event: &RawEvent<'_>, decoder: &mut Decoder) -> Option<DnsEvent> {
        let id = event.descriptor().id;
        self.0.read(event, decoder, |values| {
            // An event without a name cannot be assigned to a query.
            let name = values.text(field::QUERY_NAME)?;
            // Zero means that the resolver does not know who asks.
            let client = values.u32(field::CLIENT_PID).filter(|pid| *pid != 0);
            Some(DnsEvent {
                name,
                client,
                step: step(id, values)?,
            })
        })
    }
}

fn step(id: u16, values: Values<'_, { FIELDS.len() }>) -> Option<Step> {
    let query_type = || values.u32(field::QUERY_TYPE);
    let flag = |field| values.u32(field).is_some_and(|flag| flag != 0);
    Some(match id {
        id::START => Step::Start {
            query_type: query_type()?,
            options: values.u64(field::QUERY_OPTIONS),
            is_network: flag(field::IS_NETWORK_QUERY),
            is_async: flag(field::IS_ASYNC_QUERY),
        },
        id::END => Step::End {
            query_type: query_type()?,
            status: values.u32(field::QUERY_STATUS)?,
            results: values.text(field::QUERY_RESULTS),
        },
        id::ADAPTER => Step::Adapter {
            adapter: values.text(field::ADAPTER_NAME)?,
            servers: values.text(field::DNS_SERVER_ADDRESS),
        },
        id::SERVER => Step::Server {
            query_type: query_type()?,
            server: values.text(field::DNS_SERVER_IP_ADDRESS)?,
        },
        id::SERVER_TIMEOUT => Step::Timeout {
            servers: socket::addresses(values.bytes(field::ADDRESS)?)
                .map(|address| address.ip())
                .collect(),
        },
        _ => return None,
    })
}
