//! Facts about the recording, for files of other programs.

use etwkit_sql::Session;

/// Units of 100 ns from 1601, where FILETIME starts, to 1970.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

etwkit_question::declare! {
    /// The recording, as its table has it.
    pub row Recording {
        file_name: String = "File name of the trace, without folder.",
        computer: Option<String> = "Name of the computer.",
        os_version: Option<String> = "Version of Windows.",
        start_utc: String = "Start of the recording, UTC.",
        start_filetime: i64 = "Start of the recording in units of 100 ns since 1601; 0 if it is not known.",
        duration_ns: i64 = "Length of the recording.",
    }
}

impl Recording {
    /// Returns the recording of the first extract of a session; an empty one if it is not known.
    ///
    /// # Errors
    /// The query fails.
    pub(crate) fn of(session: &Session) -> etwkit_question::Result<Self> {
        let sql = "SELECT file_name, computer, os_version, start_utc, start_filetime, duration_ns FROM trace LIMIT 1";
        // Tables without a trace, as of a test, have nothing to describe.
        Ok(etwkit_question::ask(session, sql)?
            .into_iter()
            .next()
            .unwrap_or_default())
    }

    /// Returns a time of the trace in nanoseconds since 1970; 0 for times before that, and if the
    /// start is not known.
    #[must_use]
    pub fn unix_ns(&self, ts_ns: i64) -> u64 {
        if self.start_filetime == 0 {
            return ts_ns.max(0).cast_unsigned();
        }
        // In 128 bits, since the start is an arbitrary number from the file: 100 times it can
        // overflow 64 bits.
        let start = i128::from(self.start_filetime.saturating_sub(UNIX_EPOCH)) * 100;
        let unix_ns = (start + i128::from(ts_ns)).max(0);
        u64::try_from(unix_ns).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_count_from_1970() {
        let at = |start_filetime| Recording {
            start_filetime,
            ..Recording::default()
        };
        // 10 June 2024, 20:18:27.9225833.
        assert_eq!(
            at(133_625_243_079_225_833).unix_ns(5),
            1_718_050_707_922_583_305
        );
        assert_eq!(at(UNIX_EPOCH).unix_ns(-1), 0);
        assert_eq!(at(0).unix_ns(7), 7);
    }
}
