//! Tables of results: columns in Arrow's layout, which Python takes without a copy.

use std::collections::BTreeMap;
use std::fmt;

use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, ScalarBuffer};

/// A table as it is declared.
#[derive(PartialEq, Eq, Debug)]
pub struct TableSpec {
    /// Name.
    pub name: &'static str,
    /// What a row stands for.
    pub row: &'static str,
    /// What a scenario asks for to get it, or `always`.
    pub when: &'static str,
    /// Columns, in order.
    pub columns: &'static [ColumnSpec],
}

/// A column as it is declared.
#[derive(PartialEq, Eq, Debug)]
pub struct ColumnSpec {
    /// Name.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnType,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// What it holds.
    pub text: &'static str,
    /// What a null means; empty where there is none.
    pub null: &'static str,
}

/// Types of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
    /// Unsigned integers.
    U64,
    /// Signed integers.
    I64,
    /// Floats.
    F64,
    /// Text.
    Text,
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Unsigned integers.
    U64(Numbers<u64>),
    /// Signed integers.
    I64(Numbers<i64>),
    /// Floats.
    F64(Numbers<f64>),
    /// Text.
    Text(Texts),
}

/// Numbers, some of which may be null.
#[derive(Clone, PartialEq)]
pub struct Numbers<T: ArrowNativeType> {
    /// One for each row; 0 where there is a null.
    pub values: ScalarBuffer<T>,
    /// Which rows are null, if any is.
    pub nulls: Option<NullBuffer>,
}

/// Text by number: row `i` is the text of number `codes[i]`, whose bytes begin at `offsets[codes[i]]`.
#[derive(Clone, PartialEq)]
pub struct Texts {
    /// One for each row.
    pub codes: ScalarBuffer<u32>,
    /// One more than there are distinct texts.
    pub offsets: ScalarBuffer<i64>,
    /// The distinct texts one behind the other, in order of first use.
    pub bytes: Buffer,
}

impl<T: ArrowNativeType> Numbers<T> {
    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        let is_null = |row| self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        self.values.iter().enumerate().map(move |(row, value)| (!is_null(row)).then_some(*value))
    }
}

impl Texts {
    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().map(|&code| {
            let text = self.offsets[code as usize] as usize..self.offsets[code as usize + 1] as usize;
            core::str::from_utf8(&self.bytes[text]).unwrap_or_default()
        })
    }
}

// The rows: a buffer's own form has its address, which differs between equal columns.
impl<T: ArrowNativeType> fmt::Debug for Numbers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(numbers) => numbers.values.len(),
            Self::I64(numbers) => numbers.values.len(),
            Self::F64(numbers) => numbers.values.len(),
            Self::Text(texts) => texts.codes.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table: columns of one length.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its name, and what its columns are.
    pub spec: &'static TableSpec,
    /// One for each column of `spec`.
    pub columns: Vec<Column>,
}

impl Table {
    /// A table of rows.
    pub(crate) fn of<R: Row>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut columns = R::Columns::default();
        for row in rows {
            row.push_into(&mut columns);
        }
        columns.into_table()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.get(self.spec.columns.iter().position(|column| column.name == name)?)
    }
}

/// A row as it is given.
pub(crate) trait Row {
    type Columns: Columns;
    fn push_into(self, columns: &mut Self::Columns);
}

/// Columns that grow row by row.
pub(crate) trait Columns: Default {
    const SPEC: &'static TableSpec;
    fn len(&self) -> usize;
    fn into_table(self) -> Table;
}

/// What a column holds.
pub(crate) trait Kind {
    /// A value as a row has it.
    type Value<'a>;
    /// The column while it grows.
    type Cells: Clone + Default + core::fmt::Debug;
    const TYPE: ColumnType;
    fn push(cells: &mut Self::Cells, value: Self::Value<'_>);
    fn column(cells: Self::Cells) -> Column;
}

macro_rules! number_kinds {
    ($($kind:ty: $of:ident, $optional:ident as $stored:ty;)*) => {
        $(impl Kind for $kind {
            type Value<'a> = Self;
            type Cells = Vec<Self>;
            const TYPE: ColumnType = ColumnType::$of;

            #[inline]
            fn push(cells: &mut Vec<Self>, value: Self) {
                cells.push(value);
            }

            fn column(cells: Vec<Self>) -> Column {
                Column::$of(Numbers { values: cells.into(), nulls: None })
            }
        }

        impl Kind for Option<$kind> {
            type Value<'a> = Self;
            type Cells = Optional<$stored>;
            const TYPE: ColumnType = ColumnType::$optional;

            #[inline]
            fn push(cells: &mut Self::Cells, value: Self) {
                cells.are_there.push(value.is_some());
                cells.values.push(value.unwrap_or_default() as $stored);
            }

            fn column(cells: Self::Cells) -> Column {
                let nulls = NullBuffer::from(cells.are_there);
                let nulls = (nulls.null_count() > 0).then_some(nulls);
                Column::$optional(Numbers { values: cells.values.into(), nulls })
            }
        })*
    };
}

number_kinds! {
    u64: U64, I64 as i64;
    f64: F64, F64 as f64;
}

/// Numbers that may be missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Optional<T> {
    values: Vec<T>,
    are_there: Vec<bool>,
}

impl Kind for str {
    type Value<'a> = &'a str;
    type Cells = TextCells;
    const TYPE: ColumnType = ColumnType::Text;

    fn push(cells: &mut TextCells, value: &str) {
        let next = cells.known.len() as u32;
        let code = cells.known.get(value).copied().unwrap_or_else(|| {
            cells.known.insert(value.into(), next);
            next
        });
        cells.codes.push(code);
    }

    fn column(cells: TextCells) -> Column {
        let mut texts: Vec<_> = cells.known.into_iter().collect();
        texts.sort_unstable_by_key(|(_, code)| *code);
        let ends = texts.iter().scan(0, |end, (text, _)| {
            *end += text.len() as i64;
            Some(*end)
        });
        let offsets: Vec<i64> = core::iter::once(0).chain(ends).collect();
        let bytes = texts.iter().flat_map(|(text, _)| text.bytes()).collect::<Vec<u8>>();
        Column::Text(Texts { codes: cells.codes.into(), offsets: offsets.into(), bytes: bytes.into() })
    }
}

/// Texts and their numbers, in order of first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextCells {
    codes: Vec<u32>,
    known: BTreeMap<Box<str>, u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<K: Kind + ?Sized>(values: Vec<K::Value<'_>>) -> Column {
        let mut cells = K::Cells::default();
        for value in values {
            K::push(&mut cells, value);
        }
        K::column(cells)
    }

    #[test]
    fn texts_are_numbered_in_order_of_first_use() {
        let Column::Text(texts) = column::<str>(vec!["b", "", "aé", "b"]) else { unreachable!() };
        assert_eq!((&*texts.codes, &*texts.offsets), (&[0, 1, 2, 0][..], &[0, 1, 1, 4][..]));
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["b", "", "aé", "b"]);
    }

    #[test]
    fn only_what_is_missing_is_null() {
        let Column::I64(numbers) = column::<Option<u64>>(vec![Some(0), None]) else { unreachable!() };
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [Some(0), None]);
        let Column::F64(numbers) = column::<Option<f64>>(vec![Some(f64::NAN)]) else { unreachable!() };
        assert!(numbers.nulls.is_none());
    }
}
