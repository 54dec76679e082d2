//! Files of recording profiles of others.

use etwkit_record::profiles::{PROFILES, WPRP};
use etwkit_record::wprp::{ProfileContent, Wprp, answers};

fn read(text: &str) -> Wprp {
    Wprp::read("own.wprp", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn warnings(file: &Wprp) -> Vec<String> {
    let lines = file.warnings.lines();
    lines
        .iter()
        .map(|line| line.replacen("own.wprp:", "", 1))
        .collect()
}

/// A file with these definitions and profiles.
fn file(definitions: &str, profiles: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<WindowsPerformanceRecorder Version=\"1.0\"><Profiles>{definitions}{profiles}</Profiles></WindowsPerformanceRecorder>"
    )
}

const DEFINITIONS: &str = "<SystemCollector Id=\"SC\" Name=\"NT Kernel Logger\"><BufferSize Value=\"64\"/></SystemCollector>\
    <EventCollector Id=\"EC\" Name=\"User\"/>\
    <SystemProvider Id=\"SP\"><Keywords><Keyword Value=\"CSwitch\"/><Keyword Value=\"loader\"/></Keywords><Stacks><Stack Value=\"CSwitch\"/></Stacks></SystemProvider>\
    <SystemProvider Id=\"More\" Base=\"SP\"><Keywords Operation=\"Add\"><Keyword Value=\"ReadyThread\"/></Keywords></SystemProvider>\
    <EventProvider Id=\"EP\" Name=\"Microsoft-Windows-DNS-Client\" Level=\"5\" Stack=\"true\"><Keywords><Keyword Value=\"0x10\"/></Keywords></EventProvider>\
    <EventProvider Id=\"Net\" Name=\"{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}\"/>";

/// A profile with this content.
fn profile(name: &str, more: &str, content: &str) -> String {
    format!(
        "<Profile Id=\"{name}.Verbose.File\" Name=\"{name}\" DetailLevel=\"Verbose\" LoggingMode=\"File\" {more}>{content}</Profile>"
    )
}

fn collectors(operation: &str, system: &str, event: &str) -> String {
    format!(
        "<Collectors{operation}><SystemCollectorId Value=\"SC\"><SystemProviderId Value=\"{system}\"/></SystemCollectorId>\
         <EventCollectorId Value=\"EC\"><EventProviders{operation}><EventProviderId Value=\"{event}\"/></EventProviders></EventCollectorId></Collectors>"
    )
}

fn kernel(of: &ProfileContent) -> String {
    of.kernel
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

fn providers(of: &ProfileContent) -> String {
    of.providers
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn our_own_profiles_record_what_their_list_says() {
    let file = read(WPRP);
    assert_eq!(warnings(&file), [""; 0]);
    for profile in PROFILES {
        let mut found = file
            .profiles
            .iter()
            .filter(|found| found.name == profile.name)
            .peekable();
        assert!(found.peek().is_some(), "{}", profile.name);
        for found in found {
            let answers = answers(found);
            for question in profile.questions {
                assert!(
                    answers.contains(question),
                    "{} {question}: {answers:?}",
                    found.id
                );
            }
        }
    }
}

#[test]
fn profiles_have_what_they_inherit() {
    let base = profile("Base", "Description=\"d\"", &collectors("", "SP", "EP"));
    let added = profile(
        "Added",
        "Base=\"Base.Verbose.File\"",
        &collectors(" Operation=\"Add\"", "More", "Net"),
    );
    let replaced = profile(
        "Replaced",
        "Base=\"base.verbose.file\"",
        &collectors("", "More", "Net"),
    );
    let plain = profile("Plain", "Base=\"Base.Verbose.File\"", "");
    let ours = profile("Ours", "Base=\"GeneralProfile.Verbose.File\"", "");
    let file = read(&file(
        DEFINITIONS,
        &format!("{base}{added}{replaced}{plain}{ours}"),
    ));
    assert_eq!(warnings(&file), [""; 0]);
    let found: Vec<(String, String, Vec<&str>)> = file
        .profiles
        .iter()
        .map(|p| (kernel(p), providers(p), answers(p)))
        .collect();
    let dotnet = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
    let dns = "Microsoft-Windows-DNS-Client";
    assert_eq!(found[0].0, "CSwitch Loader");
    assert_eq!(found[0].1, dns);
    assert_eq!(found[0].2, ["wait", "start", "cores", "dns", "events"]);
    assert_eq!(found[1].0, "CSwitch Loader ReadyThread");
    assert_eq!(found[1].1, format!("{dns} {dotnet}"));
    assert_eq!(found[2].1, dotnet);
    assert!(found[2].2.contains(&"gc") && !found[2].2.contains(&"dns"));
    assert_eq!((&found[3].0, &found[3].1), (&found[0].0, &found[0].1));
    assert!(
        file.profiles[4]
            .built_in
            .contains("GeneralProfile.Verbose.File")
    );
    let how = file.profiles[0].providers[dns];
    assert_eq!((how.keywords, how.level, how.stacks), (0x10, Some(5), true));
}

#[test]
fn providers_that_no_profile_uses_are_checked() {
    let system = "<SystemProvider Id=\"X\"><Keywords><Keyword Value=\"CpuConfg\"/></Keywords></SystemProvider>";
    let event = "<EventProvider Id=\"Y\" Name=\"Y\"><Keywords><Keyword Value=\"ten\"/></Keywords></EventProvider>";
    // Providers of the kernel have to be before the others.
    let definitions =
        DEFINITIONS.replacen("<EventProvider ", &format!("{system}<EventProvider "), 1);
    let profile = profile("P", "", &collectors("", "SP", "EP"));
    let file = read(&file(&format!("{definitions}{event}"), &profile));
    let found = warnings(&file);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].ends_with("\"CpuConfg\" is not a keyword that wpr knows"),
        "{found:?}"
    );
    assert!(
        found[1].ends_with("\"ten\" is not a mask like 0x10"),
        "{found:?}"
    );
    assert_eq!(kernel(&file.profiles[0]), "CSwitch Loader");
}

/// A derived profile adds a provider to that of its base, as the documentation of wpr shows it.
#[test]
fn providers_of_the_kernel_add_up() {
    let definitions = DEFINITIONS.replacen(
        "<EventProvider ",
        "<SystemProvider Id=\"Other\"><Keywords><Keyword Value=\"DiskIO\"/></Keywords><Stacks><Stack Value=\"ImageLoad\"/></Stacks></SystemProvider>\
         <SystemProvider Id=\"Less\" Base=\"SP\"><Keywords Operation=\"Remove\"><Keyword Value=\"CSwitch\"/></Keywords></SystemProvider>\
         <EventProvider ",
        1,
    );
    let base = profile("Base", "", &collectors("", "SP", "EP"));
    let added = |name: &str, provider: &str| {
        let content = collectors(" Operation=\"Add\"", provider, "EP");
        profile(name, "Base=\"Base.Verbose.File\"", &content)
    };
    let (more, less) = (added("More", "Other"), added("Less", "Less"));
    let file = read(&file(&definitions, &format!("{base}{more}{less}")));
    assert_eq!(warnings(&file), [""; 0]);
    let stacks: Vec<&String> = file.profiles[1].stacks.iter().collect();
    assert_eq!(kernel(&file.profiles[1]), "CSwitch DiskIO Loader");
    assert_eq!(stacks, ["CSwitch", "ImageLoad"]);
    assert_eq!(kernel(&file.profiles[2]), "CSwitch Loader");
}

/// Providers that wpr has itself are no references to nothing.
#[test]
fn providers_of_wpr_need_no_definition() {
    let own = profile(
        "Own",
        "",
        &collectors("", "SystemProvider_Base", "EventProvider_DotNetProvider"),
    );
    let named = profile("Named", "", &collectors("", "SP", "Named"));
    let counter =
        "<HardwareCounter Id=\"HW\"><Counters><Counter Value=\"X\"/></Counters></HardwareCounter>";
    let provider = "<EventProvider Id=\"Named\" Name=\"DotNetProvider\"/>";
    // Files that people share have counters in front of providers.
    let definitions = format!("{DEFINITIONS}{counter}{provider}");
    let file = read(&file(&definitions, &format!("{own}{named}")));
    assert_eq!(warnings(&file), [""; 0]);
    assert!(file.profiles[0].broken.is_empty());
    let own: Vec<&String> = file.profiles[0].built_in.iter().collect();
    assert_eq!(own, ["EventProvider_DotNetProvider", "SystemProvider_Base"]);
    assert!(answers(&file.profiles[1]).contains(&"gc"));
}

/// A provider that only describes its state has no events of what happens while it is recorded.
#[test]
fn a_provider_that_only_captures_its_state_is_not_enabled() {
    const WIN32K: &str = "Microsoft-Windows-Win32k";
    let definitions = format!(
        "{DEFINITIONS}\
         <EventProvider Id=\"State\" Name=\"{WIN32K}\" CaptureStateOnly=\"true\"><CaptureStateOnSave><Keyword Value=\"0x80000\"/></CaptureStateOnSave></EventProvider>\
         <EventProvider Id=\"Focus\" Name=\"{WIN32K}\" Level=\"4\"><Keywords><Keyword Value=\"0x2000\"/></Keywords></EventProvider>"
    );
    let state = "<EventProviderId Value=\"State\"/>";
    let focus = "<EventProviderId Value=\"Focus\"/>";
    let alone = collectors("", "SP", "State");
    let first = alone.replace(state, &format!("{state}{focus}"));
    let last = alone.replace(state, &format!("{focus}{state}"));
    let profiles = [("Alone", &alone), ("First", &first), ("Last", &last)]
        .map(|(name, content)| profile(name, "", content))
        .concat();
    let file = read(&file(&definitions, &profiles));
    assert_eq!(warnings(&file), [""; 0]);
    let [alone, with_focus @ ..] = file.profiles.as_slice() else {
        panic!("no profiles");
    };
    let how = alone.providers[WIN32K];
    assert!(how.state_only);
    assert_eq!((how.keywords, how.level), (0x80000, None));
    assert_eq!(answers(alone), ["wait", "start", "cores", "events"]);
    for both in with_focus {
        let how = both.providers[WIN32K];
        assert!(!how.state_only, "{}", both.name);
        assert_eq!((how.keywords, how.level), (0x2000, Some(4)));
        let answers = answers(both);
        assert!(answers.contains(&"focus") && !answers.contains(&"user-lock"));
    }
}

/// Two uses of a provider record what each of them asks for.
#[test]
fn a_provider_that_is_used_twice_has_the_higher_level() {
    let twice = |one: &str, two: &str| {
        let more = format!(
            "{DEFINITIONS}<EventProvider Id=\"One\" Name=\"P\" {one}/><EventProvider Id=\"Two\" Name=\"P\" {two}/>"
        );
        let content = collectors("", "SP", "One").replace(
            "<EventProviderId Value=\"One\"/>",
            "<EventProviderId Value=\"One\"/><EventProviderId Value=\"Two\"/>",
        );
        read(&file(&more, &profile("P", "", &content))).profiles[0].providers["P"].level
    };
    assert_eq!(twice("Level=\"4\"", "Level=\"5\""), Some(5));
    assert_eq!(twice("Level=\"5\"", "Level=\"4\""), Some(5));
    assert_eq!(twice("Level=\"4\"", ""), None);
    assert_eq!(twice("Level=\"0\"", "Level=\"4\""), None);
}

/// Elements and attributes of the files that come with products of Microsoft.
#[test]
fn heaps_and_counters_of_a_processor_are_read() {
    let heap = "<HeapEventCollector Id=\"HC\" Name=\"WPR Heap Collector\" FileName=\"h.etl\" Secure=\"true\" Realtime=\"false\"/>";
    let definitions =
        DEFINITIONS.replacen("<SystemProvider ", &format!("{heap}<SystemProvider "), 1);
    let definitions = format!(
        "{definitions}<HeapEventProvider Id=\"HP\"><HeapProcessIds><HeapProcessId Value=\"12\"/></HeapProcessIds></HeapEventProvider>\
         <MicroArchitecturalConfig Id=\"MA\"><ProfileSources Architecture=\"INTEL\" Family=\"6\" Model=\"78\"><ProfileSource Name=\"X\" Event=\"19\"/></ProfileSources></MicroArchitecturalConfig>\
         <HardwareCounter Id=\"HW\"><MicroArchitecturalConfigId Value=\"MA\"/><Counters><Counter Value=\"X\"/></Counters></HardwareCounter>"
    );
    let content = "<Collectors>\
        <SystemCollectorId Value=\"SC\"><SystemProviderId Value=\"SP\"/><HardwareCounterId Value=\"HW\"/></SystemCollectorId>\
        <HeapEventCollectorId Value=\"HC\"><HeapEventProviders><HeapEventProviderId Value=\"HP\"/></HeapEventProviders></HeapEventCollectorId>\
        </Collectors>";
    // A profile that others are derived from needs no mode in its id.
    let base = profile("Base", "Internal=\"true\"", content);
    let base = base.replace("Base.Verbose.File", "Base.Verbose");
    let derived = profile("P", "Base=\"Base.Verbose\"", "");
    let file = read(&file(&definitions, &format!("{base}{derived}")));
    assert_eq!(warnings(&file), [""; 0]);
    assert_eq!(
        answers(&file.profiles[1]),
        ["wait", "start", "cores", "heap", "pmc"]
    );
}

#[test]
fn collectors_of_wpr_need_no_definition() {
    let told = |system: &str| {
        let content = collectors("", "SP", "EP")
            .replace("\"SC\"", &format!("\"{system}\""))
            .replace("\"EC\"", "\"EventCollector_WPREventCollectorInFile\"");
        warnings(&read(&file(DEFINITIONS, &profile("P", "", &content))))
    };
    assert_eq!(told("SystemCollector_WPRSystemCollectorInFile"), [""; 0]);
    assert!(told("Other")[0].contains("it has to be one of wpr"));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let good = collectors("", "SP", "EP");
    for (definitions, more, content, expected) in [
        (
            "",
            "Odd=\"1\"",
            good.clone(),
            "Odd of <Profile> is unknown and has no effect",
        ),
        (
            "<Odd/>",
            "",
            good.clone(),
            "<Odd> is unknown and has no effect",
        ),
        (
            "",
            "Base=\"Nothing\"",
            good.clone(),
            "Base \"Nothing\" is not in the file, nor one of wpr",
        ),
        (
            "",
            "Base=\"P.Verbose.File\"",
            good.clone(),
            "leads in a circle",
        ),
        (
            "",
            "",
            collectors("", "None", "EP"),
            "there is no <SystemProvider> with the Id \"None\"",
        ),
        (
            "",
            "",
            collectors("", "SP", "None"),
            "there is no <EventProvider> with the Id \"None\"",
        ),
        ("", "", String::new(), "the profile \"P\" records nothing"),
        (
            "<SystemProvider Id=\"X\"><Keywords><Keyword Value=\"Cswitches\"/><Keyword Value=\"DPC\"/></Keywords></SystemProvider>",
            "",
            collectors("", "X", "EP"),
            "\"Cswitches\" is not a keyword that wpr knows",
        ),
        (
            "<SystemProvider Id=\"X\"><Keywords><Keyword Value=\"DPC\"/></Keywords><Stacks><Stack Value=\"CSwitch\"/></Stacks></SystemProvider>",
            "",
            collectors("", "X", "EP"),
            "the stack CSwitch is never taken, since the keyword CSwitch is not recorded",
        ),
        (
            "<EventProvider Id=\"X\" Name=\"X\"><Keywords><Keyword Value=\"ten\"/></Keywords></EventProvider>",
            "",
            collectors("", "SP", "X"),
            "\"ten\" is not a mask like 0x10",
        ),
        (
            "<SystemProvider Id=\"SP\"/>",
            "",
            collectors("", "SP", "EP"),
            "a second <SystemProvider> with the Id",
        ),
        (
            "<EventProvider Id=\"My X\" Name=\"X\"/>",
            "",
            good.clone(),
            "the Id \"My X\" has a blank or a colon, which wpr does not accept",
        ),
        (
            "",
            "",
            good.replace("<Collectors>", "<Collectors Operation=\"Append\">"),
            "Operation is Set, Add or Remove, and here \"append\"",
        ),
    ] {
        let text = file(
            &format!("{definitions}{DEFINITIONS}"),
            &profile("P", more, &content),
        );
        let told = warnings(&read(&text));
        assert!(
            told.iter().any(|line| line.contains(expected)),
            "{expected}: {told:?}"
        );
        assert!(told.iter().all(|line| line.starts_with("2:")), "{told:?}");
    }
    let late = file(&profile("P", "", &collectors("", "SP", "EP")), DEFINITIONS);
    assert!(
        warnings(&read(&late))
            .iter()
            .any(|line| line.contains("wpr refuses the file"))
    );
    let twice = profile("P", "", &collectors("", "SP", "EP")).repeat(2);
    let told = warnings(&read(&file(DEFINITIONS, &twice)));
    assert!(
        told.iter()
            .any(|line| line.contains("a second profile P.Verbose.File")),
        "{told:?}"
    );
    let other = profile("P", "", &collectors("", "SP", "EP")).replace("P.Verbose.File", "P");
    let told = warnings(&read(&file(DEFINITIONS, &other)));
    assert!(
        told[0].contains("is not Name.DetailLevel.LoggingMode"),
        "{told:?}"
    );
}

#[test]
fn values_that_wpr_does_not_know_are_told() {
    let good = profile("P", "", &collectors("", "SP", "EP"));
    for (from, to, expected) in [
        (
            "BufferSize Value=\"64\"",
            "BufferSize Value=\"1,024\"",
            "Value \"1,024\" of <BufferSize> is not a whole number",
        ),
        (
            "Level=\"5\"",
            "Level=\"Verbose\"",
            "Level \"Verbose\" of <EventProvider> is not a whole number from 0 to 255",
        ),
        (
            "Level=\"5\"",
            "Level=\"300\"",
            "Level \"300\" of <EventProvider> is not a whole number from 0 to 255",
        ),
        (
            "Stack=\"true\"",
            "Stack=\"yes\"",
            "Stack \"yes\" of <EventProvider> is not true or false",
        ),
        (
            "DetailLevel=\"Verbose\"",
            "DetailLevel=\"Full\"",
            "DetailLevel \"Full\" of <Profile> is not Light or Verbose",
        ),
        (
            "LoggingMode=\"File\"",
            "LoggingMode=\"Ring\"",
            "LoggingMode \"Ring\" of <Profile> is not File or Memory",
        ),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<Stack Value=\"0x0524\"/>",
            "Value \"0x0524\" of <Stack> is not a name",
        ),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<Stack Value=\"“CSwitch”\"/>",
            "Value \"“CSwitch”\" of <Stack> is not a name",
        ),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<Stack Value=\"CSwich\"/>",
            "the stack \"CSwich\" is not well known: did you mean CSwitch?",
        ),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<Stack Value=\"MyOwnStack\"/>",
            "the stack \"MyOwnStack\" is not well known: wpr may refuse the file",
        ),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<CustomStack Value=\"0F2E\"/>",
            "Value \"0F2E\" of <CustomStack> is not a whole number",
        ),
        (
            "<Keyword Value=\"loader\"/>",
            "<CustomKeyword Value=\"zz\"/>",
            "Value \"zz\" of <CustomKeyword> is not a whole number",
        ),
        (
            "</Stacks></SystemProvider>",
            "</Stacks><PoolTags><PoolTag Value=\"Ntf*\"/><PoolTag Value=\"Ntfsx\"/></PoolTags></SystemProvider>",
            "Value \"Ntfsx\" of <PoolTag> is not a tag of 1 to 4 characters",
        ),
    ] {
        let text = file(DEFINITIONS, &good);
        assert!(text.contains(from), "{from}");
        let told = warnings(&read(&text.replace(from, to)));
        assert!(
            told.iter().any(|line| line.contains(expected)),
            "{expected}: {told:?}"
        );
    }
    let known = [
        ("BufferSize Value=\"64\"", "BufferSize Value=\"0x40\""),
        ("Level=\"5\"", "Level=\"0xff\""),
        ("Stack=\"true\"", "Stack=\"1\""),
        ("DetailLevel=\"Verbose\"", "DetailLevel=\"verbose\""),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<CustomStack Value=\"0x0524\"/>",
        ),
        (
            "<Stack Value=\"CSwitch\"/>",
            "<Stack Value=\"RegistryQueryValue\"/>",
        ),
        (
            "<SystemProviderId Value",
            "<MaximumFileSize Value=\"4000\" FileMode=\"Circular\"/><SystemProviderId Value",
        ),
    ];
    for (from, to) in known {
        let text = file(DEFINITIONS, &good).replace(from, to);
        assert_eq!(warnings(&read(&text)), [""; 0], "{to}");
        assert!(read(&text).profiles[0].providers["Microsoft-Windows-DNS-Client"].stacks);
    }
}

