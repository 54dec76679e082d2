//! What each switch changes: an answer with it and without it.

use std::collections::HashMap;

use super::small::SHOWN;
use super::{drive, run, run_in, words};

/// All sub commands.
const DUMPS: &[&str] = &[
    "cpu",
    "disk",
    "dns",
    "exception",
    "file",
    "lbr",
    "mark",
    "memory",
    "objectref",
    "pmc",
    "power",
    "process",
    "stats",
    "tcp",
    "testrun",
    "threadpool",
    "tracelog",
    "version",
    "virtualalloc",
];

/// Sub commands and switches whose events are in no recording that the tests have: what shows them is a trace
/// of `built.rs`.
const BUILT: &[(&str, &str)] = &[
    ("lbr", "*"),
    ("memory", "*"),
    ("tracelog", "*"),
    ("objectref", "-showref"),
    ("file", "-showallfiles"),
];

/// A line and a switch that is added to it.
const ADDED: &[(&str, &str)] = &[
    ("-dump cpu -fd SlowSystem", "-topn 3"),
    ("-dump cpu -fd SlowSystem", "-topn 3 2"),
    ("-dump cpu -fd SlowSystem", "-pn bash;!4068"),
    ("-dump cpu -fd SlowSystem", "-processname bash"),
    ("-dump cpu -fd SlowSystem", "-cmdline *login*"),
    ("-dump cpu -fd SlowSystem", "-newprocess 1"),
    ("-dump cpu -fd SlowSystem", "-session 1"),
    ("-dump cpu -fd SlowSystem", "-nocmdline"),
    ("-dump cpu -fd SlowSystem", "-processfmt s"),
    ("-dump cpu -fd SlowSystem", "-timefmt utc -timedigits 1"),
    ("-dump cpu -fd SlowSystem", "-nodigitsep"),
    ("-dump cpu -fd SlowSystem", "-sffn"),
    ("-dump cpu -fd SlowSystem", "-showfullfilename"),
    ("-dump cpu -fd SlowSystem", "-details"),
    ("-dump cpu -fd SlowSystem", "-nopriority"),
    ("-dump cpu -fd SlowSystem", "-nocoreusage"),
    ("-dump cpu -fd SlowSystem", "-showcorenumber"),
    ("-dump cpu -fd SlowSystem", "-noready"),
    ("-dump cpu -fd SlowSystem", "-merge"),
    ("-dump cpu -fd SlowSystem", "-showtotal file"),
    ("-dump cpu -fd SlowSystem", "-sortby priority"),
    ("-dump cpu -fd SlowSystem", "-minmaxcpums 100 1000"),
    ("-dump cpu -fd SlowSystem", "-minmaxwaitms 12s"),
    ("-dump cpu -fd SlowSystem", "-smi"),
    ("-dump cpu -fd SlowSystem", "-showmoduleinfo *Northwall*"),
    ("-dump cpu -fd SlowSystem", "-methods *Create*"),
    ("-dump cpu -fd SlowSystem", "-stacktags *virus*"),
    ("-dump cpu -fd SlowSystem", "-topnmethods 1"),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-topnmethods 2 1",
    ),
    ("-dump cpu -fd SlowSystem -methods * -pn bash", "-fld"),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-firstlastduration s local",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-zt first *CreateProcessW -fld s s",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash -fld s",
        "-zerotime processstart -zpn 3640",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-cutmethod 3-10",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-includedll",
    ),
    ("-dump cpu -fd SlowSystem -methods * -pn bash", "-id"),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-threadcount",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-showonmethod",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-minmaxreadyms 0.001 1",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-minmaxreadyavgus 1 2",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-minmaxcswitchcount 2",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-minmaxfirst 5 6",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-minmaxlast 5 7",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash",
        "-minmaxduration 1",
    ),
    ("-dump process -fd SlowSystem", "-sortby tree"),
    ("-dump process -fd SlowSystem", "-sortby StartTime"),
    ("-dump process -fd SlowSystem", "-parent mintty"),
    ("-dump process -fd SlowSystem", "-minmaxduration 0,5 1"),
    ("-dump process -fd SlowSystem", "-minmaxstart 5-6"),
    ("-dump process -fd SlowSystem", "-crash"),
    ("-dump process -fd SlowSystem", "-showuser"),
    ("-dump process -fd SlowSystem", "-user *18"),
    ("-dump process -fd SlowSystem", "-details"),
    ("-dump process -fd SlowSystem", "-sfo"),
    ("-dump process -fd SlowSystem", "-showfileonline"),
    ("-dump process -fd SlowSystem", "-showtotal none"),
    ("-dump process -fd SlowSystem", "-column ProcessId;Process"),
    (r"-dump process -fd ..\more", "-merge"),
    (r"-dump process -fd ..\more -merge", "-showallprocesses"),
    ("-dump disk -fd SlowSystem", "-dirlevel 2"),
    ("-dump disk -fd SlowSystem", "-perprocess"),
    ("-dump disk -fd SlowSystem -perprocess", "-topnprocesses 1"),
    (
        "-dump disk -fd SlowSystem -perprocess -topnprocesses 1",
        "-topnprocesses 1 1",
    ),
    ("-dump disk -fd SlowSystem -dirlevel 100", "-filename *.edb"),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-fileoperation write",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-sortby readtime",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-minmaxreadsize 1MB",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-minmaxwritesize 1",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-minmaxtotalsize 1MiB 3MiB",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-minmaxreadtime 500ms",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-minmaxwritetime 1ms",
    ),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-minmaxtotaltime 0,5",
    ),
    ("-dump disk -fd SlowSystem -dirlevel 100", "-rfn"),
    (
        "-dump disk -fd SlowSystem -dirlevel 100",
        "-reversefilename",
    ),
    ("-dump disk -fd SlowSystem -dirlevel 100", "-merge"),
    ("-dump disk -fd SlowSystem -dirlevel 100", "-details"),
    ("-dump file -fd SlowSystem", "-dirlevel 2"),
    ("-dump file -fd SlowSystem", "-perprocess"),
    ("-dump file -fd SlowSystem -perprocess", "-topnprocesses 1"),
    ("-dump file -fd SlowSystem -dirlevel 100", "-filename *.edb"),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-fileoperation write",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-fileoperation setsecurity",
    ),
    ("-dump file -fd SlowSystem -dirlevel 100", "-sortby count"),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-column +SetSecurityCount",
    ),
    (
        "-dump file -fd SlowSystem -perprocess -topnprocesses 1",
        "-topnprocesses 1 1",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxreadsize 300KB",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxwritesize 1",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxtotalsize 300KB",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxreadtime 500ms",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxwritetime 1ms",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxtotaltime 500ms",
    ),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-minmaxtotalcount 50",
    ),
    ("-dump file -fd SlowSystem -dirlevel 100", "-showtotal none"),
    ("-dump file -fd SlowSystem -dirlevel 100", "-rfn"),
    (
        "-dump file -fd SlowSystem -dirlevel 100",
        "-reversefilename",
    ),
    ("-dump file -fd SlowSystem -dirlevel 100", "-details"),
    ("-dump file -fd SlowSystem -perprocess", "-smi"),
    ("-dump file -fd SlowSystem", "-showmoduleinfo *Northwall*"),
    ("-dump version -fd SlowSystem", "-dll *ntdll*"),
    ("-dump version -fd SlowSystem", "-versionfilter *Northwall*"),
    ("-dump version -fd SlowSystem", "-missingpdb"),
    (r"-dump version -fd ..\product\Product", "-modulefilter App"),
    ("-dump version -fd SlowSystem", "-showtotal total"),
    ("-dump stats -fd SlowSystem", "-properties OS*,Mem*"),
    (
        "-dump stats -fd SlowSystem",
        "-properties IsDomainJoined,Displays",
    ),
    ("-dump stats -fd SlowSystem", "-oneline"),
    (r"-dump pmc -fd ..\writer\Take_Test1", "-nocounters"),
    (r"-dump dns -fd ..\more\Browsing", "-dnsqueryfilter *.org"),
    (r"-dump dns -fd ..\more\Browsing", "-sortby count"),
    (r"-dump dns -fd ..\more\Browsing", "-details"),
    (r"-dump dns -fd ..\more\Browsing -details", "-topndetails 1"),
    (r"-dump dns -fd ..\more\Browsing", "-showprocess"),
    (r"-dump dns -fd ..\more\Browsing", "-showadapter"),
    (r"-dump dns -fd ..\more\Browsing", "-showreturncode"),
    (r"-dump dns -fd ..\more\Browsing", "-minmaxtotaltime 1 1,16"),
    (r"-dump dns -fd ..\more\Browsing", "-minmaxtime 1s"),
    (
        r"-dump dns -fd ..\more\Browsing",
        "-minmaxtotaltimems 1000 1160",
    ),
    (r"-dump dns -fd ..\more\Browsing", "-minmaxtimems 1000"),
    (r"-dump tcp -fd ..\more\Connections", "-ipport *:443*"),
    (r"-dump tcp -fd ..\more\Connections", "-sourceipport *:8080"),
    (r"-dump tcp -fd ..\more\Connections", "-remoteipport *:445"),
    (r"-dump tcp -fd ..\more\Connections", "-tcb 0x*1230"),
    (r"-dump tcp -fd ..\more\Connections", "-sortby sentsize"),
    (r"-dump tcp -fd ..\more\Connections", "-showretransmit"),
    (r"-dump tcp -fd ..\more\Connections", "-showretransmits"),
    (
        r"-dump tcp -fd ..\more\Connections -showretransmit",
        "-sortretransmitby delay",
    ),
    (
        r"-dump tcp -fd ..\more\Connections -showretransmit",
        "-topnretrans 1",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-onlyclientretransmit",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-groupby sourceipremoteip",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-issue post"),
    (r"-dump tcp -fd ..\more\Connections", "-reset"),
    (r"-dump tcp -fd ..\more\Connections", "-keepalive"),
    (r"-dump tcp -fd ..\more\Connections", "-details"),
    (r"-dump tcp -fd ..\more\Connections", "-column PostMode"),
    (r"-dump tcp -fd ..\more\Connections", "-stats"),
    (r"-dump tcp -fd ..\more\Connections", "-showtotal total"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxsentbytes 2KB"),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxreceivedbytes 2KB",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxbytes 2KB"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxsentpackets 5"),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxreceivedpackets 5",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxpackets 10"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxstatbytes 1"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxstatbytesin 1"),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxstatbytesout 1",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxstatpackets 1"),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxstatpacketsin 1",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxstatpacketsout 1",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxretransdelayms 300",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxretransbytes 10000",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxretranscount 2",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxconnect 0,05"),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxdisconnect 0 0",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxlastsents 0.1"),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxlastreceiveds 0.1",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxclientresets 0.001",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxconnectiondurations 0 0.1",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxsentdelays 10ms",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxsenddelays 10ms",
    ),
    (
        r"-dump tcp -fd ..\more\Connections",
        "-minmaxreceivedelays 10ms",
    ),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxsendmbs 0.05"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxrecmbs 0.01"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxpost 2"),
    (r"-dump tcp -fd ..\more\Connections", "-minmaxinject 1"),
    (r"-dump exception -fd ..\more\Shop", "-type *Timeout*"),
    (r"-dump exception -fd ..\more\Shop", "-message *null*"),
    (r"-dump exception -fd ..\more\Shop", "-message *Sequence*"),
    (r"-dump exception -fd ..\more\Shop", "-showstack"),
    (r"-dump exception -fd ..\more\Shop", "-ss"),
    (
        r"-dump exception -fd ..\more\Shop",
        "-stackfilter *nosuchframe*",
    ),
    (r"-dump exception -fd ..\more\Shop", "-sf *nosuchframe*"),
    (r"-dump exception -fd ..\more\Shop -ss", "-cutstack 0-1"),
    (r"-dump exception -fd ..\more\Shop -ss", "-cutstack -1"),
    (r"-dump exception -fd ..\more\Shop", "-maxmessage 5"),
    (
        r"-dump exception -fd ..\more\Shop -maxmessage 5",
        "-fullmessage",
    ),
    (r"-dump exception -fd ..\more\Shop -maxmessage 5", "-fm"),
    (r"-dump exception -fd ..\more\Shop -type *", "-showtime"),
    (r"-dump exception -fd ..\more\Shop", "-sortby time"),
    (r"-dump exception -fd ..\more\Shop", "-minmaxextime 0 0.2"),
    (r"-dump exception -fd ..\more\Shop", "-details"),
    (r"-dump exception -fd ..\more\Shop", "-filterexceptions"),
    (r"-dump exception -fd ..\names\Services", "-ppn"),
    (r"-dump memory -fd ..\names\Services", "-plainprocessnames"),
    (r"-dump exception -fd ..\more\Shop", "-smi"),
    (r"-dump exception -fd ..\more\Shop", "-showmoduleinfo"),
    (r"-dump mark -fd ..\more\Marks", "-markerfilter Phase*"),
    (
        r"-dump mark -fd ..\more\Marks",
        "-minmaxmarkdifftime 0.1 0.25",
    ),
    (r"-dump mark -fd ..\more\Marks", "-zt marker Phase*"),
    (
        r"-dump objectref -fd ..\more\Handles",
        "-relatedprocess tidy",
    ),
    (r"-dump objectref -fd ..\more\Handles", "-minmaxduration 1"),
    (r"-dump objectref -fd ..\more\Handles", "-minmaxid 3 5"),
    (r"-dump objectref -fd ..\more\Handles", "-minmaxtime 0 0.05"),
    (
        r"-dump objectref -fd ..\more\Handles",
        "-createstack *leaky*",
    ),
    (
        r"-dump objectref -fd ..\more\Handles",
        "-destroystack *leaky*",
    ),
    (
        r"-dump objectref -fd ..\more\Handles",
        "-stackfilter *leaky*",
    ),
    (r"-dump objectref -fd ..\more\Handles", "-sf *leaky*"),
    (r"-dump objectref -fd ..\more\Handles", "-object 0x*80"),
    (r"-dump objectref -fd ..\more\Handles", "-objectname *a*"),
    (r"-dump objectref -fd ..\more\Handles", "-type Event"),
    (r"-dump objectref -fd ..\more\Handles", "-handle 0x154"),
    (r"-dump objectref -fd ..\more\Handles", "-map 1"),
    (r"-dump objectref -fd ..\more\Handles", "-viewbase 0x1*"),
    (r"-dump objectref -fd ..\more\Handles", "-ptrinmap 0x10000"),
    (r"-dump objectref -fd ..\more\Handles", "-minmaxmapsize 1"),
    (r"-dump objectref -fd ..\more\Handles", "-leak"),
    (r"-dump objectref -fd ..\more\Handles", "-multiprocess"),
    (r"-dump objectref -fd ..\more\Handles", "-inherit"),
    (r"-dump objectref -fd ..\more\Handles", "-overlapped"),
    (r"-dump objectref -fd ..\more\Handles", "-showstack"),
    (r"-dump objectref -fd ..\more\Handles", "-ss"),
    (r"-dump objectref -fd ..\more\Handles", "-showtotal process"),
    (r"-dump virtualalloc -fd ..\more\Handles", "-details"),
    (
        r"-dump virtualalloc -fd ..\more\Handles",
        "-stackidx 1;2;3;4;5;6;7;8;9;10",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-stackidx 1;2;3;4;5;6;7;8;9;10",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details -topnstacks 1",
        "-topnstacks 1 1",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-column StackSize",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-showstack",
    ),
    (r"-dump virtualalloc -fd ..\more\Handles -details", "-ss"),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-stackfilter *leaky*",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-sf *leaky*",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-topnstacks 1",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles",
        "-sortby freedcount",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-minmaxnotreleasedsize 100KB",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles -details",
        "-minmaxnotreleasedcount 3",
    ),
    (
        r"-dump virtualalloc -fd ..\more\Handles",
        "-minmaxalloctime 0 0.1",
    ),
    (r"-dump virtualalloc -fd ..\more\Handles", "-showtotal none"),
    (r"-dump objectref -fd ..\built\Shop", "-showref"),
    (r"-dump file -fd ..\built\Shop", "-showallfiles"),
    (r"-dump lbr -fd ..\built\Shop", "-methods *Load*"),
    (r"-dump lbr -fd ..\built\Shop", "-minmaxcount 2"),
    (r"-dump lbr -fd ..\built\Shop", "-scalingfactor 1000"),
    (r"-dump lbr -fd ..\built\Shop -methods *", "-showcaller"),
    (r"-dump lbr -fd ..\built\Shop -methods *", "-topnmethods 1"),
    (r"-dump lbr -fd ..\built\Shop -methods *", "-cutmethod 2-2"),
    (r"-dump lbr -fd ..\built\Shop -methods *", "-includedll"),
    (r"-dump lbr -fd ..\built\Shop -methods *", "-id"),
    (r"-dump memory -fd ..\built\Shop", "-details"),
    (r"-dump memory -fd ..\built", "-globaldiffmb 300"),
    (r"-dump memory -fd ..\built\Shop", "-mindiffmb 100"),
    (r"-dump memory -fd ..\built\Shop", "-minmaxcommitmib 700"),
    (
        r"-dump memory -fd ..\built\Shop",
        "-minmaxsharedcommitmib 10",
    ),
    (
        r"-dump memory -fd ..\built\Shop",
        "-minmaxworkingsetmib 100",
    ),
    (
        r"-dump memory -fd ..\built\Shop",
        "-minmaxworkingsetprivatemib 50",
    ),
    (r"-dump memory -fd ..\built\Shop", "-showmoduleinfo"),
    (r"-dump memory -fd ..\built\Shop", "-smi"),
    (r"-dump memory -fd ..\built\Shop", "-showtotal total"),
    (r"-dump memory -fd ..\built\Shop", "-minworkingsetmb 100000"),
    (r"-dump memory -fd ..\built\Shop", "-sortby diff"),
    (r"-dump memory -fd ..\built\Shop", "-totalmemory"),
    (r"-dump memory -fd ..\built\Shop", "-tm"),
    (
        r"-dump tracelog -fd ..\built\Shop -provider *:*",
        "-maxcount 2",
    ),
    (r"-dump tracelog -fd ..\built\Shop", "-message *milk*"),
    (
        r"-dump tracelog -fd ..\built\Shop",
        "-minmaxtime 0.0765 0.0775",
    ),
    (
        r"-dump tracelog -fd ..\built\Shop",
        "-provider Contoso-Shop",
    ),
    (r"-dump tracelog -fd ..\built\Shop", "-sortby name"),
    (r"-dump tracelog -fd ..\built\Shop", "-tid 2000"),
    (r"-dump power -fd ..\power\Win10_Balanced", "-diff"),
    (r"-dump power -fd ..\power\Win10_Balanced", "-details"),
    ("-dump testrun -fd SlowSystem", "-printfiles"),
    ("-dump testrun -fd SlowSystem", "-validtestsonly"),
    ("-dump testrun -fd *", "-notestrungrouping"),
    ("-dump testrun -fd *", "-testrunindex 1"),
    ("-dump testrun -fd *", "-tri 1"),
    ("-dump testrun -fd * -tri 0", "-testruncount 1"),
    ("-dump testrun -fd * -tri 0", "-trc 1"),
    ("-dump testrun -fd SlowSystem", "-skipntests 1"),
    ("-dump testrun -fd SlowSystem", "-lastndays 1"),
    ("-dump testrun -fd SlowSystem", "-verbose"),
    (r"-dump stats -fd ..\runs", "-tri 1"),
    (r"-dump stats -fd ..\runs", "-testrunindex 1"),
    (r"-dump stats -fd ..\runs -tri 0", "-trc 1"),
    (r"-dump stats -fd ..\runs -tri 0", "-testruncount 1"),
    (r"-dump stats -fd ..\runs", "-testsperrun 1"),
    (r"-dump stats -fd ..\runs", "-skipntests 1"),
    (r"-dump stats -fd ..\runs", "-lastndays 1"),
    (
        r"-dump stats -fd ..\runs",
        "-minmaxmstesttimes 150-250 -120",
    ),
    (r"-dump stats -fd ..\runs", "-minmaxtesttime 150-250"),
    (r"-dump stats -fd ..\runs", "-testcase Open"),
    (r"-dump stats -fd ..\runs", "-tc Open"),
    (r"-dump stats -fd ..\runs", "-machine SERVER"),
    (r"-dump stats -fd ..\runs", "-validtestsonly"),
    (r"-dump stats -fd ..\runs -tri 1", "-notestrungrouping"),
    ("-dump cpu -topn 1", "-recursive"),
    ("-dump cpu -topn 1", "-fd *Slow*"),
    ("-dump cpu -topn 1", "-filedir *Slow*"),
    ("-dump cpu -topn 1", "-fd *;!*Slow*"),
    ("-dump cpu -topn 1", "-dir *Slow*"),
    (
        r"-dump cpu -fd ..\cores\Hybrid -topn 2 -details",
        "-nofrequency",
    ),
    (
        r"-dump cpu -fd ..\cores\Hybrid -topn 2 -details",
        "-normalize",
    ),
    (
        "-dump cpu -fd SlowSystem -methods * -pn bash -fld s -zt processstart -zpn 3640",
        "-zeroprocessname 3660",
    ),
    (
        "-dump process -fd SlowSystem -timefmt s",
        "-zt processstart -zpn 3640",
    ),
    (
        "-dump process -fd SlowSystem -timefmt s -zt processstart -zpn 3640",
        "-zeroprocessname 3660",
    ),
    ("-dump process -fd SlowSystem", "-minmax 0,5 1"),
    ("-dump file -fd *", "-merge"),
    ("-dump cpu -fd SlowSystem", "-clip"),
    ("-dump cpu -fd SlowSystem", "-user *18"),
    ("-dump cpu -fd SlowSystem", "-column Cpu;Process"),
    ("-dump cpu -topn 1", "-debug"),
    ("-dump cpu -fd SlowSystem -topn 2", "-nocolor"),
];

