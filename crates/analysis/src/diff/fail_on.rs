//! The slowdown on which a comparison fails, for scripts.

use etwkit_question::OptionError;
use etwkit_question::range::{Range, Unit};

use super::DiffRequest;
use super::side::{Sides, Wall};

/// A slowdown of B that is too much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FailOn {
    /// More than this share of A's wall time, in per cent.
    Percent(f64),
    /// More than this time.
    Time(i64),
}

impl FailOn {
    /// Returns what a request fails on; `None` if it does not say.
    ///
    /// # Errors
    /// The text is not `slower`, `slower:5%` or `slower:200ms`.
    pub(super) fn of(asked: &DiffRequest) -> Result<Option<Self>, OptionError> {
        let wrong = |text: &str| OptionError::Value {
            option: "fail-on",
            problem: format!("expected slower, slower:5% or slower:200ms, found {text:?}"),
        };
        let Some(text) = asked.fail_on.as_deref() else {
            return Ok(None);
        };
        Self::parse(text).map(Some).ok_or_else(|| wrong(text))
    }

    fn parse(text: &str) -> Option<Self> {
        let (word, amount) = text.split_once(':').unwrap_or((text, "0%"));
        if word.trim() != "slower" {
            return None;
        }
        let amount = amount.trim();
        if let Some(percent) = amount.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().ok()?;
            return (0.0..=1e6)
                .contains(&percent)
                .then_some(Self::Percent(percent));
        }
        let range = Range::parse(&format!("{amount}.."), Unit::Milliseconds).ok()?;
        (range.min >= 0).then_some(Self::Time(range.min))
    }

    /// Returns `true` if B is too slow.
    ///
    /// # Errors
    /// Nothing measures the same work on both sides.
    pub(super) fn verdict(self, both: &Sides) -> Result<bool, OptionError> {
        let [a, b] = &both.sides;
        self.judge(&both.wall, both.is_alike, [a.wall_ns, b.wall_ns])
    }

    /// Judges wall times. A recording that goes on for longer makes no program slower.
    fn judge(
        self,
        wall: &Wall,
        is_alike: bool,
        [a_ns, b_ns]: [i64; 2],
    ) -> Result<bool, OptionError> {
        match wall {
            Wall::Recording if is_alike => Ok(false),
            Wall::Recording => Err(OptionError::Value {
                option: "fail-on",
                problem:
                    "only the lengths of the recordings are known; choose the time to compare \
                          with --process, --from-mark or --range"
                        .to_owned(),
            }),
            _ => Ok(self.is_hit(a_ns, b_ns)),
        }
    }

    /// Returns `true` if B is too slow. Wall times in nanoseconds.
    fn is_hit(self, a_ns: i64, b_ns: i64) -> bool {
        let slower = b_ns.saturating_sub(a_ns);
        match self {
            Self::Percent(percent) => slower as f64 * 100.0 > percent * a_ns as f64,
            Self::Time(least) => slower > least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FailOn, Wall};

    #[test]
    fn a_share_or_a_time_is_too_much() {
        for (text, a, b, is_hit) in [
            ("slower", 100, 101, true),
            ("slower", 100, 100, false),
            ("slower:5%", 1_000, 1_050, false),
            ("slower:5%", 1_000, 1_051, true),
            ("slower: 5 %", 1_000, 1_051, true),
            ("slower:200ms", 0, 200_000_000, false),
            ("slower:200ms", 0, 200_000_001, true),
            ("slower:0.2s", 0, 200_000_001, true),
        ] {
            let fail_on = FailOn::parse(text).unwrap();
            assert_eq!(fail_on.is_hit(a, b), is_hit, "{text}");
        }
        for text in [
            "",
            "faster",
            "slower:",
            "slower:x%",
            "slower:-1%",
            "slower:5 parsecs",
        ] {
            assert_eq!(FailOn::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_length_of_a_recording_makes_nothing_slower() {
        let fail_on = FailOn::parse("slower:5%").unwrap();
        let judged = |wall: &Wall, is_alike| fail_on.judge(wall, is_alike, [1_000, 2_000]);
        assert!(judged(&Wall::Process("test.exe".to_owned()), false).unwrap());
        assert!(judged(&Wall::Range, false).unwrap());
        assert!(!judged(&Wall::Recording, true).unwrap());
        let error = judged(&Wall::Recording, false).unwrap_err().to_string();
        assert!(error.contains("--process"), "{error}");
    }
}
