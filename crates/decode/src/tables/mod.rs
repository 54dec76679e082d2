//! Built-in tables: kernel events, the records of the merge step, and well-known providers.
//!
//! The tables are the text files of `data/`. A file has one or more blocks:
//!
//! ```text
//! [Process 3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c group=3]      name, GUID, group of kernel events
//! names 1=Start 2=End                                         names of types
//! 1,2 v1: ProcessId:u32 Name:wstr                             types (ids), version, fields
//! 1,2 v2: +v1 Flags:x32?                                      the fields of version 1, then these
//! 7 any Task/Opcode: Count:u32 Items{A:u8 B:ptr}[Count]       any version; a name of its own
//! ```
//!
//! Types are `u8 u16 u32 u64 i8 i16 i32 i64 x32 x64` (hexadecimal) `f32 f64 bool32 ptr`, `time`
//! (raw ticks), `ft` (FILETIME), `st` (SYSTEMTIME), `guid sid tokensid ip4 ip6 port`, the strings
//! `wstr astr`, with a length `wstr(Field)`, of fixed width `wch[n] ach[n]`, the binaries `bytes[n]
//! bin(Field)` and `rest` (to the end). The suffix `[n]`, `[Field]` or `[*]` makes a type an array.
//! `?` ends a layout early in traces that lack the fields from there on.
//!
//! Several rows for one event and version are variants: the first one that ends exactly at the end
//! of the payload applies.
//!
//! For many more events only the names are known: [`names`].

pub mod names;
mod parse;

use std::sync::Arc;

use etwkit_etl::{Guid, Identity};
use rustc_hash::FxHashMap;

use crate::kernel::{self, group};
use crate::plan::{Plan, Spans};
use crate::schema::Source;
use parse::Block;

macro_rules! data {
    ($folder:literal: $($file:literal)*) => { [$(include_str!(concat!("data/", $folder, "/", $file, ".txt"))),*] };
}

const KERNEL: [&str; 32] = data!("kernel":
    "00_event_trace" "01_disk_io" "02_page_fault" "03_process" "04_file_io" "05_thread" "06_tcp_ip" "07_job"
    "08_udp_ip" "09_registry" "0a_dbg_print" "0b_system_config" "0c_lbr" "0d_wnf" "0e_pool" "0f_perf_info"
    "10_heap" "11_object" "12_power" "13_mod_bound" "14_image" "15_dpc" "16_cache_manager"
    "17_critical_section" "18_stack_walk" "19_ums" "1a_alpc" "1b_split_io" "1c_thread_pool" "1d_hypervisor"
    "1e_hypervisor_x" "merge");

const PROVIDERS: [&str; 15] = data!("providers":
    "dns_client" "tcpip" "kernel_process" "kernel_file" "kernel_disk" "kernel_network" "kernel_eventtracing"
    "kernel_memory" "dotnetruntime" "dotnetruntimerundown" "kernel_power" "kernel_processor_power" "win32k"
    "dxgkrnl" "packet_capture");

/// Class of image events, which has the loads that the kernel logs in the process group.
const IMAGE_CLASS: Guid = Guid::literal("2cb15d1d-5fc1-11d2-abe1-00a0c911f518");
const IMAGE_LOAD: u8 = kernel::image::opcode::LOAD;

/// Class or provider, type or ID, version, pointer size.
type Key = (Guid, u16, u16, usize);

/// All tables; a block is parsed when it is first needed.
#[derive(Debug)]
pub struct Tables {
    blocks: FxHashMap<Guid, Block>,
    groups: FxHashMap<u8, Guid>,
    plans: FxHashMap<Key, Vec<Arc<Plan>>>,
    spans: Spans,
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}

impl Tables {
    /// Reads the headings of all blocks.
    #[must_use]
    pub fn new() -> Self {
        let kernel = KERNEL.iter().map(|text| (Source::Kernel, *text));
        let all = kernel.chain(PROVIDERS.iter().map(|text| (Source::Template, *text)));
        let blocks: Vec<Block> = all
            .flat_map(|(source, text)| parse::blocks(text, source))
            .collect();
        let groups = blocks
            .iter()
            .filter_map(|block| Some((block.group?, block.guid)))
            .collect();
        let blocks = blocks
            .into_iter()
            .map(|block| (block.guid, block))
            .collect();
        Self {
            blocks,
            groups,
            plans: FxHashMap::default(),
            spans: Spans::default(),
        }
    }

