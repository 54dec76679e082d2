//! Output files of commands.
//!
//! A file is written under a temporary name next to its target and is renamed when it is complete,
//! so a command that fails or is interrupted leaves the old file unchanged. A typing error loses no
//! data: an existing file is replaced only with `--force`, and a trace, an archive or a part of an
//! extract never. Links are followed, and pipes and devices are written to: they are never replaced
//! by a file. When a signal ends the process, [`etwkit_terminal::interrupt`] removes unfinished
//! files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use etwkit_cut::CUT_NAME;
use etwkit_extract::json7z::{is_json_part, looks_like_json_extract};
use etwkit_terminal::errors::advised;
use tempfile::NamedTempFile;

/// Prefix and suffix of the names of unfinished files.
const PREFIX: &str = ".etwkit-";
const SUFFIX: &str = ".part";
/// Age at which an unlocked unfinished file counts as left by a dead program. A live program locks
/// its file immediately after it creates it.
const ABANDONED: Duration = Duration::from_secs(60);

/// The existing files that an output file may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    /// No existing file.
    Nothing,
    /// A CSV file that a dump wrote.
    OwnCsv,
    /// A file with any content that is neither a trace nor an extract.
    Anything,
    /// As [`Replace::Anything`], and also a simulated trace, which has its truth file next to it.
    Simulated,
    /// As [`Replace::Anything`], and also a trace that was cut out of another one.
    Cut,
}

/// Bytes at the start of a file that hold the name in its trace header.
// The header is the first event of the first buffer, and the name follows its fixed fields.
const HEAD_LEN: u64 = 4096;

impl Replace {
    /// Returns [`Replace::Anything`] with `--force`, otherwise [`Replace::Nothing`].
    pub(crate) const fn forced(force: bool) -> Self {
        if force { Self::Anything } else { Self::Nothing }
    }
}

/// Checks, before anything is written, that each source gets its own target: the second of two that
/// share one would replace the first.
///
/// # Errors
/// Two of them share a target.
pub(crate) fn all_different<'s>(
    files: impl Iterator<Item = (&'s Path, PathBuf)>,
) -> anyhow::Result<()> {
    let mut targets = HashMap::new();
    for (source, target) in files {
        if let Some(other) = targets
            .insert(target.clone(), source)
            .filter(|other| *other != source)
        {
            let other = other.display();
            let source = source.display();
            let message = format!(
                "{other} and {source} would be one file, {}",
                target.display()
            );
            return Err(advised(message, "write them to two folders"));
        }
    }
    Ok(())
}

/// A file that is being written. Dropping it before it is [kept](OutFile::keep) leaves the old file
/// unchanged.
#[derive(Debug)]
pub(crate) struct OutFile(Kind);

#[derive(Debug)]
enum Kind {
    /// A file that gets its name when it is complete.
    Whole {
        file: NamedTempFile,
        target: PathBuf,
        replace: Replace,
    },
    /// A pipe or a device, which is written to directly.
    Direct { file: File, target: PathBuf },
}

