//! What a trace says of its modules: whose they are, by version record, folder and symbol file.

use etwkit_decode::kernel::merge::{FileVersion, IMAGE_ID, ImageInfo, image_id, parse_rsds};
use etwkit_decode::kernel::process::Process;
use etwkit_decode::kernel::{Hook, group, image, process};
use etwkit_decode::{Plan, Spans, clr};
use etwkit_etl::RawEvent;
use etwkit_etl::bytes::u64_at;
use rustc_hash::{FxHashMap, FxHashSet};

use super::known;
use super::path::{Trust, image_key, trust};
use super::text::{Subject, Texts};

/// The company of what is kept, as version records spell it. Templates of projects have
/// `Microsoft` alone, so that many programs of others have it, too.
const COMPANY: &str = "Microsoft Corporation";

/// Process and base address of an image.
type Place = (u32, u64);
/// Size and time stamp of an image, by which its version record is found.
type Build = (u32, u32);

/// Facts about modules and processes.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Paths in the order of their appearance.
    paths: Vec<String>,
    /// Index of each path.
    numbers: FxHashMap<String, usize>,
    /// Modules at each place, by the number of their path.
    at: FxHashMap<Place, FxHashSet<usize>>,
    builds: FxHashMap<Build, FxHashSet<Place>>,
    symbols: FxHashMap<Place, String>,
    companies: FxHashMap<Build, String>,
    /// Modules of each process, by the number of their path.
    of_process: FxHashMap<u32, FxHashSet<usize>>,
    /// Paths of .NET modules.
    runtime: FxHashMap<u64, usize>,
    verdicts: Vec<bool>,
}

impl Evidence {
    /// Learns from an event.
    pub(super) fn observe(&mut self, event: &RawEvent<'_>) {
        match Hook::of(event) {
            Some(hook) if hook.group == group::IMAGE && image::is_lifetime(hook.opcode) => {
                self.image(event, hook.version);
            }
            Some(_) => {}
            None if event.kind.is_classic() && event.provider() == IMAGE_ID => {
                self.identity(event);
            }
            None if event.kind.is_manifest() => self.module(event),
            None => {}
        }
    }

    fn image(&mut self, event: &RawEvent<'_>, version: u8) {
        let read = image::Image::parse(event.payload(), version, event.pointer_size());
        let Some(image) = read.map(|read| read.event) else {
            return;
        };
        // As in the importer: an image without a process is one of the kernel.
        let pid = image.pid.or(event.process_id()).unwrap_or_default();
        let number = self.number(&image.path);
        self.at.entry((pid, image.base)).or_default().insert(number);
        self.of_process.entry(pid).or_default().insert(number);
        if let Ok(size) = u32::try_from(image.size)
            && image.time_date_stamp != 0
        {
            self.build((size, image.time_date_stamp), (pid, image.base));
        }
    }

    fn build(&mut self, build: Build, place: Place) {
        self.builds.entry(build).or_default().insert(place);
    }

