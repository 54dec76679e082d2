//! The package for Python, whose own tests run this program.

use crate::architecture::root;

#[test]
fn the_package_for_python_asks_this_program() {
    let test = "python::the_package_for_python_asks_this_program";
    let Some(mut python) = etwkit_testkit::python(test) else {
        return;
    };
    let cache = tempfile::tempdir().unwrap();
    let package = root().join("python");
    etwkit_testkit::output_of(
        python
            .args(["-m", "unittest", "discover", "--start-directory", "tests"])
            .current_dir(&package)
            .env("PYTHONPATH", package.join("src"))
            // The sources stay as they are.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("ETWKIT_BIN", env!("CARGO_BIN_EXE_etwkit"))
            .env("ETWKIT_CACHE", cache.path()),
    );
}