impl OutFile {
    /// Starts to write.
    ///
    /// # Errors
    /// The existing file may not be replaced, or nothing can be written there.
    fn create(path: &Path, replace: Replace) -> anyhow::Result<Self> {
        check(path, replace)?;
        let target = followed(path);
        if is_direct(&target) {
            let file = File::options()
                .write(true)
                .open(&target)
                .with_context(|| cannot(path))?;
            return Ok(Self(Kind::Direct { file, target }));
        }
        Ok(Self(Kind::Whole {
            file: temporary_beside(&target)?,
            target,
            replace,
        }))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It cannot be written, or its target was created in the meantime.
    fn keep(self) -> anyhow::Result<()> {
        match self.0 {
            Kind::Direct { mut file, target } => file.flush().with_context(|| cannot(&target)),
            Kind::Whole {
                mut file,
                target,
                replace,
            } => {
                file.flush().with_context(|| cannot(&target))?;
                // A file that was created there since the command started is not replaced either:
                // commands run for minutes.
                check(&target, replace)?;
                let kept = if replace == Replace::Nothing {
                    file.persist_noclobber(&target)
                } else {
                    file.persist(&target)
                };
                let kept = kept.with_context(|| cannot(&target))?;
                // File systems without locks have none to release.
                let _ = kept.unlock();
                Ok(())
            }
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.0 {
            Kind::Whole { file, .. } => file.as_file_mut(),
            Kind::Direct { file, .. } => file,
        }
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for OutFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}

/// Starts to write a file through a buffer.
pub(crate) fn buffered(path: &Path, replace: Replace) -> anyhow::Result<io::BufWriter<OutFile>> {
    Ok(io::BufWriter::with_capacity(
        1 << 20,
        OutFile::create(path, replace)?,
    ))
}

/// Writes a file that has this text.
pub(crate) fn write_text(path: &Path, replace: Replace, text: &str) -> anyhow::Result<()> {
    let mut file = OutFile::create(path, replace)?;
    file.write_all(text.as_bytes())
        .with_context(|| cannot(path))?;
    file.keep()
}

/// Flushes a buffered file and gives it its name.
pub(crate) fn keep(file: io::BufWriter<OutFile>, path: &Path) -> anyhow::Result<()> {
    let file = file
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .with_context(|| cannot(path))?;
    file.keep()
}

/// Rejects a target that may not be replaced, before any work is done for it.
pub(crate) fn check(path: &Path, replace: Replace) -> anyhow::Result<()> {
    let Ok(metadata) = path.metadata() else {
        return Ok(());
    };
    if metadata.is_dir() {
        let message = format!(
            "expected a file to write, found a folder: {}",
            path.display()
        );
        return Err(advised(message, "give the name of a file in it"));
    }
    if !metadata.is_file() {
        return Ok(());
    }
    // Without `--force`, a simulated trace is rejected below like any other file: the hint of the
    // rejection here would not apply.
    let may_be_simulated = matches!(replace, Replace::Simulated | Replace::Nothing);
    if let Some(what) = precious(path)
        && !(may_be_simulated && path.with_extension("truth.json").is_file())
        && !(matches!(replace, Replace::Cut | Replace::Nothing) && is_cut(path))
    {
        let message = format!("will not overwrite {}: it is {what}", path.display());
        let hint = "give another name; was a name of the output given before the traces?";
        return Err(advised(message, hint));
    }
    let may = match replace {
        Replace::Nothing => false,
        Replace::OwnCsv => metadata.len() == 0 || is_own_csv(path),
        Replace::Anything | Replace::Simulated | Replace::Cut => true,
    };
    if may {
        return Ok(());
    }
    Err(advised(
        format!("{} exists", path.display()),
        "--force overwrites it",
    ))
}

/// Returns the kind of a regular file if it is a recording, which could not be reproduced.
fn precious(path: &Path) -> Option<&'static str> {
    let is_json = is_json_part(path) || looks_like_json_extract(path);
    etwkit_extract::precious(path).or_else(|| is_json.then_some("an extract of ETWAnalyzer"))
}

/// True if a trace was cut out of another one.
fn is_cut(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_LEN).read_to_end(&mut head));
    let name: Vec<u8> = CUT_NAME.encode_utf16().flat_map(u16::to_le_bytes).collect();
    read.is_ok() && head.windows(name.len()).any(|part| part == name)
}

/// True if a file starts like a CSV file of a dump: with the trace column, or in the format of
/// ETWAnalyzer.
fn is_own_csv(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut head));
    let starts = [&b"trace,"[..], b"sep = ;", b"sep=;", b"CSVOptions;"];
    read.is_ok() && starts.iter().any(|start| head.starts_with(start))
}

/// Returns the target of a link. Returns the path itself if it is not a link.
fn followed(path: &Path) -> PathBuf {
    if let Ok(target) = path.canonicalize()
        && path.is_symlink()
    {
        return target;
    }
    match path.read_link() {
        // A link to a file that does not exist yet: it is created at the link's target.
        Ok(target) => path
            .parent()
            .map_or_else(|| target.clone(), |parent| parent.join(&target)),
        Err(_) => path.to_owned(),
    }
}

/// True for a pipe or a device, which is written to directly.
fn is_direct(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Returns the message for a file that cannot be written.
pub(crate) fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Creates a temporary file in the same folder, so that renaming it does not copy it. It is removed
/// unless it is kept. If a killed program left one, the next one that writes there removes it.
fn temporary_beside(path: &Path) -> anyhow::Result<NamedTempFile> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    sweep(&folder);
    let context = || format!("cannot write into {}", folder.display());
    // The error of a missing folder names it, and not a temporary file.
    fs::metadata(&folder).with_context(context)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    // Readable for other users as far as the umask allows, like any file; temporary files usually
    // are not.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(&folder).with_context(context)?;
    // Held while this program lives. On a file system without locks, no other program can sweep
    // either.
    let _ = file.as_file().try_lock();
    etwkit_terminal::interrupt::remove_at_the_end(file.path());
    Ok(file)
}

