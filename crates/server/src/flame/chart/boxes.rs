//! Boxes of a chart by level, as many as an answer may have: short ones next to each other are one.

/// Number of levels of an answer. Windows records fewer frames of a stack.
const MOST_LEVELS: usize = 256;

/// A box: a frame or a state from one moment to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from_ns: i64,
    pub(super) to_ns: i64,
    /// Number of its name.
    pub(super) name: u32,
    pub(super) samples: u64,
    pub(super) waits: u64,
    /// Number of boxes that are one in it.
    pub(super) pieces: u64,
}

/// The boxes of all levels, by time in each.
#[derive(Debug)]
pub(super) struct Boxes {
    pub(super) levels: Vec<Vec<Span>>,
    count: usize,
    most: usize,
    /// Boxes shorter than this, and as close to each other, are one.
    pub(super) grain_ns: i64,
    /// Name of a box of different frames.
    several: u32,
    /// Number of boxes below the last level.
    pub(super) left_out: u64,
}

impl Boxes {
    /// Returns an empty picture. `several` is the name of a box of different frames.
    pub(super) const fn new(grain_ns: i64, most: usize, several: u32) -> Self {
        Self {
            levels: Vec::new(),
            count: 0,
            most,
            grain_ns,
            several,
            left_out: 0,
        }
    }

    /// Adds a box after all others of its level.
    pub(super) fn add(&mut self, level: usize, span: Span) {
        if level >= MOST_LEVELS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        if self.levels.len() <= level {
            self.levels.resize_with(level.saturating_add(1), Vec::new);
        }
        let grain_ns = self.grain_ns;
        let several = self.several;
        let Some(row) = self.levels.get_mut(level) else {
            return;
        };
        if join(row, span, grain_ns, several) {
            return;
        }
        row.push(span);
        self.count = self.count.saturating_add(1);
        // All boxes are shorter than a long enough grain, and then each level has one.
        while self.count > self.most && self.grain_ns < i64::MAX {
            self.coarsen();
        }
    }

    /// Doubles the length up to which boxes are one with their neighbors.
    fn coarsen(&mut self) {
        self.grain_ns = self.grain_ns.saturating_mul(2);
        self.count = 0;
        for row in &mut self.levels {
            let mut kept = Vec::new();
            for span in row.drain(..) {
                if !join(&mut kept, span, self.grain_ns, self.several) {
                    kept.push(span);
                }
            }
            self.count = self.count.saturating_add(kept.len());
            *row = kept;
        }
    }
}

/// Makes a box one with the last of its level, if both are short and close to each other.
fn join(row: &mut [Span], span: Span, grain_ns: i64, several: u32) -> bool {
    let Some(last) = row.last_mut() else {
        return false;
    };
    // What became one may be long by now, but has no part that is.
    let is_short = |one: &Span| one.pieces > 1 || one.to_ns.saturating_sub(one.from_ns) < grain_ns;
    let is_close = span.from_ns.saturating_sub(last.to_ns) < grain_ns;
    if !is_close || !is_short(last) || !is_short(&span) {
        return false;
    }
    *last = Span {
        from_ns: last.from_ns.min(span.from_ns),
        to_ns: last.to_ns.max(span.to_ns),
        name: if last.name == span.name {
            span.name
        } else {
            several
        },
        samples: last.samples.saturating_add(span.samples),
        waits: last.waits.saturating_add(span.waits),
        pieces: last.pieces.saturating_add(span.pieces),
    };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVERAL: u32 = 9;

    fn span(from_ns: i64, to_ns: i64, name: u32) -> Span {
        Span {
            from_ns,
            to_ns,
            name,
            samples: 1,
            waits: 0,
            pieces: 1,
        }
    }

    fn drawn(boxes: &Boxes, level: usize) -> Vec<(i64, i64, u32, u64)> {
        let of = |one: &Span| (one.from_ns, one.to_ns, one.name, one.pieces);
        boxes.levels[level].iter().map(of).collect()
    }

    #[test]
    fn short_boxes_next_to_each_other_are_one_and_long_ones_stay() {
        let mut boxes = Boxes::new(10, 1_000, SEVERAL);
        for (from, to, name) in [
            (0, 4, 1),
            (6, 7, 1),
            (9, 12, 2),
            (30, 31, 1),
            (32, 50, 2),
            (51, 52, 2),
        ] {
            boxes.add(0, span(from, to, name));
        }
        let expected = [
            (0, 12, SEVERAL, 3),
            (30, 31, 1, 1),
            (32, 50, 2, 1),
            (51, 52, 2, 1),
        ];
        assert_eq!(drawn(&boxes, 0), expected);
    }

    #[test]
    fn more_boxes_than_there_may_be_become_one_with_their_neighbors() {
        let mut boxes = Boxes::new(1, 100, SEVERAL);
        for at in 0..1_000 {
            boxes.add(0, span(at * 10, at * 10 + 5, 1));
            boxes.add(3, span(at * 10, at * 10, 2));
        }
        let count: usize = boxes.levels.iter().map(Vec::len).sum();
        assert!(count <= 100 && boxes.grain_ns > 1, "{count} boxes");
        let all = boxes.levels.iter().flatten();
        assert_eq!(all.map(|one| one.samples).sum::<u64>(), 2_000);
        assert_eq!(boxes.left_out, 0);
    }

    #[test]
    fn boxes_below_the_last_level_are_counted() {
        let mut boxes = Boxes::new(1, 1_000, SEVERAL);
        for level in 0..MOST_LEVELS + 2 {
            boxes.add(level, span(0, 5, 1));
        }
        assert_eq!((boxes.levels.len(), boxes.left_out), (MOST_LEVELS, 2));
    }
}
