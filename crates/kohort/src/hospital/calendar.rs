//! Days as numbers (0 is 1970-01-01) and as dates of the Gregorian calendar.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    pub year: i32,
    pub month: i32,
    pub day: i32,
}

impl Date {
    /// After Howard Hinnant's `civil_from_days`: years begin in March, eras have 400 years.
    #[inline]
    pub fn of(day_number: i32) -> Date {
        let shifted = day_number + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Date { year: era * 400 + year_of_era + i32::from(month <= 2), month, day }
    }

    /// Full years from `birth` to this day.
    #[inline]
    pub fn age(self, birth: Date) -> i32 {
        let before_birthday = (self.month, self.day) < (birth.month, birth.day);
        self.year - birth.year - i32::from(before_birthday)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(day_number: i32, year: i32, month: i32, day: i32) {
        let date = Date::of(day_number);
        assert_eq!((date.year, date.month, date.day), (year, month, day));
    }

    #[test]
    fn day_numbers_are_dates() {
        check(0, 1970, 1, 1);
        check(-1, 1969, 12, 31);
        check(-25_567, 1900, 1, 1);
        check(11_016, 2000, 2, 29);
        check(19_358, 2023, 1, 1);
        check(19_358 + 731, 2025, 1, 1);
    }

    #[test]
    fn age_changes_on_the_birthday() {
        let birth = Date { year: 2000, month: 2, day: 29 };
        assert_eq!(Date { year: 2023, month: 2, day: 28 }.age(birth), 22);
        assert_eq!(Date { year: 2023, month: 3, day: 1 }.age(birth), 23);
    }
}
