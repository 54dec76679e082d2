//! `dump wait`: the reasons and ends of waits: sums, single waits, wait chains.

use etwkit_question::{Example, Form, Question, Tagging, fields};
use etwkit_sql::Session;

use super::{WaitBy, WaitRequest, WaitRow, WaitSum, chains, single, sums};
use crate::chain::ChainRow;
use crate::stacks::Stacks;

impl Question for WaitRequest {
    const NAME: &'static str = "wait";
    const SENTENCE: &'static str =
        "What threads waited for, and who ended it: sums, single waits, chains of waits";
    const USUAL: &'static [&'static str] = &[
        "thread",
        "reason",
        "method",
        "tag",
        "chain",
        "all-waits",
        "wait",
        "count",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "what threads waited for",
        },
        Example {
            words: "--process explorer --chain slow.etl",
            answer: "its longest waits with their causes",
        },
        Example {
            words: "--by readying --process explorer slow.etl",
            answer: "who ended the waits",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = match self.by {
            // The SQL finds the waits that chains start from; their links are followed from row to
            // row.
            _ if self.chain => Form::made::<ChainRow>(self.chain_sql(), chains::answer)
                .with_fields(fields::<Stacks>()),
            WaitBy::Wait => Form::made::<WaitRow>(single::listed(self).list_sql(), single::answer)
                .shows_as(&single::WAITS, single::Wait::without_stacks)
                .with_fields(fields::<Stacks>()),
            _ => Form::made::<WaitSum>(self.sql(), sums::answer).describing(sums::describe),
        };
        form.top(self.top)
    }

    fn why_nothing(&self, session: &Session) -> etwkit_question::Result<Option<String>> {
        if self.chain {
            self.why_no_chain(session)
        } else {
            Ok(None)
        }
    }

    fn tagging(&self) -> Tagging<'_> {
        match self.stack_tag_file.as_slice() {
            [] => Tagging::None,
            files => Tagging::Function(files),
        }
    }
}
