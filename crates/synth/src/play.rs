//! A trace by its name: a scenario, or one or more cards.

use std::io::{Seek, Write};

use crate::cards::{self, CARDS, Case};
use crate::{Options, Result, SCENARIOS, Scenario, SymbolFile, Truth};

/// Options of a named trace. Options of the other kind of trace are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceOptions<'n> {
    /// Name of a scenario, or of cards with `+` between them.
    pub name: &'n str,
    /// Scale, seed and the rest. Cards have neither a scale nor compressed buffers.
    pub options: Options,
    /// Strength of the cause of a card, in percent.
    pub strength_percent: u32,
    /// The twin of a card without its cause.
    pub is_healthy: bool,
}

/// Reason why no trace has that name and these options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unplayable {
    /// A scenario has neither a strength nor a twin.
    #[error("--strength and --healthy are for cards, and \"{0}\" is a scenario")]
    ForCards(String),
    /// Cards have neither a scale nor compressed buffers.
    #[error("--scale and --compressed are for scenarios, and \"{0}\" is a card")]
    ForScenarios(String),
    /// Scenarios are simulations of their own.
    #[error("only cards can be joined by +, and \"{0}\" is a scenario")]
    NotACard(String),
    /// The name is unknown.
    #[error("there is no scenario or card \"{name}\"; there are: {all}")]
    Unknown {
        /// The name.
        name: String,
        /// All that there are.
        all: String,
    },
}

/// The simulation of a trace.
#[derive(Debug)]
pub enum Play {
    /// A scenario with its options.
    Scenario(&'static Scenario, Options),
    /// Cards.
    Case(Case),
}

impl Play {
    /// Returns the requested scenario or cards.
    ///
    /// # Errors
    /// The name is unknown, or its kind of trace does not have these options.
    pub fn of(wanted: &TraceOptions<'_>) -> std::result::Result<Self, Unplayable> {
        let TraceOptions {
            name,
            options,
            strength_percent,
            is_healthy,
        } = *wanted;
        if let Some(scenario) = crate::find(name) {
            // An option that a scenario does not have is rejected, not ignored: a trace that
            // differs from the request is worse than none.
            let is_usual = strength_percent == 100 && !is_healthy;
            let scenario = is_usual.then_some(Self::Scenario(scenario, options));
            return scenario.ok_or_else(|| Unplayable::ForCards(name.to_owned()));
        }
        // The whole name is not a scenario, so a part that is one was joined to another.
        if let Some(scenario) = name.split('+').find(|part| crate::find(part).is_some()) {
            return Err(Unplayable::NotACard(scenario.to_owned()));
        }
        let cards = name
            .split('+')
            .map(|name| cards::find(name).ok_or_else(|| unknown(name)));
        let case = Case::new(cards.collect::<std::result::Result<_, _>>()?, options.seed);
        if options.scale != 1 || options.compressed {
            return Err(Unplayable::ForScenarios(name.to_owned()));
        }
        let cpus = options.cpus.unwrap_or(case.cpus);
        Ok(Self::Case(Case {
            strength_percent,
            is_healthy,
            cpus,
            ..case
        }))
    }

    /// Returns the symbol files of its code.
    ///
    /// # Errors
    /// The scale is not possible for the scenario.
    pub fn symbols(&self) -> Result<Vec<SymbolFile>> {
        match self {
            Self::Scenario(scenario, options) => scenario.symbols(options),
            Self::Case(case) => Ok(case.symbols()),
        }
    }

    /// Writes the trace and returns the truth about it.
    ///
    /// # Errors
    /// The scale or the number of processors is not possible, or nothing can be written.
    pub fn write<W: Write + Seek>(&self, sink: W) -> Result<(W, Truth)> {
        match self {
            Self::Scenario(scenario, options) => scenario.write(sink, options),
            Self::Case(case) => case.write(sink),
        }
    }
}

fn unknown(name: &str) -> Unplayable {
    let names = SCENARIOS.iter().map(|scenario| scenario.name);
    let names: Vec<&str> = names.chain(CARDS.iter().map(|card| card.name)).collect();
    Unplayable::Unknown {
        name: name.to_owned(),
        all: names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        name: &str,
        options: Options,
        strength_percent: u32,
    ) -> std::result::Result<Play, Unplayable> {
        Play::of(&TraceOptions {
            name,
            options,
            strength_percent,
            is_healthy: false,
        })
    }

    #[test]
    fn names_lead_to_scenarios_and_cards_with_what_each_kind_has() {
        let usual = Options::default();
        assert!(matches!(
            of("office", Options { scale: 3, ..usual }, 100),
            Ok(Play::Scenario(..))
        ));
        let both = of(
            "user-lock+spin",
            Options {
                cpus: Some(6),
                ..usual
            },
            150,
        );
        let Ok(Play::Case(case)) = both else {
            panic!("{both:?}")
        };
        assert_eq!((case.strength_percent, case.cpus), (150, 6));
        assert!(matches!(
            of("office", usual, 150),
            Err(Unplayable::ForCards(_))
        ));
        assert!(matches!(
            of("spin", Options { scale: 3, ..usual }, 100),
            Err(Unplayable::ForScenarios(_))
        ));
        assert_eq!(
            of("git-bash+spin", usual, 100).unwrap_err(),
            Unplayable::NotACard("git-bash".to_owned())
        );
        let unknown = of("spin+spim", usual, 100).unwrap_err().to_string();
        assert!(
            unknown.starts_with("there is no scenario or card \"spim\"; there are: "),
            "{unknown}"
        );
    }
}
