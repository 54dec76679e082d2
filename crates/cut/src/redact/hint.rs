//! The kind of a text, by the name of its field.

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Hint {
    /// Anything: a path, a line, a word.
    Text,
    /// A command line.
    Command,
    /// Names of hosts and addresses.
    Host,
    /// A path in the registry, or a part of it.
    Key,
    /// A name space, class or signature, which may have types of others in brackets.
    Code,
    /// The name of a method without its class.
    Method,
    /// A text that is replaced as a whole, with the kind of its substitutes.
    Whole(&'static str),
    /// A version of a program or system.
    Version,
    /// A name of hardware that many computers have.
    Hardware,
}

/// Ends of names of fields, in lower case, and the kind of their texts. The first one counts.
const ENDS: &[(&str, Hint)] = &[
    ("commandline", Hint::Command),
    ("cmdline", Hint::Command),
    ("arguments", Hint::Command),
    ("queryname", Hint::Host),
    ("queryresults", Hint::Host),
    ("serverlist", Hint::Host),
    ("servername", Hint::Host),
    ("serveraddress", Hint::Host),
    ("serveraddresses", Hint::Host),
    ("ipaddress", Hint::Host),
    ("ipaddresses", Hint::Host),
    ("localaddress", Hint::Host),
    ("actualserver", Hint::Host),
    ("originalserver", Hint::Host),
    ("hostname", Hint::Host),
    ("computername", Hint::Host),
    ("machinename", Hint::Host),
    ("domainname", Hint::Host),
    ("dnsname", Hint::Host),
    ("keyname", Hint::Key),
    ("valuename", Hint::Key),
    ("relativename", Hint::Key),
    ("companyname", Hint::Whole("company")),
    ("manufacturer", Hint::Whole("company")),
    ("vendorname", Hint::Whole("company")),
    ("productname", Hint::Whole("product")),
    ("filedescription", Hint::Whole("description")),
    ("devicedescription", Hint::Whole("device")),
    ("friendlyname", Hint::Whole("device")),
    ("adaptername", Hint::Whole("adapter")),
    ("nicname", Hint::Whole("adapter")),
    ("nicdescription", Hint::Whole("adapter")),
    ("adapterstring", Hint::Whole("adapter")),
    ("alias", Hint::Whole("adapter")),
    ("username", Hint::Whole("user")),
    ("sessionname", Hint::Whole("session")),
    ("loggername", Hint::Whole("session")),
    ("servicename", Hint::Whole("service")),
    ("displayname", Hint::Whole("service")),
    ("svchostgroup", Hint::Whole("service")),
    ("loadordergroup", Hint::Whole("service")),
    ("methodname", Hint::Method),
    ("methodnamespace", Hint::Code),
    ("methodsignature", Hint::Code),
    ("typename", Hint::Code),
    ("classname", Hint::Code),
    ("exceptiontype", Hint::Code),
    ("methodbeingcompilednamespace", Hint::Code),
    ("methodbeingcompiledname", Hint::Method),
    ("methodbeingcompiledsignature", Hint::Code),
    ("inlinernamespace", Hint::Code),
    ("inlinername", Hint::Method),
    ("inlineenamespace", Hint::Code),
    ("inlineename", Hint::Method),
    ("fullyqualifiedassemblyname", Hint::Code),
    ("buildstring", Hint::Version),
    ("buildlab", Hint::Version),
    ("fileversion", Hint::Version),
    ("binfileversion", Hint::Version),
    ("productversion", Hint::Version),
    ("verlanguage", Hint::Version),
    ("processorname", Hint::Hardware),
    ("vendoridentifier", Hint::Hardware),
    ("processoridentifier", Hint::Hardware),
];

impl Hint {
    /// The kind of the texts of a field.
    pub(super) fn of(field: &str) -> Self {
        let lower = field.to_ascii_lowercase();
        ENDS.iter()
            .find(|(end, _)| lower.ends_with(end))
            .map_or(Self::Text, |(_, hint)| *hint)
    }
}
