//! Substitutes of network addresses, which stay addresses: the same subnet for the same subnet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rustc_hash::FxHashMap;

/// The subnets of version 4 that are reserved for documentation. After them come those of `10/8`.
const DOCUMENTATION: [[u8; 3]; 3] = [[192, 0, 2], [198, 51, 100], [203, 0, 113]];

/// Addresses that were replaced.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    given: FxHashMap<IpAddr, IpAddr>,
    subnets_v4: FxHashMap<[u8; 3], Subnet>,
    subnets_v6: FxHashMap<[u8; 8], Subnet>,
}

/// A subnet: its number, and the number of its hosts so far.
#[derive(Debug, Clone, Copy)]
struct Subnet {
    number: u32,
    hosts: u64,
}

impl Subnet {
    const fn new(number: usize) -> Self {
        Self {
            number: number as u32,
            hosts: 0,
        }
    }

    const fn next_host(&mut self) -> u64 {
        self.hosts += 1;
        self.hosts
    }
}

impl Addresses {
    /// The substitute, and true if it was not asked for before.
    pub(super) fn substitute(&mut self, address: IpAddr) -> (IpAddr, bool) {
        if let Some(given) = self.given.get(&address) {
            return (*given, false);
        }
        let substitute = match address {
            IpAddr::V4(address) => self.v4(address).into(),
            IpAddr::V6(address) => self.v6(address).into(),
        };
        self.given.insert(address, substitute);
        (substitute, true)
    }

    fn v4(&mut self, address: Ipv4Addr) -> Ipv4Addr {
        let [a, b, c, host] = address.octets();
        if a == 0 || a == 127 || address.is_multicast() || address.is_broadcast() {
            return address;
        }
        let next = self.subnets_v4.len();
        let subnet = self
            .subnets_v4
            .entry([a, b, c])
            .or_insert(Subnet::new(next));
        // The last number tells the network itself and its broadcasts from hosts.
        let host = match host {
            0 | 255 => host,
            _ => (1 + (subnet.next_host() - 1) % 254) as u8,
        };
        // Link-local addresses stay those.
        let [a, b, c] = if [a, b] == [169, 254] {
            [a, b, subnet.number as u8]
        } else {
            front(subnet.number)
        };
        Ipv4Addr::new(a, b, c, host)
    }

    fn v6(&mut self, address: Ipv6Addr) -> Ipv6Addr {
        if let Some(inner) = address.to_ipv4_mapped() {
            // One computer is one computer, in whichever form its address is written.
            return match self.substitute(inner.into()).0 {
                IpAddr::V4(inner) => inner.to_ipv6_mapped(),
                IpAddr::V6(inner) => inner,
            };
        }
        // All computers have loopback and the groups of a link; the groups of single addresses
        // (solicited nodes) and the rest contain numbers of network cards.
        let segments = address.segments();
        let is_common = address.is_loopback()
            || address.is_unspecified()
            || address.is_multicast() && matches!(segments, [_, 0, 0, 0, 0, 0, 0, _]);
        if is_common {
            return address;
        }
        let front = octets(address);
        let next = self.subnets_v6.len();
        let subnet = self.subnets_v6.entry(front).or_insert(Subnet::new(next));
        let host = subnet.next_host();
        let [far, host] = [(host >> 16) as u16, host as u16];
        let [low, high] = [subnet.number as u16, (subnet.number >> 16) as u16];
        match segments {
            [0xFE80, ..] => Ipv6Addr::new(0xFE80, 0, 0, 0, 0, far, low, host),
            [group, ..] if address.is_multicast() => {
                Ipv6Addr::new(group, 0, 0, 0, 0, 1, 0xFF00, host)
            }
            _ => Ipv6Addr::new(0x2001, 0xDB8, high, low, 0, 0, far, host),
        }
    }
}

/// The network of an address: its first half.
fn octets(address: Ipv6Addr) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = address.octets();
    [a, b, c, d, e, f, g, h]
}

fn front(subnet: u32) -> [u8; 3] {
    match DOCUMENTATION.get(subnet as usize) {
        Some(front) => *front,
        None => [10, (subnet >> 8) as u8, subnet as u8],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &[(&str, &str)]) {
        let mut all = Addresses::default();
        for (address, expected) in addresses {
            let (substitute, _) = all.substitute(address.parse().unwrap());
            assert_eq!(substitute.to_string(), *expected, "{address}");
        }
    }

    #[test]
    fn addresses_of_a_subnet_stay_in_one() {
        check(&[
            ("192.168.7.1", "192.0.2.1"),
            ("192.168.7.9", "192.0.2.2"),
            ("192.168.7.255", "192.0.2.255"),
            ("8.8.8.8", "198.51.100.1"),
            ("192.168.7.1", "192.0.2.1"),
            ("1.2.3.4", "203.0.113.1"),
            ("1.2.4.4", "10.0.3.1"),
            ("fd12:3456::1", "2001:db8::1"),
            ("fd12:3456::77", "2001:db8::2"),
            ("2a00:1:2:3::77", "2001:db8:0:1::1"),
            ("::ffff:192.168.7.9", "::ffff:192.0.2.2"),
        ]);
    }

    #[test]
    fn addresses_that_every_computer_has_stay() {
        for kept in [
            "0.0.0.0",
            "127.0.0.1",
            "224.0.0.251",
            "255.255.255.255",
            "::",
            "::1",
            "ff02::fb",
        ] {
            check(&[(kept, kept)]);
        }
        check(&[
            ("fe80::1234:56ff:fe78:9abc", "fe80::1"),
            ("ff02::1:ff78:9abc", "ff02::1:ff00:1"),
            ("169.254.17.5", "169.254.0.1"),
        ]);
    }
}
