// Written by the tests of crates/server from its types; not edited by hand.

export type Range = { 
/**
 * Where it begins.
 */
from_ns: number, 
/**
 * Where it ends.
 */
to_ns: number, };

export type Field = "process" | "process_name" | "thread" | "core" | "tag" | "file" | "module" | "method";

export type Chip = { 
/**
 * What is compared.
 */
field: Field, 
/**
 * With these values, as text.
 */
values: Array<string>, 
/**
 * Rows that have none of them are taken.
 */
exclude: boolean, };

export type Selection = { 
/**
 * The part of the trace; without it the whole.
 */
range: Range | null, 
/**
 * Conditions that all hold.
 */
chips: Array<Chip>, };

export type Source = { 
/**
 * SQL that gives the same numbers with `etwkit sql`; empty where none does.
 */
sql: string, 
/**
 * The command line that gives the same numbers; empty where none does.
 */
command: string, 
/**
 * Rows of tables or of pyramids that were read.
 */
rows_read: number, 
/**
 * Milliseconds that the answer took on the server.
 */
took_ms: number, 
/**
 * Chips that this answer could not apply, by their field.
 */
not_applied: Array<Field>, 
/**
 * What the reader has to know: what is missing in the trace, what was cut.
 */
notes: Array<string>, };

export type Failure = { 
/**
 * A word for programs: `bad_request`, `not_found`, `not_ready`, `not_recorded`, `cancelled`, `limit`,
 * `internal`.
 */
code: string, 
/**
 * What is wrong.
 */
message: string, 
/**
 * What can be done about it.
 */
hint: string | null, };

export type Info = { 
/**
 * Version of the program.
 */
version: string, 
/**
 * What is open, in the order in which it was opened; `id` is the place in this list.
 */
traces: Array<TraceInfo>, 
/**
 * Traces that were opened before, the latest first.
 */
recent: Array<Recent>, };

export type TraceInfo = { 
/**
 * What requests call it.
 */
id: number, 
/**
 * File name.
 */
name: string, 
/**
 * Where it lies, as it was named.
 */
path: string, 
/**
 * How far it is.
 */
state: State, 
/**
 * Nothing before it is ready.
 */
opening: Opening | null, };

export type Opening = { 
/**
 * Hash of its source; links name it.
 */
hash: string, 
/**
 * Its first and last moment.
 */
range: Range, 
/**
 * Wall clock at its start: units of 100 ns since 1601, as text.
 */
start_filetime: string, 
/**
 * Name of the machine.
 */
computer: string | null, 
/**
 * Version of Windows.
 */
os: string | null, 
/**
 * Number of processors.
 */
processors: number, 
/**
 * It keeps sums, not rows, so that parts of it cannot be asked.
 */
is_summary: boolean, 
/**
 * Tables that have rows.
 */
tables: Array<TableCount>, 
/**
 * What was recorded and what was not.
 */
topics: Array<TopicInfo>, 
/**
 * What the trace lacks, in sentences; empty where nothing is known to be missing.
 */
missing: Array<string>, 
/**
 * Questions of `GET api/v1/schema` that have something to answer from, by name.
 */
questions: Array<string>, };

export type TableCount = { 
/**
 * The table.
 */
name: string, 
/**
 * Its rows.
 */
rows: number, };

export type TopicInfo = { 
/**
 * Its name in `etwkit info`.
 */
name: string, 
/**
 * It was recorded.
 */
is_recorded: boolean, };

export type State = { "is": "opening", 
/**
 * What is being done, in words.
 */
step: string, 
/**
 * Share of it that is done, 0 to 1; nothing where that is not known.
 */
done: number | null, } | { "is": "ready" } | { "is": "failed", 
/**
 * Why.
 */
message: string, 
/**
 * What can be done about it.
 */
hint: string | null, };

export type Recent = { 
/**
 * File name.
 */
name: string, 
/**
 * Where it lies.
 */
path: string, };

export type OpenRequest = { 
/**
 * Path of a trace or an extract on the machine of the server.
 */
path: string, };

export type LaneKind = "core" | "process" | "thread";

export type LanesRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * What lanes stand for.
 */
kind: LaneKind, 
/**
 * Which of them; the range says by what time they are ordered.
 */
selection: Selection, 
/**
 * How many, at most.
 */
limit: number, 
/**
 * How many are left out in front of those.
 */
offset: number, };

