//! A strict look at the Thrift structures of a Parquet file, before the `parquet` crate decodes them.
//!
//! The crate reads a field it knows as the type it expects, whatever the file says, and allocates the number of
//! row groups or children the file claims. Here each field must have the type the format gives it and each list
//! must hold the elements it claims, so that both readings are the same and nothing larger than the file is
//! allocated. <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>

use ThriftType::{Bool, Byte, Bytes, Double, Int, List, Struct};

/// The type of a field in the compact protocol.
enum ThriftType {
    Bool,
    Byte,
    Int,
    Double,
    Bytes,
    List(&'static ThriftType),
    Struct(&'static Fields),
}

type Fields = [(i16, ThriftType)];

const FILE: &Fields = &[
    (1, Int),
    (3, Int),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Bytes),
    (7, List(&Struct(&[(1, Struct(&[])), (2, Struct(&[]))]))),
];
const SCHEMA_ELEMENT: &Fields = &[
    (1, Int),
    (2, Int),
    (3, Int),
    (4, Bytes),
    (5, Int),
    (6, Int),
    (7, Int),
    (8, Int),
    (9, Int),
    (10, Struct(LOGICAL_TYPE)),
];
const LOGICAL_TYPE: &Fields = &[
    (1, Struct(&[])),
    (2, Struct(&[])),
    (3, Struct(&[])),
    (4, Struct(&[])),
    (5, Struct(&[(1, Int), (2, Int)])),
    (6, Struct(&[])),
    (7, Struct(TIME_TYPE)),
    (8, Struct(TIME_TYPE)),
    (10, Struct(&[(1, Byte), (2, Bool)])),
    (11, Struct(&[])),
    (12, Struct(&[])),
    (13, Struct(&[])),
    (14, Struct(&[])),
    (15, Struct(&[])),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Bytes)])),
    (18, Struct(&[(1, Bytes), (2, Int)])),
];
const TIME_TYPE: &Fields = &[(1, Bool), (2, Struct(&[(1, Struct(&[])), (2, Struct(&[])), (3, Struct(&[]))]))];
const KEY_VALUE: &Fields = &[(1, Bytes), (2, Bytes)];
const ROW_GROUP: &Fields = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, Int),
    (3, Int),
    (4, List(&Struct(&[(1, Int), (2, Bool), (3, Bool)]))),
    (5, Int),
    (6, Int),
    (7, Int),
];
const COLUMN_CHUNK: &Fields = &[(1, Bytes), (2, Int), (3, Struct(COLUMN_META)), (4, Int), (5, Int), (6, Int), (7, Int)];
const COLUMN_META: &Fields = &[
    (1, Int),
    (2, List(&Int)),
    (3, List(&Bytes)),
    (4, Int),
    (5, Int),
    (6, Int),
    (7, Int),
    (8, List(&Struct(KEY_VALUE))),
    (9, Int),
    (10, Int),
    (11, Int),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, Int), (2, Int), (3, Int)]))),
    (14, Int),
    (15, Int),
    (16, Struct(&[(1, Int), (2, List(&Int)), (3, List(&Int))])),
    (17, Struct(&[(1, Struct(BOX)), (2, List(&Int))])),
];
const STATISTICS: &Fields = &[(1, Bytes), (2, Bytes), (3, Int), (4, Int), (5, Bytes), (6, Bytes), (7, Bool), (8, Bool)];
const BOX: &Fields =
    &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];
const PAGE: &Fields = &[
    (4, Int),
    (5, Struct(&[(1, Int), (2, Int), (3, Int), (4, Int), (5, Struct(STATISTICS))])),
    (6, Struct(&[])),
    (7, Struct(&[(1, Int), (2, Int), (3, Bool)])),
];
const PAGE_V2: &Fields = &[(1, Int), (2, Int), (3, Int), (4, Int), (7, Bool), (8, Struct(STATISTICS))];

/// The deepest nesting that is followed: of groups in a schema, and of structures the format does not know.
const DEEPEST: usize = 32;

/// Returns whether the metadata at the end of a file are what they claim to be.
pub(super) fn is_footer(bytes: &[u8]) -> bool {
    footer(&mut Thrift { rest: bytes }).is_some()
}

fn footer(thrift: &mut Thrift) -> Option<()> {
    let mut last = 0;
    while let Some((field, wire)) = thrift.field(&mut last)? {
        match field {
            2 => schema(thrift, wire)?,
            _ => thrift.pass(wire, shape(FILE, field), DEEPEST)?,
        }
    }
    Some(())
}

/// Passes the schema, a tree written as a list, in which each group says how many children follow it.
fn schema(thrift: &mut Thrift, wire: u8) -> Option<()> {
    let (element, count) = thrift.list(wire)?;
    if element != STRUCT && count > 0 {
        return None;
    }
    // How many children each open group still waits for.
    let mut open: Vec<usize> = Vec::new();
    for i in 0..count {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(waiting) = open.last_mut() {
            *waiting -= 1;
        }
        let (mut last, mut children) = (0, 0);
        while let Some((field, wire)) = thrift.field(&mut last)? {
            match field {
                5 => children = usize::try_from(thrift.int(wire)?).ok()?,
                _ => thrift.pass(wire, shape(SCHEMA_ELEMENT, field), DEEPEST)?,
            }
        }
        if children >= count - i || open.len() > DEEPEST {
            return None;
        }
        if children > 0 {
            open.push(children);
        }
    }
    Some(())
}

