//! `SummaryStackTags` and `SpecialStackTags`.

use etwkit_base::path::file_name;
use etwkit_trace::table::CpuTag;
use etwkit_trace::tags::DEFAULT_SET;

use crate::json7z::error::{Failure, Result};
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;

/// Name of the set of the user's own tags, if the file does not name it.
const SPECIAL: &str = "Special.stacktags";

/// Reads a section. Tags of the section of the user are of a set of their own.
pub(crate) fn read(
    reader: &mut Reader,
    import: &mut Import<'_>,
    is_special: bool,
    tags: &mut Vec<CpuTag>,
) -> Result<()> {
    let mut files = Vec::new();
    let begin = tags.len();
    reader.object(|reader, name| {
        match name {
            "UsedStackTagFiles" => files = reader.all(Reader::text)?,
            "Stats" => _ = reader.list(|reader| process(reader, import, tags))?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    let file = files.first().map_or(SPECIAL, |file| file_name(file));
    let set = if is_special { file } else { DEFAULT_SET };
    tags.iter_mut()
        .skip(begin)
        .for_each(|tag| set.clone_into(&mut tag.tag_set));
    Ok(())
}

fn process(reader: &mut Reader, import: &mut Import<'_>, tags: &mut Vec<CpuTag>) -> Result<()> {
    let mut process_key = None;
    let begin = tags.len();
    reader.object(|reader, name| {
        match name {
            "Key" => process_key = import.process(reader)?,
            "Value" => {
                reader.list(|reader| {
                    let tag = tag(reader, import)?;
                    tags.push(tag);
                    Ok(())
                })?;
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    tags.iter_mut()
        .skip(begin)
        .for_each(|tag| tag.process_key = process_key);
    Ok(())
}

fn tag(reader: &mut Reader, import: &Import<'_>) -> Result<CpuTag> {
    let mut row = CpuTag::default();
    let mut length = 0;
    let ms = |reader: &mut Reader| {
        Ok::<_, Failure>(reader.given(Reader::int)?.saturating_mul(1_000_000))
    };
    reader.object(|reader, name| {
        match name {
            "Stacktag" => row.tag = reader.given(Reader::text)?,
            "CPUInMs" => row.cpu_ns = ms(reader)?,
            // The sum over all threads; concurrent waits count several times.
            "WaitDurationInMs" => row.wait_sum_ns = Some(ms(reader)?),
            "FirstOccurence" => row.first_ns = reader.given(|reader| import.time(reader))?,
            "FirstLastOccurenceDuration" => length = reader.given(Reader::span)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    row.last_ns = row.first_ns.saturating_add(length);
    Ok(row)
}

/// Writes `cpu_tag`.
pub(crate) fn write(
    mut tags: Vec<CpuTag>,
    has_switches: bool,
    import: &mut Import<'_>,
) -> Result<()> {
    tags.sort_by_key(|tag| tag.process_key);
    // Without context switches waits were not measured, and the zeros in the file mean nothing.
    if !has_switches {
        tags.iter_mut().for_each(|tag| tag.wait_sum_ns = None);
    }
    import.lack(
        "cpu_tag: samples, threads, and waits without overlaps",
        tags.len(),
    );
    write_all(tags, import.sink)
}
