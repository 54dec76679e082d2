//! Call trees: weighted stacks become nodes, and each node has the weight of all stacks through it.
//!
//! In a tree from the outermost frames, the weights of a node's children and of the stacks that end
//! at the node add up to the node, folded or not. In a tree of callers, the exclusive weight of the
//! root is the weight of its method; the callers below only show on whose behalf it ran.

use std::collections::HashMap;
use std::hash::Hash;

/// No node.
const NONE: usize = usize::MAX;

/// A tree that grows stack by stack; `N` is the name of a frame.
#[derive(Debug)]
pub struct CallTree<N> {
    nodes: Vec<Node<N>>,
    known: HashMap<(usize, N), usize>,
    roots: Vec<usize>,
}

#[derive(Debug)]
struct Node<N> {
    name: N,
    inclusive: i64,
    exclusive: i64,
    samples: i64,
    children: Vec<usize>,
}

/// Limits for reported nodes. All other nodes are folded into one line below their parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fold {
    /// Minimum share of the whole weight, in per cent.
    pub min_percent: f64,
    /// Maximum number of levels, including the roots.
    pub levels: Option<usize>,
    /// Maximum number of children of a node.
    pub children: Option<usize>,
}

impl Default for Fold {
    /// Folds nothing.
    fn default() -> Self {
        Self {
            min_percent: 0.0,
            levels: None,
            children: None,
        }
    }
}

/// A node, or several that are folded into one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLine<N> {
    /// Position of its parent in the list.
    pub parent: Option<usize>,
    /// 0 for roots.
    pub depth: usize,
    /// Its name; missing if nodes are folded.
    pub name: Option<N>,
    /// Nodes folded into this line, without those below them; 0 for a node.
    pub folded: usize,
    /// Weight of all stacks through it.
    pub inclusive: i64,
    /// Weight of its own method. In a tree of callers: weight of the method of the root alone.
    pub exclusive: i64,
    /// Number of stacks through it.
    pub samples: i64,
}

impl<N> Default for CallTree<N> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            known: HashMap::new(),
            roots: Vec::new(),
        }
    }
}

impl<N: Copy + Eq + Hash> CallTree<N> {
    /// Adds a stack, outermost frame first. The last frame is the one that ran. A stack without
    /// frames adds nothing.
    pub fn add(&mut self, stack: impl IntoIterator<Item = N>, weight: i64, samples: i64) {
        let (_, last) = self.grow(stack, weight, samples);
        if let Some(node) = self.nodes.get_mut(last) {
            node.exclusive = node.exclusive.saturating_add(weight);
        }
    }

    /// Adds a method and its callers. `own` is the part of the weight that ran in the method
    /// itself.
    pub fn add_callers(
        &mut self,
        callers: impl IntoIterator<Item = N>,
        weight: i64,
        own: i64,
        samples: i64,
    ) {
        let (first, _) = self.grow(callers, weight, samples);
        if let Some(node) = self.nodes.get_mut(first) {
            node.exclusive = node.exclusive.saturating_add(own);
        }
    }

    /// Adds to all nodes of a path from the root on, and returns the first and the last one.
    fn grow(
        &mut self,
        path: impl IntoIterator<Item = N>,
        weight: i64,
        samples: i64,
    ) -> (usize, usize) {
        let mut first = NONE;
        let mut at = NONE;
        for name in path {
            let next = self.nodes.len();
            // A name that is new below this node gets the next number: the table and the list of
            // nodes grow together.
            let found = *self.known.entry((at, name)).or_insert(next);
            if found == next {
                self.nodes.push(Node {
                    name,
                    inclusive: 0,
                    exclusive: 0,
                    samples: 0,
                    children: Vec::new(),
                });
                match self.nodes.get_mut(at) {
                    Some(parent) => parent.children.push(next),
                    None => self.roots.push(next),
                }
            }
            at = found;
            if first == NONE {
                first = found;
            }
            if let Some(node) = self.nodes.get_mut(at) {
                node.inclusive = node.inclusive.saturating_add(weight);
                node.samples = node.samples.saturating_add(samples);
            }
        }
        (first, at)
    }

    /// Returns the exclusive weight of a node and of all nodes below it.
    // Without recursion, since stacks of damaged extracts are thousands of frames deep. A subtree
    // is folded at most once, so all calls together take time linear in the size of the tree.
    fn ran_in(&self, root: usize) -> i64 {
        let mut sum = 0_i64;
        let mut open = vec![root];
        while let Some(node) = open.pop().and_then(|index| self.nodes.get(index)) {
            sum = sum.saturating_add(node.exclusive);
            open.extend(&node.children);
        }
        sum
    }

