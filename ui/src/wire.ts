// Written by the tests of crates/server from its types; not edited by hand.

export type Range = {
/** Its start. */
from_ns: number,
/** Its end. */
to_ns: number, };

export type Field = "process" | "process_name" | "thread" | "core" | "tag" | "file" | "module" | "method";

export type Chip = {
/** The compared field. */
field: Field,
/** With these values, as text. */
values: Array<string>,
/** Rows that have none of them are taken. */
exclude: boolean, };

export type Selection = {
/** The part of the trace; without it the whole. */
range: Range | null,
/** Conditions that all hold. */
chips: Array<Chip>, };

export type Source = {
/** SQL that gives the same numbers with `etwkit sql`; empty where none does. */
sql: string,
/** The command line that gives the same numbers; empty where none does. */
command: string,
/** Rows of tables or of pyramids that were read. */
rows_read: number,
/** Milliseconds that the answer took on the server. */
took_ms: number,
/** Chips that this answer could not apply, by their field. */
not_applied: Array<Field>,
/** Notes for the reader: missing parts of the trace, cut answers. */
notes: Array<string>, };

export type Failure = {
/**
 * A word for programs: `bad_request`, `not_found`, `not_ready`, `not_recorded`, `cancelled`,
 * `limit`, `replaced`, `conflict`, `recorder`, `internal`.
 */
code: string,
/** The error. */
message: string,
/** Advice for correcting it. */
hint: string | null, };

export type Info = {
/** Version of the program. */
version: string,
/** Open traces, in the order in which they were opened; `id` is the place in this list. */
traces: Array<TraceInfo>,
/** Traces that were opened before, the latest first. */
recent: Array<Recent>,
/** Folders that are open, the latest first. */
folders: Array<string>, };

export type TraceInfo = {
/** Its number in requests. */
id: number,
/** File name. */
name: string,
/** Its path, as it was named. */
path: string,
/** The path as a word of a command line, for any shell. */
word: string,
/** Progress of opening it. */
state: State,
/** Nothing before it is ready. */
opening: Opening | null,
/**
 * Number of times that its extract was replaced while it was open: what is known of it with
 * another number may have changed.
 */
replaced: number, };

export type Opening = {
/** Hash of its source; links name it. */
hash: string,
/** Its first and last moment. */
range: Range,
/** Wall clock at its start: units of 100 ns since 1601, as text. */
start_filetime: string,
/** Name of the machine. */
computer: string | null,
/** Version of Windows. */
os: string | null,
/** Number of processors. */
processors: number,
/** It keeps sums, not rows, so that parts of it cannot be asked. */
is_summary: boolean,
/** Tables that have rows. */
tables: Array<TableCount>,
/** Topics, and for each whether it was recorded. */
topics: Array<TopicInfo>,
/** Parts that are missing from the trace, in sentences; empty if none is known. */
missing: Array<string>,
/** Questions of `GET api/v1/schema` that have something to answer from, by name. */
questions: Array<string>,
/** Tables and questions without rows although their events were recorded, by name. */
did_not_happen: Array<string>, };

export type TableCount = {
/** The table. */
name: string,
/** Its rows. */
rows: number, };

export type TopicInfo = {
/** Its name in `etwkit info`. */
name: string,
/** It was recorded. */
is_recorded: boolean, };

export type State = { "is": "opening",
/** The current step, in words. */
step: string,
/** Share of it that is done, 0 to 1; nothing where that is not known. */
done: number | null, } | { "is": "ready" } | { "is": "failed",
/** The error. */
message: string,
/** Advice for correcting it. */
hint: string | null, };

export type Recent = {
/** File name. */
name: string,
/** Its path. */
path: string, };

export type FolderRequest = {
/** Its path, as [`Info`] has it. */
path: string, };

export type FolderAnswer = {
/** Name of the folder. */
name: string,
/** Its absolute path. */
place: string,
/** Folder that contains it; nothing if that one is not open. */
above: string | null,
/** Its recordings. */
recordings: Array<FolderRecording>,
/** Number of recordings beyond the longest list. */
left_out: number,
/** The folders in it. */
folders: Array<FolderIn>, };

export type FolderIn = {
/** Its name. */
name: string,
/** Its path. */
path: string, };

