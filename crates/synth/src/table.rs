//! Rows that are identified by a number of their own type, so that a thread cannot be mistaken for
//! a process.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of a row.
pub(crate) trait Key: Copy {
    fn new(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) usize);

        impl Key for $name {
            fn new(index: usize) -> Self {
                Self(index)
            }

            fn index(self) -> usize {
                self.0
            }
        }
    )*};
}

keys! {
    /// A logical processor.
    Cpu
    /// A program: it is one process.
    Program
    /// A thread of a program.
    Thread
    /// An image.
    Module
    /// A file that programs read and write.
    File
    /// A function of an image.
    Function
    /// A key of the registry.
    RegistryKey
    /// A call stack.
    Path
    /// An event that threads wait for and signal.
    Event
    /// A queue of requests to servers.
    Port
    /// A part of a program: call stacks that samples hit.
    Code
    /// The work of a thread, step by step.
    Script
    /// A device whose interrupts scripts switch on.
    Device
}

/// Rows by their key.
#[derive(Debug, Clone)]
pub(crate) struct Table<K, T> {
    rows: Vec<T>,
    key: PhantomData<K>,
}

impl<K: Key, T> FromIterator<T> for Table<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            key: PhantomData,
        }
    }
}

impl<K: Key, T> Table<K, T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.rows
            .iter()
            .enumerate()
            .map(|(index, row)| (K::new(index), row))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = K> + use<K, T> {
        (0..self.rows.len()).map(K::new)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: T) -> K {
        self.rows.push(row);
        K::new(self.rows.len() - 1)
    }
}

// By hand: the derived form would require defaults for rows and keys.
impl<K, T> Default for Table<K, T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            key: PhantomData,
        }
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "keys are the positions of rows; no key comes from a file"
)]
impl<K: Key, T> Index<K> for Table<K, T> {
    type Output = T;

    fn index(&self, key: K) -> &T {
        &self.rows[key.index()]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "keys are the positions of rows; no key comes from a file"
)]
impl<K: Key, T> IndexMut<K> for Table<K, T> {
    fn index_mut(&mut self, key: K) -> &mut T {
        &mut self.rows[key.index()]
    }
}
