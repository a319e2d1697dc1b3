//! sysbench's options of a workload: their names, defaults, and values by name.
//!
//! Must not know: which workload has a use for which.

/// sysbench's options of its scripts, with its names and defaults. An option that a workload has
/// no use for changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadOptions {
    /// Whether the four range statements run.
    pub range_selects: bool,
    /// Drops BEGIN and COMMIT.
    pub skip_trx: bool,
    /// Primary-key lookups in an event.
    pub point_selects: u32,
    /// `BETWEEN` range reads in an event.
    pub simple_ranges: u32,
    /// `SUM()` over a range.
    pub sum_ranges: u32,
    /// Range reads with `ORDER BY`.
    pub order_ranges: u32,
    /// Range reads with `DISTINCT` and `ORDER BY`.
    pub distinct_ranges: u32,
    /// Rows in a range: ids `[id, id + range_size - 1]`.
    pub range_size: u32,
    /// Updates of `k`.
    pub index_updates: u32,
    /// Updates of `c`.
    pub non_index_updates: u32,
    /// Pairs of DELETE and INSERT with the same id.
    pub delete_inserts: u32,
    /// Values in the IN list of `select_random_points`.
    pub random_points: u32,
    /// Ranges in the condition of `select_random_ranges`.
    pub number_of_ranges: u32,
    /// The last value of each of them less the first.
    pub delta: u32,
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            range_selects: true,
            skip_trx: false,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            range_size: 100,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            random_points: 10,
            number_of_ranges: 10,
            delta: 5,
        }
    }
}

macro_rules! named_options {
    ($type:ident of $value:ty: $($variant:ident = $field:ident),+) => {
        impl $type {
            /// Every option of this type, in the order in which tables list them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// sysbench's name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field)),+ }
            }

            /// The option of that name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|option| option.name() == name)
            }

            /// Its value.
            pub fn of(self, options: &WorkloadOptions) -> $value {
                match self { $(Self::$variant => options.$field),+ }
            }

            /// Its value, to be set.
            pub fn of_mut(self, options: &mut WorkloadOptions) -> &mut $value {
                match self { $(Self::$variant => &mut options.$field),+ }
            }
        }
    };
}

/// The name of an option that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// See [`WorkloadOptions::range_selects`].
    RangeSelects,
    /// See [`WorkloadOptions::skip_trx`].
    SkipTrx,
}

named_options!(Flag of bool: RangeSelects = range_selects, SkipTrx = skip_trx);

/// The name of an option that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// See [`WorkloadOptions::point_selects`].
    PointSelects,
    /// See [`WorkloadOptions::simple_ranges`].
    SimpleRanges,
    /// See [`WorkloadOptions::sum_ranges`].
    SumRanges,
    /// See [`WorkloadOptions::order_ranges`].
    OrderRanges,
    /// See [`WorkloadOptions::distinct_ranges`].
    DistinctRanges,
    /// See [`WorkloadOptions::range_size`].
    RangeSize,
    /// See [`WorkloadOptions::index_updates`].
    IndexUpdates,
    /// See [`WorkloadOptions::non_index_updates`].
    NonIndexUpdates,
    /// See [`WorkloadOptions::delete_inserts`].
    DeleteInserts,
    /// See [`WorkloadOptions::random_points`].
    RandomPoints,
    /// See [`WorkloadOptions::number_of_ranges`].
    NumberOfRanges,
    /// See [`WorkloadOptions::delta`].
    Delta,
}

named_options!(Number of u32: PointSelects = point_selects, SimpleRanges = simple_ranges,
    SumRanges = sum_ranges, OrderRanges = order_ranges, DistinctRanges = distinct_ranges,
    RangeSize = range_size, IndexUpdates = index_updates, NonIndexUpdates = non_index_updates,
    DeleteInserts = delete_inserts, RandomPoints = random_points,
    NumberOfRanges = number_of_ranges, Delta = delta);

impl WorkloadOptions {
    /// Those that are not sysbench's default, as its command line spells them:
    /// `range_selects=off`, then numbers.
    pub fn changed(&self) -> Vec<String> {
        let default = Self::default();
        let flags = Flag::ALL.iter().filter(|flag| flag.of(self) != flag.of(&default));
        let numbers = Number::ALL.iter().filter(|number| number.of(self) != number.of(&default));
        let flags = flags.map(|flag| flag.text(self));
        flags.chain(numbers.map(|number| number.text(self))).collect()
    }
}

impl Flag {
    /// `range_selects=on`.
    pub fn text(self, options: &WorkloadOptions) -> String {
        format!("{}={}", self.name(), if self.of(options) { "on" } else { "off" })
    }
}

impl Number {
    /// Whether it says how often something is repeated.
    pub fn is_count(self) -> bool {
        !matches!(self, Self::RangeSize | Self::Delta)
    }

    /// `range_size=100`.
    pub fn text(self, options: &WorkloadOptions) -> String {
        format!("{}={}", self.name(), self.of(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_found_by_its_name_and_set_through_it() {
        let mut options = WorkloadOptions::default();
        for number in Number::ALL {
            assert_eq!(Number::from_name(number.name()), Some(*number));
            *number.of_mut(&mut options) += 1;
            assert_eq!(number.of(&options), number.of(&WorkloadOptions::default()) + 1);
        }
        assert_eq!(options.changed().len(), Number::ALL.len());
        *Flag::RangeSelects.of_mut(&mut options) = false;
        assert_eq!(options.changed()[..2], ["range_selects=off", "point_selects=11"]);
        assert_eq!(Number::from_name("tables"), None);
    }
}
