//! Images, programs and call stacks of the scenario.

use crate::plan::{Maker, ModulePlan};
use crate::scenarios::windows::{
    DRIVERS, EXPLORER, KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, SHELL32, SYSTEM32, USER32,
    image,
};
use crate::table::Module;

static GIT: Maker = Maker {
    company: "The Git Development Community",
    product: "Git for Windows",
    version: "2.44.0.1",
    sources: r"D:\git-sdk-64\usr\src\",
};
static NORTHWALL: Maker = Maker {
    company: "Northwall Security",
    product: "Northwall Endpoint Shield",
    version: "11.2.540.0",
    sources: r"E:\shield\src\",
};

type Folder = (&'static str, &'static str);
const GIT_FOLDER: Folder = (
    r"\Device\HarddiskVolume3\Program Files\Git\",
    r"C:\Program Files\Git\",
);
const GIT_BIN: Folder = (
    r"\Device\HarddiskVolume3\Program Files\Git\usr\bin\",
    r"C:\Program Files\Git\usr\bin\",
);
const MINGW_BIN: Folder = (
    r"\Device\HarddiskVolume3\Program Files\Git\mingw64\bin\",
    r"C:\Program Files\Git\mingw64\bin\",
);
const SHIELD: Folder = (
    r"\Device\HarddiskVolume3\Program Files\Northwall\Shield\",
    r"C:\Program Files\Northwall\Shield\",
);

/// Programs of MSYS are all linked to this address, and are not relocated.
const MSYS_EXE: u64 = 0x1_0040_0000;

const fn tool(alias: &'static str, name: &'static str, pdb: &'static str, size: u32) -> ModulePlan {
    image((alias, name, pdb), GIT_BIN, (MSYS_EXE, size), &GIT)
}

/// The first one is the driver.
pub(super) const IMAGES: [ModulePlan; 14] = [
    image(
        ("nwshield", "nwshield.sys", "nwshield.pdb"),
        DRIVERS,
        (0xFFFF_F806_2A10_0000, 0x5_8000),
        &NORTHWALL,
    ),
    image(
        ("NwScanSvc", "NwScanSvc.exe", "NwScanSvc.pdb"),
        SHIELD,
        (0x7FF7_1B90_0000, 0x9_4000),
        &NORTHWALL,
    ),
    image(
        ("nwengine", "nwengine.dll", "nwengine.pdb"),
        SHIELD,
        (0x7FF9_3B40_0000, 0x61_2000),
        &NORTHWALL,
    ),
    image(
        ("FLTLIB", "fltLib.dll", "fltLib.pdb"),
        SYSTEM32,
        (0x7FF9_67A0_0000, 0xB000),
        &MICROSOFT,
    ),
    image(
        ("git-bash", "git-bash.exe", "git-bash.pdb"),
        GIT_FOLDER,
        (0x1_4000_0000, 0x2_4000),
        &GIT,
    ),
    tool("mintty", "mintty.exe", "mintty.pdb", 0xB_6000),
    tool("bash", "bash.exe", "bash.pdb", 0x24_E000),
    image(
        ("msys-2.0", "msys-2.0.dll", "msys-2.0.pdb"),
        GIT_BIN,
        (0x1_8004_0000, 0x33_0000),
        &GIT,
    ),
    tool("uname", "uname.exe", "uname.pdb", 0x1_B000),
    tool("hostname", "hostname.exe", "hostname.pdb", 0x1_A000),
    tool("id", "id.exe", "id.pdb", 0x1_F000),
    tool("cygpath", "cygpath.exe", "cygpath.pdb", 0x1_C000),
    tool("dircolors", "dircolors.exe", "dircolors.pdb", 0x1_E000),
    image(
        ("git", "git.exe", "git.pdb"),
        MINGW_BIN,
        (0x1_4000_0000, 0x3D_1000),
        &GIT,
    ),
];

const fn own(index: usize) -> Module {
    Module(OWN + index)
}

pub(super) const MSYS: Module = own(7);
pub(super) const SCANNER_IMAGES: &[Module] = &[own(1), NTDLL, KERNEL32, KERNELBASE, own(2), own(3)];
pub(super) const EXPLORER_IMAGES: &[Module] =
    &[EXPLORER, NTDLL, KERNEL32, KERNELBASE, USER32, SHELL32];
pub(super) const GIT_BASH_IMAGES: &[Module] = &[own(4), NTDLL, KERNEL32, KERNELBASE];
pub(super) const MINTTY_IMAGES: &[Module] = &[own(5), NTDLL, KERNEL32, KERNELBASE, USER32, MSYS];
pub(super) const BASH_IMAGES: &[Module] = &[own(6), NTDLL, KERNEL32, KERNELBASE, MSYS];

/// A program that bash starts: name, command line, images, code.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) line: &'static str,
    pub(super) images: &'static [Module],
    pub(super) path: &'static str,
    /// Name of the call that starts it.
    pub(super) call: &'static str,
    pub(super) main: &'static str,
}

