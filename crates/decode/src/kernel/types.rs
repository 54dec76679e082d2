//! Declaration of the types of kernel events: once, as constants that all other code uses.

/// Declares the types of kernel events by their groups, with their names in the text tables. A test
/// compares these declarations with the tables.
macro_rules! types {
    ($(
        $group:ident {
            $( $(#[doc = $doc:literal])+ $name:ident = $number:literal, $text:literal; )+
        }
    )+) => {
        $($( $(#[doc = $doc])+ pub const $name: u8 = $number; )+)+

        /// Group, type and name of each.
        #[cfg(test)]
        pub(crate) const ALL: &[(u8, u8, &str)] =
            &[$($( ($crate::kernel::group::$group, $number, $text), )+)+];
    };
}
