//! What rules find becomes findings: who is to blame, what it costs, in which order.

use etwkit_analysis::diagnose::{DiagnoseRequest, Diagnosis, FindingRow, Rules, rules};
use etwkit_question::Question;
use etwkit_question::range::{Range, Unit};
use etwkit_trace::table::{
    CpuClass, CpuClassPriority, CpuCore, CpuMethod, CpuParking, CpuProcess, CpuSample, Disk,
    DiskIo, DnsQuery, DpcIsr, EventCount, FileIo, Gc, HardFault, Jit, NetIo, RegistryIo, Thread,
    ThreadPool,
};

use super::support::{Machine, Slice, diagnosed, event, first, found, off};

const MS: i64 = 1_000_000;

/// Threads 1 and 2 of `a` wait from 100 to 150 ms, switched in at 152, and from 140 to 160; thread 3 of `b`
/// from 200 to 210.
fn machine() -> Machine {
    let mut machine = Machine::new(&["a.exe", "a.exe", "b.exe"], 1000 * MS);
    machine
        .add(
            off(1, 100 * MS)
                .readied(150 * MS, 3)
                .ran(152 * MS, 155 * MS),
        )
        .add(
            off(2, 140 * MS)
                .readied(160 * MS, 3)
                .ran(160 * MS, 165 * MS),
        )
        .add(
            off(3, 200 * MS)
                .readied(210 * MS, 1)
                .ran(210 * MS, 215 * MS),
        );
    machine
}

const WAITS: &str = "\
-- rule: waits
-- title: Threads wait
-- sentence: {victim} waited {total}, {count} times up to {longest}; most {cost}
-- fix: End {culprit}.
-- needs: context_switch
-- evidence: dump wait --process {pid}
WITH waits AS (
  SELECT process_key, thread_key, last_out_ns AS from_ns, in_ns AS to_ns, wait_ns FROM context_switch
), total AS (
  SELECT union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(wait_ns) AS longest_ns FROM waits
)
SELECT 'x.sys' AS culprit, w.process_key, t.total_ns, t.count, t.longest_ns, union_duration(from_ns, to_ns) AS cost_ns,
  first_value(thread_key ORDER BY wait_ns DESC) AS thread_key, first_value(from_ns ORDER BY wait_ns DESC) AS at_ns,
  min(from_ns) AS from_ns, max(to_ns) AS to_ns
FROM waits w CROSS JOIN total t GROUP BY w.process_key, t.total_ns, t.count, t.longest_ns
";

fn diagnose(
    machine: &Machine,
    rules: &str,
    change: impl FnOnce(&mut DiagnoseRequest),
) -> Diagnosis {
    let rules = Rules::parse("test.sql", rules.as_bytes()).unwrap();
    let names = rules
        .0
        .iter()
        .map(|rule| rule.name.clone())
        .collect::<Vec<_>>()
        .join(";");
    let mut request = DiagnoseRequest {
        rules: rules.into(),
        rule: Some(names),
        ..DiagnoseRequest::default()
    };
    change(&mut request);
    request.ask(&machine.session()).unwrap()
}

#[test]
fn time_in_which_a_victim_could_not_go_on_counts_once() {
    let mut machine = machine();
    machine.switches.truncate(2);
    let found = diagnose(&machine, WAITS, |_| ()).findings;
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    // From 100 to 160 ms: the ready time after the wait is part of it.
    assert_eq!(
        (one.cost_ns, one.cost_percent, one.count),
        (Some(60 * MS), Some(6.0), Some(2))
    );
    assert_eq!(
        (one.longest_ns, one.at_ns, one.tid),
        (Some(50 * MS), Some(100 * MS), Some(101))
    );
    assert_eq!(
        one.sentence,
        "a.exe (4) waited 60.0 ms, 2 times up to 50.0 ms; most 60.0 ms"
    );
    assert_eq!(
        (one.evidence.as_str(), one.fix.as_str()),
        ("dump wait --process 4", "End x.sys.")
    );
    assert_eq!(
        (one.from_ns, one.to_ns, one.confidence.as_str()),
        (Some(100 * MS), Some(160 * MS), "high")
    );
    assert_eq!(
        one.chain.as_deref(),
        Some(
            "a.exe (4) thread 101 waited 50.0 ms (UserRequest) for b.exe (8) thread 103, of which nothing was recorded"
        )
    );
}

#[test]
fn victims_of_a_culprit_are_one_finding() {
    let found = diagnose(&machine(), WAITS, |_| ()).findings;
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.cost_ns, one.process.as_deref()),
        (Some(70 * MS), Some("a.exe"))
    );
    assert_eq!(
        one.sentence,
        "a.exe (4) and 1 more waited 70.0 ms, 3 times up to 50.0 ms; most 60.0 ms"
    );
    assert_eq!(one.victims, "a.exe (4) 60.0 ms, b.exe (8) 10.0 ms");
    // The line has to show the total of the sentence.
    assert_eq!(one.evidence, "dump wait --process \"4;8\"");
}

/// A cost of 70 ms, in a recording of 1,000 ms and in 500 ms of it.
#[test]
fn shares_are_of_the_part_that_was_extracted() {
    let mut machine = machine();
    for (range_ns, share) in [(None, 7.0), (Some((0, 500 * MS)), 14.0)] {
        machine.range_ns = range_ns;
        let found = diagnose(&machine, WAITS, |_| ()).findings;
        assert_eq!(found[0].cost_percent, Some(share), "{range_ns:?}");
    }
}

/// A ring of buffers has the second half of the recording, and all processors from some time on.
#[test]
fn shares_are_of_what_a_ring_kept() {
    let high = "high";
    let medium = "medium: it started when not all processors were recorded";
    let mut machine = machine();
    for (ring_ns, share, confidence) in [
        (None, 7.0, high),
        (Some((0, 0)), 7.0, high),
        (Some((500 * MS, 500 * MS)), 14.0, medium),
        (Some((0, 500 * MS)), 7.0, medium),
    ] {
        machine.ring_ns = ring_ns;
        let found = diagnose(&machine, WAITS, |_| ()).findings;
        assert_eq!(
            (found[0].cost_percent, found[0].confidence.as_str()),
            (Some(share), confidence),
            "{ring_ns:?}"
        );
    }
}

/// Lines of evidence show what the rule does not need only where a victim has it.
#[test]
fn evidence_that_would_show_nothing_is_left_out() {
    let rules = WAITS.replace(
        "-- evidence: dump wait --process {pid}",
        "-- evidence: dump wait --process {pid}\n-- evidence of hard_fault: dump hard-fault --process {pid}",
    );
    let mut machine = machine();
    let evidence = |machine: &Machine| {
        diagnose(machine, &rules, |_| ()).findings[0]
            .evidence
            .clone()
    };
    assert_eq!(evidence(&machine), "dump wait --process \"4;8\"");
    let fault = |process_key| HardFault {
        process_key,
        thread_key: 3,
        ..HardFault::default()
    };
    machine.faults = vec![fault(Some(0)), fault(None)];
    assert_eq!(
        evidence(&machine),
        "dump wait --process \"4;8\"",
        "no victim has faults"
    );
    machine.faults.push(fault(Some(2)));
    assert_eq!(
        evidence(&machine),
        "dump wait --process \"4;8\"\ndump hard-fault --process \"4;8\""
    );
}

/// A finding without victims has no process whose rows could be looked for.
#[test]
fn evidence_of_a_finding_without_victims_is_left_out_where_a_table_is_empty() {
    const NOTE: &str = "\
-- rule: note
-- title: Good to know
-- severity: note
-- sentence: {culprit}
-- evidence of hard_fault: dump hard-fault
SELECT 'it' AS culprit, CAST(NULL AS INT) AS process_key
";
    let mut machine = machine();
    for evidence in ["", "dump hard-fault"] {
        let found = diagnose(&machine, NOTE, |_| ()).findings;
        assert_eq!(found[0].evidence, evidence);
        machine.faults.push(HardFault::default());
    }
}

/// A symptom and its cause, which costs less, over the same waits.
const SYMPTOM: &str = "\
-- rule: hang
-- title: h
-- sentence: {culprit}
-- symptom: yes
-- pieces: culprit, process_key, from_ns, to_ns FROM waits
WITH waits AS (SELECT 'hang' AS culprit, process_key, last_out_ns AS from_ns, in_ns AS to_ns FROM context_switch)
SELECT culprit, process_key, 90000000 AS cost_ns FROM waits
-- rule: cause
-- title: c
-- sentence: {culprit}
-- pieces: culprit, process_key, from_ns, to_ns FROM waits
WITH waits AS (SELECT 'share' AS culprit, process_key, last_out_ns AS from_ns, in_ns AS to_ns FROM context_switch)
SELECT culprit, process_key, 50000000 AS cost_ns FROM waits
";

#[test]
fn a_symptom_names_its_cause_and_ranks_behind_it() {
    let found = diagnose(&machine(), SYMPTOM, |_| ()).findings;
    let ranks: Vec<_> = found
        .iter()
        .map(|finding| (finding.rule.as_str(), finding.number, finding.explained_by))
        .collect();
    assert_eq!(ranks, [("cause", 1, None), ("hang", 2, Some(1))]);
    // A cause that is not shown is not named.
    let found = diagnose(&machine(), SYMPTOM, |request| {
        request.rule = Some("hang".into());
    });
    assert_eq!(found.findings[0].explained_by, None);
}

/// Two culprits, a note, a rule that fails, and one with a typing error.
const SEVERAL: &str = "\
-- rule: small
-- title: s
-- sentence: {culprit} {total}
SELECT 'small' AS culprit, 5000000 AS cost_ns UNION ALL SELECT 'large', 90000000
-- rule: note
-- title: n
-- severity: note
-- sentence: {culprit}
SELECT 'odd' AS culprit
-- rule: broken
-- title: b
-- sentence: {culprit}
SELECT nothing FROM process
-- rule: slip
-- title: d
-- sentence: {culprit}
-- needs: contxt_switch
SELECT 'x' AS culprit
";

#[test]
fn causes_that_a_limit_of_the_cost_leaves_out_are_counted() {
    let all = diagnose(&machine(), SEVERAL, |_| ());
    let dear = diagnose(&machine(), SEVERAL, |request| {
        request.cost = Range::parse("100s..", Unit::Milliseconds).unwrap();
    });
    let causes = all.findings.iter().filter(|row| row.cost_ns.is_some());
    assert_eq!((all.left_out, dear.left_out), (0, causes.count()));
    assert!(dear.left_out > 0 && dear.findings.is_empty());
}

#[test]
fn the_costliest_stands_first_and_notes_last() {
    let Diagnosis {
        findings, rules, ..
    } = diagnose(&machine(), SEVERAL, |_| ());
    let found: Vec<_> = findings
        .iter()
        .map(|row| (row.number, row.culprit.as_str(), row.cost_ns))
        .collect();
    assert_eq!(
        found,
        [
            (1, "large", Some(90 * MS)),
            (2, "small", Some(5 * MS)),
            (3, "odd", None)
        ]
    );
    let states: Vec<_> = rules
        .iter()
        .map(|row| (row.rule.as_str(), row.state.as_str(), row.found))
        .collect();
    let expected = [
        ("small", "found", 2),
        ("note", "found", 1),
        ("broken", "failed", 0),
        ("slip", "not checked", 0),
    ];
    assert_eq!(states, expected);
    let missing: Vec<_> = rules
        .iter()
        .filter_map(|row| row.missing.as_deref())
        .collect();
    assert!(missing[0].contains("nothing"), "{missing:?}");
    assert_eq!(missing[1], "topic or table that is called contxt_switch");
}

#[test]
fn findings_are_chosen_by_cost_and_number() {
    let culprits = |change: fn(&mut DiagnoseRequest)| -> Vec<String> {
        let found = diagnose(&machine(), SEVERAL, change).findings;
        found.into_iter().map(|row| row.culprit).collect()
    };
    assert_eq!(
        culprits(|asked| asked.cost = Range::parse("50..", Unit::Milliseconds).unwrap()),
        ["large"]
    );
    assert_eq!(
        culprits(|asked| asked.without_notes = true),
        ["large", "small"]
    );
    assert_eq!(culprits(|asked| asked.top = Some(1)), ["large"]);
}

#[test]
fn what_is_lost_lowers_the_confidence() {
    let mut machine = machine();
    machine.lost_events = 3;
    let found = diagnose(&machine, WAITS, |_| ()).findings;
    assert_eq!(
        found[0].confidence,
        "medium: events of the recording are missing"
    );
}

const OFF: &str = "\
-- rule: off
-- title: Threads are off
-- sentence: {victim} was off for {total}
SELECT 'x.sys' AS culprit, process_key, thread_key, last_out_ns AS at_ns, in_ns - last_out_ns AS cost_ns,
  in_ns - last_out_ns AS longest_ns
