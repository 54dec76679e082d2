//! Costs of products: their own CPU, and the CPU, the waits and the ready time that they cause in
//! others.
//!
//! A product is known by the version resources of its files: company and product name. A sample or
//! a wait belongs to the product of the innermost frame that has one. A thread belongs to the
//! product of the file that it started in, or else of the executable of its process. Samples and
//! waits are attributed in one pass over the tree of stacks, since callers have smaller numbers.
//! `docs/overhead.md` defines the numbers.

mod cost;
mod owners;
mod product;
mod tags;

use etwkit_question::Format::{FineMilliseconds, Fixed, Megabytes, Whole, Word};
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::{
    Answer, Column, Example, Form, Line, OptionError, Question, Tagging, View, group, option,
};
use etwkit_question::{Error, Recorded};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::functions::default_tags;

use crate::Result;
use cost::{Cost, Costs, Has};
use owners::Owners;
use product::Product;

/// Default number of products that are shown.
const SHOWN: usize = 20;
/// Tags of the built-in rules that name third-party products. The other tags are parts of Windows,
/// of runtimes and of programs, whose cost is the work that was requested.
const PRODUCT_TAGS: &str = r"Antivirus\*;Agents\*";

etwkit_question::declare! {
    /// Grouping of the rows.
    #[derive(Hash)]
    pub words OverheadBy {
        "product" => Product = "All files of a product: those with one company and product name.",
        "company" => Company = "All files of a company.",
        "file" => File = "A file: a driver, an executable, a library.",
        "tag" => Tag = "A stack tag: the built-in tags of virus scanners and agents, unless --product names \
            others; with a file of rules, all of its tags.",
    }

    /// Orders of rows.
    pub words OverheadSort {
        "caused" => Caused = "Time that it costs others: CPU in them, DPCs and interrupts, waits, ready time.",
        "cpu" => Cpu = "All of its CPU: its own, that in others, DPCs and interrupts.",
        "own" => Own = "CPU of its own threads.",
        "others" => Others = "CPU in threads of others.",
        "wait" => Wait = "Waits of others.",
        "ready" => Ready = "Ready time of others.",
        "disk" => Disk = "Service time of disks.",
    }

    /// Options of `dump overhead`.
    pub request OverheadRequest {
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: OverheadBy = option("WHAT").shape(),
        /// Only products whose name, company or file matches (*, ?, several with ;, ! excludes)
        product: Option<String> = option("NAMES"),
        /// With --by tag: also tag stacks by the rules of this file (.stacktags of Windows
        /// Performance Analyzer); can be repeated
        stack_tag_file: Vec<String> = option("FILE").called("stack-tag-file").shape(),
        /// Only what ended in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Power of a processor while it computes: energy is all CPU time x this (W)
        watts: f64 = option("WATTS").shape() => 5.0,
        /// Order
        sort: OverheadSort = option("ORDER").called("sort-by").shape(),
    }

    /// The costs of a product.
    pub row OverheadRow {
        product: String = "Product, company, file or tag, as asked for; the file where nothing says its company.",
        company: Option<String> = "Company, where files say it.",
        files: String = "Files that did something, by name, separated by `; `.",
        own_cpu_ns: Option<i64> =
            "CPU samples of its own threads. Missing without CPU samples, as is `other_cpu_ns`.",
        other_cpu_ns: Option<i64> =
            "CPU samples of threads of others in whose stacks its code is the innermost of any product, without \
             those in DPCs and interrupts.",
        dpc_isr_ns: Option<i64> = "Its DPCs and interrupts, without those that interrupted them. Missing \
            where they were not recorded.",
        waits: Option<i64> =
            "Waits of threads of others in its code. Missing without context switches, as are `wait_ns`, \
             `max_wait_ns` and `ready_ns`.",
        wait_ns: Option<i64> = "Sum of these waits.",
        max_wait_ns: Option<i64> = "The longest of them.",
        ready_ns: Option<i64> = "Time in which threads of others were ready and one of its own ran instead.",
        disk_ns: Option<i64> = "Service time of disks for its threads. Missing without disk I/O.",
        disk_bytes: Option<i64> = "Bytes that its threads read and wrote on disks.",
        energy_j: Option<f64> = "Energy by the model, in joules: all of its CPU time x watts of a processor.",
        caused_ns: i64 = "Time that it costs others: CPU in them, DPCs and interrupts, waits, ready time.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type OverheadColumn = Column<OverheadRequest, OverheadRow>;

const PRODUCTS: View<OverheadRequest, OverheadRow> = View::new(
    &[
        OverheadColumn::new("Caused", "Costs others ms", FineMilliseconds, |_, row| {
            row.caused_ns.into()
        })
        .cost(),
        OverheadColumn::new(
            "OtherCpu",
            "CPU in others ms",
            FineMilliseconds,
            |_, row| row.other_cpu_ns.into(),
        )
        .cost(),
        OverheadColumn::new("Dpc", "DPC/ISR ms", FineMilliseconds, |_, row| {
            row.dpc_isr_ns.into()
        })
        .cost(),
        OverheadColumn::new("Wait", "Waits ms", FineMilliseconds, |_, row| {
            row.wait_ns.into()
        })
        .cost(),
        OverheadColumn::new("MaxWait", "Max ms", FineMilliseconds, |_, row| {
            row.max_wait_ns.into()
        })
        .worst(),
        OverheadColumn::new("Waits", "Waits", Whole, |_, row| row.waits.into()).cost(),
        OverheadColumn::new("Ready", "Ready ms", FineMilliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        OverheadColumn::new("OwnCpu", "Own CPU ms", FineMilliseconds, |_, row| {
            row.own_cpu_ns.into()
        })
        .cost(),
        OverheadColumn::new("Disk", "Disk ms", FineMilliseconds, |_, row| {
            row.disk_ns.into()
        })
        .cost(),
        OverheadColumn::new("DiskBytes", "Disk MB", Megabytes, |_, row| {
            row.disk_bytes.into()
        })
        .cost(),
        OverheadColumn::new("Energy", "Energy J", Fixed(2), |_, row| row.energy_j.into()),
        OverheadColumn::new("Product", "Product", Word, |_, row| {
            row.product.clone().into()
        }),
        OverheadColumn::new("Company", "Company", Word, |_, row| {
            row.company.clone().into()
        })
        .shown_if(|asked| !matches!(asked.by, OverheadBy::Company | OverheadBy::Tag)),
        OverheadColumn::new("Files", "Files", Word, |_, row| row.files.clone().into())
            .shown_if(|asked| asked.by != OverheadBy::File),
    ],
    |row| row.sort_value,
);

const SAMPLES: Recorded = Recorded {
    sums: "cpu_process",
    rows: "cpu_sample",
    single: "CPU samples",
    what: "CPU samples",
    how: "record with the kernel keywords PROC_THREAD+LOADER+PROFILE and -stackwalk Profile, for example \
          `wpr -start CPU`",
};

const SWITCHES: Recorded = Recorded::rows("context_switch", "context switches", SAMPLES.how);
const DPCS: Recorded = Recorded::rows("dpc_isr", "DPCs and interrupts", SAMPLES.how);
const DISK: Recorded = Recorded::rows("disk_io", "disk I/O", SAMPLES.how);

impl Question for OverheadRequest {
    const NAME: &'static str = "overhead";
    const SENTENCE: &'static str = "What products cost: virus scanners, drivers and tracing, in their own threads and in others";
    const USUAL: &'static [&'static str] = &["product", "watts"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "what products cost",
        },
        Example {
            words: "--product \"*defender*\" slow.etl",
            answer: "the cost of Defender",
        },
    ];

    fn form(&self) -> Form<Self> {
        let answer = |asked: &Self, session: &Session| asked.sum_up(session);
        Form::made::<OverheadRow>(cost::cpu_sql(self.time), answer)
            .shows(&PRODUCTS)
            .top(self.top)
    }

    fn tagging(&self) -> Tagging<'_> {
        match self.stack_tag_file.as_slice() {
            [] => Tagging::None,
            files => Tagging::Function(files),
        }
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        if self.stack_tag_file.is_empty() || self.by == OverheadBy::Tag {
            return Ok(());
        }
        let problem = "rules of stack tags make rows of --by tag only".to_owned();
        Err(OptionError::Value {
            option: "stack-tag-file",
            problem,
        })
    }
}