export type FolderRecording = {
/** File name. */
name: string,
/** Path that opens it. */
path: string,
/** Its size. */
bytes: number,
/** Wall clock at its start, if its head was read: units of 100 ns since 1601, as text. */
start_filetime: string | null,
/** Name of the machine, which only extracts have in their head. */
computer: string | null,
/** An extract of it exists. Nothing where its head was not read. */
is_extracted: boolean | null,
/** Missing or damaged parts; nothing if none is known. */
gaps: string | null,
/** The reason why it cannot be read. */
failure: string | null, };

export type OpenRequest = {
/** Path of a trace, an extract or a folder on the machine of the server. */
path: string, };

export type RecordAnswer = {
/** This machine can be recorded. */
is_possible: boolean,
/** Profiles to choose from. */
profiles: Array<RecordProfile>,
/** Folder that recordings are written to. */
folder: string,
/** The current step. */
step: RecordStep,
/** Names of the profiles that are being recorded. */
recorded: Array<string>,
/** Seconds since the start of the recording. */
seconds: number,
/** Marks that the page has set in the recording. */
marks: number,
/** Counts of events that the recorder reports; empty if it reports none. */
counts: Array<RecordCount>,
/** Warnings about the recording, or about the last one. */
warnings: Array<string>,
/** Path of the last recording, which is opened as soon as it is written. */
written: string | null,
/** The error of the last step. */
failure: Failure | null, };

export type RecordStep = "idle" | "starting" | "recording" | "stopping" | "cancelling";

export type RecordProfile = {
/** Its name, for requests. */
name: string,
/** What it records, in one sentence. */
sentence: string,
/** Questions that its recordings answer, by name. */
questions: Array<string>,
/** It needs counters of the processor, which virtual machines do not have. */
needs_counters: boolean, };

export type RecordCount = {
/** Its name, in the words of the recorder. */
name: string,
/** The sum over all collectors. */
value: number, };

export type RecordRequest = {
/** Names of profiles. */
profiles: Array<string>,
/** All events are kept, in a file; otherwise the last ones, in memory. */
to_file: boolean, };

export type MarkRequest = {
/** One line of at most 200 characters. */
text: string, };

export type SymbolsAnswer = {
/** The current step. */
step: SymbolsStep,
/** The trace of the search; nothing before the first one. */
trace: number | null,
/** Files that are looked for; after the search the modules, those with most addresses first. */
modules: Array<SymbolsModule>,
/** Number of modules that are not in the list. */
left_out: number,
/** Native addresses in stacks; nothing before the end of the search. */
addresses: number | null,
/** Number of these that have names. */
named: number,
/** The extract has other names now: its trace was opened again. */
is_changed: boolean,
/** Notes on the search path and on the extract. */
notes: Array<string>,
/** The error of the search. */
failure: Failure | null, };

export type SymbolsStep = "idle" | "searching" | "cancelling" | "writing";

export type SymbolsModule = {
/** Name of the module or file. */
name: string,
/** The outcome so far. */
state: SymbolsState,
/** Progress, the source of the symbols, or the reasons why there are none. */
detail: string | null, };

export type SymbolsState = "searching" | "found" | "not_found" | "failed";

export type SymbolsRequest = {
/** The trace. */
trace: number,
/**
 * Places as in `--symbols`: folders, `srv*CACHE*URL`, `MS`, several with `;`. At most 8,191
 * bytes.
 */
path: string, };

export type TagsAnswer = {
/** Name of the file that replaces the built-in rules, if one does. */
file: string | null,
/** The page's own rules as a stack tag file; empty without any. */
own: string,
/** Version of these rules: changes with their text. */
own_version: string,
/** Names of tags in the order of their rules, at most 2,000. */
tags: Array<string>,
/** Parts of the files that have no effect, with line and column. */
notes: Array<string>, };

export type OwnTagsRequest = {
/** A stack tag file; an empty text removes the rules. */
text: string,
/**
 * Version of the rules that the edit started from. If they have another one by now, nothing
 * changes.
 */
base: string, };

export type TagText = {
/** Its text. */
text: string,
/** Parts that were lost or guessed. */
notes: Array<string>, };

export type LaneKind = "core" | "process" | "thread";

export type LanesRequest = {
/** The trace. */
trace: number,
/** Kind of lanes. */
kind: LaneKind,
/** Selects the lanes; they are ordered by their time in its range. */
selection: Selection,
/** Largest number of lanes. */
limit: number,
/** Number of lanes to skip before these. */
offset: number, };

