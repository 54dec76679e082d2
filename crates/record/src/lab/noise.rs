//! Bytes that no file system and no disk can compress.

/// A small random number generator (xorshift64*): deterministic by its seed, and good enough to be
/// incompressible.
pub(crate) struct Noise(u64);

impl Noise {
    /// Creates a generator for that seed, which must not be 0.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns the next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = std::iter::repeat_with(|| self.next().to_le_bytes())
            .take(count.div_ceil(8))
            .flatten()
            .collect();
        bytes.truncate(count);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_as_many_as_asked_and_spread() {
        let bytes = Noise::new(1).bytes(100_003);
        assert_eq!(bytes.len(), 100_003);
        let mut counts = [0_u32; 256];
        bytes
            .iter()
            .for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(
            counts.iter().all(|count| (250..550).contains(count)),
            "{counts:?}"
        );
    }
}
