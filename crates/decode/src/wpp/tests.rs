use etwkit_etl::wire::message::message_flag;
use etwkit_etl::{HeaderKind, RawEvent};

use super::*;
use crate::bounds::{Budget, MAX_SCHEMA_BYTES};
use crate::render::{Limits, Renderer};

const GUID: &str = "9b93a332-c452-3e71-64f7-55130c7de2e4";

fn messages(text: &str) -> Result<Vec<Message>, crate::describe::Wrong> {
    read(text, &mut Budget::new(MAX_SCHEMA_BYTES))
}

/// A file with one message of this format and these arguments.
fn file(format: &str, arguments: &str) -> String {
    format!(
        "// PDB:  Made.pdb\n{GUID} made // SRC=Made Source.cpp MJ= MN=\n\
         #typev Made_cpp15 10 \"%0{format}\" //   LEVEL=TRACE_ERROR FLAGS=IO FUNC=Class::operator bool\n\
         {{\n{arguments}\n}}\n#enumv _STATE\n{{\nIdle,0x0\nActive,1\nLost,0xffffffff\n}}\n\
         #enumv _FLAGS\n{{\nRead,0x1\nWrite,0x2\nExec,0x4\n}}\n"
    )
}

/// A record by process 7, thread 8 on processor 3.
fn record(payload: &[u8]) -> Vec<u8> {
    let flags = message_flag::SEQUENCE | message_flag::GUID | message_flag::SYSTEM_INFO;
    let mut bytes = [[0, 0, 0, 0x90], [10, 0, flags as u8, 0]].concat();
    bytes.extend(42u32.to_le_bytes());
    bytes.extend(GUID.parse::<Guid>().unwrap().to_bytes());
    bytes.extend([8u32, 7].map(u32::to_le_bytes).concat());
    bytes.extend(payload);
    bytes
}

fn text_of(message: &Message, payload: &[u8]) -> String {
    let record = record(payload);
    let kind = HeaderKind::Message;
    let event = RawEvent {
        kind,
        timestamp: 5,
        cpu: 3,
        file: 0,
        buffer: 0,
        position: 0,
        record: &record,
    };
    assert_eq!(event.payload(), payload);
    message.text.of(
        &event,
        &Plan::new(message.schema.clone(), 8),
        &mut Spans::default(),
    )
}

/// Type of the argument and its bytes, text, and value of its field.
#[track_caller]
fn check_as(format: &str, item: &str, payload: &[u8], text: &str, field: &str) {
    let message = &messages(&file(format, &format!("x, {item} -- 10"))).unwrap()[0];
    assert_eq!(text_of(message, payload), text, "{item}");
    let plan = Plan::new(message.schema.clone(), 8);
    let (fields, complete) = Renderer {
        clock: None,
        limits: Limits::NONE,
    }
    .object(&plan, payload);
    assert_eq!(
        (fields["x"].to_string().as_str(), complete),
        (field, true),
        "{item}"
    );
}

#[track_caller]
fn check(item: &str, payload: &[u8], text: &str, field: &str) {
    check_as("%10!s!", item, payload, text, field);
}

#[test]
fn numbers() {
    check("ItemChar", b"A", "A", "65");
    check_as("%10!d!", "ItemChar", &[0xFF], "-1", "-1");
    check_as("%10!u!", "ItemUChar", &[0xFF], "255", "255");
    check_as("%10!d!", "ItemShort", &[0xFE, 0xFF], "-2", "-2");
    check("ItemUShort", &[0xFE, 0xFF], "65534", "65534");
    check_as(
        "%10!u!",
        "ItemLong",
        &4_000_000_000u32.to_le_bytes(),
        "4000000000",
        "-294967296",
    );
    check(
        "ItemULong",
        &4_000_000_000u32.to_le_bytes(),
        "4000000000",
        "4000000000",
    );
    check("ItemULongX", &[0xEF, 0xBE, 0, 0], "beef", "\"0xbeef\"");
    check_as(
        "%10!I64d!",
        "ItemLongLong",
        &(-5i64).to_le_bytes(),
        "-5",
        "-5",
    );
    check(
        "ItemULongLong",
        &[0xFF; 8],
        "18446744073709551615",
        "18446744073709551615",
    );
    check_as(
        "0x%10!I64X!",
        "ItemLongLongXX",
        &0xABC_DEFu64.to_le_bytes(),
        "0xABCDEF",
        "\"0xabcdef\"",
    );
    check(
        "ItemLongLongX",
        &0xABC_DEFu64.to_le_bytes(),
        "abcdef",
        "\"0xabcdef\"",
    );
    check_as(
        "%10!I64o!",
        "ItemLongLongO",
        &0x1FFu64.to_le_bytes(),
        "777",
        "511",
    );
    check(
        "ItemDouble",
        &3.140_625f64.to_le_bytes(),
        "3.14062",
        "3.140625",
    );
    check("ItemFloat", &0.5f32.to_le_bytes(), "0.5", "0.5");
    check_as(
        "%10!p!",
        "ItemPtr",
        &0x7FF0u64.to_le_bytes(),
        "0000000000007FF0",
        "\"0x7ff0\"",
    );
}