FROM context_switch WHERE last_out_ns IS NOT NULL
";

/// Without the events that end waits no wait can be followed, and the findings are there all the same.
#[test]
fn findings_without_events_that_end_waits_have_no_chain() {
    let mut machine = Machine::new(&["a.exe"], 1000 * MS);
    machine.add(off(1, 100 * MS).ran(300 * MS, 310 * MS));
    let found = diagnose(&machine, OFF, |_| ()).findings;
    let found: Vec<_> = found
        .iter()
        .map(|row| (row.cost_ns, row.chain.as_deref()))
        .collect();
    assert_eq!(found, [(Some(200 * MS), None)]);
}

#[test]
fn the_first_line_is_the_costliest_finding() {
    let rules = Rules::parse("test.sql", SEVERAL.as_bytes()).unwrap();
    let request = DiagnoseRequest {
        rules: rules.into(),
        rule: Some("small;note;slip".to_owned()),
        ..DiagnoseRequest::default()
    };
    let answer = request.answer(&machine().session()).unwrap();
    let part = &answer.parts[0];
    assert_eq!(
        format!("{:?}", part.head[0].pieces),
        r#"[Words("large 90.0 ms")]"#
    );
    let foot: Vec<String> = part
        .foot
        .iter()
        .map(|line| format!("{:?}", line.pieces))
        .collect();
    assert!(
        foot[1].contains("slip: no topic or table that is called contxt_switch"),
        "{foot:?}"
    );
}

/// Thread 1 is ready for 150 ms until it gets the only efficient core; the performant one has no switch.
#[test]
fn a_performant_core_that_ran_nothing_was_idle() {
    let mut machine = Machine::new(&["a.exe"], 1000 * MS);
    let core = |cpu, class| CpuCore {
        cpu,
        efficiency_class: Some(class),
        ..CpuCore::default()
    };
    machine.cores = vec![core(1, 0), core(7, 1)];
    machine
        .add(first(1, 0, 100 * MS))
        .add(off(1, 100 * MS).preempted().ran(250 * MS, 400 * MS));
    let found = found(&machine, "wrong-cores");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.process.as_deref(), one.cost_ns),
        (Some("a.exe"), Some(150 * MS))
    );
}

/// Thread 2 is ready from 100 to 400 ms, in which thread 1 has its processor. On the other one
/// thread 3 runs until then, or ends earlier and leaves it idle.
#[test]
fn a_delay_is_due_to_others_as_long_as_no_processor_is_idle() {
    for (other_ends, cost) in [(400, Some(300 * MS)), (380, Some(300 * MS)), (200, None)] {
        let mut machine = Machine::new(&["hog.exe", "slow.exe", "other.exe"], 1000 * MS);
        let on = |mut slice: Slice, cpu| {
            slice.0.cpu = Some(cpu);
            slice.0.priority = Some(8);
            slice
        };
        let mut late = off(2, 100 * MS).preempted().ran(400 * MS, 500 * MS);
        late.0.instead_thread_key = Some(1);
        late.0.instead_priority = Some(9);
        machine
            .add(on(first(2, 0, 100 * MS), 0))
            .add(on(first(1, 100 * MS, 400 * MS), 0))
            .add(on(first(3, 0, other_ends * MS), 1))
            .add(on(first(3, 400 * MS, 500 * MS), 1))
            .add(on(late, 0));
        let found = found(&machine, "busy-processors");
        let costs: Vec<_> = found.iter().map(|one| one.cost_ns).collect();
        assert_eq!(costs, Vec::from_iter(cost.map(Some)), "{other_ends}");
        if let Some(one) = found.first() {
            assert_eq!(
                one.sentence,
                "slow.exe (8) got no processor for 300 ms, since hog.exe (4) kept them busy with a \
                 higher priority: one delay, longest 300 ms"
            );
        }
    }
}

/// A thread waits for its turns until one of ten processes ends its own. If these are of one program, as in a build,
/// this program keeps the processors busy; ten programs, or more processes of its own program, are nobody in particular.
#[test]
fn processes_of_one_program_keep_processors_busy_together() {
    for (victim, others, culprit) in [
        ("slow.exe", Some("cc.exe"), Some("cc.exe")),
        ("slow.exe", None, None),
        ("cc.exe", Some("cc.exe"), None),
    ] {
        let names: Vec<String> = (0..10).map(|number| format!("other{number}")).collect();
        let programs = names.iter().map(String::as_str);
        let programs: Vec<&str> = ["System", "victim"].into_iter().chain(programs).collect();
        let mut machine = Machine::new(&programs, 2_000 * MS);
        machine.processes[2].name = Some(victim.into());
        for process in &mut machine.processes[3..] {
            process.name = others.map(Into::into).or_else(|| process.name.take());
        }
        for number in 0_i32..10 {
            let from = i64::from(number) * 100 * MS;
            let turn = from + 50 * MS;
            let mut other = first(3 + number, from, turn);
            other.0.cpu = Some(0);
            let mut late = off(2, from).preempted().ran(turn, turn + 50 * MS);
            late.0.cpu = Some(0);
            late.0.priority = Some(8);
            late.0.instead_thread_key = Some(3 + number);
            late.0.instead_priority = Some(8);
            machine.add(other).add(late);
        }
        let found = found(&machine, "busy-processors");
        let facts: Vec<_> = found
            .iter()
            .map(|one| (one.culprit.as_str(), one.cost_ns, one.evidence.as_str()))
            .collect();
        let expected = culprit.map(|name| (name, Some(500 * MS), "dump cpu --process cc.exe"));
        assert_eq!(facts, Vec::from_iter(expected), "{victim} {others:?}");
    }
}

/// A program that is ready for 18 ms before each of its turns: no delay is long, but of 38 ms it gets 20.
#[test]
fn many_short_delays_are_noticed_by_their_share() {
    for (turn_ms, cost) in [(20_i64, Some(2160 * MS)), (60, None)] {
        let mut machine = Machine::new(&["hog.exe", "slow.exe"], 10_000 * MS);
        for number in 0_i64..120 {
            let from = number * (18 + turn_ms) * MS;
            let turn = from + 18 * MS;
            let mut hog = first(1, from, turn);
            hog.0.cpu = Some(0);
            let mut late = off(2, from).preempted().ran(turn, turn + turn_ms * MS);
            late.0.cpu = Some(0);
            late.0.priority = Some(8);
            late.0.instead_thread_key = Some(1);
            late.0.instead_priority = Some(8);
            machine.add(hog).add(late);
        }
        assert_cost(&machine, "busy-processors", cost, &format!("{turn_ms} ms"));
    }
}

/// Costs of what a rule finds.
fn costs(machine: &Machine, rule: &str) -> Vec<Option<i64>> {
    let found = found(machine, rule);
    found.iter().map(|one| one.cost_ns).collect()
}

/// Checks that a rule finds this cost, or nothing.
#[track_caller]
fn assert_cost(machine: &Machine, rule: &str, cost: Option<i64>, case: &str) {
    let expected = Vec::from_iter(cost.map(Some));
    assert_eq!(costs(machine, rule), expected, "{case}");
}

/// A file on a share.
const SHARED: &str = r"\\filer\team\plan.xlsx";

/// A file that the first thread opens; `None` if the opening does not end.
fn opening(path: &str, start_ns: i64, end_ns: Option<i64>) -> FileIo {
    FileIo {
        kind: "create",
        process_key: Some(1),
        thread_key: Some(1),
        start_ns: Some(start_ns),
        end_ns,
        duration_ns: end_ns.map(|end_ns| end_ns - start_ns),
        path: Some(path.into()),
        ..FileIo::default()
    }
}

/// A request of the thread of a program: when it was sent, when the disk began it, and when it was done.
fn transfer(
    kind: &'static str,
    program: i32,
    [init_ns, begin_ns, complete_ns]: [i64; 3],
) -> DiskIo {
    DiskIo {
        kind,
        process_key: Some(program),
        thread_key: Some(program),
        init_ns,
        complete_ns,
        io_ns: complete_ns - init_ns,
        queue_ns: Some(begin_ns - init_ns),
        service_ns: Some(complete_ns - begin_ns),
        priority: 3,
        ..DiskIo::default()
    }
}

/// 20 reads of low priority that take 40 ms each, and one larger request of another program.
#[test]
fn long_disk_requests_of_low_priority_are_a_note_where_they_take_much_of_the_recording() {
    let half = Some((10_000 * MS, 10_000 * MS));
    for (length_ms, ring_ns, is_told) in [
        (10_000_i64, None, true),
        (20_000, None, false),
        // Of a ring only what it kept counts.
        (20_000, half, true),
    ] {
        let mut machine = Machine::new(&["service.exe", "build.exe"], length_ms * MS);
        machine.ring_ns = ring_ns;
        let read = |number: i64| DiskIo {
            priority: 2,
            size_bytes: 4_096,
            ..transfer("read", 1, [0, 10, 40].map(|at| (number * 100 + at) * MS))
        };
        let other = DiskIo {
            size_bytes: 1 << 20,
            ..transfer("read", 2, [5_000, 5_000, 5_001].map(|at| at * MS))
        };
        machine.transfers = (0..20).map(read).chain([other]).collect();
        let found = found(&machine, "low-priority-io");
        let case = format!("{length_ms} ms, {ring_ns:?}");
        assert_eq!(found.len(), usize::from(is_told), "{case}");
    }
}

/// 50 hard faults of 5 ms, which start every 2 s or every 15 ms, in a program that lives for 100 s.
#[test]
fn hard_faults_of_a_second_are_noticed_and_a_trickle_is_not() {
    for (every_ms, cost) in [(2000_i64, None), (15, Some(250 * MS))] {
        let mut machine = Machine::new(&["System", "a.exe"], 100_000 * MS);
        machine.add(first(2, 0, 100_000 * MS));
        let fault = |number: i64| HardFault {
            process_key: Some(2),
            thread_key: 2,
            start_ns: number * every_ms * MS,
            end_ns: (number * every_ms + 5) * MS,
            duration_ns: 5 * MS,
            path: Some(r"C:\map.dat".into()),
            ..HardFault::default()
        };
        machine.faults = (0..50).map(fault).collect();
        assert_cost(
            &machine,
            "hard-faults",
            cost,
            &format!("every {every_ms} ms"),
        );
    }
}

/// 20 hard faults of 5 ms are a third of a program that lives for 300 ms, and a tenth of a longer one.
#[test]
fn hard_faults_of_a_short_program_are_noticed_by_their_share() {
    for (life_ms, cost) in [(300_i64, Some(100 * MS)), (1000, None)] {
        let mut machine = Machine::new(&["System", "a.exe"], 2000 * MS);
        let (from, to) = (100 * MS, (100 + life_ms) * MS);
        machine.add(first(2, from, to));
        machine.processes[2].start_ns = Some(from);
        machine.processes[2].stop_ns = Some(to);
        let fault = |number: i64| HardFault {
            process_key: Some(2),
            thread_key: 2,
            start_ns: from + number * 10 * MS,
            end_ns: from + (number * 10 + 5) * MS,
            duration_ns: 5 * MS,
            path: Some(r"C:\map.dat".into()),
            ..HardFault::default()
        };
        machine.faults = (0..20).map(fault).collect();
        assert_cost(&machine, "hard-faults", cost, &format!("{life_ms} ms"));
    }
}

/// Threads 1 and 2 take turns at a lock: 40 waits of 8 ms in 16 s are 2 %, in 20 s less.
#[test]
fn a_queue_takes_two_percent_of_its_time() {
    for (every_ms, cost) in [(400_i64, Some(320 * MS)), (500, None)] {
        let mut machine = Machine::new(&["a.exe", "a.exe"], 30_000 * MS);
        let lock = machine.stack(&["ntdll.dll!RtlAcquireSRWLockExclusive", "a.exe!Log"]);
        for number in 0_i64..40 {
            let from = number * every_ms * MS;
            let thread = 1 + i32::try_from(number % 2).unwrap();
            let wait = off(thread, from).readied(from + 8 * MS, 3 - thread);
            machine.add(wait.ran(from + 8 * MS, from + 9 * MS).in_stack(lock));
        }
        assert_cost(
            &machine,
            "lock-convoy",
            cost,
            &format!("every {every_ms} ms"),
        );
    }
}

