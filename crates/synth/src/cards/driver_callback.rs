//! Card 40: a program starts others, and Windows asks the driver of a security product about each new
//! process, which asks its service. In the twin the service knows the programs already and answers
//! at once.

use super::filter_scan::{Starting, starter};
use super::scene::{Image, Planted, Scene, root};
use super::{Card, Named};
use crate::script::Step;
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 40,
    name: "driver-callback",
    rule: "driver-callback",
    description: "programs start slowly, since Windows asks a driver about each new process",
    named: Named::WithCost,
    seconds: 10,
    plant,
};

/// Programs that are started.
const STARTS: usize = 12;
/// Time that the service looks into a program, in microseconds.
const LOOK_US: (u32, u32) = (70_000, 120_000);
const INSERTS: &str = "nt!PspInsertThread";
const NOTIFIES: &str = "nt!PspCallProcessNotifyRoutines";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let (driver, engine) = (scene.driver(maker), scene.executable(maker));
    let port = scene.b.port();
    service(scene, (driver, engine), port);
    let asks = format!("{INSERTS} {NOTIFIES} {}!OnProcess", driver.alias);
    let starting = Starting {
        class: "CBuild",
        count: STARTS,
        asks: &asks,
        port,
    };
    let program = starter(scene, &starting);
    Planted {
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}

/// Adds the service of the product, which takes questions of its driver.
fn service(scene: &mut Scene, (driver, engine): (Image, Image), port: Port) {
    let program = scene.service(engine, "/service", &[]);
    let main = root(engine, "CGuard::ThreadProc");
    let control = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd nt!NtDeviceIoControlFile nt!IofCallDriver";
    let takes = format!("{main} {control} {}!WaitForQuestion", driver.alias);
    let takes = scene.b.waits(&[&takes]);
    let answers = format!("{main} {control} {}!TakeAnswer nt!KeSetEvent", driver.alias);
    let answers = scene.b.path(&[&answers]);
    let finds = scene
        .b
        .code(&[&main], &[&format!("{}!CCache::Find", engine.alias)]);
    let looks = scene.b.code(
        &[&main],
        &[&format!("{}!CPolicy::Check", engine.alias), "ntdll!memcpy"],
    );
    let (low, high) = (scene.strong(LOOK_US.0), scene.strong(LOOK_US.1));
    let mut steps = vec![Step::Take(takes, port), Step::Run(finds, 60, 150)];
    if scene.is_sick() {
        steps.push(Step::Run(looks, low, high));
    }
    steps.push(Step::Answer(answers));
    let thread = scene
        .b
        .thread(program, 8, &format!("{}!CGuard::ThreadProc", engine.alias));
    scene.b.script(thread, &[], &steps);
}
