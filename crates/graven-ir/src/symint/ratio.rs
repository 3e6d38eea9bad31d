//! Exact fractions of 64-bit integers.

use std::cmp::Ordering;

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ratio {
    numerator: i64,
    denominator: i64,
}

impl Ratio {
    pub(super) fn integer(value: i64) -> Self {
        Self {
            numerator: value,
            denominator: 1,
        }
    }

    /// `numerator / denominator`; `None` for a denominator of zero.
    pub(super) fn new(numerator: i64, denominator: i64) -> Option<Self> {
        Self::reduced(numerator.into(), denominator.into())
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Self> {
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a).ok()? * denominator.signum();
        Some(Self {
            numerator: i64::try_from(numerator.checked_div(divisor)?).ok()?,
            denominator: i64::try_from(denominator.checked_div(divisor)?).ok()?,
        })
    }

    pub(super) fn numerator(self) -> i64 {
        self.numerator
    }

    pub(super) fn denominator(self) -> i64 {
        self.denominator
    }

    pub(super) fn is_zero(self) -> bool {
        self.numerator == 0
    }

    pub(super) fn as_integer(self) -> Option<i64> {
        (self.denominator == 1).then_some(self.numerator)
    }

    pub(super) fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        // Products of 64-bit numbers fit 128 bits, and so does the sum of two such products.
        let numerator = i128::from(self.numerator) * i128::from(other.denominator)
            + i128::from(other.numerator) * i128::from(self.denominator);
        Self::reduced(
            numerator,
            i128::from(self.denominator) * i128::from(other.denominator),
        )
    }

    pub(super) fn checked_mul(self, other: Self) -> Option<Self> {
        Self::reduced(
            i128::from(self.numerator) * i128::from(other.numerator),
            i128::from(self.denominator) * i128::from(other.denominator),
        )
    }

    /// `self ** exponent`; `None` for a negative power of zero and beyond 64 bits.
    pub(super) fn checked_pow(self, exponent: i64) -> Option<Self> {
        let base = if exponent < 0 {
            Self::new(self.denominator, self.numerator)?
        } else {
            self
        };
        if base.denominator == 1 && base.numerator.unsigned_abs() <= 1 {
            let odd = exponent % 2 != 0;
            return Some(match base.numerator {
                -1 if !odd => Self::integer(1),
                0 if exponent == 0 => Self::integer(1),
                _ => base,
            });
        }
        let exponent = u32::try_from(exponent.unsigned_abs()).ok()?;
        Some(Self {
            numerator: base.numerator.checked_pow(exponent)?,
            denominator: base.denominator.checked_pow(exponent)?,
        })
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = i128::from(self.numerator) * i128::from(other.denominator);
        let right = i128::from(other.numerator) * i128::from(self.denominator);
        left.cmp(&right)
    }
}
