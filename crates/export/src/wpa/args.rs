//! Options of `etwkit export` for profiles, and the command line of `wpaexporter`.

use clap::Args;

/// Tables of Windows Performance Analyzer as files of CSV.
#[derive(Debug, Clone, Default, Args)]
pub struct ProfileArgs {
    /// Write the tables of a Windows Performance Analyzer profile as CSV files into the folder --out.
    /// The profile is a .wpaProfile file, or cpu, wait, disk, memory or system; can be repeated
    #[arg(long = "profile", value_name = "FILE|NAME")]
    pub profiles: Vec<String>,
    /// Start of the names of CSV files
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        requires = "profiles"
    )]
    pub prefix: String,
    /// Only from the first mark with this text on: to --to-mark
    #[arg(long, value_name = "TEXT", requires_all = ["profiles", "to_mark"], conflicts_with = "range")]
    pub from_mark: Option<String>,
    /// Only up to the first mark with this text after --from-mark
    #[arg(long, value_name = "TEXT", requires = "from_mark")]
    pub to_mark: Option<String>,
    /// Only the parts of the trace in instances of these regions of interest; each instance becomes
    /// files of its own
    #[arg(long, value_name = "REGIONS", requires_all = ["profiles", "regions"], conflicts_with_all = ["range", "from_mark"])]
    pub region: Option<String>,
    /// Regions of Interest file of Windows Performance Analyzer that defines the regions
    #[arg(long, value_name = "FILE", requires = "profiles")]
    pub regions: Option<String>,
    /// Write single rows instead of sums by the columns left of the golden bar
    #[arg(long, requires = "profiles")]
    pub rows: bool,
}

/// A line of another program.
#[derive(Debug, Clone, Args)]
pub struct LineArgs {
    /// Its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    pub args: Vec<String>,
}
