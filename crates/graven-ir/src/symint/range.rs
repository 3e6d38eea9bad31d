//! Ranges of integers, and arithmetic on them.

use std::fmt;

/// One end of a range. The order is that of the values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// Below every integer.
    NegativeInfinity,
    /// An integer.
    Int(i64),
    /// Above every integer.
    Infinity,
}

impl Bound {
    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::NegativeInfinity | Self::Infinity => None,
        }
    }

    /// The bound at `value`; infinite beyond 64 bits, which only widens a range when `value` is
    /// computed towards the outside.
    fn from_wide(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(value) => Self::Int(value),
            Err(_) if value < 0 => Self::NegativeInfinity,
            Err(_) => Self::Infinity,
        }
    }

    fn signum(self) -> i64 {
        match self {
            Self::NegativeInfinity => -1,
            Self::Int(value) => value.signum(),
            Self::Infinity => 1,
        }
    }

    fn infinity_of_sign(sign: i64) -> Self {
        match sign {
            0 => Self::Int(0),
            sign if sign < 0 => Self::NegativeInfinity,
            _ => Self::Infinity,
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::NegativeInfinity => Self::Infinity,
            Self::Int(value) => Self::from_wide(-i128::from(value)),
            Self::Infinity => Self::NegativeInfinity,
        }
    }

    /// The sum of two lower ends or of two upper ends; opposite infinities do not meet there.
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::from_wide(i128::from(a) + i128::from(b)),
            (Self::Int(_), infinite) | (infinite, _) => infinite,
        }
    }

    /// The product, where nothing is as strong as zero.
    fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::from_wide(i128::from(a) * i128::from(b)),
            (a, b) => Self::infinity_of_sign(a.signum() * b.signum()),
        }
    }

    /// The quotient, rounded down, for a divisor that is not zero.
    fn floor_div(self, divisor: Self) -> Self {
        match (self, divisor) {
            (Self::Int(a), Self::Int(b)) if b != 0 => {
                let (a, b) = (i128::from(a), i128::from(b));
                let quotient = a.div_euclid(b);
                // Euclidean division rounds up when the divisor is negative.
                let inexact = a.rem_euclid(b) != 0;
                Self::from_wide(quotient - i128::from(b < 0 && inexact))
            }
            (Self::Int(a), infinite) => Self::Int(if a.signum() * infinite.signum() < 0 {
                -1
            } else {
                0
            }),
            (infinite, Self::Int(b)) => Self::infinity_of_sign(infinite.signum() * b.signum()),
            _ => Self::Int(0),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NegativeInfinity => f.write_str("-int_oo"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Infinity => f.write_str("int_oo"),
        }
    }
}

/// A range of integers, both ends included. A lower end above the upper one means that there is
/// no such integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ValueRange {
    /// The least value.
    pub lower: Bound,
    /// The greatest value.
    pub upper: Bound,
}

impl ValueRange {
    /// Every integer.
    pub const ALL: Self = Self {
        lower: Bound::NegativeInfinity,
        upper: Bound::Infinity,
    };

    /// The integers from `lower` to `upper`; `None` for no bound.
    pub fn new(lower: Option<i64>, upper: Option<i64>) -> Self {
        Self {
            lower: lower.map_or(Bound::NegativeInfinity, Bound::Int),
            upper: upper.map_or(Bound::Infinity, Bound::Int),
        }
    }

    /// `value` alone.
    pub fn exactly(value: i64) -> Self {
        Self::new(Some(value), Some(value))
    }

    /// Whether no integer is in it.
    pub fn is_empty(self) -> bool {
        self.lower > self.upper
    }

    /// Whether `value` is in it.
    pub fn contains(self, value: i64) -> bool {
        self.lower <= Bound::Int(value) && Bound::Int(value) <= self.upper
    }

    /// The only value, if there is just one.
    pub fn single(self) -> Option<i64> {
        self.lower.as_int().filter(|_| self.lower == self.upper)
    }

    /// What is in both.
    pub fn intersect(self, other: Self) -> Self {
        Self {
            lower: self.lower.max(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// The least range that covers both.
    pub fn union(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    pub(super) fn is_nonnegative(self) -> bool {
        self.lower >= Bound::Int(0)
    }

    pub(super) fn is_positive(self) -> bool {
        self.lower >= Bound::Int(1)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            lower: self.lower.plus(other.lower),
            upper: self.upper.plus(other.upper),
        }
    }

    pub(super) fn negated(self) -> Self {
        Self {
            lower: self.upper.negated(),
            upper: self.lower.negated(),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        self.corners(other, Bound::times)
    }

    /// The range of quotients, rounded down.
    pub(super) fn floor_div(self, divisor: Self) -> Self {
        if divisor.contains(0) || divisor.is_empty() {
            return Self::ALL;
        }
        self.corners(divisor, Bound::floor_div)
    }

    /// The range of remainders with the sign of the divisor.
    pub(super) fn modulo(self, divisor: Self) -> Self {
        if divisor.is_empty() || divisor.contains(0) {
            return Self::ALL;
        }
        if divisor.is_positive() {
            let greatest = divisor.upper.plus(Bound::Int(-1));
            if !self.is_nonnegative() {
                return Self {
                    lower: Bound::Int(0),
                    upper: greatest,
                };
            }
            if self.upper < divisor.lower {
                return self;
            }
            return Self {
                lower: Bound::Int(0),
                upper: self.upper.min(greatest),
            };
        }
        Self {
            lower: divisor.lower.plus(Bound::Int(1)),
            upper: Bound::Int(0),
        }
    }

    pub(super) fn maximum(self, other: Self) -> Self {
        Self {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    pub(super) fn minimum(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// The range of `x ** exponent` for a constant exponent that is not negative.
    pub(super) fn power(self, exponent: u32) -> Self {
        let raise = |bound: Bound| match bound {
            Bound::Int(base) => match i128::from(base).checked_pow(exponent) {
                Some(power) => Bound::from_wide(power),
                None if base < 0 && exponent % 2 == 1 => Bound::NegativeInfinity,
                None => Bound::Infinity,
            },
            Bound::NegativeInfinity if exponent.is_multiple_of(2) => Bound::Infinity,
            infinite => infinite,
        };
        if exponent == 0 {
            return Self::exactly(1);
        }
        let ends = (raise(self.lower), raise(self.upper));
        let even_about_zero = exponent.is_multiple_of(2) && self.contains(0);
        Self {
            lower: if even_about_zero {
                Bound::Int(0)
            } else {
                ends.0.min(ends.1)
            },
            upper: ends.0.max(ends.1),
        }
    }

    /// The hull of an operation that is monotonic in each operand.
    fn corners(self, other: Self, operation: fn(Bound, Bound) -> Bound) -> Self {
        let corner = operation(self.lower, other.lower);
        let start = Self {
            lower: corner,
            upper: corner,
        };
        [
            operation(self.lower, other.upper),
            operation(self.upper, other.lower),
            operation(self.upper, other.upper),
        ]
        .into_iter()
        .fold(start, |hull, corner| Self {
            lower: hull.lower.min(corner),
            upper: hull.upper.max(corner),
        })
    }
}

impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VR[{}, {}]", self.lower, self.upper)
    }
}
