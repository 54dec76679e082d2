//! Socket addresses as Windows lays them out (`SOCKADDR_IN`, `SOCKADDR_IN6`, `SOCKADDR_STORAGE`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use etwkit_etl::bytes::{array, u16_at};

/// `AF_INET`.
const IPV4: u16 = 2;
/// `AF_INET6`.
const IPV6: u16 = 23;
/// Bytes of a `SOCKADDR_STORAGE`, of which lists consist.
const STORAGE_LEN: usize = 128;

/// Reads an address: the family in the byte order of the machine, port and address in network byte
/// order.
#[must_use]
pub fn address(bytes: &[u8]) -> Option<SocketAddr> {
    // The family is a number of the machine; the port is in network order.
    let port = u16_at(bytes, 2)?.swap_bytes();
    let ip = match u16_at(bytes, 0)? {
        IPV4 => IpAddr::V4(Ipv4Addr::from(array::<4>(bytes, 4)?)),
        IPV6 => IpAddr::V6(Ipv6Addr::from(array::<16>(bytes, 8)?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Reads one address, or a list of them in storages of fixed size.
pub fn addresses(bytes: &[u8]) -> impl Iterator<Item = SocketAddr> + '_ {
    // Chunks and not exact ones: a single address is shorter than a storage, and so may be the last
    // of a list.
    bytes.chunks(STORAGE_LEN).filter_map(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_are_read() {
        let v4 = [2, 0, 0, 53, 192, 168, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(address(&v4).unwrap().to_string(), "192.168.7.1:53");
        let mut v6 = vec![23, 0, 1, 187, 0, 0, 0, 0, 0xfe, 0x80];
        v6.resize(23, 0);
        v6.extend([0x20, 0, 0, 0, 0]);
        assert_eq!(address(&v6).unwrap().to_string(), "[fe80::20]:443");
        assert_eq!(
            (
                address(&v4[..7]),
                address(&[1, 0, 0, 0, 0, 0, 0, 0]),
                address(&[])
            ),
            (None, None, None)
        );
        let mut list = v4.to_vec();
        list.resize(STORAGE_LEN, 0);
        list.extend(&v6);
        let texts: Vec<String> = addresses(&list).map(|a| a.ip().to_string()).collect();
        assert_eq!(texts, ["192.168.7.1", "fe80::20"]);
    }
}