export type LanesAnswer = {
/** In order. */
lanes: Array<Lane>,
/** Number of all lanes. */
total: number,
/** Origin of the answer. */
source: Source, };

export type Lane = {
/** Its key, see [`LaneKind`]. */
key: number,
/** Its label: `CPU 3`, `cmd.exe (4711)`, `cmd.exe (4711) thread 4712`. */
label: string,
/** More of it: command line, name of a thread, class of a core. */
detail: string,
/** The process it is of; that of a thread. */
process_key: number | null,
/** Time running within the range. */
running_ns: number,
/** Ready time within the range; nothing without context switches. */
ready_ns: number | null,
/** Time waiting within the range; nothing without context switches. */
waiting_ns: number | null,
/** Its start, if it is in the trace. */
start_ns: number | null,
/** Its end, if it is in the trace. */
stop_ns: number | null, };

export type TimelineRequest = {
/** The trace. */
trace: number,
/** Kind of lanes. */
kind: LaneKind,
/** Their keys. */
keys: Array<number>,
/** The part of the trace. */
range: Range,
/** Number of buckets that it is divided into. */
buckets: number,
/** Only what is of these counts; of chips those of process, thread and core. */
selection: Selection, };

export type TimelineHeader = {
/**
 * The range as the buckets divide it: it begins and ends at most one bucket outside of what
 * was asked.
 */
range: Range,
/** Buckets of each lane. */
buckets: number,
/** Processes by their place, for cores. */
palette: Array<number>,
/** Switches in the range, of these lanes: what is drawn counts each. */
switches: number,
/** Origin of the answer. `sql` gives nanoseconds of states and switch-ins by lane and bucket. */
source: Source, };

export type SeriesKind = "cpu" | "disk" | "disk_busy" | "file" | "net" | "events" | "marks";

export type SeriesRequest = {
/** The trace. */
trace: number,
/** Quantity to measure. */
kind: SeriesKind,
/** The part of the trace. */
range: Range,
/** Number of buckets that it is divided into, at most 2,000. */
buckets: number,
/** Number of series with a name of their own, at most 16; the others are one. */
top: number,
/** Only what is of these counts; `range` of it is not read. */
selection: Selection, };

export type Series = {
/** Key of the process or disk; nothing for the others together. */
key: number | null,
/** Its label. */
label: string,
/** Its sum within the range, exactly. */
total: number,
/** One value for each bucket, in the unit of the kind. */
values: Array<number>, };

export type SeriesAnswer = {
/** Range of the buckets. */
range: Range,
/**
 * Capacity of a bucket: for CPU time, the number of processors times its width; nothing if
 * there is no bound.
 */
capacity: number | null,
/** `ns`, `bytes` or `count`. */
unit: string,
/** The series. */
series: Array<Series>,
/** Origin of the answer. `sql` gives the totals. */
source: Source, };

export type MomentRequest = {
/** The trace. */
trace: number,
/** Kind of the lane: a core or a thread. */
kind: LaneKind,
/** Its key. */
key: number,
/** The moment. */
at_ns: number,
/** If nothing is at that moment, what is nearest within this many nanoseconds. */
within_ns: number, };

export type Moment = {
/** The state at that moment; nothing if the trace does not contain it. */
slice: Slice | null,
/** Origin of the answer. `sql` gives the row. */
source: Source, };

export type Slice = {
/** `running`, `ready` or `waiting`. */
state: string,
/** From when to when. */
range: Range,
/** The thread. */
thread_key: number,
/** Its label. */
thread: string,
/** Its process. */
process_key: number,
/** Label of the process. */
process: string,
/** Processor of a thread that runs. */
core: number | null,
/** Wait reason. */
wait_reason: string | null,
/** Stack at the switch-out, leaf first. */
stack: Array<Frame>,
/** The thread that ended the wait. */
readying_thread_key: number | null,
/** Label of that thread. */
readying_thread: string | null,
/** Stack of that thread at that time, leaf first. */
readying_stack: Array<Frame>,
/** Time that the thread was ready before it ran again. */
ready_ns: number | null, };

export type Weight = "cpu" | "wait" | "ready" | "disk_bytes";

export type Direction = "top_down" | "bottom_up";