#[test]
fn a_fault_of_a_base_is_told_once() {
    let base = "<EventProvider Id=\"X\" Name=\"X\"><Keywords><Keyword Value=\"ten\"/></Keywords></EventProvider>\
                <EventProvider Id=\"Y\" Name=\"Y\" Base=\"X\"/>";
    let both = collectors("", "SP", "X").replace(
        "<EventProviderId Value=\"X\"/>",
        "<EventProviderId Value=\"X\"/><EventProviderId Value=\"Y\"/>",
    );
    let text = file(&format!("{DEFINITIONS}{base}"), &profile("P", "", &both));
    let told = warnings(&read(&text));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("\"ten\" is not a mask like 0x10"));
}

#[test]
fn profiles_of_one_name_have_different_modes_and_levels() {
    let one = |detail: &str, mode: &str, operation: &str| {
        format!(
            "<Profile Id=\"P.{detail}.{mode}\" Name=\"P\" DetailLevel=\"{detail}\" LoggingMode=\"{mode}\">{}</Profile>",
            collectors(operation, "SP", "EP")
        )
    };
    let all = ["Light", "Verbose"].map(|detail| {
        ["File", "Memory"]
            .map(|mode| one(detail, mode, ""))
            .concat()
    });
    let file = read(&file(DEFINITIONS, &all.concat()));
    assert_eq!(warnings(&file), [""; 0]);
    let modes: Vec<String> = file
        .profiles
        .iter()
        .map(|p| format!("{} {}", p.detail, p.mode))
        .collect();
    assert_eq!(
        modes,
        [
            "Light File",
            "Light Memory",
            "Verbose File",
            "Verbose Memory"
        ]
    );
}

