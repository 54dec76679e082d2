//! Lines that are printed instead of run.

use std::fs;

use crate::cmd::{self, Batch};
use crate::recording::record;
use crate::stand_in::StandIn;

/// Output on another system; nothing may be run.
fn printed(words: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = StandIn {
        folder: folder.path().to_owned(),
    };
    let said = record(&mut wpr, false, words);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "something was run or written"
    );
    said
}

/// Lines with which a script may begin.
const BEGINNING: [&str; 2] = ["@echo off", "chcp 65001 >nul"];

/// The lines of a script that do something.
fn acts(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.starts_with("rem ") && !line.is_empty() && !BEGINNING.contains(line))
        .collect()
}

#[test]
fn a_script_with_characters_beyond_ascii_is_read_as_utf_8() {
    for words in [
        &["mark", "für Ä"][..],
        &["stop", "größe.etl"],
        &["now", "--", "größe.exe"],
        &["now", "--symbols", "für Ä"],
        &["wpr", "-marker", "für Ä"],
    ] {
        let script = printed(words).unwrap();
        let mut lines = script.lines();
        let head = [lines.next(), lines.next()].map(Option::unwrap);
        assert_eq!(head, BEGINNING, "{words:?}: {script}");
        assert!(script.contains("save it as UTF-8"), "{words:?}: {script}");
    }
    for words in [
        &["mark", "for A"][..],
        &["now", "--", "size.exe"],
        &["start", "cswitch"],
        &["wpr", "-marker", "for A"],
    ] {
        let script = printed(words).unwrap();
        assert!(script.is_ascii(), "{words:?}: {script}");
        assert!(
            !script.contains("chcp") && !script.contains("UTF-8"),
            "{words:?}: {script}"
        );
    }
}

