//! Names of processes in the code page of the machine. Events in, rows out.

use etwkit_trace::table::{Process, Row};

use crate::counters::{bytes, wide, words};
use crate::scheduling::Recording;

/// Types of events that stand for a process or an image from before the trace, or after it.
const DC_START: u8 = 3;
const DC_END: u8 = 4;

/// A process with a name of single bytes, and a command line.
fn process(pid: u64, name: &[u8], command_line: &str) -> Vec<u8> {
    let numbers = [
        (0xFFFF_C000_0000_0000 + pid, 8),
        (pid, 4),
        (4, 4),
        (1, 4),
        (259, 4),
        (0, 8),
        (0, 4),
        (0, 4),
    ];
    let texts = [name, &[0], &wide(command_line), &[0; 4]];
    [bytes(&numbers), texts.concat()].concat()
}

fn image(pid: u64, base: u64, path: &str) -> Vec<u8> {
    let numbers = [
        (base, 8),
        (0x8000, 8),
        (pid, 4),
        (1, 4),
        (2, 4),
        (0, 4),
        (0, 8),
        (0, 8),
        (0, 8),
    ];
    [bytes(&numbers), wide(path)].concat()
}

/// Returns the name of a process that was recorded with some bytes, a command line and images.
fn named(opcode: u8, name: &[u8], command_line: &str, images: &[&str]) -> String {
    let mut trace = Recording::new();
    trace.kernel(5, 0, None, (3, opcode, 4), &process(60, name, command_line));
    for (path, base) in images.iter().zip((0x40_0000..).step_by(0x1_0000)) {
        trace.kernel(10, 0, None, (20, opcode, 2), &image(60, base, path));
    }
    // Another process with another name, whose image could have that of the first.
    trace.kernel(15, 0, None, (3, opcode, 4), &process(80, b"b.exe", ""));
    trace.kernel(
        20,
        0,
        None,
        (20, opcode, 2),
        &image(80, 0x40_0000, r"\Ж.exe"),
    );
    let rows = trace.rows();
    words(&rows, Process::TABLE, "name").swap_remove(0)
}

/// The main image of a process comes after the process itself.
#[test]
fn a_process_has_the_name_of_its_image_in_every_code_page() {
    for opcode in [DC_START, DC_END] {
        let of_image = |name: &[u8], images: &[&str]| named(opcode, name, "", images);
        // Windows-1252.
        let post = [
            r"\Device\HarddiskVolume3\Büro\ntdll.dll",
            r"\Device\HarddiskVolume3\Büro\BüroPost32.exe",
        ];
        assert_eq!(of_image(b"B\xFCroPost32.exe", &post), "BüroPost32.exe");
        // Two bytes for a character, the second one may be a separator of paths.
        let table = [
            r"\Device\HarddiskVolume3\表示\補助.dll",
            r"\Device\HarddiskVolume3\表示\表示.exe",
        ];
        assert_eq!(of_image(b"\x95\x5C\x8E\xA6.exe", &table), "表示.exe");
        // The code page lacks the characters.
        assert_eq!(of_image(b"??.exe", &table), "表示.exe");
        // Cut after 15 bytes.
        let overview = [r"\Device\HarddiskVolume3\Übersichtsprogramm.exe"];
        assert_eq!(
            of_image(b"\xDCbersichtsprogr", &overview),
            "Übersichtsprogramm.exe"
        );
    }
}

#[test]
fn without_a_matching_image_the_command_line_has_the_name() {
    let images = [r"\Device\HarddiskVolume3\Почта\ядро.dll"];
    let lines = [
        r#""C:\Моя почта\Почта.exe" -x"#,
        r"C:\Моя почта\Почта.exe -x",
        "Почта -x",
    ];
    for line in lines {
        let name = named(DC_START, b"\xCF\xEE\xF7\xF2\xE0.exe", line, &images);
        assert_eq!(name, "Почта.exe", "{line}");
    }
}

/// As names of western Europe: nothing else is known.
#[test]
fn a_name_that_nothing_matches_is_read_as_windows_1252() {
    let images = [r"\Device\HarddiskVolume3\Büro\Brief.exe"];
    let read = |name: &[u8]| named(DC_START, name, r"C:\Büro\Brief.exe", &images);
    assert_eq!(read(b"\xDCbersicht\x80.exe"), "Übersicht€.exe");
    // The image of another process is not that of this one.
    assert_eq!(read(b"\xC6.exe"), "Æ.exe");
    assert_eq!(read("Übersicht.exe".as_bytes()), "Übersicht.exe");
    assert_eq!(read(b"?.exe"), "?.exe");
}
