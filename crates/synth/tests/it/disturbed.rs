//! Cards about the disk, packets, collections, thread pools and parking, recomputed from their events.

use std::collections::BTreeSet;

use etwkit_decode::kernel::processor_power::{PROCESSOR_POWER, id};
use etwkit_etl::bytes::{i64_at, u8_at, u32_at};

use super::acts::TICK_NS;
use super::processors::{case, written};

const DISK_READ: u16 = 0x010A;
const CSWITCH: u16 = 0x0524;
const TCP_SEND: u16 = 0x060A;
const TCP_RECEIVE: u16 = 0x060B;
const TCP_RETRANSMIT: u16 = 0x060E;
/// An adjustment of the thread pool of Microsoft-Windows-DotNETRuntime, and its reason if no work was
/// finished.
const ADJUSTMENT: u16 = 55;
const STARVATION: u32 = 6;
/// Ticks of a millisecond.
const MILLISECOND: i64 = 10_000;

/// True if a sum of ticks is the cost, except for a fiftieth.
fn is_near(ticks: i64, cost_ns: i64) -> bool {
    (ticks * TICK_NS - cost_ns).abs() * 50 < cost_ns
}

#[test]
fn no_thread_is_sent_to_a_parked_processor() {
    let mut parked: BTreeSet<u16> = BTreeSet::new();
    let mut times = 0;
    let mut sent: Vec<(u16, u32)> = Vec::new();
    let truth = written(&case("parked-processors", 4, false), |event| {
        let p = event.payload();
        if event.hook_id() == Some(CSWITCH) {
            let tid = u32_at(p, 0).unwrap();
            if tid != 0 && parked.contains(&event.cpu) {
                sent.push((event.cpu, tid));
            }
            return;
        }
        if event.provider() != PROCESSOR_POWER {
            return;
        }
        let number = u16::from(u8_at(p, 10).unwrap());
        match event.descriptor().id {
            id::PARK => {
                times += 1;
                parked.insert(number);
            }
            id::UNPARK => {
                parked.remove(&number);
            }
            _ => {}
        }
    });
    assert_eq!((times, parked.len(), sent), (2, 0, Vec::new()));
    let call = truth
        .calls
        .iter()
        .find(|call| call.name == "parked-processors");
    let ready_ns = call.unwrap().times.ready_ns;
    let cost = truth.causes[0].cost_ns.unwrap();
    assert!((ready_ns - cost).abs() * 20 < cost, "{ready_ns} {cost}");
}

#[test]
fn a_packet_is_sent_again_and_the_connection_is_silent_until_then() {
    let silence = |is_healthy| {
        let (mut sent, mut is_again) = (0, false);
        let (mut repeats, mut silent) = (0, 0);
        let mut pids: BTreeSet<u32> = BTreeSet::new();
        let truth = written(&case("retransmits", 4, is_healthy), |event| {
            let time = event.timestamp;
            match event.hook_id() {
                Some(TCP_SEND) => (sent, is_again) = (time, false),
                Some(TCP_RETRANSMIT) => {
                    is_again = true;
                    repeats += 1;
                }
                Some(TCP_RECEIVE) if is_again => silent += time - sent,
                Some(TCP_RECEIVE) => {}
                _ => return,
            }
            pids.insert(u32_at(event.payload(), 0).unwrap());
        });
        (truth, repeats, silent, pids)
    };
    let (truth, repeats, silent, pids) = silence(false);
    let cause = &truth.causes[0];
    // Of eight requests that are lost, two are lost twice.
    assert_eq!(repeats, 10);
    assert_eq!(pids, BTreeSet::from([cause.victims[0].pid]));
    let cost = cause.cost_ns.unwrap();
    assert!(is_near(silent, cost), "{silent} {cost}");
    let (_, repeats, silent, _) = silence(true);
    assert_eq!((repeats, silent), (0, 0));
}

#[test]
fn a_pool_without_a_free_thread_gets_one_each_half_second() {
    let adjusted = |is_healthy| {
        let mut times: Vec<i64> = Vec::new();
        let truth = written(&case("pool-starvation", 4, is_healthy), |event| {
            if event.hook_id().is_none() && event.descriptor().id == ADJUSTMENT {
                assert_eq!(u32_at(event.payload(), 12), Some(STARVATION));
                times.push(event.timestamp);
            }
        });
        (truth, times)
    };
    let (truth, times) = adjusted(false);
    assert_eq!(times.len(), 8);
    let mut apart = times.windows(2).map(|pair| pair[1] - pair[0]);
    let half_second = 500 * MILLISECOND;
    let is_half = |ticks: i64| (half_second..half_second + MILLISECOND).contains(&ticks);
    assert!(apart.all(is_half), "{times:?}");
    let cost = truth.causes[0].cost_ns.unwrap();
    assert!(is_near(8 * half_second, cost), "{cost}");
    assert!(adjusted(true).1.is_empty());
}

#[test]
fn a_disk_repeats_reads_in_a_bad_place() {
    let long_reads = |is_healthy| {
        let mut long: Vec<i64> = Vec::new();
        let truth = written(&case("slow-disk", 4, is_healthy), |event| {
            if event.hook_id() == Some(DISK_READ) {
                let elapsed = i64_at(event.payload(), 40).unwrap();
                if elapsed > 100 * MILLISECOND {
                    long.push(elapsed);
                }
            }
        });
        (truth, long)
    };
    let (truth, long) = long_reads(false);
    let pid = truth.causes[0].victims[0].pid.to_string();
    assert_eq!(truth.disk.by_process[&pid].reads, 3 * 24);
    assert!(long.len() >= 24, "{}", long.len());
    assert!(long_reads(true).1.is_empty());
}

#[test]
fn a_collection_stops_the_program_or_goes_on_in_the_background() {
    let pauses = |is_healthy| -> Vec<(i64, i64)> {
        let truth = written(&case("gc-pause", 4, is_healthy), |_| ());
        let lasts = |gc: &etwkit_synth::truth::Collection| gc.end_ns.unwrap() - gc.start_ns;
        let collections = truth.collections.iter();
        collections.map(|gc| (gc.suspended_ns, lasts(gc))).collect()
    };
    let (sick, healthy) = (pauses(false), pauses(true));
    assert_eq!((sick.len(), healthy.len()), (10, 10));
    let is_long = |ns: i64| ns > 200_000_000;
    assert!(sick.iter().all(|(pause, _)| is_long(*pause)), "{sick:?}");
    // As much is collected, and the program goes on.
    let goes_on = |(pause, lasts): &(i64, i64)| *pause < 5_000_000 && is_long(*lasts);
    assert!(healthy.iter().all(goes_on), "{healthy:?}");
}
