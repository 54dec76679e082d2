//! The sample traces, if they are available.

use std::fs;
use std::net::IpAddr;
use std::ops::ControlFlow;

use etwkit_decode::kernel::net::{self, Operation};
use etwkit_decode::kernel::{Hook, group};
use etwkit_decode::render::{Limits, Renderer};
use etwkit_decode::{Decoder, Source, Spans};
use etwkit_etl::source::ByteSource;
use etwkit_etl::{Order, RawEvent, Session};

fn sample(name: &str) -> Option<Vec<u8>> {
    let root = etwkit_testkit::traces()?;
    Some(fs::read(root.join(name)).unwrap())
}

fn each(bytes: Vec<u8>, order: Order, mut visit: impl FnMut(&RawEvent<'_>)) -> bool {
    let Ok(session) = Session::open(vec![Box::new(bytes) as Box<dyn ByteSource>]) else {
        return false;
    };
    let pass = session.for_each(order, |event| {
        visit(event);
        ControlFlow::Continue(())
    });
    pass.is_ok()
}

fn observe(bytes: Vec<u8>, order: Order) -> Decoder {
    let mut decoder = Decoder::new();
    each(bytes, order, |event| decoder.observe(event));
    decoder.finish_observing();
    decoder
}

#[test]
fn described_events_fill_their_payload() {
    let Some(bytes) = sample("net.4.5.2.x64.etl") else {
        return;
    };
    let decoder = observe(bytes.clone(), Order::File);
    let (mut exact, mut other, mut spans) = (0, 0, Spans::default());
    each(bytes, Order::File, |event| {
        let Some(plan) = decoder.own_plan(event) else {
            return;
        };
        let runtime =
            plan.schema().provider_name.as_deref() == Some("Microsoft-Windows-DotNETRuntime");
        // The stack event has more frames than its description says; two manifests lack an
        // argument.
        if plan.schema().source != Source::EventInfo || runtime && event.descriptor().id == 82 {
            return;
        }
        let complete = plan.locate(event.payload(), &mut spans);
        if complete && spans.end() == event.payload().len() {
            exact += 1;
        } else {
            other += 1;
        }
    });
    assert_eq!((exact, other), (51_411, 0));
    assert_eq!(decoder.problems().counts().count(), 0);
}

/// The remote end of a received datagram is never a group. Most datagrams were sent to groups that
/// this machine joined. Eight of Windows 7 have this machine as their source.
#[test]
fn datagrams_that_came_in_went_to_the_local_end() {
    let is_group = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.is_multicast() || ip.octets()[3] == 255,
        IpAddr::V6(ip) => ip.is_multicast(),
    };
    for (name, expected) in [("net.4.5.2.x64.etl", 29), ("tx_KernelNetwork.etl", 210)] {
        let Some(bytes) = sample(name) else { return };
        let (mut received, mut to_groups, mut from_groups) = (0, 0, 0);
        each(bytes, Order::File, |event| {
            let (operation, is_v6) = match Hook::of(event) {
                Some(hook) if hook.group == group::UDP => {
                    (net::udp_operation(hook.opcode), hook.opcode >= 26)
                }
                None if event.kind.is_manifest() && event.provider() == net::KERNEL_NETWORK => {
                    let id = event.descriptor().id;
                    (net::provider_operation(id), id >= 58)
                }
                _ => return,
            };
            let Some(operation @ Operation::UdpReceive) = operation else {
                return;
            };
            let ends = net::ends(event.payload(), is_v6, operation).unwrap();
            received += 1;
            to_groups += usize::from(is_group(ends.local.ip()));
            from_groups += usize::from(is_group(ends.remote.ip()));
        });
        assert_eq!((received, from_groups), (expected, 0), "{name}");
        assert!(to_groups > received / 2, "{name}: {to_groups}");
    }
}

#[test]
fn the_order_of_observing_does_not_matter() {
    for name in ["net.4.5.2.x64.etl", "diaghub/diaghub.user_paged.1.etl"] {
        let Some(bytes) = sample(name) else { return };
        let in_file = observe(bytes.clone(), Order::File);
        let in_time = observe(bytes.clone(), Order::Time);
        assert_eq!(in_file.described_events(), in_time.described_events());
        each(bytes, Order::File, |event| {
            let schema =
                |decoder: &Decoder| decoder.own_plan(event).map(|plan| plan.schema().clone());
            assert_eq!(schema(&in_file), schema(&in_time));
        });
    }
}

/// Bytes anywhere in an uncompressed trace change: the damaged descriptions cause no panic and no
/// unlimited growth.
#[test]
fn damaged_descriptions_do_no_harm() {
    let names = ["primitive-types.etl", "made/dns-4.etl", "made/tcp-4.etl"];
    for (name, seed) in names
        .iter()
        .flat_map(|name| (1..20u64).map(move |seed| (name, seed)))
    {
        let Some(mut bytes) = sample(name) else {
            return;
        };
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for _ in 0..400 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = 4096 + (state >> 16) as usize % (bytes.len() - 4096);
            bytes[at] = state as u8;
        }
        let mut decoder = observe(bytes.clone(), Order::File);
        let renderer = Renderer {
            clock: None,
            limits: Limits::INFO,
        };
        each(bytes, Order::File, |event| {
            if let Some(plan) = decoder.plan(event) {
                let (object, _) = renderer.object(&plan, event.payload());
                assert!(object.len() <= 1024);
            }
        });
    }
}