#[test]
fn each_switch_changes_the_answer() {
    let mut same = Vec::new();
    let mut plain = HashMap::new();
    for (line, added) in ADDED {
        let without = plain.entry(*line).or_insert_with(|| answer(line, added));
        let with = answer(&format!("{line} {added}"), added);
        assert_eq!(without.1, 0, "{line}: {}", without.0);
        assert!(matches!(with.1, 0 | 1), "{line} {added}: {}", with.0);
        if with.0 == without.0 {
            same.push(format!("{line} {added}"));
        }
    }
    assert!(
        same.is_empty(),
        "these change nothing:\n{}",
        same.join("\n")
    );
}

/// What a line prints, and how it ends. Where the folder and the environment do not matter, no process is
/// started.
fn answer(line: &str, added: &str) -> (String, i32) {
    const FILES: [&str; 3] = ["-fd", "-filedir", "-dir"];
    if added == "-nocolor" {
        let variables = [("LC_ALL", "C"), ("CLICOLOR_FORCE", "1")];
        let printed = run_in(&format!("ETWAnalyzer {line}"), "options", &variables);
        return (
            printed.text.split_once('\n').unwrap().1.to_owned(),
            printed.exit,
        );
    }
    let mut words = words(line);
    let at = words.iter().position(|word| FILES.contains(&word.as_str()));
    let (Some(at), false) = (at, added == "-clip") else {
        let folder = if added == "-recursive" {
            "writer"
        } else {
            "options"
        };
        let printed = run(&format!("ETWAnalyzer {line}"), folder);
        return (
            printed.text.split_once('\n').unwrap().1.to_owned(),
            printed.exit,
        );
    };
    words[at + 1] = drive()
        .join("options")
        .join(&words[at + 1])
        .display()
        .to_string();
    let answer = crate::support::run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    (answer.out + &answer.err, answer.exit.code().into())
}