#[test]
fn files_of_all_shapes_are_read() {
    let plain = file(DEFINITIONS, &profile("P", "", &collectors("", "SP", "EP")));
    for text in [
        plain.replace("<Profiles>", "<!-- c --><Profiles xmlns:x=\"y\"><?p i?>"),
        plain
            .replace("Profile", "PROFILE")
            .replace("Keyword", "keyword"),
        plain.replace("utf-8", "utf-16"),
    ] {
        let file = read(&text);
        assert_eq!(kernel(&file.profiles[0]), "CSwitch Loader", "{text}");
        assert_eq!(warnings(&file), [""; 0], "{text}");
    }
    let wide: Vec<u8> = plain.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [wide.clone(), [&[0xFF, 0xFE], wide.as_slice()].concat()] {
        assert_eq!(
            kernel(&Wprp::read("w", &bytes).unwrap().profiles[0]),
            "CSwitch Loader"
        );
    }
    let cut = plain.split("</Profiles>").next().unwrap();
    assert_eq!(
        warnings(&read(cut)),
        ["2:973: the file ends inside <Profiles>"]
    );
    for (bytes, expected) in [
        (&b""[..], "found no element"),
        (b"<svg/>", "found <svg>"),
        (b"PK\0\xFF", "expected text"),
    ] {
        assert!(Wprp::read("w", bytes).unwrap_err().contains(expected));
    }
}

