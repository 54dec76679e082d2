//! Images by time stamp and size: their places, their names, and files that are not images.

use std::io::Cursor;
use std::path::Path;

use etwkit_symbols::image::Image;
use etwkit_symbols::search_path::Defaults;
use etwkit_symbols::{Identity, ImageIdentity, ImageSearch, Options, Outcome, SearchPath, Symbols};

use crate::corrupt::{Numbers, corrupt};
use crate::server::{Answer, Server};
use crate::{fixture, identity_of, write};

const NAME: &str = "Shapes.dll";
const PDB: &str = "shapes-x86_64.pdb";
const STAMP: u32 = 0x0D9F_641E;
const SIZE: u32 = 0x4000;

/// An entry of the debug directory: its kind and data.
type Entry = (u32, Vec<u8>);

/// An image of one section at 0x1000, of 64 or 32 bit, as linkers lay it out.
fn image(is_wide: bool, entries: &[Entry]) -> Vec<u8> {
    let optional_len = if is_wide { 240_u16 } else { 224 };
    let mut bytes = vec![0; 0x80];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3C] = 0x80;
    bytes.extend(b"PE\0\0\x64\x86\x01\0");
    bytes.extend(STAMP.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(optional_len.to_le_bytes());
    bytes.extend([0x22, 0x20]);
    let mut optional = vec![0; usize::from(optional_len)];
    let magic: u16 = if is_wide { 0x20B } else { 0x10B };
    let directories = if is_wide { 112 } else { 96 };
    let put = |optional: &mut Vec<u8>, at: usize, number: u32| {
        optional[at..at + 4].copy_from_slice(&number.to_le_bytes());
    };
    optional[..2].copy_from_slice(&magic.to_le_bytes());
    put(&mut optional, 56, SIZE);
    put(&mut optional, directories - 4, 16);
    if !entries.is_empty() {
        put(&mut optional, directories + 48, 0x1010);
        put(&mut optional, directories + 52, entries.len() as u32 * 28);
    }
    bytes.extend(optional);
    bytes.extend(b".rdata\0\0");
    for number in [0x800_u32, 0x1000, 0x800, 0x400, 0, 0, 0, 0x4000_0040] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.resize(0x410, 0);
    let mut at = bytes.len() as u32 + entries.len() as u32 * 28;
    for (kind, data) in entries {
        for number in [0, STAMP, 0, *kind, data.len() as u32, at + 0xC00, at] {
            bytes.extend(number.to_le_bytes());
        }
        at += data.len() as u32;
    }
    entries.iter().for_each(|(_, data)| bytes.extend(data));
    bytes
}

/// The record of an image that names a symbol file.
fn code_view(path: &str, identity: &Identity) -> Entry {
    let guid = identity.guid().to_bytes();
    let record = [
        b"RSDS",
        &guid[..],
        &identity.age().to_le_bytes(),
        path.as_bytes(),
        b"\0",
    ]
    .concat();
    (2, record)
}

/// As linkers write it: after other entries, with the path of the machine that built it.
fn usual(is_wide: bool) -> Vec<u8> {
    let path = format!("D:\\build\\{PDB}");
    image(
        is_wide,
        &[
            (13, vec![1; 40]),
            code_view(&path, &identity_of(PDB)),
            (16, vec![0; 36]),
        ],
    )
}

fn wanted() -> ImageIdentity {
    ImageIdentity::new("C:\\Program Files\\Shop\\Shapes.dll", STAMP, SIZE).unwrap()
}

fn symbols(path: &str, cache: &Path) -> Symbols {
    let defaults = Defaults {
        cache: Some(cache.to_owned()),
        ..Defaults::default()
    };
    Symbols::new(SearchPath::parse([path], &defaults), Options::default())
}

fn reasons(search: &ImageSearch) -> String {
    search
        .tried
        .iter()
        .map(|attempt| format!("{}; ", attempt.reason))
        .collect()
}

#[test]
fn an_image_names_its_symbol_file() {
    for is_wide in [true, false] {
        let image = Image::open(Cursor::new(usual(is_wide))).unwrap();
        assert_eq!((image.time_date_stamp, image.size), (STAMP, SIZE));
        let pdb = image.pdb.unwrap();
        assert_eq!(pdb.identity, identity_of(PDB));
        assert_eq!(pdb.path, format!("D:\\build\\{PDB}"));
    }
    let named = |entries: &[Entry]| Image::open(Cursor::new(image(true, entries))).unwrap().pdb;
    assert_eq!(named(&[]), None, "without a debug directory");
    assert_eq!(
        named(&[(2, b"NB10 and numbers of another kind".to_vec())]),
        None
    );
    let cut = code_view("a.pdb", &identity_of(PDB)).1[..22].to_vec();
    assert_eq!(named(&[(2, cut)]), None, "the record ends in the age");
    // Native images of .NET name their own symbol file, then the symbol file of their source
    // assembly.
    let il = Identity::with_key("a.pdb", "11111111222233334444555555555555FF").unwrap();
    let both = [
        code_view("a.ni.pdb", &identity_of(PDB)),
        code_view("a.pdb", &il),
    ];
    assert_eq!(named(&both).unwrap().path, "a.ni.pdb");
}

