//! A table of what `etwkit explain` compares, made together with an extract.

tables! {
    /// A number of the run that `etwkit explain` compares with other runs, computed when the extract was made
    /// (`etwkit extract --features`). Sums of CPU, wait and ready time are one row, if one of them has half a
    /// millisecond.
    Feature / FeatureColumns = "feature", order [] {
        /// Kind of the subject, such as `method`, `stack tag` or `folder`.
        kind: String;
        /// Measured quantity of `value`: `time`, `wait`, `count`, `ratio` or `has it`; null for sums of CPU,
        /// wait and ready time.
        measure: Option<String>;
        /// Name of the executable; `--rename-rules` does not change it. Null for features of the machine.
        process: Option<String>;
        /// Subject, such as a method or a folder; empty if the process itself is the subject.
        what: Option<String>;
        /// Sum of the CPU time.
        cpu_ns: Option<i64>, "ns";
        /// Sum of the wait time.
        wait_ns: Option<i64>, "ns";
        /// Sum of the ready time.
        ready_ns: Option<i64>, "ns";
        /// Least number of frames further in, for a method.
        depth: Option<f64>;
        /// Value of the measure; times and waits in milliseconds.
        value: Option<f64>;
        /// Bytes that belong to the value; 0 where it has none.
        bytes: Option<f64>;
    }
}