#[test]
fn a_hostile_file_is_bounded() {
    let good = profile("P", "", &collectors("", "SP", "EP"));
    let deep = format!("{good}{}", "<Profiles>".repeat(100_000));
    assert_eq!(read(&file(DEFINITIONS, &deep)).profiles.len(), 1);
    let long = good.replace(
        "Name=\"P\"",
        &format!("Description=\"{}\" Name=\"P\"", "d".repeat(1 << 20)),
    );
    let read_long = read(&file(DEFINITIONS, &long));
    assert!(read_long.profiles[0].description.is_empty());
    assert!(warnings(&read_long)[0].contains("it has more than 4096 bytes"));
    let chain: String = (0..1000)
        .map(|n| format!("<SystemProvider Id=\"C{n}\" Base=\"C{}\"/>", n + 1))
        .collect();
    let chained = profile("P", "", &collectors("", "C0", "EP"));
    let told = warnings(&read(&file(&format!("{DEFINITIONS}{chain}"), &chained)));
    assert!(
        told.iter()
            .any(|line| line.contains("in a circle, or too far")),
        "{told:?}"
    );
    let many = format!("{good}{}", "<Profile/>".repeat(110_000));
    assert!(!read(&file(DEFINITIONS, &many)).profiles.is_empty());
}

