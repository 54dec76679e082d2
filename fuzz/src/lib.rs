//! What the fuzz targets share: cutting an input into parts, traces made of them, and what must hold of any
//! trace.

#![forbid(unsafe_code)]

pub mod input;
pub mod made;
pub mod passes;
pub mod rules;

/// Runs a reader with the stack that it has in the program: demanglers follow nested names with calls.
///
/// # Panics
/// If the reader does.
pub fn apart(read: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(64 << 20)
            .spawn_scoped(scope, read);
        assert!(thread.is_ok_and(|thread| thread.join().is_ok()));
    });
}