#[test]
fn texts_and_bytes() {
    check("ItemString", b"alpha\0", "alpha", "\"alpha\"");
    check("ItemRString", b"\0", "", "\"\"");
    check("ItemWString", b"r\0o\0\0\0", "ro", "\"ro\"");
    check("ItemRWString", b"r\0\0\0", "r", "\"r\"");
    check("ItemPString", b"\x02\0ab", "ab", "\"ab\"");
    check("ItemPWString", b"\x02\0a\0", "a", "\"a\"");
    check("ItemChar4", b"RGBA", "RGBA", "\"RGBA\"");
    check("ItemHexDump", b"\x03\0\x01\xAB\xFF", "01abff", "\"01abff\"");
    check("ItemHexDump", b"\0\0", "", "\"\"");
    check(
        "ItemMACAddr",
        &[0, 0x22, 0x48, 1, 2, 3],
        "002248010203",
        "\"002248010203\"",
    );
}

#[test]
fn identifiers_and_addresses() {
    let guid = GUID.parse::<Guid>().unwrap().to_bytes();
    for item in ["ItemGuid", "ItemCLSID", "ItemIID"] {
        check(item, &guid, GUID, &format!("\"{GUID}\""));
    }
    check(
        "ItemSid",
        &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0],
        "S-1-5-18",
        "\"S-1-5-18\"",
    );
    check("ItemIPAddr", &[127, 0, 0, 1], "127.0.0.1", "\"127.0.0.1\"");
    check("ItemPort", &[0, 80], "80", "80");
    check_as("%10!d!", "ItemPort", &[0, 80], "80", "80");
}

#[test]
fn codes_have_names() {
    check(
        "ItemNTSTATUS",
        &0xC000_0022u32.to_le_bytes(),
        "0xc0000022(STATUS_ACCESS_DENIED)",
        "\"0xc0000022\"",
    );
    check(
        "ItemNTSTATUS",
        &0x1234_5678u32.to_le_bytes(),
        "0x12345678",
        "\"0x12345678\"",
    );
    check_as(
        "%10!x!",
        "ItemNTSTATUS",
        &0xC000_0022u32.to_le_bytes(),
        "c0000022",
        "\"0xc0000022\"",
    );
    check(
        "ItemHRESULT",
        &0x8007_0005u32.to_le_bytes(),
        "0x80070005(ERROR_ACCESS_DENIED)",
        "\"0x80070005\"",
    );
    check(
        "ItemHRESULT",
        &0x8000_4003u32.to_le_bytes(),
        "0x80004003(E_POINTER)",
        "\"0x80004003\"",
    );
    check(
        "ItemWINERROR",
        &2u32.to_le_bytes(),
        "2(ERROR_FILE_NOT_FOUND)",
        "2",
    );
    check("ItemWINERROR", &77u32.to_le_bytes(), "77", "77");
    check(
        "ItemNDIS_STATUS",
        &0x4001_000Bu32.to_le_bytes(),
        "0x4001000b(NDIS_STATUS_MEDIA_CONNECT)",
        "\"0x4001000b\"",
    );
    check(
        "ItemNDIS_OID",
        &0x0001_0101u32.to_le_bytes(),
        "0x00010101(OID_GEN_SUPPORTED_LIST)",
        "\"0x10101\"",
    );
}

