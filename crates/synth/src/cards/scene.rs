//! The machine for cards: images of Windows, a little noise, and the additions of the cards.

use std::borrow::Cow;

use etwkit_etl::Guid;

use super::decoys;
use super::names::Names;
use super::{Card, Case};
use crate::plan::{Maker, ModulePlan, Plan, PowerPlan, ProgramPlan};
use crate::rng::{Rng, mix};
use crate::scenarios::windows::{
    DRIVERS, MICROSOFT, SYSTEM32, USER, background, image, kernel_images, machine, service,
    user_program,
};
use crate::script::{Builder, Step};
use crate::table::{Code, Module, Path, Program, Thread};

/// First addresses of added images: executables, libraries, drivers.
const EXECUTABLES: u64 = 0x7FF7_4000_0000;
const LIBRARIES: u64 = 0x7FF9_8000_0000;
const KERNEL: u64 = 0xFFFF_F807_4000_0000;
/// Bytes from one image to the next, and of one.
const APART: u64 = 0x0040_0000;
const SIZE: u32 = 0x0020_0000;
/// Events that every case records in addition to the events of all traces, so that every rule can
/// run: hard faults, the registry, handles.
const RECORDED: &[(usize, u32)] = &[(0, 0x2000 | 0x2_0000), (4, 0x40)];
/// Events that cases with one of the newest cards also record: packets.
const RECORDED_BY_NEWEST: &[(usize, u32)] = &[(0, 0x1_0000)];
/// The personality of the power scheme, and its usual value.
const PERSONALITY: Guid = Guid::literal("245d8541-3943-4422-b025-13a784f679b7");
const BALANCED: &[u8] = &Guid::literal("381b4222-f694-41f0-9685-ff5bb260df2e").to_bytes();
/// Images that every program maps.
const COMMON: [&str; 3] = ["ntdll.dll", "kernel32.dll", "KernelBase.dll"];

/// Returns text that lives as long as the program: plans need static names, and the names of a card
/// are generated.
pub(crate) fn keep(text: impl Into<Cow<'static, str>>) -> &'static str {
    match text.into() {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => Box::leak(text.into_boxed_str()),
    }
}

/// An image of a scene in addition to the images of Windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image {
    pub(crate) module: Module,
    /// Its name in frames: `alias!function`.
    pub(crate) alias: &'static str,
    /// File name.
    pub(crate) name: &'static str,
    /// Path as users know it.
    pub(crate) path: &'static str,
}

/// The culprit and its victims.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    /// The culprit: a driver, process, server, file or setting, as people name it.
    pub(crate) culprit: String,
    pub(crate) victims: Vec<Program>,
}

/// The card whose trace continues without the kernel.
pub(super) const TAKES_KERNEL: &str = "logger-taken";
/// Duration of the missing recording, in microseconds for each percent of strength.
const MISSING_US: u32 = 40_000;

/// A machine under construction.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) b: Builder,
    pub(crate) names: Names,
    rng: Rng,
    strength_percent: u32,
    is_sick: bool,
    operation: &'static str,
    /// Duration of the kernel recording, in microseconds.
    recorded_us: u32,
    kernel: Vec<Module>,
    added: u64,
}

