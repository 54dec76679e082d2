//! Random numbers that are the same in every run, on every platform and with every compiler:
//! integers only.

/// `SplitMix64`: one word of state.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Returns a number below `limit`; 0 if that is 0.
    pub(crate) const fn below(&mut self, limit: u64) -> u64 {
        // The high half of the product: evenly distributed without a division, whose remainder
        // would favor small numbers.
        ((self.next() as u128 * limit as u128) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) const fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high - low) as u64 + 1) as u32
    }

    /// Returns true with this probability, in per mille.
    pub(crate) const fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// Returns a duration around `mean`: mostly shorter, sometimes up to four times as long.
    pub(crate) const fn around(&mut self, mean: u32) -> i64 {
        // Both are 1024 on average, so that `mean` is the average of the result.
        let (a, b) = (self.below(2048), self.below(2048));
        1 + (mean as u64 * a * b / (1024 * 1024)) as i64
    }
}

/// Returns a number that looks like noise but depends only on `n`.
pub(crate) const fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_limits_and_means() {
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| rng.below(7) < 7 && (3..=5).contains(&rng.between(3, 5))));
        let hits = (0..100_000).filter(|_| rng.chance(250)).count();
        assert!((24_000..26_000).contains(&hits), "{hits}");
        let sum: i64 = (0..100_000).map(|_| rng.around(1000)).sum();
        assert!((980..1020).contains(&(sum / 100_000)), "{sum}");
    }
}