export type FlameRequest = {
/** The trace. */
trace: number,
/** Selects rows. */
selection: Selection,
/** Quantity to add up. */
weight: Weight,
/** End of the stacks that becomes the root. */
direction: Direction,
/** Between the root and frames is a level of processes, where it has more than one. */
by_process: boolean,
/** Between the root and frames is a level of stack tags; each unfolds into its frames. */
by_tag: boolean,
/**
 * Only stacks with this method, which becomes the root: callees top down, callers bottom up.
 * Both together are the butterfly.
 */
focus: string | null,
/**
 * Names from below the root to one node: the answer has only rows that go through it, so that
 * it unfolds what an earlier answer left out there. Sums of the nodes above count these rows.
 */
below: Array<string>,
/** Frames of less than this share of all are left out, 0 to 1. */
least_share: number,
/** Largest number of nodes, at most 20,000. */
max_nodes: number, };

export type FlameAnswer = {
/** Parents stand in front of their children; the first one is the root. */
nodes: Array<FlameNode>,
/** Texts of nodes: names of methods, tags and processes. */
names: Array<string>,
/** Weight of rows without a stack, which are in the root and in no frame. */
without_stack: number,
/** Weight of frames that were left out because they were small, which are in their parents. */
left_out: number,
/** `ns` or `bytes`. */
unit: string,
/** Origin of the answer. `sql` gives processes, tags and the first level of frames. */
source: Source, };

export type FlameNode = {
/** Place of its parent; that of the root is its own. */
parent: number,
/** Place of its text in `names`. */
name: number,
/** Weight of stacks that go through it. */
total: number,
/** Weight of stacks that end in it. */
own: number,
/** Number of rows that go through it. */
count: number,
/**
 * Its kind: 0 root, 1 process, 2 tag, 3 method, 4 place in a module without symbols, 5 unknown
 * place.
 */
kind: number, };

export type FlameChartRequest = {
/** The trace. */
trace: number,
/** Key of the thread. */
thread: number,
/** The part of the trace. */
range: Range,
/** Pixels of the picture: boxes that are narrower can be one with their neighbors. */
columns: number,
/**
 * Largest number of boxes, 1,000 to 10,000. Where there would be more, longer boxes are one
 * with their neighbors, too.
 */
max_boxes: number, };

export type FlameChartAnswer = {
/** Label of the thread. */
thread: string,
/** The requested range. */
range: Range,
/**
 * Number of boxes of each level, outermost frames first. The columns below have the boxes of
 * the first level, then those of the second one, and so on.
 */
levels: Array<number>,
/** Start of each box. */
from_ns: Array<number>,
/** End of each box; that of one sample is its start. */
to_ns: Array<number>,
/** Place of its text in `texts`. */
names: Array<number>,
/** Number of samples in it. */
samples: Array<number>,
/** Number of waits in it. */
waits: Array<number>,
/** Number of boxes that are one in it; 1 for a box by itself. */
pieces: Array<number>,
/** Names of methods, states with their reasons, and one name for different frames together. */
texts: Array<string>,
/**
 * Kind of each text: 3 to 5 frames as in a flame graph, 6 waiting, 7 ready, 8 different frames
 * that are one box.
 */
kinds: Array<number>,
/** Boxes shorter than this, and as close to each other, are one. */
grain_ns: number,
/** Samples in the range. */
all_samples: number,
/** Waits and ready times in the range. */
all_switches: number,
/** Number of boxes below the deepest level of an answer, which are left out. */
left_out: number,
/** Origin of the answer. `sql` gives the samples and switches that it is made of. */
source: Source, };

export type StackRequest = {
/** The trace. */
trace: number,
/** `stack_id`, 64 at most. */
stacks: Array<number>, };

export type StackAnswer = {
/** Frames of each, leaf first. */
stacks: Array<Array<Frame>>, };

export type Frame = {
/** `module!method`, or `module+0x12` where no symbol is known. */
name: string,
/** Its name comes from symbols. */
has_symbol: boolean, };

export type Schema = {
/** All tables. */
tables: Array<TableInfo>,
/** All declared questions to extracts. */
questions: Array<QuestionInfo>, };

export type TableInfo = {
/** Its name in SQL. */
name: string,
/** The meaning of a row. */
sentence: string,
/** Its columns; behind them such that joins add, `process` and `thread` among them. */
columns: Array<ColumnInfo>,
/** Its rows lie in time, so that they can be drawn over it. */
has_time: boolean, };

