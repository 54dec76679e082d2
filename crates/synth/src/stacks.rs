//! Call stacks, made from numbers: the same number gives the same frames, different numbers different frames.
//!
//! How varied stacks are decides how much memory and time a reader needs. In a recording of a .NET test run on eight
//! processors, 2049 of the 6318 samples with a stack have one that no sample had before: 0.324, with 20.0 frames
//! each. Measured with
//!
//! ```console
//! $ cargo run --release -p etwkit-synth --example distinct_stacks -- net.4.5.2.x64.etl
//! ```
//!
//! So [`NEW_PER_MILLE`] of all stacks are new, however long the trace gets; the others repeat one of the latest
//! [`RECENT`] of the same program and kind. That trace has no context switches; for theirs the same rate is assumed.

use crate::plan::Plan;
use crate::rng::{Rng, mix};
use crate::table::{Module, Program, Table};

/// Stacks that no event had before, in a thousand.
pub(crate) const NEW_PER_MILLE: u64 = 324;
/// Stacks of a program that come again.
const RECENT: u64 = 64;
/// Digits of a stack's number, one frame each.
const DIGITS: u32 = 6;
const DIGIT_BITS: u32 = 7;

const NTOSKRNL: Module = Module(0);
const STORPORT: Module = Module(1);
const NTDLL: Module = Module(2);
const KERNEL32: Module = Module(3);

/// What a stack is taken at; the stacks of one are never those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A sample: anywhere in the program.
    Sample,
    /// A switch: in a wait with that reason.
    Wait(u8),
    /// In a system call that readies another thread.
    Ready,
}

/// Kinds of stacks: samples, readying, and one for each reason of a wait.
const KINDS: usize = 48;

impl Taken {
    fn index(self) -> usize {
        match self {
            Self::Sample => 0,
            Self::Ready => 1,
            Self::Wait(reason) => (2 + usize::from(reason)).min(KINDS - 1),
        }
    }
}

/// Frames, innermost first.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) kernel: Vec<u64>,
    pub(crate) user: Vec<u64>,
}

/// The stacks of all programs.
#[derive(Debug)]
pub(crate) struct Stacks {
    modules: Table<Module, u64>,
    /// Executable of each program; the kernel for programs without.
    executables: Table<Program, u64>,
    /// The latest number of each program for each kind.
    latest: Table<Program, [u64; KINDS]>,
}

impl Stacks {
    pub(crate) fn new(plan: &Plan) -> Self {
        let base = |module: Option<&Module>| module.map_or(0, |module| plan.modules[*module].base);
        let own = |module: Option<&Module>| base(module.filter(|module| **module != NTDLL));
        Self {
            modules: plan.modules.iter().map(|(_, module)| module.base).collect(),
            executables: plan.programs.iter().map(|(_, program)| own(program.modules.first())).collect(),
            latest: plan.programs.iter().map(|_| [0; KINDS]).collect(),
        }
    }

    /// Samples' distinct stacks so far.
    pub(crate) fn distinct_of_samples(&self) -> u64 {
        self.latest.iter().map(|(_, [samples, ..])| *samples).sum()
    }

    /// An address in a driver, as a DPC has it.
    pub(crate) fn driver_address(&self, rng: &mut Rng) -> u64 {
        self.modules[STORPORT] + 0x2000 + 4 * rng.below(64)
    }

    /// An address of the idle loop.
    pub(crate) fn idle_address(&self) -> u64 {
        self.modules[NTOSKRNL] + 0x3F_B2DF
    }

    /// Puts the frames of a stack of the program into `frames`.
    pub(crate) fn take(&mut self, program: Program, taken: Taken, rng: &mut Rng, frames: &mut Frames) {
        let Some(latest) = self.latest[program].get_mut(taken.index()) else { return };
        let number = if *latest == 0 || rng.chance(NEW_PER_MILLE) {
            *latest += 1;
            *latest
        } else {
            *latest - rng.below(RECENT.min(*latest))
        };
        frames.kernel.clear();
        frames.user.clear();
        let executable = self.executables[program];
        if executable == 0 {
            self.kernel_code(taken, number, &mut frames.kernel);
            self.digits(self.modules[NTOSKRNL] + 0x20_0000, number, &mut frames.kernel);
            frames.kernel.push(self.modules[NTOSKRNL] + 0x3F_6BE8);
        } else {
            if taken != Taken::Sample || mix(number).is_multiple_of(4) {
                self.kernel_code(taken, number, &mut frames.kernel);
            }
            self.user_code(executable, taken, number, &mut frames.user);
        }
    }

    /// The inner frames of a stack that is in the kernel: what it does there, down to the system call.
    fn kernel_code(&self, taken: Taken, number: u64, out: &mut Vec<u64>) {
        let kernel = self.modules[NTOSKRNL];
        let (first, depth) = match taken {
            Taken::Sample => (0x10_0000 + 0x400 * (mix(number ^ 5) % 48), 3),
            Taken::Wait(reason) => (0x22_5000 + 0x800 * u64::from(reason), 9),
            Taken::Ready => (0x24_1000, 6),
        };
        out.extend((0..depth).map(|level| kernel + first + 0x2_0B10 * level + 0x1B));
        out.push(kernel + 0x40_8AB5);
    }

    /// The user frames: a system call if the stack is in one, helpers, the frames that tell the number, the start
    /// of the thread.
    fn user_code(&self, executable: u64, taken: Taken, number: u64, out: &mut Vec<u64>) {
        let ntdll = self.modules[NTDLL];
        match taken {
            Taken::Sample => {}
            Taken::Wait(reason) => out.push(ntdll + 0x9_D000 + 0x20 * u64::from(reason) + 0x14),
            Taken::Ready => out.push(ntdll + 0x9_C2A4),
        }
        let helpers = mix(number) >> 32 & 7;
        out.extend((0..6 + helpers).map(|level| executable + 0x2_1000 + 0x1A40 * (helpers * 12 + level)));
        self.digits(executable + 0x10_0000, number, out);
        out.push(executable + 0x1500);
        out.push(self.modules[KERNEL32] + 0x1_7BD4);
        out.push(ntdll + 0x6_CED1);
    }

    /// One frame for each digit of the number, the lowest one innermost.
    fn digits(&self, base: u64, number: u64, out: &mut Vec<u64>) {
        out.extend((0..DIGITS).map(|level| {
            let digit = number >> (level * DIGIT_BITS) & ((1 << DIGIT_BITS) - 1);
            base + 0x4_0000 * u64::from(level) + 0x600 * digit + 0x52
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn distinct_numbers_are_distinct_stacks_and_the_rate_holds() {
        let plan = crate::office::plan();
        let mut stacks = Stacks::new(&plan);
        let (mut rng, mut frames) = (Rng::new(3), Frames::default());
        let mut seen = HashSet::new();
        let programs = [1, 2, 3, 4].map(Program);
        for round in 0..40_000 {
            stacks.take(programs[round % 4], Taken::Sample, &mut rng, &mut frames);
            seen.insert((frames.kernel.clone(), frames.user.clone()));
        }
        assert_eq!(seen.len() as u64, stacks.distinct_of_samples());
        assert!((12_500..13_500).contains(&seen.len()), "{}", seen.len());
        let size = plan.modules[Module(4)].size;
        let inside = |address: &u64| (plan.modules[Module(4)].base..).contains(address);
        stacks.take(Program(2), Taken::Sample, &mut rng, &mut frames);
        let own =
            frames.user.iter().filter(|a| inside(a) && **a - plan.modules[Module(4)].base < size.into());
        assert!(own.count() >= 10, "frames lie in the image");
    }
}
