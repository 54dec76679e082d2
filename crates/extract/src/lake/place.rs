//! The places of lakes: folders, and folders of buckets.

use std::path::Path;

use crate::lake::{Error, Result};

/// The sign between a lake and the hash of a run in a path: `lake#9f2c5b0e41d7a386`.
pub(crate) const SIGN: char = '#';

/// A kind of object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// S3, and what speaks its protocol.
    S3,
    /// Blobs of Azure.
    Azure,
    /// Cloud Storage of Google.
    Google,
}

/// The start of an address of each kind.
const SCHEMES: [(&str, Kind); 3] = [
    ("s3://", Kind::S3),
    ("az://", Kind::Azure),
    ("gs://", Kind::Google),
];

/// Returns the kind of store, the bucket and the folder in it; `None` for the path of a folder of this
/// computer.
pub(crate) fn in_bucket(path: &Path) -> Option<(Kind, &str, &str)> {
    let path = path.to_str()?;
    let stripped = |(scheme, kind): (&str, Kind)| Some((kind, path.strip_prefix(scheme)?));
    let (kind, place) = SCHEMES.into_iter().find_map(stripped)?;
    // Azure calls a bucket a container.
    let (bucket, folder) = place.split_once('/').unwrap_or((place, ""));
    Some((kind, bucket, folder))
}

/// Refuses the address of another kind of place. As the path of a folder it would be created in the current
/// one.
///
/// # Errors
/// The path is an address, and not one of a bucket that etwkit opens.
pub fn refuse_unknown(path: &Path) -> Result<()> {
    if in_bucket(path).is_some() || !is_address(path) {
        return Ok(());
    }
    Err(Error::Address {
        path: path.to_owned(),
    })
}

/// Returns `true` for a scheme and a place. One letter is a drive of Windows.
fn is_address(path: &Path) -> bool {
    let parts = path.to_str().and_then(|path| path.split_once("://"));
    let Some((scheme, _)) = parts else {
        return false;
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let has_letter = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    scheme.len() > 1 && has_letter && scheme.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_an_address() {
        let place = |path: &'static str| in_bucket(Path::new(path));
        assert_eq!(place("s3://traces/a/b"), Some((Kind::S3, "traces", "a/b")));
        assert_eq!(place("s3://traces"), Some((Kind::S3, "traces", "")));
        assert_eq!(place("az://traces/a"), Some((Kind::Azure, "traces", "a")));
        assert_eq!(place("gs://traces/a"), Some((Kind::Google, "traces", "a")));
        assert_eq!(place("s3/traces"), None);
        assert_eq!(place("./s3://traces"), None);
    }

    #[test]
    fn other_addresses_are_refused() {
        let is_refused = |path: &str| refuse_unknown(path.as_ref()).is_err();
        for address in ["gcs://a/b", "abfs://a", "s3a://a", "http://a/b", "S3://a/b"] {
            assert!(is_refused(address), "{address}");
        }
        for place in [
            "s3://a/b",
            "az://a/b",
            "gs://a/b",
            "farm",
            "./abfs://a",
            "C://farm",
            "a b://c",
            "://a",
        ] {
            assert!(!is_refused(place), "{place}");
        }
    }
}
