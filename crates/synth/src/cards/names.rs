//! Names of companies, programs, drivers, hosts and files, made of syllables: each seed has others, so that
//! nothing can know a culprit by its name.

use crate::rng::Rng;

const FIRST: [&str; 24] = [
    "bar", "cel", "dor", "fen", "gal", "hex", "ilm", "jor", "kel", "lum", "mar", "nov", "orb", "pel", "quo",
    "ryn", "sel", "tam", "ulm", "ver", "wex", "yor", "zan", "bri",
];
const SECOND: [&str; 20] = [
    "ado", "ben", "cor", "dex", "eri", "fal", "gon", "hal", "iva", "kan", "lor", "min", "nex", "ova", "pen",
    "rix", "sol", "tor", "vax", "zen",
];

/// What a thing is called that the card is about.
const THINGS: [&str; 16] = [
    "Ledger", "Planner", "Studio", "Viewer", "Import", "Trade", "Builder", "Report", "Render", "Mapper",
    "Console", "Desk", "Journal", "Sheet", "Archive", "Office",
];

/// Makes names, no two of them equal.
#[derive(Debug)]
pub(crate) struct Names {
    rng: Rng,
    given: Vec<String>,
}

impl Names {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed ^ 0x6E61_6D65), given: Vec::new() }
    }

    /// A word of three or four syllables, in small letters.
    pub(crate) fn word(&mut self) -> String {
        loop {
            let mut word = pick(&mut self.rng, &FIRST).to_owned() + pick(&mut self.rng, &SECOND);
            if self.rng.chance(400) {
                word += pick(&mut self.rng, &SECOND);
            }
            if !self.given.contains(&word) {
                self.given.push(word.clone());
                return word;
            }
        }
    }

    /// A word that begins with a capital, with a thing behind it: `HexcorLedger`.
    pub(crate) fn product(&mut self) -> String {
        capital(&self.word()) + pick(&mut self.rng, &THINGS)
    }

    /// A company: `Hexcor Systems`.
    pub(crate) fn company(&mut self) -> String {
        let form = pick(&mut self.rng, &["Systems", "Software GmbH", "Inc.", "Ltd.", "Technologies", "AG"]);
        format!("{} {form}", capital(&self.word()))
    }

    /// A file name without ending as drivers have them: up to eight letters.
    pub(crate) fn driver(&mut self) -> String {
        let mut name = self.word();
        name.truncate(5);
        name + pick(&mut self.rng, &["flt", "mon", "drv", "fs", "sec"])
    }

    /// A host: `mail.hexcor.example`.
    pub(crate) fn host(&mut self) -> String {
        let part = pick(&mut self.rng, &["mail", "www", "api", "files", "login", "cdn"]);
        format!("{part}.{}.example", self.word())
    }

    /// An address of a private network.
    pub(crate) fn address(&mut self) -> String {
        let mut part = |low, high| self.rng.between(low, high);
        format!("10.{}.{}.{}", part(1, 250), part(1, 250), part(2, 250))
    }
}

fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words.get(rng.below(words.len() as u64) as usize).copied().unwrap_or_default()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
