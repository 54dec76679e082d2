//! Folders, stores, and cached tables.

use std::path::Path;

use etwkit_symbols::search_path::Defaults;
use etwkit_symbols::{Identity, Options, Outcome, SearchPath, Symbols};

use crate::{fixture, identity_of, of_another_build, write};

const NAME: &str = "shapes-x86_64.pdb";

fn load(path: &Path, options: Options, identity: &Identity) -> Outcome {
    let path = SearchPath::parse([path.to_str().unwrap()], &Defaults::default());
    Symbols::new(path, options).load(identity, &mut ())
}

fn source(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Loaded(module) => {
            let names = module.resolve_sorted(&[0x1000]).unwrap();
            assert_eq!(names[0].as_ref().unwrap().name, "geometry::Shape::area");
            module.source.clone()
        }
        Outcome::Missing { tried } => panic!("{tried:?}"),
    }
}

fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Loaded(module) => panic!("loaded from {}", module.source),
        Outcome::Missing { tried } => tried.iter().map(|it| format!("{}; ", it.reason)).collect(),
    }
}

/// A cabinet of one file in stored and in deflated blocks of 32 KiB, as `makecab` writes them.
/// Checksums of 0 are not checked.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::new();
    for block in bytes.chunks(1 << 15) {
        let mut data = b"CK".to_vec();
        data.extend(miniz_oxide::deflate::compress_to_vec(block, 6));
        blocks.extend([0; 4]);
        blocks.extend(u16::try_from(data.len()).unwrap().to_le_bytes());
        blocks.extend(u16::try_from(block.len()).unwrap().to_le_bytes());
        blocks.extend(data);
    }
    let name = b"shapes-x86_64.pdb\0";
    let (folder_at, file_at) = (36_u32, 44_u32);
    let data_at = file_at + 16 + u32::try_from(name.len()).unwrap();
    let count = u16::try_from(bytes.len().div_ceil(1 << 15)).unwrap();
    let mut cabinet = b"MSCF\0\0\0\0".to_vec();
    cabinet.extend((data_at + u32::try_from(blocks.len()).unwrap()).to_le_bytes());
    cabinet.extend([0; 4]);
    cabinet.extend(file_at.to_le_bytes());
    cabinet.extend([0, 0, 0, 0, 3, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(cabinet.len(), folder_at as usize);
    cabinet.extend(data_at.to_le_bytes());
    cabinet.extend(count.to_le_bytes());
    cabinet.extend(1_u16.to_le_bytes());
    cabinet.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    cabinet.extend([0; 6]);
    cabinet.extend([0x21, 0x50, 0, 0, 0x20, 0]);
    cabinet.extend(name);
    cabinet.extend(blocks);
    cabinet
}

#[test]
fn a_store_and_a_plain_folder() {
    let identity = identity_of(NAME);
    let (store, flat) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(
        store.path().join(NAME).join(identity.key()).join(NAME),
        &fixture(NAME),
    );
    write(flat.path().join(NAME), &fixture(NAME));
    assert!(
        source(&load(store.path(), Options::default(), &identity))
            .ends_with(&format!("{}/{NAME}", identity.key()))
    );
    assert!(source(&load(flat.path(), Options::default(), &identity)).ends_with(NAME));
    assert_eq!(
        reason(&load(
            flat.path(),
            Options::default(),
            &of_another_build("else.pdb")
        )),
        "does not have it; "
    );
    assert_eq!(
        reason(&load(
            &flat.path().join("no"),
            Options::default(),
            &identity
        )),
        "is no folder; "
    );
}

#[test]
fn a_file_of_another_build_is_not_used() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), of_another_build(NAME));
    write(folder.path().join(NAME), &fixture(NAME));
    write(
        folder.path().join(NAME).with_extension("sym"),
        b"MODULE windows x86_64 000000000000000000000000000000011 x.pdb\n",
    );
    write(
        folder
            .path()
            .join("store")
            .join(NAME)
            .join(identity.key())
            .join(NAME),
        &fixture(NAME),
    );
    let outcome = load(folder.path(), Options::default(), &identity);
    assert_eq!(
        reason(&outcome).matches("belongs to another build").count(),
        2,
        "{outcome:?}"
    );
    assert!(
        reason(&load(
            &folder.path().join("store"),
            Options::default(),
            &identity
        ))
        .contains("belongs to another build")
    );
    // The same GUID with another age is also another build.
    let right = identity_of(NAME);
    let older = Identity::new(NAME, right.guid(), right.age() + 1).unwrap();
    assert!(
        reason(&load(folder.path(), Options::default(), &older))
            .contains("belongs to another build")
    );
}

