//! Undecoration: turning the names in object files into the names in source code.
//!
//! Names come as `Type::method` with namespaces and template arguments, without parameters and
//! return type, in the form that the Windows tools show; [`signature`] has the rest. A hostile name
//! may grow without bound when it is written out, or nest without end. Such a name stays as it is.

mod microsoft;

use std::borrow::Cow;
use std::fmt;

use msvc_demangler::{DemangleFlags, demangle};

/// Maximum length; longer names stay as they are. A compiler replaces names of more than 4,096
/// bytes by a hash.
const MAX_LEN: usize = 4096;
/// Limits for the bytes of a written-out name: the first of these, and at most the second for each
/// byte of the name plus the third. Names that grow more, by references, stay as they are.
const MAX_TEXT: (usize, usize, usize) = (1 << 14, 8, 512);
/// Prefix of functions that a profile showed to be rarely run.
const COLD: &str = "[COLD] ";

/// The source of a name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decorated {
    /// True if C names have a leading underscore and the bytes of their arguments as a suffix, as
    /// in 32-bit code.
    pub is_x86: bool,
}

/// The name alone.
#[must_use]
pub fn name(text: &str, decorated: Decorated) -> Cow<'_, str> {
    let text = text.strip_prefix(COLD).unwrap_or(text);
    let bare = text.strip_prefix("__imp_").unwrap_or(text);
    let undecorated = match bare.as_bytes() {
        [b'?', ..] => bounded(bare, microsoft::name).map(|name| anonymous(&name).into_owned()),
        // Older compilers of Rust write names in the way of C++; only the hash at their end
        // distinguishes them, so Rust is tried first.
        [b'_', b'Z', ..] | [b'_', b'_', b'Z', ..] => rust(bare).or_else(|| itanium(bare, true)),
        [b'_', b'R', ..] => rust(bare),
        _ => None,
    };
    match undecorated {
        Some(name) => Cow::Owned(name),
        None if text.starts_with('?') => Cow::Borrowed(text),
        None => match c_name(without_module(text), decorated) {
            name if name.contains("A0x") => anonymous(name).into_owned().into(),
            name => Cow::Borrowed(name),
        },
    }
}

/// The whole declaration; `None` for names that contain none.
#[must_use]
pub fn signature(text: &str) -> Option<String> {
    let text = text.strip_prefix(COLD).unwrap_or(text);
    match text.as_bytes() {
        [b'?', ..] => bounded(text, |text| {
            demangle(text, DemangleFlags::MS_TYPENAMES).ok()
        }),
        [b'_', b'Z', ..] | [b'_', b'_', b'Z', ..] => rust(text).or_else(|| itanium(text, false)),
        [b'_', b'R', ..] => rust(text),
        _ => None,
    }
}

