//! Tables in Arrow's C data interface, which readers take without a copy, and how columns are declared.

use arrow_buffer::ArrowNativeType;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use p4cc_netsim::{Column, ColumnSpec, ColumnType, Numbers, TABLES, Table, TableSpec};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// A table, or a part of one.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct EngineTable(pub Table);

#[pymethods]
impl EngineTable {
    /// Capsules of the schema and of an array of structs, a row each.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // Readers cast what they would have had otherwise.
        drop(requested_schema);
        let (schema, array) =
            exported(&self.0).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let schema = PyCapsule::new(py, schema, Some(c"arrow_schema".into()))?;
        let array = PyCapsule::new(py, array, Some(c"arrow_array".into()))?;
        PyTuple::new(py, [schema, array])
    }
}

fn exported(table: &Table) -> Result<(FFI_ArrowSchema, FFI_ArrowArray), ArrowError> {
    let columns = table.columns.iter().map(array).collect::<Result<Vec<_>, _>>()?;
    let named = table.spec.columns.iter().zip(&columns);
    let fields: Fields =
        named.map(|(spec, array)| Field::new(spec.name, array.data_type().clone(), true)).collect();
    let schema = FFI_ArrowSchema::try_from(&DataType::Struct(fields.clone()))?;
    let rows = ArrayData::builder(DataType::Struct(fields)).len(table.rows()).child_data(columns).build()?;
    Ok((schema, FFI_ArrowArray::new(&rows)))
}

fn array(column: &Column) -> Result<ArrayData, ArrowError> {
    match column {
        Column::U64(numbers) => of_numbers(DataType::UInt64, numbers),
        Column::I64(numbers) => of_numbers(DataType::Int64, numbers),
        Column::F64(numbers) => of_numbers(DataType::Float64, numbers),
        Column::Text(texts) => {
            let distinct = ArrayData::builder(DataType::LargeUtf8)
                .len(texts.offsets.len() - 1)
                .add_buffer(texts.offsets.inner().clone())
                .add_buffer(texts.bytes.clone())
                .build()?;
            let kind = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::LargeUtf8));
            let codes = ArrayDataBuilder::new(kind).len(texts.codes.len());
            codes.add_buffer(texts.codes.inner().clone()).add_child_data(distinct).build()
        }
    }
}

fn of_numbers<T: ArrowNativeType>(kind: DataType, numbers: &Numbers<T>) -> Result<ArrayData, ArrowError> {
    let array = ArrayData::builder(kind).len(numbers.values.len()).nulls(numbers.nulls.clone());
    array.add_buffer(numbers.values.inner().clone()).build()
}

/// Name, type, unit, text of a column, and what a null in it means.
type DeclaredColumn = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// All tables as they are declared: name, what a row stands for, what asks for it, columns.
#[pyfunction]
pub(crate) fn result_tables() -> Vec<(&'static str, &'static str, &'static str, Vec<DeclaredColumn>)> {
    let column = |spec: &ColumnSpec| (spec.name, type_name(spec.kind), spec.unit, spec.text, spec.null);
    let table =
        |spec: &TableSpec| (spec.name, spec.row, spec.when, spec.columns.iter().map(column).collect());
    TABLES.into_iter().map(table).collect()
}

const fn type_name(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::U64 => "uint64",
        ColumnType::I64 => "int64",
        ColumnType::F64 => "double",
        ColumnType::Text => "string",
    }
}