export type ColumnInfo = {
/** Its name in SQL. */
name: string,
/** Its title for people. */
title: string,
/**
 * `ns`, `bytes`, `count`, `time` (a moment), `key`, `text`, `flag`, `hex`, `number`, `tick`,
 * or `frames` (a stack that unfolds frame by frame from the root).
 */
unit: string,
/** Its meaning. */
sentence: string,
/** Groups can be made by it. */
can_group: boolean,
/** Its values can be added up. */
can_sum: boolean, };

export type Cell = boolean | number | number | string | null;

export type Measure = {
/** `count`, `sum`, `max`, `min`, `avg`, `distinct`. */
function: string,
/** The column; empty for `count`. */
column: string, };

export type Sort = {
/** Column of rows, or place of a measure in groups (`0`); empty in groups for their values. */
by: string,
/** Largest first. */
descending: boolean, };

export type ColumnFilter = {
/** The column. */
column: string,
/** With these values; a missing one is `null`. */
values: Array<Cell>,
/** Rows that have none of them are taken. */
exclude: boolean, };

export type PivotRequest = {
/** The trace. */
trace: number,
/** The table. */
table: string,
/**
 * Columns from the outermost group to the one that is asked for, at most 16. One of the unit
 * `frames` stands twice where the next frame is asked for, and where stacks end: see `path`.
 */
group_by: Array<string>,
/**
 * Values of the outer ones: one less than `group_by`. Of frames it is enough to name the
 * innermost one; named twice, it means the rows whose stacks end there.
 */
path: Array<Cell>,
/** Measures of each group. */
measures: Array<Measure>,
/** Selects rows. */
selection: Selection,
/** Conditions on columns that all hold. */
filters: Array<ColumnFilter>,
/** The order of groups. */
sort: Sort,
/** Largest number of groups, at most 1,000; the others are one. */
limit: number, };

export type PivotAnswer = {
/** The groups. */
rows: Array<PivotRow>,
/** The omitted groups, as one; nothing if there are none. */
others: PivotRow | null,
/** All rows of the level together. */
total: PivotRow,
/** Number of groups. */
groups: number,
/** Origin of the answer. */
source: Source, };

export type PivotRow = {
/** The value that its rows have. */
value: Cell,
/** Its label for people: names instead of keys. */
label: string,
/** Its measures, in the order of the request. */
measures: Array<Cell>, };

export type PivotSeriesRequest = {
/** The trace. */
trace: number,
/** The table; one whose rows lie in time. */
table: string,
/** Groups: a column, or `stack`. */
group: string,
/** Measure of each group in each bucket. */
measure: Measure,
/** The part of the trace. */
range: Range,
/** Number of buckets that it is divided into, at most 600. */
buckets: number,
/** Number of groups with a series of their own, at most 12; the others are one. */
top: number,
/** Only what is of these counts; `range` of it is not read. */
selection: Selection,
/** Conditions on columns that all hold. */
filters: Array<ColumnFilter>, };

export type PivotSeriesAnswer = {
/** Range of the buckets: it ends at most one bucket after the requested range. */
range: Range,
/** Unit of the values, as that of a column. */
unit: string,
/**
 * Values add up over time and groups: counts and sums do; means, extremes and how many are
 * different do not.
 */
adds_up: boolean,
/** The series. */
series: Array<PivotSeries>,
/** Number of groups. */
groups: number,
/** Origin of the answer. */
source: Source, };

export type PivotSeries = {
/** The value that its rows have. */
value: Cell,
/** Its label for people. */
label: string,
/** It is all groups that have no series of their own. */
is_others: boolean,
/** The measure of all rows in the range together. */
total: Cell,
/** The measure in each bucket; nothing where no row is. */
values: Array<Cell>, };

export type DiskMapRequest = {
/** The trace. */
trace: number,
/** Number of the disk; without it the one with most operations. */
disk: number | null,
/** The part of the trace. */
range: Range,
/** Number of buckets that it is divided into. */
columns: number,
/**
 * Number of parts that the disk is divided into. Columns × rows are at most 10,000; more are
 * refused.
 */
rows: number,
/** Only what is of these counts; `range` of it is not read. */
selection: Selection, };

