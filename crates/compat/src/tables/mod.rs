//! Translations of the switches of each command. If ETWAnalyzer has another default than ours,
//! `defaults` adds it.

mod cpu;
mod events;
mod io;
mod machine;
mod net;
mod objects;
pub(crate) mod shared;

use crate::switch::Switch;
use shared::{ALL, PROCESS, TESTS, ZERO};

/// A sub command of `-dump`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dump {
    /// Its names, in lower case.
    pub(crate) names: &'static [&'static str],
    /// Our sub command of `dump`.
    pub(crate) native: &'static str,
    /// Its switches.
    pub(crate) switches: &'static [&'static [Switch]],
}

const fn of(
    names: &'static [&'static str],
    native: &'static str,
    switches: &'static [&'static [Switch]],
) -> Dump {
    Dump {
        names,
        native,
        switches,
    }
}

/// All sub commands.
pub(crate) static DUMPS: &[Dump] = &[
    of(&["cpu"], "cpu", &[cpu::CPU, PROCESS, ZERO, TESTS, ALL]),
    of(
        &["disk"],
        "disk",
        &[
            io::PLACES,
            io::DISK,
            io::AMOUNTS,
            io::SHOWN,
            PROCESS,
            TESTS,
            ALL,
        ],
    ),
    of(
        &["file"],
        "file",
        &[
            io::PLACES,
            io::FILE,
            io::AMOUNTS,
            io::FILE_SUMS,
            io::SHOWN,
            PROCESS,
            TESTS,
            ALL,
        ],
    ),
    of(&["pmc"], "pmc", &[cpu::PMC, PROCESS, TESTS, ALL]),
    of(&["lbr"], "lbr", &[cpu::LBR, PROCESS, TESTS, ALL]),
    of(
        &["process"],
        "process",
        &[machine::PROCESS, PROCESS, ZERO, TESTS, ALL],
    ),
    of(
        &["version"],
        "version",
        &[machine::VERSION, PROCESS, TESTS, ALL],
    ),
    of(&["dns"], "dns", &[net::DNS, PROCESS, TESTS, ALL]),
    of(&["tcp"], "tcp", &[net::TCP, PROCESS, ZERO, TESTS, ALL]),
    of(
        &["exception"],
        "exception",
        &[events::EXCEPTION, PROCESS, ZERO, TESTS, ALL],
    ),
    // The help of ETWAnalyzer calls it Marker.
    of(
        &["mark", "marker"],
        "mark",
        &[events::MARK, ZERO, TESTS, ALL],
    ),
    of(
        &["memory"],
        "memory",
        &[objects::MEMORY, PROCESS, TESTS, ALL],
    ),
    of(
        &["objectref"],
        "objectref",
        &[objects::OBJECT_REF, PROCESS, TESTS, ALL],
    ),
    of(
        &["virtualalloc"],
        "virtual-alloc",
        &[objects::VIRTUAL_ALLOC, PROCESS, TESTS, ALL],
    ),
    of(&["power"], "power", &[events::POWER, TESTS, ALL]),
    of(&["threadpool"], "thread-pool", &[PROCESS, TESTS, ALL]),
    of(
        &["tracelog"],
        "tracelog",
        &[events::TRACE_LOG, PROCESS, TESTS, ALL],
    ),
    of(&["testrun"], "test-run", &[events::TEST_RUN, TESTS]),
    of(&["stats"], "stats", &[machine::STATS, TESTS, ALL]),
];

/// Switches that the parser of ETWAnalyzer accepts for any sub command, even without an effect
/// there.
pub(crate) const KNOWN: &str = "\
    debug notestrungrouping nocolor clip nodigitsep verbose printfiles validtestsonly copyfilesto withetl overwrite recursive filedir fd \
    etl map newprocess plainprocessnames ppn showallprocesses crash showuser details showfileonline sfo reversefilename rfn nocounters \
    showadapter showreturncode showmoduleinfo smi testsperrun csv nocsvseparator dirlevel perprocess merge showallfiles showcaller keepalive \
    showretransmit showretransmits onlyclientretransmit topn topndetails topnretrans topnprocesses topnmethods topnstacks \
    minmaxnotreleasedsize minmaxnotreleasedcount minmaxalloctime filterexceptions modulefilter filename processname pn relatedprocess parent \
    user session zeroprocessname zpn cmdline markerfilter dll provider missingpdb versionfilter type message maxcount tid stackfilter sf \
    stackidx destroystack createstack objectname methods stacktags dnsqueryfilter ipport sourceipport remoteipport tcb object viewbase \
    ptrinmap handle zerotime zt showonmethod showtotal groupby showprocess stats showref multiprocess leak overlapped cutmethod minmaxcpums \
    minmaxconnectiondurations minmaxlastreceiveds minmaxreceivedelays minmaxsentdelays minmaxsenddelays minmaxsendmbs minmaxrecmbs \
    minmaxlastsents minmaxclientresets minmaxwaitms minmaxreadyms minmaxcswitchcount minmaxreadyavgus minmaxcount minmaxretransdelayms \
    minmaxretranscount minmaxretransbytes minmaxsentbytes minmaxreceivedbytes minmaxstatbytes minmaxstatbytesin minmaxstatbytesout \
    minmaxstatpackets minmaxstatpacketsin minmaxstatpacketsout minmaxbytes minmaxpackets minmaxsentpackets minmaxreceivedpackets \
    minmaxreadsize minmaxwritesize minmaxtotalsize minmaxreadtime minmaxwritetime minmaxtotaltime minmaxtotaltimems minmaxtotalcount \
    minmaxworkingsetmib minmaxcommitmib minmaxsharedcommitmib minmaxworkingsetprivatemib minmaxid minmaxfirst minmaxlast minmaxduration \
    minmaxconnect minmaxdisconnect minmaxinject minmaxpost minmaxmapsize minmaxextime minmaxmarkdifftime minmaxtime minmaxtimems minmaxstart \
    minmaxmstesttimes minmaxtesttime minmax minworkingsetmb showfullfilename sffn cutstack maxmessage fileoperation sortby issue \
    sortretransmitby timefmt processfmt nocmdline threadcount showcorenumber nocoreusage noready nofrequency nopriority normalize \
    firstlastduration fld includedll id includeargs ia testrunindex tri testruncount trc showstack ss inherit showtime column reset \
    totalmemory tm scalingfactor mindiffmb globaldiffmb lastndays skipntests timedigits properties diff oneline help testcase tc machine \
    fullmessage fm dir";

/// Returns the sub command of that name.
pub(crate) fn dump(name: &str) -> Option<&'static Dump> {
    let lower = name.to_lowercase();
    DUMPS
        .iter()
        .find(|dump| dump.names.contains(&lower.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_one_of_etwanalyzer_and_stands_once() {
        let known: Vec<&str> = KNOWN.split_whitespace().collect();
        for dump in DUMPS {
            let mut names: Vec<&str> = dump
                .switches
                .iter()
                .flat_map(|table| table.iter())
                .flat_map(|s| s.names)
                .copied()
                .collect();
            for name in &names {
                assert!(known.contains(name), "{}: -{name}", dump.native);
            }
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", dump.native);
        }
    }
}
