//! Personal texts that are planted in every kind of field: none is left by a redaction, and what is
//! Microsoft's stays.

use std::io::Cursor;
use std::ops::ControlFlow;

use etwkit_cut::{Fate, Options, Redaction};
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind;
use etwkit_etl::writer::{
    ClassicEvent, KernelContext, KernelEvent, ManifestEvent, Record, SessionOptions, TraceWriter,
    Width,
};
use etwkit_etl::{Guid, Order, Session};

use crate::support::{cut_bytes, session};

const IMAGE_ID: Guid = Guid::literal("b3e675d7-2554-4f18-830b-2762732560de");
const DNS: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");
const OWN: Guid = Guid::literal("0f0f0f0f-1111-2222-3333-444444444444");
const UNDESCRIBED: Guid = Guid::literal("0e0e0e0e-1111-2222-3333-444444444444");

/// What nobody may read: words of the texts below, in lower case.
const SECRETS: [&str; 24] = [
    "rosalinde",
    "quibble",
    "wexford",
    "fjordgate",
    "zebulon",
    "tarnhelm",
    "r%6fsalinde",
    "%72osalinde",
    "qu%69bble",
    "jürgenson",
    "jirgenson",
    "10.77.3.19",
    "fd12:3456",
    "4711008",
    "07700900",
    "vyx-secret",
    "diagnosis-hiv",
    "gehalt",
    "passphrase",
    "kundenliste",
    "1987-03-14",
    "b0b0b0b0-5e5e",
    "3141592653",
    "hunter2x",
];

/// Texts as people have them, in many spellings.
const TEXTS: [&str; 56] = [
    "Rosalinde",
    "ROSALINDE QUIBBLE",
    "rOsAlInDe",
    "Rosalinde.Quibble@wexford.com",
    "WEXFORD\\Rosalinde",
    r"C:\Users\Rosalinde\Documents\Kundenliste 2026.xlsx",
    r"c:\users\ROSALI~1\KUNDEN~1.XLS rosalinde",
    r"C:\USERS\QUIBBLE~1\wexford.docx",
    r"C:/Users/Rosalinde/quibble.txt",
    r"\Device\HarddiskVolume3\Users\Rosalinde\Fjordgate.exe",
    r"\??\C:\Users\Rosalinde\Zebulon.dll",
    r"\\?\D:\Quibble\Tarnhelm\x.bin",
    r"\\wexford-nas\rosalinde$\gehalt.pdf",
    r"\Device\Mup\;LanmanRedirector\;Z:0000000004711008\wexford-nas\quibble\gehalt.pdf",
    r"C:\Windows\System32\rosalinde.dll",
    r"C:\Windows\System32\drivers\fjordgate.sys",
    r"C:\Windows\System32\DriverStore\FileRepository\quibble.inf_amd64_0123\fjordgate.sys",
    r"C:\Windows\Temp\Rosalinde\ntdll.dll",
    r"C:\Program Files\Fjordgate GmbH\Zebulon Suite\zebulon.exe",
    r"C:\Program Files (x86)\Common Files\Wexford\quibble.dll",
    r"C:\ProgramData\Fjordgate\state.db",
    r"%SystemRoot%\System32\quibble.exe",
    r"%USERPROFILE%\Rosalinde\quibble.ini",
    r"\SystemRoot\System32\Tarnhelm.sys",
    "\"C:\\Program Files\\Fjordgate GmbH\\zebulon.exe\" --user=Rosalinde --pin 4711008",
    r"C:\Program Files\Fjordgate GmbH\zebulon.exe /open:C:\Users\Rosalinde\quibble.doc",
    r"cmd.exe /c copy C:\Quibble\*.doc \\wexford-nas\share",
    r"svchost.exe -k Fjordgate -s Zebulon",
    r"powershell -Command Write-Host 'Rosalinde' -Password hunter2x",
    "https://rosalinde:hunter2x@fjordgate.example.org:8443/quibble?name=wexford#zebulon",
    "https://example.org/r%6Fsalinde/%72osalinde?q=qu%69bble",
    "file:///C:/Users/Rosalinde/quibble.html",
    "rosalinde-laptop.wexford.corp.local",
    "ROSALINDE-PC",
    "_ldap._tcp.dc._msdcs.wexford.local",
    "19.3.77.10.in-addr.arpa 10.77.3.19",
    "10.77.3.19",
    "10.77.3.19:8080;fd12:3456::9;",
    "type:  5 fjordgate.example.org;::ffff:10.77.3.19;",
    "[fd12:3456::1]:443",
    "server=10.77.3.19,user=rosalinde",
    "S-1-5-21-3141592653-4711008-4711008-1001",
    r"\REGISTRY\USER\S-1-5-21-3141592653-4711008-4711008-1001\Software\Fjordgate",
    r"\REGISTRY\MACHINE\SOFTWARE\Wexford\Zebulon\{b0b0b0b0-5e5e-4444-8888-123456789abc}",
    "{b0b0b0b0-5e5e-4444-8888-123456789abc}",
    "Jürgenson, Jirgenson; +44 07700900 123",
    "born 1987-03-14, diagnosis-hiv",
    "passphrase: vyx-secret",
    "Fjordgate.Zebulon.Tarnhelm`1[Wexford.Quibble]",
    "System.Collections.Generic.List`1[Fjordgate.Zebulon]",
    "void (class Fjordgate.Zebulon, System.String)",
    "Fjordgate GmbH & Co. KG",
    r"C:\Users\Rosalinde\a.txt:quibble:$DATA",
    r"C:\Users\Rosalinde\AppData\Local\Packages\Fjordgate.Zebulon_1.0.0.0_x64__quibble\x",
    r"C:\build\rosalinde\zebulon\x64\Release\zebulon.pdb",
    "tail\ttab\nrosalinde\r\nquibble",
];

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect()
}

