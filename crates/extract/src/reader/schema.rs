//! The schema at the end of a Parquet file, checked before a decoder follows it.
//!
//! A schema is a list of elements, each with the number of its children. Decoders follow them with
//! calls, and reserve room for all children that an element claims: a file with a hundred thousand
//! groups in each other would end the process. Writers put the schema in front of everything else
//! but a number, so only these bytes are read.

use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::thrift::{Thrift, kind};

/// Maximum elements: columns and groups. Tables of extracts have less than a hundred.
const MAX_ELEMENTS: u64 = 1024;

/// Maximum groups in each other. A list or a map takes two.
const MAX_LEVELS: usize = 32;

/// Bytes that are read at most.
const MAX_BYTES: u64 = 1 << 20;

/// The end of a file: the length of its metadata, and a mark.
const END: usize = 8;
const MARK: &[u8; 4] = b"PAR1";

/// Fields of the metadata.
const VERSION: i64 = 1;
const SCHEMA: i64 = 2;

/// Fields of an element.
const NAME: i64 = 4;
const CHILDREN: i64 = 5;
const LOGICAL_TYPE: i64 = 10;

/// Checks the schema of a file.
///
/// # Errors
/// If it has too many elements or levels, claims children that it does not have, or is damaged.
pub(super) fn check(file: &impl ChunkReader) -> Result<(), ParquetError> {
    let Some(start) = start_of_metadata(file)? else {
        // The decoder says what is wrong with such a file.
        return Ok(());
    };
    // Metadata of a table with many row groups is longer; the schema is at its start.
    let left = file.len() - start;
    let length = usize::try_from(left.min(MAX_BYTES)).unwrap_or(usize::MAX);
    let bytes = file.get_bytes(start, length)?;
    follow(&bytes).ok_or_else(|| {
        let text = format!(
            "its schema is damaged, or has more than {MAX_ELEMENTS} columns or {MAX_LEVELS} levels"
        );
        ParquetError::General(text)
    })
}

/// The first byte of the metadata; `None` if the file does not end as a Parquet file does.
fn start_of_metadata(file: &impl ChunkReader) -> Result<Option<u64>, ParquetError> {
    let Some(at) = file.len().checked_sub(END as u64) else {
        return Ok(None);
    };
    let end = file.get_bytes(at, END)?;
    let (length, mark) = end.split_at(END - MARK.len());
    let Some(length) = length.first_chunk().filter(|_| mark == MARK) else {
        return Ok(None);
    };
    Ok(at.checked_sub(u32::from_le_bytes(*length).into()))
}

/// Follows the metadata to the end of the schema; `None` if a decoder should not.
fn follow(bytes: &[u8]) -> Option<()> {
    let mut thrift = Thrift::new(bytes);
    let mut id = 0;
    while let Some(kind) = thrift.field(&mut id)? {
        match (id, kind) {
            (VERSION, kind::I32) => _ = thrift.number()?,
            // A decoder takes the first schema, and skips others.
            (SCHEMA, kind::LIST) => return elements(&mut thrift),
            // A file whose metadata begins otherwise is left to the decoder only if it is
            // understood here.
            _ => return None,
        }
    }
    None
}

fn elements(thrift: &mut Thrift<'_>) -> Option<()> {
    let (kind, count) = thrift.list()?;
    // Bounded before any element is read.
    if kind != kind::STRUCT || count > MAX_ELEMENTS {
        return None;
    }
    // Children that are still to come, of each open group.
    let mut open: Vec<u64> = Vec::new();
    for number in 1..=count {
        let children = children(thrift)?;
        // Groups that have all their children are closed before the next element is counted.
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            // A group cannot have more children than elements are left.
            if children > count - number || open.len() >= MAX_LEVELS {
                return None;
            }
            open.push(children);
        }
    }
    Some(())
}

/// Reads an element: the number of its children.
fn children(thrift: &mut Thrift<'_>) -> Option<u64> {
    let (mut children, mut id) = (0, 0);
    while let Some(kind) = thrift.field(&mut id)? {
        // A decoder trusts the kinds of fields that it knows, so others would mislead it.
        match (id, kind) {
            (CHILDREN, kind::I32) => {
                let claimed = i32::try_from(thrift.number()?).ok()?;
                children = u64::try_from(claimed).ok()?;
            }
            (1..=9, kind::I32) if id != NAME => _ = thrift.number()?,
            (NAME, kind::BINARY) | (LOGICAL_TYPE, kind::STRUCT) => thrift.skip(kind, 0)?,
            _ => return None,
        }
    }
    Some(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of 32 bits after the one before, or a few further on.
    fn number(delta: u8, number: u8) -> [u8; 3] {
        let (low, high) = (number << 1 | 0x80, number >> 6);
        [delta << 4 | kind::I32, low, high]
    }

    /// An element with children; none is a column.
    fn element(children: u8) -> Vec<u8> {
        let name = [1 << 4 | kind::BINARY, 1, b'x'];
        if children == 0 {
            return [&number(1, 1)[..], &number(2, 0), &name, &[0]].concat();
        }
        [&number(3, 0)[..], &name, &number(1, children), &[0]].concat()
    }

    /// The metadata of a file with these elements, up to its rows.
    fn metadata(elements: &[Vec<u8>]) -> Vec<u8> {
        let count = u16::try_from(elements.len()).unwrap();
        let count = [(count & 0x7F) as u8 | 0x80, (count >> 7) as u8];
        let list = [1 << 4 | kind::LIST, 0xF0 | kind::STRUCT];
        let elements = elements.concat();
        [&number(1, 2)[..], &list, &count, &elements, &[0x16, 0]].concat()
    }

    /// Groups in each other around a column.
    fn nested(levels: usize) -> Vec<u8> {
        let mut elements = vec![element(1); levels];
        elements.push(element(0));
        metadata(&elements)
    }

    #[test]
    fn deep_and_wide_schemas_are_refused() {
        assert_eq!(follow(&nested(MAX_LEVELS)), Some(()));
        assert_eq!(follow(&nested(MAX_LEVELS + 1)), None);
        let flat = |columns: usize| [vec![element(100)], vec![element(0); columns]].concat();
        assert_eq!(follow(&metadata(&flat(100))), Some(()));
        assert_eq!(follow(&metadata(&flat(99))), None, "a child is missing");
        // Groups behind each other are not in each other.
        let mut groups = vec![element(100)];
        for _ in 0..100 {
            groups.extend([element(1), element(0)]);
        }
        assert_eq!(follow(&metadata(&groups)), Some(()));
        assert_eq!(follow(&metadata(&flat(1100))), None, "too many elements");
    }

    #[test]
    fn damaged_schemas_are_refused() {
        let good = nested(3);
        let schema = good.len() - 2;
        for length in 0..schema {
            assert_eq!(follow(&good[..length]), None, "{length}");
        }
        assert_eq!(follow(&good[..schema]), Some(()));
        // A number of rows in front of the schema, and a name that is a number.
        assert_eq!(follow(&[&[0x16, 0][..], &good].concat()), None);
        let element = [&number(4, 1)[..], &[0]].concat();
        assert_eq!(follow(&metadata(&[element])), None);
    }
}
