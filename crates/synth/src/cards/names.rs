//! Names of companies, programs, drivers, hosts and files, made of syllables: each seed gives
//! different ones, so that a culprit cannot be known by its name.

use std::net::Ipv4Addr;

use crate::rng::Rng;

const FIRST: [&str; 24] = [
    "bar", "cel", "dor", "fen", "gal", "hex", "ilm", "jor", "kel", "lum", "mar", "nov", "orb",
    "pel", "quo", "ryn", "sel", "tam", "ulm", "ver", "wex", "yor", "zan", "bri",
];
const SECOND: [&str; 20] = [
    "ado", "ben", "cor", "dex", "eri", "fal", "gon", "hal", "iva", "kan", "lor", "min", "nex",
    "ova", "pen", "rix", "sol", "tor", "vax", "zen",
];

/// Things that the names of a card's products contain.
const THINGS: [&str; 16] = [
    "Ledger", "Planner", "Studio", "Viewer", "Import", "Trade", "Builder", "Report", "Render",
    "Mapper", "Console", "Desk", "Journal", "Sheet", "Archive", "Office",
];

/// Creates unique names.
#[derive(Debug)]
pub(crate) struct Names {
    rng: Rng,
    given: Vec<String>,
    /// Names are random letters and digits instead: they do not reveal the kind of thing.
    is_strange: bool,
}

impl Names {
    pub(crate) fn new(seed: u64) -> Self {
        // Another random sequence than the scene's, so that names can change while everything else
        // stays the same.
        Self {
            rng: Rng::new(seed ^ 0x6E61_6D65),
            given: Vec::new(),
            is_strange: false,
        }
    }

    /// Creates names of random letters, which do not resemble real names.
    pub(crate) fn strange(seed: u64) -> Self {
        Self {
            is_strange: true,
            ..Self::new(seed)
        }
    }

    /// Returns a word of three or four syllables, in lower case.
    pub(crate) fn word(&mut self) -> String {
        loop {
            let word = if self.is_strange {
                self.letters()
            } else {
                self.syllables()
            };
            // Two equal names would make a culprit ambiguous.
            if !self.given.contains(&word) {
                self.given.push(word.clone());
                return word;
            }
        }
    }

    fn syllables(&mut self) -> String {
        let mut word = pick(&mut self.rng, &FIRST).to_owned() + pick(&mut self.rng, &SECOND);
        if self.rng.chance(400) {
            word += pick(&mut self.rng, &SECOND);
        }
        word
    }

    fn letters(&mut self) -> String {
        const ALL: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let length = self.rng.between(4, 11);
        // A leading digit would make some of them numbers.
        let of = |at: u32| if at == 0 { 26 } else { ALL.len() as u64 };
        let letter = |at| {
            ALL.get(self.rng.below(of(at)) as usize)
                .copied()
                .unwrap_or(b'a')
        };
        (0..length).map(letter).map(char::from).collect()
    }

    /// Returns a word that starts with a capital, followed by a thing: `HexcorLedger`.
    pub(crate) fn product(&mut self) -> String {
        let word = self.word();
        if self.is_strange {
            word
        } else {
            capital(&word) + pick(&mut self.rng, &THINGS)
        }
    }

    /// Returns the name of a company: `Hexcor Systems`.
    pub(crate) fn company(&mut self) -> String {
        if self.is_strange {
            return self.word();
        }
        let form = pick(
            &mut self.rng,
            &[
                "Systems",
                "Software GmbH",
                "Inc.",
                "Ltd.",
                "Technologies",
                "AG",
            ],
        );
        format!("{} {form}", capital(&self.word()))
    }

    /// Returns the file name of a driver without its extension: up to eight letters.
    pub(crate) fn driver(&mut self) -> String {
        let mut name = self.word();
        if self.is_strange {
            return name;
        }
        name.truncate(5);
        name + pick(&mut self.rng, &["flt", "mon", "drv", "fs", "sec"])
    }

    /// Returns the name of a host: `mail.hexcor.example`.
    pub(crate) fn host(&mut self) -> String {
        if self.is_strange {
            return format!("{}.{}", self.word(), self.word());
        }
        let part = pick(
            &mut self.rng,
            &["mail", "www", "api", "files", "login", "cdn"],
        );
        format!("{part}.{}.example", self.word())
    }

    /// Returns an address of a private network as text.
    pub(crate) fn address(&mut self) -> String {
        self.ip().to_string()
    }

    /// Returns an address of a private network.
    pub(crate) fn ip(&mut self) -> Ipv4Addr {
        let mut part = |low, high| self.rng.between(low, high) as u8;
        Ipv4Addr::new(10, part(1, 250), part(1, 250), part(2, 250))
    }
}

fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words
        .get(rng.below(words.len() as u64) as usize)
        .copied()
        .unwrap_or_default()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_ascii_uppercase().to_string() + letters.as_str()
    })
}
