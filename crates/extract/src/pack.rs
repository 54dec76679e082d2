//! Packing an extract into one file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use etwkit_base::path::{name_of, stem_of};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::partial::Partial;
use crate::reader::Extract;
use crate::store_error::{StoreError, StoreResult};

/// Sizes from which a member needs the 64-bit form of the directory.
const LARGE: u64 = u32::MAX as u64;

impl Extract {
    /// Writes the extract as one file that can be mailed and is read in place: `zip`, named
    /// `NAME.etwx.zip` by convention. Members are stored uncompressed below the folder `NAME.etwx`,
    /// because tables are compressed already. The file appears when it is complete; an existing one
    /// is replaced if it is a packed extract. The same extract gives the same bytes.
    ///
    /// # Errors
    /// If a file cannot be read or written, or another kind of file exists at `zip`.
    pub fn pack(&self, zip: &Path) -> StoreResult<()> {
        // Refused before the work and again after it.
        refuse_foreign(zip)?;
        let partial = Partial::create(zip)?;
        let file = partial.content().join("packed.zip");
        self.pack_into(&file, zip).map_err(|e| match e {
            Failed::Store(e) => e,
            Failed::Write(e) => StoreError::io("write", zip)(e),
        })?;
        // Checked again, because packing takes long and another file may have been created there in
        // that time.
        refuse_foreign(zip)?;
        partial.publish_file(&file)
    }

    fn pack_into(&self, file: &Path, target: &Path) -> Result<(), Failed> {
        // Members lie in a folder, so that unpacking does not spill files.
        let name = name_of(target);
        let folder = name.strip_suffix(".zip").unwrap_or(&name);
        let mut zip = ZipWriter::new(BufWriter::new(File::create_new(file)?));
        // The order of a folder differs between systems. The manifest is first and the others have
        // the order of the extract.
        let (first, rest): (Vec<_>, Vec<_>) = self
            .place()
            .names(self.path())?
            .into_iter()
            .partition(is_first);
        for name in first.into_iter().chain(rest).filter(|name| !is_pages(name)) {
            let Some(range) = self.place().find(self.path(), &name)? else {
                continue;
            };
            // Times and permissions are not stored: the same extract has to give the same bytes.
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .last_modified_time(DateTime::default())
                // Without these the time of packing would be in the file.
                .unix_permissions(0o644)
                // The 64-bit form only where it is needed: old programs cannot read it.
                .large_file(range.length >= LARGE);
            zip.start_file(format!("{folder}/{name}"), options)
                .map_err(io::Error::from)?;
            let failed = StoreError::io("read", &range.path);
            let mut reader = range.reader().map_err(failed)?;
            let copied = io::copy(&mut reader, &mut zip)?;
            // A file that became shorter during packing would leave a member with the wrong number
            // of rows.
            if copied != range.length {
                let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(StoreError::io("read", &range.path)(cut).into());
            }
        }
        let mut file = zip.finish().map_err(io::Error::from)?;
        Ok(file.flush()?)
    }
}

/// Pages of timelines are rebuilt wherever the extract is opened.
fn is_pages(name: &str) -> bool {
    name.starts_with("derived/pages-")
}

/// The manifest comes first, so that the start of the file shows its kind.
fn is_first(name: &String) -> bool {
    name == crate::manifest::FILE
}

/// An extract that becomes one file: it is first written as a folder at a temporary place.
#[derive(Debug)]
pub struct Packing {
    partial: Partial,
    zip: PathBuf,
}

impl Packing {
    /// Creates a temporary folder next to `zip`. Nothing is visible under that name before
    /// [`Packing::finish`]. The next writer there removes the remains of a killed program.
    ///
    /// # Errors
    /// If something other than a packed extract exists at `zip`, or the folder of `zip` cannot be
    /// written to.
    pub fn begin(zip: &Path) -> StoreResult<Self> {
        refuse_foreign(zip)?;
        Ok(Self {
            partial: Partial::create(zip)?,
            zip: zip.to_owned(),
        })
    }

    /// Folder to write the extract to.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        // Written as a folder of the same name, so that packing it is the last step.
        self.partial.content().join(stem_of(&self.zip))
    }

    /// Packs the extract in the folder.
    ///
    /// # Errors
    /// The errors of [`Extract::pack`].
    pub fn finish(self) -> StoreResult<()> {
        Extract::open(&self.folder())?.pack(&self.zip)
    }
}

enum Failed {
    Store(StoreError),
    Write(io::Error),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

fn refuse_foreign(zip: &Path) -> StoreResult<()> {
    let Ok(metadata) = zip.symlink_metadata() else {
        return Ok(());
    };
    let what = if metadata.is_symlink() {
        "a symbolic link"
    } else if metadata.is_dir() {
        "a folder"
    } else if crate::reader::is_packed_extract(zip) {
        return Ok(());
    } else {
        "a file without the manifest of an extract"
    };
    Err(StoreError::NotOurs {
        path: zip.to_owned(),
        what,
    })
}
