//! `FileIO`: operations on files by path and process.

use std::sync::Arc;

use etwkit_trace::table::FileFile;

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::Rows;

/// Reads the part and writes `file_file`.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows = Rows::default();
    let mut count = 0;
    reader.object(|reader, name| {
        match name {
            "FileName2PerProcessMapping" => {
                reader.object(|reader, path| {
                    let path: Arc<str> = path.into();
                    let mut each = |reader: &mut Reader, index: &str| {
                        let process_key = import.process_name(reader, index)?;
                        let owner = FileFile {
                            path: Some(Arc::clone(&path)),
                            process_key,
                            ..FileFile::default()
                        };
                        for row in operations(reader, import, &owner)? {
                            count += 1;
                            rows.push(&row, import.sink)?;
                        }
                        Ok(())
                    };
                    // Processes are either in a member of their own or directly below the path.
                    reader.object(|reader, name| match name {
                        "Process" => reader.object(&mut each).map(|_| ()),
                        index => each(reader, index),
                    })?;
                    Ok(())
                })?;
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    rows.flush(import.sink)?;
    import.found("file I/O", count > 0);
    let lacking = "file_file: longest operations, bytes that were really read or written, failures other \
                   than of opening";
    import.lack(lacking, count);
    Ok(())
}

/// Rows of one process and path.
fn operations(
    reader: &mut Reader,
    import: &mut Import<'_>,
    owner: &FileFile,
) -> Result<Vec<FileFile>> {
    let mut rows = Vec::new();
    reader.object(|reader, name| {
        let kind = match name {
            "Open" => "create",
            "Close" => "close",
            "Read" => "read",
            "Write" => "write",
            "SetSecurity" => "set_security",
            "Delete" => "delete",
            "Rename" => "rename",
            _ => return reader.unknown(),
        };
        operation(
            reader,
            import,
            FileFile {
                kind: kind.to_owned(),
                ..owner.clone()
            },
            &mut rows,
        )
    })?;
    Ok(rows)
}

fn operation(
    reader: &mut Reader,
    import: &mut Import<'_>,
    mut row: FileFile,
    rows: &mut Vec<FileFile>,
) -> Result<()> {
    let mut cleanups = 0;
    let is_there = reader.object(|reader, name| {
        match name {
            "Count" => row.count = reader.given(Reader::int)?,
            "Durationus" => row.duration_ns = reader.given(Reader::int)?.saturating_mul(1000),
            "AccessedBytes" => row.size_bytes = reader.given(Reader::int)?,
            "MaxFilePosition" => row.max_position_bytes = reader.given(Reader::int)?,
            "Cleanups" => cleanups = reader.given(Reader::int)?,
            // One time for each call. The table holds sums, so only their number is kept.
            "Times" => {
                row.count = reader.skip_counted()? as i64;
                import.drop(
                    "FileIO: when the security of files was set",
                    row.count as usize,
                );
            }
            "NtStatus" => {
                // The file lists each distinct status once, so more operations may have failed than
                // it shows.
                let mut failed: Vec<i64> = reader
                    .all(Reader::bits)?
                    .into_iter()
                    .filter(|status| *status as i32 != 0)
                    .collect();
                row.failures = failed.len() as i64;
                failed.sort_unstable();
                failed.dedup();
                let texts: Vec<String> = failed
                    .iter()
                    .map(|status| format!("{:#010x}", *status as i32))
                    .collect();
                row.failure_statuses = texts.join(",");
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    if is_there {
        if cleanups > 0 {
            // The file has one duration for both, which the row of closing has.
            let path = row.path.clone();
            let process_key = row.process_key;
            rows.push(FileFile {
                path,
                process_key,
                kind: "cleanup".to_owned(),
                count: cleanups,
                ..FileFile::default()
            });
        }
        rows.push(row);
    }
    Ok(())
}
