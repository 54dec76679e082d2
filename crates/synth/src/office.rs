//! Scenario `office`: an editor, a mail program that synchronises, and a document service that both
//! ask; an updater that ends, a viewer that starts; kernel workers. Four processors, about half
//! busy, all kinds of waits.

use crate::Options;
use crate::code::CodeMap;
use crate::plan::{
    Action, Born, FilePlan, GROUPS, INTERVAL, Maker, ModulePlan, Plan, ProgramPlan, Routines,
    ThreadPlan,
};
use crate::scenarios::windows::MICROSOFT;
use crate::table::{Module, Program, Table, Thread};

use Action::{
    AwaitSignal, Call, Compute, Input, Post, Read, Reply, Serve, Signal, Sleep, TakeWork, Write,
};

pub(crate) fn plan(options: &Options) -> Plan {
    Plan {
        cpus: options.cpus.unwrap_or(4),
        seconds: 1,
        modules: MODULES
            .into_iter()
            .zip(0..)
            .map(|(plan, identity)| ModulePlan { identity, ..plan })
            .collect(),
        programs: PROGRAMS.into_iter().collect(),
        threads: THREADS.into_iter().collect(),
        files: FILES
            .iter()
            .map(|path| FilePlan {
                path: (*path).into(),
            })
            .collect(),
        marks: &[(100, "Document opened"), (900, "Document saved")],
        groups: GROUPS,
        routines: ROUTINES,
        disk_us: (60, 260),
        slow_files: Vec::new(),
        background: Vec::new(),
        bound: Vec::new(),
        devices: Table::default(),
        has_write_cache: true,
        is_sampled: true,
        hybrid: None,
        interval: INTERVAL,
        reports_starts: false,
        keys: Table::default(),
        handles: Vec::new(),
        sessions: Vec::new(),
        adapters: Vec::new(),
        power: None,
        paces: Vec::new(),
        disturbed: Vec::new(),
        code: CodeMap::default(),
        scripts: Table::default(),
        codes: Table::default(),
        events: Table::default(),
        ports: Table::default(),
    }
}

const NTOSKRNL: u64 = 0xFFFF_F802_1A40_0000;
const STORPORT: u64 = 0xFFFF_F802_1F20_0000;
const NTDLL: u64 = 0x7FFB_6C3D_0000;
const I8042PRT: u64 = 0xFFFF_F802_2107_0000;

const ROUTINES: Routines = Routines {
    idle: NTOSKRNL + 0x3F_B2DF,
    in_dpc: STORPORT + 0x2000,
    timer: NTOSKRNL + 0x2140,
    disk: (STORPORT + 0x1080, STORPORT + 0x2140),
    keyboard: (I8042PRT + 0x1080, I8042PRT + 0x2140),
};

static ACME: Maker = Maker {
    company: "Acme",
    product: "Acme Office",
    version: "4.2.0.17",
    sources: r"D:\acme\src",
};

