//! Card 43: a program sends requests to a server, which answers some of them late. In the twin it
//! answers all of them at once.

use super::requests::{Client, Request};
use super::scene::{Planted, Scene};
use super::{Card, Named};

pub(super) const CARD: Card = Card {
    number: 43,
    name: "slow-server",
    rule: "slow-server",
    description: "a program sends requests to a server, and waits for answers that come late",
    named: Named::WithCost,
    seconds: 16,
    plant,
};

/// Requests; each one of so many is answered late.
const REQUESTS: usize = 24;
const LATE: usize = 4;

fn plant(scene: &mut Scene) -> Planted {
    let client = Client::new(scene);
    let requests: Vec<Request> = (0..REQUESTS)
        .map(|number| request(scene, number.is_multiple_of(LATE)))
        .collect();
    client.sends(scene, &requests);
    let connection = client.connection();
    Planted {
        culprit: format!("{}:{}", connection.remote, connection.remote_port),
        victims: vec![connection.program],
    }
}

fn request(scene: &mut Scene, is_late: bool) -> Request {
    let usual = scene.draw(1_500, 4_000);
    let late = scene.draw(600_000, 900_000);
    let is_delayed = is_late && scene.is_sick();
    let answer_us = if is_delayed {
        scene.strong(late)
    } else {
        usual
    };
    Request {
        repeats: 0,
        answer_us,
        is_delayed,
    }
}
