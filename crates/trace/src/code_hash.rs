//! Hashes that are equal for equal code in all traces: `method_hash` and `stack_hash`.
//!
//! Methods and stacks are numbered separately in each extract, so common code of two traces could
//! otherwise only be found by name. `docs/FORMAT.md` defines the exact input of the hashes, so that
//! other programs can compute the same values.

/// FNV-1a with 64 bits: a few lines in any language.
#[derive(Debug, Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    const START: Self = Self(0xCBF2_9CE4_8422_2325);

    fn add(self, bytes: &[u8]) -> Self {
        let step =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        Self(bytes.iter().fold(self.0, step))
    }

    const fn value(self) -> i64 {
        self.0.cast_signed()
    }
}

/// The start of the hashed text for code of a module: its file name with A to Z in lower case, and
/// `!`.
fn of_module(name: &str) -> Fnv {
    Fnv::START
        .add(name.to_ascii_lowercase().as_bytes())
        .add(b"!")
}

/// A method by name: `file.dll!Namespace.Type.Method`.
#[must_use]
pub fn of_method(module: &str, name: &str) -> i64 {
    of_module(module).add(name.as_bytes()).value()
}

/// Code without a name: `file.dll!+0x1a2b`, or `?` if its module is also unknown, because addresses
/// differ between traces.
#[must_use]
pub fn of_offset(module: Option<&str>, rva: Option<i64>) -> i64 {
    match module.zip(rva) {
        Some((module, rva)) => of_module(module)
            .add(format!("+{rva:#x}").as_bytes())
            .value(),
        None => Fnv::START.add(b"?").value(),
    }
}

/// A stack: the hash of its caller's stack (0 for the outermost frame) and the hash of its code.
#[must_use]
pub fn of_stack(caller: i64, code: i64) -> i64 {
    Fnv::START
        .add(&caller.to_le_bytes())
        .add(&code.to_le_bytes())
        .value()
}

/// The hashes of stacks by number, from the caller, which has a smaller number, and the code of
/// each.
#[must_use]
pub fn of_stacks(nodes: impl Iterator<Item = (Option<i32>, i64)>) -> Vec<i64> {
    let mut hashes: Vec<i64> = Vec::with_capacity(nodes.size_hint().0);
    for (parent, code) in nodes {
        // A damaged file may claim a caller that comes later. It is ignored. Without a caller, 0 is
        // hashed in its place; stored hashes depend on that.
        let caller = parent.and_then(|parent| hashes.get(usize::try_from(parent).ok()?));
        hashes.push(of_stack(caller.copied().unwrap_or_default(), code));
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that any implementation of FNV-1a has for these texts.
    #[test]
    fn hashes_are_fnv_1a_of_what_the_page_says() {
        let fnv = |text: &str| Fnv::START.add(text.as_bytes()).value();
        assert_eq!(fnv(""), 0xCBF2_9CE4_8422_2325_u64.cast_signed());
        assert_eq!(fnv("a"), 0xAF63_DC4C_8601_EC8C_u64.cast_signed());
        assert_eq!(
            of_method("NTDLL.dll", "RtlUserThreadStart"),
            fnv("ntdll.dll!RtlUserThreadStart")
        );
        assert_eq!(of_method("", "Shop.Cart.Add"), fnv("!Shop.Cart.Add"));
        assert_ne!(
            of_method("a.dll", "Run"),
            of_method("a.dll", "run"),
            "names of methods keep their case"
        );
        assert_eq!(of_offset(Some("A.dll"), Some(0x1A2B)), fnv("a.dll!+0x1a2b"));
        assert_eq!(of_offset(None, None), fnv("?"));
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0x15, 0x81, 0, 0, 0, 0, 0, 0];
        assert_eq!(of_stack(0, 0x8115), Fnv::START.add(&bytes).value());
        assert_ne!(of_stack(1, 2), of_stack(2, 1));
    }

    #[test]
    fn a_stack_follows_from_its_caller_and_a_caller_that_comes_later_is_none() {
        let hashes = of_stacks([(None, 7), (Some(0), 8), (Some(5), 7)].into_iter());
        assert_eq!(
            hashes,
            [of_stack(0, 7), of_stack(of_stack(0, 7), 8), of_stack(0, 7)]
        );
    }
}