export type DiskMapAnswer = {
/** All disks of the trace, those with most operations first; 64 at most. */
disks: Array<DiskOnMap>,
/** The disk that this is of. */
disk: number,
/** Range of the columns: it ends at most one column after the requested range. */
range: Range,
/** Number of columns. */
columns: number,
/** Lowest position on the disk that anything in the whole trace has, in bytes. */
offset_from: number,
/** End of the highest row, in bytes. */
offset_to: number,
/** Number of rows, from the lowest position. */
rows: number,
/** Cells that have something, in order: row × `columns` + column. */
cells: Array<number>,
/** Number of reads in each of these cells. */
reads: Array<number>,
/** Number of writes in each of these cells. */
writes: Array<number>,
/** Operations in the range that have no position, flushes most of all. */
without_offset: number,
/** Origin of the answer. */
source: Source, };

export type DiskOnMap = {
/** Its number. */
disk: number,
/** Operations in the whole trace. */
operations: number, };

export type DiskCellRequest = {
/** The trace. */
trace: number,
/** Number of the disk. */
disk: number,
/** Range of their completion times. */
range: Range,
/** Lowest position. */
offset_from: number,
/** End of the positions. */
offset_to: number,
/** Only what is of these counts; `range` of it is not read. */
selection: Selection,
/** Largest number of files, at most 20. */
limit: number, };

export type DiskCellAnswer = {
/** Reads. */
reads: number,
/** Writes. */
writes: number,
/** Bytes read. */
read_bytes: number,
/** Bytes written. */
write_bytes: number,
/** Operations that began where the one before them on the disk, whoever issued it, had ended. */
in_sequence: number,
/** Operations that began elsewhere. */
seeks: number,
/** Mean distance of these, in bytes. */
seek_bytes: number | null,
/** Processes and files, those with most bytes first. */
files: Array<DiskCellFile>,
/** Number of all pairs of process and file. */
total: number,
/** Origin of the answer. */
source: Source, };

export type DiskCellFile = {
/** Name and id of the process, if it is known. */
process: string | null,
/** Path, if it is known. */
path: string | null,
/** Operations. */
operations: number,
/** Bytes. */
bytes: number, };

export type ModulesRequest = {
/** The trace. */
trace: number,
/** Owner of the modules; without it the processes are listed. */
of: ModuleOwner | null,
/** Part of their paths, whatever the case; empty for all. */
find: string,
/** Selects processes, and the time in which their modules were loaded. */
selection: Selection,
/** Largest number of entries, at most 1,000. */
limit: number, };

export type ModuleOwner = {
/** A process; nothing for the kernel with its drivers. */
process_key: number | null, };

export type ModulesAnswer = {
/** The processes, by name; empty where one was asked for. */
owners: Array<ModulesOf>,
/** Its modules, by name. */
modules: Array<ModuleOn>,
/** Number of all entries. */
total: number,
/** Origin of the answer. */
source: Source, };

export type ModulesOf = {
/** The process; nothing for the kernel. */
process_key: number | null,
/** Its label. */
label: string,
/** Number of modules. */
modules: number,
/** Their size in memory together, in bytes. */
size_bytes: number,
/** Number of modules with names from a symbol file. */
with_symbols: number, };

export type ModuleOn = {
/** Its number in the extract. */
module_id: number,
/** File name. */
name: string,
/** Path. */
path: string,
/** File version. */
version: string | null,
/** Company. */
company: string | null,
/** Size in memory, in bytes. */
size_bytes: number,
/** Load; nothing if it was there before the trace began. */
load_ns: number | null,
/** Unload; nothing if it was there when the trace ended. */
unload_ns: number | null,
/** The trace says which symbol file it has. */
has_identity: boolean,
/** Names that were read out of this file; nothing where it was not read as a whole. */
functions: number | null, };

export type RowsRequest = {
/** The trace. */
trace: number,
/** The table. */
table: string,
/** Columns, in order; empty for all. */
columns: Array<string>,
/** Selects rows. */
selection: Selection,
/** Conditions on columns that all hold. */
filters: Array<ColumnFilter>,
/** Their order; without it that of the table. */
sort: Sort | null,
/** Number of rows to skip. */
offset: number,
/** Largest number of rows, at most 1,000. */
limit: number, };

export type RowsAnswer = {
/** The columns. */
columns: Array<ColumnInfo>,
/** The rows. */
rows: Array<Array<Cell>>,
/** Number of all rows. */
total: number,
/** Origin of the answer. */
source: Source, };

export type SearchRequest = {
/** The trace. */
trace: number,
/** Search text, matched anywhere in names and regardless of case. */
text: string,
/** Largest number of hits of each kind, at most 50. */
limit: number, };

