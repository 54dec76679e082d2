//! Arguments of the command.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Transport of the server, and the tools that it offers to agents.
#[derive(Debug, Clone, Default, Args)]
pub struct McpArgs {
    /// Answer over HTTP at this loopback address instead of the standard input and output; without
    /// one at a free port of 127.0.0.1. Requests need the token that is printed, or that of
    /// ETWKIT_MCP_TOKEN
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    pub http: Option<SocketAddr>,
    /// Only traces and extracts in this folder can be opened; can be repeated
    #[arg(long, value_name = "FOLDER", conflicts_with = "etwanalyzer")]
    pub folder: Vec<PathBuf>,
    /// Offer the tools of ETWAnalyzer (etw_load, etw_dump_cpu …), too
    #[arg(long)]
    pub etwanalyzer: bool,
}
