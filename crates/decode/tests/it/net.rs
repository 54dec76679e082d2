//! Network events that are read by the names of their fields.

use etwkit_decode::Decoder;
use etwkit_decode::dns::{DNS_CLIENT, DnsReader, Step};
use etwkit_decode::tcpip::{TCPIP, TcpEventKind, TcpReader};
use etwkit_etl::{Guid, HeaderKind, RawEvent};

/// A manifest event of a provider, logged by process 1, thread 2.
fn event(provider: Guid, id: u16, version: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes[8..16].copy_from_slice(&[2, 0, 0, 0, 1, 0, 0, 0]);
    bytes[24..40].copy_from_slice(&provider.to_bytes());
    bytes[40..42].copy_from_slice(&id.to_le_bytes());
    bytes[42] = version;
    bytes.extend(payload);
    bytes
}

fn raw(kind: HeaderKind, record: &[u8]) -> RawEvent<'_> {
    RawEvent {
        kind,
        timestamp: 5,
        cpu: 0,
        file: 0,
        buffer: 0,
        position: 0,
        record,
    }
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect()
}

/// The EventInfo record of an event: fields with the numbers of their types (1 text, 8 `u32`, 10
/// `u64`).
fn event_info(provider: Guid, id: u16, fields: &[(&str, u16)]) -> Vec<u8> {
    let mut info = vec![0; 112];
    info[..16].copy_from_slice(&provider.to_bytes());
    info[32..34].copy_from_slice(&id.to_le_bytes());
    info[100] = fields.len() as u8;
    info[104] = fields.len() as u8;
    let mut names = Vec::new();
    for (name, kind) in fields {
        let offset = (112 + 24 * fields.len() + names.len()) as u32;
        info.extend([0, offset].map(u32::to_le_bytes).concat());
        info.extend([*kind, 0, 0, 0, 1, 0, 0, 0].map(u16::to_le_bytes).concat());
        names.extend(wide(name));
    }
    info.extend(names);
    let mut record = vec![0; 48];
    record[4] = 32;
    record[24..40].copy_from_slice(&etwkit_decode::eventinfo::CLASS.to_bytes());
    record.extend(info);
    record
}

fn decoder(described: &[Vec<u8>]) -> Decoder {
    let mut decoder = Decoder::new();
    described
        .iter()
        .for_each(|record| decoder.observe(&raw(HeaderKind::Full64, record)));
    decoder.finish_observing();
    decoder
}

fn read_dns(decoder: &mut Decoder, record: &[u8]) -> Option<(String, Option<u32>, Step)> {
    let event = raw(HeaderKind::Event64, record);
    DnsReader::default()
        .read(&event, decoder)
        .map(|dns| (dns.name, dns.client, dns.step))
}

fn answer() -> Vec<u8> {
    [
        &wide("a.example")[..],
        &28u32.to_le_bytes(),
        &[0; 8],
        &9003u32.to_le_bytes(),
        &wide("::1;"),
    ]
    .concat()
}

#[test]
fn known_layouts_are_read_without_any_description() {
    let mut decoder = decoder(&[]);
    let dns = read_dns(&mut decoder, &event(DNS_CLIENT, 3008, 0, &answer())).unwrap();
    let step = Step::End {
        query_type: 28,
        status: 9003,
        results: Some("::1;".into()),
    };
    assert_eq!(dns, ("a.example".into(), None, step));
    let v4 = [2, 0, 0, 53, 192, 168, 7, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    let timeout = [
        &wide("a")[..],
        &16u32.to_le_bytes(),
        &v4,
        &77u32.to_le_bytes(),
    ]
    .concat();
    let dns = read_dns(&mut decoder, &event(DNS_CLIENT, 1015, 1, &timeout)).unwrap();
    assert_eq!(
        dns,
        (
            "a".into(),
            Some(77),
            Step::Timeout {
                servers: vec!["192.168.7.2".parse().unwrap()]
            }
        )
    );
    // The previous version has no process.
    let dns = read_dns(
        &mut decoder,
        &event(DNS_CLIENT, 1015, 0, &timeout[..timeout.len() - 4]),
    )
    .unwrap();
    assert_eq!(dns.1, None);
}

#[test]
fn what_the_trace_says_of_an_event_comes_first() {
    let fields = [
        ("QueryStatus", 8),
        ("QueryType", 8),
        ("QueryName", 1),
        ("QueryResults", 1),
    ];
    let mut described = decoder(&[event_info(DNS_CLIENT, 3008, &fields)]);
    let payload = [
        &7u32.to_le_bytes()[..],
        &1u32.to_le_bytes(),
        &wide("b.example"),
        &wide(""),
    ]
    .concat();
    let dns = read_dns(&mut described, &event(DNS_CLIENT, 3008, 0, &payload)).unwrap();
    let step = Step::End {
        query_type: 1,
        status: 7,
        results: Some(String::new()),
    };
    assert_eq!(dns, ("b.example".into(), None, step));
    // An answer that is not in the event is not an empty one.
    let [status, query_type, name, _] = fields;
    let mut without = decoder(&[event_info(DNS_CLIENT, 3008, &[status, query_type, name])]);
    let payload = &payload[..payload.len() - 2];
    let dns = read_dns(&mut without, &event(DNS_CLIENT, 3008, 0, payload)).unwrap();
    let step = Step::End {
        query_type: 1,
        status: 7,
        results: None,
    };
    assert_eq!(dns, ("b.example".into(), None, step));
    // A description without the required fields is ignored.
    let mut poor = decoder(&[event_info(DNS_CLIENT, 3008, &[("Something", 8)])]);
    assert_eq!(
        read_dns(&mut poor, &event(DNS_CLIENT, 3008, 0, &answer()))
            .unwrap()
            .0,
        "a.example"
    );
}

#[test]
fn an_event_that_is_cut_short_is_not_read() {
    let mut decoder = decoder(&[]);
    let whole = answer();
    assert_eq!(
        read_dns(&mut decoder, &event(DNS_CLIENT, 3008, 0, &whole[..20])),
        None
    );
    let send = [
        &0xAAu64.to_le_bytes()[..],
        &[0; 8],
        &100u32.to_le_bytes(),
        &7u32.to_le_bytes(),
        &[0; 12],
    ]
    .concat();
    let mut read = |payload: &[u8], version| {
        let record = event(TCPIP, 1332, version, payload);
        let event = raw(HeaderKind::Event64, &record);
        let kind = TcpReader::kind(&event).unwrap();
        TcpReader::default().read(kind, &event, &mut decoder)
    };
    let sent = read(&send, 0).unwrap();
    assert_eq!(
        (sent.kind, sent.tcb, sent.bytes, sent.sequence),
        (TcpEventKind::Send, 0xAA, Some(100), Some(7))
    );
    assert_eq!((read(&send[..30], 0), read(&send, 1)), (None, None));
    // An unknown version is read like the last known one: newer versions append fields.
    let newer = [&send[..], &[0; 36], &[0; 8]].concat();
    assert_eq!(read(&newer, 9).unwrap().bytes, Some(100));
}