/// A definition counts for each profile that uses it: a file of a megabyte could fill any memory.
#[test]
fn what_profiles_use_together_is_bounded() {
    let stacks: String = (0..8)
        .map(|n| format!("<Stack Value=\"Stack{n}{}\"/>", "x".repeat(4000)))
        .collect();
    let definitions = format!(
        "<SystemCollector Id=\"SC\" Name=\"NT Kernel Logger\"/><SystemProvider Id=\"SP\">\
         <Keywords><Keyword Value=\"CSwitch\"/></Keywords><Stacks>{stacks}</Stacks></SystemProvider>"
    );
    let content = "<Collectors><SystemCollectorId Value=\"SC\"><SystemProviderId Value=\"SP\"/>\
                   </SystemCollectorId></Collectors>";
    let profiles: String = (0..5000)
        .map(|n| profile(&format!("P{n}"), "", content))
        .collect();
    let found = read(&file(&definitions, &profiles));
    let stacks = found.profiles.iter().map(|profile| profile.stacks.len());
    let count = stacks.sum::<usize>();
    // All of them would be 40,000, and take 160 MB.
    assert!((10_000..20_000).contains(&count), "{count}");
    let told = warnings(&found);
    let is_told = |line: &String| line.contains("the profiles use more than 64 MiB");
    assert!(told.iter().any(is_told), "{told:?}");
}