/// Seven waits of 100 ms for a revocation server, one after the other: with 1 ms between two of
/// them they are one wait, with 10 ms they are seven that are short.
#[test]
fn a_wait_for_a_revocation_server_may_be_split() {
    for (gap_ms, cost) in [(1_i64, Some(700 * MS)), (10, None)] {
        let mut machine = Machine::new(&["a.exe", "System"], 5_000 * MS);
        let check = machine.stack(&[
            "ntdll.dll!NtWaitForSingleObject",
            "crypt32.dll!CertGetCertificateChain",
            "a.exe!Check",
        ]);
        for number in 0_i64..7 {
            let from = (1_000 + number * (100 + gap_ms)) * MS;
            let wait = off(1, from).readied_by_dpc(from + 100 * MS, 2);
            machine.add(
                wait.ran(from + 100 * MS, from + (100 + gap_ms) * MS)
                    .in_stack(check),
            );
        }
        let found = found(&machine, "certificate-wait");
        let facts: Vec<_> = found
            .iter()
            .map(|one| (one.cost_ns, one.count, one.at_ns))
            .collect();
        let expected = cost.map(|cost| (Some(cost), Some(1), Some(1_000 * MS)));
        assert_eq!(facts, Vec::from_iter(expected), "{gap_ms} ms apart");
    }
}

/// Without names of functions a wait for a revocation server is known by the library that fetches lists. A wait of
/// the library that checks certificates proves nothing: the rule is not checked then.
#[test]
fn a_wait_for_a_revocation_server_needs_names_or_the_library_that_fetches() {
    for (waits_in, state) in [
        (&["cryptnet.dll+fetch", "crypt32.dll+chain"][..], "found"),
        (&["crypt32.dll+chain"], "not checked"),
        (&["crypt32.dll!CryptMsgUpdate"], "nothing"),
    ] {
        let mut machine = Machine::new(&["a.exe", "System"], 5_000 * MS);
        let stack = [&["ntdll.dll!NtWaitForSingleObject"], waits_in].concat();
        let stack = machine.stack(&stack);
        let wait = off(1, 1_000 * MS).readied_by_dpc(3_000 * MS, 2);
        machine.add(wait.ran(3_000 * MS, 3_001 * MS).in_stack(stack));
        let diagnosis = diagnosed(&machine, "certificate-wait");
        assert_eq!(diagnosis.rules[0].state, state, "{waits_in:?}");
    }
}

/// A query that was sent at 6 s and has no answer in a trace of 10 s, nor before its process ends
/// at 9 s.
#[test]
fn a_query_without_an_answer_lasts_to_the_end() {
    for (is_timed_out, stop_ns, cost) in [
        (true, None, Some(4_000 * MS)),
        (true, Some(9_000 * MS), Some(3_000 * MS)),
        (false, None, None),
    ] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        machine.processes[1].stop_ns = stop_ns;
        machine.lookups = vec![DnsQuery {
            process_key: Some(1),
            thread_key: Some(1),
            name: "gate.example".into(),
            query_type: 1,
            start_ns: Some(6_000 * MS),
            is_timed_out,
            timed_out_servers: is_timed_out.then(|| "192.0.2.1;".to_owned()),
            ..DnsQuery::default()
        }];
        assert_cost(
            &machine,
            "dns-timeout",
            cost,
            &format!("{is_timed_out} {stop_ns:?}"),
        );
    }
}

/// One query of a server that does not answer is enough, from 300 ms on.
#[test]
fn one_name_that_is_looked_up_slowly_is_noticed() {
    for (duration_ms, cost) in [(308, Some(308 * MS)), (290, None)] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        machine.lookups = vec![DnsQuery {
            process_key: Some(1),
            thread_key: Some(1),
            name: "gate.example".into(),
            query_type: 1,
            start_ns: Some(6_000 * MS),
            duration_ns: Some(duration_ms * MS),
            is_timed_out: true,
            timed_out_servers: Some("192.0.2.1;".to_owned()),
            ..DnsQuery::default()
        }];
        assert_cost(&machine, "dns-timeout", cost, &format!("{duration_ms}"));
    }
}

/// Queries of a server that does not answer, one after the other: each of them is shorter than what one alone has to
/// take, and only those of 100 ms and more count.
#[test]
fn names_that_are_each_looked_up_a_little_slowly_add_up() {
    for (duration_ms, cost) in [(290_i64, Some(1_160 * MS)), (90, None)] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        let query = |number: i64| DnsQuery {
            process_key: Some(1),
            thread_key: Some(1),
            name: "gate.example".into(),
            query_type: 1,
            start_ns: Some(number * 1_000 * MS),
            duration_ns: Some(duration_ms * MS),
            is_timed_out: true,
            timed_out_servers: Some("192.0.2.1;".to_owned()),
            ..DnsQuery::default()
        };
        machine.lookups = (1..=4).map(query).collect();
        assert_cost(&machine, "dns-timeout", cost, &format!("{duration_ms}"));
    }
}

/// A service looks up a name for 1 s, and a program waits for the service: for all of this time, or for little
/// of it.
#[test]
fn a_program_waits_with_the_service_that_looks_up_a_name() {
    // 17: the answer of a server; 15 and 16: the next request, for which a server waits.
    for (wait_from_ms, readied_ms, reason, end) in [
        (
            Some(6_000_i64),
            7_001_i64,
            17,
            "; app.exe (8) waited with it",
        ),
        (Some(6_000), 7_001, 15, ""),
        (Some(6_000), 7_001, 16, ""),
        (Some(6_900), 7_001, 17, ""),
        // A wait for something else that the service did later.
        (Some(6_000), 9_000, 17, ""),
        // Since when it waited is not known.
        (None, 7_001, 17, ""),
    ] {
        let mut machine = Machine::new(&["service.exe", "app.exe"], 10_000 * MS);
        machine.lookups = vec![DnsQuery {
            process_key: Some(1),
            thread_key: Some(1),
            name: "gate.example".into(),
            query_type: 1,
            start_ns: Some(6_000 * MS),
            duration_ns: Some(1_000 * MS),
            is_timed_out: true,
            timed_out_servers: Some("192.0.2.1;".to_owned()),
            ..DnsQuery::default()
        }];
        let answered = readied_ms * MS;
        let mut wait = off(2, wait_from_ms.unwrap_or(6_000) * MS).readied(answered, 1);
        if wait_from_ms.is_none() {
            (wait.0.last_out_ns, wait.0.wait_ns) = (None, None);
        }
        machine.add(wait.ran(answered, answered + MS).reason(reason));
        let found = found(&machine, "dns-timeout");
        let sentences: Vec<_> = found.iter().map(|one| one.sentence.as_str()).collect();
        let expected = format!(
            "service.exe (4) waited 1.00 s for names, since the DNS server 192.0.2.1 did not answer: \
             1 query, up to 1.00 s{end}"
        );
        assert_eq!(sentences, [expected]);
    }
}

/// 26 methods of 11 ms are large, and 60 of 4 ms are usual ones.
#[test]
fn many_large_methods_cost_as_much_as_one() {
    for (count, length_ms, cost) in [(26_i64, 11_i64, Some(286 * MS)), (60, 4, None)] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        let method = |number: i64| Jit {
            process_key: Some(1),
            thread_key: Some(1),
            start_ns: Some(number * 20 * MS),
            ts_ns: (number * 20 + length_ms) * MS,
            duration_ns: Some(length_ms * MS),
            ..Jit::default()
        };
        machine.compiled = (0..count).map(method).collect();
        assert_cost(&machine, "jit-start", cost, &format!("{length_ms} ms"));
    }
}

/// A program of .NET waits in its runtime: without names of functions it may be for a lock.
#[test]
fn locks_of_a_runtime_need_its_names() {
    for (waits_in, state) in [
        ("coreclr.dll+wait", "not checked"),
        ("coreclr.dll!WaitEx", "nothing"),
    ] {
        let mut machine = Machine::new(&["a.exe", "b.exe"], 1000 * MS);
        let stack = machine.stack(&["ntdll.dll!NtWaitForSingleObject", waits_in, "a.exe!Main"]);
        let wait = off(1, 100 * MS).readied(110 * MS, 2);
        machine.add(wait.ran(110 * MS, 111 * MS).in_stack(stack));
        let diagnosis = diagnosed(&machine, "lock-convoy");
        assert_eq!(diagnosis.rules[0].state, state, "{waits_in}");
    }
}

/// Threads 1 and 2 take turns at a mutex: their waits look like those for an event, but each ends
/// when the other thread gives the mutex back.
#[test]
fn a_mutex_is_a_lock() {
    for (ended_by, cost) in [
        ("ntdll.dll!NtReleaseMutant", Some(320 * MS)),
        ("ntdll.dll!NtSetEvent", None),
    ] {
        let mut machine = Machine::new(&["a.exe", "a.exe"], 10_000 * MS);
        let waits = machine.stack(&["KernelBase.dll!WaitForSingleObjectEx", "a.exe!Log"]);
        let gives_back = machine.stack(&[ended_by, "a.exe!Log"]);
        for number in 0_i64..40 {
            let from = number * 100 * MS;
            let thread = 1 + i32::try_from(number % 2).unwrap();
            let mut wait = off(thread, from)
                .readied(from + 8 * MS, 3 - thread)
                .ran(from + 8 * MS, from + 9 * MS)
                .in_stack(waits);
            wait.0.readying_stack_id = Some(gives_back);
            machine.add(wait);
        }
        assert_cost(&machine, "lock-convoy", cost, ended_by);
    }
}

/// Two threads take turns at a lock of the kernel: 40 waits of the given length, for a reason.
fn kernel_lock(threads: [i32; 2], reason: i32, calls: &[&'static str], wait_ms: i64) -> Machine {
    let mut machine = Machine::new(&["System", "System", "a.exe", "a.exe"], 30_000 * MS);
    machine.drivers = vec!["ntoskrnl.exe", "vault.sys", "fltmgr.sys", "win32kbase.sys"];
    let stack = machine.stack(calls);
    for (number, turn) in (0_i64..40).zip([0_usize, 1].into_iter().cycle()) {
        let from = number * 500 * MS;
        let to = from + wait_ms * MS;
        let wait = off(threads[turn], from).readied(to, threads[1 - turn]);
        machine.add(wait.ran(to, to + MS).reason(reason).in_stack(stack));
    }
    machine
}

/// Their functions need no names. A lock belongs to the driver that takes it, otherwise to the call of the
/// program.
#[test]
fn a_lock_of_the_kernel_is_known_by_the_reason_of_the_wait() {
    let own: &[_] = &[
        "ntoskrnl.exe+a",
        "vault.sys+b",
        "ntdll.dll!Nt",
        "a.exe!Save",
    ];
    let filter: &[_] = &["fltmgr.sys+c", "vault.sys+b", "ntdll.dll!Nt", "a.exe!Save"];
    let map: &[_] = &[
        "ntoskrnl.exe+d",
        "ntdll.dll!NtMapViewOfSection",
        "a.exe!Map",
    ];
    let change: &[_] = &[
        "ntoskrnl.exe!ExTimedWaitForUnblockPushLock",
        "ntdll.dll!NtClose",
        "a.exe!Map",
    ];
    let window: &[_] = &["win32kbase.sys+e", "ntdll.dll!NtUserShow", "a.exe!Show"];
    let (system, program) = ([1, 2], [3, 4]);
    for (threads, reason, calls, culprit) in [
        (program, 27, own, Some("vault.sys")),
        (program, 34, filter, Some("vault.sys")),
        (program, 28, map, Some("a.exe!Map")),
        // A wait for a change has the reason of a push lock.
        (program, 28, change, None),
        // The lock of the window manager has a rule of its own.
        (program, 27, window, None),
        // Nobody waits for what Windows does in the background.
        (system, 27, own, None),
        // Executive, PageIn, UserRequest, WrQueue, WrPageOut, WrRundown: events, memory and work.
        (program, 0, own, None),
        (program, 2, own, None),
        (program, 6, own, None),
        (program, 15, own, None),
        (program, 19, own, None),
        (program, 36, own, None),
    ] {
        let found = found(&kernel_lock(threads, reason, calls, 20), "lock-convoy");
        let sentences: Vec<_> = found.iter().map(|one| one.sentence.clone()).collect();
        let expected = culprit.map(|culprit| {
            format!(
                "Threads of a.exe (8) waited 800 ms for a kernel lock in {culprit}: 40 waits of 2 threads, \
                 longest 20.0 ms"
            )
        });
        assert_eq!(sentences, Vec::from_iter(expected), "{reason} {calls:?}");
    }
}

/// The thresholds are those of other locks: 40 waits of 8 ms in 20 s are less than 2 %.
#[test]
fn a_lock_of_the_kernel_that_is_seldom_taken_goes_unnoticed() {
    let calls = ["vault.sys+b", "ntdll.dll!NtWriteFile", "a.exe!Save"];
    for (wait_ms, cost) in [(8, None), (12, Some(480 * MS))] {
        let machine = kernel_lock([3, 4], 27, &calls, wait_ms);
        assert_cost(&machine, "lock-convoy", cost, &format!("{wait_ms} ms"));
    }
}

/// One thread of a program has a processor for 2 s, all of them in a loop of its OpenMP runtime.
fn looping() -> Machine {
    let mut machine = Machine::new(&["spin.exe", "late.exe"], 3000 * MS);
    let stack = machine.stack(&["libiomp5md.dll!__kmp_wait_template", "spin.exe!Work"]);
    machine.samples = (1..=2000)
        .map(|at| CpuSample {
            ts_ns: at * MS,
            process_key: Some(1),
            thread_key: 1,
            weight_ns: MS,
            stack_id: stack,
            has_stack: true,
            ..CpuSample::default()
        })
        .collect();
    let mut slice = first(1, 0, 2000 * MS);
    slice.0.priority = Some(8);
    machine.add(slice);
    machine
}

/// Findings of the rule on loops. A made machine has no list of topics, so that its stacks count as
/// recorded.
fn loops(machine: &Machine) -> Vec<FindingRow> {
    let spin = rules().iter().find(|rule| rule.name == "spin").unwrap();
    let text = spin.text().replace("samples with stacks", "stacks");
    diagnose(machine, &format!("-- rule: loops\n{text}"), |_| ()).findings
}

/// A thread of this program was ready for 50 ms while another one looped.
fn late(thread: i32) -> Slice {
    let mut late = off(thread, 100 * MS).preempted().ran(150 * MS, 160 * MS);
    late.0.priority = Some(8);
    late
}

#[test]
fn whoever_loops_is_not_its_own_victim() {
    let mut machine = looping();
    machine.add(late(2));
    let found = loops(&machine);
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    // What the other program lost is the cost, however little it is against the CPU of the loop.
    assert_eq!(
        (one.culprit.as_str(), one.process.as_deref(), one.cost_ns),
        ("spin.exe (4)", Some("late.exe"), Some(50 * MS))
    );
    assert_eq!(
        (one.count, one.longest_ns, one.at_ns),
        (Some(1), Some(50 * MS), Some(100 * MS))
    );
    assert_eq!(
        one.sentence,
        "late.exe (8) lost 50.0 ms of processors to threads of spin.exe (4) that waited in a loop \
         (OpenMP, libiomp5md.dll), which took 2.00 s of CPU in all"
    );
}

#[test]
fn a_loop_that_delays_no_other_program_costs_its_own_cpu() {
    let mut machine = looping();
    // A second thread of the same program does not make it a victim.
    machine.threads.push(Thread {
        thread_key: 3,
        tid: 103,
        process_key: Some(1),
        ..Thread::default()
    });
    machine.add(late(3));
    let found = loops(&machine);
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.process_key, one.cost_ns, one.victims.as_str()),
        (None, Some(2000 * MS), "")
    );
    assert_eq!(
        (one.count, one.longest_ns, one.at_ns),
        (Some(1), Some(2000 * MS), Some(0))
    );
    assert_eq!(
        one.sentence,
        "spin.exe (4) kept processors busy for 2.00 s with threads that waited in a loop (OpenMP, \
         libiomp5md.dll), which took 2.00 s of CPU in all"
    );
}

