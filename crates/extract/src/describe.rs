//! Files that describe events, passed by the user in addition to a trace: formats of WPP messages,
//! manifests of providers.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etwkit_trace::Descriptions;
use etwkit_trace::describe::{Wrong, text_of};

/// Maximum bytes of one file, and of all together; the largest manifests of Windows have some MB.
const MAX_FILE: u64 = 64 << 20;
const MAX_ALL: u64 = 512 << 20;
/// Files of one folder.
const MAX_FILES: usize = 100_000;

/// The descriptions of events in files.
#[derive(Debug, Clone, Default)]
pub struct Described {
    descriptions: Arc<Descriptions>,
    hash: Option<String>,
}

/// The reason for which a file that describes events cannot be used. The user named the file, so it
/// is used completely or not at all.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// The system cannot read it.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A pipe, a device, or a folder where a file is expected.
    #[error("expected a regular file, found something else: {}", path.display())]
    NotRegular {
        /// The path given by the user.
        path: PathBuf,
    },
    /// A folder without files.
    #[error("expected .tmf files, found none in the folder {}", path.display())]
    NoFiles {
        /// The folder.
        path: PathBuf,
    },
    /// The file is larger than any real one.
    #[error("expected at most {limit}, found more: {}", path.display())]
    TooLarge {
        /// The file or folder.
        path: PathBuf,
        /// The limit, for the message.
        limit: String,
    },
    /// The content is not text.
    #[error("expected text in UTF-8 or UTF-16, found other bytes: {}", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
    /// The content is invalid.
    #[error("{}, {wrong}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The position and the reason.
        wrong: Wrong,
    },
}

impl DescribeError {
    /// Advice for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the name, and whether you may read it",
            Self::NotRegular { .. } => {
                "name the file itself; --tmf also takes a folder of .tmf files"
            }
            Self::NoFiles { .. } => {
                "`tracepdb -f PROGRAM.pdb -p FOLDER` makes them; files in folders below are not looked for"
            }
            Self::TooLarge { .. } => "name only the files of the programs that were recorded",
            Self::NoText { .. } => {
                "--tmf reads .tmf files, not .pdb; --manifest reads .man files, not .dll"
            }
            Self::Wrong { wrong, .. } => wrong.hint(),
        }
    }
}

impl Described {
    /// Reads trace message format files (or the `.tmf` files of folders) and instrumentation
    /// manifests. Later files override earlier ones.
    ///
    /// # Errors
    /// [`DescribeError`] of the first file that is of no use.
    pub fn read(tmf: &[PathBuf], manifests: &[PathBuf]) -> Result<Self, DescribeError> {
        if tmf.is_empty() && manifests.is_empty() {
            return Ok(Self::default());
        }
        let mut files = Files {
            descriptions: Descriptions::default(),
            hasher: blake3::Hasher::new(),
            left: MAX_ALL,
        };
        for path in tmf {
            for file in formats(path)? {
                files.add(&file, Descriptions::add_tmf)?;
            }
        }
        for path in manifests {
            files.add(path, Descriptions::add_manifest)?;
        }
        let hash = files.hasher.finalize().to_hex().chars().take(16).collect();
        Ok(Self {
            descriptions: Arc::new(files.descriptions),
            hash: Some(hash),
        })
    }

    /// The descriptions.
    #[must_use]
    pub const fn descriptions(&self) -> &Arc<Descriptions> {
        &self.descriptions
    }

    /// 16 hexadecimal digits that distinguish sets of files by their contents; `None` without
    /// files.
    #[must_use]
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// A hash that distinguishes extracts of one trace that were created with different files.
    /// Without files it is the hash of the trace.
    #[must_use]
    pub fn with_source(&self, source_hash: &str) -> String {
        match &self.hash {
            None => source_hash.to_owned(),
            Some(own) => {
                let both = format!("{source_hash}-{own}");
                blake3::hash(both.as_bytes())
                    .to_hex()
                    .chars()
                    .take(16)
                    .collect()
            }
        }
    }
}

struct Files {
    descriptions: Descriptions,
    hasher: blake3::Hasher,
    /// Bytes that may still be read.
    left: u64,
}

impl Files {
    fn add(
        &mut self,
        path: &Path,
        add: impl Fn(&mut Descriptions, &str) -> Result<usize, Wrong>,
    ) -> Result<(), DescribeError> {
        // The smaller of both limits, so that many files cannot exceed the sum.
        let bytes = read(path, self.left.min(MAX_FILE))?;
        self.left -= bytes.len() as u64;
        // The length is hashed first. Otherwise two files would have the same hash as one file with
        // the bytes of both.
        self.hasher.update(&(bytes.len() as u64).to_le_bytes());
        self.hasher.update(&bytes);
        // Files of Windows are UTF-16 as often as UTF-8.
        let text = text_of(&bytes).ok_or_else(|| DescribeError::NoText {
            path: path.to_owned(),
        })?;
        let added = add(&mut self.descriptions, &text);
        added.map(|_| ()).map_err(|wrong| DescribeError::Wrong {
            path: path.to_owned(),
            wrong,
        })
    }
}

