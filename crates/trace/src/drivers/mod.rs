//! Drivers that take part in file system requests, and the kind of each.
//!
//! The list (`drivers.tsv`) is taken from the page *Allocated filter altitudes* of the Windows
//! driver documentation, as of May 2021, as far as a company and a kind can be known. The altitude
//! of a filter determines its kind, because Microsoft assigns each kind a range. For drivers of
//! security products that are not file system filters, or have an altitude of another kind, the
//! list names the kind.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// A known driver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Driver {
    /// File name, as the list spells it.
    pub name: &'static str,
    /// Company.
    pub vendor: &'static str,
    /// Kind of the driver.
    pub category: Category,
    /// Its altitude, if it has one of its own; filters with a higher altitude see a request first.
    pub altitude: Option<f64>,
}

/// Kind of a driver: load order groups of file system filters. The group of virus scanners also
/// contains other drivers of security products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Category {
    /// Scans for viruses, or belongs to a product that does.
    Antivirus,
    /// Watches and reports file I/O.
    ActivityMonitor,
    /// Top of the stack.
    Top,
    /// Recovers deleted files.
    Undelete,
    /// Copies changes to another machine.
    Replication,
    /// Backs up changes continuously.
    ContinuousBackup,
    /// Keeps files with unwanted content away.
    ContentScreener,
    /// Limits space.
    QuotaManagement,
    /// Keeps the system as it was.
    SystemRecovery,
    /// Shares volumes between the nodes of a cluster.
    ClusterFileSystem,
    /// Moves files to slower storage, and restores them when they are opened.
    Hsm,
    /// Shows an image as a folder.
    Imaging,
    /// Compresses files.
    Compression,
    /// Encrypts files.
    Encryption,
    /// Shows paths that are elsewhere.
    Virtualization,
    /// Any other filter.
    Filter,
}

impl Category {
    /// Its name in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Antivirus => "antivirus",
            Self::ActivityMonitor => "activity_monitor",
            Self::Top => "top",
            Self::Undelete => "undelete",
            Self::Replication => "replication",
            Self::ContinuousBackup => "continuous_backup",
            Self::ContentScreener => "content_screener",
            Self::QuotaManagement => "quota_management",
            Self::SystemRecovery => "system_recovery",
            Self::ClusterFileSystem => "cluster_file_system",
            Self::Hsm => "hsm",
            Self::Imaging => "imaging",
            Self::Compression => "compression",
            Self::Encryption => "encryption",
            Self::Virtualization => "virtualization",
            Self::Filter => "filter",
        }
    }

    /// The kind of filters at an altitude: the ranges of the load order groups.
    fn at(altitude: f64) -> Self {
        match altitude {
            a if (400_000.0..410_000.0).contains(&a) => Self::Top,
            a if (360_000.0..390_000.0).contains(&a) => Self::ActivityMonitor,
            a if (340_000.0..350_000.0).contains(&a) => Self::Undelete,
            a if (320_000.0..330_000.0).contains(&a) => Self::Antivirus,
            a if (300_000.0..310_000.0).contains(&a) => Self::Replication,
            a if (280_000.0..290_000.0).contains(&a) => Self::ContinuousBackup,
            a if (260_000.0..270_000.0).contains(&a) => Self::ContentScreener,
            a if (240_000.0..250_000.0).contains(&a) => Self::QuotaManagement,
            a if (220_000.0..230_000.0).contains(&a) => Self::SystemRecovery,
            a if (200_000.0..210_000.0).contains(&a) => Self::ClusterFileSystem,
            a if (180_000.0..190_000.0).contains(&a) => Self::Hsm,
            a if (170_000.0..175_000.0).contains(&a) => Self::Imaging,
            a if (160_000.0..170_000.0).contains(&a) => Self::Compression,
            a if (140_000.0..150_000.0).contains(&a) => Self::Encryption,
            a if (130_000.0..140_000.0).contains(&a) => Self::Virtualization,
            _ => Self::Filter,
        }
    }
}

const LIST: &str = include_str!("drivers.tsv");

/// All known drivers, in the order of the list.
#[must_use]
pub fn all() -> &'static [Driver] {
    static ALL: LazyLock<Vec<Driver>> = LazyLock::new(|| LIST.lines().filter_map(parsed).collect());
    &ALL
}

/// The driver with that file name; case is ignored. If a driver is listed twice, its first line
/// applies.
#[must_use]
pub fn category(name: &str) -> Option<Driver> {
    static BY_NAME: LazyLock<FxHashMap<String, Driver>> = LazyLock::new(|| {
        // Reversed, so that of two lines with one name the first one is inserted last and stays.
        all()
            .iter()
            .rev()
            .map(|driver| (driver.name.to_lowercase(), *driver))
            .collect()
    });
    BY_NAME.get(&name.to_lowercase()).copied()
}

/// Parses a line: altitude, which may be missing, file name, company, and `antivirus` if the
/// altitude does not show the kind.
fn parsed(line: &'static str) -> Option<Driver> {
    let mut fields = line.split('\t');
    let altitude = fields.next()?;
    let name = fields.next()?;
    let vendor = fields.next()?;
    let altitude: Option<f64> = altitude.parse().ok();
    let category = match fields.next() {
        Some("antivirus") => Category::Antivirus,
        Some(_) => return None,
        None => Category::at(altitude?),
    };
    Some(Driver {
        name,
        vendor,
        category,
        altitude,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_line_is_a_driver() {
        let is_comment = |line: &&str| line.starts_with('#');
        assert_eq!(
            all().len(),
            LIST.lines().filter(|line| !is_comment(line)).count()
        );
        for driver in all() {
            let is_clean = |text: &str| !text.is_empty() && text.trim() == text;
            assert!(
                is_clean(driver.name) && is_clean(driver.vendor),
                "{driver:?}"
            );
            assert!(driver.name.to_lowercase().ends_with(".sys"), "{driver:?}");
            assert_eq!(
                category(driver.name).map(|found| found.name.to_lowercase()),
                Some(driver.name.to_lowercase())
            );
        }
    }

    #[test]
    fn drivers_are_found_in_any_case_and_are_of_the_kind_of_their_altitude() {
        let vendor_and_kind =
            |name: &str| category(name).map(|driver| (driver.vendor, driver.category.as_str()));
        for (name, vendor, kind) in [
            ("WDFILTER.SYS", "Microsoft", "antivirus"),
            ("csagent.sys", "CrowdStrike", "antivirus"),
            ("tedrdrv.sys", "Palo Alto Networks", "antivirus"),
            ("SentinelMonitor.sys", "SentinelOne", "antivirus"),
            ("cldflt.sys", "Microsoft", "top"),
            ("file_tracker.sys", "Acronis", "continuous_backup"),
            ("fileinfo.sys", "Microsoft", "filter"),
        ] {
            assert_eq!(vendor_and_kind(name), Some((vendor, kind)), "{name}");
        }
        assert_eq!(
            (
                vendor_and_kind("ntfs.sys"),
                vendor_and_kind("wdfilter"),
                vendor_and_kind("")
            ),
            (None, None, None)
        );
        assert_eq!(
            category("wdfilter.sys").and_then(|driver| driver.altitude),
            Some(328_010.0)
        );
    }

    #[test]
    fn there_are_hundreds_of_each_large_kind() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for driver in all() {
            *counts.entry(driver.category.as_str()).or_default() += 1;
        }
        assert!(
            counts["antivirus"] > 200
                && counts["encryption"] > 20
                && counts["continuous_backup"] > 20,
            "{counts:?}"
        );
    }
}
