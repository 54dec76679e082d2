//! Tables of Windows Performance Analyzer: profiles, plans, and files of CSV.

mod page;
mod parts;
mod profiles;
mod support;
mod tables;
mod written;
