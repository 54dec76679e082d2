//! Scenario `system-calls`: a settings program reads and writes the registry and files, calls back
//! out of the window manager, and hands events to a helper, which closes fewer handles than it
//! gets. All of this is recorded with its system calls.

use super::windows::{
    FOR_THREAD, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, USER32, background, image, machine,
    user_program,
};
use crate::Options;
use crate::act::{
    Act, FileOperation, Major, ObjectKind, ObjectPlan, RegistryAct, RegistryOperation as Registry,
};
use crate::plan::{KeyPlan, Maker, ModulePlan, Plan};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Program, RegistryKey};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Settings",
    version: "1.2.8.0",
    sources: r"D:\build\settings\src\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\Contoso\Settings\",
    r"C:\Program Files\Contoso\Settings\",
);
const IMAGES: [ModulePlan; 2] = [
    image(
        ("Settings", "Settings.exe", "Settings.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x31_0000),
        &CONTOSO,
    ),
    image(
        ("Helper", "Helper.exe", "Helper.pdb"),
        FOLDER,
        (0x7FF7_12C0_0000, 0x1C_0000),
        &CONTOSO,
    ),
];
const SETTINGS: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE, USER32];
const HELPER: &[Module] = &[Module(OWN + 1), NTDLL, KERNEL32, KERNELBASE];

/// Status of a missing name (`STATUS_OBJECT_NAME_NOT_FOUND`), and of the end of a list
/// (`STATUS_NO_MORE_ENTRIES`, a warning).
const NOT_FOUND: u32 = 0xC000_0034;
const NO_MORE: u32 = 0x8000_001A;

/// Keys: from the start, listed only at the end, and two that have the same control block one after
/// the other.
#[derive(Debug, Clone, Copy)]
struct Keys {
    software: RegistryKey,
    classes: RegistryKey,
    recent: RegistryKey,
    cache: RegistryKey,
}

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    // None of these is among the groups that all scenarios record.
    b.records(&[(0, 0x80 | 0x2_0000), (2, 0x40), (4, 0x40 | 0x80)]);
    background(&mut b);
    let key = |path, place, is_there, is_listed_first| KeyPlan {
        path,
        place,
        is_there,
        is_listed_first,
    };
    let keys = Keys {
        software: b.key(key(r"\REGISTRY\MACHINE\SOFTWARE\Contoso", 1, true, true)),
        // In use from the start and listed only at the end: readers have to apply names to earlier
        // events.
        classes: b.key(key(r"\REGISTRY\MACHINE\SOFTWARE\Classes", 2, true, false)),
        // These two have the same place: a reader that keeps the name of a control block too long
        // names the wrong key.
        recent: b.key(key(
            r"\REGISTRY\USER\S-1-5-21-1001\Software\Contoso\Recent",
            3,
            false,
            false,
        )),
        cache: b.key(key(
            r"\REGISTRY\USER\S-1-5-21-1001\Software\Contoso\Cache",
            3,
            false,
            false,
        )),
    };
    let ids = (b.id(), 5120);
    let settings = b.program(user_program(ids, "Settings.exe", "Settings.exe", SETTINGS));
    let ids = (b.id(), b.pid(settings));
    let helper = b.program(user_program(ids, "Helper.exe", "Helper.exe", HELPER));
    for name in [
        r"\BaseNamedObjects\ContosoSettings",
        r"\BaseNamedObjects\ContosoReady",
    ] {
        b.has_handle(
            settings,
            ObjectPlan {
                kind: ObjectKind::Mutant,
                name,
            },
        );
    }
    let ready = b.event(0);
    reader(&mut b, settings, keys);
    files(&mut b, settings);
    window(&mut b, settings, (helper, ready));
    closer(&mut b, helper, ready);
    b.finish()
}

/// Frames of a system call.
struct Call {
    /// The function of the kernel, and the path to it.
    function: &'static str,
    way: &'static str,
}