impl Scene {
    /// Returns the plan of a case and its planted causes; `sick` has true for each card with its
    /// defect.
    pub(crate) fn play(case: &Case, sick: &[bool]) -> (Plan, Vec<Planted>) {
        let seconds = case
            .cards
            .iter()
            .map(|card| card.seconds)
            .max()
            .unwrap_or(1);
        // The recording ends after the work of all other cards, so that their costs are in the
        // trace.
        let is_taken = case.cards.iter().any(|card| card.name == TAKES_KERNEL);
        let missing_us = if is_taken {
            case.strength_percent.saturating_mul(MISSING_US)
        } else {
            0
        };
        let seconds = seconds + missing_us.div_ceil(1_000_000);
        let mut scene = Self {
            b: machine(case.cpus, seconds, &[], false),
            names: case
                .renamed
                .map_or_else(|| Names::new(case.seed), Names::strange),
            // Never drawn from: each card and the decoys set their own generator.
            rng: Rng::new(0),
            strength_percent: case.strength_percent,
            is_sick: false,
            operation: "",
            recorded_us: (seconds * 1_000_000).saturating_sub(missing_us),
            kernel: kernel_images().to_vec(),
            added: 0,
        };
        background(&mut scene.b);
        // Also if no card is about these: otherwise the recorded events would give the card away.
        scene.b.records(RECORDED);
        let has_card_from = |number: u8| case.cards.iter().any(|card| card.number >= number);
        if has_card_from(decoys::NEWEST_FROM) {
            scene.b.records(RECORDED_BY_NEWEST);
        }
        scene.b.power(PowerPlan {
            timers: Vec::new(),
            settings: vec![(PERSONALITY, BALANCED)],
        });
        let planted = case
            .cards
            .iter()
            .zip(sick)
            .map(|(card, sick)| scene.plant(case, card, *sick));
        let planted = planted.collect();
        if case.has_decoys {
            // Decoys come last and use their own random generator, so that they are the same with
            // every card, sick or healthy.
            scene.rng = Rng::new(case.seed ^ 0xDEC0);
            decoys::plant(&mut scene);
            if has_card_from(decoys::MORE_FROM) {
                decoys::plant_more(&mut scene);
            }
            if has_card_from(decoys::NEWEST_FROM) {
                decoys::plant_newest(&mut scene);
            }
            if has_card_from(decoys::LATEST_FROM) {
                decoys::plant_latest(&mut scene);
            }
        }
        let kernel = std::mem::take(&mut scene.kernel);
        scene
            .b
            .maps(Program(0), Box::leak(kernel.into_boxed_slice()));
        (scene.b.finish(), planted)
    }

    /// Adds the actors of a card. Its random numbers are its own: draws of other cards change
    /// nothing.
    fn plant(&mut self, case: &Case, card: &Card, is_sick: bool) -> Planted {
        self.rng = Rng::new(mix(case.seed) ^ u64::from(card.number));
        (self.is_sick, self.operation) = (is_sick, card.name);
        (card.plant)(self)
    }

    /// Returns the duration of the kernel recording, in microseconds.
    pub(crate) const fn recorded_us(&self) -> u32 {
        self.recorded_us
    }

    /// True if the defect is present; otherwise this is the healthy twin: the same actors with the
    /// same load.
    pub(crate) const fn is_sick(&self) -> bool {
        self.is_sick
    }

    /// Returns an amount of the defect at the chosen strength.
    pub(crate) const fn strong(&self, amount: u32) -> u32 {
        (amount as u64 * self.strength_percent as u64 / 100) as u32
    }

    /// Returns a number from `low` to `high`. The twin gets the same number if both draw it.
    pub(crate) const fn draw(&mut self, low: u32, high: u32) -> u32 {
        self.rng.between(low, high)
    }

    /// Returns the steps between two operations: some work and a rest, in microseconds.
    pub(crate) fn rests(
        &mut self,
        (sleeps, code): (Path, Code),
        work: (u32, u32),
        rest: (u32, u32),
    ) -> [Step; 2] {
        let rest = self.draw(rest.0, rest.1);
        [
            Step::Run(code, work.0, work.1),
            Step::Sleep(sleeps, rest, rest),
        ]
    }

    /// Sets the work of a thread: these steps once, and then little until the trace ends.
    pub(crate) fn idles_after(
        &mut self,
        thread: Thread,
        steps: &[Step],
        (sleeps, code): (Path, Code),
    ) {
        let idle = [
            Step::Sleep(sleeps, 300_000, 500_000),
            Step::Run(code, 100, 300),
        ];
        self.b.script(thread, steps, &idle);
    }

    /// Wraps the steps that the user waits for, whose additional length is the cost of the defect.
    pub(crate) fn operation(&self, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
        std::iter::once(Step::Begin(self.operation, None))
            .chain(steps)
            .chain([Step::End])
            .collect()
    }

