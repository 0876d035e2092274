//! The types of columns: those that have a text of their own, and their names.

use std::fmt;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::Type as Schema;

use super::Fault;

/// The type of a Parquet column, kept so that an unchanged column is released with the type it came with.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    schema: Schema,
    kind: CellKind,
}

/// Describes how the cells of a column are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Bool,
    Int {
        bits: u8,
        signed: bool,
    },
    Float,
    Double,
    Date,
    Time(TickUnit),
    Timestamp {
        unit: TickUnit,
        utc: bool,
    },
    /// The timestamp of old writers: a Julian day and the nanoseconds since its midnight.
    Int96,
    Decimal {
        precision: u32,
        scale: u32,
    },
    Text,
    Uuid,
}

/// The unit a time is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TickUnit {
    Milli,
    Micro,
    Nano,
}

impl TickUnit {
    /// Its length in nanoseconds.
    pub(super) fn nanos(self) -> i64 {
        match self {
            TickUnit::Milli => 1_000_000,
            TickUnit::Micro => 1_000,
            TickUnit::Nano => 1,
        }
    }

    fn of(unit: TimeUnit) -> TickUnit {
        match unit {
            TimeUnit::MILLIS => TickUnit::Milli,
            TimeUnit::MICROS => TickUnit::Micro,
            TimeUnit::NANOS => TickUnit::Nano,
        }
    }
}

/// The most digits of a decimal: what 256 bits hold, which is the widest that writers offer.
const MOST_DIGITS: i32 = 76;
/// The longest fixed-length value. The crate allocates it for each value of a batch before it looks for the bytes.
const LONGEST_FIXED: i32 = 1 << 16;

impl ColumnType {
    /// The type of a column of a file, or the name of the type if it is not one that is read.
    pub(super) fn of(schema: &Schema) -> Result<ColumnType, String> {
        match kind(schema) {
            Some(kind) => Ok(ColumnType { schema: schema.clone(), kind }),
            None => Err(type_name(schema)),
        }
    }

    pub(super) fn kind(&self) -> CellKind {
        self.kind
    }

    pub(super) fn physical(&self) -> Physical {
        self.schema.get_physical_type()
    }

    /// The bytes of a fixed-length value.
    pub(super) fn length(&self) -> usize {
        usize::try_from(type_length(&self.schema)).unwrap_or(0)
    }

    /// This type for an optional column of that name.
    pub(super) fn schema(&self, name: &str) -> Result<Schema, Fault> {
        let info = self.schema.get_basic_info();
        super::guarded(|| {
            Schema::primitive_type_builder(name, self.physical())
                .with_repetition(Repetition::OPTIONAL)
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_length(type_length(&self.schema))
                .with_precision(self.schema.get_precision())
                .with_scale(self.schema.get_scale())
                .build()
        })
    }

    /// A string column.
    pub(super) fn text() -> Result<ColumnType, Fault> {
        let schema = super::guarded(|| {
            Schema::primitive_type_builder("text", Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .build()
        })?;
        Ok(ColumnType { schema, kind: CellKind::Text })
    }
}

/// The type as the format names it: `INT64`, `DATE`, `DECIMAL(9,2)`.
impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&type_name(&self.schema))
    }
}

fn type_length(schema: &Schema) -> i32 {
    match schema {
        Schema::PrimitiveType { type_length, .. } => *type_length,
        Schema::GroupType { .. } => -1,
    }
}

/// The logical type, also where an old writer only gave a converted one.
fn logical(schema: &Schema) -> Option<LogicalType> {
    let info = schema.get_basic_info();
    if let Some(logical) = info.logical_type_ref() {
        return Some(logical.clone());
    }
    Some(match info.converted_type() {
        ConvertedType::UTF8 => LogicalType::String,
        ConvertedType::ENUM => LogicalType::Enum,
        ConvertedType::JSON => LogicalType::Json,
        ConvertedType::BSON => LogicalType::Bson,
        ConvertedType::DECIMAL => LogicalType::decimal(schema.get_scale(), schema.get_precision()),
        ConvertedType::DATE => LogicalType::Date,
        ConvertedType::TIME_MILLIS => LogicalType::time(true, TimeUnit::MILLIS),
        ConvertedType::TIME_MICROS => LogicalType::time(true, TimeUnit::MICROS),
        ConvertedType::TIMESTAMP_MILLIS => LogicalType::timestamp(true, TimeUnit::MILLIS),
        ConvertedType::TIMESTAMP_MICROS => LogicalType::timestamp(true, TimeUnit::MICROS),
        ConvertedType::UINT_8 => LogicalType::integer(8, false),
        ConvertedType::UINT_16 => LogicalType::integer(16, false),
        ConvertedType::UINT_32 => LogicalType::integer(32, false),
        ConvertedType::UINT_64 => LogicalType::integer(64, false),
        ConvertedType::INT_8 => LogicalType::integer(8, true),
        ConvertedType::INT_16 => LogicalType::integer(16, true),
        ConvertedType::INT_32 => LogicalType::integer(32, true),
        ConvertedType::INT_64 => LogicalType::integer(64, true),
        ConvertedType::NONE
        | ConvertedType::MAP
        | ConvertedType::MAP_KEY_VALUE
        | ConvertedType::LIST
        | ConvertedType::INTERVAL => return None,
    })
}

