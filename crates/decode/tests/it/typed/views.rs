//! The fields of every typed view, by their names in the tables.

use etwkit_decode::clr::{self, Origin, id};
use etwkit_decode::kernel::config::{
    self, Cpu, LogicalDisk, Nic, PhysicalDisk, Platform, Processor, Service,
};
use etwkit_decode::kernel::disk::{self, DiskIo};
use etwkit_decode::kernel::fault::{self, HardFault};
use etwkit_decode::kernel::image::{self, Image};
use etwkit_decode::kernel::merge::{self, FileVersion, ImageInfo, Pdb, config_ex, image_id};
use etwkit_decode::kernel::process::{self, Process};
use etwkit_decode::kernel::provider::{self, KERNEL_PROCESS};
use etwkit_decode::kernel::sample::{self, Interval, Sample};
use etwkit_decode::kernel::scheduler::{self, ReadyThread};
use etwkit_decode::kernel::stack::{self, Owner};
use etwkit_decode::kernel::thread::{self, Thread};
use etwkit_decode::kernel::{Hook, file_name, group, net};
use etwkit_etl::{Guid, RawEvent};
use serde_json::{Value, json};

/// Names of a field in the tables, and its value in the typed view.
pub(super) type View = Vec<(&'static [&'static str], Value)>;

macro_rules! view {
    ($($($name:literal)|+ => $value:expr),+ $(,)?) => {
        vec![$((&[$($name),+][..], json!($value))),+]
    };
}

fn process_view(p: &Process) -> View {
    view! {
        "UniqueProcessKey" => p.unique_key,
        "ProcessId" | "ProcessID" => p.pid,
        "ParentId" | "ParentProcessID" => p.parent_pid,
        "SessionId" | "SessionID" => p.session_id.map(i32::cast_unsigned),
        "ExitStatus" => p.exit_status.cast_signed(),
        "UserSID" => p.sid,
        "ImageFileName" | "ImageName" => p.name,
        "CommandLine" => p.command_line,
        "PackageFullName" => p.package,
        "ApplicationId" | "PackageRelativeAppId" => p.app_id,
    }
}

fn thread_view(t: &Thread) -> View {
    view! { "ProcessId" | "ProcessID" => t.pid, "TThreadId" | "ThreadID" => t.tid }
}

fn image_view(i: &Image) -> View {
    view! {
        "ImageBase" | "BaseAddress" => i.base,
        "ImageSize" | "ModuleSize" => i.size,
        "ProcessId" | "ProcessID" => i.pid,
        "ImageChecksum" | "ImageCheckSum" => i.checksum,
        "TimeDateStamp" => i.time_date_stamp,
        "FileName" | "ImageFileName" | "ImageName" => i.path,
    }
}

fn disk_io(io: &DiskIo) -> View {
    view! {
        "DiskNumber" => io.disk,
        "IrpFlags" => io.irp_flags,
        "TransferSize" => io.bytes,
        "ByteOffset" => io.offset,
        "FileObject" => io.file_key,
        "Irp" => io.irp,
        "HighResResponseTime" => io.response_ticks,
        "IssuingThreadId" => io.tid,
    }
}

fn stack_view(op: u8, payload: &[u8], pointer_size: usize) -> Option<View> {
    let defines = matches!(op, stack::opcode::KEY_CREATE..=stack::opcode::KEY_RUNDOWN);
    let (at, owner) = if defines {
        (0, None)
    } else {
        (Owner::LEN, Some(Owner::parse(payload)?))
    };
    let key = (op != stack::opcode::STACK).then(|| stack::key(payload, at, pointer_size));
    let frames = match op {
        stack::opcode::STACK => Some(Owner::LEN),
        _ => defines.then_some(pointer_size),
    };
    Some(view! {
        "EventTimeStamp" => owner.map(|owner| owner.timestamp),
        "StackProcess" => owner.map(|owner| owner.pid),
        "StackThread" => owner.map(|owner| owner.tid),
        "Key" => key,
        "Frames" => frames.map(|at| stack::frames(payload, at, pointer_size).collect::<Vec<_>>()),
    })
}

fn network(event: &RawEvent<'_>) -> Option<View> {
    let (pid, size) = net::process_and_size(event)?;
    Some(view! { "PID" => pid, "size" => size })
}

