//! Element types, devices, layouts and memory formats, with torch's numbers and spellings.

use crate::names::NameId;

/// An element type. The discriminants are the archive's `ScalarType` numbers, which are not
/// those of `c10::ScalarType`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum DType {
    /// `torch.uint8`
    UInt8 = 1,
    /// `torch.int8`
    Int8 = 2,
    /// `torch.int16`
    Int16 = 3,
    /// `torch.int32`
    Int32 = 4,
    /// `torch.int64`
    Int64 = 5,
    /// `torch.float16`
    Float16 = 6,
    /// `torch.float32`
    Float32 = 7,
    /// `torch.float64`
    Float64 = 8,
    /// `torch.complex32`
    Complex32 = 9,
    /// `torch.complex64`
    Complex64 = 10,
    /// `torch.complex128`
    Complex128 = 11,
    /// `torch.bool`
    Bool = 12,
    /// `torch.bfloat16`
    BFloat16 = 13,
    /// `torch.uint16`
    UInt16 = 28,
    /// `torch.float8_e4m3fn`
    Float8E4M3Fn = 29,
    /// `torch.float8_e5m2`
    Float8E5M2 = 30,
    /// `torch.float8_e4m3fnuz`
    Float8E4M3FnUz = 31,
    /// `torch.float8_e5m2fnuz`
    Float8E5M2FnUz = 32,
    /// `torch.float8_e8m0fnu`
    Float8E8M0Fnu = 33,
    /// `torch.uint32`
    UInt32 = 34,
    /// `torch.uint64`
    UInt64 = 35,
}

/// One row of facts for each dtype: torch's name, the readable form's short name, bytes.
const FACTS: &[(DType, &str, &str, usize)] = &[
    (DType::UInt8, "uint8", "u8", 1),
    (DType::Int8, "int8", "i8", 1),
    (DType::Int16, "int16", "i16", 2),
    (DType::Int32, "int32", "i32", 4),
    (DType::Int64, "int64", "i64", 8),
    (DType::Float16, "float16", "f16", 2),
    (DType::Float32, "float32", "f32", 4),
    (DType::Float64, "float64", "f64", 8),
    (DType::Complex32, "complex32", "c32", 4),
    (DType::Complex64, "complex64", "c64", 8),
    (DType::Complex128, "complex128", "c128", 16),
    (DType::Bool, "bool", "b8", 1),
    (DType::BFloat16, "bfloat16", "bf16", 2),
    (DType::UInt16, "uint16", "u16", 2),
    (DType::Float8E4M3Fn, "float8_e4m3fn", "f8e4m3fn", 1),
    (DType::Float8E5M2, "float8_e5m2", "f8e5m2", 1),
    (DType::Float8E4M3FnUz, "float8_e4m3fnuz", "f8e4m3fnuz", 1),
    (DType::Float8E5M2FnUz, "float8_e5m2fnuz", "f8e5m2fnuz", 1),
    (DType::Float8E8M0Fnu, "float8_e8m0fnu", "f8e8m0fnu", 1),
    (DType::UInt32, "uint32", "u32", 4),
    (DType::UInt64, "uint64", "u64", 8),
];

impl DType {
    fn facts(self) -> (&'static str, &'static str, usize) {
        FACTS
            .iter()
            .find(|row| row.0 == self)
            .map_or(("unknown", "unknown", 0), |row| (row.1, row.2, row.3))
    }

    /// The dtype with the archive's `ScalarType` number.
    pub fn from_archive(number: u64) -> Option<Self> {
        FACTS
            .iter()
            .find(|row| row.0 as u64 == number)
            .map(|row| row.0)
    }

