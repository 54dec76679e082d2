//! Names of NTSTATUS codes that processes end with, and that file systems, the registry and system calls return.

/// Codes and names, sorted by code; documented in the protocol specification MS-ERREF. The last two are those of runtimes.
const NAMES: &[(u32, &str)] = &[
    (0x0000_0000, "SUCCESS"),
    (0x0000_0080, "ABANDONED"),
    (0x0000_00C0, "USER_APC"),
    (0x0000_0101, "ALERTED"),
    (0x0000_0102, "TIMEOUT"),
    (0x0000_0103, "PENDING"),
    (0x0000_0104, "REPARSE"),
    (0x0000_0105, "MORE_ENTRIES"),
    (0x0000_010B, "NOTIFY_CLEANUP"),
    (0x0000_010C, "NOTIFY_ENUM_DIR"),
    (0x4000_0000, "OBJECT_NAME_EXISTS"),
    (0x8000_0001, "GUARD_PAGE_VIOLATION"),
    (0x8000_0002, "DATATYPE_MISALIGNMENT"),
    (0x8000_0003, "BREAKPOINT"),
    (0x8000_0004, "SINGLE_STEP"),
    (0x8000_0005, "BUFFER_OVERFLOW"),
    (0x8000_0006, "NO_MORE_FILES"),
    (0x8000_001A, "NO_MORE_ENTRIES"),
    (0x8000_002D, "STOPPED_ON_SYMLINK"),
    (0xC000_0001, "UNSUCCESSFUL"),
    (0xC000_0002, "NOT_IMPLEMENTED"),
    (0xC000_0003, "INVALID_INFO_CLASS"),
    (0xC000_0004, "INFO_LENGTH_MISMATCH"),
    (0xC000_0005, "ACCESS_VIOLATION"),
    (0xC000_0006, "IN_PAGE_ERROR"),
    (0xC000_0008, "INVALID_HANDLE"),
    (0xC000_000D, "INVALID_PARAMETER"),
    (0xC000_000E, "NO_SUCH_DEVICE"),
    (0xC000_000F, "NO_SUCH_FILE"),
    (0xC000_0010, "INVALID_DEVICE_REQUEST"),
    (0xC000_0011, "END_OF_FILE"),
    (0xC000_0017, "NO_MEMORY"),
    (0xC000_0018, "CONFLICTING_ADDRESSES"),
    (0xC000_001D, "ILLEGAL_INSTRUCTION"),
    (0xC000_0021, "ALREADY_COMMITTED"),
    (0xC000_0022, "ACCESS_DENIED"),
    (0xC000_0023, "BUFFER_TOO_SMALL"),
    (0xC000_0024, "OBJECT_TYPE_MISMATCH"),
    (0xC000_0025, "NONCONTINUABLE_EXCEPTION"),
    (0xC000_0033, "OBJECT_NAME_INVALID"),
    (0xC000_0034, "OBJECT_NAME_NOT_FOUND"),
    (0xC000_0035, "OBJECT_NAME_COLLISION"),
    (0xC000_0039, "OBJECT_PATH_INVALID"),
    (0xC000_003A, "OBJECT_PATH_NOT_FOUND"),
    (0xC000_003B, "OBJECT_PATH_SYNTAX_BAD"),
    (0xC000_0040, "SECTION_TOO_BIG"),
    (0xC000_0043, "SHARING_VIOLATION"),
    (0xC000_0045, "INVALID_PAGE_PROTECTION"),
    (0xC000_0046, "MUTANT_NOT_OWNED"),
    (0xC000_0047, "SEMAPHORE_LIMIT_EXCEEDED"),
    (0xC000_004B, "THREAD_IS_TERMINATING"),
    (0xC000_004E, "SECTION_PROTECTION"),
    (0xC000_0054, "FILE_LOCK_CONFLICT"),
    (0xC000_0055, "LOCK_NOT_GRANTED"),
    (0xC000_0056, "DELETE_PENDING"),
    (0xC000_0061, "PRIVILEGE_NOT_HELD"),
    (0xC000_006D, "LOGON_FAILURE"),
    (0xC000_007C, "NO_TOKEN"),
    (0xC000_007F, "DISK_FULL"),
    (0xC000_0089, "RESOURCE_DATA_NOT_FOUND"),
    (0xC000_008C, "ARRAY_BOUNDS_EXCEEDED"),
    (0xC000_008E, "FLOAT_DIVIDE_BY_ZERO"),
    (0xC000_0094, "INTEGER_DIVIDE_BY_ZERO"),
    (0xC000_0095, "INTEGER_OVERFLOW"),
    (0xC000_0096, "PRIVILEGED_INSTRUCTION"),
    (0xC000_009A, "INSUFFICIENT_RESOURCES"),
    (0xC000_00A0, "MEMORY_NOT_ALLOCATED"),
    (0xC000_00A2, "MEDIA_WRITE_PROTECTED"),
    (0xC000_00B5, "IO_TIMEOUT"),
    (0xC000_00BA, "FILE_IS_A_DIRECTORY"),
    (0xC000_00BB, "NOT_SUPPORTED"),
    (0xC000_00BE, "BAD_NETWORK_PATH"),
    (0xC000_00C9, "NETWORK_NAME_DELETED"),
    (0xC000_00CC, "BAD_NETWORK_NAME"),
    (0xC000_00FD, "STACK_OVERFLOW"),
    (0xC000_0101, "DIRECTORY_NOT_EMPTY"),
    (0xC000_0103, "NOT_A_DIRECTORY"),
    (0xC000_010A, "PROCESS_IS_TERMINATING"),
    (0xC000_0120, "CANCELLED"),
    (0xC000_0121, "CANNOT_DELETE"),
    (0xC000_0123, "FILE_DELETED"),
    (0xC000_0128, "FILE_CLOSED"),
    (0xC000_0135, "DLL_NOT_FOUND"),
    (0xC000_0138, "ORDINAL_NOT_FOUND"),
    (0xC000_0139, "ENTRYPOINT_NOT_FOUND"),
    (0xC000_013A, "CONTROL_C_EXIT"),
    (0xC000_0142, "DLL_INIT_FAILED"),
    (0xC000_014B, "PIPE_BROKEN"),
    (0xC000_0194, "POSSIBLE_DEADLOCK"),
    (0xC000_0225, "NOT_FOUND"),
    (0xC000_0275, "NOT_A_REPARSE_POINT"),
    (0xC000_0279, "IO_REPARSE_TAG_NOT_HANDLED"),
    (0xC000_0354, "DEBUGGER_INACTIVE"),
    (0xC000_0374, "HEAP_CORRUPTION"),
    (0xC000_0409, "STACK_BUFFER_OVERRUN"),
    (0xC000_0417, "INVALID_CRUNTIME_PARAMETER"),
    (0xC000_0420, "ASSERTION_FAILURE"),
    (0xC000_0428, "INVALID_IMAGE_HASH"),
    (0xC000_0602, "FAIL_FAST_EXCEPTION"),
    (0xE043_4352, "DOTNET_EXCEPTION"),
    (0xE06D_7363, "CPP_EXCEPTION"),
];

/// The name of a warning or error.
#[must_use]
pub fn error_name(code: i32) -> Option<&'static str> {
    if code < 0 { status_name(code) } else { None }
}

/// The name of a status, successes included.
#[must_use]
pub fn status_name(code: i32) -> Option<&'static str> {
    let at = NAMES.binary_search_by_key(&code.cast_unsigned(), |(code, _)| *code).ok()?;
    NAMES.get(at).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found() {
        assert!(NAMES.is_sorted());
        assert_eq!(error_name(-1_073_741_819), Some("ACCESS_VIOLATION"));
        assert_eq!((error_name(0), error_name(-1)), (None, None));
        assert_eq!((status_name(0), status_name(0x102)), (Some("SUCCESS"), Some("TIMEOUT")));
    }
}