fn config_view(op: u8, version: u8, payload: &[u8]) -> Option<View> {
    match op {
        config::opcode::CPU => Cpu::parse(payload).map(|c| {
            view! {
                "MHz" => c.mhz, "NumberOfProcessors" => c.count, "MemSize" => c.memory_mb, "PageSize" => c.page_size,
                "AllocationGranularity" => c.allocation_granularity, "ComputerName" => c.computer_name,
                "DomainName" => c.domain_name,
            }
        }),
        config::opcode::PHYSICAL_DISK => PhysicalDisk::parse(payload).map(|d| {
            view! {
                "DiskNumber" => d.number, "BytesPerSector" => d.bytes_per_sector,
                "SectorsPerTrack" => d.sectors_per_track, "TracksPerCylinder" => d.tracks_per_cylinder,
                "Cylinders" => d.cylinders, "Manufacturer" => d.manufacturer, "PartitionCount" => d.partitions,
                "WriteCacheEnabled" => u8::from(d.write_cache), "BootDriveLetter" => d.boot_drive,
            }
        }),
        config::opcode::LOGICAL_DISK => LogicalDisk::parse(payload).map(|d| {
            view! {
                "StartOffset" => d.start, "PartitionSize" => d.size, "DiskNumber" => d.disk,
                "DriveType" => d.drive_type, "DriveLetterString" => d.letter, "PartitionNumber" => d.partition,
                "SectorsPerCluster" => d.sectors_per_cluster, "BytesPerSector" => d.bytes_per_sector,
                "NumberOfFreeClusters" => d.free_clusters, "TotalNumberOfClusters" => d.total_clusters,
                "FileSystem" => d.file_system,
            }
        }),
        config::opcode::NIC => Nic::parse(payload, version).map(|n| {
            view! {
                "PhysicalAddrLen" => n.mac.len(), "Ipv4Index" => n.ipv4_index, "Ipv6Index" => n.ipv6_index,
                "PhysicalAddr" => n.mac.iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte)),
                "NICDescription" => n.description, "IpAddresses" => n.addresses, "DnsServerAddresses" => n.dns,
            }
        }),
        config::opcode::SERVICE => Service::parse(payload, version).map(|s| {
            view! {
                "ProcessId" => s.pid, "ServiceState" => s.state, "SubProcessTag" => s.tag, "ServiceName" => s.name,
                "DisplayName" => s.display_name, "ProcessName" => s.process,
            }
        }),
        config::opcode::PLATFORM => {
            let p = Platform::parse(payload);
            Some(view! {
                "SystemManufacturer" => p.manufacturer, "SystemProductName" => p.product, "BiosDate" => p.bios_date,
                "BiosVersion" => p.bios_version,
            })
        }
        _ => Processor::parse(payload).map(|p| {
            view! {
                "ProcessorIndex" => p.index, "ProcessorSpeed" => p.mhz, "ProcessorName" => p.name,
                "ProcessorIdentifier" => p.identifier, "VendorIdentifier" => p.vendor,
            }
        }),
    }
}

/// Types of the configuration that have views.
const CONFIGS: [u8; 7] = [
    config::opcode::CPU,
    config::opcode::PHYSICAL_DISK,
    config::opcode::LOGICAL_DISK,
    config::opcode::NIC,
    config::opcode::SERVICE,
    config::opcode::PLATFORM,
    config::opcode::PROCESSOR,
];

