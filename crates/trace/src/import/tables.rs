//! Rows of the tables that are written while events are read.

use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table;

macro_rules! tables {
    ($($field:ident: $row:ident),+ $(,)?) => {
        /// One collector for each table.
        #[derive(Default)]
        pub(super) struct Tables {
            $(pub(super) $field: Out<table::$row>,)+
        }

        impl Tables {
            /// Hands on what is left.
            pub(super) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
                $(self.$field.flush(sink)?;)+
                Ok(())
            }
        }
    };
}

tables! {
    thread_affinity: ThreadAffinity,
    cpu_sample: CpuSample,
    context_switch: ContextSwitch,
    dpc_isr: DpcIsr,
    cpu_frequency: CpuFrequency,
    cpu_idle_state: CpuIdleState,
    cpu_parking: CpuParking,
    pmc: Pmc,
    pmc_sample: PmcSample,
    lbr: Lbr,
    disk_io: DiskIo,
    file_io: FileIo,
    hard_fault: HardFault,
    net_io: NetIo,
    dns_query: DnsQuery,
    tcp_connection: TcpConnection,
    tcp_retransmit: TcpRetransmit,
    tcp_event: TcpEvent,
    memory_sample: MemorySample,
    memory_machine: MemoryMachine,
    power_setting: PowerSetting,
    power_profile: PowerProfile,
    standby: Standby,
    logger: Logger,
    logger_event: LoggerEvent,
    registry_io: RegistryIo,
    syscall: Syscall,
    object: Object,
    handle: Handle,
    object_ref: ObjectRef,
    file_map: FileMap,
    virtual_alloc: VirtualAlloc,
    virtual_range: VirtualRange,
    user_lock: UserLock,
    gdi_user_object: GdiUserObject,
    ui_delay: UiDelay,
    focus_change: FocusChange,
    mark: Mark,
    exception: Exception,
    gc: Gc,
    jit: Jit,
    thread_pool: ThreadPool,
    generic_event: GenericEvent,
}
