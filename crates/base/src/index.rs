//! Positions that know what they are positions of: a position of one kind of thing cannot be taken for one of
//! another kind, and a wrong one is a panic at the place that has it, not a row that is skipped without a word.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// The position of a `T`. It takes four bytes, and so does one that may be missing.
pub struct Idx<T> {
    /// The position, plus one.
    number: NonZeroU32,
    of: PhantomData<fn() -> T>,
}

impl<T> Idx<T> {
    /// The first position.
    pub const FIRST: Self = Self {
        number: NonZeroU32::MIN,
        of: PhantomData,
    };

    /// A position as a number.
    ///
    /// # Panics
    /// If the number is 2³² − 1 or more: so many things do not fit into memory.
    #[expect(clippy::expect_used, reason = "the one place where positions are made")]
    #[inline]
    #[must_use]
    pub fn new(position: usize) -> Self {
        let number = u32::try_from(position)
            .ok()
            .and_then(|at| at.checked_add(1));
        Self {
            number: number
                .and_then(NonZeroU32::new)
                .expect("fewer than 2³² − 1 things"),
            of: PhantomData,
        }
    }

    /// The position as a number.
    #[inline]
    #[must_use]
    pub const fn get(self) -> usize {
        self.as_u32() as usize
    }

    /// The position as a number of 32 bits.
    #[inline]
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.number.get() - 1
    }
}

// Written out, since derived ones would ask the same of `T`.
impl<T> Clone for Idx<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Idx<T> {}

impl<T> PartialEq for Idx<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for Idx<T> {}

impl<T> PartialOrd for Idx<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Idx<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }
}

impl<T> Hash for Idx<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<T> fmt::Debug for Idx<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.get())
    }
}

/// Values by the position of a `T`: the things themselves, or something about each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexVec<T, V = T> {
    values: Vec<V>,
    of: PhantomData<fn() -> T>,
}

impl<T, V> IndexVec<T, V> {
    /// No values.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            values: Vec::new(),
            of: PhantomData,
        }
    }

    /// No values, with room for some.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Vec::with_capacity(capacity).into()
    }

    /// Adds a value. Returns its position.
    #[inline]
    pub fn push(&mut self, value: V) -> Idx<T> {
        let position = self.next();
        self.values.push(value);
        position
    }

    /// The position that the next value gets.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Idx<T> {
        Idx::new(self.values.len())
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The position with that number, if there is a value: for numbers that come from elsewhere, such as files.
    #[inline]
    #[must_use]
    pub fn position(&self, number: usize) -> Option<Idx<T>> {
        (number < self.values.len()).then(|| Idx::new(number))
    }

    /// The position of the first value that passes.
    pub fn find(&self, passes: impl FnMut(&V) -> bool) -> Option<Idx<T>> {
        self.values.iter().position(passes).map(Idx::new)
    }

    /// All positions, in order.
    pub fn positions(
        &self,
    ) -> impl ExactSizeIterator<Item = Idx<T>> + DoubleEndedIterator + use<T, V> {
        (0..self.values.len()).map(Idx::new)
    }

    /// The values, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, V> {
        self.values.iter()
    }

    /// The values with their positions, in order.
    pub fn enumerate(&self) -> impl ExactSizeIterator<Item = (Idx<T>, &V)> + DoubleEndedIterator {
        self.values
            .iter()
            .enumerate()
            .map(|(at, value)| (Idx::new(at), value))
    }
}

impl<T, V: Clone> IndexVec<T, V> {
    /// One value for each position of another list.
    #[must_use]
    pub fn filled<W>(value: V, positions: &IndexVec<T, W>) -> Self {
        vec![value; positions.len()].into()
    }
}

impl<T, V> Default for IndexVec<T, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, V> From<Vec<V>> for IndexVec<T, V> {
    fn from(values: Vec<V>) -> Self {
        Self {
            values,
            of: PhantomData,
        }
    }
}

impl<T, V> FromIterator<V> for IndexVec<T, V> {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        values.into_iter().collect::<Vec<_>>().into()
    }
}

impl<T, V> IntoIterator for IndexVec<T, V> {
    type Item = V;
    type IntoIter = std::vec::IntoIter<V>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

impl<'v, T, V> IntoIterator for &'v IndexVec<T, V> {
    type Item = &'v V;
    type IntoIter = std::slice::Iter<'v, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.iter()
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "positions are made by the list that they are of"
)]
impl<T, V> Index<Idx<T>> for IndexVec<T, V> {
    type Output = V;

    #[inline]
    fn index(&self, position: Idx<T>) -> &V {
        &self.values[position.get()]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "positions are made by the list that they are of"
)]
impl<T, V> IndexMut<Idx<T>> for IndexVec<T, V> {
    #[inline]
    fn index_mut(&mut self, position: Idx<T>) -> &mut V {
        &mut self.values[position.get()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that implements nothing.
    struct Thing;

    #[test]
    fn a_position_leads_to_its_value_in_every_list_of_its_kind() {
        let mut names: IndexVec<Thing, &str> = IndexVec::new();
        assert_eq!(names.next(), Idx::FIRST);
        let (a, b) = (names.push("a"), names.push("b"));
        let mut sizes = IndexVec::filled(0, &names);
        sizes[b] += 7;
        assert_eq!((names[a], names[b], sizes[a], sizes[b]), ("a", "b", 0, 7));
        assert_eq!(names.positions().collect::<Vec<_>>(), [a, b]);
        assert_eq!(names.enumerate().last(), Some((b, &"b")));
        assert_eq!(names.find(|name| *name == "b"), Some(b));
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [0, 7]);
        assert!(a < b && a == Idx::new(0) && b.as_u32() == 1);
        assert_eq!(format!("{b:?}"), "#1");
    }

    #[test]
    fn numbers_from_elsewhere_are_positions_only_where_there_is_a_value() {
        let names: IndexVec<Thing, &str> = ["a", "b"].into_iter().collect();
        assert_eq!(names.position(1), Some(Idx::new(1)));
        assert_eq!(names.position(2), None);
        assert_eq!(names.position(usize::MAX), None);
        assert!(IndexVec::<Thing>::default().is_empty());
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn a_wrong_position_is_a_panic() {
        let names: IndexVec<Thing, &str> = IndexVec::default();
        let _ = names[Idx::FIRST];
    }

    #[test]
    fn a_position_that_may_be_missing_takes_no_more_room() {
        assert_eq!(size_of::<Option<Idx<Thing>>>(), 4);
    }
}