    /// The dtype that torch calls `name` (`float32`, without `torch.`).
    pub fn from_name(name: &str) -> Option<Self> {
        FACTS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The dtype whose short name in the readable form is `name` (`f32`).
    pub fn from_short_name(name: &str) -> Option<Self> {
        FACTS.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// torch's name, without `torch.`.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The readable form's short name.
    pub fn short_name(self) -> &'static str {
        self.facts().1
    }

    /// Bytes per element.
    pub fn bytes(self) -> usize {
        self.facts().2
    }

    /// Whether this is a complex type.
    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex32 | Self::Complex64 | Self::Complex128)
    }

    /// Whether this is a real floating-point type.
    pub fn is_floating_point(self) -> bool {
        self.short_name().starts_with('f') || self == Self::BFloat16
    }

    /// The type of the real and imaginary parts of a complex type.
    pub fn to_real(self) -> Self {
        match self {
            Self::Complex32 => Self::Float16,
            Self::Complex64 => Self::Float32,
            Self::Complex128 => Self::Float64,
            other => other,
        }
    }

    /// The complex type whose parts have this type.
    pub fn to_complex(self) -> Option<Self> {
        match self {
            Self::Float16 => Some(Self::Complex32),
            Self::Float32 => Some(Self::Complex64),
            Self::Float64 => Some(Self::Complex128),
            other if other.is_complex() => Some(other),
            _ => None,
        }
    }
}

/// Where a tensor lives, as torch writes it: `cpu`, `cuda:0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Device {
    /// `cpu`, `cuda`, `meta`, ...
    pub kind: NameId,
    /// The index, where one is given.
    pub index: Option<i32>,
}

/// How a tensor's elements are stored. The discriminants are the archive's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Layout {
    /// `torch.sparse_coo`
    SparseCoo = 1,
    /// `torch.sparse_csr`
    SparseCsr = 2,
    /// `torch.sparse_csc`
    SparseCsc = 3,
    /// `torch.sparse_bsr`
    SparseBsr = 4,
    /// `torch.sparse_bsc`
    SparseBsc = 5,
    /// `torch._mkldnn`
    Mkldnn = 6,
    /// `torch.strided`
    Strided = 7,
}

impl Layout {
    const ALL: [(Self, &'static str); 7] = [
        (Self::SparseCoo, "sparse_coo"),
        (Self::SparseCsr, "sparse_csr"),
        (Self::SparseCsc, "sparse_csc"),
        (Self::SparseBsr, "sparse_bsr"),
        (Self::SparseBsc, "sparse_bsc"),
        (Self::Mkldnn, "_mkldnn"),
        (Self::Strided, "strided"),
    ];

    /// The layout with the archive's number.
    pub fn from_archive(number: u64) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|row| row.0 as u64 == number)
            .map(|row| row.0)
    }

    /// The layout that torch calls `name`, without `torch.`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// torch's name, without `torch.`.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|row| row.0 == self)
            .map_or("unknown", |row| row.1)
    }
}

/// An order of strides that an operator is asked for. The discriminants are the archive's
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum MemoryFormat {
    /// `torch.contiguous_format`
    Contiguous = 1,
    /// `torch.channels_last`
    ChannelsLast = 2,
    /// `torch.channels_last_3d`
    ChannelsLast3d = 3,
    /// `torch.preserve_format`
    Preserve = 4,
}

impl MemoryFormat {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Contiguous, "contiguous_format"),
        (Self::ChannelsLast, "channels_last"),
        (Self::ChannelsLast3d, "channels_last_3d"),
        (Self::Preserve, "preserve_format"),
    ];

    /// The memory format with the archive's number.
    pub fn from_archive(number: u64) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|row| row.0 as u64 == number)
            .map(|row| row.0)
    }

    /// The memory format that torch calls `name`, without `torch.`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// torch's name, without `torch.`.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|row| row.0 == self)
            .map_or("unknown", |row| row.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_find_the_same_dtype() {
        for &(dtype, name, short, bytes) in FACTS {
            assert_eq!(DType::from_archive(dtype as u64), Some(dtype));
            assert_eq!(DType::from_name(name), Some(dtype));
            assert_eq!(DType::from_short_name(short), Some(dtype));
            assert_eq!(dtype.bytes(), bytes);
        }
        assert_eq!(DType::from_archive(0), None);
        assert_eq!(
            DType::Complex64.to_real().to_complex(),
            Some(DType::Complex64)
        );
    }
}