export type LanesAnswer = { 
/**
 * In order.
 */
lanes: Array<Lane>, 
/**
 * How many there are in all.
 */
total: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type Lane = { 
/**
 * Its key, see [`LaneKind`].
 */
key: number, 
/**
 * What it is called: `CPU 3`, `cmd.exe (4711)`, `4712 (cmd.exe 4711)`.
 */
label: string, 
/**
 * More of it: command line, name of a thread, class of a core.
 */
detail: string, 
/**
 * The process it is of; that of a thread.
 */
process_key: number | null, 
/**
 * Time running within the range.
 */
running_ns: number, 
/**
 * Time ready within the range; nothing without context switches.
 */
ready_ns: number | null, 
/**
 * Time waiting within the range; nothing without context switches.
 */
waiting_ns: number | null, 
/**
 * When it began, if the trace saw it.
 */
start_ns: number | null, 
/**
 * When it ended, if the trace saw it.
 */
stop_ns: number | null, };

export type TimelineRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * What lanes stand for.
 */
kind: LaneKind, 
/**
 * Their keys.
 */
keys: Array<number>, 
/**
 * The part of the trace.
 */
range: Range, 
/**
 * How many buckets it is divided into.
 */
buckets: number, 
/**
 * Only what is of these counts; of chips those of process, thread and core.
 */
selection: Selection, };

export type TimelineHeader = { 
/**
 * The range as the buckets divide it: it begins and ends at most one bucket outside of what was asked.
 */
range: Range, 
/**
 * Buckets of each lane.
 */
buckets: number, 
/**
 * Processes by their place, for cores.
 */
palette: Array<number>, 
/**
 * Switches in the range, of these lanes: what is drawn counts each.
 */
switches: number, 
/**
 * How the answer came about. `sql` gives nanoseconds of states and switch-ins by lane and bucket.
 */
source: Source, };

export type SeriesKind = "cpu" | "disk" | "disk_busy" | "file" | "net" | "events" | "marks";

export type SeriesRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * What is measured.
 */
kind: SeriesKind, 
/**
 * The part of the trace.
 */
range: Range, 
/**
 * How many buckets it is divided into, 2,000 at most.
 */
buckets: number, 
/**
 * How many series have a name of their own, 16 at most; the others are one.
 */
top: number, 
/**
 * Only what is of these counts; `range` of it is not read.
 */
selection: Selection, };

export type Series = { 
/**
 * Key of the process or disk; nothing for the others together.
 */
key: number | null, 
/**
 * What it is called.
 */
label: string, 
/**
 * Its sum within the range, exactly.
 */
total: number, 
/**
 * One value for each bucket, in the unit of the kind.
 */
values: Array<number>, };

export type SeriesAnswer = { 
/**
 * Where the buckets begin and end.
 */
range: Range, 
/**
 * What fills a bucket: processors times its width for CPU time; nothing where there is no bound.
 */
capacity: number | null, 
/**
 * `ns`, `bytes` or `count`.
 */
unit: string, 
/**
 * The series.
 */
series: Array<Series>, 
/**
 * How the answer came about. `sql` gives the totals.
 */
source: Source, };

export type MomentRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * What the lane stands for: a core or a thread.
 */
kind: LaneKind, 
/**
 * Its key.
 */
key: number, 
/**
 * The moment.
 */
at_ns: number, 
/**
 * If nothing is at that moment, what is nearest within this many nanoseconds.
 */
within_ns: number, };

export type Moment = { 
/**
 * What it was doing; nothing if the trace does not say.
 */
slice: Slice | null, 
/**
 * How the answer came about. `sql` gives the row that says it.
 */
source: Source, };

export type Slice = { 
/**
 * `running`, `ready` or `waiting`.
 */
state: string, 
/**
 * From when to when.
 */
range: Range, 
/**
 * The thread.
 */
thread_key: number, 
/**
 * What it is called.
 */
thread: string, 
/**
 * Its process.
 */
process_key: number, 
/**
 * What that is called.
 */
process: string, 
/**
 * Processor of a thread that runs.
 */
core: number | null, 
/**
 * What it waited for.
 */
wait_reason: string | null, 
/**
 * Where it gave the processor up, leaf first.
 */
stack: Array<Frame>, 
/**
 * The thread that ended the wait.
 */
readying_thread_key: number | null, 
/**
 * What that is called.
 */
readying_thread: string | null, 
/**
 * Where that one was then, leaf first.
 */
readying_stack: Array<Frame>, 
/**
 * How long the thread was ready before it ran again.
 */
ready_ns: number | null, };