    fn number(&mut self, path: &str) -> usize {
        let key = image_key(path);
        let next = self.paths.len();
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.paths.push(key);
        }
        number
    }

    fn identity(&mut self, event: &RawEvent<'_>) {
        let payload = event.payload();
        match event.opcode() {
            image_id::INFO => {
                if let Some(info) = ImageInfo::parse(payload, event.pointer_size())
                    && let Ok(size) = u32::try_from(info.size)
                {
                    self.build((size, info.time_date_stamp), (info.pid, info.base));
                }
            }
            image_id::RSDS => {
                if let Some((base, pid, pdb)) = parse_rsds(payload, event.pointer_size()) {
                    self.symbols.insert((pid, base), pdb.name);
                }
            }
            image_id::FILE_VERSION => {
                if let Some(version) = FileVersion::parse(payload) {
                    let build = (version.size, version.time_date_stamp);
                    self.companies.insert(build, version.company_name);
                }
            }
            _ => {}
        }
    }

    fn module(&mut self, event: &RawEvent<'_>) {
        let descriptor = event.descriptor();
        let is_load = match event.provider() {
            clr::RUNTIME | clr::RUNDOWN => matches!(descriptor.id, 152..=154),
            _ => false,
        };
        if is_load && let Some(module) = clr::Module::parse(event.payload(), descriptor.version) {
            let number = self.number(&module.il_path);
            self.runtime.insert(module.module_id, number);
        }
    }

    /// Decides whose each module is, and gives the others their substitutes.
    pub(super) fn finish(&mut self, texts: &mut Texts) {
        let mut companies: Vec<Option<&str>> = vec![None; self.paths.len()];
        let mut symbols: Vec<Option<&str>> = vec![None; self.paths.len()];
        for (place, numbers) in &self.at {
            // Two modules at one place cannot be told apart.
            let [number] = numbers.iter().copied().collect::<Vec<_>>()[..] else {
                continue;
            };
            if let (Some(symbol), Some(name)) = (symbols.get_mut(number), self.symbols.get(place)) {
                *symbol = Some(name);
            }
        }
        for (build, places) in &self.builds {
            let Some(company) = self.companies.get(build) else {
                continue;
            };
            for number in places
                .iter()
                .filter_map(|place| self.at.get(place))
                .flatten()
            {
                if let Some(known) = companies.get_mut(*number) {
                    // One foreign record is enough for a path to be foreign.
                    *known = Some(known.filter(|known| *known != COMPANY).unwrap_or(company));
                }
            }
        }
        let facts = self.paths.iter().zip(companies).zip(symbols);
        self.verdicts = facts
            .map(|((path, company), symbols)| is_public(path, company, symbols))
            .collect();
        for (path, is_public) in self.paths.iter().zip(&self.verdicts) {
            let name = base(path);
            texts.images.insert(path.as_str().into(), *is_public);
            if *is_public {
                texts.modules.insert(name.into());
            }
        }
        let private = self.paths.iter().zip(&self.verdicts);
        for (path, _) in private.filter(|(_, is_public)| !**is_public) {
            let name = base(path);
            if !name.is_empty() && !texts.modules.contains(name) && !known::is_module(name) {
                texts.file(name);
            }
        }
    }

    /// The module or process that an event describes.
    pub(super) fn subject(&self, event: &RawEvent<'_>, plan: &Plan, spans: &mut Spans) -> Subject {
        if let Some(hook) = Hook::of(event) {
            let is_process = hook.group == group::PROCESS && process::is_lifetime(hook.opcode);
            return if is_process {
                self.process(event, hook.version)
            } else {
                Subject::Unknown
            };
        }
        let payload = event.payload();
        if event.kind.is_classic() && event.provider() == IMAGE_ID {
            return self.described(event.opcode(), payload, event.pointer_size());
        }
        let is_runtime =
            event.kind.is_manifest() && matches!(event.provider(), clr::RUNTIME | clr::RUNDOWN);
        match plan.field("ModuleID").filter(|_| is_runtime) {
            Some(field) => {
                plan.locate(payload, spans);
                let id = spans
                    .bytes(payload, field)
                    .and_then(|bytes| u64_at(bytes, 0));
                let number = id.and_then(|id| self.runtime.get(&id));
                number.map_or(Subject::Unknown, |number| self.of(&[*number]))
            }
            None => Subject::Unknown,
        }
    }

    fn described(&self, opcode: u8, payload: &[u8], pointer_size: usize) -> Subject {
        let place = match opcode {
            image_id::FILE_VERSION => {
                let build = FileVersion::parse(payload)
                    .map(|version| (version.size, version.time_date_stamp));
                let places = build.and_then(|build| self.builds.get(&build));
                let numbers: Vec<usize> = places
                    .into_iter()
                    .flatten()
                    .filter_map(|place| self.at.get(place))
                    .flatten()
                    .copied()
                    .collect();
                return self.of(&numbers);
            }
            image_id::INFO => {
                ImageInfo::parse(payload, pointer_size).map(|info| (info.pid, info.base))
            }
            _ => parse_rsds(payload, pointer_size).map(|(base, pid, _)| (pid, base)),
        };
        let numbers = place.and_then(|place| self.at.get(&place));
        let numbers: Vec<usize> = numbers.into_iter().flatten().copied().collect();
        self.of(&numbers)
    }

    /// Whose a process is: its image has its name.
    fn process(&self, event: &RawEvent<'_>, version: u8) -> Subject {
        let Some(read) = Process::parse(event.payload(), version, event.pointer_size()) else {
            return Subject::Unknown;
        };
        let name = read.event.name.to_lowercase();
        let of_process = self.of_process.get(&read.event.pid);
        let numbers: Vec<usize> = of_process
            .into_iter()
            .flatten()
            .copied()
            .filter(|number| {
                self.paths
                    .get(*number)
                    .is_some_and(|path| base(path) == name)
            })
            .collect();
        self.of(&numbers)
    }

    fn of(&self, numbers: &[usize]) -> Subject {
        let mut verdicts = numbers
            .iter()
            .filter_map(|number| self.verdicts.get(*number));
        if numbers.is_empty() {
            Subject::Unknown
        } else if verdicts.all(|is_public| *is_public) {
            Subject::Public
        } else {
            Subject::Private
        }
    }
}

