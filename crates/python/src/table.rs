//! A result table for Python: Arrow data for Arrow consumers, raw columns for NumPy and pickle, and Parquet files.
//!
//! Differs: the stream capsule is created here with `arrow-array` alone. It takes one line, whereas `pyo3-arrow` would add
//! NumPy's C API, time zones and a version lock.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    UInt32Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyType};
use serde_json::{Value, json};
use tailback_core::record as core;

use crate::errors::panic_text;

/// The capsule name that the Arrow PyCapsule interface requires.
const STREAM: &CStr = c"arrow_array_stream";

/// Named columns of equal length.
#[pyclass(frozen, module = "tailback._core")]
pub struct Table {
    #[pyo3(get)]
    name: String,
    columns: Vec<(String, Values)>,
    batch: RecordBatch,
}

/// A column by kind. Words are dictionary-encoded, so that a million rows with one name take four bytes each.
enum Values {
    Float(Float64Array),
    Integer(Int64Array),
    Word(DictionaryArray<UInt32Type>, Vec<String>),
}

/// A pickled column: name, kind, values in little-endian order, words.
type Pickled = (String, String, Vec<u8>, Vec<String>);

/// The same for serialisation.
type PickledRef<'a, 'py> = (&'a str, &'static str, Bound<'py, PyBytes>, &'a [String]);

impl Table {
    pub fn new(table: core::Table) -> Result<Self, ArrowError> {
        let columns = table.columns.into_iter().map(|(name, column)| Ok((name, Values::new(column)?)));
        let columns: Vec<_> = columns.collect::<Result<_, ArrowError>>()?;
        let batch = RecordBatch::try_from_iter(columns.iter().map(|(name, values)| (name, values.array())))?;
        Ok(Self { name: table.name, columns, batch })
    }

    /// The table in the core's representation.
    pub(crate) fn to_core(&self) -> core::Table {
        let columns = self.columns.iter().map(|(name, values)| (name.clone(), values.to_core()));
        core::Table { name: self.name.clone(), columns: columns.collect() }
    }

    fn column(&self, name: &str) -> PyResult<&Values> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map(|(_, values)| values).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl Table {
    /// Restores the table from the data of `__reduce__`.
    #[new]
    fn from_columns(name: String, columns: Vec<Pickled>) -> PyResult<Self> {
        let damaged = |text: String| PyValueError::new_err(format!("a damaged table: {text}"));
        let columns = columns.into_iter().map(|(name, kind, bytes, words)| match unpickled(&kind, &bytes, words) {
            Some(column) => Ok((name, column)),
            None => Err(damaged(name)),
        });
        let table = core::Table { name, columns: columns.collect::<PyResult<_>>()? };
        Table::new(table).map_err(|error| damaged(error.to_string()))
    }

    /// Pickle protocol.
    fn __reduce__<'a, 'py>(&'a self, py: Python<'py>) -> (Bound<'py, PyType>, (&'a str, Vec<PickledRef<'a, 'py>>)) {
        let columns = self.columns.iter().map(|(name, values)| {
            let bytes = PyBytes::new(py, &values.little_endian());
            (name.as_str(), values.kind(), bytes, values.words())
        });
        (py.get_type::<Table>(), (&self.name, columns.collect()))
    }

