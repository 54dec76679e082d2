//! Columns and lines of operations on files.

use super::{FileRequest, FileRow, FileSort, FileTotal, total};
use etwkit_question::Format::{Kilobytes, Process, ProcessLine, Seconds, Throughput, Whole, Word};
use etwkit_question::path::{WHOLE_PATH, reversed};
use etwkit_question::{Column, Line, Value, View};
use etwkit_sql::nt_status::error_name;

/// Returns `true` if all columns are shown.
const fn details(asked: &FileRequest) -> bool {
    asked.details
}

type FileColumn = Column<FileRequest, FileRow>;

pub(super) const FILE_IO: View<FileRequest, FileRow> = View::new(
    &[
        FileColumn::new("ReadSize", "Requested read kB", Kilobytes, |_, row| {
            row.read_bytes.into()
        })
        .cost(),
        FileColumn::new("ReadMaxPos", "Read up to kB", Kilobytes, |_, row| {
            row.read_max_position_bytes.into()
        })
        .worst()
        .shown_if(details),
        FileColumn::new("ReadDuration", "Read s", Seconds(5), |_, row| {
            row.read_ns.into()
        })
        .cost(),
        FileColumn::new(
            "ReadThroughput",
            "Requested read MB/s",
            Throughput,
            |_, row| Value::Rate(row.read_bytes, row.read_ns),
        )
        .shown_if(details),
        FileColumn::new("ReadCount", "Reads", Whole, |_, row| row.reads.into()).cost(),
        FileColumn::new("WriteSize", "Requested write kB", Kilobytes, |_, row| {
            row.write_bytes.into()
        })
        .cost(),
        FileColumn::new("WriteMaxPos", "Write up to kB", Kilobytes, |_, row| {
            row.write_max_position_bytes.into()
        })
        .worst()
        .shown_if(details),
        FileColumn::new("WriteDuration", "Write s", Seconds(5), |_, row| {
            row.write_ns.into()
        })
        .cost(),
        FileColumn::new(
            "WriteThroughput",
            "Requested write MB/s",
            Throughput,
            |_, row| Value::Rate(row.write_bytes, row.write_ns),
        )
        .shown_if(details),
        FileColumn::new("WriteCount", "Writes", Whole, |_, row| row.writes.into()).cost(),
        FileColumn::new("OpenCloseDuration", "Open+close s", Seconds(5), |_, row| {
            row.open_ns.saturating_add(row.close_ns).into()
        })
        .cost(),
        FileColumn::new("OpenCount", "Opens", Whole, |_, row| row.opens.into()).cost(),
        FileColumn::new("CloseCount", "Closes", Whole, |_, row| row.closes.into()).cost(),
        FileColumn::new("SetInfoCount", "Set", Whole, |_, row| row.set_infos.into())
            .cost()
            .shown_if(details),
        FileColumn::new("SetSecurityCount", "Security", Whole, |_, row| {
            row.set_securities.into()
        })
        .cost()
        .shown_if(details),
        FileColumn::new("DeleteCount", "Deletes", Whole, |_, row| row.deletes.into())
            .cost()
            .shown_if(details),
        FileColumn::new("RenameCount", "Renames", Whole, |_, row| row.renames.into())
            .cost()
            .shown_if(details),
        FileColumn::new("OtherCount", "Other", Whole, |_, row| row.others.into())
            .cost()
            .shown_if(details),
        FileColumn::new("OtherDuration", "Other s", Seconds(5), |_, row| {
            row.other_ns.into()
        })
        .cost()
        .shown_if(details),
        FileColumn::new("Failures", "Failures", Whole, |_, row| row.failures.into())
            .cost()
            .shown_if(details),
        FileColumn::new("Status", "Status", Word, |_, row| {
            names(&row.failure_statuses).into()
        })
        .shown_if(details),
        FileColumn::new("TotalDuration", "Total s", Seconds(5), |_, row| {
            row.total_ns.into()
        })
        .cost()
        .shown_if(|asked| asked.sort == FileSort::TotalTime),
        FileColumn::new("TotalCount", "Count", Whole, |_, row| {
            row.total_count.into()
        })
        .cost()
        .shown_if(|asked| asked.sort == FileSort::Count),
        FileColumn::new("Process", "Process", Process, |_, row| row.into())
            .shown_when_merged(|asked| asked.per_process),
        FileColumn::new("FileDir", "File", Word, |asked, row| {
            path(asked, row).into()
        })
        .titled(|asked| {
            let folder = "Folder (files with --dir-level 100)";
            if asked.level >= WHOLE_PATH {
                "File"
            } else {
                folder
            }
            .to_owned()
        }),
    ],
    |row| row.sort_value,
)
.alarming_if(|row| row.failures > 0)
.with_headings(|asked, rows| {
    let process =
        Line::new("  ").value(ProcessLine, rows.first().filter(|_| asked.is_by_process())?);
    Some(if asked.has_sums() {
        sums(process.words("  ["), &total(rows, asked.sort)).words("]")
    } else {
        process
    })
})
.with_subheadings(|asked, rows| {
    let is_shown = asked.is_by_process() && asked.modules.is_some();
    let module = |row: &FileRow| {
        let parts = [
            &row.module_path,
            &row.file_version,
            &row.product_name,
            &row.company,
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        Line::new(format!("    {}", parts.join(", ")))
    };
    rows.first()
        .filter(|_| is_shown)
        .map(module)
        .into_iter()
        .collect()
})
.with_total(|asked, rows, is_merged| {
    if !is_merged && !asked.has_sums() {
        return Vec::new();
    }
    let total = total(rows.iter().copied(), asked.sort);
    let line = sums(Line::new("Total: "), &total);
    // A file that several processes used is in a row of each.
    vec![if is_merged || asked.is_by_process() {
        line
    } else {
        line.words(", ").counted(total.files, ["file", "files"])
    }]
});

/// Returns the drive, folder or file of a row.
fn path(asked: &FileRequest, row: &FileRow) -> String {
    match &row.path {
        Some(path) if asked.reverse_file_name => reversed(path),
        Some(path) => path.clone(),
        None => "(files without a name)".into(),
    }
}

/// Translates `0xc0000034,0xc0000022` into names; unknown numbers stay.
fn names(statuses: &str) -> String {
    let name = |status| {
        let code = u32::from_str_radix(str::trim_start_matches(status, "0x"), 16).ok();
        code.and_then(|code| error_name(code.cast_signed()))
            .unwrap_or(status)
    };
    let mut names: Vec<&str> = statuses
        .split(',')
        .filter(|status| !status.is_empty())
        .map(name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

fn sums(line: Line, total: &FileTotal) -> Line {
    line.value(Seconds(3), total.total_ns)
        .words(" s, requested to read ")
        .value(Kilobytes, total.read_bytes)
        .words(" kB, to write ")
        .value(Kilobytes, total.write_bytes)
        .words(" kB, open+close ")
        .value(Seconds(3), total.open_close_ns)
        .words(" s, ")
        .counted(total.total_count, ["operation", "operations"])
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_statuses_have_names() {
        assert_eq!(
            super::names("0xc0000034,0xc0000022,0xc0000034,0xcfffffff"),
            "0xcfffffff ACCESS_DENIED OBJECT_NAME_NOT_FOUND"
        );
        assert_eq!(super::names(""), "");
    }
}