export type Weight = "cpu" | "wait" | "ready" | "disk_bytes";

export type Direction = "top_down" | "bottom_up";

export type FlameRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * Which rows.
 */
selection: Selection, 
/**
 * What is added.
 */
weight: Weight, 
/**
 * Which end is the root.
 */
direction: Direction, 
/**
 * Between the root and frames is a level of processes, where it has more than one.
 */
by_process: boolean, 
/**
 * Between the root and frames is a level of stack tags; each unfolds into its frames.
 */
by_tag: boolean, 
/**
 * Only stacks with this method, which becomes the root: callees top down, callers bottom up. Both
 * together are the butterfly.
 */
focus: string | null, 
/**
 * Frames of less than this share of all are left out, 0 to 1.
 */
least_share: number, 
/**
 * How many nodes, at most; 20,000 at most.
 */
max_nodes: number, };

export type FlameAnswer = { 
/**
 * Parents stand in front of their children; the first one is the root.
 */
nodes: Array<FlameNode>, 
/**
 * Texts of nodes: names of methods, tags and processes.
 */
names: Array<string>, 
/**
 * Weight of rows without a stack, which are in the root and in no frame.
 */
without_stack: number, 
/**
 * Weight of frames that were left out because they were small, which are in their parents.
 */
left_out: number, 
/**
 * `ns` or `bytes`.
 */
unit: string, 
/**
 * How the answer came about. `sql` gives processes, tags and the first level of frames.
 */
source: Source, };

export type FlameNode = { 
/**
 * Place of its parent; that of the root is its own.
 */
parent: number, 
/**
 * Place of its text in `names`.
 */
name: number, 
/**
 * Weight of stacks that go through it.
 */
total: number, 
/**
 * Weight of stacks that end in it.
 */
own: number, 
/**
 * How many rows go through it.
 */
count: number, 
/**
 * What it is: 0 root, 1 process, 2 tag, 3 method, 4 place in a module without symbols, 5 unknown place.
 */
kind: number, };

export type StackRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * `stack_id`, 64 at most.
 */
stacks: Array<number>, };

export type StackAnswer = { 
/**
 * Frames of each, leaf first.
 */
stacks: Array<Array<Frame>>, };

export type Frame = { 
/**
 * `module!method`, or `module+0x12` where no symbol is known.
 */
name: string, 
/**
 * Its name comes from symbols.
 */
has_symbol: boolean, };

export type Schema = { 
/**
 * All tables.
 */
tables: Array<TableInfo>, 
/**
 * All declared questions to extracts.
 */
questions: Array<QuestionInfo>, };

export type TableInfo = { 
/**
 * Its name in SQL.
 */
name: string, 
/**
 * What a row is.
 */
sentence: string, 
/**
 * Its columns; behind them such that joins add, `process` and `thread` among them.
 */
columns: Array<ColumnInfo>, 
/**
 * Its rows lie in time, so that they can be drawn over it.
 */
has_time: boolean, };

export type ColumnInfo = { 
/**
 * Its name in SQL.
 */
name: string, 
/**
 * What people read above it.
 */
title: string, 
/**
 * `ns`, `bytes`, `count`, `time` (a moment), `key`, `text`, `flag`, `hex`, `number`, `tick`, or `frames`
 * (a stack that unfolds frame by frame from the root).
 */
unit: string, 
/**
 * What it means.
 */
sentence: string, 
/**
 * Groups can be made by it.
 */
can_group: boolean, 
/**
 * Its values can be added up.
 */
can_sum: boolean, };

export type Cell = boolean | number | number | string | null;

export type Measure = { 
/**
 * `count`, `sum`, `max`, `min`, `avg`, `distinct`.
 */
function: string, 
/**
 * The column; empty for `count`.
 */
column: string, };

export type Sort = { 
/**
 * Column of rows, or place of a measure in groups (`0`); empty in groups for their values.
 */
by: string, 
/**
 * Largest first.
 */
descending: boolean, };

export type PivotRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * The table.
 */
table: string, 
/**
 * Columns from the outermost group to the one that is asked for, at most 16. One of the unit `frames`
 * stands twice where the next frame is asked for, and where stacks end: see `path`.
 */