fn ascii(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

fn counted(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_le_bytes(), bytes].concat()
}

/// Writes events.
struct Maker {
    writer: TraceWriter<Cursor<Vec<u8>>>,
    time: i64,
}

impl Maker {
    fn new(compressed: bool) -> Self {
        let mut options = SessionOptions {
            compressed,
            ..SessionOptions::default()
        };
        options.header.session_name = "Rosalinde Quibble".to_owned();
        options.header.time_zone.standard_name = "Wexford Time".to_owned();
        options.header.log_file_name = r"C:\Users\Rosalinde\a.etl".to_owned();
        let writer = TraceWriter::new(Cursor::new(Vec::new()), &options).unwrap();
        Self {
            writer,
            time: options.t0 + 1,
        }
    }

    fn kernel(&mut self, group: u8, opcode: u8, version: u8, payload: &[u8]) {
        self.time += 10;
        let event = KernelEvent {
            width: Width::Bits64,
            context: KernelContext::Ids {
                thread_id: 8,
                process_id: 4,
            },
            timestamp: self.time,
            group,
            opcode,
            version,
            pebs_index: None,
            pmc_values: &[],
            payload,
        };
        self.writer.write(0, Record::Kernel(event)).unwrap();
    }

    fn image_id(&mut self, opcode: u8, payload: &[u8]) {
        self.time += 10;
        let event = ClassicEvent {
            width: Width::Bits64,
            timestamp: self.time,
            class: IMAGE_ID,
            opcode,
            level: 0,
            version: 2,
            thread_id: 8,
            process_id: 4,
            processor_time: 0,
            instance: None,
            payload,
        };
        self.writer.write(0, Record::Classic(event)).unwrap();
    }

    fn provider(&mut self, provider: Guid, id: u16, extended: &[(u16, &[u8])], payload: &[u8]) {
        self.time += 10;
        let is_own = !extended.is_empty() && extended[0].0 == kind::EVENT_SCHEMA_TL;
        let event = ManifestEvent {
            width: Width::Bits64,
            timestamp: self.time,
            provider,
            descriptor: Descriptor {
                id,
                channel: if is_own { 11 } else { 0 },
                ..Descriptor::default()
            },
            property: 0,
            thread_id: 8,
            process_id: 4,
            processor_time: 0,
            activity_id: Guid::default(),
            extended,
            payload,
        };
        self.writer.write(0, Record::Manifest(event)).unwrap();
    }

    /// An event that describes itself: fields with name and type.
    fn described(&mut self, fields: &[(&str, u8, Option<u8>)], payload: &[u8]) {
        let mut metadata = vec![0];
        metadata.extend(ascii("Event"));
        for (name, ty, out) in fields {
            metadata.extend(ascii(name));
            match out {
                Some(out) => metadata.extend([ty | 0x80, *out]),
                None => metadata.push(*ty),
            }
        }
        let sized = |bytes: &[u8]| [&(bytes.len() as u16 + 2).to_le_bytes(), bytes].concat();
        let (schema, traits) = (sized(&metadata), sized(&ascii("Own-Provider")));
        let items: [(u16, &[u8]); 2] = [
            (kind::EVENT_SCHEMA_TL, &schema),
            (kind::PROVIDER_TRAITS, &traits),
        ];
        self.provider(OWN, 0, &items, payload);
    }

