//! Things that look bad and are harmless: no rule may blame them.

mod input_output;
mod programs;
mod settings;

use super::scene::Scene;

/// Adds all of them.
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
