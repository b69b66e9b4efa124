//! Arrow arrays to cells.

use std::fmt::Debug;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions as time;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::{DataType, Field, TimeUnit};
use arrow_select::take::take;

use super::super::na::Na;
use crate::table::MISSING;
use crate::table::coder::Coder;
use crate::table::kind::{Forced, Wanted};
use crate::table::raw::RawColumn;
use crate::table::typed::Numbers;

/// Whether cells of a type are understood.
pub(super) fn is_known(kind: &DataType) -> bool {
    use DataType::*;
    match kind {
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View => true,
        Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => true,
        Dictionary(_, values) => is_known(values),
        kind => kind.is_numeric(),
    }
}

/// The same field with texts as codes into a dictionary, which Parquet files hold anyway.
pub(super) fn coded(field: &Field) -> Field {
    let cells = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    match cells {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let codes = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            field.clone().with_data_type(codes)
        }
        _ => field.clone(),
    }
}

/// The cells of an array of a known type.
///
/// Numbers of all widths and decimals are numbers, as near as `f64` comes; booleans are the texts
/// `true` and `false`; dates and times are texts (ISO 8601; with `Z` for times that are UTC).
pub(super) fn convert(array: ArrayRef, wanted: Wanted, na: &Na) -> Result<RawColumn, String> {
    use DataType::*;
    let labels = wanted.labels || wanted.kind == Some(Forced::Text);
    macro_rules! whole {
        ($kind:ty) => {
            primitive::<$kind>(&array, labels, na, |v| v as f64, |v| v.to_string())
        };
    }
    // The text of a decimal is exact, and its nearest `f64` is what a CSV file would give.
    macro_rules! decimal {
        ($kind:ty) => {{
            let cells = array.as_primitive::<$kind>();
            let text = |row| cells.value_as_string(row);
            by_row(cells, labels, na, |row| text(row).parse().unwrap_or(f64::NAN), text)
        }};
    }
    macro_rules! temporal {
        ($kind:ty, $text:expr) => {{
            let cells = array.as_primitive::<$kind>();
            texts(cells.iter().map(|v| v.map(|v| $text(v).ok_or(v)).transpose()), na)?
        }};
    }
    Ok(match array.data_type().clone() {
        Null => blank(array.len()),
        Boolean => {
            let cells = array.as_boolean();
            let text = |v: bool| if v { "true" } else { "false" };
            text_cells(cells.iter().map(|v| v.map(text)), na)
        }
        Int8 => whole!(Int8Type),
        Int16 => whole!(Int16Type),
        Int32 => whole!(Int32Type),
        Int64 => whole!(Int64Type),
        UInt8 => whole!(UInt8Type),
        UInt16 => whole!(UInt16Type),
        UInt32 => whole!(UInt32Type),
        UInt64 => whole!(UInt64Type),
        Float16 => {
            let text =
                |v: <Float16Type as ArrowPrimitiveType>::Native| format!("{:?}", f32::from(v));
            primitive::<Float16Type>(&array, labels, na, f64::from, text)
        }
        Float32 => primitive::<Float32Type>(&array, labels, na, f64::from, |v| format!("{v:?}")),
        Float64 if array.null_count() == 0 && !labels && na.has_no_number() => plain(array),
        Float64 => primitive::<Float64Type>(&array, labels, na, |v| v, |v| format!("{v:?}")),
        Decimal32(..) => decimal!(Decimal32Type),
        Decimal64(..) => decimal!(Decimal64Type),
        Decimal128(..) => decimal!(Decimal128Type),
        Decimal256(..) => decimal!(Decimal256Type),
        Utf8 => text_cells(array.as_string::<i32>().iter(), na),
        LargeUtf8 => text_cells(array.as_string::<i64>().iter(), na),
        Utf8View => text_cells(array.as_string_view().iter(), na),
        Date32 => temporal!(Date32Type, |v| time::date32_to_datetime(v).map(|t| t.date())),
        Date64 => temporal!(Date64Type, |v| time::date64_to_datetime(v).map(|t| t.date())),
        Time32(TimeUnit::Second) => temporal!(Time32SecondType, time::time32s_to_time),
        Time32(_) => temporal!(Time32MillisecondType, time::time32ms_to_time),
        Time64(TimeUnit::Microsecond) => {
            temporal!(Time64MicrosecondType, time::time64us_to_time)
        }
        Time64(_) => temporal!(Time64NanosecondType, time::time64ns_to_time),
        Timestamp(unit, zone) => {
            let moment = |v| match unit {
                TimeUnit::Second => time::timestamp_s_to_datetime(v),
                TimeUnit::Millisecond => time::timestamp_ms_to_datetime(v),
                TimeUnit::Microsecond => time::timestamp_us_to_datetime(v),
                TimeUnit::Nanosecond => time::timestamp_ns_to_datetime(v),
            };
            let end = if zone.is_some() { "Z" } else { "" };
            let cells = match unit {
                TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
                TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
                TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
            };
            let text = |v: i64| moment(v).map(|t| Text(format!("{t:?}{end}"))).ok_or(v);
            let cell = |(row, v): (usize, &i64)| array.is_valid(row).then(|| text(*v)).transpose();
            texts(cells.iter().enumerate().map(cell), na)?
        }
        Dictionary(..) => dictionary(&array, wanted, na)?,
        kind => return Err(format!("cells of the type {kind}")),
    })
}