/// Words and switches that ETWAnalyzer takes for any sub command, although they mean something to some only.
#[test]
fn what_other_sub_commands_know_is_taken() {
    for line in [
        "-dump process -fd SlowSystem -showtotal File",
        "-dump cpu -fd SlowSystem -showtotal process",
        "-dump version -fd SlowSystem -showtotal Method -topn 1",
        r"-dump tcp -fd ..\more\Connections -showtotal process",
        r"-dump tcp -fd ..\more\Connections -issue post -groupby SourceIpRemoteIp -showretransmit",
        r"-dump tcp -fd ..\more\Connections -column +SndNext;TCB",
        r"-dump objectref -fd ..\more\Handles -showtotal file",
        r"-dump virtualalloc -fd ..\more\Handles -showtotal File -sortby Default -column FreedSize;Process",
        r"-dump memory -fd ..\built\Shop -showtotal Process -sortby default",
        "-dump cpu -fd SlowSystem -showmoduleinfo Driver",
        "-dump cpu -fd SlowSystem -sortby",
        "-dump cpu -fd SlowSystem -merge -methods * -normalize",
        "-dump disk -fd SlowSystem -topnprocesses 3 -fileoperation SetSecurity -sortby Size",
        "-dump file -fd SlowSystem -topnprocesses 3 -sortby TotalCount -fileoperation open",
        "-dump version -fd SlowSystem -missingpdb -dll *ntdll*",
        r"-dump dns -fd ..\more\Browsing -sortby Default",
        "-dump stats -fd SlowSystem -properties MainModuleVersion,Network,UsedExtractOptions,BootToSessionStart,Disk",
    ] {
        let printed = run(&format!("ETWAnalyzer {line}"), "options");
        assert!(matches!(printed.exit, 0 | 1), "{}", printed.text);
    }
    let rows = run(
        "ETWAnalyzer -dump cpu -fd SlowSystem -showtotal process -topn 2",
        "options",
    );
    assert!(
        rows.out.contains("CPU ms") && rows.out.lines().count() >= 4,
        "{}",
        rows.text
    );
    let unknown = run(
        "ETWAnalyzer -dump stats -fd SlowSystem -properties NoSuch",
        "options",
    );
    assert!(
        unknown.exit == 2 && unknown.text.contains("there is no property \"NoSuch\""),
        "{}",
        unknown.text
    );
    let one_of_two = run(
        "ETWAnalyzer -dump stats -fd SlowSystem -properties NoSuch,OSName",
        "options",
    );
    assert!(
        one_of_two.exit == 0 && one_of_two.text.contains("there is no property NoSuch;"),
        "{}",
        one_of_two.text
    );
}