#[test]
fn from_a_store_a_plain_folder_and_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let (store, flat, cache) = (
        folder.path().join("store"),
        folder.path().join("flat"),
        folder.path().join("cache"),
    );
    let place = format!("{NAME}/0D9F641E4000/{NAME}");
    write(store.join(&place), &usual(true));
    // Files from Windows may be copied to a system with case-sensitive names.
    write(flat.join("shapes.DLL"), &usual(true));
    let server = Server::start([(format!("/{place}"), Answer::File(usual(true)))]);
    for (path, source) in [
        (
            store.display().to_string(),
            store.join(&place).display().to_string(),
        ),
        (
            flat.display().to_string(),
            flat.join("shapes.DLL").display().to_string(),
        ),
        (server.url.clone(), format!("{}/{place}", server.url)),
    ] {
        let found = symbols(&path, &cache).image(&wanted(), &mut ());
        assert_eq!(
            found.source.as_deref(),
            Some(source.as_str()),
            "{}",
            reasons(&found)
        );
        assert_eq!(found.pdb.unwrap().identity, identity_of(PDB));
    }
    assert_eq!(
        std::fs::read(cache.join(&place)).unwrap(),
        usual(true),
        "what a server sent is kept"
    );
    assert!(
        symbols(&server.url, &cache)
            .image(&wanted(), &mut ())
            .pdb
            .is_some()
    );
    assert_eq!(server.files_asked().len(), 1, "the cache answers");
}

/// From only a name, a time stamp and a size to the name of a function.
#[test]
fn an_image_leads_to_names() {
    let (server, cache) = {
        let identity = identity_of(PDB);
        let answers = [
            (
                format!("/{NAME}/0D9F641E4000/{NAME}"),
                Answer::File(usual(true)),
            ),
            (
                format!("/{PDB}/{}/{PDB}", identity.key()),
                Answer::File(fixture(PDB)),
            ),
        ];
        (Server::start(answers), tempfile::tempdir().unwrap())
    };
    let symbols = symbols(&server.url, cache.path());
    let identity = symbols.image(&wanted(), &mut ()).pdb.unwrap().identity;
    let Outcome::Loaded(module) = symbols.load(&identity, &mut ()) else {
        panic!()
    };
    let name = module.resolve_sorted(&[0x1000]).unwrap()[0]
        .as_ref()
        .unwrap()
        .name
        .clone();
    assert_eq!(name, "geometry::Shape::area");
    assert!(module.function_count().unwrap() > 3);
}

#[test]
fn another_build_and_what_is_no_image_are_neither_used_nor_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let mut of_another_build = usual(true);
    of_another_build[0x88] ^= 1;
    let mut pointer = usual(true);
    pointer[0x3C..0x40].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut directory = usual(true);
    directory[0x98 + 112 + 48..][..4].copy_from_slice(&0x9000_u32.to_le_bytes());
    for (bytes, reason) in [
        (
            of_another_build,
            "belongs to another build: it is 0D9F641F4000, wanted is 0D9F641E4000",
        ),
        (
            b"<html>no such file</html>, said the server with status 200 and many words".to_vec(),
            "expected an image",
        ),
        (fixture(PDB), "expected an image"),
        (usual(true)[..0x100].to_vec(), "it is cut off"),
        (pointer, "it is cut off"),
        (directory, "no section has its debug directory"),
        (b"MZ".to_vec(), "it is cut off"),
    ] {
        let flat = folder.path().join("flat");
        write(flat.join(NAME), &bytes);
        let found = symbols(flat.to_str().unwrap(), &cache).image(&wanted(), &mut ());
        assert!(
            found.source.is_none() && reasons(&found).contains(reason),
            "{}",
            reasons(&found)
        );
        let server = Server::start([(format!("/{NAME}/0D9F641E4000/{NAME}"), Answer::File(bytes))]);
        let found = symbols(&server.url, &cache).image(&wanted(), &mut ());
        assert!(
            found.source.is_none() && reasons(&found).contains(reason),
            "{}",
            reasons(&found)
        );
        assert!(!cache.join(NAME).exists(), "nothing is kept");
    }
    // No symbol file is requested if its image names none.
    write(folder.path().join("flat").join(NAME), &image(true, &[]));
    let flat = folder.path().join("flat");
    let found = symbols(flat.to_str().unwrap(), &cache).image(&wanted(), &mut ());
    assert!(found.source.is_some() && found.pdb.is_none());
}

/// The cost of a corrupted image is bounded by the bytes that are read, independent of its claims.
#[test]
fn a_corrupted_image_is_an_error_or_an_image() {
    let whole = usual(true);
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let (mut images, mut errors) = (0, 0);
    for _ in 0..4000 {
        let mut bytes = whole.clone();
        corrupt(&mut bytes, &mut numbers);
        match Image::open(Cursor::new(&bytes)) {
            Ok(image) => images += usize::from(image.pdb.is_none_or(|pdb| pdb.path.len() < 4096)),
            Err(error) => errors += usize::from(!error.to_string().is_empty()),
        }
    }
    assert_eq!(images + errors, 4000);
    assert!(
        images > 500 && errors > 500,
        "{images} images, {errors} errors"
    );
}
