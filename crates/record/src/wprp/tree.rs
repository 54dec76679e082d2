//! The elements of a file.

use etwkit_trace::xml::{Node, Nodes, Text, Warnings};

/// Limits of a file. Known ones have some thousand elements, eight levels deep.
const MAX_BYTES: usize = 16 << 20;
const MAX_ELEMENTS: usize = 100_000;
const MAX_DEPTH: usize = 32;
const MAX_VALUE: usize = 4096;

/// Bytes that an element weighs without its texts.
const ELEMENT: usize = 64;

/// An element with its content.
#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// Byte of the text where it starts.
    pub(super) at: usize,
    /// Bytes that it takes, with all in it.
    pub(super) weight: usize,
}

impl Element {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The value of an attribute, without spaces around it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let is_named = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        let value = self.attributes.iter().find(is_named)?.1.trim();
        Some(value).filter(|value| !value.is_empty())
    }

    /// Its children of a name.
    pub(super) fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| child.is(name))
    }

    /// The values of the elements of a name in those of another name.
    pub(super) fn values<'e>(
        &'e self,
        list: &'e str,
        name: &'e str,
    ) -> impl Iterator<Item = (&'e str, &'e Self)> {
        let all = self.all(list).flat_map(move |list| list.all(name));
        all.filter_map(|element| Some((element.get("Value")?, element)))
    }
}

/// The text of a file, for the places of warnings.
#[derive(Debug)]
pub(super) struct File<'f> {
    name: &'f str,
    text: String,
}

impl<'f> File<'f> {
    /// Reads the tree of a file; the document is an element around all others.
    pub(super) fn read(
        name: &'f str,
        bytes: &[u8],
        warnings: &mut Warnings,
    ) -> Result<(Self, Element), String> {
        if bytes.len() > MAX_BYTES {
            let most = MAX_BYTES >> 20;
            return Err(format!(
                "expected at most {most} MiB, found {} bytes",
                bytes.len()
            ));
        }
        let text = Text::decode(bytes);
        let Text { text, doubts } = text.ok_or("expected text in UTF-8 or UTF-16, found none")?;
        let file = Self {
            name,
            text: text.into_owned(),
        };
        for doubt in doubts {
            file.warn(warnings, 0, doubt);
        }
        let document = file.parse(warnings);
        Ok((file, document))
    }

    pub(super) fn warn(&self, warnings: &mut Warnings, at: usize, text: impl Into<String>) {
        warnings.add(self.name, &self.text, at, || text.into());
    }

    /// Adds a warning, whose text is made only if it is kept.
    pub(super) fn warn_of(
        &self,
        warnings: &mut Warnings,
        at: usize,
        text: impl FnOnce() -> String,
    ) {
        warnings.add(self.name, &self.text, at, text);
    }

    fn parse(&self, warnings: &mut Warnings) -> Element {
        let mut nodes = Nodes::new(self.name, &self.text);
        let mut document = Element::default();
        let mut open: Vec<Element> = Vec::new();
        let (mut skipped, mut elements) = (0_usize, 0_usize);
        while let Some(node) = nodes.next(warnings) {
            match node {
                Node::Open(_) if skipped > 0 => skipped += 1,
                Node::Close if skipped > 0 => skipped -= 1,
                Node::Open(start) => {
                    elements += 1;
                    if elements > MAX_ELEMENTS || open.len() >= MAX_DEPTH {
                        let text = format!(
                            "left out: at most {MAX_ELEMENTS} elements, and {MAX_DEPTH} in each \
                             other, are read"
                        );
                        self.warn(warnings, start.at, text);
                        skipped = 1;
                        continue;
                    }
                    let (short, long): (Vec<_>, Vec<_>) = start
                        .all
                        .into_iter()
                        .partition(|(name, value)| name.len() + value.len() <= MAX_VALUE);
                    if !long.is_empty() {
                        let text =
                            format!("an attribute is left out: it has more than {MAX_VALUE} bytes");
                        self.warn(warnings, start.at, text);
                    }
                    let texts = short.iter().map(|(name, value)| name.len() + value.len());
                    let weight = ELEMENT + texts.sum::<usize>();
                    let owned = short.into_iter();
                    open.push(Element {
                        name: start.name.chars().take(MAX_VALUE).collect(),
                        attributes: owned.map(|(n, v)| (n.to_owned(), v.into_owned())).collect(),
                        children: Vec::new(),
                        at: start.at,
                        weight,
                    });
                }
                Node::Close => {
                    if let Some(element) = open.pop() {
                        let around = open.last_mut().unwrap_or(&mut document);
                        around.weight += element.weight;
                        around.children.push(element);
                    }
                }
                Node::Text(_) => {}
            }
        }
        document
    }
}
