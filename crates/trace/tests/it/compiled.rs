//! Code that was compiled at run time: its names, its modules, and what is said without names.

use etwkit_decode::{clr, script};
use etwkit_trace::import::Range;
use etwkit_trace::table::{Frame, Method, Module, Row};

use crate::counters::{Batches, Recording, bytes, read, wide, words};

const PID: u32 = 100;

impl Recording {
    /// An image of the process, loaded at a time.
    fn dll(&mut self, us: i64, base: u64, path: &str) {
        let head = [
            (base, 8),
            (0x1000, 8),
            (PID.into(), 4),
            (0, 4),
            (0, 4),
            (0, 4),
            (base, 8),
            (0, 8),
            (0, 8),
        ];
        self.kernel(us, 0, (20, 10, 3), &[bytes(&head), wide(path)].concat());
    }

    /// An event of the runtime with a stack of these addresses, innermost first.
    fn thrown_at(&mut self, us: i64, addresses: &[u64]) {
        let exception = [wide("A"), wide("message"), vec![0; 16]].concat();
        self.of_process(us, PID, clr::RUNTIME, (80, 0), &exception);
        let mut stack = bytes(&[(0, 4), (addresses.len() as u64, 4)]);
        addresses
            .iter()
            .for_each(|it| stack.extend(it.to_le_bytes()));
        self.of_process(us + 1, PID, clr::RUNTIME, (82, 0), &stack);
    }

    fn dotnet_method(&mut self, us: i64, provider: etwkit_etl::Guid, id: u16, start: u64) {
        let head = bytes(&[(7, 8), (0x50, 8), (start, 8), (0x100, 4), (0, 4), (0, 4)]);
        let names = [wide("Shop.Cart"), wide("Pay"), wide("void ()")].concat();
        self.of_process(us, PID, provider, (id, 1), &[head, names].concat());
    }

    fn script(&mut self, us: i64, id: u16, source: u64, url: &str) {
        let head = bytes(&[(source, 8), (0xC0, 8), (0, 4)]);
        self.of_process(
            us,
            PID,
            script::PROVIDER,
            (id, 0),
            &[head, wide(url)].concat(),
        );
    }

    fn function(&mut self, us: i64, id: u16, (start, source): (u64, u64), line: u64, name: &str) {
        let numbers = [
            (0xC0, 8),
            (start, 8),
            (0x100, 8),
            (1, 4),
            (0, 2),
            (0, 2),
            (source, 8),
            (line, 4),
            (3, 4),
        ];
        let payload = [bytes(&numbers), wide(name)].concat();
        self.of_process(us, PID, script::PROVIDER, (id, 0), &payload);
    }
}

/// Name of the method, or `module+offset`, of each frame, sorted by address.
fn frames(rows: &Batches) -> Vec<String> {
    let (methods, modules) = (
        words(rows, Method::TABLE, "name"),
        words(rows, Module::TABLE, "name"),
    );
    let at = |texts: &[String], id: Option<i64>| id.map(|id| texts[id as usize].clone());
    let mut all = read(
        rows,
        Frame::TABLE,
        ["address", "module_id", "rva", "method_id"],
    );
    all.sort_unstable();
    let one = |[address, module, rva, method]: &[Option<i64>; 4]| {
        let module = at(&modules, *module).unwrap_or_else(|| "?".to_owned());
        match at(&methods, *method) {
            Some(method) => format!("{module}!{method}"),
            None => format!("{module}+{:#x}", rva.or(*address).unwrap()),
        }
    };
    all.iter().map(one).collect()
}

/// Number of addresses without a name for want of a rundown.
fn not_listed(diagnostics: &[etwkit_trace::table::Diagnostic]) -> Option<i64> {
    let mut all = diagnostics.iter();
    let note = all.find(|note| note.kind == "jit_without_rundown")?;
    assert_eq!(
        note.message,
        "addresses of jitted code that have no name: no rundown"
    );
    Some(note.count)
}

