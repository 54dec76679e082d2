//! Entry points by what they match.

use etwkit_base::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use super::index::{Interned, Numbered, PatternId, PatternIndex};
use super::pattern::pointed;
use super::rule::{Entry, Rule};

/// Entry points as files declare them.
#[derive(Debug, Default)]
pub(super) struct Declared {
    modules: Interned,
    methods: Interned,
    entries: Vec<Entry>,
}

impl Declared {
    /// Adds an entry point of a rule.
    pub(super) fn add(&mut self, module: &str, method: &str, rule: Idx<Rule>) {
        // Modules are file names, which Windows compares without case; names of methods keep
        // theirs.
        let module = self.modules.id(&module.to_lowercase());
        let mut with = |method: &str| {
            let method = self.methods.id(method);
            self.entries.push(Entry {
                module,
                method,
                rule,
            });
        };
        with(method);
        // A name with dots is looked for, too, so its pattern needs dots.
        if method.contains("::") {
            with(&pointed(method));
        }
    }

    /// The number of patterns of entry points.
    pub(super) const fn count(&self) -> usize {
        self.entries.len()
    }
}

/// Entry points, ready to match.
#[derive(Debug, Clone, Default)]
pub(super) struct Entries {
    modules: PatternIndex,
    methods: PatternIndex,
    /// The place of each rule in the order in which rules win: smaller ones first.
    rank: IndexVec<Rule, u32>,
    /// The rule that wins for a pattern of modules and one of methods.
    rules: FxHashMap<(PatternId, PatternId), Idx<Rule>>,
    /// The rules for each pattern of modules, with their patterns of methods.
    of_pattern: IndexVec<Numbered, Vec<(PatternId, Idx<Rule>)>>,
    /// The first place of a rule with each pattern of methods.
    best: IndexVec<Numbered, u32>,
}

/// Pairs of patterns that are looked up for one frame. Frames of known files have a few; a malicious
/// file can have any number.
const MAX_PAIRS: usize = 1024;

/// Patterns that the name of a module matches.
#[derive(Debug)]
pub(super) struct OfModule {
    patterns: Vec<PatternId>,
    /// The rule that wins for each pattern of methods, once a frame had too many pairs of patterns.
    by_method: Option<FxHashMap<PatternId, Idx<Rule>>>,
    /// The rule of its frames without a name.
    pub(super) without_name: Option<Idx<Rule>>,
}

impl Entries {
    pub(super) fn new(declared: Declared, rules: &IndexVec<Rule>) -> Self {
        let mut order: Vec<Idx<Rule>> = rules.enumerate().map(|(rule, _)| rule).collect();
        // A child has a smaller number than its parents and wins among equal priorities.
        order.sort_by_key(|rule| (std::cmp::Reverse(rules[*rule].priority), *rule));
        let mut rank = IndexVec::filled(0, rules);
        for (place, rule) in order.into_iter().enumerate() {
            rank[rule] = place as u32;
        }
        let methods = declared.methods.index();
        let mut best: IndexVec<Numbered, u32> = vec![u32::MAX; methods.count()].into();
        let mut winners: FxHashMap<(PatternId, PatternId), Idx<Rule>> = FxHashMap::default();
        for entry in declared.entries {
            let place = rank[entry.rule];
            let first = &mut best[entry.method];
            *first = place.min(*first);
            let winner = winners.entry((entry.module, entry.method));
            let winner = winner.or_insert(entry.rule);
            if place < rank[*winner] {
                *winner = entry.rule;
            }
        }
        let modules = declared.modules.index();
        let mut of_pattern: IndexVec<Numbered, Vec<(PatternId, Idx<Rule>)>> =
            vec![Vec::new(); modules.count()].into();
        for ((module, method), rule) in &winners {
            of_pattern[*module].push((*method, *rule));
        }
        Self {
            modules,
            methods,
            rank,
            rules: winners,
            of_pattern,
            best,
        }
    }

