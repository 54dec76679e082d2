//! Writes a program for Windows that does nothing and has any number of functions, with or without
//! the table of Control Flow Guard. Layout: the PE format and `IMAGE_LOAD_CONFIG_DIRECTORY64` as
//! documented.

use anyhow::{Context, Result};
use object::pe;
use object::write::pe::{NtHeaders, Writer};

/// Control Flow Guard of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    On,
    Off,
}

/// Each function has 16 bytes, as the guard requires: it returns 0.
const FUNCTION: [u8; 16] = [
    0x31, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];
pub(crate) const IMAGE_BASE: u64 = 0x1_4000_0000;
/// The load configuration ends after the flags of the guard, as in Windows 8.1.
const CONFIG: u32 = 0x94;
/// Offsets of the guard's pointers in it: to the slots of the two routines, and to the table of
/// functions.
const CHECK_SLOT: u32 = 0x70;
const DISPATCH_SLOT: u32 = 0x78;
const TABLE: u32 = 0x80;
const COUNT: u32 = 0x88;
const FLAGS: u32 = 0x90;
/// Offsets of the data after it: the two slots, then the table.
const SLOTS: u32 = 0x98;
const FUNCTIONS: u32 = SLOTS + 16;

/// Returns the bytes of the program; the first function is its entry point.
///
/// # Errors
/// The writer fails, which no number of functions causes.
pub(crate) fn executable(functions: u32, guard: Guard) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(true, 0x1000, 0x200, &mut bytes);
    writer.reserve_dos_header_and_stub();
    writer.reserve_nt_headers(pe::IMAGE_NUMBEROF_DIRECTORY_ENTRIES);
    writer.reserve_section_headers(if guard == Guard::On { 3 } else { 1 });
    let code = writer.reserve_text_section(functions * FUNCTION.len() as u32);
    let data = (guard == Guard::On).then(|| {
        let data = writer.reserve_rdata_section(FUNCTIONS + functions * 4);
        writer.set_data_directory(
            pe::IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG,
            data.virtual_address,
            CONFIG,
        );
        // These addresses are relocated with the program.
        for place in [CHECK_SLOT, DISPATCH_SLOT, TABLE, SLOTS, SLOTS + 8] {
            writer.add_reloc(data.virtual_address + place, pe::IMAGE_REL_BASED_DIR64);
        }
        writer.reserve_reloc_section();
        data
    });
    writer
        .write_dos_header_and_stub()
        .context("a program without a header")?;
    writer.write_nt_headers(headers(code.virtual_address, guard));
    writer.write_section_headers();
    writer.write_section(code.file_offset, &FUNCTION.repeat(functions as usize));
    if let Some(data) = data {
        let table = guard_data(functions, code.virtual_address, data.virtual_address);
        writer.write_section(data.file_offset, &table);
        writer.write_reloc_section();
    }
    Ok(bytes)
}

/// Returns the load configuration, the slots of the routines, and the table of all functions.
fn guard_data(functions: u32, code: u32, data: u32) -> Vec<u8> {
    let address = |place: u32| (IMAGE_BASE + u64::from(place)).to_le_bytes();
    let mut bytes = vec![0; FUNCTIONS as usize];
    let mut put = |at: u32, value: &[u8]| {
        bytes.splice(
            at as usize..at as usize + value.len(),
            value.iter().copied(),
        );
    };
    put(0, &CONFIG.to_le_bytes());
    put(CHECK_SLOT, &address(data + SLOTS));
    put(DISPATCH_SLOT, &address(data + SLOTS + 8));
    put(TABLE, &address(data + FUNCTIONS));
    put(COUNT, &u64::from(functions).to_le_bytes());
    let flags = pe::IMAGE_GUARD_CF_INSTRUMENTED | pe::IMAGE_GUARD_CF_FUNCTION_TABLE_PRESENT;
    put(FLAGS, &flags.to_le_bytes());
    // The loader puts the routines of the guard there; until then any function is good enough.
    put(SLOTS, &address(code));
    put(SLOTS + 8, &address(code));
    let each = FUNCTION.len() as u32;
    bytes.extend((0..functions).flat_map(|number| (code + number * each).to_le_bytes()));
    bytes
}

