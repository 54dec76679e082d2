//! The formats, each written and read by a library that many use.

use anyhow::Result;

use crate::shelf::BookShelf;

/// A format.
pub(crate) struct Format {
    /// Name of the format, which is the name of its library.
    pub(crate) name: &'static str,
    pub(crate) write: fn(&BookShelf) -> Result<Vec<u8>>,
    pub(crate) read: fn(&[u8]) -> Result<BookShelf>,
}

/// All of them.
pub(crate) const FORMATS: &[Format] = &[
    Format {
        name: "bitcode",
        write: |shelf| Ok(bitcode::serialize(shelf)?),
        read: |bytes| Ok(bitcode::deserialize(bytes)?),
    },
    Format {
        name: "postcard",
        write: |shelf| Ok(postcard::to_stdvec(shelf)?),
        read: |bytes| Ok(postcard::from_bytes(bytes)?),
    },
    Format {
        name: "rmp-serde",
        write: |shelf| Ok(rmp_serde::to_vec(shelf)?),
        read: |bytes| Ok(rmp_serde::from_slice(bytes)?),
    },
    Format {
        name: "ciborium",
        write: |shelf| {
            let mut bytes = Vec::new();
            ciborium::into_writer(shelf, &mut bytes)?;
            Ok(bytes)
        },
        read: |bytes| Ok(ciborium::from_reader(bytes)?),
    },
    Format {
        name: "serde_json",
        write: |shelf| Ok(serde_json::to_vec(shelf)?),
        read: |bytes| Ok(serde_json::from_slice(bytes)?),
    },
];