fn base(path: &str) -> &str {
    path.rsplit('\\').next().unwrap_or(path)
}

/// True if a module is Microsoft's beyond doubt, and its name may be kept.
fn is_public(path: &str, company: Option<&str>, symbols: Option<&str>) -> bool {
    let name = base(path);
    let is_known = known::is_module(name);
    // Public builds name their symbol file without a folder.
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let has_own_symbols = symbols.is_some_and(|symbols| {
        let file = base(symbols).to_lowercase();
        file.starts_with(stem) || stem == "ntoskrnl"
    });
    let is_bare = symbols.is_none_or(|symbols| !symbols.contains(['\\', '/']));
    let is_assembly = path.contains(r"\assembly\") || path.contains(r".app\");
    let is_framework = is_assembly && known::is_assembly(stem.trim_end_matches(".ni"));
    match (trust(path), company) {
        (Trust::Windows | Trust::DriverStore, Some(COMPANY)) => is_known || is_bare,
        (Trust::Other, Some(COMPANY)) => is_known && has_own_symbols,
        // Parts of Windows that others wrote are on the list.
        (Trust::Windows, Some("") | None) => is_known || is_framework,
        (_, Some(_)) | (Trust::DriverStore | Trust::Other, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_of_windows_by_folder_version_and_symbols() {
        const MS: Option<&str> = Some("Microsoft Corporation");
        for (path, company, symbols, expected) in [
            (r"\windows\system32\ntdll.dll", None, None, true),
            (r"\windows\system32\ntdll.dll", MS, Some("ntdll.pdb"), true),
            (
                r"\windows\system32\newpart.dll",
                MS,
                Some("newpart.pdb"),
                true,
            ),
            (
                r"\windows\system32\newpart.dll",
                MS,
                Some(r"c:\me\newpart.pdb"),
                false,
            ),
            (
                r"\windows\system32\newpart.dll",
                None,
                Some("newpart.pdb"),
                false,
            ),
            (
                r"\windows\system32\drivers\scan.sys",
                Some("Scan Ltd"),
                Some("scan.pdb"),
                false,
            ),
            (
                r"\windows\system32\drivers\ntfs.sys",
                Some("Scan Ltd"),
                Some("ntfs.pdb"),
                false,
            ),
            (
                r"\windows\system32\drivers\scan.sys",
                Some("Microsoft"),
                Some("scan.pdb"),
                false,
            ),
            (
                r"\windows\system32\driverstore\filerepository\a.inf_1\a.sys",
                None,
                None,
                false,
            ),
            (r"\windows\temp\ntdll.dll", MS, Some("other.pdb"), false),
            (r"\users\me\ntdll.dll", None, Some("ntdll.pdb"), false),
            (r"\users\me\ntdll.dll", MS, None, false),
            (r"\users\me\ntdll.dll", MS, Some("ntdll.pdb"), true),
            (r"\users\me\mine.dll", MS, Some("mine.pdb"), false),
            (r"\program files\scan\scan.exe", MS, Some("scan.pdb"), false),
        ] {
            assert_eq!(
                is_public(path, company, symbols),
                expected,
                "{path} {company:?}"
            );
        }
    }
}
