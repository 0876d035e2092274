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
    /// Reads `-12` and `0.30` exactly; `1e3`, and a number with more digits than fit, are refused. `point` is the
    /// decimal mark, `.` or `,`. Thresholds are read this way.
    pub fn parse(text: &str, point: u8) -> Option<Decimal> {
        let written = WrittenNumber::read(text, point)?;
        (written.exponent.is_none() && !written.is_cut).then_some(written.number)
    }

    /// Reads a cell of the data as programs write numbers: `0.22700809999999905` and `1e-05` too. An exponent needs
    /// its sign, as programs write it: `1E50` is a code.
    ///
    /// A number with more digits than fit is rounded down to the last one that does. No bound of an interval has more,
    /// so that the number stays on its side of every bound.
    pub fn of_cell(text: &str, point: u8) -> Option<Decimal> {
        WrittenNumber::read(text, point).map(|written| written.number)
    }

    /// Reads a cell as [`Decimal::of_cell`] does, and refuses a number that would have to be rounded.
    pub fn of_exact_cell(text: &str, point: u8) -> Option<Decimal> {
        WrittenNumber::read(text, point).filter(|written| !written.is_cut).map(|written| written.number)
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

    /// The unit of its last decimal: 0.01 for 3.25, and 1 for a whole number.
    pub fn unit(self) -> Decimal {
        Decimal { digits: 1, scale: self.scale }
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

/// Sixteen decimals and eighteen digits keep every product inside an i128.
const MOST_DECIMALS: i64 = 16;
const MOST_DIGITS: i64 = 18;

/// A number as it was written, and what became of it.
struct WrittenNumber {
    number: Decimal,
    exponent: Option<i64>,
    /// True if digits behind the last one that fits were cut off, and one of them was not 0.
    is_cut: bool,
}

impl WrittenNumber {
    fn read(text: &str, point: u8) -> Option<WrittenNumber> {
        let bytes = text.as_bytes();
        let (negative, rest) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            b'+' => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        let (rest, exponent) = match rest.iter().position(|b| matches!(b, b'e' | b'E')) {
            Some(at) => (&rest[..at], Some(exponent(&rest[at + 1..])?)),
            None => (rest, None),
        };
        let mut parts = rest.splitn(2, |&b| b == point);
        let (whole, decimals) = (parts.next()?, parts.next().unwrap_or_default());
        if whole.len() + decimals.len() == 0 || !whole.iter().chain(decimals).all(u8::is_ascii_digit) {
            return None;
        }
        // The number is 0.d₁d₂d₃… × 10^size, and d₁ is not 0.
        let zeros = whole.iter().chain(decimals).take_while(|&&b| b == b'0').count();
        let digits = whole.iter().chain(decimals).skip(zeros).map(|b| b - b'0');
        let size = whole.len() as i64 - zeros as i64 + exponent.unwrap_or(0);
        let count = (whole.len() + decimals.len() - zeros) as i64;
        if count == 0 {
            return Some(WrittenNumber { number: Decimal { digits: 0, scale: 0 }, exponent, is_cut: false });
        }
        let scale = (count - size).clamp(0, MOST_DECIMALS).min(MOST_DIGITS - size);
        if size > MOST_DIGITS || scale < 0 {
            return None;
        }
        let kept = size + scale;
        let mut number = Decimal { digits: 0, scale: scale as u32 };
        let mut is_cut = false;
        for (place, digit) in (0..).zip(digits) {
            match place < kept {
                true => number.digits = number.digits * 10 + i128::from(digit),
                false => is_cut |= digit != 0,
            }
        }
        // Zeros that an exponent adds.
        (count..kept).for_each(|_| number.digits *= 10);
        if negative {
            // Down is away from zero.
            number.digits = -number.digits - i128::from(is_cut);
        }
        let fits = number.digits.abs() < 10i128.pow(MOST_DIGITS as u32);
        fits.then_some(WrittenNumber { number: number.normal(), exponent, is_cut })
    }
}

/// The exponent behind an `e`: a sign, and up to four digits.
fn exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = text.split_first()?;
    if !matches!(sign, b'+' | b'-') || !(1..=4).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0, |size, digit| size * 10 + i64::from(digit - b'0'));
    Some(if *sign == b'-' { -size } else { size })
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

/// A number with its noun, which is the first of the two for 1 and the second for any other number.
pub fn number_of(n: impl TryInto<u64>, [one, many]: [&str; 2]) -> String {
    match n.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        n => format!("{} {many}", thousands(n)),
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
    fn cells_are_numbers_as_programs_write_them() {
        let cell = |text: &str| Decimal::of_cell(text, b'.').map(|number| number.to_string());
        let shown = |texts: &[&str]| texts.iter().map(|text| cell(text).unwrap()).collect::<Vec<_>>();
        assert_eq!(
            shown(&["0.22700809999999905", "-0.22700809999999905", "0.30000000000000004", "1e-05", "-1.5E+3", "2e+0"]),
            ["0.227008099999999", "-0.2270080999999991", "0.3", "0.00001", "-1500", "2"]
        );
        assert_eq!(
            shown(&["12345.22700809999999905", "1e-20", "-1e-20", "0e+9999", "123456789012345678", "100000000.00"]),
            ["12345.2270080999999", "0", "-0.0000000000000001", "0", "123456789012345678", "100000000"]
        );
        let refused = [
            "",
            "-",
            ".",
            "e",
            "e+1",
            "1e",
            "1e3",
            "1E50",
            "1e+",
            "1e+1.5",
            "1.2.3",
            "1,5",
            "1e+18",
            "1e+99999",
            "1234567890123456789",
            "-999999999999999999.5",
            "1e+1e+1",
            "0x1",
            "NaN",
            "inf",
        ];
        assert!(refused.iter().all(|text| cell(text).is_none()));
        assert_eq!(Decimal::of_cell("1,5e-02", b','), Some(d("0.015")));
        let exact = |text: &str| Decimal::of_exact_cell(text, b'.').is_some();
        assert!(exact("1e-05") && exact("0.500000000000000000000") && !exact("0.22700809999999905"));
    }

    #[test]
    fn what_is_cut_off_never_decides_a_threshold() {
        let refused = ["0.22700809999999905", "1e-05", "1e+3", "0.30000000000000004", "1234567890123456789"];
        assert!(refused.iter().all(|text| Decimal::parse(text, b'.').is_none()));
    }

    proptest::proptest! {
        /// A cell is compared with a bound digit by digit, as text.
        #[test]
        fn a_cell_stays_on_its_side_of_every_bound(
            negative: bool, whole in 0u64..10_000, decimals in "[0-9]{1,30}", steps in -3i64..=3, places in 0u32..=14,
        ) {
            let sign = if negative { "-" } else { "" };
            let cell = Decimal::of_cell(&format!("{sign}{whole}.{decimals}"), b'.').unwrap();
            // A bound near the number, with at most 14 decimals.
            let padded = format!("{decimals:0<30}");
            let near = Decimal::parse(&format!("{sign}{whole}.{}", &padded[..places as usize]), b'.').unwrap();
            let bound = near.plus(Decimal { digits: i128::from(steps), scale: places });
            // In units of 10⁻³⁰ both are whole.
            let size = i128::from(whole) * 10i128.pow(30) + padded.parse::<i128>().unwrap();
            let exact = if negative { -size } else { size };
            let bound_exact = bound.digits * 10i128.pow(30 - bound.scale);
            proptest::prop_assert_eq!(cell >= bound, exact >= bound_exact);
        }
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
