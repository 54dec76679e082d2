//! A set of numbers that were already written, so that each is written once.

/// A set of numbers from 0 on. It takes one bit for each number up to the largest one.
#[derive(Debug, Default)]
pub(crate) struct Used(Vec<u64>);

impl Used {
    /// Adds a number; returns `true` if it is new. Negative ones are ignored, and never new.
    pub(crate) fn add(&mut self, number: i32) -> bool {
        let Ok(number) = usize::try_from(number) else {
            return false;
        };
        let word = number / 64;
        let bit = 1_u64 << (number % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let Some(word) = self.0.get_mut(word) else {
            return false;
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Returns all numbers, ascending.
    pub(crate) fn all(&self) -> impl Iterator<Item = i32> + '_ {
        let count = i32::try_from(self.0.len().saturating_mul(64)).unwrap_or(i32::MAX);
        (0..count).filter(|number| {
            let number = number.unsigned_abs() as usize;
            self.0
                .get(number / 64)
                .is_some_and(|word| word >> (number % 64) & 1 == 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once() {
        let mut used = Used::default();
        let added: Vec<bool> = [3, 130, 3, 0, -1, 63, 64]
            .into_iter()
            .map(|n| used.add(n))
            .collect();
        assert_eq!(added, [true, true, false, true, false, true, true]);
        assert_eq!(used.all().collect::<Vec<_>>(), [0, 3, 63, 64, 130]);
    }
}