/// A text whose debug form is the text itself, like that of a date.
struct Text(String);

impl Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A column without any cell.
fn blank(rows: usize) -> RawColumn {
    let mut coder = Coder::default();
    coder.push_missing(rows);
    RawColumn::Coded(coder)
}

/// Finite numbers without gaps, taken over as they are.
fn plain(array: ArrayRef) -> RawColumn {
    let cells = array.as_primitive::<Float64Type>().clone();
    // The last owner of the memory can keep it.
    drop(array);
    let (_, values, _) = cells.into_parts();
    let numbers: Vec<f64> =
        values.into_inner().into_vec().unwrap_or_else(|shared| shared.typed_data().to_vec());
    // A sum of flags has no early exit and goes several numbers at a time.
    let all_finite = numbers.iter().map(|v| u64::from(!v.is_finite())).sum::<u64>() == 0;
    let odd = if all_finite { None } else { numbers.iter().position(|v| !v.is_finite()) };
    RawColumn::Numbers(Numbers { numbers, labels: None, odd, complete: true })
}

fn primitive<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    labels: bool,
    na: &Na,
    number: impl Fn(T::Native) -> f64,
    text: impl Fn(T::Native) -> String,
) -> RawColumn {
    let cells = array.as_primitive::<T>();
    let values = cells.values();
    by_row(cells, labels, na, |row| number(values[row]), |row| text(values[row]))
}

/// Numbers, and their texts where they are wanted, by the row.
fn by_row(
    array: &dyn Array,
    labels: bool,
    na: &Na,
    number: impl Fn(usize) -> f64,
    text: impl Fn(usize) -> String,
) -> RawColumn {
    let mut numbers = Vec::with_capacity(array.len());
    let mut coder = labels.then(Coder::default);
    let mut odd = None;
    for row in 0..array.len() {
        let value = array.is_valid(row).then(|| number(row)).filter(|v| !na.is_missing(*v));
        if odd.is_none() && value.is_some_and(|v| !v.is_finite()) {
            odd = Some(row);
        }
        if let Some(coder) = &mut coder {
            let code = value.map_or(MISSING, |_| coder.code(&text(row)));
            coder.push(code);
        }
        numbers.push(value.unwrap_or(f64::NAN));
    }
    RawColumn::Numbers(Numbers { numbers, labels: coder, odd, complete: false })
}

fn text_cells<'a>(cells: impl Iterator<Item = Option<&'a str>>, na: &Na) -> RawColumn {
    let mut coder = Coder::default();
    for cell in cells {
        let code = coder.code(cell.map_or("", |text| na.cell(text)));
        coder.push(code);
    }
    RawColumn::Coded(coder)
}

/// Texts by their debug form; one that has none is out of range.
fn texts(
    cells: impl Iterator<Item = Result<Option<impl Debug>, impl Debug>>,
    na: &Na,
) -> Result<RawColumn, String> {
    let mut coder = Coder::default();
    for cell in cells {
        let cell = cell.map_err(|v| format!("a date or time is out of range: {v:?}"))?;
        let code = match cell {
            Some(cell) => coder.code(na.cell(&format!("{cell:?}"))),
            None => MISSING,
        };
        coder.push(code);
    }
    Ok(RawColumn::Coded(coder))
}

/// The cells that the codes of a dictionary stand for. Of texts only those that occur are looked
/// at, each once.
fn dictionary(array: &ArrayRef, wanted: Wanted, na: &Na) -> Result<RawColumn, String> {
    let coded = array.as_dictionary_opt::<Int32Type>();
    let coded = coded.and_then(|d| Some((d.keys(), d.values().as_string_opt::<i32>()?)));
    let Some((keys, texts)) = coded else {
        let array = array.as_any_dictionary();
        let cells = take(array.values(), array.keys(), None).map_err(|e| e.to_string())?;
        return convert(cells, wanted, na);
    };
    let mut coder = Coder::default();
    let mut codes: Vec<Option<u32>> = vec![None; texts.len()];
    for (row, key) in keys.values().iter().enumerate() {
        let code = if keys.is_null(row) {
            MISSING
        } else {
            let key = *key as usize;
            let code = codes.get_mut(key).ok_or("a code is not in its dictionary")?;
            let text = || if texts.is_valid(key) { na.cell(texts.value(key)) } else { "" };
            *code.get_or_insert_with(|| coder.code(text()))
        };
        coder.push(code);
    }
    Ok(RawColumn::Coded(coder))
}