#[cfg(not(windows))]
#[test]
fn letters_of_a_store_from_windows_may_have_another_case() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    write(
        folder
            .path()
            .join("Shapes-X86_64.PDB")
            .join(identity.key().to_lowercase())
            .join("SHAPES-x86_64.pdb"),
        &fixture(NAME),
    );
    source(&load(folder.path(), Options::default(), &identity));
}

/// The file systems of Windows ignore the case of all letters.
#[test]
fn letters_outside_of_ascii_may_have_another_case() {
    let folder = tempfile::tempdir().unwrap();
    let of_fixture = identity_of(NAME);
    write(folder.path().join("größe-über.pdb"), &fixture(NAME));
    let identity = Identity::new("GRÖßE-ÜBER.PDB", of_fixture.guid(), of_fixture.age()).unwrap();
    source(&load(folder.path(), Options::default(), &identity));
}

#[test]
fn a_packed_file_in_a_plain_folder() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let base = folder.path();
    write(base.join("flat/shapes-x86_64.pd_"), &packed(&fixture(NAME)));
    let without = load(&base.join("flat"), Options::default(), &identity);
    assert!(reason(&without).contains("no cache folder to unpack it in"));
    let options = Options {
        cache: Some(base.join("cache")),
        ..Options::default()
    };
    source(&load(&base.join("flat"), options, &identity));
}

/// A table of a damaged file would hide the good copy that replaces it.
#[test]
fn no_table_of_a_damaged_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (store, tables) = (folder.path().join("store"), folder.path().join("tables"));
    let options = || Options {
        tables: Some(tables.clone()),
        ..Options::default()
    };
    let mut streams = crate::made::streams(&fixture(NAME));
    let object = usize::from(crate::made::u16_at(&streams[crate::made::DBI], 64 + 34));
    // The length of the first record.
    streams[object][4..6].fill(0xFF);
    write(store.join(NAME), &crate::made::pdb(&streams));
    let identity = identity_of(NAME);
    let Outcome::Loaded(module) = load(&store, options(), &identity) else {
        panic!("not loaded");
    };
    let fault = module.tried.last().unwrap();
    assert_eq!(fault.place, module.source);
    assert!(
        fault.reason.starts_with("damaged: the symbols of ") && fault.reason.contains("not kept"),
        "{}",
        fault.reason
    );
    assert!(!tables.exists());
    write(store.join(NAME), &fixture(NAME));
    let Outcome::Loaded(module) = load(&store, options(), &identity) else {
        panic!("not loaded");
    };
    let names = module.resolve_sorted(&[0x1014]).unwrap();
    assert_eq!(names[0].as_ref().unwrap().inlined.len(), 1);
    assert!(module.tried.is_empty() && tables.exists());
}

#[test]
fn two_tiers_pointers_and_packed_files() {
    let identity = identity_of(NAME);
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    write(base.join("two/index2.txt"), b"");
    write(
        base.join("two/sh")
            .join(NAME)
            .join(identity.key())
            .join(NAME),
        &fixture(NAME),
    );
    source(&load(&base.join("two"), Options::default(), &identity));

    write(base.join("elsewhere/build.pdb"), &fixture(NAME));
    let pointer = format!("PATH:{}\r\n", base.join("elsewhere/build.pdb").display());
    write(
        base.join("ptr")
            .join(NAME)
            .join(identity.key())
            .join("file.ptr"),
        pointer.as_bytes(),
    );
    assert!(source(&load(&base.join("ptr"), Options::default(), &identity)).ends_with("build.pdb"));

    let packed_at = base
        .join("packed")
        .join(NAME)
        .join(identity.key())
        .join("shapes-x86_64.pd_");
    write(&packed_at, &packed(&fixture(NAME)));
    assert!(
        reason(&load(&base.join("packed"), Options::default(), &identity))
            .contains("no cache folder to unpack")
    );
    let options = Options {
        cache: Some(base.join("cache")),
        ..Options::default()
    };
    let path = source(&load(&base.join("packed"), options, &identity));
    assert!(Path::new(&path).starts_with(base.join("cache")), "{path}");
}

