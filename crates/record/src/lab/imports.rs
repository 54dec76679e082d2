//! The tables of a program for Windows that list the library functions it calls, by the documented
//! PE format: imports, which the loader resolves before the program runs, and delayed imports,
//! which are resolved at the first call.

/// A function of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) library: &'static str,
    pub(crate) name: &'static str,
}

/// Consecutive bytes of a section, at addresses relative to the program.
#[derive(Debug)]
pub(crate) struct Data {
    begin: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Address and size of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tables {
    pub(crate) address: u32,
    pub(crate) size: u32,
}

impl Data {
    /// Creates data that start at that address.
    pub(crate) const fn new(begin: u32, bytes: Vec<u8>) -> Self {
        Self { begin, bytes }
    }

    /// Adds bytes at the next address that is divisible by eight. Returns the address.
    fn add(&mut self, bytes: &[u8]) -> u32 {
        // 64-bit addresses in the tables have to be aligned; for names this does no harm.
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let address = self.begin + self.bytes.len() as u32;
        self.bytes.extend(bytes);
        address
    }

    fn add_name(&mut self, name: &str) -> u32 {
        self.add(&[name.as_bytes(), &[0]].concat())
    }

    /// Adds addresses of eight bytes and the terminating 0.
    fn add_addresses(&mut self, addresses: &[u64]) -> u32 {
        let bytes: Vec<u8> = addresses
            .iter()
            .chain(&[0])
            .flat_map(|address| address.to_le_bytes())
            .collect();
        self.add(&bytes)
    }

    /// Adds the names of functions, each after a hint, and the table of their addresses. Returns
    /// the address and the entries of that table.
    fn add_functions(&mut self, functions: &[Function]) -> (u32, Vec<u64>) {
        // The hint only speeds up the search of the loader: 0 makes it search by name.
        let hint = [0, 0];
        let names: Vec<u64> = functions
            .iter()
            .map(|function| {
                self.add(&[&hint[..], function.name.as_bytes(), &[0]].concat())
                    .into()
            })
            .collect();
        (self.add_addresses(&names), names)
    }

    /// Adds the functions that the loader resolves. Returns the tables and the slot for the address
    /// of each function.
    pub(crate) fn import(&mut self, functions: &[Function]) -> (Tables, Vec<u32>) {
        let mut descriptors = Vec::new();
        let mut slots = vec![0; functions.len()];
        for library in libraries(functions) {
            let of_library: Vec<Function> = functions
                .iter()
                .copied()
                .filter(|function| function.library == library)
                .collect();
            let name = self.add_name(library);
            let (lookup, entries) = self.add_functions(&of_library);
            let addresses = self.add_addresses(&entries);
            for (slot, function) in slots.iter_mut().zip(functions) {
                if let Some(at) = of_library.iter().position(|own| own == function) {
                    *slot = addresses + at as u32 * 8;
                }
            }
            // IMAGE_IMPORT_DESCRIPTOR: names, time, forwarder, library, addresses.
            descriptors.extend(
                [lookup, 0, 0, name, addresses]
                    .iter()
                    .flat_map(|value| value.to_le_bytes()),
            );
        }
        (self.add_descriptors(descriptors, 20), slots)
    }

    /// Adds functions that are resolved at their first call; until then their address is the given
    /// one.
    pub(crate) fn import_delayed(&mut self, functions: &[Function], until: u64) -> Tables {
        let mut descriptors = Vec::new();
        for library in libraries(functions) {
            let of_library: Vec<Function> = functions
                .iter()
                .copied()
                .filter(|function| function.library == library)
                .collect();
            let name = self.add_name(library);
            let (lookup, entries) = self.add_functions(&of_library);
            let addresses = self.add_addresses(&vec![until; entries.len()]);
            // The helper that loads the library keeps its handle there.
            let handle = self.add(&[0; 8]);
            // IMAGE_DELAYLOAD_DESCRIPTOR: the fields are relative to the program; library, its
            // handle, addresses, names; nothing is bound or unloaded, no time.
            let fields = [1, name, handle, addresses, lookup, 0, 0, 0];
            descriptors.extend(fields.iter().flat_map(|value: &u32| value.to_le_bytes()));
        }
        self.add_descriptors(descriptors, 32)
    }

    /// Adds descriptors of that size and the terminating empty one.
    fn add_descriptors(&mut self, mut descriptors: Vec<u8>, each: usize) -> Tables {
        if descriptors.is_empty() {
            return Tables::default();
        }
        descriptors.resize(descriptors.len() + each, 0);
        Tables {
            address: self.add(&descriptors),
            size: descriptors.len() as u32,
        }
    }
}

/// Returns each library once, in the order of the functions.
fn libraries(functions: &[Function]) -> Vec<&'static str> {
    let mut libraries: Vec<&str> = Vec::new();
    for function in functions {
        if !libraries.contains(&function.library) {
            libraries.push(function.library);
        }
    }
    libraries
}
