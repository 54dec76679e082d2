//! Errors of a lake.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::StoreError;
use crate::lake::place::SIGN;

/// Result of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason for which a lake could not be written or read. Texts that come from a file must be
/// escaped before they are written to a terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The folder or store refused something.
    #[error("cannot {doing} {name} of the lake")]
    Store {
        /// The operation that failed.
        doing: &'static str,
        /// The file, relative to the lake.
        name: String,
        /// The error of the store.
        source: Box<object_store::Error>,
    },
    /// The folder is not a lake.
    #[error("expected a lake, a folder with the table run: {}", path.display())]
    NotALake {
        /// The folder.
        path: PathBuf,
    },
    /// The program was built without object stores.
    #[error("this build of etwkit cannot open lakes in buckets: {}", path.display())]
    NoObjectStores {
        /// The lake.
        path: PathBuf,
    },
    /// No variable of the environment names credentials.
    #[error("no credentials for {}", path.display())]
    NoCredentials {
        /// The lake.
        path: PathBuf,
        /// The variables that name some.
        hint: &'static str,
    },
    /// The address leads to a kind of store that etwkit does not open.
    #[error("cannot open {}: expected a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER", path.display())]
    Address {
        /// The address.
        path: PathBuf,
    },
    /// The address of a bucket or its settings are wrong.
    #[error("cannot open the lake {}: expected {expected}", path.display())]
    Bucket {
        /// The lake.
        path: PathBuf,
        /// The expected address or settings.
        expected: String,
        /// The error of the client.
        source: Option<Box<object_store::Error>>,
    },
    /// A store replaces a file instead of refusing to create it again.
    #[error("the store of {} replaces files that exist, so writers would overwrite each other's commits", path.display())]
    Overwrites {
        /// The lake.
        path: PathBuf,
    },
    /// The target of `init` has something in it.
    #[error("will not make a lake of {}: it is {what}", path.display())]
    Taken {
        /// The target.
        path: PathBuf,
        /// The kind of the existing target.
        what: &'static str,
    },
    /// A log is damaged, or needs something that this version does not have.
    #[error("the log of the table {table}: expected {expected}")]
    Log {
        /// The table.
        table: String,
        /// The expected content.
        expected: String,
    },
    /// Columns of the lake have another type than the declared ones.
    #[error("the table {table} of the lake: expected {expected}")]
    Columns {
        /// The table.
        table: String,
        /// The expected columns.
        expected: String,
    },
    /// Two traces have one number.
    #[error("{name} has the number of another run of the lake, and differs from it in {what}")]
    Conflict {
        /// The extract.
        name: String,
        /// The fact that differs.
        what: &'static str,
    },
    /// Other writers were faster in each of many attempts.
    #[error("cannot commit to the table {table}: other writers were faster (attempts: {attempts})")]
    Busy {
        /// The table.
        table: String,
        /// Number of attempts.
        attempts: u32,
    },
    /// An attempt to add runs took so long that compaction has left its rows out.
    #[error("adding took so long that `lake compact` has left its rows out")]
    Late,
    /// Rows cannot be encoded.
    #[error("cannot encode the table {table}")]
    Encode {
        /// The table.
        table: String,
        /// The error of the encoder.
        source: ParquetError,
    },
    /// A file of the lake is damaged.
    #[error("damaged file of the lake: {}: expected {expected}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: String,
        /// The error of the decoder.
        source: Option<ParquetError>,
    },
    /// Rows cannot be put together.
    #[error("the rows of {table} cannot be put together")]
    Rows {
        /// The table.
        table: String,
        /// The error of Arrow.
        source: ArrowError,
    },
    /// The facts of a run cannot be understood.
    #[error("the run {run} has a damaged manifest")]
    Manifest {
        /// The hash of its trace.
        run: String,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// An extract cannot be read.
    #[error(transparent)]
    Extract(#[from] StoreError),
    /// Runs were dropped or replaced while their rows were read.
    #[error("the lake changed while it was read: {} lost runs", path.display())]
    Changed {
        /// The lake.
        path: PathBuf,
    },
    /// No run has that number.
    #[error("there is no run {run} in {}", path.display())]
    NoRun {
        /// The lake.
        path: PathBuf,
        /// The hash of its trace.
        run: String,
    },
}

impl Error {
    /// Advice for the user, if there is some.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NotALake { path } if path.to_string_lossy().contains(SIGN) => {
                Some("name the lake without a run: `etwkit lake list LAKE` lists its runs")
            }
            Self::NotALake { .. } => Some("`etwkit lake init LAKE` makes one"),
            Self::NoObjectStores { .. } => Some(
                "`cargo install --locked --path crates/etwkit --features object-store` makes one that does; \
                 or name a folder",
            ),
            Self::Address { .. } => Some(
                "only lakes in buckets of S3, Azure and Google have an address: copy other files to this \
                 computer",
            ),
            Self::NoCredentials { hint, .. } => Some(hint),
            Self::Overwrites { .. } => Some(
                "use a store that refuses a PUT with `If-None-Match: *` (`x-goog-if-generation-match: 0` \
                 for gs://) for a file that exists, as S3, R2, MinIO, Azure and Google do; or name a folder",
            ),
            Self::Taken { .. } => Some("name a folder that does not exist, or an empty one"),
            Self::Log { .. } => Some(
                "a lake has Delta tables of reader version 1, without column mapping and deletion \
                 vectors",
            ),
            Self::Columns { .. } => {
                Some("another version wrote it: add the extracts to a new lake with this version")
            }
            Self::Conflict { .. } => {
                Some("it is another trace, or a part of one: keep it as an extract of its own")
            }
            Self::Busy { .. } => Some("run it again when fewer programs write to the lake"),
            Self::Late => Some(
                "run it again, with fewer extracts at once; are the clocks of both machines right?",
            ),
            Self::File { .. } => Some("`etwkit lake check LAKE` lists all damaged files"),
            Self::Changed { .. } => Some("ask again"),
            Self::NoRun { .. } => Some("`etwkit lake list LAKE` lists the runs"),
            Self::Extract(error) => error.hint(),
            Self::Io { .. }
            | Self::Store { .. }
            | Self::Bucket { .. }
            | Self::Encode { .. }
            | Self::Rows { .. }
            | Self::Manifest { .. } => None,
        }
    }
}
