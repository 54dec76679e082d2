//! Round trips of the compressed formats. The writer supports only format 3; the compressors of the
//! other formats are made for these tests and compress badly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use etwkit_etl::wire::buffer::HEADER_LEN;
use etwkit_etl::wire::lz77_compress::Compressor;
use etwkit_etl::wire::{lz77, lznt1, xpress_huffman};
use proptest::collection::vec;
use proptest::prelude::*;

use super::kit::{buffers, edit_header};

/// Length and distance of the longest match at `at`, found by trying all nearby distances.
fn longest(input: &[u8], at: usize, first: usize, limit: usize) -> (usize, usize) {
    let len = |from: usize| {
        (0..limit)
            .take_while(|i| at + i < input.len() && input[from + i] == input[at + i])
            .count()
    };
    (first.max(at.saturating_sub(600))..at)
        .map(|from| (len(from), at - from))
        .max()
        .unwrap_or_default()
}

fn compress_lznt1(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, chunk) in input.chunks(4096).enumerate() {
        if number % 3 == 2 {
            out.extend((0x3000 | (chunk.len() - 1) as u16).to_le_bytes());
            out.extend(chunk);
            continue;
        }
        let mut data = Vec::new();
        let mut at = 0;
        while at < chunk.len() {
            let flags_at = data.len();
            data.push(0);
            for bit in 0..8 {
                if at == chunk.len() {
                    break;
                }
                let length_bits = (4..13).rev().find(|bits| at <= 1 << (16 - bits)).unwrap();
                let (length, distance) = longest(chunk, at, 0, (1 << length_bits) + 2);
                if length < 3 {
                    data.push(chunk[at]);
                    at += 1;
                } else {
                    data[flags_at] |= 1 << bit;
                    data.extend(
                        (((distance - 1) << length_bits | (length - 3)) as u16).to_le_bytes(),
                    );
                    at += length;
                }
            }
        }
        if data.len() > 4096 {
            data.clear();
            out.extend((0x3000 | (chunk.len() - 1) as u16).to_le_bytes());
            out.extend(chunk);
        } else {
            out.extend((0xB000 | (data.len() - 1) as u16).to_le_bytes());
            out.extend(data);
        }
    }
    out
}

/// Lengths of Huffman codes, at most 15 bits.
fn code_lengths(mut counts: Vec<u32>) -> Vec<u8> {
    loop {
        let mut lengths = vec![0u8; 512];
        let used = (0..512).filter(|s| counts[*s] > 0);
        let mut heap: BinaryHeap<Reverse<(u32, Vec<usize>)>> =
            used.map(|s| Reverse((counts[s], vec![s]))).collect();
        while heap.len() > 1 {
            let (Reverse(a), Reverse(b)) = (heap.pop().unwrap(), heap.pop().unwrap());
            let both = [a.1, b.1].concat();
            both.iter().for_each(|s| lengths[*s] += 1);
            heap.push(Reverse((a.0 + b.0, both)));
        }
        if lengths.iter().all(|len| *len <= 15) {
            return lengths;
        }
        counts
            .iter_mut()
            .filter(|count| **count > 0)
            .for_each(|count| *count = *count / 4 + 1);
    }
}

/// Interleaves 16-bit words with the bytes, two words ahead, as the format requires.
struct Bits {
    out: Vec<u8>,
    places: [usize; 2],
    word: u32,
    free: u32,
}

impl Bits {
    fn put(&mut self, count: u32, value: u32) {
        for bit in (0..count).rev() {
            if self.free == 0 {
                self.write_word();
                self.places = [self.places[1], self.out.len()];
                self.out.extend([0; 2]);
                (self.word, self.free) = (0, 16);
            }
            self.word = self.word << 1 | value >> bit & 1;
            self.free -= 1;
        }
    }

    fn write_word(&mut self) {
        let word = ((self.word << self.free) as u16).to_le_bytes();
        self.out[self.places[0]..][..2].copy_from_slice(&word);
    }
}

enum Item {
    Literal(u8),
    Match(usize, usize),
}

impl Item {
    fn symbol(&self) -> usize {
        match self {
            Self::Literal(byte) => usize::from(*byte),
            Self::Match(length, distance) => {
                256 + 16 * distance.ilog2() as usize + (length - 3).min(15)
            }
        }
    }
}

fn compress_huffman(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for start in (0..input.len()).step_by(1 << 16) {
        let end = (start + (1 << 16)).min(input.len());
        let mut items = Vec::new();
        let mut at = start;
        while at < end {
            let (length, distance) = longest(&input[..end], at, 0, usize::MAX);
            items.push(if length < 3 {
                Item::Literal(input[at])
            } else {
                Item::Match(length, distance)
            });
            at += length * usize::from(length >= 3) + usize::from(length < 3);
        }
        out.extend(huffman_block(&items));
    }
    out
}