group_by: Array<string>, 
/**
 * Values of the outer ones: one less than `group_by`. Of frames it is enough to name the innermost one;
 * named twice, it means the rows whose stacks end there.
 */
path: Array<Cell>, 
/**
 * What is computed for each.
 */
measures: Array<Measure>, 
/**
 * Which rows.
 */
selection: Selection, 
/**
 * The order of groups.
 */
sort: Sort, 
/**
 * How many groups, 1,000 at most; the others are one.
 */
limit: number, };

export type PivotAnswer = { 
/**
 * The groups.
 */
rows: Array<PivotRow>, 
/**
 * What is left out, together; nothing if that is none.
 */
others: PivotRow | null, 
/**
 * All rows of the level together.
 */
total: PivotRow, 
/**
 * How many groups there are.
 */
groups: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type PivotRow = { 
/**
 * The value that its rows have.
 */
value: Cell, 
/**
 * What people read for it: names instead of keys.
 */
label: string, 
/**
 * Its measures, in the order of the request.
 */
measures: Array<Cell>, };

export type PivotSeriesRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * The table; one whose rows lie in time.
 */
table: string, 
/**
 * Groups: a column, or `stack`.
 */
group: string, 
/**
 * What is computed for each group in each bucket.
 */
measure: Measure, 
/**
 * The part of the trace.
 */
range: Range, 
/**
 * How many buckets it is divided into, 600 at most.
 */
buckets: number, 
/**
 * How many groups have a series of their own, 12 at most; the others are one.
 */
top: number, 
/**
 * Only what is of these counts; `range` of it is not read.
 */
selection: Selection, };

export type PivotSeriesAnswer = { 
/**
 * Where the buckets begin and end: at most one bucket behind what was asked.
 */
range: Range, 
/**
 * Unit of the values, as that of a column.
 */
unit: string, 
/**
 * Values add up over time and groups: counts and sums do; means, extremes and how many are different do
 * not.
 */
adds_up: boolean, 
/**
 * The series.
 */
series: Array<PivotSeries>, 
/**
 * How many groups there are.
 */
groups: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type PivotSeries = { 
/**
 * The value that its rows have.
 */
value: Cell, 
/**
 * What people read for it.
 */
label: string, 
/**
 * It is all groups that have no series of their own.
 */
is_others: boolean, 
/**
 * The measure of all rows in the range together.
 */
total: Cell, 
/**
 * The measure in each bucket; nothing where no row is.
 */
values: Array<Cell>, };

export type DiskMapRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * Number of the disk; without it the one with most operations.
 */
disk: number | null, 
/**
 * The part of the trace.
 */
range: Range, 
/**
 * How many buckets it is divided into.
 */
columns: number, 
/**
 * How many parts the disk is divided into. Columns × rows are at most 10,000; more are refused.
 */
rows: number, 
/**
 * Only what is of these counts; `range` of it is not read.
 */
selection: Selection, };

export type DiskMapAnswer = { 
/**
 * All disks of the trace, those with most operations first; 64 at most.
 */
disks: Array<DiskOnMap>, 
/**
 * The disk that this is of.
 */
disk: number, 
/**
 * Where the columns begin and end: at most one column behind what was asked.
 */
range: Range, 
/**
 * How many columns there are.
 */
columns: number, 
/**
 * Lowest position on the disk that anything in the whole trace has, in bytes.
 */
offset_from: number, 
/**
 * Where the highest row ends.
 */
offset_to: number, 
/**
 * How many rows there are, from the lowest position.
 */
rows: number, 
/**
 * Cells that have something, in order: row × `columns` + column.
 */
cells: Array<number>, 
/**
 * How many reads each of these cells has.
 */
reads: Array<number>, 
/**
 * How many writes.
 */
writes: Array<number>, 
/**
 * Operations in the range that have no position, flushes most of all.
 */
without_offset: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type DiskOnMap = { 
/**
 * Its number.
 */
disk: number, 
/**
 * Operations in the whole trace.
 */
operations: number, };

export type DiskCellRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * Number of the disk.
 */
disk: number, 
/**
 * When they were complete.
 */
range: Range, 
/**
 * Lowest position.
 */
offset_from: number, 
/**
 * Where the positions end.
 */
offset_to: number, 
/**
 * Only what is of these counts; `range` of it is not read.
 */
selection: Selection, 
/**
 * How many files, 20 at most.
 */
limit: number, };