#[test]
fn functions_of_scripts_have_names_and_their_script() {
    let mut trace = Recording::new();
    let url = "https://shop.example/cart.js";
    trace.script(1, 41, 5, url);
    trace.function(2, 9, (0x1000, 5), 42, "pay");
    trace.function(3, 9, (0x2000, 5), 7, "");
    // The script is reported later, or not at all.
    trace.function(4, 9, (0x3000, 6), 1, "late");
    trace.function(5, 9, (0x4000, 9), 8, "lost");
    trace.thrown_at(10, &[0x1010, 0x2010, 0x3010, 0x4010, 0x5010]);
    trace.script(20, 39, 6, "app://late.js");
    let (rows, imported) = trace.imported(Range::ALL);
    assert_eq!(
        frames(&rows),
        [
            "cart.js!pay https://shop.example/cart.js:42",
            "cart.js!(anonymous) https://shop.example/cart.js:7",
            "late.js!late app://late.js:1",
            "?!lost",
            "?+0x5010",
        ]
    );
    assert_eq!(words(&rows, Module::TABLE, "path"), [url, "app://late.js"]);
    assert_eq!(
        not_listed(&imported.diagnostics),
        None,
        "no runtime of .NET"
    );
}

/// Engines move code, and free it with and without a word.
#[test]
fn functions_of_scripts_end() {
    let mut trace = Recording::new();
    trace.function(1, 9, (0x1000, 5), 1, "first");
    trace.thrown_at(10, &[0x1010]);
    trace.function(20, 9, (0x1000, 5), 2, "second");
    trace.thrown_at(30, &[0x1020]);
    trace.function(40, 10, (0x1000, 5), 2, "second");
    trace.thrown_at(50, &[0x1030]);
    let rows = trace.rows(Range::ALL);
    assert_eq!(frames(&rows), ["?!first", "?!second", "?+0x1030"]);
}

/// A precompiled method is listed only at the end of the recording, long after its samples.
#[test]
fn names_of_a_rundown_hold_from_the_start() {
    for (provider, id) in [
        (clr::RUNDOWN, 144),
        (clr::RUNDOWN, 143),
        (clr::RUNTIME, 144),
    ] {
        let mut trace = Recording::new();
        trace.dll(1, 0x1000, "\\coreclr.dll");
        trace.dll(2, 0x10_0000, "\\app.dll");
        trace.thrown_at(10, &[0x10_0210, 0x10_0800, 0x5010]);
        trace.dotnet_method(1_000, provider, id, 0x10_0200);
        let (rows, imported) = trace.imported(Range::ALL);
        // An address behind the method has no name: certainly not that of the nearest one.
        assert_eq!(
            frames(&rows),
            ["?+0x5010", "app.dll!Shop.Cart.Pay", "app.dll+0x800"]
        );
        assert_eq!(not_listed(&imported.diagnostics), None);
    }
}

#[test]
fn without_a_rundown_addresses_stay_and_are_counted() {
    let mut trace = Recording::new();
    trace.dll(1, 0x1000, "\\coreclr.dll");
    trace.dll(2, 0x10_0000, "\\app.dll");
    trace.dotnet_method(5, clr::RUNTIME, 143, 0x7000);
    trace.thrown_at(10, &[0x10_0210, 0x5010, 0x7010]);
    trace.thrown_at(20, &[0x5010, 0x5020]);
    let (rows, imported) = trace.imported(Range::ALL);
    assert_eq!(
        frames(&rows),
        ["?+0x5010", "?+0x5020", "?!Shop.Cart.Pay", "app.dll+0x210"]
    );
    assert_eq!(not_listed(&imported.diagnostics), Some(2));
}

#[test]
fn code_of_an_emulator_is_called_so() {
    for (dll, expected) in [
        ("xtajit64.dll", "emulated x64 code (xtajit)+0x5010"),
        ("XTAJIT64SE.DLL", "emulated x64 code (xtajit)+0x5010"),
        ("xtajit.dll", "emulated x86 code (xtajit)+0x5010"),
        ("xtajit2.dll", "?+0x5010"),
    ] {
        let mut trace = Recording::new();
        trace.dll(1, 0x1000, &format!("\\{dll}"));
        trace.dll(2, 0x10_0000, "\\app.dll");
        trace.thrown_at(10, &[0x5010, 0x10_0210]);
        let rows = trace.rows(Range::ALL);
        assert_eq!(frames(&rows), [expected, "app.dll+0x210"], "{dll}");
    }
}
