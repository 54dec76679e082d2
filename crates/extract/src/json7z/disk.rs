//! `Disk`: the disks of the machine, and disk I/O by file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use etwkit_trace::table::{Disk, DiskFile, Volume};

use crate::json7z::error::{Failure, Result};
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::{Rows, write_all};

/// Bytes of a GiB.
const GIB: f64 = (1u64 << 30) as f64;
/// Disk number of a file whose disk was not reported.
const NO_DISK: i32 = -1;

/// The files and disks of the section, collected before the disk of each drive is known.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    /// Drive or number of the disk, as the file has it, and I/O.
    files: Vec<(String, DiskFile)>,
    drives: BTreeMap<String, i32>,
    disks: Vec<Disk>,
    volumes: Vec<Volume>,
}

/// I/O of one kind.
#[derive(Debug, Default)]
struct Activity {
    service_us: i64,
    size_bytes: i64,
    priorities: i64,
    processes: Vec<Option<i32>>,
}

impl Disks {
    /// Reads the section.
    pub(crate) fn read(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "DriveToPath" => {
                    reader.object(|reader, drive| {
                        reader.object(|reader, name| match name {
                            "FilePathToDiskEvents" => self.files(reader, import, drive),
                            _ => reader.unknown(),
                        })?;
                        Ok(())
                    })?;
                }
                "DiskInformation" => {
                    let mut disk = 0;
                    reader.list(|reader| {
                        self.disk(reader, disk, import)?;
                        disk += 1;
                        Ok(())
                    })?;
                }
                // Sums of the I/O of files, and the same I/O of files in another form.
                "TotalDiskServiceTimeInus"
                | "TotalDiskReadTimeInus"
                | "TotalDiskFlushTimeInus"
                | "TotalDiskWriteTimeTimeInus"
                | "DiskIOEvents" => reader.skip()?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn files(&mut self, reader: &mut Reader, import: &mut Import<'_>, drive: &str) -> Result<()> {
        reader.object(|reader, path| {
            let path: Arc<str> = path.into();
            reader.object(|reader, kind| {
                let activity = activity(reader, import)?;
                let (process_key, process_keys) = match activity.processes.as_slice() {
                    [one] => (*one, None),
                    // The share of each process is unknown, so no process is charged with the I/O.
                    several => {
                        let mut keys: Vec<i32> = several.iter().flatten().copied().collect();
                        keys.sort_unstable();
                        keys.dedup();
                        let keys = keys
                            .iter()
                            .map(i32::to_string)
                            .collect::<Vec<_>>()
                            .join(" ");
                        (None, Some(keys).filter(|keys| !keys.is_empty()))
                    }
                };
                let ns = activity.service_us.saturating_mul(1000);
                let priority = priority(activity.priorities);
                let mut row = DiskFile {
                    process_key,
                    process_keys,
                    priority,
                    ..DiskFile::default()
                };
                match kind {
                    "Read" | "0" => {
                        (row.read_bytes, row.read_service_ns) = (activity.size_bytes, ns);
                    }
                    "Write" | "1" => {
                        (row.write_bytes, row.write_service_ns) = (activity.size_bytes, ns);
                    }
                    "Flush" | "2" => row.flush_service_ns = ns,
                    _ => {
                        import.drop("Disk: I/O of a kind that is not known", 1);
                        return Ok(());
                    }
                }
                // Files without a name carry the name of the kind instead.
                row.path =
                    Some(Arc::clone(&path)).filter(|path| &**path != kind && !path.is_empty());
                self.files.push((drive.to_owned(), row));
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(())
    }

    fn disk(&mut self, reader: &mut Reader, disk: i32, import: &mut Import<'_>) -> Result<()> {
        let mut row = Disk {
            disk,
            ..Disk::default()
        };
        let bytes = |reader: &mut Reader| {
            Ok::<_, Failure>(reader.float()?.map(|gib| (gib * GIB).round() as i64))
        };
        reader.object(|reader, name| {
            match name {
                "Model" => row.model = reader.filled_text()?,
                "CapacityGiB" => row.size_bytes = bytes(reader)?,
                "SectorSizeBytes" => row.sector_size_bytes = reader.int()?,
                "IsWriteCachingEnabled" => row.is_write_cache_enabled = reader.flag()?,
                "Partitions" => {
                    reader.list(|reader| {
                        let mut volume = Volume {
                            disk: Some(disk),
                            ..Volume::default()
                        };
                        reader.object(|reader, name| {
                            match name {
                                "Drive" => volume.drive = reader.simple()?,
                                "FileSystem" => {
                                    volume.file_system = reader.simple()?.map(file_system);
                                }
                                "TotalSizeGiB" => volume.size_bytes = bytes(reader)?,
                                "FreeSizeGiB" => volume.free_bytes = bytes(reader)?,
                                _ => reader.unknown()?,
                            }
                            Ok(())
                        })?;
                        let letter = volume.drive.as_deref().and_then(|drive| drive.get(..1));
                        self.drives
                            .extend(letter.map(|letter| (letter.to_uppercase(), disk)));
                        self.volumes.push(volume);
                        Ok(())
                    })?;
                }
                "Type" | "CylinderCount" | "TracksPerCylinder" | "SectorsPerTrack" => {
                    import.leave_out(reader, "Disk.DiskInformation: kind and geometry of disks")?;
                }
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        self.disks.push(row);
        Ok(())
    }

    /// Writes `disk_file`, `disk` and `volume`.
    pub(crate) fn write(self, import: &mut Import<'_>) -> Result<()> {
        write_all(self.disks, import.sink)?;
        write_all(self.volumes, import.sink)?;
        // One row for each file, disk, process and priority, as sums of traces have it.
        let mut sums = HashMap::new();
        let mut order = Vec::new();
        for (drive, row) in self.files {
            // Drives are mapped to disks only here, because the list of partitions can follow the
            // files.
            let disk = match drive.strip_prefix("Id").map(str::parse) {
                Some(Ok(number)) => number,
                _ => self.drives.get(&drive).copied().unwrap_or(NO_DISK),
            };
            let key = (
                row.path.clone(),
                disk,
                row.process_key,
                row.process_keys.clone(),
                row.priority,
            );
            let sum: &mut DiskFile = sums.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                let path = row.path.clone();
                let process_keys = row.process_keys.clone();
                let process_key = row.process_key;
                let priority = row.priority;
                DiskFile {
                    path,
                    disk,
                    process_key,
                    process_keys,
                    priority,
                    ..DiskFile::default()
                }
            });
            let add = |sum: &mut i64, value: i64| *sum = sum.saturating_add(value);
            add(&mut sum.read_bytes, row.read_bytes);
            add(&mut sum.read_service_ns, row.read_service_ns);
            add(&mut sum.write_bytes, row.write_bytes);
            add(&mut sum.write_service_ns, row.write_service_ns);
            add(&mut sum.flush_service_ns, row.flush_service_ns);
        }
        import.found("disk I/O", !order.is_empty());
        import.lack(
            "disk_file: reads, writes and flushes as numbers, and times with the queue",
            order.len(),
        );
        // Files without a name come last. The rest of the key breaks ties between equal names, so
        // that one file always converts to the same extract.
        order.sort_by(|a, b| a.0.is_none().cmp(&b.0.is_none()).then_with(|| a.cmp(b)));
        let mut rows = Rows::default();
        for key in &order {
            sums.get(key)
                .map_or(Ok(()), |row| rows.push(row, import.sink))?;
        }
        rows.flush(import.sink)
    }
}

fn activity(reader: &mut Reader, import: &mut Import<'_>) -> Result<Activity> {
    let mut activity = Activity::default();
    reader.object(|reader, name| {
        match name {
            "DiskServiceTimeInus" => activity.service_us = reader.given(Reader::int)?,
            "SizeInBytes" => activity.size_bytes = reader.given(Reader::int)?,
            "Priorities" => activity.priorities = reader.given(Reader::int)?,
            "ThreadIDs" => import.leave_out(reader, "Disk: threads that issued I/O")?,
            "Processes" => {
                activity.processes = reader.all(|reader| process(reader, import).map(Some))?;
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(activity)
}

/// A process given as ID and start. Process 0 means unknown.
fn process(reader: &mut Reader, import: &mut Import<'_>) -> Result<Option<i32>> {
    let mut pid = None;
    let mut start = None;
    reader.object(|reader, name| {
        match name {
            "Key" => pid = reader.bits()?.filter(|pid| *pid != 0),
            "Value" => start = reader.moment()?.map(|moment| moment.filetime),
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(pid.and_then(|pid| import.processes.with(pid as i32, start, None)))
}

/// Name of a file system; files have its number in an enumeration of the library that ETWAnalyzer
/// is built on.
fn file_system(text: String) -> String {
    const NAMES: [&str; 9] = [
        "NTFS", "RAW", "FAT", "FAT32", "exFAT", "CDFS", "UDF", "CSVFS", "ReFS",
    ];
    match text.parse::<usize>() {
        Ok(number) => NAMES
            .get(number)
            .map_or_else(|| format!("unknown ({number})"), |name| (*name).to_owned()),
        Err(_) => text,
    }
}

/// The highest of a set of priorities, which has a bit for each; the lowest one and an empty set
/// are both 0.
const fn priority(bits: i64) -> i32 {
    match bits {
        16.. => 5,
        8.. => 4,
        4.. => 3,
        2.. => 2,
        _ => 0,
    }
}
