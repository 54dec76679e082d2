//! The compression of buffers in format 3: plain LZ77, documented as [MS-XCA] §2.3 and §2.4.

/// The error of a stream, in any of the formats, that cannot be decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    /// Bytes that were produced before the damage; they are good.
    pub produced: usize,
}

/// Decompresses `input` and appends it to `out` until `out` has `end` bytes.
///
/// Matches reach back no further than the end of `out` at the start.
///
/// # Errors
/// [`Broken`] if the input ends too early or a match reaches back too far. The bytes decompressed
/// before stay in `out`.
pub fn decompress(input: &[u8], out: &mut Vec<u8>, end: usize) -> Result<(), Broken> {
    let base = out.len();
    let mut input = Input {
        bytes: input,
        at: 0,
        half_byte: None,
    };
    out.reserve(end.saturating_sub(base).min(1 << 20));
    while out.len() < end {
        let Some(flags) = input.u32() else {
            return Err(Broken {
                produced: out.len() - base,
            });
        };
        if block(flags, &mut input, out, base, end).is_none() {
            return Err(Broken {
                produced: out.len() - base,
            });
        }
    }
    Ok(())
}

/// The up to 32 items that one flag word describes, highest bit first.
#[inline]
fn block(
    flags: u32,
    input: &mut Input<'_>,
    out: &mut Vec<u8>,
    base: usize,
    end: usize,
) -> Option<()> {
    let mut left = 32;
    while left > 0 && out.len() < end {
        let pending = flags << (32 - left);
        // Literals come in runs: copy as many as the flag word announces at once.
        let literals = pending.leading_zeros().min(left) as usize;
        if literals > 0 {
            let literals = literals.min(end - out.len());
            let there = literals.min(input.bytes.len().saturating_sub(input.at));
            out.extend_from_slice(input.take(there)?);
            // Literals that the input still has are copied first: every byte of a truncated buffer
            // counts.
            if there < literals {
                return None;
            }
            left -= literals as u32;
            continue;
        }
        left -= 1;
        let (distance, length) = input.match_pair()?;
        copy_match(out, base, distance, length.min(end - out.len()))?;
    }
    Some(())
}

/// Repeats `length` bytes from `distance` bytes back. Source and target may overlap.
#[inline]
pub(crate) fn copy_match(
    out: &mut Vec<u8>,
    base: usize,
    distance: usize,
    length: usize,
) -> Option<()> {
    let from = out
        .len()
        .checked_sub(distance)
        .filter(|from| *from >= base)?;
    if distance >= length {
        out.extend_from_within(from..from + length);
        return Some(());
    }
    if distance == 1 {
        let byte = *out.last()?;
        out.resize(out.len() + length, byte);
        return Some(());
    }
    let mut left = length;
    while left > 0 {
        // Each round doubles the bytes that can be copied at once.
        let part = left.min(out.len() - from);
        out.extend_from_within(from..from + part);
        left -= part;
    }
    Some(())
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position of a byte whose high half is the next 4-bit length.
    half_byte: Option<usize>,
}

impl<'a> Input<'a> {
    #[inline]
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    #[inline]
    fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().copied().map(u16::from_le_bytes)
    }

    #[inline]
    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// Distance and length of a match.
    #[inline]
    fn match_pair(&mut self) -> Option<(usize, usize)> {
        let pair = usize::from(self.u16()?);
        let distance = (pair >> 3) + 1;
        let length = pair & 7;
        Some((
            distance,
            if length == 7 {
                self.long_length()?
            } else {
                length + 3
            },
        ))
    }

    fn long_length(&mut self) -> Option<usize> {
        let half = match self.half_byte.take() {
            Some(at) => usize::from(*self.bytes.get(at)? >> 4),
            None => {
                self.half_byte = Some(self.at);
                usize::from(self.u8()? & 15)
            }
        };
        // Each longer form counts from the largest value of the one before: 7 of three bits, 15 of
        // four. The shortest match has 3 bytes.
        if half < 15 {
            return Some(half + 7 + 3);
        }
        let byte = usize::from(self.u8()?);
        if byte < 255 {
            return Some(byte + 15 + 7 + 3);
        }
        let mut whole = usize::from(self.u16()?);
        if whole == 0 {
            whole = self.u32()? as usize;
        }
        // The value counts from the start, and a smaller one would have had a shorter form.
        (whole >= 15 + 7).then_some(whole + 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], len: usize) -> Result<Vec<u8>, Broken> {
        let mut out = Vec::new();
        decompress(input, &mut out, len).map(|()| out)
    }

    #[test]
    fn literals_then_a_long_match() {
        // The two examples of [MS-XCA] §3.1.
        let alphabet = b"abcdefghijklmnopqrstuvwxyz";
        let mut input = vec![0x3f, 0, 0, 0];
        input.extend(alphabet);
        assert_eq!(check(&input, 26).as_deref(), Ok(&alphabet[..]));
        let abc = [
            0xff, 0xff, 0xff, 0x1f, b'a', b'b', b'c', 0x17, 0, 0x0f, 0xff, 0x26, 1,
        ];
        assert_eq!(check(&abc, 300), Ok(b"abc".repeat(100)));
    }

    #[test]
    fn damage_keeps_what_was_produced() {
        assert_eq!(check(&[], 1), Err(Broken { produced: 0 }));
        assert_eq!(check(&[0, 0, 0, 0, b'a'], 3), Err(Broken { produced: 1 }));
        // A match right at the start has nothing to repeat.
        assert_eq!(
            check(&[0, 0, 0, 0x80, 8, 0], 3),
            Err(Broken { produced: 0 })
        );
    }
}
