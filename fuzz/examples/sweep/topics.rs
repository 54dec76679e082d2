//! A hundred thousand of what single topics count: keys of the registry, objects of the window manager,
//! handles, allocations, system calls, queries, sessions, stays in standby. Names are as long as an event can
//! hold, or nothing but escapes.

use etwkit_decode::clr;
use etwkit_decode::dns::{self, DNS_CLIENT};
use etwkit_decode::kernel::power_setting::KERNEL_POWER;
use etwkit_decode::kernel::{object, registry, virtual_memory};
use etwkit_decode::session_events::EVENT_TRACING;
use etwkit_decode::win32k::WIN32K;

use crate::crowds::{N, crowd, utf16};

const REGISTRY: u8 = 9;
const OBJECT: u8 = 0x11;
const MEMORY: u8 = 2;

/// Texts of a trace that are as wide as an event allows, or six times as wide when they are escaped.
fn wide(number: u32, len: usize) -> String {
    if number.is_multiple_of(2) {
        "x".repeat(len)
    } else {
        "\u{1B}".repeat(len)
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Payload of an operation on the registry: its begin, status, index, control block, name.
fn on_key(block: u64, name: &str) -> Vec<u8> {
    [
        &1u64.to_le_bytes()[..],
        &words(&[0, 0]),
        &block.to_le_bytes(),
        &utf16(name),
    ]
    .concat()
}

/// Each control block is named, used and gone again.
pub(crate) fn registry_keys() -> Vec<u8> {
    crowd(N, |c, n| {
        let path = on_key(u64::from(n), &format!("\\REGISTRY\\MACHINE\\k{n}"));
        c.kernel(REGISTRY, registry::opcode::BLOCK_CREATE, 2, &path);
        c.kernel(
            REGISTRY,
            registry::opcode::CREATE,
            2,
            &on_key(u64::from(n), "sub"),
        );
        c.kernel(
            REGISTRY,
            registry::opcode::BLOCK_DELETE,
            2,
            &on_key(u64::from(n), ""),
        );
    })
}

/// Few long bases, each below all that is done: paths could take far more memory than the trace has bytes.
pub(crate) fn registry_paths() -> Vec<u8> {
    crowd(N, |c, n| {
        if n.is_multiple_of(1000) {
            c.kernel(
                REGISTRY,
                registry::opcode::BLOCK_START,
                2,
                &on_key(7, &wide(n / 1000, 30_000)),
            );
        }
        c.kernel(
            REGISTRY,
            registry::opcode::QUERY_VALUE,
            2,
            &on_key(7, &format!("v{n}")),
        );
    })
}

/// Objects that are created, handed on and never destroyed, and those that are destroyed twice.
pub(crate) fn window_objects() -> Vec<u8> {
    crowd(N, |c, n| {
        let handle = u64::from(n / 2).to_le_bytes();
        let id = [452, 455, 454, 457, 453, 456][n as usize % 6];
        c.manifest(
            WIN32K,
            id,
            0,
            &[&handle[..], &words(&[n % 90, 1, n % 7 * 4])].concat(),
        );
        c.manifest(
            WIN32K,
            458,
            0,
            &[&handle[..], &handle, &words(&[5, 1, 8])].concat(),
        );
    })
}

/// Acquisitions of the lock without release, releases without acquisition, and one token for all.
pub(crate) fn window_lock() -> Vec<u8> {
    crowd(N, |c, n| {
        let id = [163, 164, 165, 166, 416, 417][n as usize % 6];
        c.manifest(WIN32K, id, 0, &words(&[u32::MAX, n, u32::MAX, n % 3, 0]));
        if n.is_multiple_of(5) {
            c.manifest(WIN32K, 167, 0, &[0xFF; 8]);
        }
    })
}

pub(crate) fn window_delays() -> Vec<u8> {
    crowd(N / 10, |c, n| {
        let name = utf16(&wide(n, 9_000));
        let id = [37, 38, 172, 173][n as usize % 4];
        c.manifest(
            WIN32K,
            id,
            0,
            &[&words(&[n, u32::MAX, u32::MAX])[..], &name, &name, &name].concat(),
        );
        c.manifest(WIN32K, 35, 0, &words(&[4, 8, 1, 102, u32::MAX]));
    })
}

/// The focus goes round between processes that are not there.
pub(crate) fn focus() -> Vec<u8> {
    crowd(N, |c, n| {
        c.manifest(WIN32K, 26, 0, &words(&[1, n, n + 1]));
        c.manifest(WIN32K, 2, 0, &words(&[n, n + 1]));
        c.manifest(WIN32K, [258, 259][n as usize % 2], 0, &words(&[1, n]));
    })
}

/// Handles that are never closed, and names of objects that are closed again and again.
pub(crate) fn handles() -> Vec<u8> {
    crowd(N, |c, n| {
        let of = |object: u64, handle: u32| {
            [&object.to_le_bytes()[..], &words(&[handle]), &[9, 0]].concat()
        };
        c.kernel(
            OBJECT,
            object::opcode::CREATE_OBJECT,
            2,
            &[&u64::from(n).to_le_bytes()[..], &[9, 0, 0, 0]].concat(),
        );
        c.kernel(
            OBJECT,
            object::opcode::CREATE_HANDLE,
            2,
            &[of(u64::from(n), n * 4), vec![0; 2]].concat(),
        );
        if n.is_multiple_of(100) {
            let closed = [of(7, 4), utf16(&wide(n / 100, 20_000))].concat();
            c.kernel(OBJECT, object::opcode::CLOSE_HANDLE, 2, &closed);
        }
        c.kernel(
            OBJECT,
            object::opcode::REFERENCE,
            2,
            &[&7u64.to_le_bytes()[..], b"Dflt", &[1, 0, 0, 0]].concat(),
        );
    })
}

/// Single pages, every second one, committed and given back in all orders.
pub(crate) fn allocations() -> Vec<u8> {
    crowd(N, |c, n| {
        let page = |number: u32, flags: u32| {
            let base = u64::from(number) * 2 * virtual_memory::PAGE;
            [
                &base.to_le_bytes()[..],
                &virtual_memory::PAGE.to_le_bytes(),
                &words(&[8, flags]),
            ]
            .concat()
        };
        c.kernel(
            MEMORY,
            virtual_memory::opcode::ALLOC,
            2,
            &page(n, virtual_memory::flag::COMMIT),
        );
        if n.is_multiple_of(3) {
            c.kernel(
                MEMORY,
                virtual_memory::opcode::FREE,
                2,
                &page(N - n, virtual_memory::flag::DECOMMIT),
            );
        }
    })
}

/// Calls without return, and returns without call.
pub(crate) fn system_calls() -> Vec<u8> {
    crowd(3 * N, |c, n| match n % 5 {
        4 => c.kernel(0x0F, 52, 2, &words(&[n])),
        _ => c.kernel(
            0x0F,
            51,
            2,
            &(0xFFFF_F800_0000_0000 + u64::from(n)).to_le_bytes(),
        ),
    })
}

/// Queries that are never answered, with names that are wider than any host's.
pub(crate) fn queries() -> Vec<u8> {
    crowd(N / 5, |c, n| {
        let start = [utf16(&wide(n, 1_000)), words(&[1, n, 0, 0, 0, 0, 0])].concat();
        c.manifest(DNS_CLIENT, dns::id::START, 0, &start);
        c.manifest(DNS_CLIENT, dns::id::SERVER, 0, &start);
    })
}

/// What recording sessions say about themselves, with names as wide as an event.
pub(crate) fn sessions() -> Vec<u8> {
    crowd(N / 10, |c, n| {
        let id = [2, 3, 8, 10, 11, 14, 19, 20, 34][n as usize % 9];
        let name = utf16(&wide(n, 9_000));
        c.manifest(
            EVENT_TRACING,
            id,
            0,
            &[&name[..], &name, &[0xFF; 120]].concat(),
        );
    })
}

/// Stays in connected standby that begin and never end, or only end, for longer than there is time.
pub(crate) fn standby() -> Vec<u8> {
    crowd(N, |c, n| {
        c.manifest(KERNEL_POWER, 506 + (n / 3 % 2) as u16, 0, &[0xFF; 120])
    })
}

/// Exceptions with types and messages as wide as an event.
pub(crate) fn exceptions() -> Vec<u8> {
    crowd(N / 10, |c, n| {
        let text = utf16(&wide(n, 15_000));
        c.manifest(
            clr::RUNTIME,
            clr::id::EXCEPTION,
            1,
            &[&text[..], &text, &[0; 20]].concat(),
        );
    })
}
