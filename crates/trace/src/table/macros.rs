//! The language in which tables are declared.

/// Declares tables. `Name in "sql_name" order [columns] { /// doc\n column: type, "unit"; … }`
macro_rules! tables {
    ($(
        $(#[doc = $doc:literal])+
        $row:ident / $columns:ident = $name:literal, order [$($order:literal),*] {
            $( $(#[doc = $field_doc:literal])+ $field:ident: $type:ty $(, $unit:literal)?; )+
        }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $row {
            $( $(#[doc = $field_doc])+ pub $field: $type, )+
        }

        #[doc = concat!("Rows of `", $name, "`, by column.")]
        #[derive(Debug, Default)]
        pub struct $columns {
            pushed_rows: usize,
            text_bytes: usize,
            $( $field: <$type as $crate::table::Value>::Builder, )+
        }

        impl $crate::table::Row for $row {
            const TABLE: &'static $crate::table::Table = {
                static TABLE: $crate::table::Table = $crate::table::Table {
                    name: $name,
                    doc: concat!($($doc, "\n"),+).trim_ascii(),
                    order: &[$($order),*],
                    columns: &[$( $crate::table::Column {
                        name: stringify!($field),
                        kind: <$type as $crate::table::Value>::KIND,
                        nullable: <$type as $crate::table::Value>::NULLABLE,
                        unit: concat!($($unit)?),
                        doc: concat!($($field_doc, "\n"),+).trim_ascii(),
                    }, )+],
                };
                &TABLE
            };
            type Columns = $columns;

            #[inline]
            fn text_bytes(&self) -> usize {
                0 $( + $crate::table::Value::text_bytes(&self.$field) )+
            }
        }

        impl $crate::table::Columns<$row> for $columns {
            #[inline]
            fn push(&mut self, row: &$row) {
                self.pushed_rows += 1;
                self.text_bytes += $crate::table::Row::text_bytes(row);
                $( $crate::table::Value::append(&row.$field, &mut self.$field); )+
            }

            fn len(&self) -> usize {
                self.pushed_rows
            }

            fn text_bytes(&self) -> usize {
                self.text_bytes
            }

            fn take(&mut self) -> Result<arrow_array::RecordBatch, $crate::table::NotAsDeclared> {
                let table = <$row as $crate::table::Row>::TABLE;
                (self.pushed_rows, self.text_bytes) = (0, 0);
                let arrays = vec![$( <$type as $crate::table::Value>::finish(&mut self.$field) ),+];
                // Types and lengths come from the same declaration, but only Arrow knows if they
                // match.
                arrow_array::RecordBatch::try_new(table.schema(), arrays)
                    .map_err(|source| $crate::table::NotAsDeclared { table: table.name, source })
            }
        }
    )+};
}