    /// The table as bytes, as stored in the ledger of a study: the length of a header (four bytes, little-endian), the header,
    /// which is a JSON list of name, kind, length in bytes and words of each column, and the columns' values in little-endian
    /// order.
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let columns: Vec<_> = self.columns.iter().map(|(name, values)| (name, values, values.little_endian())).collect();
        let header = columns.iter().map(|(name, values, bytes)| json!([name, values.kind(), bytes.len(), values.words()]));
        let header = Value::Array(header.collect()).to_string();
        let mut packed = Vec::from((header.len() as u32).to_le_bytes());
        packed.extend(header.as_bytes());
        columns.iter().for_each(|(.., bytes)| packed.extend(bytes));
        PyBytes::new(py, &packed)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Name and kind (`float`, `integer`, `word`) of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, &'static str)> {
        self.columns.iter().map(|(name, values)| (name.clone(), values.kind())).collect()
    }

    /// The values as Python objects, or the first `rows` of them. Missing numbers are NaN.
    #[pyo3(signature = (name, rows=None))]
    fn values<'py>(&self, py: Python<'py>, name: &str, rows: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let rows = rows.unwrap_or(usize::MAX).min(self.batch.num_rows());
        match self.column(name)? {
            Values::Float(values) => PyList::new(py, &values.values()[..rows]),
            Values::Integer(values) => PyList::new(py, &values.values()[..rows]),
            Values::Word(values, words) => {
                PyList::new(py, values.keys().values()[..rows].iter().map(|&key| &words[key as usize]))
            }
        }
    }

    /// The raw column: float64, int64, or uint32 indices into `words`, in native byte order.
    fn buffer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match self.column(name)? {
            Values::Float(values) => values.values().inner(),
            Values::Integer(values) => values.values().inner(),
            Values::Word(values, _) => values.keys().values().inner(),
        };
        Ok(PyBytes::new(py, bytes.as_slice()))
    }

    /// The distinct words of a word column, empty for numbers.
    fn words(&self, name: &str) -> PyResult<Vec<String>> {
        Ok(self.column(name)?.words().to_vec())
    }

    /// The Arrow PyCapsule interface. Producers may ignore `requested_schema`, and this one does.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }

    /// The names of the columns of a Parquet file, in order.
    #[staticmethod]
    fn parquet_columns(py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
        let file = File::open(path)?;
        let reader = reading(py, || Ok(ParquetRecordBatchReaderBuilder::try_new(file)?))?;
        Ok(reader.schema().fields().iter().map(|field| field.name().clone()).collect())
    }

    /// Reads a table from a Parquet file, written by `write_parquet` or by another program. `columns`: columns to read, all if
    /// omitted.
    #[staticmethod]
    #[pyo3(signature = (name, path, columns=None))]
    fn read_parquet(py: Python<'_>, name: String, path: PathBuf, columns: Option<Vec<String>>) -> PyResult<Self> {
        let file = File::open(path)?;
        reading(py, || {
            let reader = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())?;
            let is_wanted = |name: &String| columns.as_ref().is_none_or(|wanted| wanted.contains(name));
            let places = (0..).zip(reader.schema().fields()).filter(|(_, field)| is_wanted(field.name())).map(|(place, _)| place);
            let wanted = ProjectionMask::roots(reader.parquet_schema(), places.collect::<Vec<usize>>());
            let parts = reader.metadata().row_groups().iter().flat_map(|group| group.columns().iter().enumerate());
            let mut packed = parts.filter(|(leaf, _)| wanted.leaf_included(*leaf)).map(|(_, part)| part.compression());
            if let Some(by) = packed.find(|by| !matches!(by, Compression::UNCOMPRESSED | Compression::SNAPPY)) {
                let with_level = by.to_string();
                let by = with_level.split('(').next().unwrap_or_default();
                return Err(ArrowError::ParquetError(format!(
                    "it is compressed with {by}, which is not supported: write it uncompressed or with SNAPPY"
                )));
            }
            let groups = 0..reader.metadata().num_row_groups();
            let (mut schema, mut batches) = (Arc::new(Schema::empty()), Vec::new());
            // At least once, for the schema of a file without rows.
            for group in groups.clone().map(Some).chain(groups.is_empty().then_some(None)) {
                let part = without_panic(|| {
                    let of_file = ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, reader.clone());
                    let reader = of_file.with_projection(wanted.clone()).with_row_groups(group.into_iter().collect()).build()?;
                    Ok((reader.schema(), reader.collect::<Result<Vec<_>, _>>()?))
                });
                let (found, of_group) = part.map_err(|error| in_group(group, groups.end, error))?;
                schema = found;
                batches.extend(of_group);
            }
            let columns = schema.fields().iter().enumerate().map(|(place, field)| {
                let parts: Vec<_> = batches.iter().map(|batch| batch.column(place)).collect();
                Ok((field.name().clone(), joined(field, &parts)?))
            });
            Self::new(core::Table { name, columns: columns.collect::<Result<_, ArrowError>>()? })
        })
    }

    /// Writes the table as a Parquet file.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let file = File::create(path)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let written = py.detach(|| {
            let mut writer = ArrowWriter::try_new(file, self.batch.schema(), Some(properties))?;
            writer.write(&self.batch)?;
            writer.close()
        });
        written.map(|_| ()).map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

