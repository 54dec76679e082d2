//! Builds the page with Node and npm, and writes `page.rs`, which has its files. Without them, or without a
//! network the first time, the program has no page, and says so; it builds all the same.
//!
//! A folder `ui/dist` that somebody built before is taken as it is where there is no Node: packages carry
//! one. `ETWKIT_NO_PAGE=1` leaves the page out.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a build that cannot write its files ends"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where the page is made, from here. Clones that build into one target folder share this build: with the
/// whole path of one of them, cargo would look for changes there alone, and all had its page.
const UI: &str = "../../ui";

fn main() {
    // Asked when this runs: what the compiler knew of a folder may be another clone.
    let ui =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the folder")).join(UI);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    for input in [
        "src",
        "build.mjs",
        "package.json",
        "package-lock.json",
        "tsconfig.json",
    ] {
        println!("cargo::rerun-if-changed={UI}/{input}");
    }
    println!("cargo::rerun-if-env-changed=ETWKIT_NO_PAGE");
    let built = out.join("page");
    let is_wanted = env::var_os("ETWKIT_NO_PAGE").is_none();
    let page = is_wanted.then(|| page(&ui, &built)).flatten();
    fs::write(out.join("page.rs"), files(page.as_deref())).expect("the folder can be written");
}

/// The folder with the page, if there is one.
fn page(ui: &Path, built: &Path) -> Option<PathBuf> {
    let dist = ui.join("dist");
    match build(ui, built) {
        Ok(()) => Some(built.to_owned()),
        Err(_) if dist.join("index.html").is_file() => {
            println!("cargo::rerun-if-changed={UI}/dist");
            Some(dist)
        }
        Err(why) => {
            println!("cargo::warning=without the page of `etwkit view`: {why}");
            None
        }
    }
}

fn build(ui: &Path, built: &Path) -> Result<(), String> {
    let (lock, installed) = (
        ui.join("package-lock.json"),
        ui.join("node_modules/.package-lock.json"),
    );
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    if modified(&installed) < modified(&lock) {
        // Scripts of packages are not run: none of ours needs one.
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        run(Command::new(npm)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(ui))?;
    }
    run(Command::new("node")
        .arg("build.mjs")
        .arg(built)
        .current_dir(ui))
}

/// Runs a program that has to end well; what it printed as its error otherwise.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name} cannot be run: {error}; Node 20 has it"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let error = text
        .lines()
        .find(|line| line.contains("[ERROR]") || line.contains("Error:"));
    let error = error.unwrap_or("it printed no error");
    Err(format!("{name} failed: {error}"))
}

/// The text of `page.rs`.
fn files(page: Option<&Path>) -> String {
    let mut names: Vec<String> = page
        .and_then(|page| fs::read_dir(page).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.ends_with(".br"))
        .collect();
    names.sort();
    let mut text = "[\n".to_owned();
    for name in names {
        let path = page.unwrap().join(&name);
        let packed = PathBuf::from(format!("{}.br", path.display()));
        let packed = if packed.is_file() {
            format!("Some(include_bytes!({packed:?}))")
        } else {
            "None".into()
        };
        writeln!(
            text,
            "File {{ name: {name:?}, bytes: include_bytes!({path:?}), packed: {packed} }},"
        )
        .unwrap();
    }
    text + "]\n"
}