/// `f.llvm.123` → `f`: clang numbers a local function that another object file of a whole-program
/// optimization refers to.
fn without_module(text: &str) -> &str {
    match text.rsplit_once(".llvm.") {
        Some((name, number)) if is_number(number) && !name.is_empty() => name,
        _ => text,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `_main`, `_main@4`, `@main@4`, `main@@16` → `main`.
fn c_name(text: &str, decorated: Decorated) -> &str {
    let without_size = |text: &'static str, name: &str| -> Option<usize> {
        let (front, size) = name.rsplit_once('@')?;
        let front = front.strip_suffix(text).unwrap_or(front);
        (is_number(size) && !front.is_empty()).then_some(front.len())
    };
    // `__vectorcall` has a double `@` also in 64-bit code, where other C names are plain.
    if let Some(len) = without_size("@", text).filter(|_| text.contains("@@")) {
        return text.get(..len).unwrap_or(text);
    }
    if !decorated.is_x86 {
        return text;
    }
    let inside = text.strip_prefix(['_', '@']).unwrap_or(text);
    without_size("", inside)
        .and_then(|len| inside.get(..len))
        .unwrap_or_else(|| {
            text.strip_prefix('_')
                .filter(|name| !name.is_empty())
                .unwrap_or(text)
        })
}

/// A name of Microsoft's scheme, within the limits.
fn bounded(text: &str, undecorate: impl FnOnce(&str) -> Option<String>) -> Option<String> {
    if text.len() > MAX_LEN || grows(text) {
        return None;
    }
    let name = undecorate(text)?;
    (!name.is_empty() && name.len() <= limit(text)).then_some(name)
}

/// True if a name refers back so often, from function types inside of function types, that writing
/// it out could exhaust memory. A reference copies its target, which may contain references itself,
/// one level for each function type.
fn grows(text: &str) -> bool {
    let bytes = text.as_bytes();
    let references = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let pairs = bytes.windows(2);
    let levels = pairs
        .filter(|pair| matches!(pair, [b'A' | b'B' | b'P' | b'Q' | b'R' | b'S', b'6' | b'8']))
        .count();
    // The worst case spreads references evenly over all levels, and their numbers multiply.
    let each = references / (levels + 1) + 1;
    u32::try_from(levels + 1)
        .ok()
        .and_then(|power| each.checked_pow(power))
        .is_none_or(|size| size > 100_000)
}

fn rust(text: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(text).ok()?;
    write_out(text, |out| fmt::write(out, format_args!("{name:#}")).ok())
}

fn itanium(text: &str, is_name_only: bool) -> Option<String> {
    if text.len() > MAX_LEN {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(text).ok()?;
    let options = cpp_demangle::DemangleOptions::new();
    let options = if is_name_only {
        options.no_params().no_return_type()
    } else {
        options
    };
    write_out(text, |out| symbol.structured_demangle(out, &options).ok())
}

fn limit(text: &str) -> usize {
    let (most, each, more) = MAX_TEXT;
    most.min(each * text.len() + more)
}

fn write_out(text: &str, write: impl FnOnce(&mut Limited) -> Option<()>) -> Option<String> {
    let mut out = Limited {
        text: String::new(),
        limit: limit(text),
    };
    write(&mut out)?;
    (!out.text.is_empty()).then_some(out.text)
}

/// Text that refuses to grow beyond a limit.
struct Limited {
    text: String,
    limit: usize,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.limit {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Compilers replace the missing name of an anonymous namespace by a hash: `A0x1234abcd::f`,
/// `?A0x1234abcd::f`.
fn anonymous(name: &str) -> Cow<'_, str> {
    let Some(at) = name.find("A0x") else {
        return Cow::Borrowed(name);
    };
    let (front, rest) = name.split_at(at);
    let digits = rest
        .bytes()
        .skip(3)
        .take_while(u8::is_ascii_hexdigit)
        .count();
    let Some(tail) = rest.get(3 + digits..) else {
        return Cow::Borrowed(name);
    };
    let begins = front.strip_suffix('?').unwrap_or(front);
    let is_begin = begins
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_alphanumeric() && c != '_');
    if digits != 8 || !tail.starts_with("::") || !is_begin {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{begins}`anonymous namespace'{}", anonymous(tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        name(text, Decorated::default()).into_owned()
    }

    #[test]
    fn names_come_without_parameters() {
        for (text, expected) in [
            ("main", "main"),
            ("?f@A@@QEAAXH@Z", "A::f"),
            ("?area@Shape@geometry@@UEAAII@Z", "geometry::Shape::area"),
            (
                "?push_back@?$vector@HV?$allocator@H@std@@@std@@QEAAXAEBH@Z",
                "std::vector<int,std::allocator<int> >::push_back",
            ),
            ("??1Shape@geometry@@UEAA@XZ", "geometry::Shape::~Shape"),
            ("??2@YAPEAX_K@Z", "operator new"),
            ("_ZN5outer5innerC1Ev", "outer::inner::inner"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back",
            ),
            ("_ZN4core3fmt5write17h01234567890abcdeE", "core::fmt::write"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("[COLD] ?f@A@@QEAAXH@Z", "A::f"),
            ("[COLD] work", "work"),
            ("work.llvm.1021", "work"),
            ("work.llvm.", "work.llvm."),
            (".llvm.1", ".llvm.1"),
            ("__imp_?f@A@@QEAAXH@Z", "A::f"),
            ("f@@16", "f"),
            ("_f@4", "_f@4"),
            ("A0x12345678::f", "`anonymous namespace'::f"),
            (
                "ns::?A0x12345678::g<A0xabcdef01::h>",
                "ns::`anonymous namespace'::g<`anonymous namespace'::h>",
            ),
            ("DATA0x12345678::f", "DATA0x12345678::f"),
            ("?", "?"),
            ("", ""),
            ("std::vec::push", "std::vec::push"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn c_names_of_32_bit_code_lose_what_the_compiler_added() {
        for (text, expected) in [
            ("_main", "main"),
            ("_main@4", "main"),
            ("@main@8", "main"),
            ("main@@16", "main"),
            ("__x", "_x"),
            ("_a@b", "a@b"),
            ("_", "_"),
            ("@4", "@4"),
        ] {
            assert_eq!(name(text, Decorated { is_x86: true }), expected, "{text}");
        }
    }

    #[test]
    fn a_signature_has_everything() {
        assert_eq!(
            signature("?f@A@@QEAAXH@Z").unwrap(),
            "public: void __cdecl A::f(int)"
        );
        assert_eq!(signature("_ZN1A1fEi").unwrap(), "A::f(int)");
        assert_eq!(signature("main"), None);
    }

    /// Function types in function types, each of which refers back to all before: 9 levels of 300
    /// references.
    #[test]
    fn names_that_grow_without_bound_stay_as_they_are() {
        let mut bomb = "?f@@YAXP6AXPEAH@Z".to_owned();
        for level in 0..9 {
            let reference = char::from(b'0' + level);
            bomb.push_str("P6AX");
            (0..300).for_each(|_| bomb.push(reference));
            bomb.push_str("@Z");
        }
        bomb.push_str("@Z");
        assert_eq!(plain(&bomb), bomb);
        let long = format!("?f@@YAX{}H@Z", "PEA".repeat(1300));
        assert_eq!(
            std::thread::Builder::new()
                .stack_size(64 << 20)
                .spawn(move || plain(&long))
                .unwrap()
                .join()
                .unwrap(),
            "f"
        );
        let deep = format!("_Z{}i", "P".repeat(4000));
        assert_eq!(plain(&deep), deep);
    }
}