/// The file itself, or the `.tmf` files of a folder, sorted by name.
fn formats(path: &Path) -> Result<Vec<PathBuf>, DescribeError> {
    let failed = |source| DescribeError::Read {
        path: path.to_owned(),
        source,
    };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let is_format = file
            // The ending in any case, since the tools of Windows write it in capitals.
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("tmf"));
        if is_format && file.is_file() {
            files.push(file);
        }
        // Counted while the folder is read; a folder may have any number of files.
        if files.len() > MAX_FILES {
            return Err(DescribeError::TooLarge {
                path: path.to_owned(),
                limit: format!("{MAX_FILES} .tmf files"),
            });
        }
    }
    if files.is_empty() {
        return Err(DescribeError::NoFiles {
            path: path.to_owned(),
        });
    }
    // Folders are listed in any order, and later files override earlier ones.
    files.sort();
    Ok(files)
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, DescribeError> {
    let failed = |source| DescribeError::Read {
        path: path.to_owned(),
        source,
    };
    // Checked before it is opened: opening a pipe waits for a writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(DescribeError::NotRegular {
            path: path.to_owned(),
        });
    }
    let mut bytes = Vec::new();
    // One byte more than the limit distinguishes a file that is too long from one of exactly this
    // size.
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(DescribeError::TooLarge {
            path: path.to_owned(),
            limit: format!("{limit} bytes"),
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TMF: &str = "744151fd-b3f4-32e6-38eb-0fd11e3fb62d made // SRC=a.c MJ= MN=\n#typev a_c1 10 \"%0hello\"\n";
    const MANIFEST: &str = r#"<provider name="Made" guid="{744151fd-b3f4-32e6-38eb-0fd11e3fb62d}">
        <event value="1"/></provider>"#;

    fn message(read: Result<Described, DescribeError>, folder: &Path) -> String {
        let error = read.unwrap_err();
        assert!(!error.hint().is_empty());
        error
            .to_string()
            .replace(&folder.display().to_string(), "F")
    }

    #[test]
    fn the_content_of_the_files_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.tmf"), folder.path().join("b.man"));
        fs::write(&a, TMF).unwrap();
        fs::write(&b, MANIFEST).unwrap();
        let one = Described::read(std::slice::from_ref(&a), &[]).unwrap();
        let of_folder = Described::read(&[folder.path().to_owned()], &[]).unwrap();
        let both = Described::read(std::slice::from_ref(&a), std::slice::from_ref(&b)).unwrap();
        assert_eq!(one.hash(), of_folder.hash());
        assert_ne!(one.hash(), both.hash());
        fs::write(&a, TMF.replace("hello", "Hello")).unwrap();
        let other = Described::read(&[a], &[]).unwrap();
        assert_ne!(one.hash(), other.hash());
        assert_ne!(one.with_source("0123"), other.with_source("0123"));
        assert_ne!(one.with_source("0123"), one.with_source("0124"));
        let none = Described::read(&[], &[]).unwrap();
        assert_eq!(
            (none.hash(), none.with_source("0123").as_str()),
            (None, "0123")
        );
        assert!(none.descriptions().is_empty() && !both.descriptions().is_empty());
    }

    #[test]
    fn what_is_of_no_use_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| vec![folder.path().join(name)];
        let of = |tmf: &[PathBuf], manifests: &[PathBuf]| {
            message(Described::read(tmf, manifests), folder.path())
        };
        assert_eq!(of(&at("lost.tmf"), &[]), "cannot read F/lost.tmf");
        assert_eq!(
            of(&[folder.path().to_owned()], &[]),
            "expected .tmf files, found none in the folder F"
        );
        assert_eq!(
            of(&[], &[folder.path().to_owned()]),
            "expected a regular file, found something else: F"
        );
        fs::write(folder.path().join("a.tmf"), TMF.replace(" 10 ", " ten ")).unwrap();
        let expected = "F/a.tmf, line 2: expected tag and number of the message, found a_c1 ten";
        assert_eq!(of(&at("a.tmf"), &[]), expected);
        fs::write(folder.path().join("b.man"), [0xC3, 0x28]).unwrap();
        assert_eq!(
            of(&[], &at("b.man")),
            "expected text in UTF-8 or UTF-16, found other bytes: F/b.man"
        );
    }
}