#[test]
fn values_and_bits_have_names() {
    check(
        "ItemListByte(Low,APC,DPC)",
        &[2],
        "0x00000002(DPC)",
        "\"DPC\"",
    );
    check("ItemListLong(false,true)", &[9, 0, 0, 0], "0x00000009", "9");
    check("ItemListShort(a, b)", &[1, 0], "0x00000001(b)", "\"b\"");
    check("ItemSetLong(1,2,3)", &[5, 0, 0, 0], "[1,3]", "\"1|3\"");
    check("ItemSetByte(a)", &[0], "[]", "0");
    check("ItemSetShort(a)", &[0, 1], "[0x100]", "\"0x100\"");
    check("ItemEnum(_STATE)", &[1, 0, 0, 0], "Active", "\"Active\"");
    check("ItemEnum(_STATE)", &[0xFF; 4], "Lost", "\"Lost\"");
    check("ItemEnum(_STATE)", &[7, 0, 0, 0], "0x7", "7");
    check("ItemEnum(_NONE)", &[1, 0, 0, 0], "0x1", "1");
    check(
        "ItemFlagsEnum(_FLAGS)",
        &[5, 0, 0, 0],
        "Read | Exec(0x5)",
        "\"Read|Exec\"",
    );
    check("ItemFlagsEnum(_FLAGS)", &[8, 0, 0, 0], "0x8", "\"0x8\"");
    check_as(
        "%10!d!",
        "ItemEnum(_STATE)",
        &[1, 0, 0, 0],
        "1",
        "\"Active\"",
    );
}

#[test]
fn times_are_utc() {
    let time = 132_223_104_000_000_000i64;
    check(
        "ItemTimestamp",
        &time.to_le_bytes(),
        "2020-01-01 00:00:00.000Z",
        "\"2020-01-01T00:00:00.0000000Z\"",
    );
    check(
        "ItemTimeDelta",
        &50_000_000i64.to_le_bytes(),
        "5.000s",
        "50000000",
    );
    check(
        "ItemTimeDelta",
        &(-15_000i64).to_le_bytes(),
        "-0.001s",
        "-15000",
    );
    check(
        "ItemWaitTime",
        &(-50_000_000i64).to_le_bytes(),
        "+5.000s",
        "-50000000",
    );
    check(
        "ItemWaitTime",
        &time.to_le_bytes(),
        "2020-01-01 00:00:00.000Z",
        &time.to_string(),
    );
    check("ItemTimestamp", &(-1i64).to_le_bytes(), "-1", "null");
}

#[test]
fn parts_of_the_header_and_names() {
    let format = "%1!s!|%2!s!|%3!04X!|%7!d!|%8!d!|%9!d!|%!FUNC!|%!LEVEL!|%!FLAGS!|%!FILE!|%!LINE!|%!COMPNAME!|%!X!|%4!s!|%%";
    let message = &messages(&file(format, "")).unwrap()[0];
    assert_eq!(
        text_of(message, &[]),
        "made|Made_cpp15|0008|42|7|3|Class::operator bool|TRACE_ERROR|IO|Made Source.cpp|15|made|||%"
    );
    assert_eq!(&*message.schema.name, "Class::operator bool/Made_cpp15");
    assert_eq!(message.schema.provider_name.as_deref(), Some("made"));
}

#[test]
fn arguments_lie_one_behind_the_other() {
    let arguments = "f(a, b), ItemString -- 10\n\"x, ItemLong\", ItemLong -- 11\ni, ItemPort -- 12";
    let message = &messages(&file("%12!d! %10!s!:\"%11!5d!\" // %13!d!", arguments)).unwrap()[0];
    let names: Vec<&str> = message
        .schema
        .fields
        .iter()
        .map(|field| &*field.name)
        .collect();
    assert_eq!(names, ["f(a, b)", "\"x, ItemLong\"", "i"]);
    assert_eq!(
        text_of(message, b"ab\0\x07\0\0\0\0\x50"),
        "80 ab:\"    7\" // %13"
    );
    assert_eq!(
        text_of(message, b"ab\0\x07"),
        "%12 ab:\"%11\" // %13",
        "a payload that ends early"
    );
}

#[test]
fn an_unknown_type_leaves_the_rest_as_bytes() {
    let message = &messages(&file(
        "%10!d! %11!s! %12!d!",
        "a, ItemLong -- 10\nb, ItemStrange -- 11\nc, ItemLong -- 12",
    ));
    let message = &message.as_ref().unwrap()[0];
    assert_eq!(text_of(message, &[1, 0, 0, 0, 0xAB, 0xCD]), "1 abcd %12");
}

