//! The stand-in for netsh.exe.

#![allow(clippy::exit, reason = "all bits of a code are kept")]

fn main() {
    std::process::exit(etwkit_testkit::stand_in::program("netsh"));
}
