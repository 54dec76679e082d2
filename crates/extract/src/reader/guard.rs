//! Damage that the decoder does not expect.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

/// Runs the decoder. It checks the structure of a file but not every number in it, and panics over some damaged pages;
/// that is an error of the file. What was being decoded must not be used afterwards.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(ParquetError::General(format!("the decoder gave up over damaged numbers: {text}")))
    })
}
