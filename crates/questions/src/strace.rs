//! System calls as lines, in the format of strace.

use super::syscall::{SyscallCall, function_name};

/// Formats a call as a line: process and thread, time of the entry, function, result and time
/// between entry and exit.
#[must_use]
pub fn call_line(call: &SyscallCall) -> String {
    let pid = call
        .pid
        .map_or_else(|| "?".to_owned(), |pid| pid.to_string());
    let tid = call
        .tid
        .map_or_else(|| "?".to_owned(), |tid| tid.to_string());
    let time = call
        .enter_ns
        .or(call.exit_ns)
        .map_or_else(|| "?".to_owned(), seconds);
    let name = function_name(call.module.as_deref(), call.function.as_deref());
    let text = match (call.enter_ns, call.exit_ns) {
        (Some(_), None) => format!("{name}({} <unfinished ...>", about(call)),
        (None, _) => format!("<... call resumed>) = {}", status(call)),
        (Some(_), Some(_)) => format!("{name}({}) = {}", about(call), status(call)),
    };
    let took = call
        .duration_ns
        .map_or_else(String::new, |ns| format!(" <{}>", seconds(ns)));
    format!("[pid {pid}/{tid}] {time} {text}{took}")
}

/// Returns the arguments that other events show: a file, a registry key, a handle.
fn about(call: &SyscallCall) -> String {
    let named = call
        .path
        .as_ref()
        .or(call.key.as_ref())
        .map(|name| format!("\"{name}\""));
    named.unwrap_or_else(|| {
        call.handle
            .map_or_else(String::new, |handle| format!("{handle:#x}"))
    })
}

fn status(call: &SyscallCall) -> String {
    let number = call.status.map(|status| format!("{:#x}", status as u32));
    match (number, &call.status_name) {
        (Some(number), Some(name)) if *name != number => format!("{number} {name}"),
        (Some(number), _) => number,
        (None, _) => "?".to_owned(),
    }
}

/// Formats seconds with microseconds.
#[must_use]
pub fn seconds(ns: i64) -> String {
    let us = ns.div_euclid(1000);
    format!(
        "{}.{:06}",
        us.div_euclid(1_000_000),
        us.rem_euclid(1_000_000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_look_like_those_of_strace() {
        let call = SyscallCall {
            enter_ns: Some(1_500_000_999),
            exit_ns: Some(1_500_045_000),
            duration_ns: Some(44_001),
            pid: Some(4),
            tid: Some(8),
            function: Some("NtCreateFile".into()),
            status: Some(i64::from(0xC000_0022_u32.cast_signed())),
            status_name: Some("ACCESS_DENIED".into()),
            ..SyscallCall::default()
        };
        assert_eq!(
            call_line(&call),
            "[pid 4/8] 1.500000 NtCreateFile() = 0xc0000022 ACCESS_DENIED <0.000044>"
        );
        let named = SyscallCall {
            path: Some(r"C:\a.txt".into()),
            handle: Some(0x44),
            ..call.clone()
        };
        assert!(
            call_line(&named).contains(r#"NtCreateFile("C:\a.txt") = 0xc0000022"#),
            "{}",
            call_line(&named)
        );
        let closed = SyscallCall {
            handle: Some(0x44),
            ..call.clone()
        };
        assert!(
            call_line(&closed).contains("NtCreateFile(0x44) = "),
            "{}",
            call_line(&closed)
        );
        let open = SyscallCall {
            exit_ns: None,
            duration_ns: None,
            status: None,
            ..call.clone()
        };
        assert_eq!(
            call_line(&open),
            "[pid 4/8] 1.500000 NtCreateFile( <unfinished ...>"
        );
        let late = SyscallCall {
            enter_ns: None,
            duration_ns: None,
            function: None,
            pid: None,
            ..call
        };
        assert_eq!(
            call_line(&late),
            "[pid ?/8] 1.500045 <... call resumed>) = 0xc0000022 ACCESS_DENIED"
        );
    }
}