    /// What a module matches. Many frames share few modules, so this is done once for each.
    pub(super) fn of_module(&self, module: Option<&str>) -> OfModule {
        let mut patterns = Vec::new();
        let module = module.map_or_else(String::new, str::to_lowercase);
        self.modules.matching(&module, &mut patterns);
        // Only a star alone matches a method that is not known.
        let any: Vec<PatternId> = self.methods.any().into_iter().collect();
        let without_name = self.winner(&patterns, &any);
        OfModule {
            patterns,
            by_method: None,
            without_name,
        }
    }

    /// The rule that wins for a method of a module.
    pub(super) fn rule(&self, module: &mut OfModule, method: &str) -> Option<Idx<Rule>> {
        if module.patterns.is_empty() {
            return None;
        }
        let mut methods = Vec::new();
        self.methods.matching(method, &mut methods);
        if method.contains("::") {
            self.methods.matching(&pointed(method), &mut methods);
        }
        // With the strongest ones first, most of the others need not be looked at.
        methods.sort_unstable_by_key(|method| self.best[*method]);
        methods.dedup();
        if module.patterns.len().saturating_mul(methods.len()) <= MAX_PAIRS {
            return self.winner(&module.patterns, &methods);
        }
        let by_method = module
            .by_method
            .get_or_insert_with(|| self.winners(&module.patterns));
        let found = methods.iter().filter_map(|method| by_method.get(method));
        found.copied().min_by_key(|rule| self.rank[*rule])
    }

    /// The rule that wins for each pattern of methods, among those of these patterns of modules.
    fn winners(&self, modules: &[PatternId]) -> FxHashMap<PatternId, Idx<Rule>> {
        let mut winners: FxHashMap<PatternId, Idx<Rule>> = FxHashMap::default();
        for module in modules {
            for (method, rule) in &self.of_pattern[*module] {
                let winner = winners.entry(*method).or_insert(*rule);
                if self.rank[*rule] < self.rank[*winner] {
                    *winner = *rule;
                }
            }
        }
        winners
    }

    /// The rule that wins among all pairs of patterns; those of methods are in their order.
    fn winner(&self, modules: &[PatternId], methods: &[PatternId]) -> Option<Idx<Rule>> {
        let mut winner: Option<Idx<Rule>> = None;
        for method in methods {
            let place = winner.map_or(u32::MAX, |rule| self.rank[rule]);
            if self.best[*method] >= place {
                break;
            }
            let found = modules.iter().filter_map(|module| {
                let rule = self.rules.get(&(*module, *method))?;
                Some(*rule)
            });
            winner = winner
                .into_iter()
                .chain(found)
                .min_by_key(|rule| self.rank[*rule]);
        }
        winner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(priority: i32) -> Rule {
        Rule {
            path: String::new(),
            priority,
            hint: None,
        }
    }

    #[test]
    fn many_pairs_of_patterns_are_looked_up_once_for_a_module() {
        let (module, method) = ("m".repeat(40), "f".repeat(40));
        let start = |text: &str, length: usize| format!("{}*", &text[..length]);
        let mut declared = Declared::default();
        let mut rules: IndexVec<Rule> = IndexVec::new();
        let mut of_other = Vec::new();
        for length in 0..40 {
            // Each of them matches only one of both.
            let of_module = rules.push(rule(9));
            declared.add(&start(&module, length), "other", of_module);
            let of_method = rules.push(rule(9));
            declared.add("other", &start(&method, length), of_method);
            of_other.push(of_method);
        }
        let weak = rules.push(rule(1));
        declared.add(&start(&module, 3), &start(&method, 5), weak);
        let strong = rules.push(rule(2));
        declared.add(&start(&module, 30), &start(&method, 7), strong);
        let entries = Entries::new(declared, &rules);

        let mut many = entries.of_module(Some(&module));
        assert_eq!(entries.rule(&mut many, &method), Some(strong));
        assert!(many.by_method.is_some());
        assert_eq!(entries.rule(&mut many, "ffffff"), Some(weak));
        assert_eq!(entries.rule(&mut many, "g"), None);
        let mut few = entries.of_module(Some("other"));
        assert_eq!(entries.rule(&mut few, &method), Some(of_other[0]));
        assert!(few.by_method.is_none());
    }
}
