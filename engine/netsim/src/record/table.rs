//! Tables of results: columns as plain buffers, which Python hands to Arrow without a loop over rows.

use p4cc_units::Time;

/// A column. Missing values are NaN in floats and -1 in signed integers.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Unsigned integers.
    U64(Vec<u64>),
    /// Signed integers; -1 where there is no value.
    I64(Vec<i64>),
    /// Floats; NaN where there is no value.
    F64(Vec<f64>),
    /// Text by number: row `i` is `values[codes[i]]`.
    Text {
        /// One for each row.
        codes: Vec<u32>,
        /// Distinct texts.
        values: Vec<String>,
    },
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(rows) => rows.len(),
            Self::I64(rows) => rows.len(),
            Self::F64(rows) => rows.len(),
            Self::Text { codes, .. } => codes.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A text column from its rows; texts are numbered in order of first use.
    pub fn text<'a>(rows: impl IntoIterator<Item = &'a str>) -> Self {
        let mut numbers = std::collections::BTreeMap::new();
        let mut values: Vec<String> = Vec::new();
        let codes = rows.into_iter().map(|row| {
            *numbers.entry(row).or_insert_with(|| {
                values.push(row.to_owned());
                values.len() as u32 - 1
            })
        });
        let codes = codes.collect();
        Self::Text { codes, values }
    }
}

macro_rules! column_from {
    ($($value:ty: |$rows:ident| $column:expr,)*) => {
        $(impl From<Vec<$value>> for Column {
            fn from($rows: Vec<$value>) -> Self {
                $column
            }
        })*
    };
}

column_from! {
    u64: |rows| Self::U64(rows),
    i64: |rows| Self::I64(rows),
    f64: |rows| Self::F64(rows),
    &str: |rows| Self::text(rows),
    String: |rows| Self::text(rows.iter().map(String::as_str)),
    Option<u64>: |rows| Self::I64(rows.iter().map(|row| row.map_or(-1, |value| value as i64)).collect()),
    Option<Time>: |rows| Self::I64(rows.iter().map(|row| row.map_or(-1, |at| at.as_ns() as i64)).collect()),
    Option<f64>: |rows| Self::F64(rows.iter().map(|row| row.unwrap_or(f64::NAN)).collect()),
}

/// A table: columns of one length.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Name.
    pub name: &'static str,
    /// Names and columns, in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// A table whose columns are computed from rows.
    pub(crate) fn of<'r, R>(name: &'static str, rows: &'r [R]) -> TableOf<'r, R> {
        TableOf { rows, table: Self { name, columns: Vec::new() } }
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(candidate, _)| *candidate == name).map(|(_, column)| column)
    }
}

/// A table in the making.
pub(crate) struct TableOf<'r, R> {
    rows: &'r [R],
    table: Table,
}

impl<'r, R> TableOf<'r, R> {
    /// Appends a column of values.
    pub fn column<T>(mut self, name: &'static str, value: impl Fn(&'r R) -> T) -> Self
    where
        Column: From<Vec<T>>,
    {
        let values: Vec<T> = self.rows.iter().map(value).collect();
        self.table.columns.push((name, values.into()));
        self
    }

    pub fn build(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_in_order_of_first_use() {
        let Column::Text { codes, values } = Column::text(["b", "a", "b"]) else { unreachable!() };
        assert_eq!((codes, values), (vec![0, 1, 0], vec!["b".to_owned(), "a".to_owned()]));
    }
}
