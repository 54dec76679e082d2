//! Merges rows of several queries, each in the requested order, into one list in that order.

use super::{Item, Order};
use crate::Result;

/// Batches of items, in ascending order.
pub(super) type Batches = Box<dyn Iterator<Item = Result<Vec<Item>>>>;

/// The items of a query.
struct Source {
    batches: Batches,
    items: std::vec::IntoIter<Item>,
}

impl Source {
    fn next(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(item) = self.items.next() {
                return Ok(Some(item));
            }
            match self.batches.next() {
                Some(batch) => self.items = batch?.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

/// Passes all items on in the order; equal ones in the order of their queries. One batch of each
/// query is held.
///
/// # Errors
/// A query fails, or the consumer of the items.
pub(super) fn merged(
    questions: Vec<Batches>,
    order: Order,
    mut take: impl FnMut(Item) -> Result<()>,
) -> Result<()> {
    let source = |batches| Source {
        batches,
        items: Vec::new().into_iter(),
    };
    let mut sources: Vec<Source> = questions.into_iter().map(source).collect();
    let mut heads: Vec<Option<Item>> = sources
        .iter_mut()
        .map(Source::next)
        .collect::<Result<_>>()?;
    let key = |item: &Item| {
        (
            if order == Order::Thread {
                item.thread
            } else {
                None
            },
            item.time_ns,
        )
    };
    loop {
        // The place of the question is a part of the comparison, so that items of one time keep the
        // order of the questions. With seven of them a heap would gain nothing.
        let first = heads
            .iter()
            .enumerate()
            .filter_map(|(at, head)| Some((key(head.as_ref()?), at)))
            .min();
        let Some((_, at)) = first else { return Ok(()) };
        let (Some(head), Some(source)) = (heads.get_mut(at), sources.get_mut(at)) else {
            return Ok(());
        };
        if let Some(item) = std::mem::replace(head, source.next()?) {
            take(item)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;

    fn mark(time_ns: i64, thread: Option<i64>, text: &str) -> Item {
        Item {
            time_ns,
            thread,
            what: What::Mark(text.to_owned()),
        }
    }

    fn order_of(order: Order, questions: [Vec<Vec<Item>>; 2]) -> String {
        let batches = questions
            .map(|batches| Box::new(batches.into_iter().map(Ok)) as Batches)
            .into_iter()
            .collect();
        let mut texts = String::new();
        let take = |item: Item| {
            if let What::Mark(text) = item.what {
                texts.push_str(&text);
            }
            Ok(())
        };
        merged(batches, order, take).unwrap();
        texts
    }

    #[test]
    fn items_come_by_time_and_equal_ones_by_question() {
        let first = vec![
            vec![mark(1, Some(2), "a"), mark(5, Some(1), "c")],
            vec![],
            vec![mark(9, None, "e")],
        ];
        let second = vec![vec![mark(1, Some(1), "b"), mark(5, Some(1), "d")]];
        assert_eq!(order_of(Order::Time, [first, second]), "abcde");
    }

    #[test]
    fn items_of_a_thread_come_together() {
        let first = vec![
            vec![mark(9, None, "a"), mark(5, Some(1), "c")],
            vec![mark(1, Some(2), "e")],
        ];
        let second = vec![vec![
            mark(1, Some(1), "b"),
            mark(7, Some(1), "d"),
            mark(0, Some(3), "f"),
        ]];
        assert_eq!(order_of(Order::Thread, [first, second]), "abcdef");
    }
}
