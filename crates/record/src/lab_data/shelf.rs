//! The objects of the serializer comparison: books with a title, a number and some bytes.

use serde::{Deserialize, Serialize};

/// All books.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BookShelf {
    books: Vec<Book>,
}

/// A book of a shelf.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Book {
    title: String,
    id: i32,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

impl BookShelf {
    /// Creates this many books, numbered from 1, each with this many bytes of letters.
    pub(crate) fn of(books: u32, bytes: u32) -> Self {
        let data: Vec<u8> = (b'a'..=b'z').cycle().take(bytes as usize).collect();
        let book = |id: u32| Book {
            title: format!("Book {id}"),
            id: id.cast_signed(),
            data: data.clone(),
        };
        Self {
            books: (1..=books).map(book).collect(),
        }
    }
}