const OPEN_KEY: Call = Call {
    function: "nt!NtOpenKeyEx",
    way: "KERNELBASE!RegOpenKeyExW ntdll!NtOpenKeyEx",
};
const CREATE_KEY: Call = Call {
    function: "nt!NtCreateKey",
    way: "KERNELBASE!RegCreateKeyExW ntdll!NtCreateKey",
};
const QUERY_VALUE: Call = Call {
    function: "nt!NtQueryValueKey",
    way: "KERNELBASE!RegQueryValueExW ntdll!NtQueryValueKey",
};
const SET_VALUE: Call = Call {
    function: "nt!NtSetValueKey",
    way: "KERNELBASE!RegSetValueExW ntdll!NtSetValueKey",
};
const ENUMERATE: Call = Call {
    function: "nt!NtEnumerateKey",
    way: "KERNELBASE!RegEnumKeyExW ntdll!NtEnumerateKey",
};
const CLOSE_KEY: Call = Call {
    function: "nt!NtClose",
    way: "KERNELBASE!RegCloseKey ntdll!NtClose",
};
const CREATE_FILE: Call = Call {
    function: "nt!NtCreateFile",
    way: "KERNELBASE!CreateFileW ntdll!NtCreateFile",
};
const READ_FILE: Call = Call {
    function: "nt!NtReadFile",
    way: "KERNELBASE!ReadFile ntdll!NtReadFile",
};
const CLOSE: Call = Call {
    function: "nt!NtClose",
    way: "KERNELBASE!CloseHandle ntdll!NtClose",
};
const CREATE_EVENT: Call = Call {
    function: "nt!NtCreateEvent",
    way: "KERNELBASE!CreateEventW ntdll!NtCreateEvent",
};
const DUPLICATE: Call = Call {
    function: "nt!NtDuplicateObject",
    way: "KERNELBASE!DuplicateHandle ntdll!NtDuplicateObject",
};
const SET_EVENT: Call = Call {
    function: "nt!NtSetEvent",
    way: "KERNELBASE!SetEvent ntdll!NtSetEvent",
};
const WAIT: Call = Call {
    function: "nt!NtWaitForSingleObject",
    way: "KERNELBASE!WaitForSingleObjectEx ntdll!NtWaitForSingleObject",
};
const SEND: Call = Call {
    function: "win32kfull!NtUserMessageCall",
    way: "user32!SendMessageW",
};
const PAINT: Call = Call {
    function: "win32kfull!NtUserBeginPaint",
    way: "user32!BeginPaint",
};

/// Steps within a call, with the stack of the function.
type Inside<'s> = &'s dyn Fn(crate::table::Path) -> Vec<Step>;

/// Returns the steps of a call: the given ones within it, then its end.
fn call(b: &mut Builder, name: &str, of: &Call, status: u32, inside: Inside<'_>) -> Vec<Step> {
    let root = [USER, name, of.way, "nt!KiSystemServiceCopyEnd"];
    let enters = b.path(&root);
    let within = [root[0], root[1], root[2], root[3], of.function];
    let path = b.path(&within);
    let code = b.code(&within, &["", "nt!ObReferenceObjectByHandle"]);
    let function = b.function(of.function);
    let mut steps = vec![
        Step::Act(enters, Act::CallBegins(function)),
        Step::Run(code, 4, 40),
    ];
    steps.extend(inside(path));
    steps.extend([
        Step::Run(code, 2, 20),
        Step::Act(enters, Act::CallEnds(status)),
    ]);
    steps
}

/// Returns the steps of a registry operation within a call.
fn registry(b: &mut Builder, name: &str, of: &Call, act: RegistryAct, status: u32) -> Vec<Step> {
    let code = b.code(
        &[USER, name, of.way, "nt!KiSystemServiceCopyEnd", of.function],
        &["nt!CmpDoParseKey"],
    );
    // Only opening a key gives a handle. Closing a key closes the oldest handle of the process.
    let opened = matches!(act.operation, Registry::OpenKey | Registry::CreateKey) && status == 0;
    let key = ObjectPlan {
        kind: ObjectKind::Key,
        name: "",
    };
    call(b, name, of, status, &|path| {
        let mut steps = vec![
            Step::Act(path, Act::RegistryBegins(act)),
            Step::Run(code, 10, 120),
            Step::Act(path, Act::RegistryEnds(status)),
        ];
        if opened {
            steps.push(Step::Act(path, Act::HandleOpens(key)));
        }
        if matches!(act.operation, Registry::CloseKey) {
            steps.push(Step::Act(path, Act::HandleCloses));
        }
        steps
    })
}

fn pause(b: &mut Builder, name: &str, from_us: u32, to_us: u32) -> Vec<Step> {
    let waits = b.waits(&[USER, name, SLEEPS]);
    let code = b.code(&[USER, name], &["ntdll!RtlAllocateHeap", "ntdll!memcpy"]);
    vec![Step::Sleep(waits, from_us, to_us), Step::Run(code, 40, 200)]
}

/// Adds a thread that reads and writes keys.
fn reader(b: &mut Builder, program: Program, keys: Keys) {
    let name = "Settings!CRegistry::ThreadProc";
    let thread = b.thread(program, 9, name);
    // The call was entered before the trace: its exit has no start.
    let waits = b.path(&[USER, name, WAIT.way, "nt!KiSystemServiceCopyEnd"]);
    let once = [Step::Act(waits, Act::CallEnds(0))];
    let act = |operation, key, name| RegistryAct {
        operation,
        key,
        name,
    };
    let mut steps = pause(b, name, 3_000, 12_000);
    for (of, read, status) in [
        (
            &OPEN_KEY,
            act(Registry::OpenKey, keys.software, r"Settings\Display"),
            0,
        ),
        (
            &QUERY_VALUE,
            act(Registry::QueryValue, keys.software, "Scale"),
            0,
        ),
        (
            &QUERY_VALUE,
            act(Registry::QueryValue, keys.software, "Theme"),
            NOT_FOUND,
        ),
        (
            &OPEN_KEY,
            act(Registry::OpenKey, keys.software, "Missing"),
            NOT_FOUND,
        ),
        (&ENUMERATE, act(Registry::EnumerateKey, keys.classes, ""), 0),
        (
            &ENUMERATE,
            act(Registry::EnumerateKey, keys.classes, ""),
            NO_MORE,
        ),
        (&CLOSE_KEY, act(Registry::CloseKey, keys.software, ""), 0),
    ] {
        steps.extend(registry(b, name, of, read, status));
    }
    for key in [keys.recent, keys.cache] {
        let begins = b.path(&[USER, name]);
        steps.push(Step::Act(begins, Act::BlockBegins(key)));
        for (of, write) in [
            (&CREATE_KEY, act(Registry::CreateKey, key, "")),
            (&SET_VALUE, act(Registry::SetValue, key, "Last")),
            (&CLOSE_KEY, act(Registry::CloseKey, key, "")),
        ] {
            steps.extend(registry(b, name, of, write, 0));
        }
        steps.push(Step::Act(begins, Act::BlockEnds(key)));
    }
    b.script(thread, &once, &steps);
}

