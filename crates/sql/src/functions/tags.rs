//! The stack tag of a stack.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ScalarUDF;
use etwkit_base::lock::lock;
use etwkit_trace::tags::{DEFAULT_SET, TagSet, Tagged};

use super::Reference;
use super::stacks::{StackArguments, of_stacks};
use crate::frames::{Frames, Loader, TraceFrames};

/// Name of the function.
pub(super) const TAG: &str = "stack_tag";

pub(super) const REFERENCE: Reference = Reference {
    name: TAG,
    call: "stack_tag([trace_id,] stack_id, tag_set)",
    returns: "Utf8",
    doc: "The tag of the stack by the rules of a set, as in `cpu_tag`: of the set `default`, or of a file that `--stack-tag-file` \
          names, by its name. Without a match, and of a stack that is not there, it is `Other` in the set `default`, in others null. \
          A session over several extracts needs `trace_id`.",
    example: "SELECT stack_tag(NULL, 'default')",
    answer: "Other",
};

/// The set that every session has.
static BUILT_IN: LazyLock<TagSet> = LazyLock::new(TagSet::built_in);

/// Returns the set `default`: the built-in rules.
#[must_use]
pub fn default_tags() -> &'static TagSet {
    &BUILT_IN
}

/// Returns the function with tag sets in addition to the built-in one.
pub(crate) fn tag(loader: Arc<Loader>, is_several: bool, sets: Arc<[TagSet]>) -> ScalarUDF {
    let place = Arc::as_ptr(&sets).addr();
    let known = Mutex::default();
    let tags = StackTags { sets, known };
    let last = ("tag_set", DataType::Utf8);
    of_stacks(
        TAG,
        last,
        DataType::Utf8,
        loader,
        is_several,
        place,
        move |frames, arguments| tags.compute(frames, arguments),
    )
}

/// The tags of all stacks, by extract and set.
type TagsBySet = HashMap<(i32, String), Arc<Tagged>>;

/// The data of `stack_tag`: tag sets, and the tags found so far.
struct StackTags {
    sets: Arc<[TagSet]>,
    known: Mutex<TagsBySet>,
}

impl StackTags {
    fn set(&self, name: &str) -> Result<&TagSet> {
        let named = self.sets.iter().find(|set| set.name() == name);
        named
            .or_else(|| (name == DEFAULT_SET).then(default_tags))
            .ok_or_else(|| {
                let message = format!(
                    "{TAG}: there is no set '{name}'; --stack-tag-file adds one for a file"
                );
                DataFusionError::Execution(message)
            })
    }

    fn tagged(&self, frames: &Frames, trace_id: i32, set: &str) -> Result<Arc<Tagged>> {
        // Parallel parts of a question need the same tags: the others wait for the first. Sets and
        // extracts are few.
        let mut known = lock(&self.known);
        if let Some(tagged) = known.get(&(trace_id, set.to_owned())) {
            return Ok(Arc::clone(tagged));
        }
        let rules = self.set(set)?;
        let tagged = match frames.trace(trace_id) {
            Some(trace) => trace.tagged(rules),
            // An extract that does not exist has no stacks, but the rules still define the tag of a
            // missing one.
            None => TraceFrames::default().tagged(rules),
        };
        known.insert((trace_id, set.to_owned()), Arc::clone(&tagged));
        Ok(tagged)
    }

    fn compute(&self, frames: &Frames, arguments: &StackArguments<'_>) -> Result<ArrayRef> {
        let mut latest: Option<(i32, &str, Arc<Tagged>)> = None;
        let sets = arguments.last.as_string::<i32>();
        let tags = arguments
            .stacks()
            .zip(sets)
            .map(|((trace_id, stack_id), set)| {
                let Some((trace_id, set)) = trace_id.zip(set) else {
                    return Ok(None);
                };
                let tagged = match latest.take() {
                    Some((trace, known, tagged)) if trace == trace_id && known == set => tagged,
                    _ => self.tagged(frames, trace_id, set)?,
                };
                let tag = tagged.tag(stack_id.unwrap_or(-1));
                let name = tag.and_then(|tag| tagged.name(tag)).map(str::to_owned);
                latest = Some((trace_id, set, tagged));
                Ok(name)
            });
        Ok(Arc::new(tags.collect::<Result<StringArray>>()?))
    }
}