/// Removes the unfinished files of programs that have ended. Files that cannot be removed are left
/// for the next call.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes());
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if !is_ours
            || !entry.file_type().is_ok_and(|kind| kind.is_file())
            || age() < Some(ABANDONED)
        {
            continue;
        }
        // A running program holds the lock of its file, so only a file of an ended one can be
        // locked.
        let path = entry.path();
        if File::options()
            .write(true)
            .open(&path)
            .is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_there_is_replaced_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        write_text(&path, Replace::Nothing, "a").unwrap();
        assert!(
            write_text(&path, Replace::Nothing, "b")
                .unwrap_err()
                .to_string()
                .ends_with("rows.csv exists")
        );
        assert!(
            write_text(&path, Replace::OwnCsv, "b").is_err(),
            "no dump writes that"
        );
        write_text(&path, Replace::Anything, "trace,pid\n").unwrap();
        write_text(&path, Replace::OwnCsv, "c").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "c");
        // A file that is not kept leaves nothing.
        drop(OutFile::create(&path, Replace::Anything).unwrap());
        assert_eq!(names(folder.path()), ["rows.csv"]);
        let folders = write_text(folder.path(), Replace::Anything, "d")
            .unwrap_err()
            .to_string();
        assert!(
            folders.starts_with("expected a file to write, found a folder"),
            "{folders}"
        );
    }

    #[test]
    fn a_missing_folder_is_named_and_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/rows.csv");
        let error = write_text(&path, Replace::Nothing, "a").unwrap_err();
        let text = format!("{error:#}");
        assert!(text.starts_with("cannot write into "), "{text}");
        assert!(!text.contains(PREFIX), "{text}");
    }

    #[test]
    fn traces_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made/power-5.etl");
        for name in ["run.etl", "run.bin"] {
            let path = folder.path().join(name);
            fs::copy(&made, &path).unwrap();
            let before = fs::read(&path).unwrap();
            for replace in [
                Replace::Nothing,
                Replace::OwnCsv,
                Replace::Anything,
                Replace::Simulated,
            ] {
                let refused = write_text(&path, replace, "x").unwrap_err().to_string();
                assert!(
                    refused.ends_with(&format!("{name}: it is a trace")),
                    "{refused}"
                );
            }
            assert_eq!(fs::read(&path).unwrap(), before);
        }
        fs::write(folder.path().join("run.truth.json"), "{}").unwrap();
        write_text(&folder.path().join("run.etl"), Replace::Simulated, "x").unwrap();
    }

    #[test]
    fn what_dead_programs_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - ABANDONED * 2;
        for name in [".etwkit-abc.part", ".etwkit-new.part", "mine.part"] {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != ".etwkit-new.part" {
                file.set_modified(old).unwrap();
            }
        }
        let held = OutFile::create(&folder.path().join("a"), Replace::Nothing).unwrap();
        let Kind::Whole { file, .. } = &held.0 else {
            panic!()
        };
        file.as_file().set_modified(old).unwrap();
        write_text(&folder.path().join("b"), Replace::Nothing, "x").unwrap();
        held.keep().unwrap();
        assert_eq!(
            names(folder.path()),
            [".etwkit-new.part", "a", "b", "mine.part"]
        );
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_and_pipes_are_written_to() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/rows"), "old").unwrap();
        symlink("far/rows", at("link")).unwrap();
        assert!(write_text(&at("link"), Replace::Nothing, "new").is_err());
        write_text(&at("link"), Replace::Anything, "new").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(fs::read_to_string(at("far/rows")).unwrap(), "new");
        symlink("far/coming", at("ahead")).unwrap();
        write_text(&at("ahead"), Replace::Nothing, "there").unwrap();
        assert!(at("ahead").is_symlink());
        assert_eq!(fs::read_to_string(at("far/coming")).unwrap(), "there");
        write_text(Path::new("/dev/null"), Replace::Nothing, "gone").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
        let pipe = at("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_text(&pipe, Replace::Anything, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(!pipe.metadata().unwrap().is_file());
    }
}