impl Values {
    fn new(column: core::Column) -> Result<Self, ArrowError> {
        Ok(match column {
            core::Column::Float(values) => Self::Float(missing_as_null(values)),
            // Counts are far below 2^63, and readers expect differences of signed columns.
            core::Column::Integer(values) => {
                Self::Integer(values.into_iter().map(|value| value as i64).collect::<Vec<_>>().into())
            }
            core::Column::Word(keys, words) => {
                let distinct = Arc::new(StringArray::from_iter_values(words.iter()));
                // Refuses an index without a word, so that `values` can index safely.
                Self::Word(DictionaryArray::try_new(UInt32Array::from(keys), distinct)?, words.to_vec())
            }
        })
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Float(values) => Arc::new(values.clone()),
            Self::Integer(values) => Arc::new(values.clone()),
            Self::Word(values, _) => Arc::new(values.clone()),
        }
    }

    fn to_core(&self) -> core::Column {
        match self {
            Self::Float(values) => core::Column::Float(values.values().to_vec()),
            Self::Integer(values) => core::Column::Integer(values.values().iter().map(|&value| value as u64).collect()),
            Self::Word(values, words) => core::Column::Word(values.keys().values().to_vec(), Arc::new(words.clone())),
        }
    }

    /// The distinct words of a word column, empty for numbers.
    fn words(&self) -> &[String] {
        match self {
            Self::Word(_, words) => words,
            Self::Float(_) | Self::Integer(_) => &[],
        }
    }

    fn little_endian(&self) -> Vec<u8> {
        match self {
            Self::Float(values) => values.values().iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Integer(values) => values.values().iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Word(values, _) => values.keys().values().iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Integer(_) => "integer",
            Self::Word(..) => "word",
        }
    }
}

/// Missing values are null for Arrow readers, whose means and counts omit them. The underlying values remain NaN for NumPy.
fn missing_as_null(values: Vec<f64>) -> Float64Array {
    let some = values.iter().any(|value| value.is_nan());
    let nulls = some.then(|| NullBuffer::new(BooleanBuffer::collect_bool(values.len(), |row| !values[row].is_nan())));
    Float64Array::new(values.into(), nulls)
}

/// Runs a function that reads Parquet.
fn reading<T: Send>(py: Python<'_>, read: impl FnOnce() -> Result<T, ArrowError> + Send) -> PyResult<T> {
    py.detach(|| without_panic(read)).map_err(unread)
}

/// The library panics on some damaged files: such a panic becomes an error, and prints nothing.
fn without_panic<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let damaged =
        |panic: Box<dyn std::any::Any + Send>| ArrowError::ParquetError(format!("it is damaged: {}", panic_text(&*panic)));
    let outer = EXPECTS_PANICS.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    EXPECTS_PANICS.set(outer);
    done.unwrap_or_else(|panic| Err(damaged(panic)))
}

thread_local! {
    /// Whether a panic of this thread becomes an error.
    static EXPECTS_PANICS: Cell<bool> = const { Cell::new(false) };
}

/// Lets panics that become errors print nothing. Called once, when the module is loaded.
pub(crate) fn silence_expected_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !EXPECTS_PANICS.get() {
            usual(panic);
        }
    }));
}

fn in_group(group: Option<usize>, groups: usize, error: ArrowError) -> ArrowError {
    match (group, error) {
        (Some(group), ArrowError::ParquetError(message) | ArrowError::SchemaError(message)) => {
            ArrowError::ParquetError(format!("row group {} of {groups}: {message}", group + 1))
        }
        (_, error) => error,
    }
}

/// The error as Python's. Messages may quote names in a damaged file.
fn unread(error: ArrowError) -> PyErr {
    let message = match error {
        ArrowError::ParquetError(message) | ArrowError::SchemaError(message) => message,
        error => error.to_string(),
    };
    PyOSError::new_err(message.replace(char::is_control, "\u{fffd}"))
}

