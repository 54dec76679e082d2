//! Network interfaces of the machine, as reported by the recorder and by the merge step.

use etwkit_decode::kernel::config::Nic;
use etwkit_decode::kernel::merge::NetworkInterface;

use crate::declared::sums;
use crate::import::pipeline::{Context, Declaration, Importer, Learned};
use crate::sink::{Sink, SinkError};
use crate::system_config::SystemConfig;
use crate::table::{Adapter, Row};

/// The events were read by the first pass, together with the events of the rest of the machine.
pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(Adapter::TABLE)],
    make: |_| Box::new(Adapters),
    ..Declaration::EMPTY
};

/// Writes the data of the first pass.
struct Adapters;

impl Importer for Adapters {
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        context
            .tables
            .push_all(adapters(&learned.collected.config), sink)
    }
}

/// Interfaces of both kinds of events, joined by their index. Windows lists filters and tunnels as
/// interfaces of their own, which have neither cards nor addresses: they are left out.
fn adapters(config: &SystemConfig) -> impl Iterator<Item = Adapter> + '_ {
    config.nics.values().map(|nic| {
        let is_same = |other: &&NetworkInterface| {
            // Index 0 means a protocol that is not bound, and would join any two cards.
            other.index != 0 && [nic.ipv4_index, nic.ipv6_index].contains(&other.index)
        };
        let row = of_card(nic);
        match config.interfaces.values().find(is_same) {
            Some(interface) => of_interface(row, interface),
            None => row,
        }
    })
}

fn of_card(nic: &Nic) -> Adapter {
    let index = |index: u32| i32::try_from(index).ok().filter(|index| *index > 0);
    Adapter {
        description: nic.description.clone(),
        mac: mac(&nic.mac),
        ipv4_index: index(nic.ipv4_index),
        ipv6_index: index(nic.ipv6_index),
        addresses: joined(&nic.addresses),
        dns_servers: joined(&nic.dns),
        ..Adapter::default()
    }
}

fn of_interface(row: Adapter, interface: &NetworkInterface) -> Adapter {
    // All bits are set where the speed is unknown.
    let speed = |bits: u64| i64::try_from(bits).ok();
    Adapter {
        alias: Some(interface.alias.clone()).filter(|alias| !alias.is_empty()),
        interface_guid: Some(interface.guid.to_string()),
        interface_type: i32::try_from(interface.kind).ok(),
        mtu_bytes: Some(interface.mtu.into()),
        is_up: Some(interface.is_up),
        transmit_bits_per_second: speed(interface.speeds.0),
        receive_bits_per_second: speed(interface.speeds.1),
        ..row
    }
}

fn mac(bytes: &[u8]) -> Option<String> {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    (!digits.is_empty()).then(|| digits.join(":"))
}

fn joined(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(";"))
}

#[cfg(test)]
mod tests {
    use etwkit_etl::Guid;

    use super::*;

    /// The example of `docs/numbers/machine.md`.
    #[test]
    fn a_card_and_its_interface_are_one_row() {
        let nic = Nic {
            mac: vec![0, 0x15, 0x5d, 0x7c, 0x58, 0x28],
            ipv4_index: 12,
            ipv6_index: 0,
            description: "Ethernet Adapter".to_owned(),
            addresses: vec!["fe80::1".to_owned(), "10.0.0.5".to_owned()],
            dns: Vec::new(),
        };
        let interface = NetworkInterface {
            index: 12,
            guid: Guid::ZERO,
            alias: "Ethernet 2".to_owned(),
            description: String::new(),
            mac: Vec::new(),
            mtu: 1500,
            kind: 6,
            is_up: true,
            speeds: (1_000_000_000, u64::MAX),
        };
        let filter = NetworkInterface {
            index: 13,
            ..interface.clone()
        };
        let mut config = SystemConfig::default();
        config.nics.insert((12, 0, String::new(), Vec::new()), nic);
        config.interfaces.extend([(12, interface), (13, filter)]);
        let rows: Vec<Adapter> = adapters(&config).collect();
        let [row] = rows.as_slice() else {
            panic!("{rows:?}")
        };
        assert_eq!(row.mac.as_deref(), Some("00:15:5d:7c:58:28"));
        assert_eq!((row.ipv4_index, row.ipv6_index), (Some(12), None));
        assert_eq!(
            (row.alias.as_deref(), row.mtu_bytes),
            (Some("Ethernet 2"), Some(1500))
        );
        assert_eq!(
            (row.addresses.as_deref(), row.dns_servers.as_deref()),
            (Some("fe80::1;10.0.0.5"), None)
        );
        assert_eq!(
            (row.transmit_bits_per_second, row.receive_bits_per_second),
            (Some(1_000_000_000), None)
        );
    }
}