/// Returns how cells of a type are read, if they are.
fn kind(schema: &Schema) -> Option<CellKind> {
    if schema.get_basic_info().converted_type() == ConvertedType::INTERVAL || type_length(schema) > LONGEST_FIXED {
        return None;
    }
    // A column that only ever held nulls has the logical type Unknown on any physical type.
    let logical = logical(schema).filter(|logical| *logical != LogicalType::Unknown);
    Some(match (schema.get_physical_type(), logical) {
        (Physical::BOOLEAN, None) => CellKind::Bool,
        (Physical::INT32, None) => CellKind::Int { bits: 32, signed: true },
        (Physical::INT64, None) => CellKind::Int { bits: 64, signed: true },
        (Physical::INT32, Some(LogicalType::Integer(int))) if matches!(int.bit_width, 8 | 16 | 32) => {
            CellKind::Int { bits: int.bit_width as u8, signed: int.is_signed }
        }
        (Physical::INT64, Some(LogicalType::Integer(int))) if int.bit_width == 64 => {
            CellKind::Int { bits: 64, signed: int.is_signed }
        }
        (Physical::INT32, Some(LogicalType::Date)) => CellKind::Date,
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Time(time))) => CellKind::Time(TickUnit::of(time.unit)),
        (Physical::INT64, Some(LogicalType::Timestamp(stamp))) => {
            CellKind::Timestamp { unit: TickUnit::of(stamp.unit), utc: stamp.is_adjusted_to_u_t_c }
        }
        (Physical::INT96, None) => CellKind::Int96,
        (Physical::FLOAT, None) => CellKind::Float,
        (Physical::DOUBLE, None) => CellKind::Double,
        (
            Physical::INT32 | Physical::INT64 | Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY,
            Some(LogicalType::Decimal(decimal)),
        ) if (1..=MOST_DIGITS).contains(&decimal.precision) && (0..=decimal.precision).contains(&decimal.scale) => {
            CellKind::Decimal { precision: decimal.precision as u32, scale: decimal.scale as u32 }
        }
        (
            Physical::BYTE_ARRAY,
            None | Some(LogicalType::String) | Some(LogicalType::Enum) | Some(LogicalType::Json),
        )
        | (Physical::FIXED_LEN_BYTE_ARRAY, None) => CellKind::Text,
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) => CellKind::Uuid,
        _ => return None,
    })
}

fn type_name(schema: &Schema) -> String {
    let Some(logical) = logical(schema) else {
        return match (schema.get_basic_info().converted_type(), schema.get_physical_type()) {
            (ConvertedType::INTERVAL, _) => "INTERVAL".into(),
            (_, Physical::FIXED_LEN_BYTE_ARRAY) => format!("FIXED_LEN_BYTE_ARRAY({})", type_length(schema)),
            (_, physical) => physical.to_string(),
        };
    };
    match logical {
        LogicalType::String => "STRING".into(),
        LogicalType::Enum => "ENUM".into(),
        LogicalType::Json => "JSON".into(),
        LogicalType::Bson => "BSON".into(),
        LogicalType::Uuid => "UUID".into(),
        LogicalType::Date => "DATE".into(),
        LogicalType::Float16 => "FLOAT16".into(),
        LogicalType::Unknown => "NULL".into(),
        LogicalType::Decimal(decimal) => format!("DECIMAL({},{})", decimal.precision, decimal.scale),
        LogicalType::Integer(int) => format!("{}INT{}", if int.is_signed { "" } else { "U" }, int.bit_width),
        LogicalType::Time(time) => format!("TIME({:?})", time.unit),
        LogicalType::Timestamp(stamp) if stamp.is_adjusted_to_u_t_c => format!("TIMESTAMP({:?}, UTC)", stamp.unit),
        LogicalType::Timestamp(stamp) => format!("TIMESTAMP({:?})", stamp.unit),
        LogicalType::Geometry(_) => "GEOMETRY".into(),
        LogicalType::Geography(_) => "GEOGRAPHY".into(),
        LogicalType::Map | LogicalType::List | LogicalType::Variant(_) => "a nested type".into(),
        LogicalType::_Unknown { .. } => "a type that is newer than this version of Kohort".into(),
    }
}