    /// Returns the weight of all stacks.
    #[must_use]
    pub fn total(&self) -> i64 {
        let roots = self.roots.iter().filter_map(|root| self.nodes.get(*root));
        roots.fold(0, |all: i64, node| all.saturating_add(node.inclusive))
    }

    /// Returns the tree, each node before its children. Siblings are sorted by weight, heaviest
    /// first, then by `text`.
    pub fn lines<T: Ord>(&self, fold: Fold, text: impl Fn(N) -> T) -> Vec<TreeLine<N>> {
        let whole = self.total();
        let mut lines: Vec<TreeLine<N>> = Vec::new();
        // A stack of what to list next: a node, or one line for several nodes.
        let mut open: Vec<(Pushed, Option<usize>, usize)> = Vec::new();
        self.push_children(&self.roots, (None, 0), whole, fold, &text, &mut open);
        while let Some((next, parent, depth)) = open.pop() {
            let here = lines.len();
            match next {
                Pushed::Node(index) => {
                    let Some(node) = self.nodes.get(index) else {
                        continue;
                    };
                    lines.push(TreeLine {
                        parent,
                        depth,
                        name: Some(node.name),
                        folded: 0,
                        inclusive: node.inclusive,
                        exclusive: node.exclusive,
                        samples: node.samples,
                    });
                    self.push_children(
                        &node.children,
                        (Some(here), depth + 1),
                        whole,
                        fold,
                        &text,
                        &mut open,
                    );
                }
                Pushed::Folded {
                    nodes,
                    weight,
                    own,
                    samples,
                } => lines.push(TreeLine {
                    parent,
                    depth,
                    name: None,
                    folded: nodes,
                    inclusive: weight,
                    exclusive: own,
                    samples,
                }),
            }
        }
        lines
    }

    fn push_children<T: Ord>(
        &self,
        children: &[usize],
        (parent, depth): (Option<usize>, usize),
        whole: i64,
        fold: Fold,
        text: &impl Fn(N) -> T,
        open: &mut Vec<(Pushed, Option<usize>, usize)>,
    ) {
        let mut all: Vec<(usize, &Node<N>)> = children
            .iter()
            .filter_map(|child| Some((*child, self.nodes.get(*child)?)))
            .collect();
        // Equal weights are sorted by name: the numbers of nodes follow the order of stacks, which
        // means nothing to a reader.
        all.sort_by_cached_key(|(_, node)| (std::cmp::Reverse(node.inclusive), text(node.name)));
        let least = fold.min_percent * whole as f64 / 100.0;
        let most = if fold.levels.is_some_and(|levels| depth >= levels) {
            Some(0)
        } else {
            fold.children
        };
        // They are sorted, so the first one that is too light ends the list.
        let heavy = all
            .iter()
            .take_while(|(_, node)| node.inclusive as f64 >= least)
            .count();
        let kept = heavy.min(most.unwrap_or(usize::MAX));
        let (kept, rest) = all.split_at_checked(kept).unwrap_or((&all, &[]));
        if !rest.is_empty() {
            let weight = rest
                .iter()
                .map(|(_, node)| node.inclusive)
                .fold(0, i64::saturating_add);
            let samples = rest
                .iter()
                .map(|(_, node)| node.samples)
                .fold(0, i64::saturating_add);
            // In a tree from the outermost frames, the exclusive weight of folded nodes is the sum
            // over their subtrees, or it would vanish from the answer.
            let own = rest
                .iter()
                .map(|(index, _)| self.ran_in(*index))
                .fold(0, i64::saturating_add);
            // Pushed first and therefore listed last, after the children that are kept.
            open.push((
                Pushed::Folded {
                    nodes: rest.len(),
                    weight,
                    own,
                    samples,
                },
                parent,
                depth,
            ));
        }
        open.extend(
            kept.iter()
                .rev()
                .map(|(child, _)| (Pushed::Node(*child), parent, depth)),
        );
    }
}

