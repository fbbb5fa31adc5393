//! Tables of results: columns as plain buffers, which Python hands to Arrow without a loop over rows.

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

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(candidate, _)| *candidate == name).map(|(_, column)| column)
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
