//! Profiles (`.wpaProfile`): selections of graphs and their columns.
//!
//! Versions 1 (Windows Performance Analyzer 6.3) and 2 (10.x) become the same [`Profile`]. The
//! reader does not know the catalog: it keeps every graph and column that a profile shows.

mod read;

use etwkit_sql::xml::Warnings;

use crate::wpa::format::Unit;

/// The graphs that a profile shows, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// The version of its format, 1 or 2.
    pub version: u32,
    /// Tables.
    pub presets: Vec<Preset>,
    /// What could not be followed in its file.
    pub warnings: Warnings,
}

/// A table: a graph with chosen columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preset {
    /// GUID of the graph, if the profile has it.
    pub graph_guid: Option<String>,
    /// Name of the graph, if the profile has it.
    pub graph_name: Option<String>,
    /// The element for the graph in version 1.
    pub element: Option<String>,
    /// Title of the tab that it is in.
    pub view: String,
    /// Its name.
    pub name: String,
    /// All columns, in their order; those that are not visible count for [`Self::keys`].
    pub columns: Vec<PresetColumn>,
    /// Number of columns, visible or not, that are left of the golden bar.
    pub keys: usize,
    /// A condition of the query language; empty for none.
    pub filter: String,
    /// True if rows that meet the filter are kept; otherwise they are left out.
    pub filter_keeps: bool,
}

/// A column of a preset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresetColumn {
    /// GUID of the column.
    pub guid: String,
    /// Its name in the profile.
    pub name: String,
    /// True if it is visible.
    pub is_visible: bool,
    /// The aggregation of rows with the same keys.
    pub aggregation: Aggregation,
    /// Sorting by this column, if any: its place among the sort columns, and true if the largest
    /// value comes first.
    pub sort: Option<(u32, bool)>,
    /// The unit that `CellFormat` sets.
    pub unit: Option<Unit>,
    /// The option of a nested element.
    pub option: ColumnOption,
}

/// Options that change the content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColumnOption {
    /// As usual.
    #[default]
    None,
    /// The tag of the stack instead of its frames.
    StackTag,
    /// The frames of the stack with their tags.
    FrameTags,
    /// The name of the process without its id.
    NoPid,
    /// The whole time, not only the part in view.
    Whole,
}

/// Aggregation of several values to one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Aggregation {
    /// None: there is a value only if all rows have the same one.
    #[default]
    None,
    /// The sum.
    Sum,
    /// The mean.
    Average,
    /// The mean, in which each row counts by the length of its time.
    WeightedAverage,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The number of rows.
    Count,
    /// The number of different values.
    UniqueCount,
    /// The maximum at any time.
    Peak,
    /// Another word.
    Other(String),
}

impl Aggregation {
    /// Parses the value of `AggregationMode`.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "" | "none" => Self::None,
            "sum" => Self::Sum,
            "average" => Self::Average,
            "weightedaverage" => Self::WeightedAverage,
            "min" => Self::Min,
            "max" => Self::Max,
            "count" => Self::Count,
            "uniquecount" => Self::UniqueCount,
            "peak" => Self::Peak,
            _ => Self::Other(word.to_owned()),
        }
    }

    /// Returns the word for it.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::None => "None",
            Self::Sum => "Sum",
            Self::Average => "Average",
            Self::WeightedAverage => "WeightedAverage",
            Self::Min => "Min",
            Self::Max => "Max",
            Self::Count => "Count",
            Self::UniqueCount => "UniqueCount",
            Self::Peak => "Peak",
            Self::Other(word) => word,
        }
    }
}
