//! Symbols from files of this folder, from stores, and from test servers.

// Tests may panic: that is how they fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod corrupt;
mod image;
mod made;
mod msfz;
mod odd;
mod pdb;
mod portable;
mod server;
mod servers;
mod stores;

use std::path::PathBuf;

use etwkit_etl::Guid;
use etwkit_symbols::Identity;
use etwkit_symbols::pdb::Pdb;

/// A file of this folder.
fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(name),
    )
    .unwrap()
}

/// Its identity.
fn identity_of(name: &str) -> Identity {
    let bytes = fixture(name);
    let (guid, age) = Pdb::open(std::io::Cursor::new(bytes)).unwrap().identity();
    Identity::new(name, guid, age).unwrap()
}

/// The identity of a file of that name in another build.
fn of_another_build(name: &str) -> Identity {
    Identity::new(
        name,
        Guid::literal("11111111-2222-3333-4444-555555555555"),
        1,
    )
    .unwrap()
}

/// Writes a file and the folders that it needs.
fn write(path: impl Into<PathBuf>, bytes: &[u8]) {
    let path = path.into();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}
