//! Examples below the help of commands.

pub(crate) const ROOT_EXAMPLE: &str = "\
Examples:
  etwkit diagnose slow.etl
  etwkit view slow.etl
  etwkit dump wait --process explorer --chain slow.etl
  etwkit diff good.etl slow.etl

Exit codes: 0 answered, 1 nothing found or not recorded, 2 error, 3 --fail-on matched, 130 interrupted
'etwkit COMMAND -h' is short, 'etwkit COMMAND --help' is complete. Defaults for options: etwkit docs config";

pub(crate) const STRACE_EXAMPLE: &str = "\
It needs the kernel keywords SYSCALL+CSWITCH+PROC_THREAD+LOADER. Options of dump syscall say more: percentiles, stacks, JSON.

Examples:
  etwkit strace -p setup.exe -e \"NtCreateFile,NtOpenFile\" -Z slow-setup.etl
  etwkit strace -c slow-setup.etl     how often each function was called, and how long that took";

pub(crate) const CACHE_EXAMPLE: &str = "\
Traces that are asked are extracted into the cache first; it keeps at most 20 GB, those that were asked longest ago go first.

Examples:
  etwkit cache list
  etwkit cache clear --older-than 30     what was not asked for 30 days
  etwkit cache clear \"slow-*\"            extracts of traces with these names";

pub(crate) const LAB_EXAMPLE: &str = "\
What each workload is about, and what the case studies measured: etwkit docs lab. Recorded on Windows it is a trace with a known cause.

Examples:
  etwkit lab process-create                        1000 processes that live at the same time
  etwkit lab write-files /tmp/files --mode parallel --threads 4
  etwkit run Write --record file --timing printed -- etwkit lab write-files out";

pub(crate) const LAKE_EXAMPLE: &str = "\
A question over thousands of runs is as quick as one over a few files. DuckDB, polars and others read the tables as well: etwkit docs howto/fleet.

Examples:
  etwkit lake init farm
  etwkit lake add farm \"runs/**/*.etwx\"       again: nothing to do
  etwkit sql farm --where \"suite = 'Report'\" \"@cpu/processes\"
  etwkit lake drop farm --where \"start_utc < '2026-09-01'\"";

pub(crate) const CUT_EXAMPLE: &str = "\
Examples:
  etwkit cut slow-login.etl.zip --range 12..14.5 --out login.etl     reports on it answer as with --range 12..14.5
  etwkit cut slow-login.etl --process \"winlogon;userinit\" --redact --map real.names --out mail.etl
  etwkit diagnose mail.etl --map real.names                          prints the real names, if you have the table";

pub(crate) const RECORD_EXAMPLE: &str = "\
Examples:
  etwkit record profiles --question wait     which profiles answer it
  etwkit record start cswitch file           the last events are kept in memory
  etwkit record stop SlowDialog              writes SlowDialog_MACHINE.20230307-232141.etl
  etwkit record wpr -start CPU -start FileIO explains a line of wpr, or runs it on Windows";

pub(crate) const RUN_EXAMPLE: &str = "\
What the command prints goes to the error stream. Exit code 1 says that a run failed: its command ended with another exit code than 0,
took longer than --timeout, or printed no duration.

Examples:
  etwkit run CreateFiles --repeat 5 --matrix threads=1,2,4 --before \"rm -rf out\" --csv runs.csv -- writer out --threads {threads}
  etwkit run Import --timing printed -- ./import.sh     the last duration that it prints, as in \"done in 12.04 s\"";

pub(crate) const COMPLETIONS_EXAMPLE: &str = "\
Examples:
  etwkit completions bash > ~/.local/share/bash-completion/completions/etwkit";

pub(crate) const DOCS_EXAMPLE: &str = "\
Examples:
  etwkit docs                   opens the documentation in the browser
  etwkit docs leaks             opens the page about leaks
  etwkit docs --plain           lists all pages
  etwkit docs --plain waits     prints a page";

pub(crate) const MAN_EXAMPLE: &str = "\
Examples:
  etwkit man ~/.local/share/man/man1";

pub(crate) const INFO_EXAMPLE: &str = "\
Several files are read as one session: parts of one recording, such as the files of a kernel and a user logger. Traces of
different recordings are read one by one; `etwkit dump` takes each file as a trace of its own. - is the standard input.

Examples:
  etwkit info slow-login.etl
  etwkit info --json app.etl app.kernel.etl     two files of one session";

pub(crate) const EVENTS_EXAMPLE: &str = "\
Several files are read as one session, their events in one order of time. - is the standard input.

Examples:
  etwkit events --process cmd.exe --name \"Process/*;Image/*\" slow-login.etl
  etwkit events --provider Microsoft-Windows-DNS-Client --range 2.5..4 --json slow-login.etl
  etwkit events --tmf formats --manifest Contoso.man driver.etl
  etwkit events --name CSwitch --range 2..2.1 slow-login.etl
  etwkit events --count slow-login.etl
  etwkit events --count --process cmd.exe slow-login.etl
  etwkit events --count --json slow-login.zip | tail -n 1 | jq .counts.total";

pub(crate) const EXTRACT_EXAMPLE: &str = "\
Examples:
  etwkit extract slow-login.etl                        makes slow-login.etwx next to it
  etwkit extract --detail summary --jobs 4 nightly --out extracts
  etwkit extract --one-session app.etl app.kernel.etl --out app.etwx
  etwkit extract run.json7z                            makes run.etwx of an extract of ETWAnalyzer
  etwkit extract --lake farm --detail summary --label build=7731 nightly";

