//! Checksums of table files: CRC-32 of every 64 KiB, kept in the manifest.
//!
//! Parquet has checksums of pages, but they cover neither the headers of pages nor the end of the
//! file, and few writers have them. These checksums cover every byte, and a part of a file can be
//! checked without reading the rest. They find accidents: an attacker who changes a file can also
//! change the manifest.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that have a checksum of their own; the last block of a file may be shorter.
pub(crate) const BLOCK_BYTES: u64 = 64 << 10;

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// CRC-32 (the variant of zip and PNG) of each block of a file. In JSON it is a text with eight
/// hexadecimal digits for each block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checksums(Arc<[u32]>);

/// A range of bytes that differ from the bytes written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Start of the block.
    pub(crate) from: u64,
    /// End of the block.
    pub(crate) to: u64,
    pub(crate) expected: u32,
    pub(crate) found: u32,
}

impl Checksums {
    /// True if there are no checksums, as in extracts of older versions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the number of blocks matches a file of that size.
    pub(crate) fn fit(&self, bytes: u64) -> bool {
        self.is_empty() || self.0.len() as u64 == bytes.div_ceil(BLOCK_BYTES)
    }

    /// Compares blocks of a file with their checksums. The first one starts at `from`, a multiple
    /// of the block size.
    pub(crate) fn check(&self, from: u64, bytes: &[u8]) -> Result<(), Mismatch> {
        if self.is_empty() {
            return Ok(());
        }
        let blocks = bytes.chunks(usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX));
        for (number, block) in (from / BLOCK_BYTES..).zip(blocks) {
            let expected = usize::try_from(number)
                .ok()
                .and_then(|number| self.0.get(number))
                .copied();
            let found = crc32fast::hash(block);
            if expected != Some(found) {
                let from = number * BLOCK_BYTES;
                return Err(Mismatch {
                    from,
                    to: from + block.len() as u64,
                    // A block after the last checksum differs from any.
                    expected: expected.unwrap_or(!found),
                    found,
                });
            }
        }
        Ok(())
    }
}

/// Computes checksums of a file while it is written.
#[derive(Debug, Default)]
pub(crate) struct Summing {
    done: Vec<u32>,
    block: crc32fast::Hasher,
    /// Bytes of the current block so far.
    filled: usize,
}

impl Summing {
    /// Takes the next bytes of the file.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        let whole = usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(whole - self.filled));
            self.block.update(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == whole {
                self.end_block();
            }
        }
    }

    /// The checksums of all blocks.
    pub(crate) fn finish(mut self) -> Checksums {
        if self.filled > 0 {
            self.end_block();
        }
        Checksums(self.done.into())
    }

    fn end_block(&mut self) {
        self.done.push(std::mem::take(&mut self.block).finalize());
        self.filled = 0;
    }
}

impl Serialize for Checksums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(self.0.len() * DIGITS);
        for sum in self.0.iter() {
            // Writing into text does not fail.
            let _ = write!(text, "{sum:08x}");
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Checksums {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits)
                .ok()
                .filter(|digits| digits.len() == DIGITS)?;
            u32::from_str_radix(digits, 16).ok()
        };
        let sums: Option<Vec<u32>> = text.as_bytes().chunks(DIGITS).map(number).collect();
        let expected =
            || serde::de::Error::custom("expected checksums of eight hexadecimal digits each");
        Ok(Self(sums.ok_or_else(expected)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_a_checksum_is_a_mismatch() {
        // Its own checksum is 0.
        let block = [0x9D, 0x0A, 0xD9, 0x6D];
        assert_eq!(crc32fast::hash(&block), 0);
        let sums = Checksums(Arc::from([0]));
        assert_eq!(sums.check(0, &block), Ok(()));
        assert!(sums.check(BLOCK_BYTES, &block).is_err());
    }

    #[test]
    fn blocks_are_summed_however_bytes_come() {
        let bytes: Vec<u8> = (0..200_000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        let expected: Vec<u32> = bytes.chunks(65_536).map(crc32fast::hash).collect();
        for step in [1000, 65_536, 200_000] {
            let mut summing = Summing::default();
            bytes.chunks(step).for_each(|part| summing.add(part));
            let sums = summing.finish();
            assert_eq!(*sums.0, expected, "{step}");
            assert!(sums.fit(200_000) && !sums.fit(300_000));
            assert_eq!(sums.check(65_536, &bytes[65_536..]), Ok(()));
            let wrong = sums.check(0, &bytes[65_536..]).unwrap_err();
            assert_eq!(
                (wrong.from, wrong.to, wrong.found),
                (0, 65_536, expected[1])
            );
        }
    }

    #[test]
    fn in_json_they_are_one_text() {
        // The check value of this CRC in the literature is the checksum of these nine digits.
        let mut summing = Summing::default();
        summing.add(b"123456789");
        let sums = summing.finish();
        assert_eq!(serde_json::to_string(&sums).unwrap(), "\"cbf43926\"");
        assert_eq!(
            serde_json::from_str::<Checksums>("\"cbf43926\"").unwrap(),
            sums
        );
        for wrong in ["\"cbf4392\"", "\"cbf4392z\"", "5", "\"cbf43926é\""] {
            assert!(serde_json::from_str::<Checksums>(wrong).is_err(), "{wrong}");
        }
    }
}