/// Loads from a folder that came with a trace.
fn load_beside(folder: &Path, identity: &Identity) -> Outcome {
    Symbols::new(
        SearchPath::default().with_folder(folder),
        Options::default(),
    )
    .load(identity, &mut ())
}

#[test]
fn nothing_in_a_folder_that_came_with_a_trace_leads_elsewhere() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let base = folder.path();
    write(base.join("elsewhere/build.pdb"), &fixture(NAME));
    let place = |store: &str| base.join(store).join(NAME).join(identity.key());
    let pointer = format!("PATH:{}", base.join("elsewhere/build.pdb").display());
    write(place("pointer").join("file.ptr"), pointer.as_bytes());
    assert!(
        reason(&load_beside(&base.join("pointer"), &identity))
            .starts_with("a pointer to another place; ")
    );
    source(&load(&base.join("pointer"), Options::default(), &identity));
    // The content of the folder is used.
    write(place("real").join(NAME), &fixture(NAME));
    source(&load_beside(&base.join("real"), &identity));
    source(&load_beside(
        &base.join("real").join(NAME).join(identity.key()),
        &identity,
    ));
}

#[cfg(unix)]
#[test]
fn links_and_pipes_of_strangers_are_not_opened() {
    use std::os::unix::fs::symlink;

    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let base = folder.path();
    let real = base.join("real").join(NAME).join(identity.key()).join(NAME);
    write(&real, &fixture(NAME));
    std::fs::create_dir_all(base.join("file").join(NAME).join(identity.key())).unwrap();
    symlink(
        &real,
        base.join("file").join(NAME).join(identity.key()).join(NAME),
    )
    .unwrap();
    std::fs::create_dir_all(base.join("folder")).unwrap();
    symlink(base.join("real").join(NAME), base.join("folder").join(NAME)).unwrap();
    symlink(base.join("real"), base.join("store")).unwrap();
    std::fs::create_dir_all(base.join("flat")).unwrap();
    symlink(&real, base.join("flat").join("SHAPES-X86_64.PDB")).unwrap();
    symlink(real.parent().unwrap(), base.join("flat-store")).unwrap();
    for link in ["file", "folder", "store", "flat", "flat-store"] {
        let beside = load_beside(&base.join(link), &identity);
        assert!(reason(&beside).contains("a link; "), "{link}: {beside:?}");
        // They are followed if the user allows it.
        source(&load(&base.join(link), Options::default(), &identity));
    }
    // A pointer of the user's own store to a pipe is an error, and not an endless wait.
    let pipe = base.join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let pointer = format!("PATH:{}", pipe.display());
    write(
        base.join("ptr")
            .join(NAME)
            .join(identity.key())
            .join("file.ptr"),
        pointer.as_bytes(),
    );
    assert!(
        reason(&load(&base.join("ptr"), Options::default(), &identity))
            .contains("it is not a regular file")
    );
}

/// Names of symbol files come from traces: only the last part of a path is used, and an invalid
/// name is never searched for.
#[test]
fn paths_in_traces_lead_nowhere() {
    let (folder, known) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let base = folder.path();
    write(base.join("outside").join(NAME), &fixture(NAME));
    std::fs::create_dir_all(base.join("store")).unwrap();
    let outside = base.join("outside").join(NAME);
    for path in [
        outside.to_str().unwrap(),
        "../outside/shapes-x86_64.pdb",
        "..\\outside\\shapes-x86_64.pdb",
        "\\\\host\\share\\shapes-x86_64.pdb",
        "//host/share/shapes-x86_64.pdb",
        "\\\\?\\UNC\\host\\share\\shapes-x86_64.pdb",
    ] {
        let identity = Identity::new(path, known.guid(), known.age()).unwrap();
        assert_eq!(identity.name(), NAME, "{path}");
        let outcome = load(&base.join("store"), Options::default(), &identity);
        assert_eq!(reason(&outcome), "does not have it; ", "{path}");
    }
    for path in [
        "\\\\host\\share\\..",
        "C:shapes.pdb",
        "a\\b:c.pdb",
        "\\\\.\\pipe\\con",
        "x/PATH:\\\\host",
    ] {
        let identity = Identity::new(path, known.guid(), known.age());
        assert!(
            identity
                .as_ref()
                .is_none_or(|it| !it.name().contains([':', '\\', '/'])),
            "{path}: {identity:?}"
        );
    }
}

