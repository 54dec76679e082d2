//! State that a console keeps between lines.

use std::cell::RefCell;
use std::rc::Rc;

use etwkit_engine::Engine;

use super::gate::Running;
use super::set::Set;
use super::settings::Settings;

/// A console.
pub(super) struct Console {
    pub(super) set: Rc<RefCell<Set>>,
    pub(super) settings: Settings,
    pub(super) engine: Engine,
    pub(super) running: Running,
    pub(super) is_interactive: bool,
}
