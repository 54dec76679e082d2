//! The option `--range`: a part of the trace.

use anyhow::{Context, bail};
use etwkit_trace::import::Range;

/// Reads `A..B`, `A..` or `..B` in seconds since the start of the trace, both ends included.
pub(crate) fn parse(text: Option<&str>) -> anyhow::Result<Range> {
    let Some(text) = text else { return Ok(Range::ALL) };
    let Some((from, to)) = text.split_once("..") else {
        bail!("--range {text:?}: expected seconds as A..B, A.. or ..B");
    };
    let ns = |part: &str, missing: i64| -> anyhow::Result<i64> {
        if part.trim().is_empty() {
            return Ok(missing);
        }
        let part = part.trim().trim_end_matches('s');
        let seconds: f64 =
            part.parse().with_context(|| format!("--range {text:?}: {part:?} is no number of seconds"))?;
        if !seconds.is_finite() {
            bail!("--range {text:?}: {part:?} is no number of seconds");
        }
        Ok((seconds * 1e9).round() as i64)
    };
    let range = Range { start_ns: ns(from, Range::ALL.start_ns)?, end_ns: ns(to, Range::ALL.end_ns)? };
    if range.start_ns > range.end_ns {
        bail!("--range {text:?}: the end lies before the start; expected seconds as A..B with A not above B");
    }
    Ok(range)
}