/// Folder of modules as the kernel names it and as users do, and who made the modules.
type Place = (&'static str, &'static str, &'static Maker);

const SYSTEM32: Place = (
    r"\Device\HarddiskVolume3\Windows\System32\",
    r"C:\Windows\System32\",
    &MICROSOFT,
);
const KERNEL: Place = (
    r"\SystemRoot\system32\",
    r"C:\Windows\system32\",
    &MICROSOFT,
);
const DRIVERS: Place = (
    r"\SystemRoot\System32\drivers\",
    r"C:\Windows\System32\drivers\",
    &MICROSOFT,
);
const APPS: Place = (
    r"\Device\HarddiskVolume3\Program Files\Acme\",
    r"C:\Program Files\Acme\",
    &ACME,
);

const fn module(
    (name, pdb): (&'static str, &'static str),
    (nt_folder, dos_folder, maker): Place,
    base: u64,
    size: u32,
) -> ModulePlan {
    ModulePlan {
        name,
        nt_folder,
        dos_folder,
        base,
        size,
        alias: name,
        pdb,
        maker,
        identity: 0,
        is_nameless: false,
    }
}

/// The first four are known to the simulator; see [`crate::stacks`].
const MODULES: [ModulePlan; 10] = [
    module(
        ("ntoskrnl.exe", "ntoskrnl.pdb"),
        KERNEL,
        NTOSKRNL,
        0x0104_6000,
    ),
    module(
        ("storport.sys", "storport.pdb"),
        DRIVERS,
        STORPORT,
        0x000C_0000,
    ),
    module(("ntdll.dll", "ntdll.pdb"), SYSTEM32, NTDLL, 0x001F_8000),
    module(
        ("kernel32.dll", "kernel32.pdb"),
        SYSTEM32,
        0x7FFB_6AB1_0000,
        0x000B_F000,
    ),
    module(
        ("editor.exe", "editor.pdb"),
        APPS,
        0x7FF6_1D4A_0000,
        0x0031_0000,
    ),
    module(
        ("mailsync.exe", "mailsync.pdb"),
        APPS,
        0x7FF7_80C2_0000,
        0x0030_0000,
    ),
    module(
        ("docservice.exe", "docservice.pdb"),
        APPS,
        0x7FF6_A11E_0000,
        0x0032_0000,
    ),
    module(
        ("updater.exe", "updater.pdb"),
        APPS,
        0x7FF6_F03B_0000,
        0x0030_8000,
    ),
    module(
        ("viewer.exe", "viewer.pdb"),
        APPS,
        0x7FF7_3355_0000,
        0x0030_4000,
    ),
    module(
        ("i8042prt.sys", "i8042prt.pdb"),
        DRIVERS,
        I8042PRT,
        0x0002_4000,
    ),
];

const fn program(pid: u32, parent: u32, name: &'static str, line: &'static str) -> ProgramPlan {
    ProgramPlan {
        pid,
        parent,
        session: 1,
        name,
        command_line: line,
        modules: &[],
        system: false,
        flags: 0,
    }
}

const PROGRAMS: [ProgramPlan; 7] = [
    ProgramPlan {
        session: 0,
        system: true,
        modules: &[Module(0), Module(1), Module(9)],
        ..program(0, 0, "Idle", "")
    },
    ProgramPlan {
        session: 0,
        system: true,
        modules: &[Module(2)],
        ..program(4, 0, "System", "")
    },
    ProgramPlan {
        modules: &[Module(4), Module(2), Module(3)],
        ..program(
            4120,
            3300,
            "editor.exe",
            r#""C:\Program Files\Acme\editor.exe" report.docx"#,
        )
    },
    ProgramPlan {
        modules: &[Module(5), Module(2), Module(3)],
        ..program(
            5208,
            3300,
            "mailsync.exe",
            r#""C:\Program Files\Acme\mailsync.exe" --background"#,
        )
    },
    ProgramPlan {
        session: 0,
        system: true,
        modules: &[Module(6), Module(2), Module(3)],
        ..program(
            1876,
            812,
            "docservice.exe",
            r"C:\Program Files\Acme\docservice.exe -k documents",
        )
    },
    ProgramPlan {
        modules: &[Module(7), Module(2), Module(3)],
        ..program(6644, 3300, "updater.exe", "updater.exe /quiet")
    },
    ProgramPlan {
        modules: &[Module(8), Module(2), Module(3)],
        ..program(
            7016,
            4120,
            "viewer.exe",
            "viewer.exe C:\\Users\\anna\\Documents\\budget.xlsx",
        )
    },
];

const fn thread(
    tid: u32,
    program: usize,
    priority: u8,
    work: &'static [(u64, Action)],
) -> ThreadPlan {
    ThreadPlan {
        tid,
        program: Program(program),
        priority,
        work,
        script: None,
        born: Born::Before,
        dies: None,
        start: NTDLL + 0x6_CEB0,
        efficient: false,
    }
}

const WINDOW: &[(u64, Action)] = &[
    (1000, Input(300, 1800)),
    (1000, Compute(260)),
    (330, Call),
    (300, Signal(Thread(3))),
    (300, Signal(Thread(4))),
    (120, Read { cached: 600 }),
    (1000, Compute(120)),
];
const HELPER: &[(u64, Action)] = &[
    (1000, AwaitSignal),
    (1000, Compute(500)),
    (250, Read { cached: 500 }),
    (80, Write),
    (400, Call),
];
const SYNC: &[(u64, Action)] = &[
    (1000, Sleep(300, 2200)),
    (1000, Compute(180)),
    (150, Write),
    (300, Call),
    (250, Post),
    (1000, Compute(90)),
];
const SERVER: &[(u64, Action)] = &[
    (1000, Serve),
    (1000, Compute(200)),
    (100, Read { cached: 700 }),
    (1000, Reply),
];
const WORKER: &[(u64, Action)] = &[(1000, TakeWork), (1000, Compute(80)), (120, Write)];
const UPDATE: &[(u64, Action)] = &[(1000, Compute(45_000)), (1000, Sleep(30_000, 60_000))];
const VIEW: &[(u64, Action)] = &[
    (1000, Sleep(500, 3000)),
    (1000, Compute(400)),
    (200, Read { cached: 300 }),
    (200, Call),
];

const THREADS: [ThreadPlan; 20] = [
    thread(112, 1, 13, WORKER),
    thread(148, 1, 13, WORKER),
    thread(4124, 2, 10, WINDOW),
    thread(4188, 2, 8, HELPER),
    thread(4196, 2, 8, HELPER),
    thread(5212, 3, 8, SYNC),
    thread(5264, 3, 8, SYNC),
    thread(5300, 3, 9, SYNC),
    thread(1880, 4, 9, SERVER),
    thread(1924, 4, 9, SERVER),
    thread(1936, 4, 9, SERVER),
    ThreadPlan {
        dies: Some(600),
        ..thread(6648, 5, 6, UPDATE)
    },
    ThreadPlan {
        dies: Some(560),
        ..thread(6660, 5, 6, UPDATE)
    },
    ThreadPlan {
        dies: Some(560),
        ..thread(6672, 5, 6, UPDATE)
    },
    ThreadPlan {
        dies: Some(560),
        ..thread(6684, 5, 6, UPDATE)
    },
    ThreadPlan {
        dies: Some(560),
        ..thread(6692, 5, 6, UPDATE)
    },
    ThreadPlan {
        born: Born::At(Thread(2), 300),
        ..thread(7020, 6, 9, VIEW)
    },
    ThreadPlan {
        born: Born::At(Thread(16), 300),
        ..thread(7044, 6, 8, VIEW)
    },
    ThreadPlan {
        born: Born::At(Thread(5), 400),
        dies: Some(800),
        ..thread(5388, 3, 8, SYNC)
    },
    thread(4232, 2, 7, SYNC),
];

const FILES: [&str; 12] = [
    r"Users\anna\Documents\report.docx",
    r"Users\anna\Documents\budget.xlsx",
    r"Users\anna\Documents\notes.txt",
    r"Users\anna\AppData\Local\Acme\autosave.tmp",
    r"Users\anna\AppData\Local\Acme\mail.db",
    r"Users\anna\AppData\Local\Acme\mail.db-journal",
    r"ProgramData\Acme\index.dat",
    r"ProgramData\Acme\service.log",
    r"Program Files\Acme\fonts\body.ttf",
    r"Program Files\Acme\templates\letter.dotx",
    r"Windows\System32\config\SOFTWARE",
    r"pagefile.sys",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_windows_are_those_of_its_maker() {
        for module in &MODULES {
            let is_of_windows = module.dos_folder.starts_with(r"C:\Windows\");
            let is_of_microsoft = module.maker.company == MICROSOFT.company;
            assert_eq!(is_of_windows, is_of_microsoft, "{}", module.name);
        }
    }
}
