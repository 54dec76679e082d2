//! Compressed PDB files: the files of this folder recompressed, and one that Microsoft's writer
//! made.

use std::io::Cursor;
use std::time::{Duration, Instant};

use etwkit_symbols::pdb::Pdb;

use crate::fixture;
use crate::made::streams;
use crate::pdb::table;

const NAME: &str = "shapes-x86_64.pdb";
/// The header: positions and lengths of the directory and of the table of chunks.
const DIRECTORY_AT: usize = 40;
const CHUNKS_AT: usize = 48;
const STREAMS: usize = 56;
const DIRECTORY_UNPACKED: usize = 68;
const CHUNKS: usize = 72;

/// A stream: fragments with a length and a location.
type Fragments = Vec<(u32, u64)>;

struct Made {
    bytes: Vec<u8>,
    chunks: Vec<u8>,
}

impl Made {
    fn new() -> Self {
        let mut bytes = b"Microsoft MSFZ Container\r\n\x1aALD\0\0".to_vec();
        bytes.resize(80, 0);
        Self {
            bytes,
            chunks: Vec::new(),
        }
    }

    /// Compresses a chunk; `len` is its claimed length.
    fn chunk(&mut self, unpacked: &[u8], len: u32) {
        self.chunk_by(1, zstd::encode_all(unpacked, 3).unwrap(), len);
    }

    fn chunk_by(&mut self, method: u32, packed: Vec<u8>, len: u32) {
        self.chunks.extend((self.bytes.len() as u64).to_le_bytes());
        for number in [method, packed.len() as u32, len] {
            self.chunks.extend(number.to_le_bytes());
        }
        self.bytes.extend(packed);
    }