/// Adds a thread that reads files; one does not exist.
fn files(b: &mut Builder, program: Program) {
    let name = "Settings!CThemes::ThreadProc";
    let thread = b.thread(program, 9, name);
    let mut steps = pause(b, name, 5_000, 15_000);
    for (path, status) in [
        (r"Program Files\Contoso\Settings\themes\dark.json", 0),
        (
            r"Program Files\Contoso\Settings\themes\neon.json",
            NOT_FOUND,
        ),
    ] {
        let file = b.file(path);
        let handle = ObjectPlan {
            kind: ObjectKind::File,
            name: path,
        };
        let begins = |major, bytes| Act::FileBegins(FileOperation { major, file, bytes });
        let code = b.code(&[USER, name], &["ntdll!memcpy"]);
        steps.extend(call(b, name, &CREATE_FILE, status, &|path| {
            let mut steps = vec![
                Step::Act(path, begins(Major::Create, 0)),
                Step::Run(code, 20, 150),
                Step::Act(path, Act::FileEnds(status)),
            ];
            if status == 0 {
                steps.push(Step::Act(path, Act::HandleOpens(handle)));
            }
            steps
        }));
        if status != 0 {
            continue;
        }
        steps.extend(call(b, name, &READ_FILE, 0, &|path| {
            vec![
                Step::Act(path, begins(Major::Read, 4_096)),
                Step::Run(code, 20, 90),
                Step::Act(path, Act::FileEnds(0)),
            ]
        }));
        steps.extend(call(b, name, &CLOSE, 0, &|path| {
            let mut steps = Vec::new();
            for major in [Major::Cleanup, Major::Close] {
                steps.extend([
                    Step::Act(path, begins(major, 0)),
                    Step::Run(code, 5, 30),
                    Step::Act(path, Act::FileEnds(0)),
                ]);
            }
            steps.push(Step::Act(path, Act::HandleCloses));
            steps
        }));
    }
    b.script(thread, &[], &steps);
}

/// Adds the thread of the window: a call within a call, and an event that is duplicated to the
/// helper.
fn window(b: &mut Builder, program: Program, (helper, ready): (Program, Event)) {
    let name = "Settings!wWinMain";
    let thread = b.thread(program, 10, name);
    let mut steps = pause(b, name, 6_000, 14_000);
    let back = "Settings!CMainWindow::WndProc";
    let inner = call(b, back, &PAINT, 1, &|_| Vec::new());
    steps.extend(call(b, name, &SEND, 0, &|_| inner.clone()));
    let event = ObjectPlan {
        kind: ObjectKind::Event,
        name: "",
    };
    steps.extend(call(b, name, &CREATE_EVENT, 0, &|path| {
        vec![Step::Act(path, Act::HandleOpens(event))]
    }));
    steps.extend(call(b, name, &DUPLICATE, 0, &|path| {
        vec![Step::Act(path, Act::HandleDuplicates(helper))]
    }));
    steps.extend(call(b, name, &SET_EVENT, 0, &|path| {
        vec![Step::Set(path, ready)]
    }));
    steps.extend(call(b, name, &CLOSE, 0, &|path| {
        vec![Step::Act(path, Act::HandleCloses)]
    }));
    b.script(thread, &[], &steps);
}

/// Adds the helper: it waits for events, and closes two of three handles that it gets.
fn closer(b: &mut Builder, program: Program, ready: Event) {
    let name = "Helper!main";
    let thread = b.thread(program, 8, name);
    let waits = b.waits(&[
        USER,
        name,
        WAIT.way,
        "nt!KiSystemServiceCopyEnd",
        WAIT.function,
    ]);
    let mut steps = Vec::new();
    for round in 0..3 {
        steps.extend(call(b, name, &WAIT, 0, &|_| {
            vec![Step::Await(waits, FOR_THREAD, ready)]
        }));
        if round > 0 {
            steps.extend(call(b, name, &CLOSE, 0, &|path| {
                vec![Step::Act(path, Act::HandleCloses)]
            }));
        }
    }
    b.script(thread, &[], &steps);
}