export type SearchAnswer = {
/** Kind by kind, the best first. */
hits: Array<Hit>,
/** Origin of the answer. */
source: Source, };

export type Hit = {
/** `process`, `thread`, `module`, `method`, `file`, `tag`, `mark`, `event` or `service`. */
kind: string,
/** Its label. */
label: string,
/** More of it. */
detail: string,
/** The chip that selects it. */
chip: Chip | null,
/** Its time or its start. */
at_ns: number | null, };

export type QuestionInfo = {
/** As it is called behind `dump`. */
name: string,
/** Its answer, described in one sentence. */
sentence: string,
/** Its options. */
options: Array<OptionInfo>, };

export type OptionInfo = {
/** As it is called in requests. */
name: string,
/** `flag`, `text`, `words`, `several`, `range`, `whole`, `number`, `files` or `two`. */
kind: string,
/** Its effect. */
sentence: string,
/** Words that it takes, if only these. */
words: Array<string>,
/** Its default, as text. */
default: string | null, };

export type AskRequest = {
/** The trace. */
trace: number,
/** The question. */
question: string,
/** Values of its options, as the library of questions reads them. */
options: Record<string, unknown>, };

export type SqlRequest = {
/** The trace. */
trace: number,
/** The statement. */
sql: string,
/** Largest number of rows, at most 10,000. */
limit: number, };

export type Answer = {
/** The tables, in order. */
tables: Array<AnswerTable>,
/** Sentences behind them: sums, and what the reader should know. */
lines: Array<string>,
/** Origin of the answer. */
source: Source, };

export type AnswerTable = {
/** Its name in a report; empty for the only one. */
name: string,
/** Its heading in a report; may be empty. */
title: string,
/** Its columns. */
columns: Array<AnswerColumn>,
/** Its rows: what is shown in each column. */
rows: Array<Array<Cell>>,
/** There were more rows than the limit. */
is_cut: boolean,
/** Lines below each row, such as the frames of its stack; empty if no row has any. */
below: Array<Array<string>>,
/** The line in place of the rows of a table without any; may be empty. */
instead: string, };

export type AnswerColumn = {
/** Its name in JSON or SQL. */
name: string,
/** Its title for people. */
title: string,
/** As in a column of a table: `ns`, `bytes`, `count`, `time`, `text`, `flag`, `number`. */
unit: string,
/** Its meaning. */
sentence: string, };

export type ExplainRequest = {
/** The traces. Two traces with one extract are one run. */
traces: Array<number>,
/** Values of the options of the question `explain`. */
options: Record<string, unknown>, };

export type ExplainAnswer = {
/** The answer in one sentence. */
sentence: string,
/** Further facts about the runs. */
lines: Array<string>,
/** Name of the metric. */
metric: string,
/** The runs. */
runs: Array<ExplainRun>,
/** The causes, the one with the largest effect first. */
causes: Array<ExplainCause>,
/** Runs with the same labels; empty if runs are not grouped. */
groups: Array<ExplainGroup>,
/** Origin of the answer. */
source: Source, };

export type ExplainRun = {
/** Its trace. */
trace: number,
/** The metric (ms), if the run has one. */
metric_ms: number | null,
/** `slow` or `fast`, if the run is in one of the halves. */
half: string | null,
/** `ok`, `outlier`, `not comparable`, both, or `no metric`. */
state: string,
/** Differences from the other runs. */
not_comparable: string | null, };

export type ExplainCause = {
/** Its name. */
name: string,
/** The measured quantity: `wait`, `CPU`, `bytes` and so on. */
measure: string,
/** Unit of its values: `ms`, `bytes`, `0 or 1`, or empty. */
unit: string,
/** The part of the difference between slow and fast runs that it accounts for (ms). */
effect_ms: number,
/** The effect as a share of the difference, 0 to 1. */
share: number,
/** Its mean in slow runs. */
slow: number,
/** Its mean in fast runs. */
fast: number,
/** Milliseconds of a run for each unit. */
ms_per_unit: number,
/** Metric of a run without it (ms), by the line with this slope. */
base_ms: number,
/** Share of false discoveries; nothing if the runs are too few. */
p_value: number | null,
/** `p_value` is of all causes with this mark together. */
is_p_of_all: boolean,
/** Other names for it. */
moves_with: Array<string>,
/** Number of further names. */
more: number,
/** The runs with a metric, each with its value. */
points: Array<ExplainPoint>, };

