//! Card 29: a program that is bound to a processor records from a device, whose driver takes
//! milliseconds for each DPC on that processor. In the twin each DPC takes some microseconds.

use super::scene::{Planted, Scene, keep, root};
use super::{Card, Named};
use crate::act::Act;
use crate::plan::DevicePlan;
use crate::scenarios::windows::{SLEEPS, SYSCALL};
use crate::script::Step;
use crate::table::{Cpu, Device};

pub(super) const CARD: Card = Card {
    number: 29,
    name: "dpc-storm",
    rule: "dpc-storm",
    description: "the DPCs of a driver keep the one processor on which a program may compute",
    named: Named::WithCost,
    seconds: 11,
    plant,
};

/// Pieces of work of the victim.
const PIECES: usize = 40;
/// Frames of a DPC below the routine of the driver.
const DPC: &str = "nt!KiRetireDpcList nt!KiExecuteAllDpcs";

fn plant(scene: &mut Scene) -> Planted {
    let maker = scene.maker();
    let driver = scene.driver(maker);
    let cpu = Cpu(usize::from(scene.b.cpus().min(3)) - 1);
    let dpc_us = match scene.is_sick() {
        true => (scene.strong(4_000), scene.strong(6_000)),
        false => (8, 45),
    };
    let device = device(scene, driver.alias, Some(cpu), (dpc_us, (8_000, 14_000)));
    let image = scene.product();
    let program = scene.process(image, "/record", &[]);
    let main = root(image, "CRecorder::Run");
    let thread = scene
        .b
        .thread(program, 10, &format!("{}!CRecorder::Run", image.alias));
    scene.b.is_bound(thread, cpu);
    let works = scene.b.code(
        &[&main],
        &[
            &format!("{}!CRecorder::Filter", image.alias),
            "ntdll!memcpy",
        ],
    );
    let controls = format!(
        "KERNELBASE!DeviceIoControl ntdll!NtDeviceIoControlFile {SYSCALL} \
         nt!NtDeviceIoControlFile nt!IofCallDriver {}!DispatchControl",
        driver.alias
    );
    let controls = scene.b.path(&[&main, &controls]);
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let mut work = vec![Step::Act(controls, Act::DeviceOn(device))];
    for _ in 0..PIECES {
        let piece = scene.draw(80_000, 120_000);
        work.push(Step::Run(works, piece, piece));
    }
    work.push(Step::Act(controls, Act::DeviceOff(device)));
    let mut steps = vec![Step::Sleep(sleeps, 400_000, 600_000)];
    steps.extend(scene.operation(scene.acts(work)));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(works, 100, 200),
        ],
    );
    Planted {
        culprit: driver.name.to_owned(),
        victims: vec![program],
    }
}

/// Adds a device with its driver: the processor that it interrupts, and the durations of its DPCs
/// and of the pauses between them, in microseconds. Half of the drivers are called by the library
/// of Windows for network adapters, which then has the routine.
pub(super) fn device(
    scene: &mut Scene,
    driver: &str,
    cpu: Option<Cpu>,
    (dpc_us, pause_us): ((u32, u32), (u32, u32)),
) -> Device {
    scene.windows("ndis.sys");
    let own = format!("{driver}!HandleInterrupt");
    let is_adapter = scene.draw(0, 1) == 1;
    let (isr, dpc, frames) = match is_adapter {
        true => (
            "ndis!ndisMiniportMessageIsr",
            "ndis!ndisInterruptDpc",
            keep(format!("ndis!ndisInterruptDpc {own}")),
        ),
        false => (keep(format!("{driver}!Isr")), keep(own.clone()), keep(own)),
    };
    let plan = DevicePlan {
        cpu,
        isr: scene.b.function(isr),
        dpc: scene.b.function(dpc),
        path: scene.b.path(&[DPC, frames]),
        dpc_us,
        pause_us,
    };
    scene.b.device(plan)
}
