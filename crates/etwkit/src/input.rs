//! Arguments to an opened trace.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use etwkit_engine::{DEFAULT_MAX_UNPACKED_GIB, InputKind, Settings, input_options, named};
use etwkit_extract::{Input, Options};
use etwkit_terminal::errors::advised;
use tempfile::TempDir;

use crate::arguments::TraceArgs;

/// Opens the files that the arguments name, as one session.
pub(crate) fn open(args: &TraceArgs) -> anyhow::Result<Opened> {
    let files = Files::of(args, InputKind::Session)?;
    Ok(Opened {
        input: open_paths(&files.paths, args)?,
        _files: files,
    })
}

/// An open trace. A temporary file is removed after it is closed, since not all systems can remove
/// a mapped file.
pub(crate) struct Opened {
    input: Input,
    _files: Files,
}

impl Deref for Opened {
    type Target = Input;

    fn deref(&self) -> &Input {
        &self.input
    }
}

/// Files that arguments name.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) paths: Vec<PathBuf>,
    /// The folder of the standard input's copy, for as long as these paths are needed.
    _folder: Option<TempDir>,
}

impl Files {
    /// Returns the files that files, patterns, lists and folders name. The standard input, `-`,
    /// becomes a file.
    pub(crate) fn of(args: &TraceArgs, wanted: InputKind) -> anyhow::Result<Self> {
        let (mut paths, mut folder) = (named(&args.traces, wanted, false)?, None);
        for path in paths.iter_mut().filter(|path| is_standard_input(path)) {
            ensure!(folder.is_none(), "the standard input (-) is named twice");
            let kept = keep_standard_input(args)?;
            *path = kept.path().join(STANDARD_INPUT);
            folder = Some(kept);
        }
        Ok(Self {
            paths,
            _folder: folder,
        })
    }
}

/// Name of the file that the standard input becomes, regardless of its content.
const STANDARD_INPUT: &str = "standard-input.etl";

/// True if a path means the standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-" && path.symlink_metadata().is_err()
}

/// Writes the standard input into a file, since a trace is read at many places at once.
fn keep_standard_input(args: &TraceArgs) -> anyhow::Result<TempDir> {
    let input = std::io::stdin();
    if input.is_terminal() {
        let hint = "send one through a pipe: curl -s ADDRESS | etwkit info -";
        return Err(advised(
            "expected a trace on the standard input (-), found a terminal",
            hint,
        ));
    }
    let place = temporary_place();
    let limit = args.max_unpacked.saturating_mul(1 << 30);
    // Its length is not known before it ends, so the limit of unpacked archives also applies to it.
    let kept = || {
        let folder = temporary_folder(&place)?;
        let mut file = File::create(folder.path().join(STANDARD_INPUT))?;
        // One byte more than allowed shows that there is more.
        let bytes = std::io::copy(&mut input.lock().take(limit.saturating_add(1)), &mut file)?;
        Ok::<_, std::io::Error>((folder, bytes))
    };
    let (folder, bytes) = kept().map_err(|error| {
        let message = format!(
            "cannot keep the standard input in {}: {error}",
            place.display()
        );
        advised(message, "set ETWKIT_TMP to a folder with more space")
    })?;
    if bytes > limit {
        let message = format!("the standard input has more than {} GiB", args.max_unpacked);
        return Err(advised(message, "--max-unpacked allows more"));
    }
    Ok(folder)
}

/// The folder for temporary files.
pub(crate) fn temporary_place() -> PathBuf {
    let place = Settings::from_environment().temp_dir;
    place.unwrap_or_else(std::env::temp_dir)
}

/// Creates a folder that is removed with the returned value.
pub(crate) fn temporary_folder(place: &Path) -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("etwkit-").tempdir_in(place)
}

/// Opens some of the files that the arguments name, as one session.
pub(crate) fn open_paths(paths: &[PathBuf], args: &TraceArgs) -> anyhow::Result<Input> {
    Ok(etwkit_extract::open(paths, &options(args))?)
}

/// Returns the options for opening inputs.
pub(crate) fn options(args: &TraceArgs) -> Options {
    input_options(
        !args.no_mmap,
        args.max_unpacked,
        Settings::from_environment().temp_dir,
    )
}

/// Opens a trace with default options.
pub(crate) fn open_plain(path: &Path) -> anyhow::Result<Input> {
    let options = input_options(
        true,
        DEFAULT_MAX_UNPACKED_GIB,
        Settings::from_environment().temp_dir,
    );
    Ok(etwkit_extract::open(&[path.to_owned()], &options)?)
}
