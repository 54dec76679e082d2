//! Makes the pages of `docs` a part of the program: a list of their names and texts.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder of the pages, from here. Clones that build into one target folder share this build, so
/// no path of a clone may get into it: what the program includes are copies.
const DOCS: &str = "../../docs";

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(DOCS);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed={DOCS}");
    let mut files = Vec::new();
    collect(&docs, &mut files)?;
    files.sort();
    let mut pages = String::new();
    let mut pictures = String::new();
    for file in &files {
        let name = name(&docs, file)?;
        let copy = out.join("docs").join(&name);
        fs::create_dir_all(copy.parent().ok_or("a page is in a folder")?)?;
        fs::copy(file, &copy)?;
        let path = copy.to_str().ok_or("the path of a page is UTF-8")?;
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("md") => writeln!(pages, "    ({name:?}, include_str!({path:?})),")?,
            Some("png") => writeln!(pictures, "    ({name:?}, include_bytes!({path:?})),")?,
            _ => {}
        }
    }
    let text = format!(
        "/// Names of pages, from the folder `docs`, and their texts.\n\
         const PAGES: &[(&str, &str)] = &[\n{pages}];\n\
         /// Names of pictures, and their bytes.\n\
         const PICTURES: &[(&str, &[u8])] = &[\n{pictures}];\n"
    );
    fs::write(out.join("docs.rs"), text)?;
    Ok(())
}

/// Returns the name of a file in `docs`, with `/` on every system.
fn name(docs: &Path, file: &Path) -> Result<String, Box<dyn Error>> {
    let parts: Vec<String> = file
        .strip_prefix(docs)?
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    Ok(parts.join("/"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