/// Concatenates a column of several batches.
fn joined(field: &Field, parts: &[&ArrayRef]) -> Result<core::Column, ArrowError> {
    Ok(match field.data_type() {
        DataType::Float64 => core::Column::Float(
            parts
                .iter()
                .flat_map(|part| part.as_primitive::<Float64Type>().iter())
                .map(|value| value.unwrap_or(f64::NAN))
                .collect(),
        ),
        DataType::Float32 => core::Column::Float(
            parts
                .iter()
                .flat_map(|part| part.as_primitive::<Float32Type>().iter())
                .map(|value| value.map_or(f64::NAN, f64::from))
                .collect(),
        ),
        DataType::Int64 => integers::<Int64Type>(parts),
        DataType::Int32 => integers::<Int32Type>(parts),
        DataType::Int16 => integers::<Int16Type>(parts),
        DataType::Int8 => integers::<Int8Type>(parts),
        DataType::UInt32 => integers::<UInt32Type>(parts),
        DataType::UInt16 => integers::<UInt16Type>(parts),
        DataType::UInt8 => integers::<UInt8Type>(parts),
        DataType::Dictionary(_, value) if matches!(**value, DataType::Utf8 | DataType::LargeUtf8) => {
            let mut words = Dictionary::default();
            let mut keys = Vec::new();
            for part in parts {
                // Each batch has its own words.
                let part = part.as_any_dictionary();
                let places: Vec<u32> = match part.values().as_string_opt::<i32>() {
                    Some(values) => values.iter().map(|word| words.place_of(word)).collect(),
                    None => part.values().as_string::<i64>().iter().map(|word| words.place_of(word)).collect(),
                };
                let normalized = if places.is_empty() { vec![0; part.len()] } else { part.normalized_keys() };
                let known = normalized.into_iter().enumerate();
                keys.extend(known.map(|(row, key)| if part.is_null(row) { words.place_of(None) } else { places[key] }));
            }
            core::Column::Word(keys, Arc::new(words.list))
        }
        // Strings without a dictionary, as other programs write them.
        DataType::Utf8 => Dictionary::column(parts.iter().flat_map(|part| part.as_string::<i32>())),
        DataType::LargeUtf8 => Dictionary::column(parts.iter().flat_map(|part| part.as_string::<i64>())),
        DataType::Utf8View => Dictionary::column(parts.iter().flat_map(|part| part.as_string_view())),
        other => {
            return Err(ArrowError::SchemaError(format!(
                "its column `{}` has type {other}, which is not supported; expected floats of 32 or 64 bits, integers of up to 64 bits (signed) or 32 bits (unsigned), or strings",
                field.name()
            )));
        }
    })
}

/// Integers; as floats, in which missing values are NaN, if values are missing.
fn integers<T: ArrowPrimitiveType>(parts: &[&ArrayRef]) -> core::Column
where
    T::Native: Into<i64>,
{
    let parts = || parts.iter().map(|part| part.as_primitive::<T>());
    if parts().any(|part| part.null_count() > 0) {
        let values = parts().flat_map(|part| part.iter());
        return core::Column::Float(values.map(|value| value.map_or(f64::NAN, |value| value.into() as f64)).collect());
    }
    core::Column::Integer(parts().flat_map(|part| part.values().iter().map(|&value| value.into() as u64)).collect())
}

/// Distinct words, in the order of their first occurrence.
#[derive(Default)]
struct Dictionary {
    list: Vec<String>,
    places: HashMap<String, u32>,
}

impl Dictionary {
    fn column<'a>(values: impl Iterator<Item = Option<&'a str>>) -> core::Column {
        let mut words = Dictionary::default();
        let keys = values.map(|word| words.place_of(word)).collect();
        core::Column::Word(keys, Arc::new(words.list))
    }

    /// Index of a word, which is added if necessary.
    fn place_of(&mut self, word: Option<&str>) -> u32 {
        let word = word.unwrap_or_default();
        if let Some(&place) = self.places.get(word) {
            return place;
        }
        let place = self.list.len() as u32;
        self.list.push(word.to_owned());
        self.places.insert(word.to_owned(), place);
        place
    }
}

/// `None` if the bytes are not whole values, or the kind is unknown.
fn unpickled(kind: &str, bytes: &[u8], words: Vec<String>) -> Option<core::Column> {
    Some(match kind {
        "float" => core::Column::Float(split(bytes, f64::from_le_bytes)?),
        "integer" => core::Column::Integer(split(bytes, u64::from_le_bytes)?),
        "word" => core::Column::Word(split(bytes, u32::from_le_bytes)?, Arc::new(words)),
        _ => return None,
    })
}

fn split<T, const WIDTH: usize>(bytes: &[u8], value: impl Fn([u8; WIDTH]) -> T) -> Option<Vec<T>> {
    let (values, rest) = bytes.as_chunks::<WIDTH>();
    rest.is_empty().then(|| values.iter().map(|bytes| value(*bytes)).collect())
}
