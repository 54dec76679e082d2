//! Call stacks, made from numbers: the same number gives the same frames, different numbers
//! different frames.
//!
//! How varied stacks are decides how much memory and time a reader needs. In a recording of a .NET
//! test run on eight processors, with 20.0 frames in a mean stack, new ones get rare the longer it
//! lasts:
//!
//! | samples with a stack | distinct stacks | distinct parts of stacks |
//! |---|---|---|
//! | 526 | 459 | 5,394 |
//! | 1,578 | 1,049 | 7,897 |
//! | 3,156 | 1,505 | 9,337 |
//! | 5,786 | 1,826 | 9,897 |
//!
//! Measured with
//!
//! ```console
//! $ cargo run --release -p etwkit-synth --example distinct_stacks -- net.4.5.2.x64.etl
//! ```
//!
//! A distinct stack adds 5.7 parts that no other had: stacks differ in their inner frames. And
//! there are 450 (n / 450)^0.6 distinct ones within a seventh, the power law that distinct words of
//! a text follow (Heaps). So the first [`ALL_NEW`] stacks of each program and kind are new, and
//! later ones with the chance that keeps to the law; the others repeat an earlier one of the same
//! program and kind, recent ones more often. That trace has no context switches; for their stacks
//! the same law is assumed.

use crate::plan::{Plan, reason};
use crate::rng::{Rng, mix};
use crate::table::{Module, Program, Table};

/// Number of stacks of a program and kind that are always new: 450 among the seven programs.
const ALL_NEW: u64 = 64;
/// Ten times the exponent of the law.
const GROWTH: u64 = 6;
/// Digits of a stack's number, one frame each.
const DIGITS: u32 = 6;
// Six digits of seven bits: four trillion stacks before two are equal, and each digit reaches less
// than 0x4_0000 bytes, the distance of two levels.
const DIGIT_BITS: u32 = 7;

const NTOSKRNL: Module = Module(0);
const NTDLL: Module = Module(2);
const KERNEL32: Module = Module(3);

/// Occasion at which a stack is taken. Different occasions never share a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A sample: anywhere in the program.
    Sample,
    /// A switch: in a wait with that reason.
    Wait(u8),
    /// A switch of a thread that did not wait: it was preempted, or is new.
    Resumed,
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
            Self::Resumed => 2 + usize::from(reason::EXECUTIVE),
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

impl Frames {
    /// Returns the address at which a thread is: in the kernel, if it is there. A stack without
    /// frames has address 0.
    pub(crate) fn innermost(&self) -> u64 {
        let first = self.kernel.first().or(self.user.first());
        first.copied().unwrap_or_default()
    }
}

/// Stacks of one program and kind so far.
#[derive(Debug, Clone, Copy, Default)]
struct Had {
    all: u64,
    /// Distinct stacks, numbered from 1.
    distinct: u64,
}

impl Had {
    /// Returns the number of the next stack.
    fn next(&mut self, rng: &mut Rng) -> u64 {
        self.all += 1;
        // The slope of the law n^0.6 at this point is 0.6 · distinct / all: in integers, since
        // floating point differs between platforms.
        let is_new = self.all <= ALL_NEW || rng.below(10 * self.all) < GROWTH * self.distinct;
        if is_new {
            self.distinct += 1;
            return self.distinct;
        }
        // All orders of magnitude of age are equally likely.
        let age = self.distinct >> rng.below(64 - u64::from(self.distinct.leading_zeros()));
        self.distinct - rng.below(age)
    }
}

/// The stacks of all programs.
#[derive(Debug)]
pub(crate) struct Stacks {
    modules: Table<Module, u64>,
    /// Executable of each program; the kernel for programs without.
    executables: Table<Program, u64>,
    /// Stacks of each program and kind so far.
    had: Table<Program, [Had; KINDS]>,
}

impl Stacks {
    pub(crate) fn new(plan: &Plan) -> Self {
        let base = |module: Option<&Module>| module.map_or(0, |module| plan.modules[*module].base);
        let own = |module: Option<&Module>| base(module.filter(|module| **module != NTDLL));
        Self {
            modules: plan.modules.iter().map(|(_, module)| module.base).collect(),
            executables: plan
                .programs
                .iter()
                .map(|(_, program)| own(program.modules.first()))
                .collect(),
            had: plan
                .programs
                .iter()
                .map(|_| [Had::default(); KINDS])
                .collect(),
        }
    }

    /// Samples' distinct stacks so far.
    pub(crate) fn distinct_of_samples(&self) -> u64 {
        self.had
            .iter()
            .map(|(_, [samples, ..])| samples.distinct)
            .sum()
    }

