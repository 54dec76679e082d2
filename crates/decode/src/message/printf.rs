//! Formats of `printf`, for one value each.

/// Width of a value; more in a file would only cost memory.
const MAX_WIDTH: usize = 1024;
/// Maximum precision in digits.
const MAX_PRECISION: usize = 100;

/// A format without its percent sign: `d`, `08x`, `-10.3f`, `I64u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    flags: Flags,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Flags(u8);

impl Flags {
    const LEFT: u8 = 1;
    const PLUS: u8 = 2;
    const BLANK: u8 = 4;
    const ALTERNATE: u8 = 8;
    const ZERO: u8 = 16;

    const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// A value to be formatted.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// An integer: its bits, its bytes, and whether it has a sign.
    Integer {
        /// The value, in the low `bytes` bytes.
        bits: u64,
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// True if its highest bit is a sign.
        signed: bool,
    },
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
}

impl Argument {
    /// A signed integer of `bytes` bytes.
    #[must_use]
    pub const fn signed(value: i64, bytes: u8) -> Self {
        Self::Integer {
            bits: value.cast_unsigned(),
            bytes,
            signed: true,
        }
    }

    /// An unsigned integer of `bytes` bytes.
    #[must_use]
    pub const fn unsigned(bits: u64, bytes: u8) -> Self {
        Self::Integer {
            bits,
            bytes,
            signed: false,
        }
    }