#[derive(Debug, Clone, Copy)]
enum Pushed {
    Node(usize),
    Folded {
        nodes: usize,
        weight: i64,
        own: i64,
        samples: i64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the stacks of the page on CPU, outermost first.
    fn tree() -> CallTree<char> {
        let mut tree = CallTree::default();
        for (stack, weight) in [("maa", 5), ("mb", 5), ("mbc", 20), ("mbd", 20), ("x", 1)] {
            tree.add(stack.chars(), weight, 1);
        }
        tree
    }

    fn text(lines: &[TreeLine<char>]) -> Vec<String> {
        let name = |line: &TreeLine<char>| {
            line.name
                .map_or_else(|| format!("[{}]", line.folded), |name| name.to_string())
        };
        let one = |line: &TreeLine<char>| {
            format!(
                "{}{} {} {} {}",
                " ".repeat(line.depth),
                name(line),
                line.inclusive,
                line.exclusive,
                line.samples
            )
        };
        lines.iter().map(one).collect()
    }

    #[test]
    fn the_heaviest_comes_first_and_recursion_goes_deeper() {
        let lines = tree().lines(Fold::default(), |name| name);
        let expected = [
            "m 50 0 4",
            " b 45 5 3",
            "  c 20 20 1",
            "  d 20 20 1",
            " a 5 0 1",
            "  a 5 5 1",
            "x 1 1 1",
        ];
        assert_eq!(text(&lines), expected);
        let parents: Vec<Option<usize>> = lines.iter().map(|line| line.parent).collect();
        assert_eq!(
            parents,
            [None, Some(0), Some(1), Some(1), Some(0), Some(4), None]
        );
    }

    #[test]
    fn in_a_tree_of_callers_only_the_method_itself_has_weight_of_its_own() {
        let mut tree = CallTree::default();
        // `b` ran for 5 of the 45 that it and its callees have below `m`, and for 1 below `x`.
        for (callers, weight, own) in [("bm", 45, 5), ("bx", 1, 1), ("d", 20, 20), ("a", 3, 3)] {
            tree.add_callers(callers.chars(), weight, own, 1);
        }
        let lines = |fold| text(&tree.lines(fold, |name| name));
        assert_eq!(
            lines(Fold::default()),
            ["b 46 6 2", " m 45 0 1", " x 1 0 1", "d 20 20 1", "a 3 3 1"]
        );
        let one = Fold {
            children: Some(1),
            ..Fold::default()
        };
        assert_eq!(
            lines(one),
            ["b 46 6 2", " m 45 0 1", " [1] 1 0 1", "[2] 23 23 2"]
        );
    }

    #[test]
    fn what_is_folded_keeps_its_weight() {
        let fold = |min_percent, levels, children| Fold {
            min_percent,
            levels,
            children,
        };
        let lines = |fold| text(&tree().lines(fold, |name| name));
        assert_eq!(
            lines(fold(0.0, Some(1), None)),
            ["m 50 0 4", " [2] 50 50 4", "x 1 1 1"]
        );
        assert_eq!(lines(fold(0.0, Some(0), None)), ["[2] 51 51 5"]);
        let children = [
            "m 50 0 4",
            " b 45 5 3",
            "  c 20 20 1",
            "  [1] 20 20 1",
            " [1] 5 5 1",
            "[1] 1 1 1",
        ];
        assert_eq!(lines(fold(0.0, None, Some(1))), children);
        let heavy = [
            "m 50 0 4",
            " b 45 5 3",
            "  c 20 20 1",
            "  d 20 20 1",
            " [1] 5 5 1",
            "[1] 1 1 1",
        ];
        assert_eq!(lines(fold(20.0, None, None)), heavy);
    }

    #[test]
    fn children_and_own_weight_add_up_to_every_node() {
        let mut tree = CallTree::default();
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut whole = 0;
        for _ in 0..2000 {
            let length = 1 + random(9);
            let stack: Vec<u64> = (0..length).map(|_| random(4)).collect();
            let weight = random(100).cast_signed();
            whole += weight;
            tree.add(stack, weight, 1);
        }
        assert_eq!(tree.total(), whole);
        for fold in [
            Fold::default(),
            Fold {
                min_percent: 0.7,
                levels: Some(5),
                children: Some(3),
            },
            Fold {
                min_percent: 101.0,
                ..Fold::default()
            },
        ] {
            let lines = tree.lines(fold, |name| name);
            let below = |at: Option<usize>| -> (i64, i64) {
                let of = lines.iter().filter(|line| line.parent == at);
                of.fold((0, 0), |sum, line| {
                    (sum.0 + line.inclusive, sum.1 + line.samples)
                })
            };
            assert_eq!(below(None), (whole, 2000));
            for (at, line) in lines.iter().enumerate() {
                assert_eq!(
                    below(Some(at)).0 + line.exclusive,
                    line.inclusive,
                    "{line:?}"
                );
            }
        }
    }
}
