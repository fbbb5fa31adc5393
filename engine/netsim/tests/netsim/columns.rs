//! Columns of results, row by row.

use p4cc_netsim::{Column, Results};

fn column<'r>(results: &'r Results, table: &str, column: &str) -> &'r Column {
    let found = results.table(table).and_then(|table| table.column(column));
    found.unwrap_or_else(|| panic!("there is no {table}.{column}"))
}

/// Integers; -1 for a null, as no column holds it.
pub fn integers(results: &Results, table: &str, name: &str) -> Vec<i64> {
    match column(results, table, name) {
        Column::U64(numbers) => numbers.iter().map(|value| value.map_or(-1, |value| value as i64)).collect(),
        Column::I64(numbers) => numbers.iter().map(|value| value.unwrap_or(-1)).collect(),
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// Integers of a column without nulls.
pub fn u64s(results: &Results, table: &str, name: &str) -> Vec<u64> {
    let not_below = |value| u64::try_from(value).expect("not null");
    integers(results, table, name).into_iter().map(not_below).collect()
}

/// Texts.
pub fn texts(results: &Results, table: &str, name: &str) -> Vec<String> {
    match column(results, table, name) {
        Column::Text(texts) => texts.iter().map(str::to_owned).collect(),
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// Any column, each row as text.
pub fn shown(column: &Column) -> Vec<String> {
    fn text<T: std::fmt::Debug>(value: Option<T>) -> String {
        value.map_or_else(|| "null".to_owned(), |value| format!("{value:?}"))
    }
    match column {
        Column::U64(numbers) => numbers.iter().map(text).collect(),
        Column::I64(numbers) => numbers.iter().map(text).collect(),
        Column::F64(numbers) => numbers.iter().map(text).collect(),
        Column::Text(texts) => texts.iter().map(str::to_owned).collect(),
    }
}