    /// The plan of an event, or `None` if no table has it.
    ///
    /// A version that no table has is read with the highest known version below it: newer versions
    /// append fields.
    pub fn plan(
        &mut self,
        identity: Identity,
        pointer_size: usize,
        payload: &[u8],
    ) -> Option<Arc<Plan>> {
        let key = self.key(identity, pointer_size)?;
        if !self.plans.contains_key(&key) {
            let block = self.blocks.get(&key.0)?;
            let (guid, id, version, _) = key;
            // Versions that are read alike share their plans: a malicious file has each event in
            // all versions, and plans of their own would take many times the memory of the file.
            let known = (guid, id, block.known_version(id, version), pointer_size);
            let shared = self.plans.entry(known).or_insert_with(|| {
                let mut plans = block.plans(id, known.2, pointer_size);
                if block.may_be_replayed(id) {
                    // Kernel events that a 32-bit program replayed keep the layout of the kernel
                    // that logged them.
                    plans.extend(block.plans(id, known.2, 12 - pointer_size));
                }
                plans
            });
            if known != key {
                let shared = shared.clone();
                self.plans.insert(key, shared);
            }
        }
        let variants = self.plans.get(&key)?;
        match variants.as_slice() {
            // A single variant needs no look at the payload.
            [only] => Some(Arc::clone(only)),
            _ => choose(variants, payload, &mut self.spans).cloned(),
        }
    }

    fn key(&self, identity: Identity, pointer_size: usize) -> Option<Key> {
        Some(match identity {
            Identity::Kernel {
                group: group::PROCESS,
                opcode: IMAGE_LOAD,
                version,
            } => (IMAGE_CLASS, IMAGE_LOAD.into(), version.into(), pointer_size),
            Identity::Kernel {
                group,
                opcode,
                version,
            } => (
                *self.groups.get(&group)?,
                opcode.into(),
                version.into(),
                pointer_size,
            ),
            // No table has a version above 255.
            Identity::Classic {
                class,
                opcode,
                version,
            } => (
                class,
                opcode.into(),
                version.min(u8::MAX.into()),
                pointer_size,
            ),
            Identity::Manifest {
                provider,
                id,
                version,
                ..
            } => (provider, id, version.into(), pointer_size),
            Identity::Message { .. } => return None,
        })
    }

    /// Name of a class or well-known provider.
    #[must_use]
    pub fn name(&self, guid: Guid) -> Option<&'static str> {
        self.blocks
            .get(&guid)
            .map(|block| block.name)
            .or_else(|| names::provider(guid))
    }

    /// All events in the tables: class or provider, type or ID, version (`None`: any), and name.
    pub fn rows(&self) -> Vec<KnownEvent> {
        let mut rows: Vec<KnownEvent> = self.blocks.values().flat_map(Block::known).collect();
        rows.sort_by(|a, b| {
            (a.source, a.group, &a.class, a.id, a.version)
                .cmp(&(b.source, b.group, &b.class, b.id, b.version))
        });
        rows.dedup();
        rows
    }
}

/// A kind of event in the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEvent {
    /// Kernel table or provider template.
    pub source: Source,
    /// Group of kernel events.
    pub group: Option<u8>,
    /// Name of class or provider.
    pub class: &'static str,
    /// GUID of class or provider.
    pub guid: Guid,
    /// Type or ID.
    pub id: u16,
    /// Version; `None` if the layout applies to all.
    pub version: Option<u8>,
    /// Name of the event.
    pub name: String,
}