#[test]
fn test_runs_are_chosen() {
    for (added, expected) in [
        // Sorted by the start of the recording, which is the same in all of them.
        (
            "",
            &[
                "200msCLIENT",
                "NoTest",
                "100msCLIENT",
                "100msSERVER",
                "450msCLIENT",
            ][..],
        ),
        (
            "-tri 0",
            &[
                "100msCLIENT",
                "100msSERVER",
                "450msCLIENT",
                "200msCLIENT",
                "NoTest",
            ],
        ),
        (
            "-tri 0 -trc 1",
            &["100msCLIENT", "100msSERVER", "450msCLIENT"],
        ),
        ("-tri 1 -trc 1", &["200msCLIENT"]),
        ("-tri 1 -trc 1 -notestrungrouping", &[]),
        (
            "-testsperrun 1 -validtestsonly",
            &["100msCLIENT", "100msSERVER", "200msCLIENT"],
        ),
        ("-skipntests 1", &["450msCLIENT"]),
        (
            "-minmaxmstesttimes 150-250 400-500",
            &["450msCLIENT", "200msCLIENT"],
        ),
        (
            "-minmaxmstesttimes 150 450",
            &["450msCLIENT", "200msCLIENT"],
        ),
        (
            "-minmaxmstesttimes -150 -validtestsonly",
            &["100msCLIENT", "100msSERVER"],
        ),
        ("-testcase !Open -validtestsonly", &["200msCLIENT"]),
        ("-machine server", &["100msSERVER"]),
        ("-lastndays 0,5 -tri 0 -trc 1", &[]),
    ] {
        let printed = run(
            &format!("ETWAnalyzer -dump stats -fd . -properties SourceETLFileName {added}"),
            "runs",
        );
        let files = printed
            .out
            .lines()
            .filter_map(|line| line.trim().strip_prefix("SourceETLFileName"));
        let files: Vec<&str> = files
            .map(|file| file.trim().trim_end_matches(".etl"))
            .collect();
        let names: Vec<&str> = files
            .iter()
            .map(|file| file.rsplit('_').next().unwrap().split('.').next().unwrap())
            .collect();
        assert_eq!(names, expected, "{added}\n{}", printed.text);
        assert_eq!(
            printed.exit,
            i32::from(expected.is_empty()),
            "{}",
            printed.text
        );
        assert_eq!(
            printed.text.contains("no recording matches"),
            expected.is_empty(),
            "{}",
            printed.text
        );
    }
}

