//! Advice for files that are not traces, by their first bytes.

const ARCHIVE: &str = "this is an archive inside others; unpack them, and name the .etl files";
const DUMP: &str = "this is a memory dump, not a trace; open it with a debugger";
const NETWORK: &str = "this is a network capture, not a trace; Wireshark opens it";
const PROGRAM: &str = "this is a program, not a trace; name the .etl file that was recorded";
const PROFILE: &str = "this is a .nettrace file of dotnet-trace, not an .etl file";

/// Starts of files that are taken for traces by mistake. Archives come here only from inside others.
const STARTS: [(&[u8], &str); 21] = [
    (b"ElfFile", "this is an event log (.evtx), not a trace"),
    (b"Nettrace", PROFILE),
    (
        b"\x14\0\0\0!FastSerialization",
        "this is an .etlx or .gcdump file; name the .etl file that it was made from",
    ),
    (
        b"PML_",
        "this is a log of Process Monitor (.pml), not a trace; Process Monitor opens it",
    ),
    (
        b"PERFILE2",
        "this is a perf.data file of Linux, not an .etl file",
    ),
    (
        b"version https://git-lfs",
        "this is a pointer of Git LFS, not the trace itself; run `git lfs pull`",
    ),
    (b"MDMP", DUMP),
    (b"PAGEDUMP", DUMP),
    (b"PAGEDU64", DUMP),
    (b"\x0A\x0D\x0D\x0A", NETWORK),
    (b"\xD4\xC3\xB2\xA1", NETWORK),
    (b"MZ", PROGRAM),
    (b"\x7FELF", PROGRAM),
    (b"PK\x03\x04", ARCHIVE),
    (b"7z\xBC\xAF\x27\x1C", ARCHIVE),
    (b"MSCF", ARCHIVE),
    (b"\x1F\x8B", ARCHIVE),
    (b"\x28\xB5\x2F\xFD", ARCHIVE),
    (b"\xFD7zXZ\0", ARCHIVE),
    (b"BZh", ARCHIVE),
    (b"\x04\x22\x4D\x18", ARCHIVE),
];

/// Advice for a file that is not a trace, by its first bytes.
pub(super) fn hint_for(head: &[u8]) -> &'static str {
    if head.is_empty() {
        return "the file is empty; was the recording stopped before anything was written?";
    }
    if let Some((_, hint)) = STARTS.iter().find(|(start, _)| head.starts_with(start)) {
        return hint;
    }
    if head.get(257..262) == Some(b"ustar") {
        "this is a tar archive; unpack it, and name the .etl files"
    } else if head.iter().all(|byte| *byte == 0) {
        "the file starts with zeros; was its copy or download completed? copy it again"
    } else if is_text(head) {
        "this is text, not a trace; name the .etl file that was recorded"
    } else {
        "name an .etl file, or a .zip, .7z, .cab, .gz, .zst, .xz, .bz2 or .lz4 that holds one"
    }
}

/// Returns `true` for the start of a text: a buffer of a trace starts with numbers, which have zeros.
fn is_text(head: &[u8]) -> bool {
    const LOOKED_AT: usize = 256;
    let start = head.get(..LOOKED_AT).unwrap_or(head);
    let is_wide = start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF");
    // All bytes have to be text. A trace has zeros among its first numbers.
    let is_narrow = start
        .iter()
        .all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace());
    // Filler and noise are not controls either, but no text lacks ASCII.
    is_wide || (is_narrow && start.iter().any(u8::is_ascii))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_taken_for_traces_are_named() {
        let mut tar = [0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, hint) in [
            (&b""[..], "the file is empty"),
            (b"ElfFile\0\0\0\0\0", "event log (.evtx)"),
            (b"\x14\0\0\0!FastSerialization.1\x05", ".etlx or .gcdump"),
            (b"PML_\x09\0\0\0", "Process Monitor"),
            (
                b"version https://git-lfs.github.com/spec/v1\n",
                "git lfs pull",
            ),
            (b"PAGEDU64\0\0", "memory dump"),
            (b"\x0A\x0D\x0D\x0A\x1C\0\0\0", "network capture"),
            (b"MZ\x90\0", "a program"),
            (b"BZh9", "an archive inside others"),
            (&tar, "tar archive"),
            (&[0; 512], "starts with zeros"),
            (b"<!DOCTYPE html>\r\n", "this is text"),
            (b"\xFF\xFEh\0i\0", "this is text"),
            (&[0xFF; 512], "name an .etl file"),
            (&[0, 0, 1, 0, 0x48, 0], "name an .etl file"),
        ] {
            let found = hint_for(head);
            assert!(found.contains(hint), "{head:?}: {found}");
        }
    }
}
