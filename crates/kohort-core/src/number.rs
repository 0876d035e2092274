//! Numbers with a meaning. Decimals are read as written, and privacy decides on integers.

use std::cmp::Ordering;
use std::fmt;

/// A decimal exactly as it was written: 0.3 is 3/10.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    /// Reads `-12`, `0.30`, `1e3` is refused. `point` is the decimal mark, `.` or `,`.
    pub fn parse(text: &str, point: u8) -> Option<Decimal> {
        let bytes = text.as_bytes();
        let (negative, rest) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            b'+' => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        let (mut digits, mut scale, mut seen_point, mut any) = (0i128, 0u32, false, false);
        for &b in rest {
            match b {
                b'0'..=b'9' => {
                    digits = digits.checked_mul(10)?.checked_add(i128::from(b - b'0'))?;
                    scale += u32::from(seen_point);
                    any = true;
                }
                _ if b == point && !seen_point => seen_point = true,
                _ => return None,
            }
        }
        // Sixteen decimals and eighteen digits keep every product below inside an i128.
        if !any || scale > 16 || digits >= 10i128.pow(18) {
            return None;
        }
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        Some(Decimal { digits: if negative { -digits } else { digits }, scale })
    }

    /// A whole number.
    pub fn whole(n: i64) -> Decimal {
        Decimal { digits: i128::from(n), scale: 0 }
    }

    /// Returns whether it has no decimals.
    pub fn is_whole(self) -> bool {
        self.scale == 0
    }

    /// The whole number it is, if it is one.
    pub fn to_whole(self) -> Option<i64> {
        (self.scale == 0).then(|| i64::try_from(self.digits).ok()).flatten()
    }

    /// Numerator and denominator, if it is positive and small enough to multiply with.
    pub fn to_ratio(self) -> Option<(u64, u64)> {
        let (num, den) = (u64::try_from(self.digits).ok()?, 10u64.checked_pow(self.scale)?);
        (num > 0 && num < 1 << 40 && den < 1 << 40).then_some((num, den))
    }

    /// For reports and widths; privacy never decides on it.
    pub fn to_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.scale as i32)
    }

    fn at_scale(self, scale: u32) -> i128 {
        self.digits * 10i128.pow(scale - self.scale)
    }

    /// `self - other`, exactly.
    pub fn minus(self, other: Decimal) -> Decimal {
        let scale = self.scale.max(other.scale);
        Decimal { digits: self.at_scale(scale) - other.at_scale(scale), scale }.normal()
    }

    /// `self + other`, exactly.
    pub fn plus(self, other: Decimal) -> Decimal {
        let scale = self.scale.max(other.scale);
        Decimal { digits: self.at_scale(scale) + other.at_scale(scale), scale }.normal()
    }

    /// `self × n`, exactly.
    pub fn times(self, n: i64) -> Decimal {
        Decimal { digits: self.digits * i128::from(n), scale: self.scale }.normal()
    }

    /// The largest whole n with n × width ≤ self; `width` is positive.
    pub fn floor_div(self, width: Decimal) -> i64 {
        let scale = self.scale.max(width.scale);
        self.at_scale(scale).div_euclid(width.at_scale(scale)) as i64
    }

    /// Returns whether `self` is a whole multiple of `width`.
    pub fn is_multiple_of(self, width: Decimal) -> bool {
        let scale = self.scale.max(width.scale);
        width.digits != 0 && self.at_scale(scale) % width.at_scale(scale) == 0
    }

    fn normal(mut self) -> Decimal {
        while self.scale > 0 && self.digits % 10 == 0 {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Decimal {}
impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.at_scale(scale).cmp(&other.at_scale(scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(f, "{}", self.digits);
        }
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = format!("{:0width$}", self.digits.unsigned_abs(), width = self.scale as usize + 1);
        let (whole, rest) = digits.split_at(digits.len() - self.scale as usize);
        write!(f, "{sign}{whole}.{rest}")
    }
}

/// The least number of patients in a class. One protects nobody, so it starts at two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct K(u64);

impl K {
    /// The least that protects anybody.
    pub const LEAST: K = K(2);

    /// `k` if it protects anybody.
    pub fn new(k: u64) -> Option<K> {
        (k >= 2).then_some(K(k))
    }

    /// The k that keeps the risk 1/k at or below `max_risk`: ceil(1 / max_risk).
    pub fn for_risk(max_risk: Fraction) -> Option<K> {
        K::new(max_risk.den.div_ceil(max_risk.num))
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for K {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A share from 0 to 1, exactly as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    num: u64,
    den: u64,
}

impl Fraction {
    /// The whole.
    pub const ONE: Fraction = Fraction { num: 1, den: 1 };
    /// Nothing.
    pub const NONE: Fraction = Fraction { num: 0, den: 1 };

    /// A share in [0, 1] as written; 5 is refused, 0.05 is meant.
    pub fn from_decimal(d: Decimal) -> Option<Fraction> {
        let den = 10u64.checked_pow(d.scale)?;
        let num = u64::try_from(d.digits).ok()?;
        (num <= den).then_some(Fraction { num, den })
    }

    /// Returns whether `part` is at most this share of `whole`.
    /// Compares products of integers, so 3 of 10 is within 30 % and no rounding decides it.
    pub fn allows(self, part: u64, whole: u64) -> bool {
        u128::from(part) * u128::from(self.den) <= u128::from(whole) * u128::from(self.num)
    }

    /// The largest number of `whole` that is within the share.
    pub fn of(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.num) / u128::from(self.den)) as u64
    }

    /// Numerator and denominator.
    pub fn parts(self) -> (u64, u64) {
        (self.num, self.den)
    }

    /// Returns whether it is 0.
    pub fn is_zero(self) -> bool {
        self.num == 0
    }

    /// For reports.
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.den.ilog10();
        Decimal { digits: i128::from(self.num), scale }.normal().fmt(f)
    }
}

