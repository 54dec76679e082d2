//! How types of kernel events are declared: once, as constants that everything else names.

/// Declares the types of kernel events by their groups, with the names that the text tables have for them.
/// What is declared here and what the tables say are held against each other by a test.
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
