//! Portable PDB files, built by hand from the specification.

use etwkit_etl::Guid;
use etwkit_symbols::portable::{Portable, SourceLine, embedded};
use etwkit_symbols::search_path::Defaults;
use etwkit_symbols::{Identity, Options, Outcome, SearchPath, Symbols};

use crate::{fixture, write};

const GUID: Guid = Guid::literal("0ad9b6fe-1f04-4bd4-9e69-73e6a6f2c1a3");

/// Two documents and three methods: one with lines, one without, one in two documents.
fn file() -> Vec<u8> {
    let mut blobs = vec![0];
    let mut blob = |bytes: &[u8]| -> u16 {
        let at = u16::try_from(blobs.len()).unwrap();
        blobs.push(u8::try_from(bytes.len()).unwrap());
        blobs.extend(bytes);
        at
    };
    let parts: Vec<u8> = ["src", "a.cs", "b.cs"]
        .iter()
        .map(|part| u8::try_from(blob(part.as_bytes())).unwrap())
        .collect();
    let a = blob(&[b'/', 0, parts[0], parts[1]]);
    let b = blob(&[b'/', parts[0], parts[2]]);
    // Signature 0; (IL 0, 10:5-10:6), (+1, hidden), (+6, 2 lines, columns back by 3, from 2 lines
    // on), (+200, the line before).
    let one = blob(&[
        0, 0, 0, 1, 10, 5, 1, 0, 0, 6, 2, 0x7B, 4, 0, 0x80, 200, 1, 0, 0x7F, 0,
    ]);
    // Signature 0, document 2 first; (IL 0, 7), then document 1, (+3, line 300).
    let two = blob(&[0, 2, 0, 0, 9, 7, 1, 0, 1, 3, 0, 9, 0x82, 0x4A, 0]);
    let mut tables = vec![0, 0, 0, 0, 2, 0, 0, 1];
    tables.extend((3_u64 << 0x30).to_le_bytes());
    tables.extend([0; 8]);
    for number in [2_u32, 3] {
        tables.extend(number.to_le_bytes());
    }
    for name in [a, b] {
        tables.extend(name.to_le_bytes());
        tables.extend([0; 6]);
    }
    for (document, points) in [(1_u16, one), (0, 0), (0, two)] {
        tables.extend(document.to_le_bytes());
        tables.extend(points.to_le_bytes());
    }
    let mut ids = GUID.to_bytes().to_vec();
    ids.extend([0; 16]);
    let mut bytes = b"BSJB\x01\0\x01\0\0\0\0\0\x0c\0\0\0PDB v1.0\0\0\0\0\0\0\x03\0".to_vec();
    let mut at = u32::try_from(bytes.len() + 16 + 12 + 16).unwrap();
    for (name, stream) in [
        (&b"#Pdb\0\0\0\0"[..], &ids),
        (b"#~\0\0", &tables),
        (b"#Blob\0\0\0", &blobs),
    ] {
        let len = u32::try_from(stream.len()).unwrap();
        bytes.extend(at.to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes.extend(name);
        at += len;
    }
    bytes.extend(ids);
    bytes.extend(tables);
    bytes.extend(blobs);
    bytes
}

fn line(token: u32, il_offset: u32) -> Option<(String, u32)> {
    let found = Portable::open(file())
        .unwrap()
        .source_line(token, il_offset);
    found.map(|SourceLine { file, line }| (file, line))
}

#[test]
fn a_method_has_a_line_from_each_sequence_point_on() {
    let a = |line| Some(("/src/a.cs".to_owned(), line));
    assert_eq!(Portable::open(file()).unwrap().guid(), GUID);
    assert_eq!(line(0x0600_0001, 0), a(10));
    assert_eq!(line(0x0600_0001, 1), None, "hidden");
    assert_eq!(line(0x0600_0001, 6), None, "hidden");
    assert_eq!(line(0x0600_0001, 7), a(12));
    assert_eq!(line(0x0600_0001, 206), a(12));
    assert_eq!(line(0x0600_0001, 207), a(11));
    assert_eq!(line(0x0600_0001, u32::MAX), a(11));
    assert_eq!(line(0x0600_0002, 0), None, "no points");
    assert_eq!(line(0x0600_0003, 2), Some(("src/b.cs".to_owned(), 7)));
    assert_eq!(line(0x0600_0003, 3), a(300));
    for unknown in [0x0600_0000, 0x0600_0004, 0x0A00_0001, 0, u32::MAX] {
        assert_eq!(line(unknown, 0), None);
    }
}

#[test]
fn it_is_found_by_its_guid() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path().join("a.pdb"), &file());
    let store_key = GUID.to_string().replace('-', "").to_uppercase() + "FFFFFFFF";
    write(
        folder
            .path()
            .join("store/a.pdb")
            .join(store_key)
            .join("a.pdb"),
        &file(),
    );
    for place in [folder.path().to_owned(), folder.path().join("store")] {
        let symbols = Symbols::new(
            SearchPath::parse([place.to_str().unwrap()], &Defaults::default()),
            Options::default(),
        );
        let Outcome::Loaded(module) =
            symbols.load(&Identity::new("a.pdb", GUID, 1).unwrap(), &mut ())
        else {
            panic!()
        };
        assert!(module.is_portable());
        assert_eq!(module.source_line(0x0600_0001, 8).unwrap().line, 12);
        assert_eq!(module.resolve_sorted(&[1, 2]).unwrap(), [None, None]);
        let other = Identity::new(
            "a.pdb",
            Guid::literal("11111111-1f04-4bd4-9e69-73e6a6f2c1a3"),
            1,
        )
        .unwrap();
        assert!(matches!(
            symbols.load(&other, &mut ()),
            Outcome::Missing { .. }
        ));
    }
}

