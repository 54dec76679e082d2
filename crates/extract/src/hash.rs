//! Hashes that distinguish traces.

use std::io;

use etwkit_etl::source::ByteSource;

/// Number of bytes that are hashed at each end of a file.
const END: u64 = 1 << 20;

/// The hash of [`Input::source_hash`](crate::Input::source_hash). An error comes with the index of
/// its file.
pub(crate) fn source_hash<S: ByteSource>(sources: &[S]) -> Result<String, (usize, io::Error)> {
    let mut hasher = blake3::Hasher::new();
    for (index, source) in sources.iter().enumerate() {
        let size = source.size();
        // The size is hashed too: two files may agree at both ends and differ in length.
        hasher.update(&size.to_le_bytes());
        // Both ends and not the whole file: traces have gigabytes. The header event with its times
        // is at the start.
        for offset in [0, size.saturating_sub(END)] {
            let part = read(source, offset).map_err(|e| (index, e))?;
            hasher.update(&part);
        }
    }
    Ok(short(hasher.finalize()))
}

/// 16 hexadecimal digits: the first 8 bytes of BLAKE3 over all parts, one after the other.
#[must_use]
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    short(hasher.finalize())
}

/// The first 16 hexadecimal digits, enough to distinguish everything on one disk.
pub(crate) fn short(hash: blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}

fn read(source: &impl ByteSource, offset: u64) -> io::Result<Vec<u8>> {
    let wanted = usize::try_from(END.min(source.size())).map_err(io::Error::other)?;
    let mut part = vec![0; wanted];
    let read = source.read_at(offset, &mut part)?;
    part.truncate(read);
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(files: &[Vec<u8>]) -> String {
        source_hash(files).unwrap()
    }

    #[test]
    fn it_is_blake3_over_size_first_and_last_mebibyte() {
        let mut file = vec![7u8; 3 << 20];
        file[0] = 1;
        file[(3 << 20) - 1] = 2;
        let mut hashed = (3u64 << 20).to_le_bytes().to_vec();
        hashed.extend(&file[..1 << 20]);
        hashed.extend(&file[2 << 20..]);
        let whole = blake3::hash(&hashed).to_hex();
        assert_eq!(hash(&[file]), whole[..16]);
        // A short file counts twice; no file at all is the hash of nothing.
        assert_eq!(
            hash(&[b"ab".to_vec()]),
            blake3::hash(b"\x02\0\0\0\0\0\0\0abab").to_hex()[..16]
        );
        assert_eq!(hash(&[]), "af1349b9f5f9a1a6");
    }

    #[test]
    fn every_end_every_size_and_the_order_count() {
        let base = vec![0u8; 5 << 20];
        let mut seen = std::collections::BTreeSet::from([hash(std::slice::from_ref(&base))]);
        for at in [0, (1 << 20) - 1, 4 << 20, (5 << 20) - 1] {
            let mut other = base.clone();
            other[at] = 1;
            assert!(seen.insert(hash(&[other])), "{at}");
        }
        assert!(seen.insert(hash(&[base[1..].to_vec()])));
        let (a, b) = (b"a".to_vec(), b"b".to_vec());
        assert_ne!(hash(&[a.clone(), b.clone()]), hash(&[b, a]));
    }
}