    /// Wraps the steps with the defect: the cause acts from the start of the first one to the end
    /// of the last one. The twin has these steps without a cause.
    pub(crate) fn acts(&self, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
        self.acting(Step::Acts(self.operation), steps)
    }

    /// Wraps steps that the defect makes longer by keeping the thread from running: it acts
    /// whenever the thread could run and does not.
    pub(crate) fn acts_on_ready(&self, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
        self.acting(Step::ActsOnReady(self.operation), steps)
    }

    fn acting(&self, begins: Step, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
        let steps = steps.into_iter();
        if !self.is_sick {
            return steps.collect();
        }
        std::iter::once(begins)
            .chain(steps)
            .chain([Step::ActsNoMore])
            .collect()
    }

    /// Creates a company with a product.
    pub(crate) fn maker(&mut self) -> &'static Maker {
        let version = format!(
            "{}.{}.{}.0",
            self.draw(1, 14),
            self.draw(0, 9),
            self.draw(10, 990)
        );
        Box::leak(Box::new(Maker {
            company: keep(self.names.company()),
            product: keep(self.names.product()),
            version: keep(version),
            sources: r"D:\src\",
        }))
    }

    /// Adds a driver of a company, without symbols.
    pub(crate) fn driver(&mut self, maker: &'static Maker) -> Image {
        let alias = keep(self.names.driver());
        let image = self.image((alias, ".sys"), DRIVERS, KERNEL, (maker, true));
        // Drivers are mapped by the idle process, which has the images of the kernel. All of them
        // are known only when the scene is complete.
        self.kernel.push(image.module);
        image
    }

    /// Adds an executable of a company, with symbols.
    pub(crate) fn executable(&mut self, maker: &'static Maker) -> Image {
        let alias = keep(self.names.product());
        let folder = self.folder(maker);
        self.image((alias, ".exe"), folder, EXECUTABLES, (maker, false))
    }

    /// Adds an executable of a company that makes nothing else here.
    pub(crate) fn product(&mut self) -> Image {
        let maker = self.maker();
        self.executable(maker)
    }

    /// Adds a library of a company, with symbols.
    pub(crate) fn library(&mut self, maker: &'static Maker) -> Image {
        let alias = keep(self.names.word());
        let folder = self.folder(maker);
        self.image((alias, ".dll"), folder, LIBRARIES, (maker, false))
    }

    /// Adds a library with a well-known name, which its maker allows others to ship in their own
    /// folders.
    pub(crate) fn redistributed(&mut self, maker: &'static Maker, alias: &'static str) -> Image {
        let folder = self.folder(maker);
        self.image((alias, ".dll"), folder, LIBRARIES, (maker, false))
    }

    /// Returns a library or driver of Windows by its file name, and adds it if it is missing.
    /// Frames name it by the part before the dot.
    pub(crate) fn windows(&mut self, name: &'static str) -> Module {
        if let Some(module) = self.b.image(name) {
            return module;
        }
        let (alias, ending) = name.split_at(name.rfind('.').unwrap_or(name.len()));
        let is_driver = ending.eq_ignore_ascii_case(".sys");
        let (folder, base) = match is_driver {
            true => (DRIVERS, KERNEL),
            false => (
                SYSTEM32,
                if ending == ".exe" {
                    EXECUTABLES
                } else {
                    LIBRARIES
                },
            ),
        };
        let module = self
            .image((alias, ending), folder, base, (&MICROSOFT, false))
            .module;
        if is_driver {
            self.kernel.push(module);
        }
        module
    }

    fn folder(&self, maker: &Maker) -> (&'static str, &'static str) {
        // The legal form of a company is not part of its folder.
        let first = maker
            .company
            .split_once(' ')
            .map_or(maker.company, |(first, _)| first);
        let path = format!(r"Program Files\{first}\{}\", maker.product);
        (
            keep(format!(r"\Device\HarddiskVolume3\{path}")),
            keep(format!(r"C:\{path}")),
        )
    }

    fn image(
        &mut self,
        (alias, ending): (&'static str, &str),
        folder: (&'static str, &'static str),
        base: u64,
        (maker, is_nameless): (&'static Maker, bool),
    ) -> Image {
        let (name, pdb) = (
            keep(format!("{alias}{ending}")),
            keep(format!("{alias}.pdb")),
        );
        self.added += 1;
        let plan = image(
            (alias, name, pdb),
            folder,
            (base + APART * self.added, SIZE),
            maker,
        );
        // Addresses and identities follow from the order in which images are added, not from
        // chance.
        let identity = mix(self.added);
        let module = self.b.add_image(ModulePlan {
            is_nameless,
            identity,
            ..plan
        });
        Image {
            module,
            alias,
            name,
            path: keep(format!("{}{name}", folder.1)),
        }
    }

    /// Adds a process of the user with that executable, and with these libraries of Windows in
    /// addition to the usual ones.
    pub(crate) fn process(
        &mut self,
        image: Image,
        arguments: &str,
        libraries: &[&'static str],
    ) -> Program {
        let (ids, modules) = self.maps(image, libraries);
        let line = keep(
            format!("\"{}\" {arguments}", image.path)
                .trim_end()
                .to_owned(),
        );
        self.b
            .program(user_program((ids, 5120), image.name, line, modules))
    }

    /// Adds a process of the system.
    pub(crate) fn service(
        &mut self,
        image: Image,
        arguments: &str,
        libraries: &[&'static str],
    ) -> Program {
        let (ids, modules) = self.maps(image, libraries);
        let line = keep(
            format!("\"{}\" {arguments}", image.path)
                .trim_end()
                .to_owned(),
        );
        self.b
            .program(service((ids, 804), image.name, line, modules))
    }

    /// Adds a program of Windows that the user runs.
    pub(crate) fn windows_program(&mut self, name: &'static str) -> Program {
        let module = self.windows(name);
        let (ids, modules) = self.maps_module(module, &[]);
        let line = keep(format!(r"C:\Windows\system32\{name}"));
        self.b
            .program(user_program((ids, 5120), name, line, modules))
    }

    /// Adds a service in a `svchost.exe` of Windows, with its group and its library.
    pub(crate) fn windows_service(&mut self, group: &str, libraries: &[&'static str]) -> Program {
        let module = self.windows("svchost.exe");
        let (ids, modules) = self.maps_module(module, libraries);
        let line = keep(format!(r"C:\Windows\system32\svchost.exe -k {group} -p"));
        self.b
            .program(service((ids, 804), "svchost.exe", line, modules))
    }

    fn maps(&mut self, image: Image, libraries: &[&'static str]) -> (u32, &'static [Module]) {
        self.maps_module(image.module, libraries)
    }

    fn maps_module(
        &mut self,
        first: Module,
        libraries: &[&'static str],
    ) -> (u32, &'static [Module]) {
        let mut modules = vec![first];
        for name in COMMON.iter().chain(libraries) {
            modules.push(self.windows(name));
        }
        (self.b.id(), Box::leak(modules.into_boxed_slice()))
    }

    /// Adds a process that a step of its creator starts. Returns it with its first thread.
    pub(crate) fn child(
        &mut self,
        image: Image,
        parent: Program,
        arguments: &str,
        libraries: &[&'static str],
    ) -> (Program, Thread) {
        let (pid, modules) = self.maps(image, libraries);
        let line = keep(
            format!("\"{}\" {arguments}", image.path)
                .trim_end()
                .to_owned(),
        );
        let ids = (pid, self.b.pid(parent));
        let plan: ProgramPlan = user_program(ids, image.name, line, modules);
        let program = self.b.program(plan);
        let thread = self.b.thread(program, 8, &format!("{}!main", image.alias));
        self.b.is_started(thread);
        (program, thread)
    }
}

/// Returns the frames of a thread of that image from its start to this function of it.
pub(crate) fn root(image: Image, function: &str) -> String {
    format!("{USER} {}!{function}", image.alias)
}
