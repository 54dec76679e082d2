//! Tables of a diagnosis that was made together with its extract, while all rows were there.

tables! {
    /// Something that a rule of `etwkit diagnose` found when the extract was made. The costliest
    /// finding is first. Without rows in `rule_outcome` nothing was looked for.
    Finding / FindingColumns = "finding", order ["number"] {
        /// Number of the finding, from 1.
        number: i32;
        /// Rule that found it.
        rule: String;
        /// `cost`, or `note` for something that is good to know but costs nothing.
        severity: String;
        /// The finding as a sentence.
        sentence: String;
        /// Driver, process, server, file or setting that is to blame.
        culprit: String;
        /// Time in which at least one victim could not go on because of it; null for notes.
        cost_ns: Option<i64>, "ns";
        /// Share of the recording that this is.
        cost_percent: Option<f64>, "percent";
        /// Process that it cost most; null where no process is the victim.
        process_key: Option<i32>, "key";
        /// ID of that process.
        pid: Option<i32>;
        /// Name of its executable; `--rename-rules` does not change it.
        process: Option<String>;
        /// All processes that it cost something, the first ones with their cost.
        victims: String;
        /// Number of times that it happened.
        count: Option<i64>;
        /// Length of the longest piece.
        longest_ns: Option<i64>, "ns";
        /// Start of the first piece.
        from_ns: Option<i64>, "ns";
        /// End of the last piece.
        to_ns: Option<i64>, "ns";
        /// Start of the longest piece.
        at_ns: Option<i64>, "ns";
        /// Thread of the longest piece.
        thread_key: Option<i32>, "key";
        /// ID of that thread.
        tid: Option<i32>;
        /// Stack of the longest piece.
        stack_id: Option<i32>, "key";
        /// Frames of that stack, innermost first, a line for each.
        stack: Option<String>;
        /// Wait chain of the longest piece, the victim first, a line for each wait; null where
        /// that piece is not a wait.
        chain: Option<String>;
        /// Number of the finding that explains most of its time; null without one.
        explained_by: Option<i32>;
        /// `high`, `medium` or `low`, and the reason if it is not high.
        confidence: String;
        /// Command lines that show the rows of the finding, a line for each, without the program
        /// and the extract. A summary does not have all of these rows.
        evidence: String;
        /// Contents of these lines where they are more than the number of the finding; empty
        /// otherwise.
        shows: String;
        /// View of the page that shows these rows, and its filters; null where the evidence says it.
        spot: Option<String>;
        /// Advice.
        fix: String;
    }

    /// A rule of `etwkit diagnose` that was evaluated when the extract was made
    /// (`etwkit extract --findings`).
    RuleOutcome / RuleOutcomeColumns = "rule_outcome", order [] {
        /// Name of the rule.
        rule: String;
        /// The subject of the rule, in a few words.
        title: String;
        /// `found`, `nothing`, `not checked` or `failed`.
        state: String;
        /// Number of its findings.
        findings: i32;
        /// Missing data or names, or the reason of the failure; null otherwise.
        missing: Option<String>;
        /// 16 hexadecimal digits that distinguish versions of the rule.
        rule_version: String;
    }
}
