//! Symbol files: their form, where they lie, and that they name every frame.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use etwkit_etl::bytes::{u32_at, u64_at};
use etwkit_etl::{Guid, Identity, RawEvent};
use etwkit_synth::{Options, SymbolFile, find};

use super::kit::{SCRIPTED, open, seeded, visit, written};

/// A symbol file, read.
#[derive(Debug, Default)]
struct Symbols {
    /// By first offset: end, name.
    functions: BTreeMap<u32, (u32, String)>,
    publics: BTreeMap<u32, String>,
    inlined: Vec<String>,
}

fn hex(word: &str) -> u32 {
    u32::from_str_radix(word, 16).unwrap()
}

fn parse(file: &SymbolFile) -> Symbols {
    let [pdb, identity, sym] = file.path.split('/').collect::<Vec<_>>()[..] else {
        panic!("{}", file.path)
    };
    assert_eq!(sym.strip_suffix(".sym"), pdb.strip_suffix(".pdb"));
    assert_eq!(identity.len(), 33);
    let mut lines = file.text.lines();
    assert_eq!(
        lines.next(),
        Some(format!("MODULE windows x86_64 {identity} {pdb}").as_str())
    );
    let (mut symbols, mut files, mut origins) = (Symbols::default(), 0, Vec::new());
    // Where the next line record of the function has to begin, and where the function ends.
    let (mut next, mut end, mut start) = (0, 0, 0);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "FILE" => {
                assert_eq!(words[1], files.to_string());
                files += 1;
            }
            "INLINE_ORIGIN" => origins.push(words[2..].join(" ")),
            "FUNC" => {
                assert_eq!(next, end, "lines reach to the end of the function");
                (start, end) = (hex(words[1]), hex(words[1]) + hex(words[2]));
                next = start;
                assert_eq!(words[3], "0");
                assert!(
                    symbols
                        .functions
                        .insert(start, (end, words[4..].join(" ")))
                        .is_none()
                );
            }
            "PUBLIC" => drop(symbols.publics.insert(hex(words[1]), words[3..].join(" "))),
            "INLINE" => {
                let (at, len) = (hex(words[5]), hex(words[6]));
                assert!(start <= at && at + len <= end);
                symbols
                    .inlined
                    .push(origins[words[4].parse::<usize>().unwrap()].clone());
            }
            _ => {
                assert_eq!(hex(words[0]), next);
                next += hex(words[1]);
                assert!(
                    words[2].parse::<u32>().unwrap() > 0
                        && words[3].parse::<u32>().unwrap() < files
                );
            }
        }
    }
    assert_eq!(next, end);
    let ends: Vec<_> = symbols
        .functions
        .iter()
        .map(|(start, (end, _))| (*start, *end))
        .collect();
    assert!(
        ends.windows(2).all(|w| w[0].1 <= w[1].0),
        "functions overlap"
    );
    symbols
}

/// An image of a process: base, size, file name; identity of its PDB.
#[derive(Debug, Clone)]
struct Image {
    base: u64,
    size: u64,
    name: String,
    pdb: String,
}

#[derive(Default)]
struct Images {
    by_process: HashMap<u32, Vec<Image>>,
    identities: HashMap<(u32, u64), String>,
}

fn wide(bytes: &[u8]) -> String {
    let units = bytes
        .chunks_exact(2)
        .map(|c| u16::from_le_bytes([c[0], c[1]]));
    String::from_utf16(&units.take_while(|unit| *unit != 0).collect::<Vec<_>>()).unwrap()
}

impl Images {
    fn take(&mut self, event: &RawEvent<'_>) {
        let p = event.payload();
        match (event.identity(), event.hook_id()) {
            (_, Some(0x030A | 0x1403)) => {
                let (base, pid) = (u64_at(p, 0).unwrap(), u32_at(p, 16).unwrap());
                let name = wide(&p[56..]).rsplit('\\').next().unwrap().to_owned();
                let pdb = self
                    .identities
                    .remove(&(pid, base))
                    .expect("an identity in front of each image");
                let image = Image {
                    base,
                    size: u64_at(p, 8).unwrap(),
                    name,
                    pdb,
                };
                self.by_process.entry(pid).or_default().push(image);
            }
            (Identity::Classic { opcode: 36, .. }, _) if event.hook_id().is_none() => {
                let guid = Guid::from_bytes(p[12..28].try_into().unwrap()).to_string();
                let name = String::from_utf8(p[32..p.len() - 1].to_vec()).unwrap();
                let id = format!(
                    "{}{:X}",
                    guid.replace('-', "").to_uppercase(),
                    u32_at(p, 28).unwrap()
                );
                let path = format!("{name}/{id}/{}.sym", name.strip_suffix(".pdb").unwrap());
                self.identities
                    .insert((u32_at(p, 8).unwrap(), u64_at(p, 0).unwrap()), path);
            }
            _ => {}
        }
    }

