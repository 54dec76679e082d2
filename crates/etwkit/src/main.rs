//! The program: arguments in, text out, an exit code back.

#![forbid(unsafe_code)]

use std::io::{self, BufWriter};
use std::process::ExitCode;

fn main() -> ExitCode {
    etwkit::interrupt::install();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut err = io::stderr().lock();
    etwkit::run(std::env::args_os(), &mut out, &mut err).into()
}
