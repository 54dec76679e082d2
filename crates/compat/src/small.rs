//! `-loadsymbol` and `-converttime`.

use anyhow::ensure;

use crate::extract::symbols;
use crate::read::{ParsedLine, read};
use crate::switch::{NO_COLOR, Switch, To, has};
use crate::{Find, Step};

/// Switches that both have.
pub(crate) const QUIET: &[Switch] = &[
    Switch {
        names: &["debug"],
        to: To::Nothing(0, "there is no log file"),
    },
    Switch {
        names: &["nocolor"],
        to: NO_COLOR,
    },
];

pub(crate) const LOAD_SYMBOL: &[Switch] = &[
    Switch {
        names: &["symserver", "symfolder"],
        to: To::Special(symbols),
    },
    Switch {
        names: &["symcache"],
        to: To::Nothing(1, "names that were found are kept in the cache of etwkit"),
    },
    Switch {
        names: &["indent", "overwrite"],
        to: To::Nothing(0, "an extract is not JSON"),
    },
    Switch {
        names: &["nooverwrite", "outdir"],
        to: To::Missing("names are added to the extract itself; copy it first"),
    },
];

pub(crate) const CONVERT_TIME: &[Switch] = &[
    Switch {
        names: &["time"],
        to: To::Text("--time"),
    },
    Switch {
        names: &["showfullfilename", "sffn"],
        to: To::Flag("--show-full-file-name"),
    },
];

/// A command whose switches are options of one of ours.
pub(crate) struct Small {
    name: &'static str,
    native: [&'static str; 2],
    switches: &'static [Switch],
    /// A required option, and the error without it.
    needs: Option<(&'static str, &'static str)>,
}

/// `-loadsymbol -fd X -symserver MS`.
pub(crate) const LOAD_SYMBOLS: Small = Small {
    name: "loadsymbol",
    native: ["symbols", "load"],
    switches: LOAD_SYMBOL,
    needs: None,
};

/// `-converttime -fd X -time "..."`.
pub(crate) const CONVERT_TIMES: Small = Small {
    name: "converttime",
    native: ["dump", "time"],
    switches: CONVERT_TIME,
    needs: Some((
        "--time",
        "-converttime needs a time: add -time \"2022-10-02 17:47:38.416\"",
    )),
};

impl Small {
    /// Returns the command for a line. `names_files`: the line has to name its files.
    pub(crate) fn step(
        &self,
        words: &[String],
        find: Find<'_>,
        names_files: bool,
    ) -> anyhow::Result<Step> {
        let name = self.name;
        let said = read(name, words, &[self.switches, QUIET], |_, _, _| Ok(false))?;
        let ParsedLine { queries, native } = said;
        ensure!(
            !names_files || !queries.is_empty(),
            "-{name} needs extracts: add -fd with a file, a folder or a query"
        );
        let files = queries.found(find)?;
        if let Some((option, message)) = self.needs {
            ensure!(has(&native, option), message);
        }
        let args = self
            .native
            .map(Into::into)
            .into_iter()
            .chain(native)
            .chain(["--".into()]);
        Ok(Step::new(
            args.chain(files.into_iter().map(Into::into)).collect(),
        ))
    }
}