    fn process(&mut self, pid: u32, name: &str, line: &str) {
        let sid = sid();
        let head = [&[7; 8][..], &pid.to_le_bytes(), &[0; 12], &[0; 8], &[0; 4]].concat();
        let token = [&[1; 8][..], &[0; 8], &sid].concat();
        let texts = [ascii(name), utf16(line), utf16(""), utf16("")].concat();
        self.kernel(3, 3, 4, &[head, token, texts].concat());
    }

    fn image(&mut self, pid: u32, base: u64, path: &str) {
        let head = [
            &base.to_le_bytes()[..],
            &0x1000_u64.to_le_bytes(),
            &pid.to_le_bytes(),
            &[0; 4],
            &stamp(base).to_le_bytes(),
            &[0; 4],
            &base.to_le_bytes(),
            &[0; 16],
        ]
        .concat();
        self.kernel(20, 3, 3, &[head, utf16(path)].concat());
    }

    fn version(&mut self, base: u64, texts: [&str; 4]) {
        let [original, description, product, company] = texts;
        let mut payload = [0x1000_u32.to_le_bytes(), stamp(base).to_le_bytes()].concat();
        for text in [
            original,
            description,
            "10.0.1",
            "10.0.1",
            "1033",
            product,
            company,
            "10.0",
            "",
            "",
        ] {
            payload.extend(utf16(text));
        }
        self.image_id(64, &payload);
    }

    fn symbols(&mut self, pid: u32, base: u64, name: &str) {
        let head = [
            &base.to_le_bytes()[..],
            &pid.to_le_bytes(),
            &[0xAB; 16],
            &[1, 0, 0, 0],
        ];
        self.image_id(36, &[head.concat(), ascii(name)].concat());
    }

    fn finish(self) -> Session {
        let end = self.time;
        session(self.writer.finish(end).unwrap().into_inner())
    }
}

const fn stamp(base: u64) -> u32 {
    base as u32 ^ 0x5F00_0000
}

fn sid() -> Vec<u8> {
    let numbers = [21u32, 3_141_592_653, 4_711_008, 4_711_008, 1001].map(u32::to_le_bytes);
    [&[1, 5, 0, 0, 0, 0, 0, 5][..], &numbers.concat()].concat()
}

/// Plants a text in every kind of field.
fn plant(maker: &mut Maker, text: &str, at: u64) {
    let pid = 1000 + at as u32;
    let (wide, narrow) = (utf16(text), ascii(text));
    let (wide_bytes, narrow_bytes) = (&wide[..wide.len() - 2], &narrow[..narrow.len() - 1]);
    maker.process(pid, text, text);
    maker.image(pid, 0x1000_0000 + at * 0x10_0000, text);
    maker.version(0x1000_0000 + at * 0x10_0000, [text; 4]);
    maker.symbols(pid, 0x1000_0000 + at * 0x10_0000, text);
    // Names of files, opened and by object; keys; services; log-on of the network card.
    maker.kernel(4, 36, 2, &[&[9; 8][..], &wide].concat());
    maker.kernel(4, 64, 3, &[&[9; 28][..], &wide].concat());
    maker.kernel(9, 22, 2, &[&[9; 24][..], &wide].concat());
    maker.kernel(11, 15, 2, &[&[9; 12][..], &wide, &wide, &wide].concat());
    maker.kernel(11, 13, 2, &[&[0; 20][..], &wide, &wide, &wide].concat());
    maker.kernel(11, 25, 2, &[&wide[..], &wide, &wide, &wide].concat());
    maker.provider(
        DNS,
        3006,
        &[],
        &[&wide[..], &[1; 12], &wide, &[1; 16]].concat(),
    );
    maker.provider(DNS, 3008, &[], &[&wide[..], &[1; 16], &wide].concat());
    // Texts of all encodings.
    maker.described(
        &[
            ("A", 1, None),
            ("B", 2, None),
            ("C", 22, None),
            ("D", 23, None),
            ("E", 7, None),
        ],
        &[
            &wide[..],
            &narrow,
            &counted(wide_bytes),
            &counted(narrow_bytes),
            &[7; 4],
        ]
        .concat(),
    );
    for field in [
        "CommandLine",
        "HostName",
        "KeyName",
        "CompanyName",
        "TypeName",
        "FileVersion",
    ] {
        maker.described(&[(field, 1, None)], &wide);
        maker.described(&[(field, 2, Some(35))], &narrow);
    }
    // Arrays of characters and bytes; an array has its length before it.
    let count = |bytes: &[u8], size: usize| ((bytes.len() / size) as u16).to_le_bytes();
    maker.described(
        &[
            ("Wide", 6 | 0x40, Some(1)),
            ("Narrow", 4 | 0x40, Some(1)),
            ("Bytes", 4 | 0x40, None),
        ],
        &[
            &count(wide_bytes, 2)[..],
            wide_bytes,
            &count(narrow_bytes, 1),
            narrow_bytes,
            &count(narrow_bytes, 1),
            narrow_bytes,
        ]
        .concat(),
    );
    // Text that the description calls bytes or numbers, or does not know.
    maker.described(&[("Binary", 14, None)], &counted(wide_bytes));
    maker.described(
        &[("Number", 10, None)],
        &[&[5; 8][..], narrow_bytes].concat(),
    );
    maker.described(
        &[("Number", 10, None), ("More", 10, None)],
        b"RosalindeQuibble",
    );
    maker.provider(UNDESCRIBED, 5, &[], &wide);
    maker.provider(
        UNDESCRIBED,
        6,
        &[(kind::PSM_KEY, &wide), (kind::SID, &sid())],
        &narrow,
    );
}