/// The header of a page.
#[derive(Debug, PartialEq)]
pub(super) struct PageHeader {
    /// The bytes of the header itself.
    pub(super) len: usize,
    /// 0 data, 1 index, 2 dictionary, 3 data in the second layout.
    pub(super) kind: i32,
    /// Bytes of the page in the file.
    pub(super) compressed: u32,
    /// Bytes of the page in memory.
    pub(super) uncompressed: u32,
    /// Bytes at the start of a page of the second layout that are never compressed.
    pub(super) levels: u32,
}

/// The page header at the start of `bytes`, if there is a whole one.
pub(super) fn page_header(bytes: &[u8]) -> Option<PageHeader> {
    let mut thrift = Thrift { rest: bytes };
    let (mut kind, mut compressed, mut uncompressed, mut levels) = (None, None, None, [0; 2]);
    let mut last = 0;
    while let Some((field, wire)) = thrift.field(&mut last)? {
        match field {
            1 => kind = Some(thrift.int(wire)?),
            2 => uncompressed = Some(thrift.int(wire)?),
            3 => compressed = Some(thrift.int(wire)?),
            8 if wire == STRUCT => {
                let mut last = 0;
                while let Some((field, wire)) = thrift.field(&mut last)? {
                    match field {
                        5 | 6 => levels[usize::from(field == 6)] = thrift.int(wire)?,
                        _ => thrift.pass(wire, shape(PAGE_V2, field), DEEPEST)?,
                    }
                }
            }
            8 => return None,
            _ => thrift.pass(wire, shape(PAGE, field), DEEPEST)?,
        }
    }
    let size = |n: i64| i32::try_from(n).ok().and_then(|n| u32::try_from(n).ok());
    Some(PageHeader {
        len: bytes.len() - thrift.rest.len(),
        kind: i32::try_from(kind?).ok()?,
        compressed: size(compressed?)?,
        uncompressed: size(uncompressed?)?,
        levels: size(levels[0])?.checked_add(size(levels[1])?)?,
    })
}

fn shape(fields: &'static Fields, id: i16) -> Option<&'static ThriftType> {
    fields.iter().find(|(field, _)| *field == id).map(|(_, shape)| shape)
}

const STRUCT: u8 = 12;

impl ThriftType {
    /// Returns whether the type a file gives a field is this one.
    fn is(&self, wire: u8) -> bool {
        match self {
            Bool => matches!(wire, 1 | 2),
            Byte => wire == 3,
            Int => matches!(wire, 4..=6),
            Double => wire == 7,
            Bytes => wire == 8,
            List(_) => wire == 9,
            Struct(_) => wire == STRUCT,
        }
    }
}

/// Describes what is left to read. `None` means that it is not what it should be.
struct Thrift<'a> {
    rest: &'a [u8],
}

impl Thrift<'_> {
    fn take(&mut self, n: usize) -> Option<()> {
        self.rest = self.rest.get(n..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.rest.first()?;
        self.take(1)?;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let (value, len) = varint(self.rest)?;
        self.take(len)?;
        Some(value)
    }

    fn int(&mut self, wire: u8) -> Option<i64> {
        if !Int.is(wire) {
            return None;
        }
        let n = self.varint()?;
        Some((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// The number and type of the next field, or `Some(None)` at the end of the structure.
    fn field(&mut self, last: &mut i16) -> Option<Option<(i16, u8)>> {
        let head = self.byte()?;
        if head & 0xf == 0 {
            return Some(None);
        }
        *last = match head >> 4 {
            0 => i16::try_from(self.int(4)?).ok()?,
            step => last.checked_add(i16::from(step))?,
        };
        Some(Some((*last, head & 0xf)))
    }

    /// The type and number of the elements of a list. Elements without a byte of their own are refused.
    fn list(&mut self, wire: u8) -> Option<(u8, usize)> {
        if !matches!(wire, 9 | 10) {
            return None;
        }
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            count => usize::from(count),
        };
        let element = head & 0xf;
        (count <= self.rest.len() && (count == 0 || element > 2)).then_some((element, count))
    }

    /// Passes a value and all it holds.
    fn pass(&mut self, wire: u8, shape: Option<&'static ThriftType>, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if shape.is_some_and(|shape| !shape.is(wire)) {
            return None;
        }
        match wire {
            1 | 2 => {}
            3 => self.take(1)?,
            4..=6 => {
                self.varint()?;
            }
            7 => self.take(8)?,
            8 => {
                let len = usize::try_from(self.varint()?).ok()?;
                self.take(len)?;
            }
            9 | 10 => {
                let (element, count) = self.list(wire)?;
                let inner = if let Some(List(inner)) = shape { Some(*inner) } else { None };
                for _ in 0..count {
                    self.pass(element, inner, depth)?;
                }
            }
            11 => {
                let count = self.varint()?;
                if count > 0 {
                    let types = self.byte()?;
                    if types >> 4 <= 2 || types & 0xf <= 2 {
                        return None;
                    }
                    for _ in 0..count {
                        self.pass(types >> 4, None, depth)?;
                        self.pass(types & 0xf, None, depth)?;
                    }
                }
            }
            STRUCT => {
                let fields = if let Some(Struct(fields)) = shape { *fields } else { &[] };
                let mut last = 0;
                while let Some((field, wire)) = self.field(&mut last)? {
                    self.pass(wire, self::shape(fields, field), depth)?;
                }
            }
            13 => self.take(16)?,
            _ => return None,
        }
        Some(())
    }
}

/// A number of seven bits a byte, lowest first, and its length.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}
