//! Things that look bad and are harmless: no rule may blame them.

mod input_output;
mod processors;
mod programs;
mod settings;

use super::scene::Scene;

/// The first card with the decoys of [`plant_more`]. Traces of older cards have other decoys only,
/// so that they stay what documents show.
pub(super) const MORE_FROM: u8 = 29;

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
