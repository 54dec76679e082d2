//! Modules that are known drivers, by file name.

use super::TableSource;
use super::columns::{Get, int32, text};
use crate::drivers;
use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table::{DriverCategory, Module, Row};

/// Computes `driver_category`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut rows = Out::default();
    source.scan(Module::TABLE, &["module_id", "name"], &mut |batch| {
        let module = int32(batch, "module_id")?;
        let name = text(batch, "name")?;
        for row in 0..batch.num_rows() {
            let driver = name.get(row).and_then(drivers::category);
            if let Some((module_id, driver)) = module.get(row).zip(driver) {
                let row = DriverCategory {
                    module_id,
                    driver: driver.name.to_owned(),
                    vendor: driver.vendor.to_owned(),
                    category: driver.category.as_str().to_owned(),
                };
                rows.push(&row, sink)?;
            }
        }
        Ok(())
    })?;
    rows.flush(sink)
}