#[test]
fn what_is_not_understood_is_named() {
    for (line, expected) in [
        ("-dump", "-dump needs a sub command"),
        (
            "-dump nosuch",
            "-dump nosuch: there is no sub command of this name",
        ),
        ("-dump cpu -nosuch", "there is no switch -nosuch"),
        ("-dump cpu -topnmethod 1", "; there is -topnmethods"),
        ("-dump cpu -topm 1", "; there is -topn"),
        ("-dump cpuu", "did you mean -dump cpu?"),
        ("-dump cpu -nosuch", "`etwkit -dump cpu -help`"),
        ("-dump cpu stray", "\"stray\" belongs to no switch"),
        ("-dump cpu -fd c:\\no\\such.json", "was not found"),
        ("-dump cpu -fd *nothing*", "no file matches"),
        ("-dump cpu -sortby x", "-sortby x: expected one of cpu wait"),
        ("-dump cpu -minmaxcpums x", "is not a unit"),
        (
            "-dump process -merge -sortby tree",
            "a tree is one of a single extract",
        ),
    ] {
        let printed = run(&format!("ETWAnalyzer {line}"), "options");
        assert_eq!(printed.exit, 2, "{}", printed.text);
        assert!(
            printed.text.contains(expected),
            "{expected}\n{}",
            printed.text
        );
    }
    let ignored = run(
        "ETWAnalyzer -dump stats -fd SlowSystem -dirlevel 3",
        "options",
    );
    assert!(
        ignored
            .text
            .contains("-dirlevel means nothing to -dump stats"),
        "{}",
        ignored.text
    );
    let help = run("ETWAnalyzer -dump cpu -help", "options");
    assert!(
        help.exit == 0 && help.text.contains("-firstlastduration -fld"),
        "{}",
        help.text
    );
}

