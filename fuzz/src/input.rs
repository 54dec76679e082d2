//! An input of the fuzzer, cut into parts. Where bytes are missing, the parts are zero or short: every input
//! means something.

/// The bytes that are left.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Whether nothing is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next bytes, as many as there are up to `len`.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut all = [0; N];
        let taken = self.take(N);
        for (to, from) in all.iter_mut().zip(taken) {
            *to = *from;
        }
        all
    }

    /// A byte.
    pub fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// Two bytes.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// Four bytes.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// Eight bytes.
    pub fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    /// A block behind its length of two bytes.
    pub fn block(&mut self) -> &'a [u8] {
        let len = self.u16();
        self.take(len.into())
    }
}

/// The way back, for seeds: appends a block behind its length; what is longer is cut.
pub fn push_block(out: &mut Vec<u8>, block: &[u8]) {
    let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
    out.extend(len.to_le_bytes());
    out.extend(block.iter().take(len.into()));
}