    /// Puts the frames of a stack of the program into `frames`.
    pub(crate) fn take(
        &mut self,
        program: Program,
        taken: Taken,
        rng: &mut Rng,
        frames: &mut Frames,
    ) {
        let Some(had) = self.had[program].get_mut(taken.index()) else {
            return;
        };
        let number = had.next(rng);
        frames.kernel.clear();
        frames.user.clear();
        let executable = self.executables[program];
        if executable == 0 {
            self.kernel_code(taken, number, &mut frames.kernel);
            self.digits(
                self.modules[NTOSKRNL] + 0x20_0000,
                number,
                &mut frames.kernel,
            );
            frames.kernel.push(self.modules[NTOSKRNL] + 0x3F_6BE8);
        } else {
            // A quarter of the samples is in a system call. The number decides this, so that equal
            // numbers stay equal stacks.
            if taken != Taken::Sample || mix(number).is_multiple_of(4) {
                self.kernel_code(taken, number, &mut frames.kernel);
            }
            self.user_code(executable, taken, number, &mut frames.user);
        }
    }

    /// Appends the inner frames of a stack in the kernel, from the innermost one to the system
    /// call.
    fn kernel_code(&self, taken: Taken, number: u64, out: &mut Vec<u64>) {
        let kernel = self.modules[NTOSKRNL];
        let (first, depth) = match taken {
            Taken::Sample => (0x10_0000 + 0x400 * (mix(number ^ 5) % 48), 3),
            Taken::Resumed => return self.kernel_code(Taken::Wait(reason::EXECUTIVE), number, out),
            Taken::Wait(reason) => (0x22_5000 + 0x800 * u64::from(reason), 9),
            Taken::Ready => (0x24_1000, 6),
        };
        out.extend((0..depth).map(|level| kernel + first + 0x2_0B10 * level + 0x1B));
        out.push(kernel + 0x40_8AB5);
    }

    /// Appends the user frames: a system call if the stack is in one, the frames that encode the
    /// number, helpers, the start of the thread.
    fn user_code(&self, executable: u64, taken: Taken, number: u64, out: &mut Vec<u64>) {
        let ntdll = self.modules[NTDLL];
        match taken {
            Taken::Sample => {}
            Taken::Resumed => {
                out.push(ntdll + 0x9_D000 + 0x20 * u64::from(reason::EXECUTIVE) + 0x14);
            }
            Taken::Wait(reason) => out.push(ntdll + 0x9_D000 + 0x20 * u64::from(reason) + 0x14),
            Taken::Ready => out.push(ntdll + 0x9_C2A4),
        }
        self.digits(executable + 0x10_0000, number, out);
        // The stacks of a few hundred numbers share one path.
        let helpers = mix(number >> 9) >> 32 & 7;
        out.extend(
            (0..6 + helpers).map(|level| executable + 0x2_1000 + 0x1A40 * (helpers * 12 + level)),
        );
        out.push(executable + 0x1500);
        out.push(self.modules[KERNEL32] + 0x1_7BD4);
        out.push(ntdll + 0x6_CED1);
    }

    /// Appends one frame for each digit of the number, the lowest one innermost.
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
    fn distinct_numbers_are_distinct_stacks_and_they_get_rare_as_they_do_in_the_recording() {
        let plan = crate::office::plan(&crate::Options::default());
        let mut stacks = Stacks::new(&plan);
        let (mut rng, mut frames) = (Rng::new(3), Frames::default());
        let mut seen = HashSet::new();
        let programs = [0, 1, 2, 3, 4, 5, 6].map(Program);
        let mut distinct = Vec::new();
        for round in 0..5786 {
            stacks.take(programs[round % 7], Taken::Sample, &mut rng, &mut frames);
            seen.insert((frames.kernel.clone(), frames.user.clone()));
            if [525, 1577, 3155, 5785].contains(&round) {
                distinct.push(seen.len());
            }
        }
        // Processes 0 and 4 have no executable and share the kernel's stacks.
        assert!(seen.len() as u64 <= stacks.distinct_of_samples());
        let recording = [459, 1049, 1505, 1826];
        for (ours, theirs) in distinct.into_iter().zip(recording) {
            assert!(
                ours.abs_diff(theirs) * 100 < theirs * 20,
                "{ours} and {theirs}"
            );
        }
    }

    #[test]
    fn frames_of_a_program_lie_in_its_image() {
        let plan = crate::office::plan(&crate::Options::default());
        let mut stacks = Stacks::new(&plan);
        let (mut rng, mut frames) = (Rng::new(3), Frames::default());
        let module = &plan.modules[Module(4)];
        stacks.take(Program(2), Taken::Sample, &mut rng, &mut frames);
        let image = module.base..module.base + u64::from(module.size);
        assert!(
            frames
                .user
                .iter()
                .filter(|address| image.contains(*address))
                .count()
                >= 10
        );
    }
}
