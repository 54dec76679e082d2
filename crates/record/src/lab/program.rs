//! Writes small programs for Windows that call functions of the system one after the other, with
//! loops: for work that needs a process with only the necessary libraries.
//!
//! ```text
//! steps ─► machine code (x86-64, calling convention of Windows) + data + imports ─► the bytes of a program
//! ```

use anyhow::{Context, Result, bail};
use object::pe;
use object::write::pe::Writer;

use crate::lab::executable::{Guard, IMAGE_BASE, headers};
use crate::lab::imports::{Data, Function};

/// A place in the data of a program, in bytes from its start. Each stored value has eight bytes.
pub(crate) type DataOffset = u32;

/// An argument of a function call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    Number(u32),
    /// The address of a place.
    At(DataOffset),
    /// The value at a place.
    Kept(DataOffset),
}

/// The next action of a program.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Calls a function with at most twelve arguments and stores its result.
    Call(Function, Vec<Argument>, DataOffset),
    /// A name for the next step.
    Label(u8),
    /// Jumps to the label.
    Goto(u8),
    /// Jumps to the label if the 32-bit number at that place is 0.
    IfZero(DataOffset, u8),
}

/// A program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    /// Initial contents of its places.
    pub(crate) data: Vec<u8>,
    /// Functions that it names and never calls: their libraries are loaded anyway.
    pub(crate) imported: Vec<Function>,
    /// Functions that it names and never calls, whose libraries are loaded at the first call.
    pub(crate) delayed: Vec<Function>,
}

/// Returns a function of kernel32, which is in every process.
pub(crate) const fn kernel32(name: &'static str) -> Function {
    Function {
        library: "kernel32.dll",
        name,
    }
}

/// Returns a function of the window manager's library.
pub(crate) const fn user32(name: &'static str) -> Function {
    Function {
        library: "user32.dll",
        name,
    }
}

/// Opcodes that load a number, an address or a stored value into the registers of the first four
/// arguments, and into the register from which the other arguments go to the stack.
const NUMBER: [&[u8]; 5] = [&[0xB9], &[0xBA], &[0x41, 0xB8], &[0x41, 0xB9], &[0xB8]];
const ADDRESS: [&[u8]; 5] = [
    &[0x48, 0x8D, 0x0D],
    &[0x48, 0x8D, 0x15],
    &[0x4C, 0x8D, 0x05],
    &[0x4C, 0x8D, 0x0D],
    &[0x48, 0x8D, 0x05],
];
const KEPT: [&[u8]; 5] = [
    &[0x48, 0x8B, 0x0D],
    &[0x48, 0x8B, 0x15],
    &[0x4C, 0x8B, 0x05],
    &[0x4C, 0x8B, 0x0D],
    &[0x48, 0x8B, 0x05],
];
/// `sub rsp, 0x68`: room for twelve arguments, and the stack is aligned to 16 bytes again.
const ENTER: [u8; 4] = [0x48, 0x83, 0xEC, 0x68];
/// `mov [rsp + 8 * n], rax` without its last byte.
const TO_STACK: [u8; 4] = [0x48, 0x89, 0x44, 0x24];
/// `call [place]`, `mov [place], rax`, `mov eax, [place]`, `test eax, eax`, `jz place`, `jmp
/// place`.
const CALL: [u8; 2] = [0xFF, 0x15];
const KEEP: [u8; 3] = [0x48, 0x89, 0x05];
const LOAD: [u8; 2] = [0x8B, 0x05];
const TEST: [u8; 2] = [0x85, 0xC0];
const JUMP_IF_ZERO: [u8; 2] = [0x0F, 0x84];
const JUMP: [u8; 1] = [0xE9];

/// Target of an instruction, which has no address yet.
#[derive(Debug, Clone, Copy)]
enum Target {
    Place(DataOffset),
    Function(usize),
    Label(u8),
}

/// Machine code with unresolved references.
#[derive(Debug, Default)]
struct Code {
    bytes: Vec<u8>,
    open: Vec<(usize, Target)>,
    labels: Vec<(u8, usize)>,
    functions: Vec<Function>,
}