export type ExplainPoint = {
/** Place of the run in the list of runs. */
run: number,
/** The value, in the unit of the cause. */
value: number, };

export type ExplainGroup = {
/** Value of the first label. */
first: string,
/** Value of the second label, if runs are grouped by two. */
second: string | null,
/** Number of runs. */
runs: number,
/** Median of the metric (ms). */
median_ms: number,
/** Spread of the metric around its median (ms). */
spread_ms: number,
/** Least metric (ms). */
min_ms: number,
/** Greatest metric (ms). */
max_ms: number,
/** Mean CPU on P-cores (ms), if the machines have several kinds of cores. */
fastest_core_ms: number | null,
/** Mean CPU on E-cores (ms). */
other_core_ms: number | null, };

export type FindingsRequest = {
/** The trace. */
trace: number, };

export type FindingsAnswer = {
/** The findings, the costliest first and notes last. */
findings: Array<Finding>,
/** All rules, and what came of each; also costs that could not be computed. */
rules: Array<RuleState>,
/** The largest costs by kind if no finding costs time: where to look. They are no findings. */
costs: Array<Cost>,
/** Origin of the answer. */
source: Source, };

export type Finding = {
/** Its place in the order of cost, from 1. */
number: number,
/** The rule that found it. */
rule: string,
/** The finding, as a sentence. */
sentence: string,
/** The cause: a driver, process, server, file or setting. */
culprit: string,
/**
 * Time in which at least one victim could not go on because of it; null for what is only to be
 * known.
 */
cost_ns: number | null,
/** Share of the recording that this is, 0 to 1. */
share: number | null,
/** The process that it cost most, with its id; null where it is none. */
victim: string | null,
/** Key of this process. */
process_key: number | null,
/** Number of the finding that explains most of its time; null without one. */
explained_by: number | null,
/** All processes that it cost something, the first ones with how much. */
victims: string,
/** Number of occurrences. */
count: number | null,
/** From the first piece to the last one. */
range: Range | null,
/** Begin of the longest piece. */
at_ns: number | null,
/** Length of the longest piece. */
longest_ns: number | null,
/** Thread of the longest piece. */
thread_key: number | null,
/** Frames of its stack, innermost first. */
stack: Array<string>,
/** Wait chain of the longest piece, the victim first. */
chain: Array<string>,
/** `high`, `medium` or `low`, and why it is not high. */
confidence: string,
/** Command lines that show the rows behind it. */
evidence: Array<Evidence>,
/** What these lines show if it is not just the cost of the finding; empty otherwise. */
shows: string,
/** The view that shows these rows; null where the rule names none. */
spot: Spot | null,
/** Explanation of the finding. */
why: string,
/** Recommended fix. */
fix: string,
/** Conclusions that do not follow from it. */
not_proved: string, };

export type Cost = {
/** `processor`, `wait`, `disk`, `dpc`, `gc` or `hard-fault`. */
kind: string,
/** What took the time, as a sentence. */
sentence: string,
/** How long. */
cost_ns: number,
/** Share of the recording; above 1 on several processors. */
share: number | null,
/** Wait chain of a wait, the victim first. */
chain: Array<string>,
/** Command lines that show its rows. */
evidence: Array<Evidence>,
/** The view that shows these rows; null where the first line says it. */
spot: Spot | null, };

export type Evidence = {
/** The whole line, quoted for a shell. */
command: string,
/** Its words, without the program and the trace. */
words: Array<string>, };

export type Spot = {
/** Name of the view. */
view: string,
/** Table whose rows it shows; null where it shows the answer to a question. */
table: string | null,
/** Question that it answers; null where it shows rows. */
question: string | null,
/** Quantity that the view adds up, if it knows several. */
weight: Weight | null,
/** Conditions on its rows. */
chips: Array<Chip>,
/** Conditions on columns of the table. */
columns: Array<ColumnFilter>,
/** Options of the question that no chip says. */
options: Record<string, unknown>, };

export type RuleState = {
/** Its name. */
rule: string,
/** The problem that it finds. */
title: string,
/** `found`, `nothing`, `not checked` or `failed`. */
state: string,
/** The data that it needs and that was not recorded, or the reason for its failure. */
missing: string | null, };

export const WAITS = ["unknown", "sync", "io", "sleep", "paging", "ui", "suspended"] as const;