    fn finish(mut self, streams: &[Fragments]) -> Vec<u8> {
        let mut directory = Vec::new();
        for (len, location) in streams
            .iter()
            .flat_map(|stream| stream.iter().copied().chain([(0, 0)]))
        {
            directory.extend(u32::to_le_bytes(len));
            if len > 0 {
                directory.extend(location.to_le_bytes());
            }
        }
        let packed = zstd::encode_all(directory.as_slice(), 3).unwrap();
        let at = self.bytes.len() as u64;
        self.bytes.extend(&packed);
        let chunks_at = self.bytes.len() as u64;
        self.bytes.extend(&self.chunks);
        for (field, number) in [(DIRECTORY_AT, at), (CHUNKS_AT, chunks_at)] {
            self.bytes[field..field + 8].copy_from_slice(&number.to_le_bytes());
        }
        let lens = [
            streams.len(),
            1,
            packed.len(),
            directory.len(),
            self.chunks.len() / 20,
            self.chunks.len(),
        ];
        for (nth, number) in lens.into_iter().enumerate() {
            let field = STREAMS + 4 * nth;
            self.bytes[field..field + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        self.bytes
    }
}

const IN_CHUNK: u64 = 1 << 63;

/// All streams concatenated in chunks of that length. Every third chunk is stored uncompressed.
pub(crate) fn compressed(streams: &[Vec<u8>], chunk_len: usize) -> Vec<u8> {
    let mut made = Made::new();
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (nth, stream) in streams.iter().enumerate() {
        let mut fragments = Fragments::new();
        // Halves, so that streams have several fragments.
        for part in stream.chunks(stream.len().div_ceil(2).max(1)) {
            let location = if nth % 3 == 2 {
                made.bytes.extend(part);
                (made.bytes.len() - part.len()) as u64
            } else {
                all.extend(part);
                let at = all.len() - part.len();
                IN_CHUNK | ((at / chunk_len) as u64) << 32 | (at % chunk_len) as u64
            };
            fragments.push((part.len() as u32, location));
        }
        directory.push(fragments);
    }
    for (nth, chunk) in all.chunks(chunk_len).enumerate() {
        match nth % 4 {
            2 => made.chunk_by(0, chunk.to_vec(), chunk.len() as u32),
            3 => made.chunk_by(
                2,
                miniz_oxide::deflate::compress_to_vec(chunk, 6),
                chunk.len() as u32,
            ),
            _ => made.chunk(chunk, chunk.len() as u32),
        }
    }
    made.finish(&directory)
}

#[test]
fn a_compressed_file_says_the_same() {
    for name in [NAME, "shapes-i686.pdb", "public-x86_64.pdb"] {
        let whole = streams(&fixture(name));
        for chunk_len in [500, 5000, 1 << 20] {
            let packed = compressed(&whole, chunk_len);
            let table_of = Pdb::open(Cursor::new(packed)).unwrap().table().unwrap();
            assert_eq!(
                table_of.as_bytes(),
                table(name).as_bytes(),
                "{name}, chunks of {chunk_len}"
            );
        }
    }
}

/// `compressed-x86_64.pdb` was made from the plain file with Microsoft's own library.
#[test]
fn a_file_of_another_writer_says_the_same() {
    assert_eq!(
        table("compressed-x86_64.pdb").as_bytes(),
        table(NAME).as_bytes()
    );
    assert!(fixture("compressed-x86_64.pdb").starts_with(b"Microsoft MSFZ Container"));
}

fn error(bytes: Vec<u8>) -> String {
    let table = Pdb::open(Cursor::new(bytes)).and_then(|mut pdb| pdb.table());
    table.err().expect("it must not open").to_string()
}

#[test]
fn what_is_claimed_takes_no_memory() {
    let whole = compressed(&streams(&fixture(NAME)), 5000);
    for (field, value, reason) in [
        (32, 1_u32, "a version that is not supported"),
        (STREAMS, u32::MAX, "more streams than there are numbers"),
        (STREAMS, 60_000, "ends inside a list of fragments"),
        (60, 7, "a method that is not supported"),
        (DIRECTORY_UNPACKED, u32::MAX, "larger than the file"),
        (DIRECTORY_UNPACKED, 1 << 20, "fewer bytes than it claims"),
        (DIRECTORY_AT, u32::MAX, "larger than the file"),
        (CHUNKS, u32::MAX, "does not match the number of chunks"),
        (CHUNKS_AT, u32::MAX, "past the end of the file"),
    ] {
        let mut bytes = whole.clone();
        bytes[field..field + 4].copy_from_slice(&value.to_le_bytes());
        let error = error(bytes);
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let chunk = |len, location| {
        let mut made = Made::new();
        made.chunk(&[7; 1000], len);
        made.finish(&[vec![(100, location)], vec![(100, IN_CHUNK)]])
    };
    assert!(error(chunk(u32::MAX, IN_CHUNK)).contains("more than the limit"));
    assert!(error(chunk(2000, IN_CHUNK)).contains("fewer bytes than it claims"));
    assert!(error(chunk(1000, IN_CHUNK | 950)).contains("past the end of the data"));
    assert!(error(chunk(1000, IN_CHUNK | 1 << 32)).contains("past the end of the data"));
    assert!(error(chunk(1000, 1 << 40)).contains("past the end of the data"));
}

/// A chunk that cannot be unpacked loses its content, and earlier chunks stay correct.
#[test]
fn a_damaged_chunk_names_nothing_wrong() {
    let whole = compressed(&streams(&fixture(NAME)), 500);
    let names = |table: &etwkit_symbols::table::SymbolTable| -> Vec<(u32, String)> {
        table
            .functions()
            .map(|it| (it.start_rva, it.name))
            .collect()
    };
    let right = names(&table(NAME));
    let number = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize;
    let (table_at, mut errors) = (number(CHUNKS_AT), 0);
    for chunk in (0..number(CHUNKS))
        .map(|nth| table_at + 20 * nth)
        .filter(|chunk| number(chunk + 8) == 1)
    {
        let mut bytes = whole.clone();
        // No zstd frame starts like this.
        bytes[number(chunk)] ^= 0xFF;
        match Pdb::open(Cursor::new(bytes)).and_then(|mut pdb| pdb.table()) {
            Ok(table) => {
                let found = names(&table);
                assert!(found.iter().all(|name| right.contains(name)), "{found:?}");
            }
            Err(_) => errors += 1,
        }
    }
    // Directory, names and functions; other streams have no names.
    assert!(errors >= 3, "{errors}");
}

/// Each fragment is in another chunk than the previous one, and all of them are in the same few
/// bytes.
#[test]
fn a_directory_that_goes_to_and_fro_costs_no_more_than_an_honest_one() {
    let chunk = vec![0; 8 << 20];
    let to_and_fro = |count: u64, len: u32| {
        let mut made = Made::new();
        (0..4).for_each(|_| made.chunk(&chunk, chunk.len() as u32));
        let fragments = (0..count)
            .map(|nth| (len, IN_CHUNK | (nth % 4) << 32))
            .collect();
        // The debug information, which is read as a whole.
        made.finish(&[Vec::new(), vec![(28, IN_CHUNK)], Vec::new(), fragments])
    };
    let start = Instant::now();
    // 28 MB of the chunks' 32 MB, in two million fragments.
    let bytes = to_and_fro(2_000_000, 14);
    assert!(error(bytes).contains("does not say which sections"));
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    assert!(error(to_and_fro(1000, 1 << 20)).contains("streams are larger than the file"));
}
