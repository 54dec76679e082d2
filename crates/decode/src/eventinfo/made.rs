//! Construction of `TRACE_EVENT_INFO` records for tests.

/// One property; `kind` and `out` are start and number of the members of a struct.
#[derive(Clone, Default)]
pub(crate) struct Property {
    pub(crate) flags: u32,
    pub(crate) name: &'static str,
    pub(crate) kind: u16,
    pub(crate) out: u16,
    pub(crate) map: &'static str,
    pub(crate) count: u16,
    pub(crate) length: u16,
}

impl Property {
    pub(crate) fn new(name: &'static str, kind: u16) -> Self {
        Self {
            name,
            kind,
            count: 1,
            ..Self::default()
        }
    }
}

/// A record; empty texts are absent. `shared_name` is the name of properties that have none.
#[derive(Clone, Default)]
pub(crate) struct Info {
    pub(crate) id: u16,
    pub(crate) version: u8,
    pub(crate) opcode: u8,
    pub(crate) decoding: u32,
    pub(crate) task: &'static str,
    pub(crate) opcode_name: &'static str,
    pub(crate) top: u32,
    pub(crate) properties: Vec<Property>,
    pub(crate) shared_name: String,
}

impl Info {
    /// Provider GUID of ones, class GUID of twos.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut texts = Texts {
            at: 112 + 24 * self.properties.len(),
            bytes: Vec::new(),
        };
        let mut head = vec![0u8; 112];
        head[..16].fill(1);
        head[16..32].fill(2);
        head[32..34].copy_from_slice(&self.id.to_le_bytes());
        (head[34], head[37]) = (self.version, self.opcode);
        let shared = texts.add(&self.shared_name);
        let words = [
            (48, self.decoding),
            (52, texts.add("Made-Provider")),
            (68, texts.add(self.task)),
            (72, texts.add(self.opcode_name)),
            (100, self.properties.len() as u32),
            (104, self.top),
        ];
        for (at, word) in words {
            head[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        for property in &self.properties {
            let name = if property.name.is_empty() {
                shared
            } else {
                texts.add(property.name)
            };
            head.extend([property.flags, name].map(u32::to_le_bytes).concat());
            head.extend([property.kind, property.out].map(u16::to_le_bytes).concat());
            head.extend(texts.add(property.map).to_le_bytes());
            head.extend(
                [property.count, property.length, 0, 0]
                    .map(u16::to_le_bytes)
                    .concat(),
            );
        }
        head.extend(texts.bytes);
        head
    }
}

struct Texts {
    at: usize,
    bytes: Vec<u8>,
}

impl Texts {
    fn add(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let offset = self.at + self.bytes.len();
        self.bytes
            .extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        offset as u32
    }
}