impl OverheadRequest {
    fn sum_up(&self, session: &Session) -> Result<Answer> {
        let has = Has {
            samples: recorded(&SAMPLES, session)?,
            switches: recorded(&SWITCHES, session)?,
            dpcs: recorded(&DPCS, session)?,
            disk: recorded(&DISK, session)?,
        };
        if !has.samples && !has.switches {
            SAMPLES.check(session, true)?;
        }
        let filter = TextFilter::parse(self.product.as_deref().unwrap_or(""));
        let mut rows = Vec::new();
        let mut notes = Vec::new();
        for owners in self.owners(session)? {
            let costs = Costs::sum(session, &owners, self.time)?;
            let products = owners.products().zip(&costs.of);
            let shown =
                products.filter(|(product, cost)| cost.is_something() && product.fits(&filter));
            rows.extend(shown.map(|(product, cost)| self.row(product, cost, has)));
            notes.extend(owners.notes());
        }
        rows.sort_by(|a, b| {
            a.sort_value
                .total_cmp(&b.sort_value)
                .then_with(|| b.product.cmp(&a.product))
        });
        Top {
            count: self.top.count.or(Some(SHOWN)),
            ..self.top
        }
        .cut(&mut rows);
        let model = format!(
            "Energy is a model: CPU time x {} W; nothing of it was measured",
            self.watts
        );
        let foot = notes.into_iter().chain((!rows.is_empty()).then_some(model));
        Ok(Answer::rows(self, &PRODUCTS, rows).with_foot(foot.map(Line::new)))
    }