export type DiskCellAnswer = { 
/**
 * Reads.
 */
reads: number, 
/**
 * Writes.
 */
writes: number, 
/**
 * Bytes read.
 */
read_bytes: number, 
/**
 * Bytes written.
 */
write_bytes: number, 
/**
 * Operations that began where the one before them on the disk, whoever issued it, had ended.
 */
in_sequence: number, 
/**
 * Operations that began elsewhere.
 */
seeks: number, 
/**
 * Mean distance of these, in bytes.
 */
seek_bytes: number | null, 
/**
 * Processes and files, those with most bytes first.
 */
files: Array<DiskCellFile>, 
/**
 * How many of these there are in all.
 */
total: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type DiskCellFile = { 
/**
 * Name and id of the process, if it is known.
 */
process: string | null, 
/**
 * Path, if it is known.
 */
path: string | null, 
/**
 * Operations.
 */
operations: number, 
/**
 * Bytes.
 */
bytes: number, };

export type ModulesRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * Whose modules; without it the processes are listed.
 */
of: ModuleOwner | null, 
/**
 * Part of their paths, whatever the case; empty for all.
 */
find: string, 
/**
 * Which processes, and when their modules were there.
 */
selection: Selection, 
/**
 * How many, 1,000 at most.
 */
limit: number, };

export type ModuleOwner = { 
/**
 * A process; nothing for the kernel with its drivers.
 */
process_key: number | null, };

export type ModulesAnswer = { 
/**
 * The processes, by name; empty where one was asked for.
 */
owners: Array<ModulesOf>, 
/**
 * Its modules, by name.
 */
modules: Array<ModuleOn>, 
/**
 * How many there are in all.
 */
total: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type ModulesOf = { 
/**
 * The process; nothing for the kernel.
 */
process_key: number | null, 
/**
 * What it is called.
 */
label: string, 
/**
 * How many.
 */
modules: number, 
/**
 * Their size in memory together, in bytes.
 */
size_bytes: number, 
/**
 * How many have names from a symbol file.
 */
with_symbols: number, };

export type ModuleOn = { 
/**
 * Its number in the extract.
 */
module_id: number, 
/**
 * File name.
 */
name: string, 
/**
 * Path.
 */
path: string, 
/**
 * File version.
 */
version: string | null, 
/**
 * Company.
 */
company: string | null, 
/**
 * Size in memory, in bytes.
 */
size_bytes: number, 
/**
 * Load; nothing if it was there before the trace began.
 */
load_ns: number | null, 
/**
 * Unload; nothing if it was there when the trace ended.
 */
unload_ns: number | null, 
/**
 * The trace says which symbol file it has.
 */
has_identity: boolean, 
/**
 * Names that were read out of this file; nothing where it was not read as a whole.
 */
functions: number | null, };

export type RowsRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * The table.
 */
table: string, 
/**
 * Columns, in order; empty for all.
 */
columns: Array<string>, 
/**
 * Which rows.
 */
selection: Selection, 
/**
 * Their order; without it that of the table.
 */
sort: Sort | null, 
/**
 * How many are left out in front.
 */
offset: number, 
/**
 * How many, 1,000 at most.
 */
limit: number, };

export type RowsAnswer = { 
/**
 * The columns.
 */
columns: Array<ColumnInfo>, 
/**
 * The rows.
 */
rows: Array<Array<Cell>>, 
/**
 * How many there are in all.
 */
total: number, 
/**
 * How the answer came about.
 */
source: Source, };

export type SearchRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * What is looked for, anywhere in names and whatever the case.
 */
text: string, 
/**
 * How many hits of each kind, at most 50.
 */
limit: number, };

export type SearchAnswer = { 
/**
 * Kind by kind, the best first.
 */
hits: Array<Hit>, 
/**
 * How the answer came about.
 */
source: Source, };

export type Hit = { 
/**
 * `process`, `thread`, `module`, `method`, `file`, `tag`, `mark`, `event` or `service`.
 */
kind: string, 
/**
 * What it is called.
 */
label: string, 
/**
 * More of it.
 */
detail: string, 
/**
 * The chip that selects it.
 */
chip: Chip | null, 
/**
 * When it is or begins.
 */
at_ns: number | null, };

export type QuestionInfo = { 
/**
 * As it is called behind `dump`.
 */
name: string, 
/**
 * What it answers, in one sentence.
 */
sentence: string, 
/**
 * Its options.
 */
options: Array<OptionInfo>, };

