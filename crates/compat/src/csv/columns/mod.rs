//! The columns of each sub command.

mod cpu;
mod events;
mod io;
mod machine;
mod net;
mod objects;
mod power;

use etwkit_question::rows::Field;

use super::cell::Cell::{self, *};

/// Titles and cells.
type Columns = &'static [(&'static str, Cell)];

/// Returns the columns for rows of that sub command with these fields, in parts.
pub(crate) fn of(dump: &str, fields: &[Field]) -> Option<&'static [Columns]> {
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    Some(match dump {
        "cpu" if has("kind") => &[cpu::METHOD, cpu::READY],
        "cpu" => &[cpu::CPU, MODULE],
        "process" => &[machine::PROCESS],
        "disk" => &[io::DISK],
        "file" => &[io::FILE, MODULE],
        "version" if has("pdb") => &[machine::RECORDING, machine::PDB, SOURCE],
        "version" if has("part") => &[machine::RECORDING, machine::MARKED, SOURCE],
        "version" => &[machine::RECORDING, machine::VERSION, SOURCE],
        "stats" => &[machine::STATS],
        "pmc" => &[WHERE, HEAD, cpu::PMC],
        "lbr" => &[WHERE, HEAD, cpu::LBR],
        "dns" => &[WHERE, HEAD, net::DNS, COMMAND_LINE],
        "tcp" if has("retransmission_ns") => &[
            WHERE,
            HEAD,
            PROCESS,
            net::CONNECTION,
            net::RETRANSMISSION,
            COMMAND_LINE,
        ],
        "tcp" => &[WHERE, HEAD, PROCESS, net::CONNECTION, COMMAND_LINE],
        "exception" => &[events::EXCEPTION, MODULE],
        "mark" => &[WHERE, HEAD, events::MARK],
        "thread-pool" => &[WHERE, HEAD, events::THREAD_POOL],
        "tracelog" => &[LINE, HEAD, PROCESS, COMMAND_LINE, events::TRACE_LOG],
        "memory" => &[objects::MEMORY, MODULE],
        "objectref" => &[LINE, HEAD, objects::OBJECT_REF],
        "virtual-alloc" if has("kind") => &[LINE, HEAD, PROCESS, COMMAND_LINE, objects::ALLOCATION],
        "virtual-alloc" => &[LINE, HEAD, PROCESS, COMMAND_LINE, objects::VIRTUAL_ALLOC],
        "power" => &[power::HEAD, power::CPU, power::PARKING, power::IDLE],
        _ => return None,
    })
}

const LINE: Columns = &[("CSVOptions", Line)];

const WHERE: Columns = &[("CSVOptions", Line), ("Directory", Directory)];

const HEAD: Columns = &[
    ("FileName", FileName),
    ("Date", Date),
    ("TestCase", TestCase),
    ("Test Time in ms", TestTime),
    ("Baseline", Baseline),
];

const PROCESS: Columns = &[
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Start Time", Time("process_start_ns")),
];

const SOURCE: Columns = &[("SourceFile", Source)];

const COMMAND_LINE: Columns = &[("CommandLine", Arguments("command_line"))];

const MODULE: Columns = &[
    ("FileVersion", Is("file_version")),
    ("VersionString", Is("file_version")),
    ("ProductVersion", Is("product_version")),
    ("ProductName", Is("product_name")),
    ("Description", Is("description")),
    ("Directory", FolderOf("module_path")),
];

#[cfg(test)]
mod tests;
