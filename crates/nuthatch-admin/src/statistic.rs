//! The one list of global statistics.
//!
//! Each has a name as in ProxySQL's `stats_mysql_global`, a metric name, a kind and a help text. `stats_mysql_global`,
//! `SHOW MYSQL STATUS`, `SHOW PROMETHEUS METRICS` and the metrics endpoint all walk this list, so they show the same
//! figures under the same definitions. The values come from the data plane; nothing here counts.

mod definitions;

pub use definitions::Statistic;

/// How a figure behaves over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, from zero at the start of the process. Its metric name gets the suffix `_total`.
    Counter,
    /// It is a level, which rises and falls.
    Gauge,
}

/// How a figure is told apart from others of the same metric name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// It is alone.
    None,
    /// One of several statistics under one metric name: label and value.
    Fixed(&'static str, &'static str),
    /// One figure for each part (a worker): the label's name; the part's number is its value.
    Part(&'static str),
}

/// What is known of a statistic besides its value.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Which statistic this defines.
    pub statistic: Statistic,
    /// The name in `stats_mysql_global`; a figure by part has `_` and the part's number behind it.
    pub name: &'static str,
    /// The metric name without the prefix `nuthatch_` and without `_total`.
    pub metric: &'static str,
    /// What tells it apart from others of the same metric name.
    pub label: Label,
    /// Counter or gauge.
    pub kind: Kind,
    /// One sentence for the operator, with the unit.
    pub help: &'static str,
}

/// One figure at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// What was measured.
    pub statistic: Statistic,
    /// The number of the part, for a statistic that has [`Label::Part`].
    pub part: Option<u32>,
    /// The value, in the unit that the definition's help names.
    pub value: u64,
}

impl Statistic {
    /// Everything that is defined, in the order in which it is shown.
    pub fn definitions() -> &'static [Definition] {
        definitions::DEFINITIONS
    }

    /// What is known of this statistic.
    pub fn definition(self) -> &'static Definition {
        &definitions::DEFINITIONS[self as usize]
    }

    /// The one of a metric that has this value in its label.
    pub fn labelled(metric: &str, value: &str) -> Option<Self> {
        let is_it = |definition: &&Definition| {
            definition.metric == metric
                && matches!(definition.label, Label::Fixed(_, fixed) if fixed == value)
        };
        Self::definitions().iter().find(is_it).map(|definition| definition.statistic)
    }

    /// This statistic with its value.
    pub fn sample(self, value: u64) -> Sample {
        Sample { statistic: self, part: None, value }
    }

    /// This statistic with its value for one part.
    pub fn sample_of_part(self, part: u32, value: u64) -> Sample {
        Sample { statistic: self, part: Some(part), value }
    }
}

impl Sample {
    /// The name as `stats_mysql_global` shows it.
    pub fn name(&self) -> String {
        let name = self.statistic.definition().name;
        match self.part {
            None => name.to_owned(),
            Some(part) => format!("{name}_{part}"),
        }
    }
}

/// Puts samples in the order of the definitions, parts ascending.
pub(crate) fn sort(samples: &mut [Sample]) {
    samples.sort_by_key(|sample| (sample.statistic as usize, sample.part));
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn each_definition_stands_at_its_statistics_place() {
        for (place, definition) in Statistic::definitions().iter().enumerate() {
            assert_eq!(definition.statistic as usize, place, "{}", definition.name);
        }
    }

    #[test]
    fn names_and_metric_series_are_unique() {
        let mut names = HashSet::new();
        let mut series = HashSet::new();
        for definition in Statistic::definitions() {
            assert!(names.insert(definition.name), "{} twice", definition.name);
            let label = format!("{:?}", definition.label);
            assert!(series.insert((definition.metric, label)), "{} twice", definition.metric);
        }
    }

    #[test]
    fn one_metric_name_has_one_kind_and_stands_together() {
        let mut kinds = HashMap::new();
        let mut previous = "";
        for definition in Statistic::definitions() {
            let first = kinds.insert(definition.metric, definition.kind);
            assert!(first.is_none_or(|kind| kind == definition.kind), "{}", definition.metric);
            assert!(first.is_none() || previous == definition.metric, "{} is apart", definition.metric);
            previous = definition.metric;
        }
    }

    #[test]
    fn metric_names_are_valid_and_leave_the_suffix_to_the_encoder() {
        for definition in Statistic::definitions() {
            let valid =
                definition.metric.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            assert!(valid && !definition.metric.ends_with("_total"), "{}", definition.metric);
            assert!(definition.help.ends_with('.'), "{}", definition.name);
        }
    }
}
