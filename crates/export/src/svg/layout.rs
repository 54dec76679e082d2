//! Layout of the frames of a flame graph, and the frames that are too narrow to be drawn.

/// Thousandths of a pixel below which a frame is not drawn: it would be invisible, and most frames
/// of a large trace are that narrow, so the file would grow with them.
const NARROW: u32 = 500;

/// Maximum number of levels of the picture; frames above them are not drawn. Endless recursion
/// would make a picture that no viewer opens.
const MAX_LEVELS: u32 = 400;

/// The tree of frames, each before its callees, and these in their order.
#[derive(Debug, Default)]
pub(super) struct Flames {
    nodes: Vec<Node>,
    /// Nodes from the outermost frame of the last stack to its innermost one.
    open: Vec<usize>,
    total_ns: i64,
}

/// A frame with all its callees.
#[derive(Debug)]
struct Node {
    name: u32,
    level: u32,
    /// Weight of all frames to its left.
    start_ns: i64,
    weight_ns: i64,
    own_ns: i64,
}

/// A drawn item: a frame, or several that are too narrow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) what: What,
    /// Level; 0 for the outermost frames.
    pub(super) level: u32,
    /// Left end and width, in thousandths of a pixel.
    pub(super) x: u32,
    pub(super) width: u32,
    pub(super) weight_ns: i64,
    /// Weight without its callees.
    pub(super) own_ns: i64,
}

/// The kind of a drawn item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A frame, by the number of its name.
    Frame(u32),
    /// This number of frames in one place: adjacent frames of one caller, with all their callees.
    Rest(usize),
}

impl Flames {
    /// Adds a stack, outermost frame first. Stacks come sorted, a caller before its callees.
    pub(super) fn add(&mut self, path: &[u32], weight_ns: i64) {
        let weight_ns = weight_ns.max(0);
        let is_same = |(name, node): &(&u32, &usize)| {
            self.nodes
                .get(**node)
                .is_some_and(|node| node.name == **name)
        };
        // Stacks come sorted, so the frames shared with the previous stack are all frames shared
        // with any earlier one.
        let same = path.iter().zip(&self.open).take_while(is_same).count();
        self.open.truncate(same);
        for (level, name) in (0..).zip(path).skip(same) {
            self.open.push(self.nodes.len());
            let start_ns = self.total_ns;
            self.nodes.push(Node {
                name: *name,
                level,
                start_ns,
                weight_ns: 0,
                own_ns: 0,
            });
        }
        for at in &self.open {
            if let Some(node) = self.nodes.get_mut(*at) {
                node.weight_ns = node.weight_ns.saturating_add(weight_ns);
            }
        }
        if let Some(node) = self.open.last().and_then(|at| self.nodes.get_mut(*at)) {
            node.own_ns = node.own_ns.saturating_add(weight_ns);
        }
        self.total_ns = self.total_ns.saturating_add(weight_ns);
    }

    /// Returns names of frames with their own weights; a name may occur several times.
    pub(super) fn own(&self) -> impl Iterator<Item = (u32, i64)> {
        self.nodes.iter().map(|node| (node.name, node.own_ns))
    }

    /// Returns the drawn items for a width of `room` thousandths of a pixel, from bottom to top,
    /// left first. The weights of the items on a frame and its own weight add up to the weight of
    /// the frame.
    pub(super) fn drawn(&self, room: u32) -> Vec<Drawn> {
        let mut drawn: Vec<Drawn> = Vec::new();
        // The place for items that are not drawn, which takes narrow neighbors of the same caller.
        let mut rest: Option<usize> = None;
        // Above this level nothing is drawn until the next frame at it or below.
        let mut hidden_above: Option<u32> = None;
        for node in &self.nodes {
            if hidden_above.is_some_and(|level| node.level > level) {
                if let Some(What::Rest(count)) = rest
                    .and_then(|at| drawn.get_mut(at))
                    .map(|rest| &mut rest.what)
                {
                    *count += 1;
                }
                continue;
            }
            hidden_above = None;
            let place = self.place(node, room);
            if place.1 >= NARROW && node.level < MAX_LEVELS {
                // A drawn frame ends the piece: two narrow frames with a drawn one between them are
                // not neighbors, and may have different callers.
                rest = None;
                drawn.push(one(What::Frame(node.name), node, place));
                continue;
            }
            hidden_above = Some(node.level);
            match rest
                .and_then(|at| drawn.get_mut(at))
                .filter(|rest| rest.level == node.level)
            {
                Some(rest) => rest.take(node, place),
                None => {
                    rest = Some(drawn.len());
                    drawn.push(one(What::Rest(1), node, place));
                }
            }
        }
        drawn
    }

