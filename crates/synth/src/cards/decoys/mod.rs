//! Things that look bad and are harmless: no rule may blame them.

mod input_output;
mod network;
mod processors;
mod programs;
mod settings;

use super::scene::Scene;

/// The first card with the decoys of [`plant_more`]. Traces of older cards have other decoys only,
/// so that they stay what documents show.
pub(super) const MORE_FROM: u8 = 29;

/// The first card with the decoys of [`plant_newest`].
pub(super) const NEWEST_FROM: u8 = 35;

/// The first card with the decoys of [`plant_latest`].
pub(super) const LATEST_FROM: u8 = 43;

/// Adds decoys about connections that have no request, and about processes that end.
pub(super) fn plant_latest(scene: &mut Scene) {
    network::messenger(scene);
    network::server(scene);
    network::poller(scene);
    programs::build(scene);
}

/// Adds decoys about slow devices, lost packets, parking and the runtime of .NET.
pub(super) fn plant_newest(scene: &mut Scene) {
    input_output::archive(scene);
    input_output::device(scene);
    network::download(scene);
    processors::spared(scene);
    programs::background_collector(scene);
    programs::warming_pool(scene);
}

/// Adds decoys about processors and locks.
pub(super) fn plant_more(scene: &mut Scene) {
    processors::device(scene);
    processors::compiler(scene);
    processors::locker(scene);
    processors::converter(scene);
}

/// Adds those that all cards have.
pub(super) fn plant(scene: &mut Scene) {
    programs::busy(scene);
    programs::window(scene);
    programs::collector(scene);
    programs::waker(scene);
    input_output::backup(scene);
    input_output::background_reader(scene);
    input_output::checkpoints(scene);
    input_output::first_faults(scene);
    settings::lookups(scene);
    settings::registry_reader(scene);
    settings::player(scene);
}