/// The view of a kernel event; the outer `None` if its type has no view.
fn kernel(hook: Hook, event: &RawEvent<'_>) -> Option<Option<View>> {
    let (payload, version, pointer_size) = (event.payload(), hook.version, event.pointer_size());
    Some(match (hook.group, hook.opcode) {
        (group::PROCESS, op) if process::is_lifetime(op) => {
            Process::parse(payload, version, pointer_size).map(|read| process_view(&read.event))
        }
        (group::THREAD, op) if thread::is_lifetime(op) =>
                Thread::parse(payload, version).as_ref().map(thread_view),
        (group::THREAD, scheduler::opcode::CONTEXT_SWITCH) => {
            thread::switch(payload).map(|(new, old)| view! { "NewThreadId" => new, "OldThreadId" => old })
        }
        (group::THREAD, scheduler::opcode::READY_THREAD) => ReadyThread::parse(payload).map(|ready| {
            view! { "TThreadId" => ready.tid, "Flags" => ready.flags }
        }),
        (group::IMAGE, op) if image::is_lifetime(op) => {
            Image::parse(payload, version, pointer_size).map(|read| image_view(&read.event))
        }
        (group::FILE, op) if file_name::is_name(op) => {
            let (key, path) = file_name::parse(payload, pointer_size)?;
            Some(view! { "FileObject" => key, "FileName" => path })
        }
        (group::DISK, op @ (disk::opcode::READ | disk::opcode::WRITE | disk::opcode::FLUSH)) => {
            DiskIo::parse(payload, op, version, pointer_size).as_ref().map(disk_io)
        }
        (group::MEMORY, fault::opcode::HARD_FAULT) => HardFault::parse(payload, pointer_size).map(|f| {
            view! {
                "InitialTime" => f.initial_time, "ReadOffset" => f.offset, "VirtualAddress" => f.address,
                "FileObject" => f.file_key, "TThreadId" => f.tid, "ByteCount" => f.bytes,
            }
        }),
        (group::PERFINFO, sample::opcode::SAMPLE) => Sample::parse(payload, pointer_size).map(|s| {
            view! { "InstructionPointer" => s.ip, "ThreadId" => s.tid, "Count" => s.count, "Flags" => s.flags }
        }),
        (group::PERFINFO, sample::opcode::INTERVAL_SET..=sample::opcode::INTERVAL_END) => {
            Interval::parse(payload).map(|i| view! { "Source" => i.source, "NewInterval" => i.new })
        }
        (
            group::STACK,
            op @ (stack::opcode::STACK | stack::opcode::KEY_CREATE..=stack::opcode::REFERENCE_USER),
        ) => stack_view(op, payload, pointer_size),
        (group::TCP, op) if net::tcp_operation(op).is_some() => network(event),
        (group::UDP, op) if net::udp_operation(op).is_some() => network(event),
        (group::CONFIG, op) if CONFIGS.contains(&op) && (op != config::opcode::NIC || version >= 2) => {
            config_view(op, version, payload)
        }
        _ => return None,
    })
}

fn two_texts(payload: &[u8]) -> Option<View> {
    let (first, second) = merge::parse_two_texts(payload);
    Some(
        view! { "SystemDirectory" | "NtPath" => first, "SystemWindowsDirectory" | "DosPath" => second },
    )
}

fn merge_record(event: &RawEvent<'_>) -> Option<Option<View>> {
    let (payload, pointer_size) = (event.payload(), event.pointer_size());
    Some(match (event.provider(), event.opcode()) {
        (merge::IMAGE_ID, image_id::INFO) => ImageInfo::parse(payload, pointer_size).map(|i| {
            view! {
                "ImageBase" => i.base, "ImageSize" => i.size, "ProcessId" => i.pid,
                "TimeDateStamp" => i.time_date_stamp, "OriginalFileName" => i.original_name,
            }
        }),
        (merge::IMAGE_ID, image_id::RSDS | image_id::IL_RSDS) => {
            let (base, pid, pdb) = merge::parse_rsds(payload, pointer_size)?;
            Some(view! {
                "ImageBase" => base, "ProcessId" => pid, "Guid" => pdb.guid.to_string(), "Age" => pdb.age,
                "PdbName" => pdb.name,
            })
        }
        (merge::IMAGE_ID, image_id::FILE_VERSION) => FileVersion::parse(payload).map(|v| {
            view! {
                "ImageSize" => v.size, "TimeDateStamp" => v.time_date_stamp, "OrigFileName" => v.original_name,
                "FileDescription" => v.description, "BinFileVersion" => v.binary_version,
                "ProductName" => v.product_name, "CompanyName" => v.company_name,
                "ProductVersion" => v.product_version,
            }
        }),
        (merge::SYSTEM_CONFIG_EX, config_ex::SYSTEM_PATHS | config_ex::VOLUME_MAPPING) => two_texts(payload),
        _ => return None,
    })
}

fn kernel_process(event: &RawEvent<'_>) -> Option<Option<View>> {
    let id = event.descriptor().id;
    let is_known = provider::id::PROCESSES.contains(&id)
        || provider::id::IMAGES.contains(&id)
        || [provider::id::THREAD_START, provider::id::THREAD_STOP].contains(&id);
    if !is_known {
        return None;
    }
    let read = provider::Event::parse(
        id,
        event.version() as u8,
        event.payload(),
        event.pointer_size(),
    );
    Some(read.map(|read| match read {
        provider::Event::Process(_, p) => {
            let exit = (id == provider::id::PROCESS_STOP).then_some(p.exit_status);
            view! {
                "ProcessID" => p.pid, "ParentProcessID" => p.parent_pid, "ExitCode" => exit,
                "ProcessSequenceNumber" => p.unique_key, "SessionID" => p.session_id.map(i32::cast_unsigned),
                "PackageFullName" => p.package, "PackageRelativeAppId" => p.app_id, "ImageName" => p.name,
            }
        }
        provider::Event::Thread(_, t) => thread_view(&t),
        provider::Event::Image(_, i) => image_view(&i),
    }))
}