impl Program {
    /// Returns the bytes of the executable file.
    ///
    /// # Errors
    /// A step jumps to a missing label, which no program of this crate does.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        // Functions that are imported and never called come first, with no reference from the code.
        let mut code = Code {
            functions: self.imported.clone(),
            ..Code::default()
        };
        code.bytes.extend(ENTER);
        self.steps.iter().for_each(|step| code.step(step));
        let mut bytes = Vec::new();
        let mut writer = Writer::new(true, 0x1000, 0x200, &mut bytes);
        writer.reserve_dos_header_and_stub();
        writer.reserve_nt_headers(pe::IMAGE_NUMBEROF_DIRECTORY_ENTRIES);
        writer.reserve_section_headers(2);
        let text = writer.reserve_text_section(code.bytes.len() as u32);
        let begin = writer.virtual_len();
        let mut data = Data::new(begin, self.data.clone());
        let (imports, slots) = data.import(&code.functions);
        // The address of the code itself replaces the address of the loading helper: no delayed
        // function is ever called.
        let delayed =
            data.import_delayed(&self.delayed, IMAGE_BASE + u64::from(text.virtual_address));
        for (directory, tables) in [
            (pe::IMAGE_DIRECTORY_ENTRY_IMPORT, imports),
            (pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, delayed),
        ] {
            writer.set_data_directory(directory, tables.address, tables.size);
        }
        let size = data.bytes.len() as u32;
        let section = writer.reserve_data_section(size, size);
        let code = code.finished(text.virtual_address, begin, &slots)?;
        writer
            .write_dos_header_and_stub()
            .context("a program without a header")?;
        writer.write_nt_headers(headers(text.virtual_address, Guard::Off));
        writer.write_section_headers();
        writer.write_section(text.file_offset, &code);
        writer.write_section(section.file_offset, &data.bytes);
        Ok(bytes)
    }
}

impl Code {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Call(function, arguments, kept) => {
                arguments
                    .iter()
                    .enumerate()
                    .for_each(|(at, argument)| self.argument(at, *argument));
                let known = self.functions.iter().position(|known| known == function);
                let at = known.unwrap_or(self.functions.len());
                if known.is_none() {
                    self.functions.push(*function);
                }
                self.refer(&CALL, Target::Function(at));
                self.refer(&KEEP, Target::Place(*kept));
            }
            Step::Label(label) => self.labels.push((*label, self.bytes.len())),
            Step::Goto(label) => self.refer(&JUMP, Target::Label(*label)),
            Step::IfZero(place, label) => {
                self.refer(&LOAD, Target::Place(*place));
                self.bytes.extend(TEST);
                self.refer(&JUMP_IF_ZERO, Target::Label(*label));
            }
        }
    }

    fn argument(&mut self, at: usize, argument: Argument) {
        // The calling convention of Windows: four arguments in registers, the others on the stack,
        // where each is stored through a register.
        let of = |[first, second, third, fourth, on_stack]: [&'static [u8]; 5]| match at {
            0 => first,
            1 => second,
            2 => third,
            3 => fourth,
            _ => on_stack,
        };
        match argument {
            Argument::Number(number) => {
                self.bytes.extend(of(NUMBER));
                self.bytes.extend(number.to_le_bytes());
            }
            Argument::At(place) => self.refer(of(ADDRESS), Target::Place(place)),
            Argument::Kept(place) => self.refer(of(KEPT), Target::Place(place)),
        }
        if at >= 4 {
            self.bytes.extend(TO_STACK);
            self.bytes.push(at as u8 * 8);
        }
    }

    /// Appends an instruction that ends with the relative address of its target.
    fn refer(&mut self, opcode: &[u8], target: Target) {
        self.bytes.extend(opcode);
        // The addresses of data and functions are known when all code has its length.
        self.open.push((self.bytes.len(), target));
        self.bytes.extend([0; 4]);
    }

    /// Returns the code at that address, with the addresses of data and functions filled in.
    fn finished(mut self, own: u32, data: u32, slots: &[u32]) -> Result<Vec<u8>> {
        for (at, target) in &self.open {
            let address = match target {
                Target::Place(place) => Some(data + place),
                Target::Function(at) => slots.get(*at).copied(),
                Target::Label(label) => self
                    .labels
                    .iter()
                    .find(|known| known.0 == *label)
                    .map(|known| own + known.1 as u32),
            };
            let Some(address) = address else {
                bail!("a program refers to something that it has not")
            };
            // Counted from the next instruction.
            let distance = address.wrapping_sub(own + *at as u32 + 4);
            self.bytes.splice(*at..at + 4, distance.to_le_bytes());
        }
        Ok(self.bytes)
    }
}