    /// Returns left end and width. Both ends are rounded in the same way, so that neighbors touch.
    fn place(&self, node: &Node, room: u32) -> (u32, u32) {
        let at = |ns: i64| {
            // The product exceeds 64 bits if the frames weigh some two hours together.
            let place = i128::from(ns) * i128::from(room) / i128::from(self.total_ns.max(1));
            u32::try_from(place).unwrap_or(room)
        };
        let start = at(node.start_ns);
        (
            start,
            at(node.start_ns.saturating_add(node.weight_ns)).saturating_sub(start),
        )
    }
}

fn one(what: What, node: &Node, (x, width): (u32, u32)) -> Drawn {
    Drawn {
        what,
        level: node.level,
        x,
        width,
        weight_ns: node.weight_ns,
        own_ns: node.own_ns,
    }
}

impl Drawn {
    /// Adds a narrow neighbor at its right.
    fn take(&mut self, node: &Node, (x, width): (u32, u32)) {
        if let What::Rest(count) = &mut self.what {
            *count += 1;
        }
        self.width = (x + width).saturating_sub(self.x);
        self.weight_ns = self.weight_ns.saturating_add(node.weight_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flames(stacks: &[(&[u32], i64)]) -> Flames {
        let mut flames = Flames::default();
        stacks
            .iter()
            .for_each(|(path, weight)| flames.add(path, *weight));
        flames
    }

    #[test]
    fn frames_lie_on_their_callers() {
        let flames = flames(&[
            (&[0], 10),
            (&[0, 1], 30),
            (&[0, 1, 2], 20),
            (&[0, 3], 40),
            (&[4], 100),
        ]);
        let drawn = flames.drawn(200_000);
        let shown: Vec<_> = drawn
            .iter()
            .map(|f| (f.what, f.level, f.x, f.width, f.weight_ns, f.own_ns))
            .collect();
        assert_eq!(
            shown,
            [
                (What::Frame(0), 0, 0, 100_000, 100, 10),
                (What::Frame(1), 1, 10_000, 50_000, 50, 30),
                (What::Frame(2), 2, 40_000, 20_000, 20, 20),
                (What::Frame(3), 1, 60_000, 40_000, 40, 40),
                (What::Frame(4), 0, 100_000, 100_000, 100, 100),
            ]
        );
    }

    #[test]
    fn narrow_frames_become_one_with_their_neighbours() {
        // Frames 1 and 2 have a thousandth each; 5 is after a wide one.
        let flames = flames(&[(&[0, 1, 7], 1), (&[0, 2], 1), (&[0, 3], 997), (&[0, 5], 1)]);
        let drawn = flames.drawn(100_000);
        let shown: Vec<_> = drawn
            .iter()
            .map(|f| (f.what, f.level, f.x, f.width, f.weight_ns))
            .collect();
        assert_eq!(
            shown,
            [
                (What::Frame(0), 0, 0, 100_000, 1000),
                (What::Rest(3), 1, 0, 200, 2),
                (What::Frame(3), 1, 200, 99_700, 997),
                (What::Rest(1), 1, 99_900, 100, 1),
            ]
        );
    }

    #[test]
    fn deep_stacks_end_at_the_top_of_the_picture() {
        let deep: Vec<u32> = (0..MAX_LEVELS + 100).collect();
        let drawn = flames(&[(&deep, 5)]).drawn(1000);
        assert_eq!(drawn.len() as u32, MAX_LEVELS + 1);
        assert_eq!(
            (drawn.last().unwrap().what, drawn.last().unwrap().weight_ns),
            (What::Rest(100), 5)
        );
        assert_eq!(flames(&[]).drawn(1000), []);
    }
}