    /// The text without a format.
    #[must_use]
    pub fn natural(&self) -> String {
        match self {
            Self::Integer {
                bits,
                bytes,
                signed: true,
            } => extend(*bits, *bytes).to_string(),
            Self::Integer { bits, bytes, .. } => truncate(*bits, *bytes).to_string(),
            Self::Float(value) => general(*value, 6, false),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The low `bytes` bytes of a value.
const fn truncate(bits: u64, bytes: u8) -> u64 {
    if bytes >= 8 {
        bits
    } else {
        bits & ((1 << (8 * bytes as u32)) - 1)
    }
}

/// The value with its sign.
const fn extend(bits: u64, bytes: u8) -> i64 {
    let unused = 64
        - 8 * if bytes >= 8 || bytes == 0 {
            8
        } else {
            bytes as u32
        };
    (bits << unused).cast_signed() >> unused
}

impl Spec {
    /// Reads a format; `None` if the text is not one. Size modifiers are ignored: the values have
    /// their own sizes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut flags = Flags::default();
        let mut rest = text;
        while let Some(flag) = rest.chars().next().and_then(flag_of) {
            flags.0 |= flag;
            rest = rest.get(1..)?;
        }
        let width = number(&mut rest)?;
        let precision = match rest.strip_prefix('.') {
            Some(behind) => {
                rest = behind;
                Some(number(&mut rest)?.min(MAX_PRECISION))
            }
            None => None,
        };
        // Longer ones first. Otherwise `I64` would be read as an `I` followed by an invalid
        // conversion.
        let size = [
            "I64", "I32", "ll", "hh", "l", "h", "w", "I", "j", "z", "t", "L",
        ];
        if let Some(behind) = size.iter().find_map(|size| rest.strip_prefix(size)) {
            rest = behind;
        }
        let mut letters = rest.chars();
        let (conversion, None) = (letters.next()?, letters.next()) else {
            return None;
        };
        let known = "diuoxXpcCsSZeEfFgGaA".contains(conversion);
        known.then_some(Self {
            flags,
            width: width.min(MAX_WIDTH),
            precision,
            conversion,
        })
    }

    /// True if it expects a text instead of a number.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(self.conversion, 's' | 'S' | 'Z')
    }

    /// The text of a value. A value whose type does not match the conversion has its natural text.
    #[must_use]
    pub fn format(&self, value: &Argument, pointer_size: usize) -> String {
        match (self.conversion, value) {
            // The format decides about the sign, not the type of the value, as it does in C: `%u`
            // of -1 is a large number, of as many bytes as the value has.
            ('d' | 'i', Argument::Integer { bits, bytes, .. }) => {
                let value = extend(*bits, *bytes);
                self.number(value < 0, &value.unsigned_abs().to_string(), "")
            }
            ('u', Argument::Integer { bits, bytes, .. }) => {
                self.number(false, &truncate(*bits, *bytes).to_string(), "")
            }
            ('x', Argument::Integer { bits, bytes, .. }) => {
                self.number(false, &format!("{:x}", truncate(*bits, *bytes)), "0x")
            }
            ('X', Argument::Integer { bits, bytes, .. }) => {
                self.number(false, &format!("{:X}", truncate(*bits, *bytes)), "0X")
            }
            ('o', Argument::Integer { bits, bytes, .. }) => {
                self.number(false, &format!("{:o}", truncate(*bits, *bytes)), "0")
            }
            ('p', Argument::Integer { bits, .. }) => {
                let bits = truncate(*bits, pointer_size as u8);
                self.padded(
                    "",
                    &format!("{bits:0width$X}", width = 2 * pointer_size.min(8)),
                    false,
                )
            }
            ('c' | 'C', Argument::Integer { bits, .. }) => {
                let letter =
                    char::from_u32((*bits & 0xFFFF) as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.padded("", &letter.to_string(), false)
            }
            ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A', Argument::Float(value)) => {
                self.float(*value)
            }
            (_, Argument::Text(text)) => {
                let cut = self
                    .precision
                    .filter(|_| self.is_text())
                    .unwrap_or(usize::MAX);
                self.padded("", &text.chars().take(cut).collect::<String>(), false)
            }
            (_, other) => self.padded("", &other.natural(), false),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.conversion) {
            (true, _) => "-",
            (false, 'u' | 'x' | 'X' | 'o') => "",
            _ if self.flags.has(Flags::PLUS) => "+",
            _ if self.flags.has(Flags::BLANK) => " ",
            _ => "",
        }
    }

    fn number(&self, negative: bool, digits: &str, prefix: &str) -> String {
        let mut all = String::new();
        for _ in digits.len()..self.precision.unwrap_or(1) {
            all.push('0');
        }
        all.push_str(digits);
        let prefix = if self.flags.has(Flags::ALTERNATE) && digits != "0" {
            prefix
        } else {
            ""
        };
        // A number of digits leaves nothing to fill with zeros.
        self.padded(
            &format!("{}{prefix}", self.sign(negative)),
            &all,
            self.precision.is_none(),
        )
    }

    fn float(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let size = value.abs();
        let mut digits = match self.conversion {
            _ if !size.is_finite() => if size.is_nan() { "nan" } else { "inf" }.to_owned(),
            'f' | 'F' => format!("{size:.precision$}"),
            'e' | 'E' => scientific(size, precision),
            _ => general(size, precision, self.flags.has(Flags::ALTERNATE)),
        };
        if self.conversion.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        self.padded(
            self.sign(value.is_sign_negative()),
            &digits,
            size.is_finite(),
        )
    }

    /// Pads to the width by hand: too large a width in a Rust format would panic.
    fn padded(&self, front: &str, text: &str, may_have_zeros: bool) -> String {
        let missing = self
            .width
            .saturating_sub(front.chars().count() + text.chars().count());
        if missing == 0 {
            return format!("{front}{text}");
        }
        if self.flags.has(Flags::LEFT) {
            return format!("{front}{text}{}", " ".repeat(missing));
        }
        if self.flags.has(Flags::ZERO) && may_have_zeros {
            return format!("{front}{}{text}", "0".repeat(missing));
        }
        format!("{}{front}{text}", " ".repeat(missing))
    }
}

const fn flag_of(letter: char) -> Option<u8> {
    Some(match letter {
        '-' => Flags::LEFT,
        '+' => Flags::PLUS,
        ' ' => Flags::BLANK,
        '#' => Flags::ALTERNATE,
        '0' => Flags::ZERO,
        _ => return None,
    })
}

/// The number at the start; as in C, no digits mean 0. `None` if there are far too many.
fn number(rest: &mut &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, behind) = rest.split_at_checked(digits)?;
    *rest = behind;
    if number.is_empty() {
        return Some(0);
    }
    number.parse().ok()
}