    fn at(&self, pid: u32, address: u64) -> &Image {
        let of = |pid| self.by_process.get(&pid).into_iter().flatten();
        of(pid)
            .chain(of(0))
            .find(|i| (i.base..i.base + i.size).contains(&address))
            .expect("an image")
    }
}

#[test]
fn each_image_with_code_has_a_file_that_is_well_formed() {
    for scenario in SCRIPTED {
        let files = find(scenario)
            .unwrap()
            .symbols(&Options::default())
            .unwrap();
        assert!(files.len() > 10, "{scenario}");
        assert!(files.iter().all(|file| !parse(file).functions.is_empty()));
        let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), files.len());
        // The seed and the scale change nothing.
        let other = find(scenario)
            .unwrap()
            .symbols(&Options {
                scale: 3,
                ..seeded(9, true)
            })
            .unwrap();
        assert_eq!(files, other, "{scenario}");
    }
    assert!(
        find("office")
            .unwrap()
            .symbols(&Options::default())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn names_are_those_that_windows_tools_print() {
    let files = find("git-bash")
        .unwrap()
        .symbols(&Options::default())
        .unwrap();
    let of = |pdb: &str| parse(files.iter().find(|f| f.path.starts_with(pdb)).unwrap());
    let names = |symbols: &Symbols| {
        symbols
            .functions
            .values()
            .map(|f| f.1.clone())
            .collect::<BTreeSet<_>>()
    };
    let kernel = of("ntkrnlmp.pdb/");
    assert!(names(&kernel).contains("NtCreateUserProcess"));
    assert!(
        kernel
            .publics
            .values()
            .any(|name| name == "KiSystemServiceCopyEnd")
    );
    assert!(names(&of("fltMgr.pdb/")).contains("FltpPerformPreCallbacks"));
    let engine = of("nwengine.pdb/");
    assert!(names(&engine).contains("CScanEngine::ScanFile"));
    assert_eq!(engine.inlined, ["CSpan<unsigned char>::At"]);
}

#[test]
fn builds_with_other_code_have_other_identities() {
    let kernels: BTreeSet<String> = SCRIPTED
        .iter()
        .map(|s| find(s).unwrap().symbols(&Options::default()).unwrap())
        .map(|files| {
            files
                .iter()
                .find(|f| f.path.starts_with("ntkrnlmp"))
                .unwrap()
                .path
                .clone()
        })
        .collect();
    assert!(kernels.len() > 1);
    for scenario in SCRIPTED {
        for other in SCRIPTED {
            let files = |s: &str| find(s).unwrap().symbols(&Options::default()).unwrap();
            for file in files(scenario) {
                if let Some(same) = files(other).iter().find(|f| f.path == file.path) {
                    assert_eq!(same.text, file.text, "{}", file.path);
                }
            }
        }
    }
}

#[test]
fn every_frame_of_every_stack_has_a_name() {
    for scenario in SCRIPTED {
        let files = find(scenario)
            .unwrap()
            .symbols(&Options::default())
            .unwrap();
        let symbols: HashMap<&str, Symbols> = files
            .iter()
            .map(|file| (file.path.as_str(), parse(file)))
            .collect();
        let (trace, truth) = written(scenario, &seeded(1, false));
        let session = open(trace);
        let mut images = Images::default();
        visit(&session, |event| images.take(event));
        let mut names = BTreeSet::new();
        visit(&session, |event| {
            if event.hook_id() != Some(0x1820) {
                return;
            }
            let p = event.payload();
            let pid = u32_at(p, 8).unwrap();
            for at in (16..p.len()).step_by(8) {
                let address = u64_at(p, at).unwrap();
                let image = images.at(pid, address);
                let rva = u32::try_from(address - image.base).unwrap();
                let of = &symbols[image.pdb.as_str()];
                let function = of
                    .functions
                    .range(..=rva)
                    .next_back()
                    .filter(|(_, (end, _))| rva < *end);
                let public = || of.publics.range(..=rva).next_back().map(|(_, name)| name);
                let name = function
                    .map(|(_, (_, name))| name)
                    .or_else(public)
                    .expect("a name");
                names.insert(format!("{}!{name}", image.name));
            }
        });
        // Functions that samples hit are in the truth, and among the names; DPCs have no stack.
        let expected: BTreeSet<String> = truth
            .functions
            .values()
            .flat_map(|f| f.keys().cloned())
            .collect();
        let missing: Vec<_> = expected.difference(&names).collect();
        assert!(
            missing.len() * 20 < expected.len() + 20,
            "{scenario}: {missing:?}"
        );
        assert!(
            names.len() > expected.len(),
            "switches and wakes have names, too"
        );
    }
}
