//! `-dump objectref`, `-dump virtualalloc` and `-dump memory`.

use crate::switch::{Switch, To, Words};

const OBJECT_TOTALS: Words = &[
    ("none", "none"),
    ("total", "total"),
    ("process", "process"),
    ("file", ""),
    ("method", ""),
];

pub(crate) const OBJECT_REF: &[Switch] = &[
    Switch {
        names: &["relatedprocess"],
        to: To::Text("--related-process"),
    },
    Switch {
        names: &["minmaxduration"],
        to: To::Range("--lifetime"),
    },
    Switch {
        names: &["minmaxid"],
        to: To::Range("--id"),
    },
    Switch {
        names: &["minmaxtime"],
        to: To::Range("--range"),
    },
    Switch {
        names: &["createstack"],
        to: To::Text("--create-stack"),
    },
    Switch {
        names: &["destroystack"],
        to: To::Text("--destroy-stack"),
    },
    Switch {
        names: &["stackfilter", "sf"],
        to: To::Text("--stack-filter"),
    },
    Switch {
        names: &["object"],
        to: To::Text("--object"),
    },
    Switch {
        names: &["objectname"],
        to: To::Text("--object-name"),
    },
    Switch {
        names: &["type"],
        to: To::Text("--type"),
    },
    Switch {
        names: &["handle"],
        to: To::Text("--handle"),
    },
    Switch {
        names: &["viewbase"],
        to: To::Text("--view-base"),
    },
    Switch {
        names: &["ptrinmap"],
        to: To::Text("--ptr-in-map"),
    },
    Switch {
        names: &["minmaxmapsize"],
        to: To::Range("--map-size"),
    },
    Switch {
        names: &["map"],
        to: To::Text("--mapped"),
    },
    Switch {
        names: &["leak"],
        to: To::Flag("--leak"),
    },
    Switch {
        names: &["multiprocess"],
        to: To::Flag("--multi-process"),
    },
    Switch {
        names: &["inherit"],
        to: To::Flag("--inherit"),
    },
    Switch {
        names: &["overlapped"],
        to: To::Flag("--overlapped"),
    },
    Switch {
        names: &["showref"],
        to: To::Flag("--show-ref"),
    },
    Switch {
        names: &["showstack", "ss"],
        to: To::Flag("--show-stack"),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", OBJECT_TOTALS),
    },
];

const ALLOC_SORTS: Words = &[
    ("default", ""),
    ("notreleasedsize", "not-released-size"),
    ("notreleasedcount", "not-released-count"),
    ("commitsize", "commit-size"),
    ("commitcount", "commit-count"),
    ("freedsize", "freed-size"),
    ("freedcount", "freed-count"),
    ("maxcommitsize", "max-commit-size"),
];
const TOTALS: Words = &[
    ("none", "none"),
    ("total", ""),
    ("process", ""),
    ("file", ""),
    ("method", ""),
];

pub(crate) const VIRTUAL_ALLOC: &[Switch] = &[
    Switch {
        names: &["stats"],
        to: To::Nothing(0, "sums of processes are shown without a word"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
    Switch {
        names: &["stackidx"],
        to: To::Text("--stack-id"),
    },
    Switch {
        names: &["showstack", "ss"],
        to: To::Flag("--show-stack"),
    },
    Switch {
        names: &["stackfilter", "sf"],
        to: To::Text("--stack-filter"),
    },
    Switch {
        names: &["topnstacks"],
        to: To::Top("--top-stacks", Some("--skip-stacks")),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", ALLOC_SORTS),
    },
    Switch {
        names: &["minmaxnotreleasedsize"],
        to: To::Range("--not-released-size"),
    },
    Switch {
        names: &["minmaxnotreleasedcount"],
        to: To::Range("--not-released-count"),
    },
    Switch {
        names: &["minmaxalloctime"],
        to: To::Range("--range"),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", TOTALS),
    },
];

const MEMORY_SORTS: Words = &[
    ("default", ""),
    ("commit", "commit"),
    ("workingset", "working-set"),
    ("sharedcommit", "shared-commit"),
    ("diff", "diff"),
];
const MEMORY_TOTALS: Words = &[
    ("none", "none"),
    ("file", "total"),
    ("total", "total"),
    ("process", ""),
    ("method", ""),
];

pub(crate) const MEMORY: &[Switch] = &[
    Switch {
        names: &["totalmemory", "tm"],
        to: To::Flag("--total-memory"),
    },
    Switch {
        names: &["mindiffmb"],
        to: To::Text("--min-diff"),
    },
    Switch {
        names: &["globaldiffmb"],
        to: To::Text("--global-diff"),
    },
    Switch {
        names: &["minmaxworkingsetmib"],
        to: To::Range("--working-set"),
    },
    Switch {
        names: &["minmaxworkingsetprivatemib"],
        to: To::Range("--private-working-set"),
    },
    Switch {
        names: &["minmaxcommitmib"],
        to: To::Range("--commit"),
    },
    Switch {
        names: &["minmaxsharedcommitmib"],
        to: To::Range("--shared-commit"),
    },
    // Until 2023 this was the only switch for working sets, and it looked at the start of the
    // trace.
    Switch {
        names: &["minworkingsetmb"],
        to: To::Range("--first-working-set"),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", MEMORY_SORTS),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", MEMORY_TOTALS),
    },
    Switch {
        names: &["showmoduleinfo", "smi"],
        to: To::Maybe("--show-module"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
];