    /// Returns the owners of stacks and threads; for stack tags one set of owners for each set of
    /// tags, since each set gives every stack a tag.
    fn owners(&self, session: &Session) -> Result<Vec<Owners>> {
        if self.by != OverheadBy::Tag {
            return Ok(vec![Owners::find(session, self)?]);
        }
        let all = TextFilter::parse("");
        let built_in = if self.product.is_some() {
            all.clone()
        } else {
            TextFilter::parse(PRODUCT_TAGS)
        };
        // The built-in set always counts; files add sets of their own, which may tag the same stack
        // again.
        let mut found = vec![tags::owners(session, default_tags(), &built_in)?];
        for set in session.tags().iter() {
            found.push(tags::owners(session, set, &all)?);
        }
        Ok(found)
    }

    fn row(&self, product: &Product, cost: &Cost, has: Has) -> OverheadRow {
        let known = |is_recorded: bool, value: i64| is_recorded.then_some(value);
        let others = cost.other_cpu_ns;
        let dpc = cost.dpc_isr_ns;
        let cpu = cost.own_cpu_ns.saturating_add(others).saturating_add(dpc);
        let caused = others
            .saturating_add(dpc)
            .saturating_add(cost.wait_ns)
            .saturating_add(cost.ready_ns);
        let sort = match self.sort {
            OverheadSort::Caused => caused,
            OverheadSort::Cpu => cpu,
            OverheadSort::Own => cost.own_cpu_ns,
            OverheadSort::Others => others,
            OverheadSort::Wait => cost.wait_ns,
            OverheadSort::Ready => cost.ready_ns,
            OverheadSort::Disk => cost.disk_ns,
        };
        OverheadRow {
            product: product.name.clone(),
            company: product.company.clone(),
            files: cost.files(),
            own_cpu_ns: known(has.samples, cost.own_cpu_ns),
            other_cpu_ns: known(has.samples, others),
            dpc_isr_ns: known(has.dpcs, dpc),
            waits: known(has.switches, cost.waits),
            wait_ns: known(has.switches, cost.wait_ns),
            max_wait_ns: known(has.switches, cost.max_wait_ns),
            ready_ns: known(has.switches, cost.ready_ns),
            disk_ns: known(has.disk, cost.disk_ns),
            disk_bytes: known(has.disk, cost.disk_bytes),
            energy_j: (has.samples || has.dpcs).then(|| cpu as f64 / 1e9 * self.watts),
            caused_ns: caused,
            sort_value: sort as f64,
        }
    }
}

/// Returns `true` if the extract has single rows of something.
fn recorded(what: &Recorded, session: &Session) -> Result<bool> {
    match what.check(session, true) {
        Ok(()) => Ok(true),
        Err(Error::NotRecorded { .. } | Error::NeedsRows { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