export type OptionInfo = { 
/**
 * As it is called in requests.
 */
name: string, 
/**
 * `flag`, `text`, `words`, `several`, `range`, `whole`, `number`, `files` or `two`.
 */
kind: string, 
/**
 * What it does.
 */
sentence: string, 
/**
 * Words that it takes, if only these.
 */
words: Array<string>, 
/**
 * Its default, as text.
 */
default: string | null, };

export type AskRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * The question.
 */
question: string, 
/**
 * Values of its options, as the library of questions reads them.
 */
options: Record<string, unknown>, };

export type SqlRequest = { 
/**
 * The trace.
 */
trace: number, 
/**
 * The statement.
 */
sql: string, 
/**
 * How many rows, 10,000 at most.
 */
limit: number, };

export type Answer = { 
/**
 * The tables, in order.
 */
tables: Array<AnswerTable>, 
/**
 * Sentences behind them: sums, and what the reader should know.
 */
lines: Array<string>, 
/**
 * How the answer came about.
 */
source: Source, };

export type AnswerTable = { 
/**
 * Its name in a report; empty for the only one.
 */
name: string, 
/**
 * Its columns.
 */
columns: Array<AnswerColumn>, 
/**
 * Its rows: what is shown in each column.
 */
rows: Array<Array<Cell>>, 
/**
 * There were more rows than the limit.
 */
is_cut: boolean, };

export type AnswerColumn = { 
/**
 * Its name in JSON or SQL.
 */
name: string, 
/**
 * What people read above it.
 */
title: string, 
/**
 * As in a column of a table: `ns`, `bytes`, `count`, `time`, `text`, `flag`, `number`.
 */
unit: string, 
/**
 * What it means.
 */
sentence: string, };

export type FindingsRequest = { 
/**
 * The trace.
 */
trace: number, };

export type FindingsAnswer = { 
/**
 * What was found, the costliest first, notes behind.
 */
findings: Array<Finding>, 
/**
 * All rules, and what came of each.
 */
rules: Array<RuleState>, 
/**
 * How the answer came about.
 */
source: Source, };

export type Finding = { 
/**
 * Its place in the order of cost, from 1.
 */
number: number, 
/**
 * The rule that found it.
 */
rule: string, 
/**
 * What was found, as a sentence.
 */
sentence: string, 
/**
 * What is to blame: a driver, process, server, file or setting.
 */
culprit: string, 
/**
 * Time in which at least one victim could not go on because of it; null for what is only to be known.
 */
cost_ns: number | null, 
/**
 * Share of the recording that this is, 0 to 1.
 */
share: number | null, 
/**
 * The process that it cost most, with its id; null where it is none.
 */
victim: string | null, 
/**
 * Key of this process.
 */
process_key: number | null, 
/**
 * All processes that it cost something, the first ones with how much.
 */
victims: string, 
/**
 * How often.
 */
count: number | null, 
/**
 * From the first piece to the last one.
 */
range: Range | null, 
/**
 * Begin of the longest piece.
 */
at_ns: number | null, 
/**
 * How long it is.
 */
longest_ns: number | null, 
/**
 * Thread of the longest piece.
 */
thread_key: number | null, 
/**
 * Frames of its stack, innermost first.
 */
stack: Array<string>, 
/**
 * Who waited for whom in it, the victim first.
 */
chain: Array<string>, 
/**
 * `high`, `medium` or `low`, and why it is not high.
 */
confidence: string, 
/**
 * Command lines that show the rows behind it.
 */
evidence: Array<Evidence>, 
/**
 * Why it is so.
 */
why: string, 
/**
 * What to do about it.
 */
fix: string, 
/**
 * What does not follow from it.
 */
not_proved: string, };

export type Evidence = { 
/**
 * The whole line, quoted for a shell.
 */
command: string, 
/**
 * Its words, without the program and the trace.
 */
words: Array<string>, 
/**
 * Keys of the processes with the id that it names, if it names one.
 */
processes: Array<number>, };

export type RuleState = { 
/**
 * Its name.
 */
rule: string, 
/**
 * What it finds.
 */
title: string, 
/**
 * `found`, `nothing`, `not checked` or `failed`.
 */
state: string, 
/**
 * What it needs and was not recorded, or why it failed.
 */
missing: string | null, };

export const WAITS = ["unknown", "sync", "io", "sleep", "paging", "ui", "suspended"] as const;