/// Three waits of `a` of 600 ms, and one of `b` of a second: `a` lost most, and `b` has the longest
/// piece.
#[test]
fn the_longest_piece_can_be_of_another_victim_than_the_one_that_lost_most() {
    let mut machine = Machine::new(&["a.exe", "b.exe", "srv.exe"], 9000 * MS);
    let checks = machine.stack(&["crypt32.dll!CertGetCertificateChain", "a.exe!Main"]);
    for (thread, from, to) in [
        (1, 0, 600),
        (1, 1000, 1600),
        (1, 2000, 2600),
        (2, 4000, 5000),
    ] {
        let wait = off(thread, from * MS).readied(to * MS, 3);
        machine.add(wait.ran(to * MS, (to + 10) * MS).in_stack(checks));
    }
    let found = found(&machine, "certificate-wait");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.process.as_deref(), one.cost_ns, one.count),
        (Some("a.exe"), Some(2800 * MS), Some(4))
    );
    assert_eq!(
        (one.longest_ns, one.at_ns, one.tid),
        (Some(1000 * MS), Some(4000 * MS), Some(102))
    );
}

/// Three threads wait for a thread of low priority at the same time: it held them up once.
#[test]
fn waits_at_the_same_time_are_one_inversion() {
    let mut machine = Machine::new(
        &["high.exe", "high.exe", "high.exe", "low.exe", "mid.exe"],
        1000 * MS,
    );
    let mut starved = off(4, 90 * MS).preempted().ran(300 * MS, 310 * MS);
    starved.0.priority = Some(4);
    starved.0.instead_thread_key = Some(5);
    machine.add(starved);
    for thread in 1..=3 {
        let mut wait = off(thread, (100 + i64::from(thread)) * MS)
            .readied(305 * MS, 4)
            .ran(305 * MS, 306 * MS)
            .reason(27);
        wait.0.priority = Some(12);
        machine.add(wait);
    }
    let found = found(&machine, "priority-inversion");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.cost_ns, one.count, one.at_ns),
        (Some(204 * MS), Some(1), Some(101 * MS))
    );
    assert_eq!(
        one.sentence,
        "high.exe (4) waited 204 ms for low.exe (8), thread 104, whose priority (4) was too low to \
         get a processor: once, longest wait 204 ms; mid.exe (12) ran instead"
    );
}

/// Two processes queue at the same place of a library: its finding is about both.
#[test]
fn the_total_of_a_queue_is_that_of_all_its_processes() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 60_000 * MS);
    let lock = machine.stack(&["ntdll.dll!RtlAcquireSRWLockExclusive", "a.exe!Log"]);
    for (thread, after) in [(1, 0), (2, 20_000)] {
        for number in 0_i64..20 {
            let from = (after + number * 400) * MS;
            let wait = off(thread, from).readied(from + 12 * MS, 3 - thread);
            machine.add(wait.ran(from + 12 * MS, from + 13 * MS).in_stack(lock));
        }
    }
    let found = found(&machine, "lock-convoy");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((one.cost_ns, one.count), (Some(480 * MS), Some(40)));
    assert_eq!(one.victims, "a.exe (4) 240 ms, b.exe (8) 240 ms");
}

#[test]
fn a_thread_that_alone_waits_for_a_lock_is_not_called_threads() {
    let mut machine = Machine::new(&["a.exe", "a.exe"], 60_000 * MS);
    let lock = machine.stack(&["ntdll.dll!RtlAcquireSRWLockExclusive", "a.exe!Log"]);
    for number in 0_i64..20 {
        let from = number * 400 * MS;
        let wait = off(1, from).readied(from + 12 * MS, 2);
        machine.add(wait.ran(from + 12 * MS, from + 13 * MS).in_stack(lock));
    }
    let found = found(&machine, "lock-convoy");
    let sentences: Vec<&str> = found.iter().map(|one| one.sentence.as_str()).collect();
    let expected =
        "A thread of a.exe (4) waited 240 ms for a lock in a.exe!Log: 20 waits, longest 12.0 ms";
    assert_eq!(sentences, [expected]);
}

/// Two threads of one process wait at the same time: the process waited once, in the total and in its own
/// cost.
#[test]
fn threads_of_a_process_that_queue_at_the_same_time_cost_it_their_union() {
    let mut machine = Machine::new(&["a.exe", "a.exe", "a.exe"], 10_000 * MS);
    let lock = machine.stack(&["ntdll.dll!RtlEnterCriticalSection", "a.exe!Load"]);
    for (thread, from_ms, to_ms) in [(1, 0, 600), (2, 200, 900)] {
        let wait = off(thread, from_ms * MS).readied(to_ms * MS, 3);
        machine.add(wait.ran(to_ms * MS, (to_ms + 1) * MS).in_stack(lock));
    }
    let found = found(&machine, "lock-convoy");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((one.cost_ns, one.count), (Some(900 * MS), Some(2)));
    assert_eq!(one.victims, "a.exe (4) 900 ms");
}

/// DPCs of two drivers interrupt a thread: neither driver took more of it than its own DPCs did.
#[test]
fn a_driver_costs_a_victim_no_more_than_its_own_dpcs() {
    let mut machine = Machine::new(&["System", "a.exe"], 1000 * MS);
    machine.drivers = vec!["net.sys", "disk.sys"];
    machine.stack(&["net.sys!Receive"]);
    machine.stack(&["disk.sys!Complete"]);
    let dpc = |frame_id, from_ms: i64, to_ms: i64| DpcIsr {
        kind: "dpc",
        cpu: 2,
        start_ns: from_ms * MS,
        end_ns: to_ms * MS,
        duration_ns: (to_ms - from_ms) * MS,
        frame_id,
        ..DpcIsr::default()
    };
    machine.dpcs = vec![dpc(0, 100, 300), dpc(1, 400, 700)];
    let mut interrupted = first(2, 0, 900 * MS);
    interrupted.0.dpc_isr_ns = Some(500 * MS);
    machine.add(interrupted);
    let costs: Vec<(String, Option<i64>, String)> = found(&machine, "dpc-storm")
        .into_iter()
        .map(|finding| (finding.culprit, finding.cost_ns, finding.victims))
        .collect();
    let of = |driver: &str, ms: i64| {
        let victim = format!("a.exe (8) {ms} ms");
        (driver.to_owned(), Some(ms * MS), victim)
    };
    assert_eq!(costs, [of("disk.sys", 300), of("net.sys", 200)]);
}

/// Two waits for a critical section, of a thread each or both of one: a lock that is held for so long is
/// noticed, however few wait, but one thread is no queue.
#[test]
fn one_long_wait_for_a_lock_is_enough() {
    for (length_ms, threads, cost) in [(250_i64, 2, Some(500 * MS)), (150, 2, None), (250, 1, None)]
    {
        let mut machine = Machine::new(&["a.exe", "a.exe", "a.exe"], 10_000 * MS);
        let lock = machine.stack(&["ntdll.dll!RtlEnterCriticalSection", "a.exe!Load"]);
        for number in 0_i64..2 {
            let from = number * 4000 * MS;
            let to = from + length_ms * MS;
            let thread = 1 + i32::try_from(number).unwrap() % threads;
            let wait = off(thread, from).readied(to, 3);
            machine.add(wait.ran(to, to + MS).in_stack(lock));
        }
        let case = format!("{length_ms} ms, {threads} threads");
        assert_cost(&machine, "lock-convoy", cost, &case);
    }
}

/// Two long waits: a push lock is meant to be held for microseconds, a resource may be held during I/O.
#[test]
fn a_resource_may_be_held_for_long() {
    for (reason, cost) in [(27, None), (28, Some(500 * MS))] {
        let mut machine = Machine::new(&["System", "a.exe", "a.exe", "a.exe"], 10_000 * MS);
        machine.drivers = vec!["vault.sys"];
        let lock = machine.stack(&["vault.sys+a", "ntdll.dll!NtWriteFile", "a.exe!Save"]);
        for (thread, from) in [(2, 0), (3, 4000 * MS)] {
            let to = from + 250 * MS;
            let wait = off(thread, from).readied(to, 4);
            machine.add(wait.ran(to, to + MS).reason(reason).in_stack(lock));
        }
        assert_cost(&machine, "lock-convoy", cost, &format!("reason {reason}"));
    }
}

/// A thread that starts has no function of the program below the lock of the loader.
#[test]
fn the_lock_of_the_loader_has_a_name() {
    let mut machine = Machine::new(&["a.exe", "a.exe", "a.exe"], 10_000 * MS);
    let lock = machine.stack(&[
        "ntdll.dll!RtlEnterCriticalSection",
        "ntdll.dll!LdrpAcquireLoaderLock",
        "ntdll.dll!LdrpInitializeThread",
    ]);
    for thread in 1..=2 {
        let wait = off(thread, 0).readied(900 * MS, 3);
        machine.add(wait.ran(900 * MS, 901 * MS).in_stack(lock));
    }
    let found = found(&machine, "lock-convoy");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.culprit.as_str(), one.cost_ns),
        ("ntdll.dll!LdrpAcquireLoaderLock", Some(900 * MS))
    );
}

/// The thread of a service that answers a call has a low priority and gets no processor.
#[test]
fn a_server_of_low_priority_holds_up_its_client() {
    // 17: the answer of a server; 15: the next request of a queue.
    for (reason, cost) in [(17, Some(205 * MS)), (15, None)] {
        let mut machine = Machine::new(&["client.exe", "service.exe", "mid.exe"], 1000 * MS);
        let mut starved = off(2, 100 * MS).preempted().ran(300 * MS, 310 * MS);
        starved.0.priority = Some(4);
        starved.0.instead_thread_key = Some(3);
        machine.add(starved);
        let mut call = off(1, 100 * MS)
            .readied(305 * MS, 2)
            .ran(305 * MS, 306 * MS)
            .reason(reason);
        call.0.priority = Some(9);
        machine.add(call);
        assert_cost(&machine, "priority-inversion", cost, &format!("{reason}"));
    }
}

