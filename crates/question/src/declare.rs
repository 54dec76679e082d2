//! The macro that declares requests, their enumerations, and rows of answers.

/// Declares the parts of a question. Each part is declared once; types, options, columns and
/// schemas are generated from it.
///
/// - `words`: an enumeration whose variants have words. The first one is the default.
/// - `orders`: an enumeration with words, the SQL sort key of sums, and after `/` the sort key of
///   single rows if it differs.
/// - `request`: the options of a question. A field is an option, its documentation the sentence of
///   the help. `=` introduces everything else about it, `=>` its default if that differs from the
///   default of the type.
/// - `row`: the columns of a row with their meaning, in the order of JSON and CSV. `..process`
///   expands to key, id and name of a process (its sentence is the one of the key),
///   `..process_details` to its start, end, session and command line. `: process` after the name
///   means that the row has all of these, so that it can be printed with its process.
#[macro_export]
macro_rules! declare {
    () => {};

    (@row [$($attr:tt)*] [$vis:vis] $row:ident [$($shared:ident)?] {
        $( $field:ident: $type:ty = $sentence:literal, )* ..process = $key:literal, $($rest:tt)*
    }) => {
        $crate::declare! { @row [$($attr)*] [$vis] $row [$($shared)?] {
            $( $field: $type = $sentence, )*
            process_key: Option<i64> = $key,
            pid: Option<i64> = "Process id.",
            process: Option<String> = "File name of the executable.",
            $($rest)*
        } }
    };
    (@row [$($attr:tt)*] [$vis:vis] $row:ident [$($shared:ident)?] {
        $( $field:ident: $type:ty = $sentence:literal, )* ..process_details, $($rest:tt)*
    }) => {
        $crate::declare! { @row [$($attr)*] [$vis] $row [$($shared)?] {
            $( $field: $type = $sentence, )*
            process_start_ns: Option<i64> = "Start of the process, if in the trace.",
            process_stop_ns: Option<i64> = "End of the process, if in the trace.",
            session_id: Option<i64> = "Terminal session.",
            command_line: Option<String> = "Command line.",
            $($rest)*
        } }
    };
    (@row [$($attr:tt)*] [$vis:vis] $row:ident [$($shared:ident)?] {
        $( $field:ident: $type:ty = $sentence:literal, )+
    }) => {
        $($attr)*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
        $vis struct $row { $( #[doc = $sentence] pub $field: $type, )+ }

        $( $crate::declare!(@$shared $row); )?

        impl $crate::rows::FromRows for $row {
            fn fields() -> Vec<$crate::rows::Field> {
                use $crate::rows::Cell;
                let mut all = Vec::new();
                $( all.extend(<$type as Cell>::fields(stringify!($field), $sentence)); )+
                all
            }

            fn read(batch: &$crate::of_sql::RecordBatch) -> $crate::of_sql::Result<Vec<Self>> {
                use $crate::rows::Cell;
                $( let $field = <$type as Cell>::column(batch, stringify!($field))?; )+
                let row = |row| Self { $( $field: <$type as Cell>::get(&$field, row), )+ };
                Ok((0..batch.num_rows()).map(row).collect())
            }
        }
    };
    (@process $row:ident) => {
        impl $crate::ProcessColumns for $row {
            fn process_cell(&self) -> $crate::ProcessCell {
                $crate::ProcessCell {
                    name: self.process.clone(),
                    pid: self.pid,
                    start_ns: self.process_start_ns,
                    stop_ns: self.process_stop_ns,
                    command_line: self.command_line.clone(),
                }
            }
        }
    };
    (@last $only:literal) => { $only };
    (@last $sums:literal $single:literal) => { $single };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };

    ($(#[$attr:meta])* $vis:vis row $row:ident $(: $shared:ident)? { $($fields:tt)+ } $($rest:tt)*) => {
        $crate::declare! { @row [$(#[$attr])*] [$vis] $row [$($shared)?] { $($fields)+ } }
        $crate::declare! { $($rest)* }
    };

    ($(#[$attr:meta])* $vis:vis words $name:ident {
        $first:literal => $default:ident = $meaning:literal,
        $( $word:literal => $variant:ident = $sentence:literal, )*
    } $($rest:tt)*) => {
        $(#[$attr])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        $vis enum $name { #[doc = $meaning] #[default] $default, $( #[doc = $sentence] $variant, )* }

        impl $crate::Words for $name {
            const WORDS: &'static [(&'static str, Self)] =
                &[($first, Self::$default), $( ($word, Self::$variant), )*];
        }

        $crate::declare! { $($rest)* }
    };

    ($(#[$attr:meta])* $vis:vis orders $name:ident {
        $( $word:literal => $variant:ident: $sums:literal $(/ $single:literal)? = $sentence:literal, )+
    } $($rest:tt)*) => {
        $crate::declare! {
            $(#[$attr])* $vis words $name { $( $word => $variant = $sentence, )+ }
        }

        impl $name {
            /// Returns the SQL sort key of sums.
            #[must_use]
            pub const fn sql(self) -> &'static str {
                match self { $( Self::$variant => $sums, )+ }
            }

            /// Returns the SQL sort key of single rows.
            #[must_use]
            pub const fn single_sql(self) -> &'static str {
                match self { $( Self::$variant => $crate::declare!(@last $sums $($single)?), )+ }
            }
        }

        $crate::declare! { $($rest)* }
    };

    ($(#[$attr:meta])* $vis:vis request $name:ident {
        $( $(#[doc = $sentence:literal])+ $field:ident: $type:ty = $spec:expr $(=> $default:expr)?, )+
    } $($rest:tt)*) => {
        $(#[$attr])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name { $( $(#[doc = $sentence])+ pub $field: $type, )+ }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::declare!(@default $($default)?), )+ }
            }
        }

        impl $crate::Request for $name {
            fn options() -> Vec<$crate::Opt> {
                let default = Self::default();
                let mut all = Vec::new();
                $( all.extend($crate::OptionValue::options(
                    &default.$field,
                    $spec.of_field(stringify!($field), concat!($($sentence),+)),
                )); )+
                all
            }

            fn read(
                values: &$crate::Values,
            ) -> ::std::result::Result<Self, $crate::OptionError> {
                let default = Self::default();
                $( let spec = $spec.of_field(stringify!($field), "");
                let $field = <$type as $crate::OptionValue>::read(values, &spec)?;
                let $field = $field.unwrap_or(default.$field); )+
                Ok(Self { $( $field, )+ })
            }

            fn place(&mut self, parts: &$crate::Values) {
                $( let spec = $spec.of_field(stringify!($field), "");
                $crate::OptionValue::place(&mut self.$field, &spec, parts); )+
            }

            fn write(&self) -> $crate::Values {
                let default = Self::default();
                let mut values = $crate::Values::new();
                $( if self.$field != default.$field {
                    let spec = $spec.of_field(stringify!($field), "");
                    $crate::OptionValue::write(&self.$field, &spec, &mut values);
                } )+
                values
            }
        }

        /// As a group of options that requests share.
        impl $crate::OptionValue for $name {
            fn options(&self, _: $crate::Spec) -> Vec<$crate::Opt> {
                <Self as $crate::Request>::options()
            }
            fn read(
                values: &$crate::Values,
                _: &$crate::Spec,
            ) -> ::std::result::Result<Option<Self>, $crate::OptionError> {
                <Self as $crate::Request>::read(values).map(Some)
            }
            fn place(&mut self, _: &$crate::Spec, parts: &$crate::Values) {
                <Self as $crate::Request>::place(self, parts);
            }
            fn write(&self, _: &$crate::Spec, values: &mut $crate::Values) {
                values.extend(<Self as $crate::Request>::write(self));
            }
        }

        $crate::declare! { $($rest)* }
    };
}