#[test]
fn damaged_cabinets_are_errors() {
    let (identity, whole) = (identity_of(NAME), packed(&fixture(NAME)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join(NAME)
        .join(identity.key())
        .join("shapes-x86_64.pd_");
    let options = Options {
        cache: Some(folder.path().join("cache")),
        ..Options::default()
    };
    for at in (0..whole.len())
        .step_by(97)
        .chain([whole.len() / 2, whole.len() - 1])
    {
        write(&path, &whole[..at]);
        let reason = reason(&load(folder.path(), options.clone(), &identity));
        assert!(reason.contains("cut off"), "cut at {at}: {reason}");
    }
}

#[test]
fn a_second_run_opens_no_symbol_file() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let (store, tables) = (folder.path().join("store"), folder.path().join("tables"));
    write(store.join(NAME), &fixture(NAME));
    let options = || Options {
        tables: Some(tables.clone()),
        ..Options::default()
    };
    assert!(source(&load(&store, options(), &identity)).ends_with(".pdb"));
    let kept = source(&load(&store, options(), &identity));
    assert!(
        kept.ends_with(&format!("{NAME}-{}-v3.etwsym", identity.key())),
        "{kept}"
    );
    std::fs::remove_dir_all(&store).unwrap();
    assert_eq!(source(&load(&store, options(), &identity)), kept);

    // A damaged table, and the table of another build, are built again.
    write(store.join(NAME), &fixture(NAME));
    assert!(source(&load(&store, options(), &identity)).ends_with(".pdb"));
    let whole = std::fs::read(&kept).unwrap();
    let i686 = {
        load(&store, options(), &identity_of(NAME));
        crate::pdb::table("shapes-i686.pdb").as_bytes().to_vec()
    };
    let mut flipped = whole.clone();
    flipped[200] ^= 1;
    for damaged in [flipped, i686, whole[..100].to_vec(), Vec::new()] {
        std::fs::write(&kept, &damaged).unwrap();
        let outcome = load(&store, options(), &identity);
        assert!(source(&outcome).ends_with(".pdb"));
        let Outcome::Loaded(module) = outcome else {
            unreachable!()
        };
        assert!(
            module.tried[0].reason.contains("made again"),
            "{:?}",
            module.tried
        );
        assert_eq!(std::fs::read(&kept).unwrap(), whole);
    }
    let refresh = Options {
        is_refresh: true,
        ..options()
    };
    assert!(source(&load(&store, refresh, &identity)).ends_with(".pdb"));
}

/// Private and public symbols of a build have one identity, and so have files that were made again.
#[test]
fn another_file_of_the_same_build_is_read() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    let store = folder.path().join("store");
    let options = || Options {
        tables: Some(folder.path().join("tables")),
        ..Options::default()
    };
    let name = || {
        let Outcome::Loaded(module) = load(&store, options(), &identity) else {
            panic!("not loaded");
        };
        let symbols = module.resolve_sorted(&[0x1000]).unwrap();
        (symbols[0].as_ref().unwrap().name.clone(), module.source)
    };
    let file = store.join("shapes-x86_64.sym");
    let write_name = |function: &str| {
        let text = format!(
            "MODULE windows x86_64 {} {NAME}\nPUBLIC 1000 0 {function}\n",
            identity.key()
        );
        write(file.clone(), text.as_bytes());
    };
    write_name("public_name");
    assert_eq!(name().0, "public_name");
    assert!(name().1.ends_with(".etwsym"), "kept");
    write_name("private_name");
    assert_eq!(name().0, "private_name");
    let (again, kept) = name();
    assert_eq!(again, "private_name");
    assert!(kept.ends_with(".etwsym"), "{kept}");
}

#[test]
fn large_files_are_read_in_parts() {
    let (folder, identity) = (tempfile::tempdir().unwrap(), identity_of(NAME));
    write(folder.path().join(NAME), &fixture(NAME));
    let tables = folder.path().join("tables");
    let options = Options {
        whole_bytes: 1000,
        tables: Some(tables.clone()),
        ..Options::default()
    };
    let Outcome::Loaded(module) = load(folder.path(), options, &identity) else {
        panic!()
    };
    let names = module.resolve_sorted(&[0x1000, 0x1136]).unwrap();
    assert_eq!(
        (names[0].as_ref().unwrap().name.as_str(), &names[1]),
        ("geometry::Shape::area", &None)
    );
    assert!(!tables.exists());
    // Removed in between.
    std::fs::remove_file(folder.path().join(NAME)).unwrap();
    assert!(module.resolve_sorted(&[0x1000]).is_err());
}
