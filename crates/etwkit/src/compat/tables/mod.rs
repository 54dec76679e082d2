//! What the switches of each command become. Where a line of ETWAnalyzer has another default than ours, `defaults` adds it.

mod cpu;
mod events;
mod io;
mod machine;
mod net;
mod objects;
pub(super) mod shared;

use super::switch::Switch;

/// A sub command of `-dump`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dump {
    /// Its names, in lower case.
    pub(super) names: &'static [&'static str],
    /// Our sub command of `dump`.
    pub(super) native: &'static str,
    /// Its switches.
    pub(super) switches: &'static [&'static [Switch]],
}

/// All sub commands.
pub(super) static DUMPS: &[Dump] = &[
    Dump {
        names: &["cpu"],
        native: "cpu",
        switches: &[cpu::CPU, shared::PROCESS, shared::ZERO, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["disk"],
        native: "disk",
        switches: &[io::DISK, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["file"],
        native: "file",
        switches: &[io::FILE, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["pmc"],
        native: "pmc",
        switches: &[cpu::PMC, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["lbr"],
        native: "lbr",
        switches: &[cpu::LBR, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["process"],
        native: "process",
        switches: &[machine::PROCESS, shared::PROCESS, shared::ZERO, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["version"],
        native: "version",
        switches: &[machine::VERSION, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["dns"],
        native: "dns",
        switches: &[net::DNS, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["tcp"],
        native: "tcp",
        switches: &[net::TCP, shared::PROCESS, shared::ZERO, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["exception"],
        native: "exception",
        switches: &[events::EXCEPTION, shared::PROCESS, shared::ZERO, shared::TESTS, shared::ALL],
    },
    // Its help calls it Marker.
    Dump {
        names: &["mark", "marker"],
        native: "mark",
        switches: &[events::MARK, shared::ZERO, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["memory"],
        native: "memory",
        switches: &[objects::MEMORY, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["objectref"],
        native: "objectref",
        switches: &[objects::OBJECT_REF, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["virtualalloc"],
        native: "virtual-alloc",
        switches: &[objects::VIRTUAL_ALLOC, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump { names: &["power"], native: "power", switches: &[events::POWER, shared::TESTS, shared::ALL] },
    Dump {
        names: &["threadpool"],
        native: "thread-pool",
        switches: &[shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump {
        names: &["tracelog"],
        native: "tracelog",
        switches: &[events::TRACE_LOG, shared::PROCESS, shared::TESTS, shared::ALL],
    },
    Dump { names: &["testrun"], native: "test-run", switches: &[events::TEST_RUN, shared::TESTS] },
    Dump { names: &["stats"], native: "stats", switches: &[machine::STATS, shared::TESTS, shared::ALL] },
];

/// Switches that the parser of ETWAnalyzer takes for any sub command, whether they mean something to it or not.
pub(super) const KNOWN: &str = "\
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

/// The sub command of that name.
pub(super) fn dump(name: &str) -> Option<&'static Dump> {
    let lower = name.to_lowercase();
    DUMPS.iter().find(|dump| dump.names.contains(&lower.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_one_of_etwanalyzer_and_stands_once() {
        let known: Vec<&str> = KNOWN.split_whitespace().collect();
        for dump in DUMPS {
            let mut names: Vec<&str> =
                dump.switches.iter().flat_map(|table| table.iter()).flat_map(|s| s.names).copied().collect();
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
