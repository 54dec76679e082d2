//! Functions with names: their places in their images, and the call stacks that lead to them.
//!
//! A stack is text, the outermost frame first: `"ntdll!RtlUserThreadStart bash!main"`. Functions
//! get their place when the plan is complete; the identity of a PDB follows from the names in it,
//! so that other functions are another build.

use std::collections::HashMap;

use etwkit_etl::Guid;

use crate::plan::ModulePlan;
use crate::rng::mix;
use crate::table::{Function, Module, Path, Table};

/// First byte of code in an image.
const TEXT: u32 = 0x1000;
/// Bytes of the smallest function.
const MIN_SIZE: u32 = 0x120;
/// Steps of 16 bytes by which the largest one is larger.
const SIZES: u64 = 96;

/// A function.
#[derive(Debug, Clone)]
pub(crate) struct FunctionPlan {
    pub(crate) module: Module,
    pub(crate) name: String,
    /// Offset in the image.
    pub(crate) rva: u32,
    pub(crate) size: u32,
}

/// A call stack.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathPlan {
    /// Outermost first.
    pub(crate) functions: Vec<Function>,
    /// Addresses in the kernel, innermost first.
    pub(crate) kernel: Vec<u64>,
    /// Addresses in user mode, innermost first.
    pub(crate) user: Vec<u64>,
}

/// All functions and stacks of a plan.
#[derive(Debug, Default)]
pub(crate) struct CodeMap {
    pub(crate) functions: Table<Function, FunctionPlan>,
    pub(crate) paths: Table<Path, PathPlan>,
    by_name: HashMap<(Module, String), Function>,
    by_text: HashMap<String, Path>,
}

impl CodeMap {
    /// Returns the stack of these parts, each a text of frames with blanks between them,
    /// `module!function`.
    pub(crate) fn path(&mut self, modules: &Table<Module, ModulePlan>, parts: &[&str]) -> Path {
        let text = parts.join(" ");
        if let Some(path) = self.by_text.get(&text) {
            return *path;
        }
        let functions = text
            .split_whitespace()
            .map(|frame| self.function(modules, frame))
            .collect();
        let path = self.paths.push(PathPlan {
            functions,
            ..PathPlan::default()
        });
        self.by_text.insert(text, path);
        path
    }

    /// Returns the function of that name, `module!function`.
    pub(crate) fn function(
        &mut self,
        modules: &Table<Module, ModulePlan>,
        frame: &str,
    ) -> Function {
        let (alias, name) = frame.split_once('!').unwrap_or(("", frame));
        let module = modules.iter().find(|(_, plan)| plan.alias == alias);
        // Scenarios are data of this crate: a wrong name is found by the tests, and a release build
        // gives the kernel the function.
        debug_assert!(module.is_some(), "no module for {frame}");
        let module = module.map_or(Module(0), |(module, _)| module);
        *self
            .by_name
            .entry((module, name.to_owned()))
            .or_insert_with(|| {
                self.functions.push(FunctionPlan {
                    module,
                    name: name.to_owned(),
                    rva: 0,
                    size: 0,
                })
            })
    }

    /// Assigns addresses to the functions and the stacks. After this, the identity of an image
    /// depends on its content.
    pub(crate) fn lay_out(&mut self, modules: &mut Table<Module, ModulePlan>) {
        for module in modules.keys() {
            let functions: Vec<Function> = self.of(module).collect();
            // Functions are spread evenly over the text, and begin where compilers would align
            // them.
            let stride = ((modules[module].size - 2 * TEXT) / (functions.len() as u32 + 1)) & !0xF;
            for (function, place) in functions.into_iter().zip(0..) {
                let plan = &mut self.functions[function];
                plan.rva = TEXT + place * stride;
                plan.size = MIN_SIZE + 16 * (hash(&plan.name) % SIZES) as u32;
                modules[module].identity = mix(modules[module].identity ^ hash(&plan.name));
            }
        }
        for path in self.paths.keys() {
            let functions = self.paths[path].functions.clone();
            let (mut kernel, mut user) = (Vec::new(), Vec::new());
            // Paths are written outermost first, stacks innermost first.
            for (position, function) in functions.iter().enumerate().rev() {
                let address =
                    self.call_site(modules, *function, functions.get(position + 1).copied());
                if modules[self.functions[*function].module].is_kernel() {
                    &mut kernel
                } else {
                    &mut user
                }
                .push(address);
            }
            self.paths[path] = PathPlan {
                functions,
                kernel,
                user,
            };
        }
    }