#[test]
fn stacks_become_profiles_for_speedscope() {
    let of = |line: &str, folder: &str| run(&format!("ETWAnalyzer -convert {line}"), folder);
    let file = |name: &str| super::written(&drive().join(name));
    let listed = of("-fd SlowSystem", "options");
    assert_eq!(listed.exit, 2, "{}", listed.text);
    assert!(
        listed.out.starts_with("No process was chosen") && listed.out.contains("bash.exe"),
        "{}",
        listed.text
    );
    let unknown = of("-fd SlowSystem -pid 77777", "options");
    assert_eq!(unknown.exit, 1, "{}", unknown.text);
    assert!(
        unknown.out.starts_with("No process matches"),
        "{}",
        unknown.text
    );
    let there = of("-fd Extract\\SlowSystem.json", "temp");
    let row = there
        .out
        .lines()
        .find(|line| line.ends_with("  cmd.exe"))
        .unwrap();
    let pid = row.split_whitespace().rev().nth(1).unwrap();
    // The file lies beside the trace, not in the folder of extracts.
    let one = of(
        &format!("-fd Extract\\SlowSystem.json -pid {pid} -debug"),
        "temp",
    );
    assert_eq!(one.exit, 0, "{}", one.text);
    let name = format!("SlowSystem_cmd_{pid}.speedscope");
    assert!(
        one.out.starts_with(&format!("Converted File: {name}\n")),
        "{}",
        one.text
    );
    assert!(
        one.text
            .contains("note: etwkit export --format=speedscope --force --out=. --pid="),
        "{}",
        one.text
    );
    assert!(!file(&format!("temp/{name}")).contains("\"Thread  "));
    let threads = of(
        &format!("-filedir Extract\\SlowSystem.json -pid {pid} -PerThread"),
        "temp",
    );
    assert_eq!(
        threads.exit, 0,
        "an older one is replaced: {}",
        threads.text
    );
    let of_pid = format!(" - Process {pid}\"");
    let text = file(&format!("temp/{name}"));
    assert!(
        text.contains("{\"name\":\"Thread  ") && text.contains(&of_pid),
        "{}",
        threads.text
    );
    let all = of("-dir . -pid -1 -recursive -nocolor", "more");
    assert_eq!(
        all.exit, 1,
        "traces without samples have no profile: {}",
        all.text
    );
    assert!(
        file("more/Marks_AllProcesses.speedscope").contains("\"gamma.exe (1488)\""),
        "{}",
        all.text
    );
    // Symbols are looked for first; there are none in this folder.
    let symbols = of(
        "-fd Hybrid -pid -1 -symserver c:\\temp -symfolder c:\\temp -symcache c:\\temp",
        "cores",
    );
    assert_eq!(symbols.exit, 0, "{}", symbols.text);
    assert!(
        symbols
            .out
            .contains("Converted File: Hybrid_AllProcesses.speedscope"),
        "{}",
        symbols.text
    );
    for (line, expected) in [
        ("-pid 1", "-convert needs traces"),
        ("-fd SlowSystem -pid", "-pid needs a value"),
        (
            "-fd SlowSystem -speed",
            "there is no switch -speed of -convert",
        ),
        ("-fd *nothing*", "no file matches"),
    ] {
        let wrong = of(line, "options");
        assert!(
            wrong.exit == 2 && wrong.text.contains(expected),
            "{expected}: {}",
            wrong.text
        );
    }
}

