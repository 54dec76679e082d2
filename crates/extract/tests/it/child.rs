//! This test program, started again as another process that writes an extract.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use etwkit_extract::{Extract, Writer, WriterOptions};
use etwkit_trace::table::{CpuSample, Row};

use crate::rows::{extract, message, samples};

const MODE: &str = "ETWKIT_TEST_CHILD";
const TARGET: &str = "ETWKIT_TEST_TARGET";
const SALT: &str = "ETWKIT_TEST_SALT";

/// The text that a child prints after it starts to write.
const READY: &str = "child is ready";

/// The command line of a child.
pub(crate) fn command(mode: &str, target: &Path, salt: i64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::writes", "--ignored", "--nocapture"]);
    command
        .env(MODE, mode)
        .env(TARGET, target)
        .env(SALT, salt.to_string())
        .stdout(Stdio::piped());
    command
}

/// Starts a child and waits until it writes.
pub(crate) fn start(mode: &str, target: &Path, salt: i64) -> Child {
    let mut child = command(mode, target, salt).spawn().unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(
        lines.map(Result::unwrap).any(|line| line.contains(READY)),
        "the child ended early"
    );
    child
}

#[test]
#[ignore = "a helper process of other tests, which start it"]
fn writes() {
    let variable = |name| std::env::var(name).expect("only other tests start this one");
    let (target, salt) = (variable(TARGET), variable(SALT).parse().unwrap());
    let target = Path::new(&target);
    match variable(MODE).as_str() {
        "endless" => {
            let mut writer = Writer::create(target, WriterOptions::default()).unwrap();
            loop {
                writer
                    .write(CpuSample::TABLE, samples(100_000, salt))
                    .unwrap();
                println!("{READY}");
            }
        }
        "again" => loop {
            println!("{READY}");
            extract(target, 1000, salt).unwrap();
        },
        "times" => {
            println!("{READY}");
            for _ in 0..20 {
                extract(target, 1000, salt).unwrap();
            }
        }
        "large" => match extract(target, 200_000, salt) {
            Ok(_) => println!("outcome: it was written"),
            Err(error) => println!("outcome: {}", message(&error)),
        },
        mode => panic!("{mode}?"),
    }
}

/// The salt of an extract that [`extract`] wrote. All its parts must have the same one.
pub(crate) fn salt_of(target: &Path) -> i64 {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let extract = Extract::open(target).unwrap();
    let salt = i64::from_str_radix(&extract.manifest().source.hash, 16).unwrap();
    let (mut rows, mut sum) = (0, 0);
    for batch in extract
        .table("cpu_sample")
        .unwrap()
        .batches(Some(&["weight_ns"]))
        .unwrap()
    {
        let batch = batch.unwrap();
        rows += batch.num_rows() as i64;
        sum += batch
            .column(0)
            .as_primitive::<Int64Type>()
            .values()
            .iter()
            .sum::<i64>();
    }
    assert_eq!(sum, rows * (1_000_000 + salt));
    let mut marks = extract
        .table("mark")
        .unwrap()
        .batches(Some(&["text"]))
        .unwrap();
    assert_eq!(
        marks
            .next()
            .unwrap()
            .unwrap()
            .column(0)
            .as_string::<i32>()
            .value(0),
        format!("salt {salt}")
    );
    salt
}
