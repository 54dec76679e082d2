//! The answer to an address.

/// The symbol of a module at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Name with namespaces and type, without parameters and return type:
    /// `std::vector<int>::push_back`.
    pub name: String,
    /// The decorated name, if the symbol file has it: `?push_back@?$vector@H@std@@QEAAXH@Z`.
    pub decorated: Option<String>,
    /// Start of the function, in bytes from the base of the module.
    pub start_rva: u32,
    /// Bytes, if the symbol file has them; public symbols have none.
    pub size: Option<u32>,
    /// True if the name is the nearest public symbol below, which has no end.
    pub is_public: bool,
    /// Source file of the function at the address. With inlined calls, it is the file of the
    /// outermost call.
    pub file: Option<String>,
    /// Line in it, counted from 1.
    pub line: Option<u32>,
    /// Functions inlined at the address, innermost first. Empty for most addresses.
    pub inlined: Vec<Inlined>,
}

/// A function that the compiler inlined into another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inlined {
    /// Name, in the form of [`Symbol::name`].
    pub name: String,
    /// Source file at the address.
    pub file: Option<String>,
    /// Line in it, counted from 1.
    pub line: Option<u32>,
}

impl Symbol {
    /// The full declaration with parameters, if the symbol file has the decorated name.
    #[must_use]
    pub fn signature(&self) -> Option<String> {
        self.decorated
            .as_deref()
            .and_then(crate::undecorate::signature)
    }
}