/// The variant that ends at the end of the payload; otherwise the first one with all its fields;
/// otherwise the first one.
fn choose<'v>(
    variants: &'v [Arc<Plan>],
    payload: &[u8],
    spans: &mut Spans,
) -> Option<&'v Arc<Plan>> {
    // A length that matches exactly is the only sign of the logged variant. A longer payload may
    // have fields of a newer version after the known ones.
    let mut complete = None;
    for plan in variants {
        if plan.locate(payload, spans) {
            if spans.end() == payload.len() {
                return Some(plan);
            }
            complete = complete.or(Some(plan));
        }
    }
    complete.or_else(|| variants.first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Limits, Renderer};

    #[test]
    fn every_line_of_every_file_makes_a_plan() {
        let tables = Tables::new();
        let (mut lines, mut plans) = (0, 0);
        for block in tables.blocks.values() {
            lines += block.check();
            for known in block.known() {
                for pointer_size in [4, 8] {
                    let version = known.version.unwrap_or_default().into();
                    let made = block.plans(known.id, version, pointer_size);
                    assert!(!made.is_empty(), "{} {}", known.class, known.id);
                    plans += made.len();
                }
            }
        }
        assert!(lines > 900 && plans > 3000, "{lines} lines, {plans} plans");
    }

    /// Fixed sizes as they are documented: group, type, version, bytes with 32- and 64-bit
    /// pointers.
    #[test]
    fn fixed_parts_have_their_documented_size() {
        let tables = Tables::new();
        for line in include_str!("data/sizes.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            let words: Vec<&str> = line.split(' ').collect();
            let [group, opcode, version, sizes] = words[..] else {
                panic!("{line}")
            };
            let block = &tables.blocks[&tables.groups[&group.parse().unwrap()]];
            let version = version.trim_start_matches('v').parse().unwrap_or(0);
            for (size, pointer_size) in sizes.trim_end_matches('+').split('/').zip([4, 8]) {
                let size: usize = size.parse().unwrap();
                let variants = block.plans(opcode.parse().unwrap(), version, pointer_size);
                let sizes: Vec<usize> = variants.iter().map(|plan| plan.fixed_len()).collect();
                assert!(
                    sizes.contains(&size),
                    "{line}, pointers of {pointer_size} bytes: {sizes:?}"
                );
            }
        }
    }

    fn check(identity: Identity, payload: &[u8], expected: &str) {
        let plan = Tables::new().plan(identity, 8, payload).unwrap();
        let (object, complete) = Renderer {
            clock: None,
            limits: Limits::NONE,
        }
        .object(&plan, payload);
        assert!(complete);
        assert_eq!(
            format!(
                "{} {}",
                plan.schema().name,
                serde_json::Value::Object(object)
            ),
            expected
        );
    }

    #[test]
    fn worked_examples() {
        let kernel = |group, opcode, version| Identity::Kernel {
            group,
            opcode,
            version,
        };
        let mut switch = [8u32.to_le_bytes(), 4u32.to_le_bytes()].concat();
        switch.extend([9, 8, 1, 0, 17, 1, 5, 2, 3, 0, 0, 0, 4, 0, 0, 0]);
        check(
            kernel(5, 36, 2),
            &switch,
            r#"Thread/CSwitch {"NewThreadId":8,"OldThreadId":4,"NewThreadPriority":9,"OldThreadPriority":8,"PreviousCState":1,"SpareByte":0,"OldThreadWaitReason":17,"OldThreadWaitMode":1,"OldThreadState":5,"OldThreadWaitIdealProcessor":2,"NewThreadWaitTime":3,"Reserved":4}"#,
        );
        check(
            kernel(5, 50, 2),
            &[8, 0, 0, 0, 1, 2, 1, 0],
            r#"Thread/ReadyThread {"TThreadId":8,"AdjustReason":1,"AdjustIncrement":2,"Flags":1,"Reserved":0}"#,
        );
        check(
            kernel(15, 52, 2),
            &[5, 0, 0, 0xC0],
            r#"PerfInfo/SysClExit {"SysCallNtStatus":"0xc0000005"}"#,
        );
        check(
            kernel(15, 68, 2),
            &[[1; 8], [2; 8]].concat(),
            r#"PerfInfo/DPC {"InitialTime":72340172838076673,"Routine":"0x202020202020202"}"#,
        );
        check(
            kernel(3, 10, 9),
            &[0; 58],
            r#"Image/Load {"ImageBase":"0x0","ImageSize":"0x0","ProcessId":0,"ImageChecksum":0,"TimeDateStamp":0,"SignatureLevel":0,"SignatureType":0,"Reserved0":0,"DefaultBase":"0x0","Reserved1":0,"Reserved2":0,"Reserved3":0,"Reserved4":0,"FileName":""}"#,
        );
    }

    #[test]
    fn versions_that_no_table_has_share_the_plan_of_the_one_below() {
        let mut tables = Tables::new();
        let mut plan = |version| {
            tables
                .plan(
                    Identity::Kernel {
                        group: 5,
                        opcode: 50,
                        version,
                    },
                    8,
                    &[0; 8],
                )
                .unwrap()
        };
        let known = plan(2);
        assert!(
            [3, 200, 255]
                .into_iter()
                .all(|version| Arc::ptr_eq(&known, &plan(version)))
        );
        let class = Guid::literal("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c");
        let classic = Identity::Classic {
            class,
            opcode: 50,
            version: 40_000,
        };
        assert!(Arc::ptr_eq(
            &known,
            &tables.plan(classic, 8, &[0; 8]).unwrap()
        ));
    }

    #[test]
    fn a_type_with_a_name_but_no_layout_shows_its_bytes() {
        let identity = Identity::Kernel {
            group: 5,
            opcode: 58,
            version: 2,
        };
        check(
            identity,
            &[1, 2],
            r#"Thread/DfssStartNewInterval {"Payload":"0102"}"#,
        );
        check(identity, &[], "Thread/DfssStartNewInterval {}");
    }

    #[test]
    fn optional_tails_are_recognized_by_the_length() {
        let identity = Identity::Kernel {
            group: 5,
            opcode: 1,
            version: 3,
        };
        let mut tables = Tables::new();
        let fields = |payload: &[u8], tables: &mut Tables| {
            let plan = tables.plan(identity, 8, payload).unwrap();
            plan.schema().fields.last().unwrap().name.to_string()
        };
        assert_eq!(fields(&[0; 72], &mut tables), "ThreadFlags");
        assert_eq!(fields(&[0; 74], &mut tables), "ThreadName");
    }
}