/// Returns a whole number as people read it: 1234567 becomes `1,234,567`.
pub fn thousands(n: u64) -> String {
    grouped(&n.to_string())
}

/// Returns a text of digits with a comma before every three digits.
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text, b'.').unwrap()
    }

    #[test]
    fn decimals_are_what_was_written() {
        assert_eq!(d("0.3"), d("0.30"));
        assert_eq!(d("-1.50").to_string(), "-1.5");
        assert_eq!(d("0.05").to_string(), "0.05");
        assert_eq!(Decimal::parse("1,5", b',').unwrap(), d("1.5"));
        assert!(d("2") < d("10"));
        assert!(["", "-", ".", "1e3", "1.2.3", "12a", "1,5"].iter().all(|t| Decimal::parse(t, b'.').is_none()));
        assert_eq!(d("-0.1").floor_div(d("5")), -1);
        assert_eq!(d("9.99").floor_div(d("2.5")), 3);
    }

    #[test]
    fn three_of_ten_is_within_thirty_percent() {
        let share = Fraction::from_decimal(d("0.3")).unwrap();
        assert!(share.allows(3, 10) && !share.allows(4, 13) && share.allows(0, 0));
        assert_eq!(share.to_string(), "0.3");
        assert!(Fraction::from_decimal(d("5")).is_none());
    }

    #[test]
    fn a_k_protects_somebody() {
        assert!(K::new(0).is_none() && K::new(1).is_none());
        let risk = |t| K::for_risk(Fraction::from_decimal(d(t)).unwrap()).unwrap().get();
        assert_eq!([risk("0.05"), risk("0.04"), risk("0.3"), risk("0.09"), risk("0.2")], [20, 25, 4, 12, 5]);
    }

    #[test]
    fn digits_are_grouped_by_thousands() {
        let shown: Vec<String> = [0, 12, 123, 1234, 123_456, 1_234_567].into_iter().map(thousands).collect();
        assert_eq!(shown, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
    }
}