fn made(compressed: bool) -> Session {
    let mut maker = Maker::new(compressed);
    maker.process(
        500,
        "svchost.exe",
        r"C:\Windows\System32\svchost.exe -k netsvcs -p -s Schedule",
    );
    maker.image(
        500,
        0x7FF0_0000,
        r"\Device\HarddiskVolume3\Windows\System32\ntdll.dll",
    );
    maker.version(
        0x7FF0_0000,
        [
            "ntdll.dll",
            "NT Layer DLL",
            "Windows",
            "Microsoft Corporation",
        ],
    );
    maker.symbols(500, 0x7FF0_0000, "ntdll.pdb");
    maker.process(
        501,
        "zebulon.exe",
        r#""C:\Program Files\Fjordgate\zebulon.exe""#,
    );
    maker.image(
        501,
        0x7FF1_0000,
        r"\Device\HarddiskVolume3\Program Files\Fjordgate\zebulon.exe",
    );
    maker.version(
        0x7FF1_0000,
        ["zebulon.exe", "Zebulon", "Zebulon Suite", "Fjordgate GmbH"],
    );
    maker.symbols(501, 0x7FF1_0000, r"C:\build\rosalinde\zebulon.pdb");
    maker.image(
        501,
        0x7FF2_0000,
        r"\Device\HarddiskVolume3\Users\Rosalinde\ntdll.dll",
    );
    maker.version(0x7FF2_0000, ["ntdll.dll", "Mine", "Mine", "Fjordgate GmbH"]);
    maker.image(0, 0x7FF3_0000, r"\SystemRoot\System32\drivers\tarnhelm.sys");
    maker.version(
        0x7FF3_0000,
        ["tarnhelm.sys", "Filter", "Tarnhelm", "Fjordgate GmbH"],
    );
    for (at, text) in TEXTS.iter().enumerate() {
        plant(&mut maker, text, at as u64);
    }
    maker.finish()
}