/// The assembly lies in a plain folder, in any case of letters. A store has no place for it.
#[test]
fn it_is_found_in_the_assembly_that_carries_it() {
    let folder = tempfile::tempdir().unwrap();
    let carried = assembly(&packed(file().len()));
    write(folder.path().join("plain/App.DLL"), &carried);
    write(folder.path().join("native/app.dll"), b"MZ");
    let find = |path: &str, guid: Guid, name: &str| {
        let symbols = Symbols::new(
            SearchPath::parse([path], &Defaults::default()),
            Options::default(),
        );
        let identity = Identity::new("app.pdb", guid, 1).unwrap();
        symbols.load_carried(&identity, name, &mut ())
    };
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plain, native) = (place("plain"), place("native"));
    let both = format!("{native};{plain}");
    let Outcome::Loaded(module) = find(&both, GUID, "C:\\app\\app.dll") else {
        panic!()
    };
    assert_eq!(module.source_line(0x0600_0001, 8).unwrap().line, 12);
    assert!(module.source.ends_with("App.DLL"));
    assert_eq!(module.tried[0].reason, "it carries no portable PDB");
    let other = Guid::literal("11111111-1f04-4bd4-9e69-73e6a6f2c1a3");
    let nothing = [
        (plain.clone(), other, "app.dll"),
        (plain.clone(), GUID, "other.dll"),
        (plain.clone(), GUID, "..\\NUL"),
        (format!("srv*{plain}"), GUID, "app.dll"),
    ];
    for (path, guid, name) in nothing {
        let Outcome::Missing { tried } = find(&path, guid, name) else {
            panic!("{path} {name}")
        };
        let is_other_build = tried.iter().any(|it| it.reason.contains("another build"));
        assert_eq!(is_other_build, guid == other, "{tried:?}");
    }
}

/// An assembly with one section, which contains the debug directory and the packed file.
fn assembly(packed: &[u8]) -> Vec<u8> {
    let mut image = vec![0; 0x400];
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x3C, &0x80_u32.to_le_bytes());
    put(0x80, b"PE\0\0");
    put(0x86, &1_u16.to_le_bytes());
    put(0x94, &240_u16.to_le_bytes());
    put(0x98, &0x20B_u16.to_le_bytes());
    // Debug directory at RVA 0x2010, two entries.
    put(0x98 + 112 + 48, &0x2010_u32.to_le_bytes());
    put(0x98 + 112 + 52, &56_u32.to_le_bytes());
    let section = 0x98 + 240;
    put(section + 12, &0x2000_u32.to_le_bytes());
    put(section + 16, &0x1000_u32.to_le_bytes());
    put(section + 20, &0x200_u32.to_le_bytes());
    let entry = 0x210 + 28;
    put(entry + 12, &17_u32.to_le_bytes());
    put(
        entry + 16,
        &u32::try_from(packed.len()).unwrap().to_le_bytes(),
    );
    put(entry + 24, &0x400_u32.to_le_bytes());
    image.extend(packed);
    image
}

fn packed(size: usize) -> Vec<u8> {
    let mut packed = b"MPDB".to_vec();
    packed.extend(u32::try_from(size).unwrap().to_le_bytes());
    packed.extend(miniz_oxide::deflate::compress_to_vec(&file(), 6));
    packed
}

#[test]
fn an_assembly_may_carry_it() {
    let len = file().len();
    assert_eq!(embedded(&assembly(&packed(len))).unwrap().unwrap(), file());
    assert_eq!(embedded(b"MZ").unwrap(), None);
    assert_eq!(embedded(&assembly(&packed(len))[..0x3F0]).unwrap(), None);
    for damaged in [
        packed(len - 1),
        packed(len + 1),
        packed(len)[..40].to_vec(),
        b"MPDX".to_vec(),
        packed(0xFFFF_FFFF),
    ] {
        assert!(embedded(&assembly(&damaged)).is_err());
    }
}

#[test]
fn damaged_ones_are_errors_or_have_no_lines() {
    let whole = file();
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            let Ok(portable) = Portable::open(damaged) else {
                continue;
            };
            for token in 0x0600_0000..0x0600_0006 {
                for il_offset in [0, 3, 7, 300] {
                    drop(portable.source_line(token, il_offset));
                }
            }
        }
        assert!(Portable::open(whole[..at].to_vec()).is_err(), "cut at {at}");
    }
}

/// The lines that Mono.Cecil was instructed to write.
#[test]
fn a_file_of_another_writer() {
    const HIDDEN: u32 = 0xFE_EFEE;
    let plain = Portable::open(fixture("methods.pdb")).unwrap();
    let carried = embedded(&fixture("methods-embedded.exe")).unwrap().unwrap();
    let carried = Portable::open(carried).unwrap();
    let text = String::from_utf8(fixture("methods.txt")).unwrap();
    let mut points = 0;
    for point in text.lines() {
        let mut words = point.split(' ');
        let token = u32::from_str_radix(words.next().unwrap(), 16).unwrap();
        let mut number = || words.next().unwrap().parse::<u32>().unwrap();
        let (il_offset, line) = (number(), number());
        let expected = SourceLine {
            file: "c:\\src\\methods.cs".to_owned(),
            line,
        };
        for file in [&plain, &carried] {
            assert_eq!(
                file.source_line(token, il_offset),
                Some(expected.clone()).filter(|_| line != HIDDEN),
                "{point}"
            );
        }
        points += 1;
    }
    assert_eq!(points, text.lines().count());
    assert!(points > 10);
}
