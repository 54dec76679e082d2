//! Data that comes before the event that it belongs to.

use std::collections::BTreeMap;

/// Maximum number of entries, over all keys: a malicious file can have any number of entries for
/// one key. Real entries are rare: with equal time stamps a stack can be in an earlier buffer than
/// its event, a few times for each processor.
pub(crate) const MAX_EARLY: usize = 4096;

/// Entries by raw time and owner of the event to come.
#[derive(Debug)]
pub(crate) struct Early<W, V> {
    // In order of time, so that outdated entries are found without looking at the others.
    waiting: BTreeMap<(i64, W), Vec<V>>,
    count: usize,
}

impl<W, V> Default for Early<W, V> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            count: 0,
        }
    }
}

impl<W: Ord, V> Early<W, V> {
    /// Entries of all keys.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.len() >= MAX_EARLY
    }

    /// Keeps an entry, if there is room.
    pub(crate) fn keep(&mut self, key: (i64, W), value: V) {
        if !self.is_full() {
            self.count += 1;
            self.waiting.entry(key).or_default().push(value);
        }
    }

    /// Takes the entries of a key in the order of arrival.
    pub(crate) fn take(&mut self, key: &(i64, W)) -> Vec<V> {
        let Some(taken) = self.waiting.remove(key) else {
            return Vec::new();
        };
        self.count -= taken.len();
        taken
    }

    /// Drops the entries of earlier times, whose events cannot come any more; returns their number.
    pub(crate) fn forget_before(&mut self, time: i64) -> usize {
        let before = self.count;
        while let Some(first) = self
            .waiting
            .first_entry()
            .filter(|first| first.key().0 < time)
        {
            self.count -= first.remove().len();
        }
        before - self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_bounded_whatever_their_keys_are_and_go_when_their_time_is_over() {
        let mut early = Early::default();
        (0..3).for_each(|value| early.keep((5, 'b'), value));
        early.keep((7, 'a'), 9);
        assert_eq!(
            (early.take(&(5, 'b')), early.take(&(5, 'b'))),
            (vec![0, 1, 2], vec![])
        );
        (0..2 * MAX_EARLY).for_each(|value| early.keep((5, 'c'), value));
        assert!(early.is_full() && early.len() == MAX_EARLY);
        assert_eq!(
            (early.forget_before(5), early.forget_before(6), early.len()),
            (0, MAX_EARLY - 1, 1)
        );
        assert_eq!((early.take(&(7, 'a')), early.is_empty()), (vec![9], true));
    }
}