    /// Returns the offset at which a function calls another one: always the same.
    fn call_site(
        &self,
        modules: &Table<Module, ModulePlan>,
        caller: Function,
        callee: Option<Function>,
    ) -> u64 {
        let plan = &self.functions[caller];
        let callee = callee.map_or(0, |callee| hash(&self.functions[callee].name));
        // A call takes five bytes, and the return address follows it.
        let offset = 5 + mix(hash(&plan.name) ^ callee.rotate_left(1)) % u64::from(plan.size - 5);
        modules[plan.module].base + u64::from(plan.rva) + offset
    }

    /// Start of a function.
    pub(crate) fn address(&self, modules: &Table<Module, ModulePlan>, function: Function) -> u64 {
        let plan = &self.functions[function];
        modules[plan.module].base + u64::from(plan.rva)
    }

    /// Functions of an image, in the order of their places.
    pub(crate) fn of(&self, module: Module) -> impl Iterator<Item = Function> {
        self.functions
            .iter()
            .filter(move |(_, plan)| plan.module == module)
            .map(|(function, _)| function)
    }
}

/// FNV-1a.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// Identity of the PDB of an image.
pub(crate) fn pdb_guid(plan: &ModulePlan) -> Guid {
    let (low, high) = (
        mix(plan.identity.wrapping_add(100)),
        mix(plan.identity.wrapping_add(200)),
    );
    Guid::from_bytes((u128::from(high) << 64 | u128::from(low)).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, SCENARIOS};

    #[test]
    fn functions_lie_in_their_images_one_behind_the_other() {
        for scenario in &SCENARIOS {
            let plan = scenario.plan(&Options::default()).unwrap();
            for (module, image) in plan.modules.iter() {
                let mut end = TEXT;
                for function in plan.code.of(module) {
                    let FunctionPlan {
                        rva, size, name, ..
                    } = &plan.code.functions[function];
                    assert!(
                        *rva >= end && rva + size <= image.size,
                        "{}!{name}",
                        image.alias
                    );
                    end = rva + size;
                }
            }
        }
    }

    #[test]
    fn images_of_a_process_do_not_overlap() {
        for scenario in &SCENARIOS {
            let plan = scenario.plan(&Options::default()).unwrap();
            for (_, program) in plan.programs.iter() {
                let ranges = program.modules.iter().map(|module| {
                    let image = &plan.modules[*module];
                    (image.base, image.base + u64::from(image.size), image.name)
                });
                let mut ranges: Vec<_> = ranges.collect();
                ranges.sort_unstable();
                assert!(
                    ranges.windows(2).all(|w| w[0].1 <= w[1].0),
                    "{}: {ranges:x?}",
                    program.name
                );
            }
        }
    }

    #[test]
    fn a_process_has_the_images_of_all_frames_of_its_threads() {
        for scenario in &SCENARIOS {
            let plan = scenario.plan(&Options::default()).unwrap();
            let kernel = plan.programs.iter().next().unwrap().1.modules;
            for (_, thread) in plan.threads.iter() {
                let images = plan.programs[thread.program].modules;
                let Some(script) = thread.script else {
                    continue;
                };
                for path in plan.scripts[script].paths(&plan.codes) {
                    for function in &plan.code.paths[path].functions {
                        let FunctionPlan { module, name, .. } = &plan.code.functions[*function];
                        let known = images.contains(module) || kernel.contains(module);
                        assert!(known, "{name} in {}", plan.programs[thread.program].name);
                    }
                }
            }
        }
    }
}
