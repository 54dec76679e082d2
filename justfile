# What people do with this project, one verb each. `just` lists them; each also works as the plain line below it.

# List the verbs.
_list:
    @just --list --unsorted

# Build etwkit, write a trace of a simulated machine, and find out why Git Bash takes ten seconds to open on it.
demo *OPTIONS:
    cargo run --locked -- demo {{ OPTIONS }}

# Every day: all tests of one crate, or those whose name contains a word: `just test trace`, `just test trace reused_id`.
test CRATE *WORDS:
    cargo test --locked -p {{ if CRATE == "etwkit" { CRATE } else { "etwkit-" + CRATE } }} -- {{ WORDS }}

# Everything: what a change needs (`scripts/test`), and every trace, strength and combination. Takes hours.
test-all:
    scripts/test --all

# Format the sources, then check them with clippy as the tests do.
lint:
    cargo fmt --all
    cargo clippy --workspace --features etwkit-record/lab-data --all-targets --locked -- -D warnings

# The pages of all crates, in target/doc; links in the Markdown pages are checked.
docs:
    scripts/links
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Rewrite transcripts, generated pages, types of the page, questions of the Python package, and outputs in the tutorials. Read the diff before you commit it.
bless:
    ETWKIT_BLESS=1 cargo test --locked -p etwkit -p etwkit-extract -p etwkit-record
    cargo build --locked
    ETWKIT_BIN=target/debug/etwkit python/generate.py
    scripts/examples --bless
    git diff --stat