/// What others lose to a loop of sleeps counts, and nothing else: a thread that sleeps lets others run.
#[test]
fn a_loop_that_sleeps_for_no_time_keeps_its_processor() {
    let mut machine = looping();
    let sleeps = machine.stack(&[
        "ntoskrnl.exe!NtDelayExecution",
        "ntdll.dll!NtDelayExecution",
        "KernelBase.dll!SleepEx",
        "spin.exe!Work",
    ]);
    for sample in &mut machine.samples {
        sample.stack_id = sleeps;
    }
    let mut late = off(2, 100 * MS).preempted().ran(250 * MS, 260 * MS);
    late.0.priority = Some(8);
    machine.add(late);
    let found = loops(&machine);
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.culprit.as_str(), one.process.as_deref(), one.cost_ns),
        ("spin.exe (4)", Some("late.exe"), Some(150 * MS))
    );
    assert_eq!(
        one.sentence,
        "late.exe (8) lost 150 ms of processors to threads of spin.exe (4) that waited in a loop \
         (Sleep), which took 2.00 s of CPU in all"
    );
}

/// Requests after a time in the queue, which another program's request takes on the same disk, or on another one.
#[test]
fn a_disk_is_busy_with_the_requests_of_another_program() {
    for (count, queue_ms, other_disk, priority, cost) in [
        (30, 10_i64, 0, 3, Some(300 * MS)),
        (100, 3, 0, 3, Some(300 * MS)),
        (300, 1, 0, 3, None),
        (30, 10, 1, 3, None),
        (30, 10, 0, 1, None),
    ] {
        let mut machine = Machine::new(&["System", "hog.exe", "slow.exe"], 10_000 * MS);
        for number in 0_i64..count {
            let from = number * 20 * MS;
            let begin = from + queue_ms * MS;
            let late = DiskIo {
                priority,
                ..transfer("read", 3, [from, begin, begin + MS])
            };
            let first = DiskIo {
                disk: other_disk,
                ..transfer("read", 2, [from - MS, from - MS, begin])
            };
            machine.transfers.extend([first, late]);
        }
        let found = found(&machine, "busy-disk");
        let costs: Vec<_> = found.iter().map(|one| one.cost_ns).collect();
        let case = format!("{queue_ms} ms, disk {other_disk}, priority {priority}");
        assert_eq!(costs, Vec::from_iter(cost.map(Some)), "{case}");
        if let Some(one) = found.first() {
            // Three digits count.
            let longest = if queue_ms < 10 {
                format!("{queue_ms}.00")
            } else {
                format!("{queue_ms}.0")
            };
            let expected = format!(
                "slow.exe (12) waited 300 ms in the queue of disk 0, since hog.exe (8) kept it busy: \
                 {count} requests, longest {longest} ms"
            );
            assert_eq!(one.sentence, expected);
        }
    }
}

/// Collections that each stop the program for that long, a part of it until all threads have stopped. Short ones
/// count if all of them take a tenth of the time from the first to the last one.
#[test]
fn a_program_stands_still_in_collections() {
    for (pauses, every_ms, pause_ms, suspending_ms, cost) in [
        (5, 500_i64, 80_i64, 1_i64, Some(400 * MS)),
        (10, 500, 40, 1, Some(400 * MS)),
        (5, 500, 40, 1, None),
        (30, 500, 15, 1, None),
        (5, 500, 80, 60, None),
        (100, 100, 15, 1, Some(1500 * MS)),
        (100, 190, 15, 1, None),
        (60, 100, 15, 1, None),
    ] {
        let mut machine = Machine::new(&["a.exe"], 20_000 * MS);
        let collection = |number: i32| {
            let asked = i64::from(number) * every_ms * MS;
            let start_ns = asked + suspending_ms * MS;
            Gc {
                process_key: Some(1),
                number,
                generation: Some(2),
                start_ns: Some(start_ns),
                end_ns: Some(asked + (pause_ms - 1) * MS),
                suspended_ns: Some(pause_ms * MS),
                suspending_ns: Some(suspending_ms * MS),
                ..Gc::default()
            }
        };
        machine.collections = (1..=pauses).map(collection).collect();
        let found = found(&machine, "gc-pause");
        let costs: Vec<_> = found.iter().map(|one| one.cost_ns).collect();
        let case = format!("{pauses} of {pause_ms} ms each {every_ms} ms, {suspending_ms} ms");
        assert_eq!(costs, Vec::from_iter(cost.map(Some)), "{case}");
        if let Some(one) = found.first() {
            let expected = format!(
                ", {pauses} times up to {pause_ms}.0 ms, mostly for garbage collections of generation 2"
            );
            assert!(one.sentence.ends_with(&expected), "{}", one.sentence);
        }
    }
}

/// A provider that writes 2 MB a second, beside 0.5 MB of samples or nothing; and lists of 15 MB at the end.
#[test]
fn lists_at_the_end_fill_no_ring() {
    let count = |second: i64, kernel: Option<(i32, i32)>, name: &str, events: i64, bytes: i64| {
        let (kernel_group, opcode) = kernel.unzip();
        EventCount {
            second,
            kernel_group,
            opcode,
            provider_guid: kernel.is_none().then(|| name.into()),
            provider: Some(name.into()),
            events,
            record_bytes: bytes,
            ..EventCount::default()
        }
    };
    for samples in [1000, 0] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        for second in 0..10 {
            let chatty = count(second, None, "Chatty", 2000, 2_000_000);
            let sampled = count(second, Some((15, 46)), "PerfInfo", samples, 500 * samples);
            machine.counts.extend([chatty, sampled]);
        }
        let methods = count(9, None, "Chatty-Rundown", 20_000, 10_000_000);
        let images = count(9, Some((20, 4)), "Image", 20_000, 5_000_000);
        machine.counts.extend([methods, images]);
        let found = found(&machine, "tracing-cost");
        let sentences: Vec<_> = found.iter().map(|one| one.sentence.as_str()).collect();
        let expected = "The provider Chatty wrote 50.0 % of the trace, 2,000 events a second: a ring of 100.0 MiB holds 41.9 s";
        // A trace of a provider alone, with lists of modules, is meant to be one.
        assert_eq!(sentences, Vec::from_iter((samples > 0).then_some(expected)));
    }
}

/// Windows asks a driver about each process that starts: it waits for its service, or computes.
#[test]
fn a_driver_is_asked_before_a_process_starts() {
    let asks = [
        "guard.sys!Ask",
        "guard.sys!OnProcess",
        "ntoskrnl.exe!PspCallProcessNotifyRoutines",
        "ntoskrnl.exe!NtCreateUserProcess",
        "make.exe!Run",
    ];
    // The driver of a device is called otherwise.
    let calls = [
        "guard.sys!Control",
        "ntoskrnl.exe!IofCallDriver",
        "make.exe!Run",
    ];
    let stacks = [&asks[..], &calls[..]];
    for (stack, cost) in stacks.into_iter().zip([Some(250 * MS), None]) {
        let mut machine = Machine::new(&["make.exe", "service.exe"], 10_000 * MS);
        let stack = machine.stack(stack);
        for number in 0_i64..10 {
            let from = number * 100 * MS;
            let to = from + 20 * MS;
            machine.add(
                off(1, from)
                    .readied(to, 2)
                    .ran(to, to + 9 * MS)
                    .in_stack(stack),
            );
            machine.samples.extend((1..=5).map(|at| CpuSample {
                ts_ns: to + at * MS,
                process_key: Some(1),
                thread_key: 1,
                weight_ns: MS,
                stack_id: stack,
                has_stack: true,
                ..CpuSample::default()
            }));
        }
        let found = found(&machine, "driver-callback");
        let costs: Vec<_> = found.iter().map(|one| one.cost_ns).collect();
        assert_eq!(costs, Vec::from_iter(cost.map(Some)));
        if let Some(one) = found.first() {
            assert_eq!(
                one.sentence,
                "make.exe (4) spent 250 ms in the driver guard.sys, which Windows asks about its processes"
            );
        }
    }
}

/// A thread takes turns with another one, each time ready for 30 ms, while a processor is parked, or not.
#[test]
fn threads_take_turns_while_a_processor_is_parked() {
    for (kind, cost) in [("parked", Some(300 * MS)), ("soft", None)] {
        let mut machine = Machine::new(&["System", "a.exe"], 10_000 * MS);
        machine.parkings = vec![CpuParking {
            cpu: 7,
            start_ns: 0,
            stop_ns: 10_000 * MS,
            kind,
        }];
        for number in 0_i64..10 {
            let from = number * 100 * MS;
            let late = off(2, from).preempted();
            machine.add(late.ran(from + 30 * MS, from + 60 * MS));
        }
        assert_eq!(
            costs(&machine, "parked-processors"),
            Vec::from_iter(cost.map(Some)),
            "{kind}"
        );
    }
}

/// A program keeps the processor busy on which another one takes turns with it, while a further one is parked.
#[test]
fn busy_processors_are_due_to_those_that_are_parked() {
    let busy = "busy-processors";
    for (kind, expected) in [
        (
            "parked",
            vec![("parked-processors", 1, None), (busy, 2, Some(1))],
        ),
        ("soft", vec![(busy, 1, None)]),
    ] {
        let mut machine = Machine::new(&["System", "hog.exe", "slow.exe"], 10_000 * MS);
        machine.parkings = vec![CpuParking {
            cpu: 7,
            start_ns: 0,
            stop_ns: 10_000 * MS,
            kind,
        }];
        for number in 0_i64..10 {
            let from = number * 100 * MS;
            let turn = from + 30 * MS;
            let mut hog = first(2, from, turn);
            hog.0.cpu = Some(0);
            let mut late = off(3, from).preempted().ran(turn, turn + 30 * MS);
            late.0.cpu = Some(0);
            late.0.priority = Some(8);
            late.0.instead_thread_key = Some(2);
            late.0.instead_priority = Some(8);
            machine.add(hog).add(late);
        }
        let found = diagnosed(&machine, "busy-processors;parked-processors").findings;
        let ranks: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule.as_str(), finding.number, finding.explained_by))
            .collect();
        assert_eq!(ranks, expected, "{kind}");
    }
}

/// Six requests, which the disk began 50 ms after they were sent.
#[test]
fn a_disk_is_slow_if_it_takes_long_for_a_request() {
    let (with, without) = (Some(true), Some(false));
    for (kind, service_ms, every_ms, cache, cost) in [
        ("read", 150_i64, 1000_i64, without, Some(900 * MS)),
        ("read", 60, 1000, with, None),
        // Flushes of that length count, if the program does hardly anything else.
        ("flush", 90, 200, None, Some(540 * MS)),
        ("flush", 90, 200, with, Some(540 * MS)),
        ("flush", 90, 2000, with, None),
        // They are findings of write-cache-off.
        ("flush", 90, 200, without, None),
    ] {
        let mut machine = Machine::new(&["System", "a.exe"], 20_000 * MS);
        machine.disks = vec![Disk {
            is_write_cache_enabled: cache,
            ..Disk::default()
        }];
        let request = |number: i64| {
            let init_ns = number * every_ms * MS;
            let begin_ns = init_ns + 50 * MS;
            transfer(kind, 2, [init_ns, begin_ns, begin_ns + service_ms * MS])
        };
        machine.transfers = (0..6).map(request).collect();
        let case = format!("{kind} of {service_ms} ms every {every_ms} ms, cache {cache:?}");
        assert_cost(&machine, "slow-disk", cost, &case);
    }
}

/// Requests of 5 s, of which one was under way while the machine slept.
#[test]
fn a_request_that_waits_while_the_machine_sleeps_is_not_slow() {
    for (second, opcode, cost) in [
        (12, 49, Some(5000 * MS)),
        (12, 53, Some(10_000 * MS)),
        (40, 49, Some(10_000 * MS)),
    ] {
        let mut machine = Machine::new(&["System", "a.exe"], 60_000 * MS);
        let request = |second: i64| {
            let begin_ns = second * 1000 * MS;
            transfer("read", 2, [begin_ns, begin_ns, begin_ns + 5000 * MS])
        };
        machine.transfers = vec![request(10), request(20)];
        machine.counts = vec![event(second, "Power", 0, opcode)];
        let case = format!("opcode {opcode} in second {second}");
        assert_cost(&machine, "slow-disk", cost, &case);
    }
}

#[test]
fn one_request_has_no_each() {
    for (count, expected) in [
        (
            1,
            "a.exe (8) waited 5.00 s for disk 0: 1 request took 5.00 s without its time in the queue",
        ),
        (
            2,
            "a.exe (8) waited 10.0 s for disk 0: 2 requests took up to 5.00 s each without their time in the queue",
        ),
    ] {
        let mut machine = Machine::new(&["System", "a.exe"], 60_000 * MS);
        let request = |number: i64| {
            let begin_ns = number * 10_000 * MS;
            transfer("read", 2, [begin_ns, begin_ns, begin_ns + 5000 * MS])
        };
        machine.transfers = (0..count).map(request).collect();
        assert_eq!(found(&machine, "slow-disk")[0].sentence, expected);
    }
}