pub(crate) const DUMP_EXAMPLE: &str = "\
Examples:
  etwkit dump cpu slow-login.etwx
  etwkit dump cpu --process \"cmd;explorer\" --methods \"*\" --wait 10ms.. --top 5 slow-login.etwx
  etwkit dump disk --dir-level 2 --range 10s..12.5s slow-login.etwx
  etwkit dump wait --process bash.exe --chain slow-login.etwx
  etwkit dump process --crash --csv crashes.csv \"nightly/**/*.etwx\"
  etwkit dump overview \"@slow.txt\"               a path, folder or pattern on each line of slow.txt";

pub(crate) const DIAGNOSE_EXAMPLE: &str = "\
Examples:
  etwkit diagnose slow-login.etl
  etwkit diagnose --details --rules team.sql slow-login.etwx
  etwkit diagnose --explain filter-scan     what a rule looks for, and its thresholds";

pub(crate) const EXPLAIN_EXAMPLE: &str = "\
Each extract is a run; summaries are enough. The names of tests say how long these took (NAME_1234ms…).

Examples:
  etwkit explain \"nightly/**/*.etwx\"
  etwkit explain --process ReportTest.exe --html nightly.html nightly
  etwkit explain --metric mark-to-mark --from-mark \"Login*\" --to-mark Desktop nightly
  etwkit explain --table causes --csv causes.csv nightly";

pub(crate) const DIFF_EXAMPLE: &str = "\
Examples:
  etwkit diff good.etl slow.etl                     between the marks of both, if there are some
  etwkit diff good.etwx slow.etwx --process FileWriter.exe
  etwkit diff run.etwx --range 1..3 --range 4..6    two parts of one trace
  etwkit diff good.etwx slow.etwx --table settings --json";

pub(crate) const PATH_EXAMPLE: &str = "\
Examples:
  etwkit critical-path --process bash.exe slow-login.etwx
  etwkit critical-path --process 4711 --thread 4720 --range 2.5..4 --tree slow-login.etwx";

pub(crate) const SQL_EXAMPLE: &str = "\
Examples:
  etwkit sql slow-login.etwx \"SELECT name, ms(cpu_ns) FROM cpu_process JOIN process USING (process_key) ORDER BY 2 DESC\"
  etwkit sql --param process=explorer slow-login.etwx \"@cpu/methods\"   a question of the library
  etwkit sql good.etwx bad.etwx \"SELECT trace_id, count(*) FROM disk_io GROUP BY 1\" --format csv --out io.csv
  etwkit sql --param pid=4711 \"runs/**/*.etwx\" 'SELECT trace_id, name FROM process WHERE pid = $pid'
  etwkit sql --file slowest.sql --format arrow \"@nightly.txt\" | python3 chart.py
  etwkit sql --show-schema process

The tables, functions and the library are described in etwkit docs sql, everything else in etwkit docs sql-use.";

pub(crate) const CONSOLE_EXAMPLE: &str = "\
Examples:
  etwkit console slow-login.etwx
  > dump cpu --top 5                    the commands of etwkit, without naming the extract
  > .dump cpu -topn 5                   the commands of ETWAnalyzer
  > .help

Lines of a pipe or file are run one after the other; the worst answer then sets the exit code.";

pub(crate) const VIEW_EXAMPLE: &str = "\
The page is served on the loopback address only, and each request needs the token in the link. Nothing leaves the machine.

Examples:
  etwkit view slow-login.etl
  etwkit view --finding 1 slow-login.etl     at the first finding of etwkit diagnose
  etwkit view --at \"#v1;...\" slow-login.etl  as a link from another machine shows it
  etwkit view                                a page that opens traces
  etwkit view --no-open slow-login.etwx      only prints the link";

pub(crate) const MCP_EXAMPLE: &str = "\
Examples:
  etwkit mcp                             in the settings of an agent, see 'etwkit docs mcp'
  etwkit mcp --http 127.0.0.1:8765       prints the token that requests need";

pub(crate) const EXPORT_EXAMPLE: &str = "\
Examples:
  etwkit export slow-login.etwx                             lists the processes
  etwkit export --pid 4711 slow-login.etwx                  open slow-login_cmd_4711.speedscope in www.speedscope.app
  etwkit export --process \"cmd;explorer\" --per-thread --range 2.5..4 slow-login.etwx
  etwkit export --format svg --all-processes slow-login.etwx
  etwkit export --format perfetto --all-processes slow-login.etwx   a timeline for ui.perfetto.dev
  etwkit export --format pcapng capture.etl                 packets of pktmon or netsh trace, for Wireshark
  etwkit export --profile cpu --out tables slow-login.etwx  tables of Windows Performance Analyzer, see 'etwkit docs wpaexporter'";

pub(crate) const WPAEXPORTER_EXAMPLE: &str = "\
Examples:
  etwkit wpaexporter -profile disc.wpaProfile -prefix disc_ -i slow-login.etl
  etwkit wpaexporter -h     what becomes of each option

In our own words: etwkit export --profile disc.wpaProfile --prefix disc_ slow-login.etl";

pub(crate) const DEMO_EXAMPLE: &str = "\
Examples:
  etwkit demo                   writes etwkit-demo/git-bash.etl and finds out why Git Bash is slow
  etwkit demo --no-open         without offering the page at the end
  etwkit diagnose slow.etl      the first command for your own trace";

pub(crate) const SYNTH_EXAMPLE: &str = "\
Examples:
  etwkit synth list
  etwkit synth write office --out office.etl --scale 60     and office.truth.json
  etwkit synth write git-bash --out bash.etl                and bash.truth.json and the folder bash.symbols
  etwkit synth write filter-scan --out scan.etl --seed 7    a machine with a cause of slowness, with other names for each seed
  etwkit synth write filter-scan --healthy --out well.etl   the same machine without it";
