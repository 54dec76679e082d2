//! The parts of a table file that have already been compared with their checksums.

use std::sync::atomic::{AtomicU64, Ordering};

use super::slice::TableFile;
use crate::checksum::BLOCK_BYTES;
use crate::store_error::StoreResult;

/// The blocks of an open file that have already been compared with their checksums.
#[derive(Debug)]
pub(super) struct Checks {
    file: TableFile,
    /// A bit for each block. Pages are smaller than blocks and are read one by one: without the
    /// bits a whole block would be read, and its checksum computed, once for each of its pages.
    done: Vec<AtomicU64>,
}

impl Checks {
    pub(super) fn of(file: &TableFile) -> Self {
        let words = file
            .length
            .div_ceil(BLOCK_BYTES)
            .div_ceil(u64::from(u64::BITS));
        Self {
            file: file.clone(),
            done: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The word of a block, and its bit there.
    fn bit(&self, block: u64) -> Option<(&AtomicU64, u64)> {
        let word = usize::try_from(block / u64::from(u64::BITS)).ok()?;
        Some((self.done.get(word)?, 1 << (block % u64::from(u64::BITS))))
    }

    /// True if all blocks in this range of bytes have been checked.
    pub(super) fn are_done(&self, (from, to): (u64, u64)) -> bool {
        // No order is needed between threads: an outdated bit can only cause a second comparison of
        // a block.
        // All blocks of the range have to be done; one that is not is enough to read them again.
        (from / BLOCK_BYTES..to.div_ceil(BLOCK_BYTES)).all(|block| {
            self.bit(block)
                .is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
        })
    }

    /// Compares whole blocks with their checksums. The first one starts at `from`.
    pub(super) fn check(&self, from: u64, bytes: &[u8]) -> StoreResult<()> {
        self.file.check(from, bytes)?;
        for block in from / BLOCK_BYTES..(from + bytes.len() as u64).div_ceil(BLOCK_BYTES) {
            if let Some((word, bit)) = self.bit(block) {
                // Set after the comparison, so that a thread that sees the bit may rely on it.
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::ChunkReader;

    use super::*;

    #[test]
    fn a_block_is_compared_once_and_damage_is_found_by_whatever_reads_it_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut bytes: Vec<u8> = (0..400_000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8)
            .collect();
        let mut sums = crate::checksum::Summing::default();
        sums.add(&bytes);
        let file = TableFile {
            name: "t".to_owned(),
            path: path.clone(),
            offset: 0,
            length: bytes.len() as u64,
            rows: 0,
            sorted_by: Vec::new(),
            crc32: sums.finish(),
            derived: false,
            extract: folder.path().to_owned(),
            member: "t.parquet".to_owned(),
            of_manifest: None,
        };
        bytes[200_000] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let slice = file.open().unwrap();
        let done = |from, to| slice.checks.as_ref().unwrap().are_done((from, to));
        let read = |start: u64, length| slice.get_bytes(start, length);
        assert_eq!(read(70_000, 10).unwrap(), bytes[70_000..70_010]);
        assert!(done(65_536, 131_072) && !done(0, 10) && !done(131_000, 131_073));
        assert_eq!(read(65_536, 65_536).unwrap(), bytes[65_536..131_072]);
        for (start, length) in [(196_608, 1), (262_143, 1), (131_000, 70_000), (0, 400_000)] {
            let error = read(start, length).unwrap_err().to_string();
            assert!(
                error.contains("bytes 196608 to 262144 with the checksum"),
                "{start}: {error}"
            );
        }
        assert!(!done(196_608, 262_144));
        assert_eq!(read(390_000, 10_000).unwrap(), bytes[390_000..]);
        assert!(done(327_680, 400_000));
    }
}
