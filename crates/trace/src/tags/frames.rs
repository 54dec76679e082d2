//! The frames of a tree of stacks.

/// Frames by number. Frames with the same text may have several numbers; the fewer, the faster.
pub trait Frames {
    /// Number of frames.
    fn count(&self) -> usize;

    /// File name of the module of a frame; `None` if none was mapped there.
    fn module(&self, frame: u32) -> Option<&str>;

    /// Name of the method; `None` without symbols.
    fn method(&self, frame: u32) -> Option<&str>;
}

/// Frames with a module and a method each.
impl Frames for [(Option<&str>, Option<&str>)] {
    fn count(&self) -> usize {
        self.len()
    }

    fn module(&self, frame: u32) -> Option<&str> {
        self.get(frame as usize)?.0
    }

    fn method(&self, frame: u32) -> Option<&str> {
        self.get(frame as usize)?.1
    }
}
