//! Names of the Win32 errors that name resolution ends with.

/// Codes and names, sorted by code; documented in MS-ERREF and in the reference of system error codes.
const NAMES: &[(i32, &str)] = &[
    (0, "SUCCESS"),
    (5, "ACCESS_DENIED"),
    (8, "NOT_ENOUGH_MEMORY"),
    (13, "INVALID_DATA"),
    (14, "OUTOFMEMORY"),
    (50, "NOT_SUPPORTED"),
    (87, "INVALID_PARAMETER"),
    (122, "INSUFFICIENT_BUFFER"),
    (123, "INVALID_NAME"),
    (995, "OPERATION_ABORTED"),
    (1168, "NOT_FOUND"),
    (1214, "INVALID_NETNAME"),
    (1222, "NO_NETWORK"),
    (1223, "CANCELLED"),
    (1231, "NETWORK_UNREACHABLE"),
    (1232, "HOST_UNREACHABLE"),
    (1460, "TIMEOUT"),
    (1722, "RPC_S_SERVER_UNAVAILABLE"),
    (9001, "DNS_ERROR_RCODE_FORMAT_ERROR"),
    (9002, "DNS_ERROR_RCODE_SERVER_FAILURE"),
    (9003, "DNS_ERROR_RCODE_NAME_ERROR"),
    (9004, "DNS_ERROR_RCODE_NOT_IMPLEMENTED"),
    (9005, "DNS_ERROR_RCODE_REFUSED"),
    (9006, "DNS_ERROR_RCODE_YXDOMAIN"),
    (9007, "DNS_ERROR_RCODE_YXRRSET"),
    (9008, "DNS_ERROR_RCODE_NXRRSET"),
    (9009, "DNS_ERROR_RCODE_NOTAUTH"),
    (9010, "DNS_ERROR_RCODE_NOTZONE"),
    (9016, "DNS_ERROR_RCODE_BADSIG"),
    (9017, "DNS_ERROR_RCODE_BADKEY"),
    (9018, "DNS_ERROR_RCODE_BADTIME"),
    (9501, "DNS_INFO_NO_RECORDS"),
    (9502, "DNS_ERROR_BAD_PACKET"),
    (9503, "DNS_ERROR_NO_PACKET"),
    (9504, "DNS_ERROR_RCODE"),
    (9505, "DNS_ERROR_UNSECURE_PACKET"),
    (9506, "DNS_REQUEST_PENDING"),
    (9551, "DNS_ERROR_INVALID_TYPE"),
    (9552, "DNS_ERROR_INVALID_IP_ADDRESS"),
    (9553, "DNS_ERROR_INVALID_PROPERTY"),
    (9554, "DNS_ERROR_TRY_AGAIN_LATER"),
    (9555, "DNS_ERROR_NOT_UNIQUE"),
    (9556, "DNS_ERROR_NON_RFC_NAME"),
    (9557, "DNS_STATUS_FQDN"),
    (9558, "DNS_STATUS_DOTTED_NAME"),
    (9559, "DNS_STATUS_SINGLE_PART_NAME"),
    (9560, "DNS_ERROR_INVALID_NAME_CHAR"),
    (9561, "DNS_ERROR_NUMERIC_NAME"),
    (9701, "DNS_ERROR_RECORD_DOES_NOT_EXIST"),
    (9702, "DNS_ERROR_RECORD_FORMAT"),
    (10060, "WSAETIMEDOUT"),
    (11001, "WSAHOST_NOT_FOUND"),
    (11002, "WSATRY_AGAIN"),
    (11003, "WSANO_RECOVERY"),
    (11004, "WSANO_DATA"),
];

/// The name of an error; its number if it has none here.
#[must_use]
pub fn win32_error_name(code: i32) -> String {
    let at = NAMES.binary_search_by_key(&code, |(code, _)| *code).ok();
    let name = at.and_then(|at| NAMES.get(at)).map(|(_, name)| *name);
    name.map_or_else(|| code.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found() {
        assert!(NAMES.is_sorted());
        assert_eq!(win32_error_name(9003), "DNS_ERROR_RCODE_NAME_ERROR");
        assert_eq!((win32_error_name(0), win32_error_name(77)), ("SUCCESS".into(), "77".into()));
    }
}
