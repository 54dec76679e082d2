//! The compression of buffers in format 4: LZ77 with Huffman codes, documented as [MS-XCA] §2.1 and
//! §2.2.
//!
//! The stream is a sequence of blocks, each of which decompresses to 64 KiB. A block starts with
//! the lengths of its 512 codes, 4 bits each. After them, two kinds of data are interleaved: codes
//! and distances come from 16-bit words that are fetched two words ahead, and the rest of long
//! lengths comes from single bytes at the position that the word reader has reached.

use super::lz77::{Broken, copy_match};

/// Bytes of a block's table of code lengths.
const TABLE_LEN: usize = 256;
/// Decompressed bytes of one block.
const BLOCK_LEN: usize = 1 << 16;
/// The longest code.
const CODE_BITS: u32 = 15;
/// The first symbol that is a match and not a literal. It also follows the last symbol of a stream,
/// where readers that know the decompressed size ignore it.
const FIRST_MATCH: u16 = 256;

/// Decompresses `input` and appends it to `out` until `out` has `end` bytes.
///
/// # Errors
/// [`Broken`] if the input ends too early, its code is invalid, or a match reaches back too far.
/// The bytes decompressed before stay in `out`.
pub fn decompress(input: &[u8], out: &mut Vec<u8>, end: usize) -> Result<(), Broken> {
    let base = out.len();
    // The claimed size is not allocated at once: a small input may claim much.
    out.reserve(end.saturating_sub(base).min(1 << 20));
    let mut codes = Codes::default();
    let mut at = 0;
    while out.len() < end {
        let block = input.get(at..).and_then(|block| {
            // Each block starts with a table of its own.
            codes.read(block.first_chunk()?)?;
            // A block ends after 64 KiB of output, and not with a symbol.
            let limit = out.len().saturating_add(BLOCK_LEN).min(end);
            let mut bits = Bits::new(block.get(TABLE_LEN..)?);
            block_body(&codes, &mut bits, out, base, (limit, end))?;
            Some(TABLE_LEN + bits.at)
        });
        let Some(len) = block else {
            return Err(Broken {
                produced: out.len() - base,
            });
        };
        at += len;
    }
    Ok(())
}

/// Decompresses the symbols of a block until `out` reaches `limit`; the last match may reach to
/// `end`.
fn block_body(
    codes: &Codes,
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    base: usize,
    (limit, end): (usize, usize),
) -> Option<()> {
    while out.len() < limit {
        let (symbol, len) = codes.symbol(bits.peek())?;
        bits.skip(len)?;
        if symbol < FIRST_MATCH {
            out.push(symbol as u8);
            continue;
        }
        let pair = symbol - FIRST_MATCH;
        let length = match usize::from(pair & 15) {
            15 => bits.long_length()?,
            short => short + 3,
        };
        let distance = bits.distance(u32::from(pair >> 4))?;
        // The last match may be longer than what is left of the buffer.
        copy_match(out, base, distance, length.min(end - out.len()))?;
    }
    Some(())
}

/// The codes of a block, as a table from the next 15 bits to a symbol and the length of its code.
#[derive(Default)]
struct Codes {
    /// Symbol in the high 12 bits, length in the low 4. The length is 0 where no code matches.
    table: Vec<u16>,
}

impl Codes {
    /// `None` if the lengths claim more codes than there are.
    fn read(&mut self, lengths: &[u8; TABLE_LEN]) -> Option<()> {
        self.table.clear();
        // Two lengths share a byte, the lower half first.
        let symbols = || {
            lengths
                .iter()
                .flat_map(|pair| [pair & 15, pair >> 4])
                .zip(0u16..)
        };
        // Codes are assigned by length, then by symbol, so the table fills from its start.
        for len in 1..=15u8 {
            let fill = 1 << (CODE_BITS - u32::from(len));
            for (_, symbol) in symbols().filter(|(l, _)| *l == len) {
                self.table
                    .resize(self.table.len() + fill, symbol << 4 | u16::from(len));
            }
            // More codes than there are bits for would let two symbols share one code.
            if self.table.len() > 1 << CODE_BITS {
                return None;
            }
        }
        Some(())
    }

    #[inline]
    fn symbol(&self, bits: u32) -> Option<(u16, u32)> {
        let entry = *self.table.get((bits >> (32 - CODE_BITS)) as usize)?;
        Some((entry >> 4, u32::from(entry & 15)))
    }
}

