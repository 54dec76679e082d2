//! The decompressors, alone and below the reader.
//!
//! Layout of an input: method and how far the claimed length is shifted right (1 byte), length that is
//! claimed (4 bytes), compressed bytes. Large claims are rare, since they are slow.

#![no_main]

use std::sync::OnceLock;

use etwkit_etl::wire::buffer::{BufferHeader, HEADER_LEN, MAX_BUFFER_LEN, flag};
use etwkit_etl::wire::{lz77, lz77_compress, lznt1, xpress_huffman};
use etwkit_etl::{Order, Session};
use etwkit_fuzz::input::Input;
use etwkit_fuzz::{made, passes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let (method, claimed) = (input.u8(), input.u32() % (MAX_BUFFER_LEN + 2));
    let claimed = claimed >> (method >> 4);
    match method % 4 {
        0 => alone(lznt1::decompress, input.0, claimed),
        1 => alone(lz77::decompress, input.0, claimed),
        2 => alone(xpress_huffman::decompress, input.0, claimed),
        _ => round_trip(input.0),
    }
    if method % 4 < 3 {
        in_a_file(u16::from(method % 4) + 2, input.0, claimed);
    }
});

/// Input, output behind what is there, its length at the end.
type Decompress = fn(&[u8], &mut Vec<u8>, usize) -> Result<(), lz77::Broken>;

fn alone(decompress: Decompress, bytes: &[u8], claimed: u32) {
    let mut out = vec![7; HEADER_LEN];
    let end = HEADER_LEN + claimed as usize;
    let result = decompress(bytes, &mut out, end);
    let produced = out.len() - HEADER_LEN;
    match result {
        Ok(()) => assert_eq!(out.len(), end),
        Err(broken) => assert!(broken.produced <= produced && produced <= claimed as usize),
    }
    assert!(
        out.iter().take(HEADER_LEN).all(|byte| *byte == 7),
        "what was there is kept"
    );
}

fn round_trip(bytes: &[u8]) {
    let (mut packed, mut out) = (Vec::new(), Vec::new());
    lz77_compress::Compressor::default().compress(bytes, &mut packed);
    assert_eq!(lz77::decompress(&packed, &mut out, bytes.len()), Ok(()));
    assert_eq!(out, bytes);
}

/// A file with one compressed buffer behind its header buffer.
fn in_a_file(format: u16, bytes: &[u8], claimed: u32) {
    static HEAD: OnceLock<Vec<u8>> = OnceLock::new();
    let mut file = HEAD.get_or_init(|| made::bytes(made::writer(8))).clone();
    // The low half of the state of the first buffer.
    for (to, from) in file.iter_mut().skip(0x2C).zip(format.to_le_bytes()) {
        *to = from;
    }
    let header = BufferHeader {
        buffer_size: (HEADER_LEN + bytes.len()) as u32,
        offset: HEADER_LEN as u32 + claimed,
        buffer_flag: flag::COMPRESSED,
        ..BufferHeader::default()
    };
    file.extend(header.to_bytes());
    file.extend(bytes);
    let session = Session::open(vec![Box::new(file)]).expect("the header buffer is whole");
    let in_time = passes::read(&session, Order::Time);
    assert_eq!(in_time.events, passes::read(&session, Order::File).events);
}
