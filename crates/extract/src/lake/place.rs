//! The places of lakes: folders, and folders of buckets.

use std::path::Path;

use crate::lake::{Error, Result};

/// The start of the address of a bucket.
const SCHEME: &str = "s3://";

/// Returns the bucket and the folder in it; `None` for the path of a folder of this computer.
pub(crate) fn in_bucket(path: &Path) -> Option<(&str, &str)> {
    let place = path.to_str()?.strip_prefix(SCHEME)?;
    Some(place.split_once('/').unwrap_or((place, "")))
}

/// Refuses the address of another kind of place. As the path of a folder it would be created in the current
/// one.
///
/// # Errors
/// The path is an address, and not one of a bucket of S3.
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
        assert_eq!(place("s3://traces/a/b"), Some(("traces", "a/b")));
        assert_eq!(place("s3://traces"), Some(("traces", "")));
        assert_eq!(place("s3/traces"), None);
        assert_eq!(place("./s3://traces"), None);
    }

    #[test]
    fn other_addresses_are_refused() {
        let is_refused = |path: &str| refuse_unknown(path.as_ref()).is_err();
        for address in ["gs://a/b", "az://a", "s3a://a/b", "http://a/b", "S3://a/b"] {
            assert!(is_refused(address), "{address}");
        }
        for place in [
            "s3://a/b", "farm", "./gs://a", "C://farm", "a b://c", "://a",
        ] {
            assert!(!is_refused(place), "{place}");
        }
    }
}