fn huffman_block(items: &[Item]) -> Vec<u8> {
    let mut counts = vec![0; 512];
    counts[256] = 1; // the end of the stream; also a second symbol, where a code needs two
    counts[257] = 1;
    items.iter().for_each(|item| counts[item.symbol()] += 1);
    let lengths = code_lengths(counts);
    let mut codes = vec![0; 512];
    let mut next = 0u32;
    for len in 1..=15 {
        for symbol in (0..512).filter(|s| lengths[*s] == len) {
            codes[symbol] = next >> (15 - len);
            next += 1 << (15 - len);
        }
    }
    let mut out: Vec<u8> = lengths
        .chunks(2)
        .map(|pair| pair[0] | pair[1] << 4)
        .collect();
    out.extend([0; 4]);
    let mut bits = Bits {
        out,
        places: [256, 258],
        word: 0,
        free: 16,
    };
    for item in items {
        let symbol = item.symbol();
        bits.put(lengths[symbol].into(), codes[symbol]);
        let Item::Match(length, distance) = item else {
            continue;
        };
        let length = length - 3;
        if length >= 15 {
            bits.out.push((length - 15).min(255) as u8);
            if length - 15 >= 255 {
                match u16::try_from(length) {
                    Ok(short) => bits.out.extend(short.to_le_bytes()),
                    Err(_) => {
                        bits.out.extend([0; 2]);
                        bits.out.extend((length as u32).to_le_bytes());
                    }
                }
            }
        }
        let low = distance.ilog2();
        bits.put(low, (*distance as u32) & ((1 << low) - 1));
    }
    bits.write_word();
    bits.out
}

pub fn compress(input: &[u8], format: u16) -> Vec<u8> {
    let mut out = Vec::new();
    match format {
        2 => out = compress_lznt1(input),
        4 => out = compress_huffman(input),
        _ => Compressor::default().compress(input, &mut out),
    }
    out
}

fn decompress(
    input: &[u8],
    format: u16,
    out: &mut Vec<u8>,
    end: usize,
) -> Result<(), lz77::Broken> {
    match format {
        2 => lznt1::decompress(input, out, end),
        4 => xpress_huffman::decompress(input, out, end),
        _ => lz77::decompress(input, out, end),
    }
}

/// A compressed file in another format.
pub fn recompress(file: &[u8], format: u16) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, (at, header)) in buffers(file).into_iter().enumerate() {
        let start = out.len();
        out.extend(&file[at..at + HEADER_LEN]);
        let body = &file[at + HEADER_LEN..at + header.buffer_size as usize];
        if header.is_compressed() {
            let mut plain = Vec::new();
            lz77::decompress(body, &mut plain, header.offset as usize - HEADER_LEN).unwrap();
            out.extend(compress(&plain, format));
        } else {
            out.extend(body);
        }
        let size = (out.len() - start) as u32;
        edit_header(&mut out, start, |header| {
            header.buffer_size = size;
            header.state = if number == 0 {
                u32::from(format)
            } else {
                header.state
            };
        });
    }
    out
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        vec(any::<u8>(), 0..50),
        vec(0u8..3, 0..300),
        (any::<u8>(), 0usize..3000).prop_map(|(byte, len)| vec![byte; len]),
        Just(b"the same text again".to_vec()),
    ];
    vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_input_survives_every_format(input in input()) {
        for format in [2, 3, 4] {
            let mut out = b"in front".to_vec();
            prop_assert_eq!(decompress(&compress(&input, format), format, &mut out, 8 + input.len()), Ok(()));
            prop_assert!(out[8..] == input, "format {format}");
        }
    }

    /// Any prefix of a stream gives a prefix of the output and an error that reports the early end.
    #[test]
    fn a_cut_stream_gives_what_it_holds(input in input(), cut in any::<prop::sample::Index>()) {
        for format in [2, 3, 4] {
            let stream = compress(&input, format);
            let stream = &stream[..cut.index(stream.len() + 1)];
            let mut out = Vec::new();
            let result = decompress(stream, format, &mut out, input.len());
            prop_assert!(input.starts_with(&out), "format {format}");
            prop_assert_eq!(result.is_ok(), out.len() == input.len());
        }
    }

    /// Arbitrary bytes make a decompressor return an error at worst, and never more output than was
    /// requested.
    #[test]
    fn arbitrary_streams_are_harmless(stream in vec(prop_oneof![any::<u8>(), Just(0x11u8), Just(0xB0)],
        0..600), end in 0usize..100_000) {
        for format in [2, 3, 4] {
            let mut out = Vec::new();
            let result = decompress(&stream, format, &mut out, end);
            prop_assert!(out.len() <= end);
            if let Err(broken) = result {
                prop_assert_eq!(broken.produced, out.len());
            }
        }
    }
}

#[test]
fn long_streams_survive() {
    // Blocks of 64 KiB, chunks of 4 KiB, matches longer than 65535.
    let mut input: Vec<u8> = (0..70_000u32)
        .map(|n| (n.wrapping_mul(0x9E37_79B9) >> 28) as u8)
        .collect();
    input.resize(270_000, 7);
    input.extend(b"the end");
    for format in [2, 3, 4] {
        let mut out = Vec::new();
        assert_eq!(
            decompress(&compress(&input, format), format, &mut out, input.len()),
            Ok(()),
            "format {format}"
        );
        assert!(out == input, "format {format}");
    }
}