#[test]
fn long_lists_of_providers_are_read_and_removed() {
    let ids = |from: usize, to: usize| -> String {
        (from..to)
            .map(|n| format!("<EventProviderId Value=\"{n:09}\"/>"))
            .collect()
    };
    let definitions: String = (0..2000)
        .map(|n| format!("<EventProvider Id=\"{n:09}\" Name=\"n{n}\"/>"))
        .collect();
    let definitions = format!("<EventCollector Id=\"EC\"/>{definitions}");
    let of_lists = |lists: &str| {
        let content = format!(
            "<Collectors><EventCollectorId Value=\"EC\">{lists}</EventCollectorId></Collectors>"
        );
        let mut found = read(&file(&definitions, &profile("P", "", &content)));
        found.profiles.remove(0)
    };
    let (all, others) = (ids(0, 2000), ids(1999, 4000));
    let removed = of_lists(&format!(
        "<EventProviders>{all}</EventProviders><EventProviders Operation=\"Remove\">{others}</EventProviders>"
    ));
    assert_eq!(removed.providers.len(), 1999);
    let missing = of_lists(&format!(
        "<EventProviders>{}</EventProviders>",
        ids(5000, 5500)
    ));
    assert_eq!(missing.broken.len(), 500);
    assert!(missing.broken[0].contains("; the file has: 000000000, 000000001, "));
    // The list of what there is comes once.
    assert!(missing.broken[1].len() < 100, "{}", missing.broken[1]);
}

#[test]
fn changed_files_are_read_or_refused() {
    let ours = include_str!("../../profiles/etwkit.wprp");
    etwkit_testkit::xml_noise::each(&[ours.as_bytes()], |bytes| {
        if let Ok(file) = Wprp::read("own.wprp", bytes) {
            for profile in &file.profiles {
                drop(answers(profile));
            }
        }
    });
}