/// Reads bits from 16-bit words, highest bit first, always holding 16 to 32 of them.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    word: u32,
    /// Bits held, less 16.
    extra: u32,
    /// Bits held that are not part of the input, which ended. Using one is an error.
    made_up: u32,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut bits = Self {
            bytes,
            at: 0,
            word: 0,
            extra: 16,
            made_up: 0,
        };
        // Two words are held from the start, since bytes of long lengths come after them.
        bits.word = bits.next_word() << 16;
        bits.word |= bits.next_word();
        bits
    }

    fn next_word(&mut self) -> u32 {
        let Some(pair) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) else {
            // A remaining half word is not a length either.
            self.at = self.bytes.len();
            self.made_up = self.made_up.saturating_add(16);
            return 0;
        };
        self.at += 2;
        u32::from(u16::from_le_bytes(*pair))
    }

    #[inline]
    const fn peek(&self) -> u32 {
        self.word
    }

    /// Skips `count` bits, at most 15. `None` after the end of the input.
    #[inline]
    fn skip(&mut self, count: u32) -> Option<()> {
        self.word <<= count;
        // The next word is fetched as soon as fewer than 16 bits are left, and not on demand. Bytes
        // of long lengths are read from the end of the fetched words, so the time of the fetch is
        // part of the format.
        if count > self.extra {
            let shift = count - self.extra;
            self.word |= self.next_word() << shift;
            self.extra += 16;
        }
        self.extra -= count;
        // As long as the made-up bits are the last of the held bits, none of them was used.
        (self.made_up <= 16 + self.extra).then_some(())
    }

    /// A distance of `count` bits (0 to 15) below its leading one.
    #[inline]
    fn distance(&mut self, count: u32) -> Option<usize> {
        let low = if count == 0 {
            0
        } else {
            self.word >> (32 - count)
        };
        self.skip(count)?;
        Some((1 << count) + low as usize)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..)?.first_chunk().copied()?;
        self.at += N;
        Some(taken)
    }

    /// A length that does not fit into its symbol.
    fn long_length(&mut self) -> Option<usize> {
        let byte = usize::from(u8::from_le_bytes(self.take()?));
        if byte < 255 {
            // 15 is the largest length of a symbol, and the shortest match has 3 bytes.
            return Some(byte + 15 + 3);
        }
        let mut whole = usize::from(u16::from_le_bytes(self.take()?));
        if whole == 0 {
            whole = u32::from_le_bytes(self.take()?) as usize;
        }
        // The value counts from the start. A value below 15 would have fitted into the symbol.
        (whole >= 15).then(|| whole.saturating_add(3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], len: usize) -> Result<Vec<u8>, Broken> {
        let mut out = b"in front".to_vec();
        decompress(input, &mut out, 8 + len).map(|()| out.split_off(8))
    }

    /// The two examples of [MS-XCA] §3.2: pairs of code lengths by position, then the data.
    fn example(lengths: &[(usize, u8)], data: &[u8]) -> Vec<u8> {
        let mut input = vec![0; TABLE_LEN];
        for (at, pair) in lengths {
            input[*at] = *pair;
        }
        input.extend(data);
        input
    }

    fn alphabet() -> Vec<u8> {
        let mut lengths: Vec<(usize, u8)> = (49..59).map(|at| (at, 0x55)).collect();
        lengths.extend([(48, 0x50), (59, 0x45), (60, 0x44), (61, 0x04), (128, 0x04)]);
        let data = [
            0xd8, 0x52, 0x3e, 0xd7, 0x94, 0x11, 0x5b, 0xe9, 0x19, 0x5f, 0xf9, 0xd6, 0x7c, 0xdf,
            0x8d, 0x04, 0, 0, 0, 0,
        ];
        example(&lengths, &data)
    }

    #[test]
    fn literals_then_a_long_match() {
        assert_eq!(
            check(&alphabet(), 26).as_deref(),
            Ok(&b"abcdefghijklmnopqrstuvwxyz"[..])
        );
        let lengths = [(48, 0x30), (49, 0x23), (128, 0x02), (143, 0x20)];
        let abc = example(&lengths, &[0xa8, 0xdc, 0, 0, 0xff, 0x26, 1]);
        assert_eq!(check(&abc, 300), Ok(b"abc".repeat(100)));
        // The last match may have the symbol that otherwise ends the stream: a, then three times
        // the same.
        let run = example(&[(48, 0x10), (128, 0x01)], &[0, 0x40, 0, 0]);
        assert_eq!(check(&run, 4), Ok(b"aaaa".to_vec()));
        // A cut inside the second word: the byte that is left of it must not pass for a length.
        assert_eq!(check(&abc[..256 + 3], 300), Err(Broken { produced: 3 }));
    }

    #[test]
    fn damage_keeps_what_was_produced() {
        assert_eq!(check(&[0; 255], 1), Err(Broken { produced: 0 }));
        assert_eq!(check(&[0; 300], 1), Err(Broken { produced: 0 }), "no code");
        assert_eq!(
            check(&[0x11; 300], 1),
            Err(Broken { produced: 0 }),
            "more codes than there are"
        );
        let input = alphabet();
        let Err(Broken { produced }) = check(&input[..256 + 8], 26) else {
            panic!("cut input decompressed")
        };
        assert_eq!(produced, 64 / 5, "codes of 5 bits in 8 bytes");
    }
}