/// The page on what works: every switch of every sub command, by what the tests above show.
#[test]
fn the_page_on_switches_says_what_is_shown() {
    let mut page = include_str!("page_head.md").to_owned();
    let mut untested = Vec::new();
    for dump in DUMPS {
        let help = run(&format!("ETWAnalyzer -dump {dump} -help"), "options");
        page += &format!("\n## `-dump {dump}`\n\n| switch | becomes | state |\n|---|---|---|\n");
        for line in help.out.lines().skip(1) {
            let (names, meaning) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
            let meaning = meaning.trim();
            let state = if let Some(why) = meaning.strip_prefix("changes nothing: ") {
                format!("taken, changes nothing: {why}")
            } else if let Some(why) = meaning.strip_prefix("is not there: ") {
                format!("refused: {why}")
            } else if names.split(' ').all(|name| is_shown(dump, name)) {
                let is_built = BUILT
                    .iter()
                    .any(|(of, name)| of == dump && (*name == "*" || *name == names));
                if is_built {
                    "works on events that our tests write"
                } else {
                    "works"
                }
                .to_owned()
            } else if *dump == "testrun"
                && matches!(
                    names,
                    "-copyfilesto" | "-withetl" | "-overwrite" | "-testsperrun"
                )
            {
                // These write files, or need several tests of one name.
                "works; shown by the tests of `dump test-run`".to_owned()
            } else {
                untested.push(format!("-dump {dump} {names}"));
                continue;
            };
            let becomes = if meaning.starts_with("--") {
                format!("`{meaning}`")
            } else {
                String::new()
            };
            page += &format!(
                "| `{}` | {becomes} | {state} |\n",
                names.replace(' ', "`, `")
            );
        }
    }
    for (command, shown) in SHOWN {
        let help = run(&format!("ETWAnalyzer -help {command}"), "options");
        page += &format!("\n## `-{command}`\n\n| switch | becomes | state |\n|---|---|---|\n");
        for line in help.out.lines().skip(1) {
            let (names, meaning) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
            let meaning = meaning.trim();
            let is_shown = names.split(' ').all(|name| shown.contains(&name));
            let refused = meaning.strip_prefix("is not there: ");
            let state = match (meaning.strip_prefix("changes nothing: "), refused) {
                (Some(why), _) => format!("taken, changes nothing: {why}"),
                (None, Some(why)) => format!("refused: {why}"),
                (None, None) if is_shown => "works".to_owned(),
                (None, None) => {
                    untested.push(format!("-{command} {names}"));
                    continue;
                }
            };
            let becomes = if meaning.starts_with("--") {
                format!("`{meaning}`")
            } else {
                String::new()
            };
            page += &format!(
                "| `{}` | {becomes} | {state} |\n",
                names.replace(' ', "`, `")
            );
        }
    }
    assert!(
        untested.is_empty(),
        "no line above shows these:\n{}",
        untested.join("\n")
    );
    super::page(&page);
}

