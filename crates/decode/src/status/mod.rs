//! Names of the codes that Windows returns: NTSTATUS, Win32 errors, HRESULT, and codes of network
//! drivers.
//!
//! The tables contain codes that occur in traces, not all codes: a code without a name here is
//! shown as a number.

mod nt;
mod win32;

/// HRESULT codes of COM; codes that wrap Win32 errors (`0x8007….`) have the names of the errors.
const HRESULTS: &[(u32, &str)] = &[
    (0x0000_0000, "S_OK"),
    (0x0000_0001, "S_FALSE"),
    (0x8000_000A, "E_PENDING"),
    (0x8000_000B, "E_BOUNDS"),
    (0x8000_4001, "E_NOTIMPL"),
    (0x8000_4002, "E_NOINTERFACE"),
    (0x8000_4003, "E_POINTER"),
    (0x8000_4004, "E_ABORT"),
    (0x8000_4005, "E_FAIL"),
    (0x8000_FFFF, "E_UNEXPECTED"),
    (0x8001_0108, "RPC_E_DISCONNECTED"),
    (0x8001_010E, "RPC_E_WRONG_THREAD"),
    (0x8004_0111, "CLASS_E_CLASSNOTAVAILABLE"),
    (0x8004_0154, "REGDB_E_CLASSNOTREG"),
    (0x8004_01F0, "CO_E_NOTINITIALIZED"),
];

/// Return codes of network drivers in addition to NTSTATUS codes, from the NDIS reference.
const NDIS_STATUSES: &[(u32, &str)] = &[
    (0x0000_0000, "NDIS_STATUS_SUCCESS"),
    (0x0000_0103, "NDIS_STATUS_PENDING"),
    (0x4001_000B, "NDIS_STATUS_MEDIA_CONNECT"),
    (0x4001_000C, "NDIS_STATUS_MEDIA_DISCONNECT"),
    (0xC000_0001, "NDIS_STATUS_FAILURE"),
    (0xC000_009A, "NDIS_STATUS_RESOURCES"),
    (0xC000_00BB, "NDIS_STATUS_NOT_SUPPORTED"),
    (0xC001_0014, "NDIS_STATUS_INVALID_LENGTH"),
    (0xC001_0015, "NDIS_STATUS_INVALID_DATA"),
];

/// Object identifiers of network drivers, from the NDIS reference.
const NDIS_OIDS: &[(u32, &str)] = &[
    (0x0001_0101, "OID_GEN_SUPPORTED_LIST"),
    (0x0001_0102, "OID_GEN_HARDWARE_STATUS"),
    (0x0001_0103, "OID_GEN_MEDIA_SUPPORTED"),
    (0x0001_0104, "OID_GEN_MEDIA_IN_USE"),
    (0x0001_0106, "OID_GEN_MAXIMUM_FRAME_SIZE"),
    (0x0001_0107, "OID_GEN_LINK_SPEED"),
    (0x0001_010E, "OID_GEN_CURRENT_PACKET_FILTER"),
    (0x0001_0114, "OID_GEN_MEDIA_CONNECT_STATUS"),
];

fn find(names: &'static [(u32, &'static str)], code: u32) -> Option<&'static str> {
    let at = names.binary_search_by_key(&code, |(code, _)| *code).ok()?;
    names.get(at).map(|(_, name)| *name)
}

/// Name of an NTSTATUS code, without `STATUS_`.
#[must_use]
pub fn nt(code: u32) -> Option<&'static str> {
    find(nt::NAMES, code)
}

/// Returns all NTSTATUS codes that have a name here, with their names as in [`nt`].
pub fn nt_names() -> impl Iterator<Item = (u32, &'static str)> {
    nt::NAMES.iter().copied()
}

/// Returns all Win32 errors that have a name here, with their names as in [`win32`].
pub fn win32_names() -> impl Iterator<Item = (u32, &'static str)> {
    win32::NAMES.iter().copied()
}

/// Name of a Win32 error, without `ERROR_`.
#[must_use]
pub fn win32(code: u32) -> Option<&'static str> {
    find(win32::NAMES, code)
}

/// Name of an NTSTATUS code as the headers of Windows have it.
#[must_use]
pub fn nt_constant(code: u32) -> Option<String> {
    nt(code).map(|name| with_prefix("STATUS_", name, &["DBG_", "RPC_NT_", "EPT_NT_"]))
}

/// Name of a Win32 error as the headers of Windows have it.
#[must_use]
pub fn win32_constant(code: u32) -> Option<String> {
    win32(code).map(|name| with_prefix("ERROR_", name, &["DNS_", "EPT_", "RPC_", "WAIT_", "WSA"]))
}

fn with_prefix(prefix: &str, name: &str, others: &[&str]) -> String {
    // Some libraries of Windows have a prefix of their own.
    let has_own = others.iter().any(|own| name.starts_with(own)) && name != "WAIT_NO_CHILDREN";
    if has_own {
        name.to_owned()
    } else {
        format!("{prefix}{name}")
    }
}

/// Name of an HRESULT in the headers of Windows; a code that wraps a Win32 error has the name of
/// the error.
#[must_use]
pub fn hresult_constant(code: u32) -> Option<String> {
    const WIN32: u32 = 0x8007_0000;
    if code & 0xFFFF_0000 == WIN32 {
        return win32_constant(code & 0xFFFF);
    }
    find(HRESULTS, code).map(str::to_owned)
}

/// Name of a status of a network driver.
#[must_use]
pub fn ndis_constant(code: u32) -> Option<&'static str> {
    find(NDIS_STATUSES, code)
}

/// Name of an object identifier of a network driver.
#[must_use]
pub fn ndis_oid_constant(code: u32) -> Option<&'static str> {
    find(NDIS_OIDS, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for names in [nt::NAMES, win32::NAMES, HRESULTS, NDIS_STATUSES, NDIS_OIDS] {
            assert!(names.is_sorted_by(|a, b| a.0 < b.0));
        }
    }

    #[test]
    fn codes_have_the_names_of_the_headers() {
        assert_eq!(
            nt_constant(0xC000_0022).as_deref(),
            Some("STATUS_ACCESS_DENIED")
        );
        assert_eq!(win32_constant(5).as_deref(), Some("ERROR_ACCESS_DENIED"));
        assert_eq!(win32_constant(258).as_deref(), Some("WAIT_TIMEOUT"));
        assert_eq!(
            win32_constant(128).as_deref(),
            Some("ERROR_WAIT_NO_CHILDREN")
        );
        assert_eq!(
            win32_constant(9003).as_deref(),
            Some("DNS_ERROR_RCODE_NAME_ERROR")
        );
        assert_eq!(
            hresult_constant(0x8007_0005).as_deref(),
            Some("ERROR_ACCESS_DENIED")
        );
        assert_eq!(hresult_constant(0x8000_4003).as_deref(), Some("E_POINTER"));
        assert_eq!(
            (nt(0xCFFF_FFFF), win32(77), hresult_constant(0x8123_4567)),
            (None, None, None)
        );
    }
}