/// All records of a session, decompressed.
fn records(session: &Session) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    session
        .for_each(Order::File, |event| {
            records.push(event.record.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
    records
}

/// Secrets that are in records, as UTF-8, as UTF-16 or in a code page, in any case.
fn found(records: &[Vec<u8>]) -> Vec<&'static str> {
    // Bytes as characters, for the fast search in texts.
    let text = |bytes: &[u8]| -> String {
        let lower = bytes.to_ascii_lowercase();
        lower.into_iter().map(char::from).collect()
    };
    let spellings = |secret: &str| {
        let wide: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let page: Vec<u8> = secret.chars().map(|c| c as u8).collect();
        [secret.as_bytes().to_vec(), wide, page].map(|bytes| text(&bytes))
    };
    let records = text(&records.join(&0xFF));
    let is_in = |needle: &String| records.contains(needle.as_str());
    SECRETS
        .into_iter()
        .filter(|secret| spellings(secret).iter().any(is_in))
        .collect()
}

fn redacted(whole: &Session, redaction: Redaction) -> (etwkit_cut::Cut, Session) {
    let options = Options {
        redact: Some(redaction),
        ..Options::default()
    };
    let (cut, bytes) = cut_bytes(whole, &options);
    (cut, session(bytes))
}

/// Checks that each secret is in a trace, and not in its redacted copy.
#[track_caller]
fn check(compressed: bool, redaction: Redaction) {
    let whole = made(compressed);
    assert_eq!(found(&records(&whole)), SECRETS, "each one is planted");
    let (_, part) = redacted(&whole, redaction);
    assert_eq!(found(&records(&part)), [""; 0], "{redaction:?}");
    assert!(part.damage().losses().is_empty());
}

#[test]
fn planted_texts_are_found_before_and_not_after() {
    check(false, Redaction::Private);
}

#[test]
fn planted_texts_in_compressed_buffers_are_not_found_after() {
    check(true, Redaction::Private);
}

#[test]
fn planted_texts_are_not_found_after_all_texts_were_replaced() {
    check(false, Redaction::All);
}

#[test]
fn numbers_and_sids_of_users_are_replaced() {
    let (_, part) = redacted(&made(false), Redaction::Private);
    let all = records(&part).join(&0xFF);
    let all: String = all.into_iter().map(char::from).collect();
    for number in [3_141_592_653_u32, 4_711_008] {
        let bytes: String = number.to_le_bytes().map(char::from).iter().collect();
        assert!(!all.contains(&bytes), "{number}");
    }
}

#[test]
fn what_is_microsofts_stays_and_a_strangers_name_does_not() {
    let (cut, part) = redacted(&made(false), Redaction::Private);
    let records = records(&part);
    let all: String = records.join(&0xFF).into_iter().map(char::from).collect();
    let has = |text: &str| {
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide: String = wide.into_iter().map(char::from).collect();
        all.contains(text) || all.contains(&wide)
    };
    for kept in [
        r"\Device\HarddiskVolume3\Windows\System32\ntdll.dll",
        "ntdll.pdb",
        "NT Layer DLL",
        "Microsoft Corporation",
        r"C:\Windows\System32\svchost.exe -k netsvcs -p -s Schedule",
        r"C:\Program Files\folder-",
        r"\SystemRoot\System32\drivers\driver-",
        "company-",
        r"\Device\HarddiskVolume3\Users\",
        r"\REGISTRY\MACHINE\SOFTWARE\",
    ] {
        assert!(has(kept), "{kept}");
    }
    // The table has one of the spellings of a name.
    let row = |original: &str| {
        let mut rows = cut.substitutes.iter();
        rows.find(|row| row.original.eq_ignore_ascii_case(original))
            .unwrap_or_else(|| panic!("{original}"))
    };
    assert_eq!(row("zebulon").kind, "program");
    assert_eq!(row("tarnhelm").kind, "driver");
    assert_eq!(row("ntdll").kind, "module", "of a stranger");
    assert_eq!(row("Fjordgate GmbH").kind, "company");
    assert_eq!(row("10.77.3.19").kind, "address");
}

#[test]
fn every_kept_text_is_on_a_list() {
    let (cut, _) = redacted(&made(false), Redaction::Private);
    let kept: Vec<&String> = cut.kept.values().flat_map(|texts| texts.keys()).collect();
    assert!(kept.len() > 20);
    for text in kept {
        let lower = text.to_lowercase();
        let secret = SECRETS.iter().find(|secret| lower.contains(**secret));
        assert_eq!(secret, None, "{text}");
    }
}

/// A disk whose model is a secret, with the write cache off, and its first `len` bytes only.
fn disk(len: usize) -> Vec<u8> {
    let mut model = utf16("Fjordgate Zebulon");
    model.resize(512, 0);
    let payload = [
        &3_u32.to_le_bytes()[..],
        &[0; 36],
        &model,
        &2_u32.to_le_bytes(),
        &[0, 0],
        &utf16("C"),
        &[0; 6],
    ]
    .concat();
    payload[..len].to_vec()
}

#[test]
fn a_kernel_event_that_ends_early_keeps_the_fields_that_it_has() {
    const NUMBER: std::ops::Range<usize> = 0..4;
    const PARTITIONS: std::ops::Range<usize> = 552..556;
    // Whole, without its last bytes, after the partitions, and within the model.
    for (len, has_partitions) in [(568, true), (566, true), (556, true), (100, false)] {
        let mut maker = Maker::new(false);
        let whole = disk(len);
        maker.kernel(11, 11, 2, &whole);
        let (cut, part) = redacted(&maker.finish(), Redaction::Private);
        assert_eq!(cut.events.get(&Fate::NotUnderstood), None, "{len}");
        let records = records(&part);
        assert_eq!(found(&records), [""; 0], "{len}");
        let of_disk = records
            .iter()
            .filter_map(|record| record.get(record.len().checked_sub(len)?..))
            .find(|payload| payload[NUMBER] == whole[NUMBER]);
        let payload = of_disk.unwrap_or_else(|| panic!("{len}: no disk 3"));
        if has_partitions {
            assert_eq!(payload[PARTITIONS], whole[PARTITIONS], "{len}");
        }
    }
}