/// The part of the file to replace, its replacement, and the error.
#[test]
fn errors_say_where_and_what() {
    let good = file("%10!d!", "x, ItemLong -- 10");
    assert!(messages(&good).is_ok());
    for (from, to, expected) in [
        (
            GUID,
            "{no guid}",
            "line 2: expected a GUID, or `#typev`, found {no",
        ),
        (
            "#typev Made_cpp15 10",
            "#typev Made_cpp15",
            "line 3: expected tag and number of the message, found Made_cpp15",
        ),
        (
            "#typev Made_cpp15 10",
            "#typev Made_cpp15 70000",
            "line 3: expected tag and number of the message, found Made_cpp15 70000",
        ),
        (
            "#typev",
            "#strange",
            "line 3: expected `#typev` or `#enumv`, found #strange",
        ),
        (
            "x, ItemLong -- 10",
            "x, ItemLong",
            "line 5: expected an argument: EXPRESSION, ItemTYPE -- NUMBER, found x, ItemLong",
        ),
        (
            "x, ItemLong -- 10",
            "x -- 10",
            "line 5: expected an argument: EXPRESSION, ItemTYPE -- NUMBER, found x -- 10",
        ),
        (
            "Idle,0x0",
            "Idle",
            "line 9: expected NAME,VALUE, found Idle",
        ),
        (
            "#enumv _FLAGS\n{",
            "#enumv _FLAGS\n",
            "line 13: expected `{` after the name of an enumeration, found _FLAGS",
        ),
    ] {
        let wrong = messages(&good.replace(from, to)).unwrap_err();
        assert_eq!(wrong.to_string(), expected);
        assert!(wrong.hint().contains("tracepdb"));
    }
    let cut = |end: &str| {
        messages(good.split(end).next().unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        cut("}"),
        "line 5: expected `}` after the arguments, found the end of the file"
    );
    assert_eq!(
        cut("Active"),
        "line 9: expected `}` after the names of an enumeration, found the end of the file"
    );
    let late = good.replace(GUID, "//");
    assert_eq!(
        messages(&late).unwrap_err().to_string(),
        "line 3: expected a line with a GUID and `// SRC=` before the first message, found `#typev`"
    );
    assert_eq!(
        messages("").unwrap_err().to_string(),
        "line 1: expected a `#typev` line, found none in the whole file"
    );
}

#[test]
fn every_cut_and_every_flipped_byte_is_survived() {
    let good = file(
        "%10!d! %11!08x! %12!s!",
        "x, ItemLong -- 10\ny, ItemSetLong(1,2) -- 11\nz, ItemEnum(_STATE) -- 12",
    );
    let bytes = good.as_bytes();
    for at in 0..bytes.len() {
        let _ = messages(&good[..at]);
        for flip in [0x01, 0x20, 0x7F] {
            let mut changed = bytes.to_vec();
            changed[at] ^= flip;
            if let Ok(read) = messages(&String::from_utf8_lossy(&changed)) {
                read.iter()
                    .for_each(|message| drop(text_of(message, &[0xFF; 20])));
            }
        }
    }
}

#[test]
fn a_file_that_would_grow_is_refused() {
    let many = format!("x, ItemListByte({}) -- 10", "a,".repeat(100_000));
    let mut text = file("%10!s!", &many);
    let one = text.clone();
    for _ in 0..9 {
        text.push_str(&one);
    }
    let mut budget = Budget::new(8 << 20);
    let wrong = read(&text, &mut budget).unwrap_err();
    assert!(
        wrong
            .to_string()
            .contains("messages within the memory limit"),
        "{wrong}"
    );
    let arguments = "x, ItemLong -- 10\n".repeat(crate::bounds::MAX_FIELDS + 1);
    let wrong = messages(&file("", &arguments)).unwrap_err();
    assert!(
        wrong.to_string().contains("at most 1024 arguments"),
        "{wrong}"
    );
    let wide = format!(
        "{}{}",
        "%10!999999999s!".repeat(2000),
        "%10!s!".repeat(100_000)
    );
    let message = &messages(&file(&wide, "x, ItemString -- 10")).unwrap()[0];
    assert!(text_of(message, &[b'a'; 60_000]).len() < 3 * crate::message::MAX_TEXT);
}