#[test]
fn elsewhere_the_script_for_windows_is_printed() {
    let script = printed(&[
        "start",
        "cswitch",
        "FILE",
        "--file",
        "--to",
        r"D:\my traces",
    ])
    .unwrap();
    let start = r#"wpr -start etwkit.wprp!cswitch -start etwkit.wprp!file -filemode -recordtempto "D:\my traces""#;
    assert_eq!(acts(&script), [format!("{start} || exit /b 1")]);
    assert!(
        script.contains("rem etwkit.wprp has to be in the same folder"),
        "{script}"
    );
    let script = printed(&["start", "boot", "--boot"]).unwrap();
    assert_eq!(
        acts(&script),
        ["wpr -boottrace -addboot etwkit.wprp!boot -filemode || exit /b 1"]
    );
    let script = printed(&["stop", "SlowBrowsing", "--zip"]).unwrap();
    let want = [
        "wpr -stop SlowBrowsing_%COMPUTERNAME%.etl || exit /b 1",
        "tar -a -c -f SlowBrowsing_%COMPUTERNAME%.etl.zip SlowBrowsing_%COMPUTERNAME%.etl || exit /b 1",
    ];
    assert_eq!(acts(&script), want);
    let script = printed(&["mark", r#"a "b" & c"#]).unwrap();
    assert_eq!(acts(&script), [r#"wpr -marker "a ""b"" & c" || exit /b 1"#]);
    let script = printed(&["mark", "slow", "--picture"]).unwrap();
    assert!(acts(&script)[1].contains("CopyFromScreen"), "{script}");
    let script = printed(&["start", "CPU"]).unwrap();
    assert!(
        script.contains(
            "rem stop also makes symbol files of precompiled .NET code: 10 to 60 minutes"
        ),
        "{script}"
    );
    assert_eq!(
        acts(&printed(&["start", "CPU", "--sample-every", "0.5"]).unwrap())[1..],
        [
            "wpr -setprofint 5000 || exit /b 1",
            "wpr -profint || exit /b 1"
        ]
    );
}

#[test]
fn the_script_of_a_recording_waits_or_runs_the_command_and_stops_after_its_failure() {
    let start = "wpr -start etwkit.wprp!default -start etwkit.wprp!cswitch || exit /b 1";
    let stop = "wpr -stop Now_%COMPUTERNAME%.etl -skipPdbGen || exit /b 1";
    for (words, between) in [
        (&["now"][..], "pause"),
        (&["now", "--for", "30s"], "timeout /t 30 /nobreak"),
        (
            &["now", "--", "my app.exe", "50%", "a&b"],
            r#"call "my app.exe" 50%%%% "a&b""#,
        ),
    ] {
        let script = printed(words).unwrap();
        assert_eq!(acts(&script), [start, between, stop], "{script}");
    }
    let both = printed(&["now", "--for", "30s", "--", "notepad.exe"]).unwrap();
    assert!(
        both.contains("rem The recording ends with the command: "),
        "{both}"
    );
}

/// Words of the programs that a script runs.
fn run_by_cmd(script: &str) -> Vec<Vec<String>> {
    let mut batch = Batch::new();
    let lines = acts(script).into_iter().map(|line| batch.words(line));
    lines.filter(|words| !words.is_empty()).collect()
}

#[test]
fn a_script_gives_programs_the_words_that_were_typed() {
    for text in cmd::texts() {
        let mark = printed(&["mark", &text]).unwrap();
        assert_eq!(run_by_cmd(&mark), [["wpr", "-marker", &text]], "{mark}");

        let file = format!("{text}.etl");
        let stop = printed(&["stop", &file]).unwrap();
        assert_eq!(run_by_cmd(&stop), [["wpr", "-stop", &file]], "{stop}");

        let stop = printed(&["stop", &text, "--zip"]).unwrap();
        let file = format!("{text}_MAGNON.etl");
        let zip = format!("{file}.zip");
        let words = run_by_cmd(&stop);
        assert_eq!(words[0], ["wpr", "-stop", &file], "{stop}");
        assert_eq!(words[1], ["tar", "-a", "-c", "-f", &zip, &file], "{stop}");

        let start = printed(&["start", "CPU", "--file", "--to", &text]).unwrap();
        let words = run_by_cmd(&start);
        assert_eq!(words[0][4..], ["-recordtempto", &text], "{start}");

        let now = printed(&["now", "--", &text, "", &text]).unwrap();
        let text = text.as_str();
        assert_eq!(run_by_cmd(&now)[1], [text, "", text], "{now}");
    }
}

#[test]
fn a_line_that_people_have_keeps_its_variables_and_its_percent_signs() {
    for (word, written) in [
        ("100% slow", "100%% slow"),
        ("100%", "100%%"),
        ("50% of 100%", "50%% of 100%%"),
        ("100%%", "100%%"),
        ("5%~ slow", "5%%~ slow"),
        (r"%TEMP%\a.etl", r"%TEMP%\a.etl"),
        ("%ProgramFiles(x86)%", "%ProgramFiles(x86)%"),
        ("%DATE:~0,2%", "%DATE:~0,2%"),
        ("%~dp0a", "%~dp0a"),
        ("%1", "%1"),
        ("%* of %CASE%: 5% less", "%* of %CASE%: 5%% less"),
    ] {
        let script = printed(&["wpr", "-marker", word]).unwrap();
        let is_quoted = written.contains([' ', '(', ',']);
        let quote = if is_quoted { "\"" } else { "" };
        let line = format!("wpr -marker {quote}{written}{quote}");
        assert_eq!(acts(&script), [line], "{script}");
    }
    // An operator in the first word of a comment would start a command or write a file.
    let script = printed(&["wpr", "-marker", "-> slow"]).unwrap();
    assert!(
        script.contains("rem option -> slow: not known here"),
        "{script}"
    );
}

#[test]
fn texts_that_a_script_cannot_contain_are_refused() {
    for words in [
        &["mark", "two\nlines"][..],
        &["mark", "a\u{1a}b"],
        &["stop", "a\nb.etl"],
        &["start", "CPU", "--file", "--to", "a\rb"],
        &["now", "--", "a\tb"],
        &["now", "--symbols", "a\nb"],
        &["now", "--name", "a\nb"],
        &["wpr", "-marker", "a\nb"],
    ] {
        let error = printed(words).unwrap_err();
        assert!(
            error.starts_with("a script of Windows cannot contain \""),
            "{words:?}: {error}"
        );
    }
}

#[test]
fn the_lines_that_follow_a_recording_are_printed() {
    let afterwards = |words: &[&str]| {
        let script = printed(words).unwrap();
        let lines = script.lines();
        let after = lines.filter_map(|line| line.strip_prefix("rem Afterwards: "));
        after.map(str::to_owned).collect::<Vec<_>>()
    };
    for (words, lines) in [
        (&["now"][..], &["etwkit diagnose FILE"][..]),
        (
            &["now", "--symbols", "MS;my build", "--symbols", "other"],
            &[
                "etwkit extract --symbols \"MS;my build\" --symbols other FILE",
                "etwkit diagnose FILE",
            ],
        ),
        (&["stop", "Slow"], &[]),
        (&["stop", "Slow", "--extract"], &["etwkit extract FILE"]),
    ] {
        assert_eq!(afterwards(words), lines, "{words:?}");
    }
}

#[test]
fn one_name_is_given_to_all_recordings() {
    for (words, option) in [
        (["now", "-h"], "--name <NAME>"),
        (["stop", "-h"], "<NAME>"),
        (["start", "-h"], "--name <NAME>"),
    ] {
        let help = printed(&words).unwrap_err();
        let line = help
            .lines()
            .find(|line| line.trim_start().starts_with(option));
        let line = line.unwrap_or_else(|| panic!("no {option} in {help}"));
        assert!(line.contains("NAME_MACHINE.date-time.etl"), "{line}");
    }
}

#[test]
fn names_that_are_wrong_say_what_is_right() {
    for (words, want) in [
        (&["start", "cpuu"][..], "no profile is called \"cpuu\""),
        (
            &["start", "slow.etl"],
            "did you mean `etwkit record stop slow.etl`?",
        ),
        (
            &["start", "MultiProfile!File"],
            "MultiProfile.wprp!File would have this form",
        ),
        (
            &["start", "boot"],
            "boot cannot keep the last events in memory",
        ),
        (
            &["start", "cpu", "--sample-every", "0.1"],
            "milliseconds between 0.1221 and 1000",
        ),
        (&["profiles", "--topic", "heaps"], "heap tracing"),
        (
            &["profiles", "--topic", "disks"],
            "topics are .NET, ALPC messages",
        ),
        (&["wpr", "-startt", "CPU"], "did you mean -start?"),
        (&["wpr", "-satrt", "CPU"], "did you mean -start?"),
        (&["wpr", "-markr", "CPU"], "did you mean -marker?"),
    ] {
        let error = printed(words).unwrap_err();
        assert!(error.contains(want), "{words:?}: {error}");
    }
    let found = printed(&["profiles", "--topic", "DNS queries"]).unwrap();
    assert!(
        found.contains("dns") && !found.contains("cswitch"),
        "{found}"
    );
}

#[test]
fn a_profile_of_a_file_is_read_before_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.wprp");
    let definitions = "<SystemCollector Id=\"SC\" Name=\"NT Kernel Logger\"/>\
        <SystemProvider Id=\"SP\"><Keywords><Keyword Value=\"CSwitch\"/></Keywords></SystemProvider>";
    let profile = |name: &str, provider: &str| {
        format!(
            "<Profile Id=\"{name}.Verbose.Memory\" Name=\"{name}\" DetailLevel=\"Verbose\" LoggingMode=\"Memory\">\
             <Collectors><SystemCollectorId Value=\"SC\"><SystemProviderId Value=\"{provider}\"/></SystemCollectorId>\
             </Collectors></Profile>"
        )
    };
    let (good, broken) = (profile("Good", "SP"), profile("Broken", "Missing"));
    let to_file = profile("Long", "SP").replace("Memory", "File");
    let text = format!(
        "<WindowsPerformanceRecorder Version=\"1.0\"><Profiles>{definitions}{good}{broken}{to_file}</Profiles></WindowsPerformanceRecorder>"
    );
    fs::write(&path, text).unwrap();
    let start = |name: &str| printed(&["start", &format!("{}!{name}", path.display())]);
    for name in ["Good", "good.verbose", "Good.Verbose.Memory"] {
        let script = start(name).unwrap();
        assert_eq!(acts(&script).len(), 1, "{script}");
    }
    let unknown = start("Other").unwrap_err();
    assert!(
        unknown.contains("my.wprp has no profile \"Other\"\nits profiles are Broken, Good, Long"),
        "{unknown}"
    );
    let missing = start("Broken").unwrap_err();
    assert!(
        missing.contains(
            "there is no <SystemProvider> with the Id \"Missing\" in the file; the file has: SP"
        ),
        "{missing}"
    );
    // wpr reads the variant of the profile for files only in its mode for files.
    let to_file = start("Long").unwrap_err();
    assert!(
        to_file.contains("the profile Long of ")
            && to_file.ends_with("only records to a file\nadd --file"),
        "{to_file}"
    );
    let long = format!("{}!Long", path.display());
    let script = printed(&["start", "--file", &long]).unwrap();
    assert!(script.contains(" -filemode"), "{script}");
    let kept = printed(&["start", "--file", &format!("{}!Good", path.display())]).unwrap_err();
    assert!(kept.contains("leave --file out"), "{kept}");
    let check = |name: &str| printed(&["check", &format!("{}{name}", path.display())]);
    let one = check("!Good").unwrap();
    assert!(
        one.starts_with("1 profile of ") && one.contains("CSwitch"),
        "{one}"
    );
    for refused in ["!Broken", ""] {
        let error = check(refused).unwrap_err();
        assert!(
            error.contains(
                "wpr refuses the profile Broken.Verbose.Memory: there is no <SystemProvider>"
            ),
            "{error}"
        );
    }
    let several = printed(&["start", path.to_str().unwrap()]).unwrap_err();
    assert!(several.contains("is a file of them"), "{several}");
    // As wpr does, a file with one profile is taken for it, whatever variants that has.
    let one = path.with_file_name("one.wprp");
    let variant = good.replace("Memory", "File");
    let text = format!(
        "<WindowsPerformanceRecorder Version=\"1.0\"><Profiles>{definitions}{good}{variant}</Profiles></WindowsPerformanceRecorder>"
    );
    fs::write(&one, text).unwrap();
    let script = printed(&["start", "--file", one.to_str().unwrap()]).unwrap();
    assert!(script.contains("one.wprp!Good"), "{script}");
    assert!(!script.contains("Default profile"), "{script}");
    // Of several, the one that the file marks as the default, with its variants.
    let marked = path.with_file_name("marked.wprp");
    let mark = |profile: &str| profile.replace(" Name=", " Default=\"true\" Name=");
    let start_of = |profiles: &[String]| {
        let profiles = profiles.concat();
        let text = format!(
            "<WindowsPerformanceRecorder Version=\"1.0\"><Profiles>{definitions}{profiles}</Profiles></WindowsPerformanceRecorder>"
        );
        fs::write(&marked, text).unwrap();
        printed(&["start", marked.to_str().unwrap()])
    };
    let script = start_of(&[broken.clone(), mark(&good), mark(&variant)]).unwrap();
    assert!(
        script.contains("marked.wprp!Good") && script.contains("marked.wprp: Good. "),
        "{script}"
    );
    for profiles in [
        [good.clone(), broken.clone()],
        [mark(&good), mark(&profile("Other", "SP"))],
        [mark(&good).replace("true", "false"), broken.clone()],
    ] {
        let several = start_of(&profiles).unwrap_err();
        assert!(several.contains("is a file of them"), "{several}");
    }
    let nowhere = printed(&["start", "nothere.wprp!P"]).unwrap_err();
    assert!(nowhere.contains("cannot read nothere.wprp"), "{nowhere}");
    let unnamed = printed(&["start", "my.wprp"]).unwrap_err();
    assert!(
        unnamed.contains("my.wprp is a file of them\nname one of them: my.wprp!PROFILE"),
        "{unnamed}"
    );
}

#[test]
fn lines_that_people_have_are_explained() {
    let line = |program: &str, rest: &str| {
        let words: Vec<&str> = [program].into_iter().chain(rest.split(' ')).collect();
        printed(&words)
    };
    for (program, rest) in [
        ("wpr", "-start MultiProfile.wprp!SysCall"),
        ("wpr", r"-stop c:\temp\Wpr_SysCall.etl"),
        ("wpr", r"-start c:\temp\MultiProfile.wprp!Network"),
        (
            "wpr",
            "-start MultiProfile!File -start MultiProfile.wprp!CSWitch -start MultiProfile.wprp!PMCLLC",
        ),
        ("wpr", "-pmcsources"),
        ("wpr", "-profiles MultiProfile.wprp"),
        ("wpr", "-start Handle"),
        ("wpr", "-start VirtualAllocation"),
        ("wpr", "-start CPU -start DiskIO -start FileIO"),
        (
            "wpr",
            r"-start C:\temp\MultiProfile.wprp!CSwitch -start C:\temp\MultiProfile.wprp!File",
        ),
        ("xperf", "-on base+syscall+CSWITCH -stackwalk SyscallEnter"),
        ("xperf", "-stop"),
        ("xperf", r"-merge c:\kernel.etl SyscallTracing.etl"),
        ("xperf", "-Loggers"),
        // Paths also start with a slash.
        ("wpr", "-stop /tmp/x.etl"),
        ("wpr", "-markerflush now"),
        ("wpr", "-start CPU -shutdown"),
        ("xperf", "-stopall"),
        ("xperf", "-i a.etl -o b.txt -a dpcisr -summary -range 1 2"),
    ] {
        let script = line(program, rest).unwrap();
        assert_eq!(acts(&script), [format!("{program} {rest}")]);
        let options = rest.split(' ').filter(|word| word.starts_with('-')).count();
        assert_eq!(
            script
                .lines()
                .filter(|line| line.starts_with("rem -"))
                .count(),
            options,
            "{script}"
        );
    }
    let newer = line("wpr", "-start CPU -fromtomorrow").unwrap();
    assert_eq!(acts(&newer), ["wpr -start CPU -fromtomorrow"]);
    assert!(
        newer.contains("note: -fromtomorrow is not known here and passed on as it is"),
        "{newer}"
    );
    let slash = line("wpr", "/start CPU").unwrap();
    assert_eq!(acts(&slash), ["wpr -start CPU"]);
    let help = line("xperf", "–help start").unwrap();
    assert_eq!(acts(&help), ["xperf -help start"]);
    assert!(help.contains("note: –help is read as -help"), "{help}");
    let missing = line("wpr", "-start MultiProfile!File").unwrap();
    assert!(
        missing.contains("MultiProfile.wprp!File may be meant"),
        "{missing}"
    );
    let batch = line("wpr", "-start !ScriptLocation!MultiProfile.wprp^^!File").unwrap();
    assert_eq!(
        acts(&batch),
        ["wpr -start !ScriptLocation!MultiProfile.wprp!File"]
    );
    let slip = line("wpr", r"-start c:\temp\SlowBrowsing_%ComputerName%.etl").unwrap_err();
    let want = r"did you mean -stop? `wpr -stop c:\temp\SlowBrowsing_%ComputerName%.etl`";
    assert!(slip.contains(want), "{slip}");
    let after_profile = line("wpr", "-start CPU slow.etl").unwrap_err();
    assert!(
        after_profile.contains("did you mean -stop? `wpr -stop slow.etl`"),
        "{after_profile}"
    );
}