/// `1.5e+02`
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent
        .strip_prefix('-')
        .map_or(('+', exponent), |digits| ('-', digits));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// The shorter of the plain and the scientific form, without zeros at its end.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let negative = value.is_sign_negative();
    let size = value.abs();
    if !size.is_finite() {
        return value.to_string().to_lowercase();
    }
    // The exponent is taken after rounding: 9.9999999 becomes 10 with few digits, which may change
    // the form.
    let text = scientific(size, precision - 1);
    let exponent = text
        .rsplit_once('e')
        .and_then(|(_, digits)| digits.parse::<i32>().ok())
        .unwrap_or_default();
    // The rule of C for `%g`: plain digits as long as the exponent is neither below -4 nor above
    // the limit of the precision.
    let text = if exponent < -4 || i64::from(exponent) >= precision as i64 {
        text
    } else {
        let decimals = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
        format!("{size:.decimals$}")
    };
    let (digits, tail) = text.find('e').map_or((&*text, ""), |at| text.split_at(at));
    let digits = if keep_zeros || !digits.contains('.') {
        digits
    } else {
        digits.trim_end_matches('0').trim_end_matches('.')
    };
    format!("{}{digits}{tail}", if negative { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spec: &str, value: &Argument, expected: &str) {
        assert_eq!(
            Spec::parse(spec).unwrap().format(value, 8),
            expected,
            "{spec}"
        );
    }

    #[test]
    fn integers() {
        check("d", &Argument::signed(-1000, 4), "-1000");
        check("u", &Argument::signed(-294_967_296, 4), "4000000000");
        check("d", &Argument::unsigned(0xFFFF_FFFF, 4), "-1");
        check("05d", &Argument::signed(42, 4), "00042");
        check("05d", &Argument::signed(-42, 4), "-0042");
        check("-5d", &Argument::signed(42, 4), "42   ");
    }

    #[test]
    fn other_bases() {
        check("08x", &Argument::signed(0xBEEF, 4), "0000beef");
        check("#X", &Argument::signed(-1, 2), "0XFFFF");
        check("I64o", &Argument::unsigned(0x1FF, 8), "777");
        check("I64X", &Argument::unsigned(0xABC_DEF, 8), "ABCDEF");
        check(
            "p",
            &Argument::unsigned(0x7FF0_1234_5678, 8),
            "00007FF012345678",
        );
        assert_eq!(
            Spec::parse("p")
                .unwrap()
                .format(&Argument::unsigned(0x1_0000_0010, 8), 4),
            "00000010"
        );
        check(".3d", &Argument::signed(5, 4), "005");
        check("+d", &Argument::signed(5, 4), "+5");
    }

    #[test]
    fn texts_and_letters() {
        check("s", &Argument::signed(7, 4), "7");
        check("10s", &Argument::Text("ab".into()), "        ab");
        check("-4.1s", &Argument::Text("ab".into()), "a   ");
        check("c", &Argument::unsigned(65, 1), "A");
        check("d", &Argument::Text("no number".into()), "no number");
    }

    #[test]
    fn fractions() {
        check("s", &Argument::Float(3.140_625), "3.14062");
        check("f", &Argument::Float(1.5), "1.500000");
        check("08.2f", &Argument::Float(-1.5), "-0001.50");
        check("e", &Argument::Float(1234.5), "1.234500e+03");
        check("G", &Argument::Float(1e-7), "1E-07");
        check("g", &Argument::Float(1e6), "1e+06");
        check("g", &Argument::Float(100_000.0), "100000");
        check("g", &Argument::Float(0.0), "0");
        check("f", &Argument::Float(f64::NAN), "nan");
    }

    #[test]
    fn a_huge_width_is_not_believed() {
        assert_eq!(Spec::parse("99999999999999999999d"), None);
        let wide = Spec::parse("4000000000.4000000000f").unwrap();
        assert!(wide.format(&Argument::Float(1.0), 8).len() <= MAX_WIDTH);
        assert!(
            Spec::parse("*d").is_none() && Spec::parse("").is_none() && Spec::parse("dd").is_none()
        );
    }
}