/// A program reads a key 1,000 times in 200 ms, for itself or for another one that waits for the answer.
#[test]
fn who_reads_a_key_for_itself_waits_for_nobody() {
    let reads = r"the registry key \REGISTRY\K in a.exe!Get: 1,000 reads, up to 5,000 per second";
    for (is_asked, deed) in [
        (false, "a.exe (4) spent 100 ms reading"),
        (true, "b.exe (8) waited 100 ms while a.exe (4) read"),
    ] {
        let mut machine = Machine::new(&["a.exe", "b.exe"], 1000 * MS);
        machine.add(first(1, 0, 1000 * MS));
        if is_asked {
            let waits = off(2, 0).readied(200 * MS, 1);
            machine.add(waits.ran(200 * MS, 201 * MS));
        }
        let stack = machine.stack(&["a.exe!Get"]);
        let read = |number: i64| RegistryIo {
            operation: "query_value",
            process_key: Some(1),
            thread_key: Some(1),
            start_ns: number * MS / 5,
            end_ns: number * MS / 5 + MS / 10,
            duration_ns: Some(MS / 10),
            key: Some(r"\REGISTRY\K".into()),
            is_whole_key: true,
            stack_id: Some(stack),
            ..RegistryIo::default()
        };
        machine.keys = (0..1000).map(read).collect();
        let found = found(&machine, "registry-storm");
        assert_eq!(found[0].sentence, format!("{deed} {reads}"));
    }
}

/// Six pages of a program, which the disk takes 150 ms each to read: faults and requests are the same time.
#[test]
fn hard_faults_on_a_slow_disk_point_to_it() {
    let mut machine = Machine::new(&["System", "a.exe"], 20_000 * MS);
    machine.add(first(2, 0, 20_000 * MS));
    let request = |number: i64| {
        let begin_ns = number * 1000 * MS;
        transfer("read", 2, [begin_ns, begin_ns, begin_ns + 150 * MS])
    };
    let fault = |number: i64| HardFault {
        process_key: Some(2),
        thread_key: 2,
        start_ns: number * 1000 * MS,
        end_ns: (number * 1000 + 150) * MS,
        duration_ns: 150 * MS,
        path: Some(r"C:\map.dat".into()),
        ..HardFault::default()
    };
    machine.transfers = (0..6).map(request).collect();
    machine.faults = (0..6).map(fault).collect();
    let found = diagnosed(&machine, "hard-faults;slow-disk").findings;
    let ranks: Vec<_> = found
        .iter()
        .map(|finding| (finding.rule.as_str(), finding.number, finding.explained_by))
        .collect();
    assert_eq!(ranks, [("slow-disk", 1, None), ("hard-faults", 2, Some(1))]);
}

/// Each packet is sent at 0 ms, again at 300 ms, and answered at 320 ms; other data comes at 310 ms or
/// all the time.
#[test]
fn a_connection_is_silent_until_a_lost_packet_is_sent_again() {
    for (other_ms, cost) in [(310_i64, Some(930 * MS)), (10, None)] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        let packet = |kind, at_ms: i64| NetIo {
            ts_ns: at_ms * MS,
            protocol: "tcp",
            kind,
            process_key: Some(1),
            local_port: Some(50_000),
            remote_address: Some("192.0.2.7".into()),
            remote_port: Some(443),
            ..NetIo::default()
        };
        for number in 0_i64..3 {
            let from = number * 1000;
            machine.packets.push(packet("send", from));
            let others = (1..=32).map(|time| from + time * other_ms);
            let others = others.filter(|at| *at < from + 320);
            machine
                .packets
                .extend(others.map(|at| packet("receive", at)));
            machine.packets.push(packet("retransmit", from + 300));
            machine.packets.push(packet("receive", from + 320));
        }
        machine.packets.sort_by_key(|packet| packet.ts_ns);
        let found = found(&machine, "retransmits");
        let facts: Vec<_> = found
            .iter()
            .map(|one| (one.culprit.as_str(), one.cost_ns))
            .collect();
        let expected = cost.map(|cost| ("192.0.2.7", Some(cost)));
        assert_eq!(facts, Vec::from_iter(expected), "{other_ms} ms");
    }
}

/// Each packet is sent at 0 ms and again at 300 ms. The next data comes 20 s later: for most of that time there
/// was none to send.
#[test]
fn a_connection_without_data_lost_nothing() {
    let mut machine = Machine::new(&["a.exe"], 90_000 * MS);
    let packet = |kind, at_ms: i64| NetIo {
        ts_ns: at_ms * MS,
        protocol: "tcp",
        kind,
        process_key: Some(1),
        local_port: Some(50_000),
        remote_address: Some("192.0.2.7".into()),
        remote_port: Some(443),
        ..NetIo::default()
    };
    for from in [0, 20_000, 40_000] {
        let sent = [packet("send", from), packet("retransmit", from + 300)];
        machine.packets.extend(sent);
    }
    machine.packets.push(packet("receive", 60_000));
    assert_eq!(costs(&machine, "retransmits"), [Some(1800 * MS)]);
}

/// The runtime notices three times that its pool finished no work for half a second, or that it is slow.
#[test]
fn a_thread_pool_starves_while_all_of_its_threads_wait() {
    // 6: starvation; 3: the number of threads is being optimized.
    for (reason, cost) in [(6, Some(1500 * MS)), (3, None)] {
        let mut machine = Machine::new(&["web.exe"], 10_000 * MS);
        let stack = machine.stack(&[
            "ntdll.dll!NtWaitForMultipleObjects",
            "web.dll!Db.Query",
            "CoreLib.dll!System.Threading.ThreadPoolWorkQueue.Dispatch",
        ]);
        let wait = off(1, 0).readied(2000 * MS, 1);
        machine.add(wait.ran(2000 * MS, 2001 * MS).in_stack(stack));
        let adjusted = |number: i64| ThreadPool {
            ts_ns: (1000 + number * 500) * MS,
            process_key: Some(1),
            kind: "adjustment",
            reason: Some(reason),
            ..ThreadPool::default()
        };
        machine.pools = (0..3).map(adjusted).collect();
        assert_eq!(
            costs(&machine, "pool-starvation"),
            Vec::from_iter(cost.map(Some)),
            "{reason}"
        );
    }
}

/// What the pool waits in is known by its function, or by its address where the name of the thread shows that it
/// belongs to the pool. Otherwise the pool of the program is to blame.
#[test]
fn a_pool_that_starves_names_where_its_threads_wait() {
    let named = [
        "ntdll.dll!NtWaitForMultipleObjects",
        "web.dll!Db.Query",
        "CoreLib.dll!System.Threading.ThreadPoolWorkQueue.Dispatch",
    ];
    let nameless = ["ntdll.dll+wait", "web.dll+query", "web.dll+main"];
    let worker = Some(".NET TP Worker");
    for (stack, thread, culprit) in [
        (named, None, "web.dll!Db.Query"),
        (nameless, worker, "web.dll+0x10"),
        (nameless, Some("main"), "the thread pool of web.exe (4)"),
    ] {
        let mut machine = Machine::new(&["web.exe"], 10_000 * MS);
        machine.threads[1].name = thread.map(Into::into);
        let stack = machine.stack(&stack);
        let wait = off(1, 0).readied(2000 * MS, 1);
        machine.add(wait.ran(2000 * MS, 2001 * MS).in_stack(stack));
        let adjusted = |number: i64| ThreadPool {
            ts_ns: (1000 + number * 500) * MS,
            process_key: Some(1),
            kind: "adjustment",
            reason: Some(6),
            ..ThreadPool::default()
        };
        machine.pools = (0..3).map(adjusted).collect();
        let found = found(&machine, "pool-starvation");
        let culprits: Vec<_> = found.iter().map(|one| one.culprit.as_str()).collect();
        assert_eq!(culprits, [culprit], "{thread:?}");
    }
}

/// Each of four programs starves once while it starts, which is usual.
#[test]
fn thread_pools_of_several_programs_do_not_add_up() {
    let programs = ["a.exe", "b.exe", "c.exe", "d.exe"];
    let mut machine = Machine::new(&programs, 10_000 * MS);
    let starved = |process_key: i32| ThreadPool {
        ts_ns: i64::from(process_key) * 1000 * MS,
        process_key: Some(process_key),
        kind: "adjustment",
        reason: Some(6),
        ..ThreadPool::default()
    };
    machine.pools = (1..=4).map(starved).collect();
    assert!(costs(&machine, "pool-starvation").is_empty());
}

/// One operation on a share for 3 s, or from 6 s on, when the thread begins a wait that does not end.
#[test]
fn a_share_is_waited_for_while_a_file_opens_or_is_read() {
    let (ends, cut) = (Some(9000 * MS), None);
    for (kind, path, end_ns, cost) in [
        ("create", r"\\filer\team\plan.xlsx", ends, Some(3000 * MS)),
        ("create", r"\\filer\team\plan.xlsx", cut, Some(4000 * MS)),
        ("read", r"\\filer\team\plan.xlsx", ends, Some(3000 * MS)),
        // These end when somebody else does something.
        ("read", r"\\filer\pipe\spoolss", ends, None),
        ("read", r"\\filer\team\plan.xlsx", cut, None),
        ("dir_notify", r"\\filer\team", ends, None),
        ("dir_notify", r"\\filer\team", cut, None),
    ] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        machine.files = vec![FileIo {
            kind,
            ..opening(path, 6000 * MS, end_ns)
        }];
        let mut open = off(1, 6001 * MS);
        open.0.is_open_wait = true;
        machine.add(open);
        let case = format!("{kind} of {path}, {end_ns:?}");
        assert_cost(&machine, "network-share", cost, &case);
    }
}

/// A thread whose opening has no end used another file later, so the end was lost, and the wait at the end of
/// the trace is for something else.
#[test]
fn an_opening_whose_end_was_lost_is_not_cut() {
    let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
    machine.files = vec![
        opening(r"C:\plan.xlsx", 1500 * MS, Some(1501 * MS)),
        opening(SHARED, 1000 * MS, None),
    ];
    let mut open = off(1, 6000 * MS);
    open.0.is_open_wait = true;
    machine.add(open);
    assert!(costs(&machine, "network-share").is_empty());
}

/// 110 waits of 1.5 ms for a filter driver: every 25 ms they are 6 % of the time, every 40 ms less than 4 %.
#[test]
fn many_short_waits_for_a_filter_are_noticed_by_their_share() {
    for (every_ms, cost) in [(25_i64, Some(165 * MS)), (40, None)] {
        let mut machine = Machine::new(&["a.exe", "scan.exe"], 10_000 * MS);
        let asks = machine.stack(&[
            "fltmgr.sys!FltSendMessage",
            "guard.sys!PreCreate",
            "fltmgr.sys!FltpPerformPreCallbacks",
            "ntdll.dll!NtCreateFile",
            "a.exe!Open",
        ]);
        for number in 0_i64..110 {
            let from = number * every_ms * MS;
            let to = from + 3 * MS / 2;
            machine.add(off(1, from).readied(to, 2).ran(to, to + MS).in_stack(asks));
        }
        assert_cost(
            &machine,
            "filter-scan",
            cost,
            &format!("every {every_ms} ms"),
        );
    }
}

/// A service with 110 waits of 1.5 ms for a filter driver, and 19 namesakes that wait now and then.
#[test]
fn idle_namesakes_do_not_hide_a_program_that_waits_for_a_filter() {
    let names: Vec<String> = (0..20).map(|number| format!("service{number}")).collect();
    let programs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut machine = Machine::new(&programs, 10_000 * MS);
    for process in &mut machine.processes[1..] {
        process.name = Some("service.exe".into());
    }
    let asks = machine.stack(&[
        "guard.sys!PreCreate",
        "fltmgr.sys!FltpPerformPreCallbacks",
        "ntdll.dll!NtCreateFile",
        "service.exe!Open",
    ]);
    let mut wait = |thread: i32, from: i64, length: i64| {
        let to = from + length;
        let slice = off(thread, from).readied(to, 1);
        machine.add(slice.ran(to, to + MS).in_stack(asks));
    };
    for number in 0_i64..110 {
        wait(1, number * 25 * MS, 3 * MS / 2);
    }
    for thread in 2_i32..=20 {
        wait(thread, 0, 3 * MS / 10);
        wait(thread, 9_000 * MS, 3 * MS / 10);
    }
    assert_eq!(costs(&machine, "filter-scan").len(), 1);
}