/// Whether a line shows that the switch of a sub command changes something; those that all sub commands share
/// are shown by any.
fn is_shown(dump: &str, name: &str) -> bool {
    const SHARED: [&str; 33] = [
        "-nocolor",
        "-testrunindex",
        "-tri",
        "-testruncount",
        "-trc",
        "-testsperrun",
        "-skipntests",
        "-lastndays",
        "-minmaxmstesttimes",
        "-minmaxtesttime",
        "-testcase",
        "-tc",
        "-machine",
        "-validtestsonly",
        "-fd",
        "-filedir",
        "-dir",
        "-recursive",
        "-debug",
        "-csv",
        "-nocsvseparator",
        "-topn",
        "-timefmt",
        "-timedigits",
        "-nodigitsep",
        "-sffn",
        "-showfullfilename",
        "-clip",
        "-column",
        "-pn",
        "-processname",
        "-cmdline",
        "-newprocess",
    ];
    const OF_PROCESSES: [&str; 8] = [
        "-session",
        "-user",
        "-processfmt",
        "-nocmdline",
        "-zt",
        "-zerotime",
        "-ppn",
        "-plainprocessnames",
    ];
    let is_shared = SHARED.contains(&name)
        || name == "-notestrungrouping"
        || OF_PROCESSES.contains(&name)
        || name == "-zpn"
        || name == "-zeroprocessname";
    let has = |words: &str| words.split(' ').any(|word| word == name);
    ADDED
        .iter()
        .any(|(line, added)| has(added) && (is_shared || line.split(' ').nth(1) == Some(dump)))
        || (matches!(name, "-csv" | "-nocsvseparator" | "-dir") && is_shared)
}
