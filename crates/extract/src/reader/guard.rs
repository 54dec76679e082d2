//! Damage that the decoder does not expect.

use parquet::errors::ParquetError;

use crate::quiet;

/// Runs the decoder. It checks the structure of a file but not every number in it, and it panics
/// over some damaged pages. These panics become errors of the file. The decoder must not be used
/// after an error.
pub(super) fn guarded<T>(
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ParquetError> {
    quiet::catch(decode).unwrap_or_else(|said| {
        Err(ParquetError::General(format!(
            "the decoder gave up over damaged numbers: {said}"
        )))
    })
}
