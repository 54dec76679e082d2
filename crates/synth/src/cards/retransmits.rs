//! Card 41: a program asks a server again and again, and some of its packets are lost, so that TCP
//! sends them once more after a while. In the twin no packet is lost.

use super::requests::{Client, Request};
use super::scene::{Planted, Scene};
use super::{Card, Named};

pub(super) const CARD: Card = Card {
    number: 41,
    name: "retransmits",
    rule: "retransmits",
    description: "a program waits for a server, since packets are lost and sent again late",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

/// Requests, and how many of them are lost.
const REQUESTS: u32 = 24;
const LOST: u32 = 8;
/// Of the lost requests each one of this many is lost twice.
const TWICE: u32 = 3;

fn plant(scene: &mut Scene) -> Planted {
    let client = Client::new(scene);
    let requests = requests(scene);
    client.sends(scene, &requests);
    let connection = client.connection();
    Planted {
        culprit: connection.remote.to_string(),
        victims: vec![connection.program],
    }
}

/// Returns the requests, with the lost ones spread evenly over them.
fn requests(scene: &mut Scene) -> Vec<Request> {
    let lost = scene.strong(LOST).min(REQUESTS);
    let lost = if scene.is_sick() { lost } else { 0 };
    let before = |number: u32| number * lost / REQUESTS;
    (0..REQUESTS)
        .map(|number| {
            let answer_us = scene.draw(1_500, 4_000);
            let repeats = match before(number + 1) {
                of if of == before(number) => 0,
                of if of.is_multiple_of(TWICE) => 2,
                _ => 1,
            };
            Request {
                repeats,
                answer_us,
                is_delayed: repeats > 0,
            }
        })
        .collect()
}