fn runtime(origin: Origin, event: &RawEvent<'_>) -> Option<Option<View>> {
    let (payload, version) = (event.payload(), event.version() as u8);
    Some(match (origin, event.descriptor().id) {
        (_, id::METHOD_LOAD_VERBOSE | id::METHOD_UNLOAD_VERBOSE) => clr::Method::parse(payload).map(|m| {
            view! {
                "MethodID" => m.method_id, "ModuleID" => m.module_id, "MethodStartAddress" => m.start,
                "MethodSize" => m.size, "MethodToken" => m.token, "MethodFlags" => m.flags,
                "MethodNamespace" => m.namespace, "MethodName" => m.name, "MethodSignature" => m.signature,
            }
        }),
        (Origin::Runtime, id::IL_TO_NATIVE_MAP) | (Origin::Rundown, id::IL_TO_NATIVE_MAP_DC_END) => {
            clr::IlToNative::parse(payload).map(|map| {
                let (native, il): (Vec<u32>, Vec<u32>) = map.entries.into_iter().unzip();
                view! {
                    "MethodID" => map.method_id, "ReJITID" => map.rejit_id, "MethodExtent" => map.extent,
                    "CountOfMapEntries" => il.len(), "ILOffsets" => il, "NativeOffsets" => native,
                }
            })
        }
        (Origin::Runtime, id::MODULE_LOAD | id::MODULE_UNLOAD)
        | (Origin::Rundown, id::MODULE_UNLOAD | id::MODULE_DC_END) => {
            clr::Module::parse(payload, version).map(|m| {
                let pdb = m.pdb.unwrap_or(Pdb { guid: Guid::ZERO, age: 0, name: String::new() });
                view! {
                    "ModuleID" => m.module_id, "ModuleFlags" => m.flags, "ModuleILPath" => m.il_path,
                    "ModuleNativePath" => m.native_path, "ManagedPdbSignature" => pdb.guid.to_string(),
                    "ManagedPdbAge" => pdb.age, "ManagedPdbBuildPath" => pdb.name,
                }
            })
        }
        (Origin::Runtime, id::GC_START) => clr::GcStart::parse(payload, version).map(|gc| {
            view! {
                "Count" => gc.number, "Depth" => gc.depth, "Reason" => gc.reason,
                "ClrInstanceID" => gc.clr_instance,
            }
        }),
        (Origin::Runtime, id::ALLOCATION_TICK) => {
            let bytes = clr::allocation_tick_bytes(payload, version)?;
            Some(view! { "AllocationAmount64" | "AllocationAmount" => bytes })
        }
        (Origin::Runtime, id::EXCEPTION) if version > 0 => {
            clr::Exception::parse(payload, event.pointer_size()).map(|e| {
                view! {
                    "ExceptionType" => e.type_name, "ExceptionMessage" => e.message, "ExceptionEIP" => e.eip,
                    "ExceptionHRESULT" => e.hresult, "ExceptionFlags" => e.flags,
                }
            })
        }
        (Origin::Runtime, id::WORKER_ADJUSTMENT) => {
            clr::ThreadPool::parse(event.descriptor().id, payload).map(|t| {
                view! {
                    "AverageThroughput" => t.throughput, "NewWorkerThreadCount" => t.workers, "Reason" => t.reason,
                }
            })
        }
        (_, id::RUNTIME_INFORMATION) => clr::RuntimeInformation::parse(payload).map(|r| {
            view! {
                "ClrInstanceID" => r.clr_instance, "Sku" => r.sku, "BclMajorVersion" => r.bcl_version[0],
                "BclQfeNumber" => r.bcl_version[3], "VMMajorVersion" => r.vm_version[0],
                "VMQfeNumber" => r.vm_version[3], "StartupFlags" => r.startup_flags,
                "StartupMode" => r.startup_mode, "CommandLine" => r.command_line, "RuntimeDllPath" => r.runtime_dll,
            }
        }),
        _ => return None,
    })
}

/// The view of an event; the outer `None` if its kind has no view, the inner one if its payload is
/// too short.
pub(super) fn view_of(event: &RawEvent<'_>) -> Option<Option<View>> {
    if let Some(hook) = Hook::of(event) {
        return kernel(hook, event);
    }
    if event.kind.is_classic() {
        return merge_record(event);
    }
    if let Some(origin) = clr::origin(event) {
        return runtime(origin, event);
    }
    match event.provider() {
        KERNEL_PROCESS => kernel_process(event),
        net::KERNEL_NETWORK if net::provider_operation(event.descriptor().id).is_some() => {
            Some(network(event))
        }
        _ => None,
    }
}