pub(crate) fn headers(entry: u32, guard: Guard) -> NtHeaders {
    let moves =
        pe::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE | pe::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA;
    let guarded = moves | pe::IMAGE_DLLCHARACTERISTICS_GUARD_CF;
    NtHeaders {
        machine: pe::IMAGE_FILE_MACHINE_AMD64,
        time_date_stamp: 0,
        characteristics: pe::IMAGE_FILE_EXECUTABLE_IMAGE | pe::IMAGE_FILE_LARGE_ADDRESS_AWARE,
        major_linker_version: 14,
        minor_linker_version: 0,
        address_of_entry_point: entry,
        image_base: IMAGE_BASE,
        major_operating_system_version: 6,
        minor_operating_system_version: 0,
        major_image_version: 0,
        minor_image_version: 0,
        major_subsystem_version: 6,
        minor_subsystem_version: 0,
        subsystem: pe::IMAGE_SUBSYSTEM_WINDOWS_CUI,
        dll_characteristics: pe::IMAGE_DLLCHARACTERISTICS_NX_COMPAT
            | if guard == Guard::On { guarded } else { 0 },
        size_of_stack_reserve: 0x10_0000,
        size_of_stack_commit: 0x1000,
        size_of_heap_reserve: 0x10_0000,
        size_of_heap_commit: 0x1000,
    }
}

#[cfg(test)]
mod tests {
    use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile64};
    use object::{LittleEndian, Object, ObjectSection};

    use super::*;

    #[test]
    fn another_reader_finds_the_functions_and_their_table() {
        let bytes = executable(1000, Guard::On).unwrap();
        let file = PeFile64::parse(&*bytes).unwrap();
        let code = file.section_by_name(".text").unwrap();
        assert_eq!(
            (code.size(), &code.data().unwrap()[..3]),
            (16_000, &[0x31, 0xc0, 0xc3][..])
        );
        assert_eq!(file.entry(), code.address());
        let header = file.nt_headers().optional_header();
        assert_ne!(
            header.dll_characteristics() & pe::IMAGE_DLLCHARACTERISTICS_GUARD_CF,
            0
        );
        let directory = file
            .data_directory(pe::IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG)
            .unwrap();
        let config = directory.data(&*bytes, &file.section_table()).unwrap();
        assert_eq!(config.len(), CONFIG as usize);
        let number = |at: u32| u64::from_le_bytes(config[at as usize..][..8].try_into().unwrap());
        assert_eq!(number(COUNT), 1000);
        let data = file.section_by_name(".rdata").unwrap();
        let table = data.data_range(number(TABLE), 4000).unwrap().unwrap();
        let last = u32::from_le_bytes(table[3996..].try_into().unwrap());
        assert_eq!(u64::from(last) + IMAGE_BASE, code.address() + 999 * 16);
        // Five addresses are relocated with the program.
        let mut blocks = file
            .data_directories()
            .relocation_blocks(&*bytes, &file.section_table())
            .unwrap()
            .unwrap();
        let moved: Vec<u32> = blocks
            .next()
            .unwrap()
            .unwrap()
            .map(|place| place.virtual_address)
            .collect();
        let start = directory.virtual_address.get(LittleEndian);
        assert_eq!(
            moved[..5],
            [CHECK_SLOT, DISPATCH_SLOT, TABLE, SLOTS, SLOTS + 8].map(|at| start + at)
        );
    }

    #[test]
    fn a_program_without_the_guard_has_no_table() {
        let bytes = executable(7, Guard::Off).unwrap();
        let file = PeFile64::parse(&*bytes).unwrap();
        assert!(file.section_by_name(".rdata").is_none());
        let header = file.nt_headers().optional_header();
        assert_eq!(
            header.dll_characteristics() & pe::IMAGE_DLLCHARACTERISTICS_GUARD_CF,
            0
        );
    }
}
