//! Files of profiles: their parsed content, and rejected files.

use etwkit_export::wpa::catalog::{self, everywhere, graphs, others};
use etwkit_export::wpa::{Aggregation, ColumnOption, Profile, SHIPPED, Unit};

const WAITS: &str = include_str!("profiles/wait-analysis.wpaProfile");
const OLD: &str = include_str!("profiles/version-1.wpaProfile");
const DESCRIBED: &str = include_str!("profiles/described.wpaProfile");

/// Columns of 36 graphs that 65 profiles of others show.
const COLUMNS: &str = include_str!("profiles/columns.tsv");

fn read(text: &str) -> Profile {
    Profile::parse("p.wpaProfile", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_shown_is_read_and_nothing_else() {
    let profile = read(WAITS);
    let names: Vec<&str> = profile
        .presets
        .iter()
        .map(|preset| preset.name.as_str())
        .collect();
    assert_eq!(
        (profile.version, names),
        (2, vec!["Wait Analysis", "Something new"])
    );
    let waits = &profile.presets[0];
    assert_eq!(
        (waits.keys, waits.columns.len(), waits.filter_keeps),
        (5, 11, false)
    );
    assert_eq!(
        (waits.view.as_str(), waits.filter.as_str()),
        ("Waits", "[New Process]:=\"Idle (0)\"")
    );
    let column = |place: usize| &waits.columns[place];
    assert!(!column(0).is_visible && column(1).is_visible);
    assert_eq!(
        (column(1).option, column(3).option),
        (ColumnOption::NoPid, ColumnOption::StackTag)
    );
    assert_eq!(
        (column(7).sort, column(7).unit),
        (Some((0, true)), Some(Unit::Microseconds))
    );
    assert_eq!(
        (column(8).sort, &column(8).aggregation),
        (None, &Aggregation::Max)
    );
}

#[test]
fn version_1_is_read() {
    let profile = read(OLD);
    assert_eq!((profile.version, profile.presets.len()), (1, 2));
    let cpu = &profile.presets[0];
    assert_eq!(cpu.element.as_deref(), Some("CpuSamplingGraphTreeItem"));
    assert_eq!(
        (cpu.view.as_str(), cpu.keys, cpu.columns.len()),
        ("Old", 2, 7)
    );
    assert_eq!(
        (cpu.columns[1].option, cpu.columns[5].sort),
        (ColumnOption::StackTag, None)
    );
    assert!(!cpu.filter_keeps && !cpu.columns[0].is_visible && cpu.columns[2].is_visible);
    let disk = &profile.presets[1];
    assert_eq!(
        disk.graph_guid.as_deref(),
        Some("12C5387C-58CA-45D4-A5C6-450475C30E06")
    );
}

/// All graphs and columns whose GUIDs are known from profiles, in one profile.
#[test]
fn graphs_and_columns_are_found_by_their_guids() {
    let profile = read(DESCRIBED);
    assert!(profile.presets.len() > 20, "{}", profile.presets.len());
    let mut found = 0;
    for preset in &profile.presets {
        let Some(graph) = catalog::by_guid(preset.graph_guid.as_deref().unwrap()) else {
            continue;
        };
        // The file's name for the graph may differ from the program's name.
        found += 1;
        for shown in &preset.columns {
            let Some(column) = graph.by_guid(&shown.guid) else {
                continue;
            };
            assert_eq!(column.name, shown.name, "{}", graph.name);
        }
        let known = preset
            .columns
            .iter()
            .filter(|shown| {
                graph.by_guid(&shown.guid).is_some() || graph.unfilled(&shown.guid, "").is_some()
            })
            .count();
        assert!(
            known * 10 >= preset.columns.len() * 9,
            "{}: {known} of {}",
            graph.name,
            preset.columns.len()
        );
    }
    let with_guid = graphs().iter().filter(|graph| graph.guid.is_some()).count();
    assert_eq!(found, with_guid);
}

/// A column of [`COLUMNS`].
struct Listed {
    graph: &'static str,
    guid: &'static str,
    titles: Vec<&'static str>,
}

fn listed() -> Vec<Listed> {
    let lines = COLUMNS.lines().filter(|line| !line.starts_with('#'));
    let column = |line: &'static str| {
        let [graph, guid, titles] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let titles = titles.split('|').collect();
        Listed {
            graph,
            guid,
            titles,
        }
    };
    lines.map(column).collect()
}

/// Every listed graph is known; of the columns of graphs that are written nearly all are filled, or
/// say why not.
#[test]
fn listed_columns_are_filled_or_say_why_not() {
    let (mut all, mut filled, mut declared, mut unknown) = (0, 0, 0, Vec::new());
    for column in listed() {
        let Some(graph) = catalog::by_guid(column.graph) else {
            assert!(catalog::other(column.graph).is_some(), "{}", column.graph);
            continue;
        };
        all += 1;
        let name = match (graph.by_guid(column.guid), graph.unfilled(column.guid, "")) {
            (Some(known), _) => {
                filled += 1;
                known.name
            }
            (None, Some(known)) => {
                declared += 1;
                known.name
            }
            (None, None) => {
                unknown.push(format!("{}: {:?}", graph.name, column.titles));
                continue;
            }
        };
        assert!(
            column.titles.contains(&name),
            "{}: {name} is {:?}",
            graph.name,
            column.titles
        );
    }
    assert!((filled + declared) * 10 >= all * 9, "{unknown:#?}");
    // Exact, so that a column which is lost, or no longer filled, is seen.
    assert_eq!((all, filled, declared, unknown.len()), (601, 446, 155, 0));
}

#[test]
fn columns_that_nothing_fills_are_no_others_twice() {
    for graph in graphs() {
        for (place, column) in graph.unfilled.iter().enumerate() {
            let name = column.name;
            assert!(
                graph.by_guid(column.guid).is_none(),
                "{}: {name}",
                graph.name
            );
            assert!(graph.by_name(name).is_none(), "{}: {name}", graph.name);
            let mut others = graph.unfilled[place + 1..].iter().chain(everywhere());
            assert!(
                others.all(|other| other.guid != column.guid && other.name != name),
                "{}: {name}",
                graph.name
            );
        }
    }
    for graph in others() {
        assert!(catalog::by_guid(graph.guid).is_none(), "{}", graph.name);
    }
}

#[test]
fn names_and_guids_are_there_once() {
    for (place, graph) in graphs().iter().enumerate() {
        for other in &graphs()[place + 1..] {
            assert!(graph.name != other.name && (graph.guid.is_none() || graph.guid != other.guid));
        }
        for (place, column) in graph.columns.iter().enumerate() {
            for other in &graph.columns[place + 1..] {
                let is_same =
                    column.name == other.name || column.guid.is_some() && column.guid == other.guid;
                assert!(!is_same, "{}: {}", graph.name, column.name);
            }
        }
    }
}

#[test]
fn profiles_of_our_own_are_read_as_others_are() {
    for shipped in SHIPPED {
        let profile = shipped.read().unwrap_or_else(|error| panic!("{error}"));
        for preset in &profile.presets {
            let guid = preset.graph_guid.as_deref().and_then(catalog::by_guid);
            let name = preset
                .graph_name
                .as_deref()
                .and_then(catalog::by_name)
                .unwrap();
            assert!(
                guid.is_none_or(|guid| guid.name == name.name),
                "{}",
                preset.name
            );
            for shown in &preset.columns {
                let is_known = name
                    .by_guid(&shown.guid)
                    .or_else(|| name.by_name(&shown.name))
                    .is_some();
                assert!(is_known, "{} of {}", shown.name, preset.name);
            }
        }
    }
}

#[test]
fn names_of_elements_count_in_any_case() {
    let other = WAITS
        .replace("Views>", "VIEWS>")
        .replace("Columns>", "columns>")
        .replace("<Column ", "<column ")
        .replace("</Column>", "</column>");
    assert_eq!(read(&other), read(WAITS));
}

#[test]
fn what_is_no_profile_is_refused_with_its_place() {
    let error = |text: &str| {
        Profile::parse("p.wpaProfile", text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    let content = |inner: &str| {
        format!(
            "<WpaProfileContainer Version=\"2\">\n<Content><Views>{inner}</Views></Content></WpaProfileContainer>"
        )
    };
    let cases = [
        (
            "",
            "p.wpaProfile:1:1: expected <WpaProfileContainer> (version 2) or <WpaProfile> (version 1), found no element",
        ),
        ("<Other/>", "found <Other>"),
        (
            "<WpaProfileContainer Version=\"2\">\n</WpaProfileContainer>",
            "expected <Content>",
        ),
        (
            "<!DOCTYPE x><WpaProfile/>",
            "found none: a document type is left out: nothing that it declares is expanded",
        ),
        ("<WpaProfile", "p.wpaProfile:1:"),
    ];
    for (text, expected) in cases {
        assert!(error(text).contains(expected), "{text}: {}", error(text));
    }
    assert!(error(&content("")).contains("found a profile that shows nothing"));
    assert!(
        error(&content(
            "<View><Graphs><Graph><Preset Name=\"x\" KeyColumnCount=\"many\"/></Graph></Graphs></View>"
        ))
        .contains("p.wpaProfile:2:"),
    );
}

/// A profile of one graph; `head` comes before it, `presets` are its presets.
fn with_presets(head: &str, presets: &str) -> String {
    format!(
        "{head}<WpaProfileContainer Version=\"2\"><Content><Views><View Title=\"x\"><Graphs>\
         <Graph Guid=\"g\">{presets}</Graph>\
         </Graphs></View></Views></Content></WpaProfileContainer>"
    )
}

/// What is left out of a profile, without the place.
fn left_out(profile: &Profile) -> Vec<&str> {
    let warnings = profile.warnings.iter();
    warnings.map(|warning| warning.text.as_str()).collect()
}

const USABLE: &str = "<Preset Name=\"usable\" KeyColumnCount=\"1\"><Columns><Column Guid=\"c\" \
                      IsVisible=\"true\"/></Columns></Preset>";

#[test]
fn one_odd_part_leaves_the_others() {
    let columns =
        |columns: &str| format!("<Preset Name=\"x\"><Columns>{columns}</Columns></Preset>{USABLE}");
    // The head, the presets, how many of them are read, and the first warning.
    let cases = [
        (
            String::new(),
            format!("<Preset Name=\"x\" KeyColumnCount=\"many\"/>{USABLE}"),
            1,
            "expected a number as KeyColumnCount, found \"many\": the preset \"x\" is left out",
        ),
        (
            String::new(),
            format!("<Preset Name=\"x\" KeyColumnCount=\"999999999999\"/>{USABLE}"),
            1,
            "expected a number as KeyColumnCount, found \"999999999999\": the preset \"x\" is left out",
        ),
        (
            String::new(),
            format!(
                "<Preset Name=\"x\" InitialFilterQuery=\"{}\"/>{USABLE}",
                "[A]:=1 OR ".repeat(7_000)
            ),
            1,
            "InitialFilterQuery of 70018 bytes is left out: at most 65536 are read",
        ),
        (
            String::new(),
            columns("<Column/>"),
            2,
            "expected Guid or Name, found <Column> without them: the column is left out",
        ),
        (
            String::new(),
            columns("<Column Guid=\"c\" SortPriority=\"first\"/>"),
            2,
            "expected a number as SortPriority, found \"first\": it counts as 0",
        ),
        (
            String::new(),
            columns(&"<Column Guid=\"c\"/>".repeat(501)),
            2,
            "this <Column> and those that follow are left out: at most 500 of a preset are read",
        ),
        (
            String::new(),
            USABLE.repeat(1001),
            1000,
            "left out: at most 1000 elements <Preset> are read",
        ),
        (
            "<!DOCTYPE x [<!ENTITY a \"aaaa\">]>".to_owned(),
            USABLE.to_owned(),
            1,
            "a document type is left out: nothing that it declares is expanded",
        ),
    ];
    for (head, presets, count, first) in cases {
        let profile = read(&with_presets(&head, &presets));
        assert_eq!(profile.presets.len(), count, "{first}");
        assert_eq!(left_out(&profile).first(), Some(&first));
        let last = profile.presets.last().unwrap();
        assert_eq!((last.name.as_str(), last.columns.len()), ("usable", 1));
    }
}

#[test]
fn a_column_that_is_left_out_keeps_its_place_before_the_golden_bar() {
    let columns = "<Column IsVisible=\"true\"/><Column Guid=\"c\" IsVisible=\"true\"/>";
    let preset =
        format!("<Preset Name=\"x\" KeyColumnCount=\"1\"><Columns>{columns}</Columns></Preset>");
    let profile = read(&with_presets("", &preset));
    let visible: Vec<bool> = profile.presets[0]
        .columns
        .iter()
        .map(|column| column.is_visible)
        .collect();
    assert_eq!((profile.presets[0].keys, visible), (1, vec![false, true]));
}

#[test]
fn later_versions_and_all_encodings_are_read() {
    let text = with_presets("", USABLE).replace("Name=\"usable\"", "Name=\"Größe\"");
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let old: Vec<u8> = text
        .chars()
        .map(|character| u8::try_from(u32::from(character)).unwrap())
        .collect();
    for bytes in [text.as_bytes(), wide.as_slice(), old.as_slice()] {
        let profile = Profile::parse("p.wpaProfile", bytes).unwrap();
        assert_eq!(profile.presets[0].name, "Größe");
    }
    let later = read(&text.replace("Version=\"2\"", "Version=\"3\""));
    assert_eq!(
        (later.presets.len(), left_out(&later)),
        (
            1,
            vec!["Version \"3\" of the format is unknown: it is read as version 2"]
        )
    );
}

#[test]
fn a_profile_that_is_cut_short_keeps_its_first_tables() {
    let text = with_presets("", &USABLE.repeat(3));
    let cut = text.rfind("<Columns>").unwrap();
    let profile = read(&text[..cut]);
    assert_eq!(profile.presets.len(), 3);
    assert_eq!(left_out(&profile), ["the file ends inside <Preset>"]);
}

#[test]
fn a_hostile_profile_is_bounded() {
    let error = |text: &str| {
        Profile::parse("p.wpaProfile", text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    let head = "<WpaProfileContainer><Content><Views>";
    let deep = format!("{head}{}", "<View>".repeat(300_000));
    assert!(error(&deep).contains("64 in each other"));
    assert!(error(&" ".repeat(17 << 20)).contains("at most 16 MiB"));
    let many = format!("{head}{}", "<View/>".repeat(300_000));
    assert!(error(&many).contains("at most 200000 elements"));
    let entities: String = ('b'..='m')
        .zip('a'..)
        .map(|(name, of)| format!("<!ENTITY {name} \"{}\">", format!("&{of};").repeat(10)))
        .collect();
    let bomb = format!("<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">{entities}]>");
    let profile = read(&with_presets(&bomb, &USABLE.replace("usable", "&m;")));
    assert_eq!(profile.presets[0].name, "&m;");
}

/// A profile that is cut anywhere, or has another byte anywhere, is read or refused, and nothing
/// worse.
#[test]
fn broken_profiles_do_no_harm() {
    for text in [WAITS, OLD] {
        for at in (0..text.len())
            .step_by(7)
            .filter(|at| text.is_char_boundary(*at))
        {
            let _ = Profile::parse("p", &text.as_bytes()[..at]);
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 0x15;
            let _ = Profile::parse("p", &bytes);
        }
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    let seeds = [OLD.as_bytes(), DESCRIBED.as_bytes(), WAITS.as_bytes()];
    etwkit_testkit::xml_noise::each(&seeds, |bytes| drop(Profile::parse("p.wpaProfile", bytes)));
}