/// Ten compilers, one after the other, each held up 20 times for 1 ms: of 300 ms that one lives they are 7 %, of
/// 1 s they are 2 %.
#[test]
fn short_waits_add_up_over_the_starts_of_a_program() {
    let stacks = [
        (
            "filter-scan",
            [
                "guard.sys!PreRead",
                "fltmgr.sys!FltpPerformPreCallbacks",
                "ntdll.dll!NtReadFile",
            ],
        ),
        (
            "driver-callback",
            [
                "guard.sys!OnModule",
                "ntoskrnl.exe!PsCallImageNotifyRoutines",
                "ntdll.dll!NtMapViewOfSection",
            ],
        ),
        (
            "amsi-scan",
            [
                "guard.dll!Scan",
                "amsi.dll!AmsiScanBuffer",
                "ntdll.dll!RtlUserThreadStart",
            ],
        ),
    ];
    for (rule, stack) in stacks {
        for (life_ms, cost) in [(300_i64, Some(200 * MS)), (1000, None)] {
            let names: Vec<String> = (0..10).map(|number| format!("cc{number}")).collect();
            let programs: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut machine = Machine::new(&[&programs[..], &["scan.exe"]].concat(), 11_000 * MS);
            let asks = machine.stack(&stack);
            // amsi-scan also reads samples, and is not checked without any.
            let scans = machine.stack(&["scan.exe!Scan"]);
            machine.samples.push(CpuSample {
                ts_ns: MS,
                process_key: Some(11),
                thread_key: 11,
                weight_ns: MS,
                stack_id: scans,
                has_stack: true,
                ..CpuSample::default()
            });
            for number in 1_i32..=10 {
                let start = i64::from(number - 1) * life_ms * MS;
                let process = &mut machine.processes[usize::try_from(number).unwrap()];
                process.name = Some("cc.exe".into());
                process.start_ns = Some(start);
                process.stop_ns = Some(start + life_ms * MS);
                for wait in 0_i64..20 {
                    let from = start + (1 + 5 * wait) * MS;
                    let to = from + MS;
                    machine.add(
                        off(number, from)
                            .readied(to, 11)
                            .ran(to, to + MS)
                            .in_stack(asks),
                    );
                }
            }
            assert_cost(&machine, rule, cost, &format!("{rule}, {life_ms} ms"));
        }
    }
}

/// 40 openings on a share: of 10 ms and every 50 ms they take a fifth of the time, every 200 ms less than a
/// tenth, and of 3 ms they are usual.
#[test]
fn many_short_requests_to_a_share_are_noticed_by_their_share() {
    for (length_ms, every_ms, cost) in [
        (10_i64, 50_i64, Some(400 * MS)),
        (10, 200, None),
        (3, 10, None),
    ] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        let request = |number: i64| {
            let start_ns = number * every_ms * MS;
            opening(SHARED, start_ns, Some(start_ns + length_ms * MS))
        };
        machine.files = (0..40).map(request).collect();
        let case = format!("{length_ms} ms every {every_ms} ms");
        assert_cost(&machine, "network-share", cost, &case);
    }
}

/// 40 openings of 3 ms are usual, also beside some of 100 ms, which are findings by themselves.
#[test]
fn long_requests_to_a_share_do_not_count_with_the_short_ones() {
    let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
    let request = |number: i64| {
        let length_ms = if number < 40 { 3 } else { 100 };
        let start_ns = number * 101 * MS;
        opening(SHARED, start_ns, Some(start_ns + length_ms * MS))
    };
    machine.files = (0..50).map(request).collect();
    assert_eq!(costs(&machine, "network-share"), [Some(1000 * MS)]);
}

/// A second on a share, seen in the file operations, or in a wait alone.
#[test]
fn evidence_of_a_share_shows_what_was_recorded() {
    let evidence = |machine: &Machine| found(machine, "network-share")[0].evidence.clone();
    let mut machine = Machine::new(&["a.exe", "System"], 10_000 * MS);
    machine.files = vec![opening(SHARED, 0, Some(1000 * MS))];
    assert_eq!(
        evidence(&machine),
        "dump file --process 4 --per-process --dir-level 4"
    );
    machine.files.clear();
    let asks = machine.stack(&["mup.sys!MupCreate", "ntdll.dll!NtCreateFile"]);
    let wait = off(1, 0).readied(1000 * MS, 2);
    machine.add(wait.ran(1000 * MS, 1001 * MS).in_stack(asks));
    assert_eq!(
        evidence(&machine),
        "dump wait --process 4 --method \"mup.sys*\" --details"
    );
}

/// Twelve waits of 20 ms in a write, as long as the cache has too much data, or for the disk.
#[test]
fn writers_wait_for_a_cache_that_is_full() {
    for (waits_in, cost) in [
        ("ntoskrnl.exe!CcCanIWrite", Some(240 * MS)),
        ("ntoskrnl.exe!CcFlushCache", None),
    ] {
        let mut machine = Machine::new(&["a.exe", "System"], 10_000 * MS);
        let write = machine.stack(&[waits_in, "ntoskrnl.exe!NtWriteFile", "a.exe!Store"]);
        for number in 0_i64..12 {
            let from = number * 100 * MS;
            let wait = off(1, from).readied_by_dpc(from + 20 * MS, 2);
            machine.add(wait.ran(from + 20 * MS, from + 21 * MS).in_stack(write));
        }
        assert_cost(&machine, "write-throttle", cost, waits_in);
    }
}

/// A window computes for 600 ms in deep calls; one sample is of its loop alone, whose depth counts once.
#[test]
fn a_hang_is_blamed_on_the_innermost_function_of_its_samples() {
    let mut machine = Machine::new(&["a.exe"], 2000 * MS);
    let fetches = machine.stack(&["user32.dll!GetMessageW", "a.exe!Loop"]);
    let computes = machine.stack(&[
        "ntoskrnl.exe!CmQueryValueKey",
        "ntoskrnl.exe!NtQueryValueKey",
        "ntdll.dll!NtQueryValueKey",
        "KernelBase.dll!RegQueryValueExW",
        "a.exe!Fill",
        "user32.dll!DispatchMessageW",
        "a.exe!Loop",
    ]);
    let loops = machine.stack(&["a.exe!Loop"]);
    for (from, to, ends) in [(0, 100, 700), (700, 800, 810)] {
        let wait = off(1, from * MS).readied_by_dpc(to * MS, 1);
        machine.add(wait.ran(to * MS, ends * MS).in_stack(fetches));
    }
    machine.samples = (1..600)
        .map(|at| CpuSample {
            ts_ns: (100 + at) * MS,
            process_key: Some(1),
            thread_key: 1,
            weight_ns: MS,
            stack_id: if at == 1 { loops } else { computes },
            has_stack: true,
            ..CpuSample::default()
        })
        .collect();
    let found = found(&machine, "ui-hang");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.culprit.as_str(), one.cost_ns),
        ("a.exe!Fill", Some(600 * MS))
    );
}

/// A window that fetches messages at 0 and 700 ms, in waits for the window manager (13), of a program whose
/// functions have no names.
fn nameless_window(fetches: &[&'static str]) -> Machine {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 2000 * MS);
    let fetches = machine.stack(fetches);
    for (from, to, ends) in [(0, 100, 150), (700, 800, 810)] {
        let wait = off(1, from * MS).readied_by_dpc(to * MS, 1);
        machine.add(wait.ran(to * MS, ends * MS).reason(13).in_stack(fetches));
    }
    machine
}

/// Costs of hangs, and whether the rule could be checked.
fn hangs(machine: &Machine) -> (Vec<Option<i64>>, String) {
    let diagnosis = diagnosed(machine, "ui-hang");
    let costs = diagnosis.findings.iter().map(|one| one.cost_ns).collect();
    (costs, diagnosis.rules[0].state.clone())
}

/// The window waits for 550 ms, in what it was asked for by a message or elsewhere.
#[test]
fn a_window_that_waits_is_seen_without_names_of_functions() {
    let looks = ["user32.dll+get", "a.exe+loop"];
    // A thread that serves calls of COM may have no window.
    let serves = ["user32.dll+wait", "combase.dll+call", "a.exe+loop"];
    let of_message = &["a.exe+ask", "user32.dll+dispatch", "a.exe+loop"][..];
    let of_others = &["a.exe+ask", "a.exe+idle", "a.exe+loop"][..];
    // A wait for messages and other objects is not one for the window manager alone.
    let for_messages = &["kernelbase.dll+wait", "user32.dll+wait", "a.exe+loop"][..];
    let in_com = [&["user32.dll+wait", "combase.dll+call"][..], of_message].concat();
    for (fetches, works, cost) in [
        (&looks[..], of_message, Some(600 * MS)),
        (&looks[..], &in_com[..], Some(600 * MS)),
        (&looks[..], of_others, None),
        (&looks[..], for_messages, None),
        (&serves[..], of_message, None),
    ] {
        let mut machine = nameless_window(fetches);
        let stack = machine.stack(works);
        let wait = off(1, 150 * MS).readied(699 * MS, 2);
        machine.add(wait.ran(699 * MS, 700 * MS).in_stack(stack));
        let state = cost.map_or("not checked", |_| "found");
        let expected = (Vec::from_iter(cost.map(Some)), state.to_owned());
        assert_eq!(hangs(&machine), expected, "{fetches:?} {works:?}");
    }
}

/// Without the events that end waits the time off the processor shows the hang as well. Commands that show waits
/// would refuse, so they are no evidence.
#[test]
fn a_window_that_waits_is_seen_without_the_events_that_end_waits() {
    let mut machine = nameless_window(&["user32.dll!GetMessageW", "a.exe!Loop"]);
    let asks = machine.stack(&["a.exe!Ask", "user32.dll!DispatchMessageW", "a.exe!Loop"]);
    let wait = off(1, 150 * MS).readied(699 * MS, 2);
    machine.add(wait.ran(699 * MS, 700 * MS).in_stack(asks));
    let seen = |machine: &Machine| -> Vec<(Option<i64>, bool)> {
        found(machine, "ui-hang")
            .iter()
            .map(|one| (one.cost_ns, one.evidence.contains("dump wait")))
            .collect()
    };
    assert_eq!(seen(&machine), [(Some(600 * MS), true)]);
    for switch in &mut machine.switches {
        (switch.readied_ns, switch.wait_ns, switch.ready_ns) = (None, None, None);
        (switch.readying_thread_key, switch.is_readied_by_dpc) = (None, false);
    }
    assert_eq!(seen(&machine), [(Some(600 * MS), false)]);
}

/// The window computes for 600 ms. Samples in user32.dll itself may be fetches of messages.
#[test]
fn a_window_that_computes_is_seen_without_names_of_functions() {
    let draws = &["a.exe+fill", "user32.dll+dispatch", "a.exe+loop"][..];
    let polls = &["win32u.dll+peek", "user32.dll+peek", "a.exe+loop"][..];
    let renders = &["a.exe+render", "a.exe+loop"][..];
    for (works, every_100_ms, cost) in [
        (draws, draws, Some(600 * MS)),
        (draws, polls, None),
        (renders, renders, None),
    ] {
        let mut machine = nameless_window(&["user32.dll+get", "a.exe+loop"]);
        let (works, looks) = (machine.stack(works), machine.stack(every_100_ms));
        machine.switches[0].out_ns = Some(700 * MS);
        machine.samples = (1..600)
            .map(|at| CpuSample {
                ts_ns: (100 + at) * MS,
                process_key: Some(1),
                thread_key: 1,
                weight_ns: MS,
                stack_id: if at % 100 == 0 { looks } else { works },
                has_stack: true,
                ..CpuSample::default()
            })
            .collect();
        let costs = hangs(&machine).0;
        assert_eq!(costs, Vec::from_iter(cost.map(Some)), "{works} {looks}");
    }
}

/// Samples of a thread every millisecond of the first 2 s.
fn sampled(thread_key: i32, stack_id: i32) -> Vec<CpuSample> {
    let sample = |at| CpuSample {
        ts_ns: at * MS,
        process_key: Some(thread_key),
        thread_key,
        weight_ns: MS,
        stack_id,
        has_stack: true,
        ..CpuSample::default()
    };
    (0..2000).map(sample).collect()
}

/// The thread fetches messages at 100 and 700 ms. The switches in between were lost, as well as the one
/// before 700 ms.
#[test]
fn a_window_of_which_nothing_was_recorded_did_not_compute() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 2000 * MS);
    let fetches = machine.stack(&["user32.dll!GetMessageW", "a.exe!Loop"]);
    let look = off(1, 0).readied(100 * MS, 2).ran(100 * MS, 110 * MS);
    machine.add(look.in_stack(fetches));
    machine.add(first(1, 700 * MS, 710 * MS).in_stack(fetches));
    let look = off(1, 710 * MS).readied(800 * MS, 2);
    machine.add(look.ran(800 * MS, 810 * MS).in_stack(fetches));
    machine.lost_events = 1;
    assert_eq!(hangs(&machine).0, []);
}

