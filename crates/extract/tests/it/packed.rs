//! Extracts in archives, read in place.

use std::fs;

use etwkit_extract::{DerivedWriter, Extract, Writer, WriterOptions};
use etwkit_testkit::files::zipped_as;
use etwkit_trace::table::{CpuProcess, DERIVED, Mark, Row};
use zip::CompressionMethod;

use crate::child::salt_of;
use crate::rows::{assert_refused, extract, files, manifest, marks, names, sums};
use crate::support::{Folder, made};

#[test]
fn a_packed_extract_reads_like_the_folder() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    writer.write(CpuProcess::TABLE, sums(3)).unwrap();
    writer.write(Mark::TABLE, marks(&["salt 7"])).unwrap();
    writer
        .write(
            etwkit_trace::table::CpuSample::TABLE,
            crate::rows::samples(5000, 7),
        )
        .unwrap();
    fs::create_dir(writer.symbols_dir().unwrap().join("a.pdb")).unwrap();
    fs::write(writer.symbols_dir().unwrap().join("a.pdb/a.pdb"), b"x").unwrap();
    writer.finish(manifest("7")).unwrap();
    // The temporary folder of an active writer does not belong to the extract.
    fs::create_dir(target.join(".derived.abc.partial")).unwrap();
    folder.write("run.etwx/.derived.abc.partial/x", b"x");

    let unpacked = Extract::open(&target).unwrap();
    let zip = folder.path("sent.etwx.zip");
    unpacked.pack(&zip).unwrap();
    let packed = Extract::open(&zip).unwrap();
    assert!(packed.is_archive() && !unpacked.is_archive());
    assert_eq!(packed.manifest(), unpacked.manifest());
    assert_eq!(packed.derived(), unpacked.derived());
    assert_eq!(salt_of(&zip), 7);
    for (inside, outside) in packed.tables().zip(unpacked.tables()) {
        assert_eq!(
            (&inside.name, inside.length, inside.rows),
            (&outside.name, outside.length, outside.rows)
        );
        assert_eq!((&inside.path, inside.derived), (&zip, outside.derived));
        let bytes = fs::read(&zip).unwrap();
        let range = inside.offset as usize..(inside.offset + inside.length) as usize;
        assert_eq!(bytes[range], fs::read(&outside.path).unwrap()[..]);
    }
    let members = zip::ZipArchive::new(fs::File::open(&zip).unwrap()).unwrap();
    let members: Vec<_> = members
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    let derived = DERIVED
        .iter()
        .map(|table| format!("derived/{}.parquet", table.name));
    let mut wanted: Vec<String> = files(&["derived/manifest.json", "symbols/a.pdb/a.pdb"]);
    wanted.extend(derived);
    wanted.sort();
    wanted.retain(|name| name != "manifest.json");
    wanted.insert(0, "manifest.json".to_owned());
    assert_eq!(
        members,
        wanted
            .iter()
            .map(|name| format!("sent.etwx/{name}"))
            .collect::<Vec<_>>()
    );
    assert_refused(
        DerivedWriter::create(&packed),
        &["cannot add tables to the archive", "hint: unpack it"],
    );
    // From one archive to another, which replaces it; the same content gives the same bytes.
    let first = fs::read(&zip).unwrap();
    packed.pack(&zip).unwrap();
    assert_eq!(fs::read(&zip).unwrap(), first);
    assert_eq!(names(&folder.path("")), ["run.etwx", "sent.etwx.zip"]);
}

#[test]
fn packing_replaces_nothing_but_packed_extracts() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 10, 1).unwrap();
    let extract = Extract::open(&target).unwrap();
    let foreign = zipped_as(CompressionMethod::Stored, &[("notes.txt", b"precious")]);
    let foreign = folder.write("notes.zip", &foreign);
    assert_refused(
        extract.pack(&foreign),
        &["will not replace ", "it is a file without the manifest"],
    );
    assert_refused(
        extract.pack(&target),
        &["run.etwx: it is a folder, not an extract"],
    );
    assert_refused(
        extract.pack(&folder.path("gone/a.zip")),
        &["gone does not exist"],
    );
    assert_eq!(names(&folder.path("")), ["notes.zip", "run.etwx"]);
}

#[test]
fn archives_that_cannot_be_read_in_place_are_refused_with_a_hint() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 1000, 1).unwrap();
    let read = |name: &str| fs::read(target.join(name)).unwrap();
    let files: Vec<_> = ["cpu_sample.parquet", "manifest.json", "mark.parquet"]
        .map(|name| (name, read(name)))
        .into();
    let members: Vec<_> = files
        .iter()
        .map(|(name, bytes)| (*name, bytes.as_slice()))
        .collect();
    // Members without a common folder are also found, independent of the name of the archive.
    let plain = folder.write("plain.zip", &zipped_as(CompressionMethod::Stored, &members));
    assert_eq!(salt_of(&plain), 1);
    let squeezed = folder.write(
        "small.zip",
        &zipped_as(CompressionMethod::Deflated, &members),
    );
    let parts = [
        "small.zip is compressed: manifest.json has to be stored",
        "hint: unpack it and name the folder",
    ];
    assert_refused(Extract::open(&squeezed), &parts);
    let trace = zipped_as(
        CompressionMethod::Stored,
        &[("power.etl", &made("power-5.etl"))],
    );
    let parts = [
        "found a zip archive without manifest.json",
        "hint: `etwkit extract` makes",
    ];
    assert_refused(Extract::open(&folder.write("trace.zip", &trace)), &parts);
    let trace = folder.write("power.etl", &made("power-5.etl"));
    assert_refused(
        Extract::open(&trace),
        &[
            "expected an extract",
            "found a file that is not a zip archive",
        ],
    );
    assert_refused(
        Extract::open(&folder.path("gone.etwx")),
        &["cannot open ", "gone.etwx", "hint: check the name"],
    );
    assert_refused(
        Extract::open(&folder.path("")),
        &["found a folder without manifest.json"],
    );
    let half = fs::read(&plain).unwrap();
    let half = folder.write("half.zip", &half[..half.len() / 2]);
    assert_refused(
        Extract::open(&half),
        &["damaged archive ", "its directory at the end", "hint: copy"],
    );
}

#[test]
fn every_cut_and_every_changed_byte_of_the_archive_gives_an_answer() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 10, 1).unwrap();
    let zip = folder.path("run.etwx.zip");
    Extract::open(&target).unwrap().pack(&zip).unwrap();
    let good = fs::read(&zip).unwrap();
    let bad = folder.path("bad.zip");
    for length in (0..good.len()).step_by(397) {
        fs::write(&bad, &good[..length]).unwrap();
        assert!(Extract::open(&bad).is_err(), "{length}");
    }
    // The headers of the members and the directory after them; the rest are the tables themselves.
    let directory = good.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let (mut opened, mut refused) = (0, 0);
    // Many members have similar headers: steps that are not a multiple of the header length reach
    // every field of one.
    for at in (0..100)
        .chain((directory..good.len()).step_by(11))
        .chain(good.len() - 30..good.len())
    {
        for value in [0, 0xFF, good[at] ^ 1] {
            let mut bytes = good.clone();
            bytes[at] = value;
            fs::write(&bad, &bytes).unwrap();
            match Extract::open(&bad) {
                Ok(extract) => opened += extract.tables().count(),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(opened > 0 && refused > 0, "{opened} {refused}");
}
