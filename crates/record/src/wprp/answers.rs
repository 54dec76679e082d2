//! The questions that a recording answers.

use super::{ProfileContent, Provider};

/// Questions of `etwkit dump`, and what each needs: keywords of the kernel, providers with keywords
/// that they need one of, or parts of the processor. `|` separates alternatives.
const NEEDS: &[(&str, &str)] = &[
    ("cpu", "SampledProfile"),
    ("overhead", "SampledProfile DPC"),
    ("dpc", "DPC Interrupt"),
    ("wait", "CSwitch"),
    ("start", "CSwitch"),
    ("cores", "CSwitch | IdleStates"),
    ("ready", "CSwitch ReadyThread"),
    ("critical-path", "CSwitch ReadyThread"),
    ("disk", "DiskIO"),
    ("hard-fault", "HardFaults"),
    ("page-fault", "AllFaults | MemoryPageFaults"),
    ("file", "FileIO FileIOInit"),
    ("mini-filter", "FilterIO FilterIOInit"),
    ("net", "NetworkTrace"),
    ("virtual-alloc", "VirtualAllocation"),
    ("memory", "MemoryInfo | MemoryInfoWS"),
    ("objectref", "Handle | Object"),
    ("registry", "Registry"),
    ("pool", "Pool"),
    ("heap", "(heaps)"),
    ("alpc", "Alpc"),
    ("syscall", "SystemCall"),
    ("exception", "Microsoft-Windows-DotNETRuntime:8000"),
    ("gc", "Microsoft-Windows-DotNETRuntime:1"),
    ("jit", "Microsoft-Windows-DotNETRuntime:10"),
    ("thread-pool", "Microsoft-Windows-DotNETRuntime:10000"),
    ("dns", "Microsoft-Windows-DNS-Client"),
    ("tcp", "Microsoft-Windows-TCPIP"),
    ("ui-delay", "Microsoft-Windows-Win32k:42000"),
    ("focus", "Microsoft-Windows-Win32k:42000"),
    ("user-lock", "Microsoft-Windows-Win32k:10000000"),
    ("gdi-user", "Microsoft-Windows-Win32k:30000000000"),
    (
        "power",
        "Microsoft-Windows-Kernel-Processor-Power | Microsoft-Windows-Kernel-Power",
    ),
    ("timer", "Microsoft-Windows-Kernel-Power"),
    ("pmc", "(counters)"),
    ("lbr", "(branches)"),
    ("events", "(providers)"),
];

/// Providers by GUID or another name: profiles have either.
const ALIASES: &[(&str, &str)] = &[
    (
        "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
        "Microsoft-Windows-DotNETRuntime",
    ),
    // The name that wpr has for it.
    ("DotNetProvider", "Microsoft-Windows-DotNETRuntime"),
    (
        "1c95126e-7eea-49a9-a3fe-a378b03ddb4d",
        "Microsoft-Windows-DNS-Client",
    ),
    (
        "2f07e2ee-15db-40f1-90ef-9d7ba282188a",
        "Microsoft-Windows-TCPIP",
    ),
    (
        "8c416c79-d49b-4f01-a467-e56d3aa8234c",
        "Microsoft-Windows-Win32k",
    ),
    (
        "0f67e49f-fe51-4e9f-b490-6f2948cc6027",
        "Microsoft-Windows-Kernel-Processor-Power",
    ),
    (
        "331c3b3a-2005-44c2-ac5e-77220c37d6b4",
        "Microsoft-Windows-Kernel-Power",
    ),
];

/// The questions that a recording with a profile answers.
#[must_use]
pub fn answers(of: &ProfileContent) -> Vec<&'static str> {
    let is_met = |needs: &&(&str, &str)| {
        let mut ways = needs.1.split(" | ");
        ways.any(|way| way.split(' ').all(|need| has(of, need)))
    };
    NEEDS
        .iter()
        .filter(is_met)
        .map(|(question, _)| *question)
        .collect()
}

fn has(of: &ProfileContent, need: &str) -> bool {
    match need {
        "(counters)" => !of.counters.is_empty(),
        "(branches)" => of.branches,
        "(heaps)" => of.heaps,
        "(providers)" => !of.providers.is_empty(),
        need => {
            let (name, mask) = need.split_once(':').unwrap_or((need, ""));
            let mask = u64::from_str_radix(mask, 16).unwrap_or(u64::MAX);
            let is_it = |known: &str| {
                let alias = ALIASES
                    .iter()
                    .find(|(alias, _)| alias.eq_ignore_ascii_case(known));
                let known = alias.map_or(known, |(_, name)| *name);
                known.eq_ignore_ascii_case(name)
            };
            let mut providers = of.providers.iter().filter(|(known, _)| is_it(known));
            of.kernel.contains(need) || providers.any(|(_, how)| is_enabled(*how, mask))
        }
    }
}

/// Returns `true` for a provider that is enabled with one of these keywords.
const fn is_enabled(how: Provider, mask: u64) -> bool {
    !how.state_only && (how.keywords == 0 || how.keywords & mask != 0)
}
