//! Hashes of numbers out of a trace.

use std::hash::{BuildHasher, RandomState};

/// Combines two numbers into one. Each run uses other random factors, so that no file can be
/// crafted whose numbers all collide in one slot of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mixer([u64; 2]);

impl Default for Mixer {
    fn default() -> Self {
        let random = RandomState::new();
        Self([1u8, 2].map(|which| random.hash_one(which) | 1))
    }
}

impl Mixer {
    /// Both halves of the product are used, so that every bit of the result depends on every bit of
    /// both.
    #[inline]
    pub(crate) const fn mix(self, a: u64, b: u64) -> u64 {
        let product = (a ^ self.0[0]) as u128 * (b ^ self.0[1]) as u128;
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn neighbours_are_far_apart() {
        let mixer = Mixer::default();
        let all = (0..64).flat_map(|a| (0..64).map(move |b| mixer.mix(a, 8 * b)));
        let hashes: HashSet<u64> = all.clone().collect();
        let low_bits: HashSet<u64> = all.map(|hash| hash % (1 << 15)).collect();
        assert_eq!(hashes.len(), 4096);
        assert!(low_bits.len() > 3400, "{} of 4096", low_bits.len());
    }
}