/// By its switches the thread runs from 100 to 700 ms.
#[test]
fn a_window_that_computes_has_samples_where_some_were_taken() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 2000 * MS);
    let fetches = machine.stack(&["user32.dll!GetMessageW", "a.exe!Loop"]);
    for (from, to, ends) in [(0, 100, 700), (700, 800, 810)] {
        let look = off(1, from * MS).readied(to * MS, 2);
        machine.add(look.ran(to * MS, ends * MS).in_stack(fetches));
    }
    let works = machine.stack(&["a.exe!Fill", "a.exe!Loop"]);
    let computed = [Some(600 * MS)];
    assert_eq!(hangs(&machine).0, computed, "none were recorded");
    machine.samples = sampled(2, works);
    assert_eq!(hangs(&machine).0, [], "none of this thread");
    machine.samples = sampled(1, works);
    assert_eq!(hangs(&machine).0, computed);
}

/// A window waits for 700 ms, then it fetches messages.
fn waiting_at_first(begins: Slice, works: &[&'static str]) -> Machine {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 5000 * MS);
    let fetches = machine.stack(&["user32.dll!GetMessageW", "a.exe!Loop"]);
    let works = machine.stack(works);
    machine.add(begins.ran(700 * MS, 701 * MS).in_stack(works));
    let look = off(1, 701 * MS).readied(800 * MS, 2);
    machine.add(look.ran(800 * MS, 810 * MS).in_stack(fetches));
    machine
}

#[test]
fn a_window_may_hang_when_the_recording_begins() {
    let message = [
        "a.exe!Save",
        "user32.dll!DispatchMessageWorker",
        "a.exe!Loop",
    ];
    let start = ["a.exe!Save", "a.exe!Main"];
    let mut before = first(1, 0, 0);
    before.0.readied_ns = Some(699 * MS);
    let within = || off(1, 2 * MS).readied(699 * MS, 2);
    for (begins, works, cost) in [
        (before.clone(), &message[..], Some(701 * MS)),
        (before.clone(), &start[..], None),
        (within(), &message[..], Some(699 * MS)),
        (within(), &start[..], None),
    ] {
        let machine = waiting_at_first(begins, works);
        assert_eq!(
            hangs(&machine).0,
            Vec::from_iter(cost.map(Some)),
            "{works:?}"
        );
    }
    let mut machine = waiting_at_first(before, &message);
    machine.lost_events = 1;
    assert_eq!(hangs(&machine).0, [], "it may have run in what was lost");
    let mut machine = waiting_at_first(within(), &message);
    machine.threads[1].start_ns = Some(MS);
    assert_eq!(hangs(&machine).0, [], "it began after the recording");
}

/// One hang of 261 ms.
#[test]
fn in_a_short_recording_a_short_hang_is_much() {
    for (end_ms, cost) in [(1500, Some(261 * MS)), (5000, None)] {
        let mut machine = Machine::new(&["a.exe", "b.exe"], end_ms * MS);
        let fetches = machine.stack(&["user32.dll!GetMessageW", "a.exe!Loop"]);
        let works = machine.stack(&["a.exe!Ask", "a.exe!Loop"]);
        for (from, to, ends, stack) in [
            (0, 100, 110, fetches),
            (110, 360, 361, works),
            (361, 500, 501, fetches),
        ] {
            let wait = off(1, from * MS).readied(to * MS, 2);
            machine.add(wait.ran(to * MS, ends * MS).in_stack(stack));
        }
        assert_eq!(
            hangs(&machine).0,
            Vec::from_iter(cost.map(Some)),
            "{end_ms}"
        );
    }
}

/// The cost of processors as a rule.
fn processor_cost() -> String {
    let cost: String = include_str!("../../costs/processor.sql")
        .split_inclusive('\n')
        // In a file of rules the title has a name; what was recorded is not known here.
        .filter(|line| !line.starts_with("-- The ") && !line.starts_with("-- needs"))
        .collect();
    format!("-- rule: processor\n-- title: Much CPU\n{cost}")
}

/// CPU time of a process, by samples of a millisecond.
fn used(process_key: i32, cpu_ms: i64) -> CpuProcess {
    CpuProcess {
        process_key: Some(process_key),
        samples: cpu_ms,
        cpu_ns: cpu_ms * MS,
        ..CpuProcess::default()
    }
}

/// Processes of one program add up, unless nearly all is of one of them.
#[test]
fn the_program_with_most_cpu_is_shown_with_all_its_processes() {
    for (of_compiler, sentence, evidence) in [
        (
            [300, 300, 500],
            "cc.exe (3 processes) used 1.10 s of CPU time; up to 500 ms in one process (16)",
            "dump cpu --process cc.exe",
        ),
        (
            [10, 10, 1000],
            "cc.exe (16) used 1.00 s of CPU time",
            "dump cpu --process 16",
        ),
        (
            [100, 100, 200],
            "make.exe (4) used 600 ms of CPU time",
            "dump cpu --process 4",
        ),
    ] {
        let mut machine = Machine::new(&["make.exe", "cc.exe", "second", "third"], 2000 * MS);
        for process in &mut machine.processes[2..] {
            process.name = Some("cc.exe".into());
        }
        let of_compiler = (2..).zip(of_compiler);
        machine.sums = [(1, 600)]
            .into_iter()
            .chain(of_compiler)
            .map(|(process, cpu_ms)| used(process, cpu_ms))
            .collect();
        let found = diagnose(&machine, &processor_cost(), |_| ()).findings;
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.sentence.as_str(), one.evidence.as_str()))
            .collect();
        assert_eq!(shown, [(sentence, evidence)]);
    }
}

/// A process of 1 s of samples, part of which are in a library.
#[test]
fn the_process_with_most_cpu_is_shown_with_the_module_that_runs_most_in_it() {
    for (own_ms, part) in [(850, ", 85 % of it in hook.dll"), (400, "")] {
        let mut machine = Machine::new(&["a.exe"], 2000 * MS);
        machine.sums.push(used(1, 1000));
        let code = |module: &str, own_ms: i64| CpuMethod {
            process_key: Some(1),
            module: Some(module.into()),
            exclusive_ns: Some(own_ms * MS),
            ..CpuMethod::default()
        };
        machine.code = vec![code("a.exe", 1000 - own_ms), code("hook.dll", own_ms)];
        let found = diagnose(&machine, &processor_cost(), |_| ()).findings;
        let sentences: Vec<_> = found.iter().map(|one| one.sentence.as_str()).collect();
        let expected = format!("a.exe (4) used 1.00 s of CPU time{part}");
        assert_eq!(sentences, [expected]);
    }
}

/// 24 reads of 25 ms: small ones are slow, if the program does little else; large ones take that long.
#[test]
fn a_disk_is_slow_if_small_requests_take_long_on_average() {
    const KIB: i64 = 1024;
    for (service_ms, every_ms, size_bytes, cost) in [
        (25_i64, 50_i64, 8 * KIB, Some(600 * MS)),
        (15, 50, 8 * KIB, None),
        (25, 200, 8 * KIB, None),
        (25, 50, 1024 * KIB, None),
    ] {
        let mut machine = Machine::new(&["System", "a.exe"], 20_000 * MS);
        let request = |number: i64| {
            let begin_ns = number * every_ms * MS;
            DiskIo {
                size_bytes,
                ..transfer("read", 2, [begin_ns, begin_ns, begin_ns + service_ms * MS])
            }
        };
        machine.transfers = (0..24).map(request).collect();
        let case = format!("{service_ms} ms every {every_ms} ms, {size_bytes} bytes");
        assert_cost(&machine, "slow-disk", cost, &case);
    }
}

/// Many short flushes are noticed before a few long ones; those of 1 ms are usual.
#[test]
fn a_program_waits_for_each_of_many_flushes() {
    for (count, service_ms, every_ms, cost) in [
        (60, 4_i64, 20_i64, Some(240 * MS)),
        (3, 80, 200, None),
        (300, 1, 5, None),
    ] {
        let mut machine = Machine::new(&["System", "a.exe"], 20_000 * MS);
        let flush = |number: i64| {
            let begin_ns = number * every_ms * MS;
            transfer("flush", 2, [begin_ns, begin_ns, begin_ns + service_ms * MS])
        };
        machine.transfers = (0..count).map(flush).collect();
        let case = format!("{count} of {service_ms} ms");
        assert_cost(&machine, "slow-disk", cost, &case);
    }
}

/// Twenty short processes of a program, each with 5 ms in a library that ntdll.dll calls before the process
/// has a thread of its own, or that the program calls.
#[test]
fn initializers_of_short_processes_add_up() {
    let starts = [
        "shim.dll!Patch",
        "ntdll.dll!LdrpCallInitRoutine",
        "ntdll.dll!LdrInitializeThunk",
    ];
    let nameless_starts = ["shim.dll+a", "ntdll.dll+b", "ntdll.dll+c"];
    let calls = [
        "shim.dll!Work",
        "cc.exe!main",
        "kernel32.dll!BaseThreadInitThunk",
        "ntdll.dll!RtlUserThreadStart",
    ];
    let nameless_calls = ["shim.dll+a", "cc.exe+d", "kernel32.dll+e", "ntdll.dll+c"];
    for (stack, cost) in [
        (&starts[..], Some(100 * MS)),
        (&nameless_starts[..], Some(100 * MS)),
        (&calls[..], None),
        (&nameless_calls[..], None),
    ] {
        let names: Vec<String> = (0..20).map(|number| format!("cc{number}")).collect();
        let programs: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut machine = Machine::new(&programs, 3000 * MS);
        let stack_id = machine.stack(stack);
        for number in 1_i32..=20 {
            let start = i64::from(number) * 100 * MS;
            let process = &mut machine.processes[usize::try_from(number).unwrap()];
            process.name = Some("cc.exe".into());
            process.start_ns = Some(start);
            machine.samples.extend((1..=5).map(|at| CpuSample {
                ts_ns: start + at * MS,
                process_key: Some(number),
                thread_key: number,
                weight_ns: MS,
                stack_id,
                has_stack: true,
                ..CpuSample::default()
            }));
        }
        let found = diagnose(&machine, &unused_start(), |_| ()).findings;
        let of_library = found.iter().filter(|one| one.culprit == "shim.dll");
        let costs: Vec<_> = of_library.map(|one| one.cost_ns).collect();
        assert_eq!(costs, Vec::from_iter(cost.map(Some)), "{stack:?}");
    }
}

/// The rule `unused-start` as one of a file. The machine has tables and no topics, so the rule needs no topic.
fn unused_start() -> String {
    let rule =
        include_str!("../../rules/unused-start.sql").replace("samples with stacks", "stacks");
    let (title, rest) = rule.split_once('\n').unwrap();
    let title = title.trim_start_matches("-- ");
    format!("-- rule: unused-start-of-tables\n-- title: {title}\n{rest}")
}

/// 300 methods of 2 ms, which start every 3 ms, as in a program that starts, or every 10 ms.
#[test]
fn many_small_methods_are_noticed_where_a_program_does_little_else() {
    for (every_ms, cost) in [(3_i64, Some(600 * MS)), (10, None)] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        let method = |number: i64| Jit {
            process_key: Some(1),
            thread_key: Some(1),
            start_ns: Some(number * every_ms * MS),
            ts_ns: (number * every_ms + 2) * MS,
            duration_ns: Some(2 * MS),
            ..Jit::default()
        };
        machine.compiled = (0..300).map(method).collect();
        assert_cost(&machine, "jit-start", cost, &format!("every {every_ms} ms"));
    }
}

/// A program computes for 2 of 2.1 s or of 10 s, at a third or at most of the speed of its processor, with normal
/// priority or with the priority of efficiency mode.
#[test]
fn a_program_that_computes_can_have_slow_processors() {
    for (mhz, last_ms, priority, is_found) in [
        (1000, 2100, 8, true),
        (2500, 2100, 8, false),
        (1000, 10_000, 8, false),
        (1000, 2100, 4, false),
    ] {
        let mut machine = Machine::new(&["a.exe"], 10_000 * MS);
        let cpu_ns = 2000 * MS;
        machine.priorities = vec![CpuClassPriority {
            process_key: Some(1),
            priority: Some(priority),
            run_ns: cpu_ns,
            ..CpuClassPriority::default()
        }];
        machine.classes = vec![CpuClass {
            process_key: Some(1),
            cpu_ns,
            normalized_ns: Some(cpu_ns / 3000 * i64::from(mhz)),
            mean_mhz: Some(f64::from(mhz)),
            nominal_mhz: Some(3000.0),
            measured_ns: cpu_ns,
            last_ns: last_ms * MS,
            ..CpuClass::default()
        }];
        let found = found(&machine, "slow-processors");
        let sentences: Vec<_> = found.iter().map(|one| one.sentence.as_str()).collect();
        let expected = is_found.then_some(
            "a.exe (4) computed on processors at 1,000 of 3,000 MHz, which took about 1.33 s of its \
             2.00 s of CPU time",
        );
        assert_eq!(
            sentences,
            Vec::from_iter(expected),
            "{mhz} MHz, {last_ms} ms, priority {priority}"
        );
    }
}
