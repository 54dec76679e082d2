//! Sequence points: the source line from each IL offset on.

use etwkit_etl::bytes::Cursor;

use super::metadata::{compressed, compressed_signed};

/// Document and line at an IL offset, from the last point at or before it.
pub(super) fn line_at(blob: &[u8], document: u32, il_offset: u32) -> Option<(u32, u32)> {
    let mut cursor = Cursor::new(blob);
    let _local_signature = compressed(&mut cursor)?;
    let mut document = if document == 0 {
        compressed(&mut cursor)?
    } else {
        document
    };
    let mut offset = 0_u32;
    let mut line = None::<u32>;
    let mut found = None;
    let mut is_first = true;
    while let Some(delta) = compressed(&mut cursor) {
        // Offsets rise from point to point, so 0 is free to announce a change of the document.
        if delta == 0 && !is_first {
            document = compressed(&mut cursor)?;
            continue;
        }
        offset = offset.checked_add(delta)?;
        if offset > il_offset {
            break;
        }
        is_first = false;
        let lines = compressed(&mut cursor)?;
        // A point that ends in its first line cannot end before its start, so the difference of
        // columns has no sign then.
        let columns = if lines == 0 {
            i64::from(compressed(&mut cursor)?)
        } else {
            i64::from(compressed_signed(&mut cursor)?)
        };
        if lines == 0 && columns == 0 {
            // A hidden point: compiler-generated code.
            found = None;
            continue;
        }
        // The first point has its line in full, the others its difference from the one before.
        let start = match line {
            None => {
                let start = compressed(&mut cursor)?;
                let _column = compressed(&mut cursor)?;
                start
            }
            Some(last) => {
                let delta = compressed_signed(&mut cursor)?;
                let _column = compressed_signed(&mut cursor)?;
                last.checked_add_signed(delta)?
            }
        };
        line = Some(start);
        found = Some((document, start));
    }
    found
}