macro_rules! msys_tool {
    ($index:literal, $name:literal, $line:literal, $main:literal) => {
        Tool {
            name: concat!($name, ".exe"),
            line: $line,
            images: &[own($index), NTDLL, KERNEL32, KERNELBASE, MSYS],
            path: concat!(r"Program Files\Git\usr\bin\", $name, ".exe"),
            call: concat!("CreateProcess ", $name, ".exe"),
            main: $main,
        }
    };
}

/// Programs that the profile of the shell runs, each in a subshell.
pub(super) const TOOLS: [Tool; 6] = [
    msys_tool!(
        8,
        "uname",
        "/usr/bin/uname -s",
        "uname!main uname!print_element"
    ),
    msys_tool!(
        9,
        "hostname",
        "/usr/bin/hostname",
        "hostname!main hostname!localhost"
    ),
    msys_tool!(10, "id", "/usr/bin/id -un", "id!main id!print_user"),
    msys_tool!(
        11,
        "cygpath",
        "/usr/bin/cygpath -u -f -",
        "cygpath!main cygpath!do_pathconv"
    ),
    msys_tool!(
        12,
        "dircolors",
        "/usr/bin/dircolors -b /etc/DIR_COLORS",
        "dircolors!main dircolors!dc_parse_stream"
    ),
    Tool {
        name: "git.exe",
        line: "git.exe rev-parse --git-dir --is-inside-git-dir",
        images: &[own(13), NTDLL, KERNEL32, KERNELBASE],
        path: r"Program Files\Git\mingw64\bin\git.exe",
        call: "CreateProcess git.exe",
        main: "git!cmd_main git!run_builtin git!cmd_rev_parse git!setup_git_directory_gently",
    },
];

pub(super) const BASH_EXE: &str = r"Program Files\Git\usr\bin\bash.exe";
/// Frames of the main threads.
pub(super) const MSYS_MAIN: &str =
    "msys-2.0!_cygtls::call msys-2.0!_cygtls::call2 msys-2.0!dll_crt0_1";
pub(super) const BASH_MAIN: &str =
    "bash!main bash!reader_loop bash!execute_command bash!execute_command_internal";
pub(super) const FORK: &str =
    "bash!command_substitute bash!make_child msys-2.0!fork msys-2.0!frok::parent";
pub(super) const SPAWN: &str =
    "bash!shell_execve msys-2.0!execve msys-2.0!child_info_spawn::worker";
pub(super) const GETS_MESSAGE: &str =
    "user32!GetMessageW win32kfull!NtUserGetMessage win32kfull!xxxSleepThread";
pub(super) const EXPLORER_MAIN: &str =
    "explorer!CTray::MainThreadProc explorer!CTray::_MessageLoop";
pub(super) const LAUNCHES: &str =
    "explorer!CTaskListWnd::_Launch shell32!ShellExecuteExW shell32!CShellExecute::_DoExecute";
pub(super) const CREATE: &str = "KERNELBASE!CreateProcessW KERNELBASE!CreateProcessInternalW";
pub(super) const NT_CREATE: &str =
    "ntdll!NtCreateUserProcess nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess";
/// A section of an image is made, and the filter driver asks about it.
pub(super) const SECTION: &str = "nt!PspBuildCreateProcessContext nt!MmCreateSpecialImageSection nt!MiCreateSection \
    nt!MiCreateImageOrDataSection nt!FsRtlAcquireToCreateMappedSection nt!FsFilterPerformCallbacks \
    FLTMGR!FltpPreFsFilterOperation FLTMGR!FltpPerformPreCallbacks";
pub(super) const ASKS: &str = "nwshield!CSectionFilter::PreAcquireForSection nwshield!CScanClient::AskService \
    FLTMGR!FltSendMessage";
pub(super) const WAITS_FOR_CHILD: &str = "ntdll!NtWaitForMultipleObjects nt!KiSystemServiceCopyEnd \
    nt!NtWaitForMultipleObjects nt!ObWaitForMultipleObjects";
pub(super) const READS_PIPE: &str = "bash!read_comsub msys-2.0!read msys-2.0!fhandler_pipe::raw_read ntdll!NtReadFile \
    nt!KiSystemServiceCopyEnd nt!NtReadFile nt!IopSynchronousServiceTail";
pub(super) const WRITES_PIPE: &str = "msys-2.0!write msys-2.0!fhandler_pipe::raw_write ntdll!NtWriteFile \
    nt!KiSystemServiceCopyEnd nt!NtWriteFile nt!IofCallDriver Npfs!NpFsdWrite Npfs!NpWriteDataQueue \
    nt!IofCompleteRequest nt!IopCompleteRequest nt!KeSetEvent";
pub(super) const EXITS: &str = "ntdll!RtlExitUserProcess ntdll!NtTerminateProcess nt!KiSystemServiceCopyEnd \
    nt!NtTerminateProcess nt!PspTerminateThreadByPointer nt!PspExitThread nt!PspExitProcess nt!KeSetProcess";
