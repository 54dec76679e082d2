//! The places of lakes: folders, and folders of buckets.

use std::path::Path;

/// The start of the address of a bucket.
const SCHEME: &str = "s3://";

/// Returns the bucket and the folder in it; `None` for the path of a folder of this computer.
pub(crate) fn in_bucket(path: &Path) -> Option<(&str, &str)> {
    let place = path.to_str()?.strip_prefix(SCHEME)?;
    Some(place.split_once('/').unwrap_or((place, "")))
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
}
