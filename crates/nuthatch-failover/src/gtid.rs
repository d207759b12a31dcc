//! What a server has, by the global ids of its transactions: MySQL's sets, MariaDB's positions.
//!
//! A set of MySQL names every transaction. A position of MariaDB names the last of each domain; that all before it are there is what its
//! replicas hold to.

use std::collections::BTreeMap;
use std::fmt;

/// See the module's doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gtids {
    /// For each source, its intervals: both ends belong to them, ascending, none touches the next.
    Set(BTreeMap<String, Vec<(u64, u64)>>),
    /// For each domain, the server and number of the last.
    Position(BTreeMap<u64, (u64, u64)>),
}

impl Gtids {
    /// `@@global.gtid_executed` and its kin.
    pub(crate) fn parse_set(text: &str) -> Option<Self> {
        let mut set: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
        for source in text.split(',').map(str::trim).filter(|source| !source.is_empty()) {
            let mut parts = source.split(':').map(str::trim);
            let mut name = parts.next()?.to_ascii_lowercase();
            let uuid = name.clone();
            for part in parts {
                if part.starts_with(|first: char| first.is_ascii_digit()) {
                    set.entry(name.clone()).or_default().push(interval(part)?);
                } else if !part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                    return None;
                } else {
                    // From 8.3 on a source may have tags, each with intervals of its own.
                    name = format!("{uuid}:{}", part.to_ascii_lowercase());
                }
            }
        }
        set.values_mut().for_each(|intervals| *intervals = joined(std::mem::take(intervals)));
        Some(Self::Set(set))
    }

    /// `@@global.gtid_binlog_pos` and its kin.
    pub(crate) fn parse_position(text: &str) -> Option<Self> {
        let mut position = BTreeMap::new();
        for gtid in text.split(',').map(str::trim).filter(|gtid| !gtid.is_empty()) {
            let mut numbers = gtid.split('-').map(|number| number.parse::<u64>().ok());
            let (domain, server, sequence) = (numbers.next()??, numbers.next()??, numbers.next()??);
            position.insert(domain, (server, sequence));
        }
        Some(Self::Position(position))
    }

    /// Whether it has all that the other has, as far as ids tell. Of two kinds neither has the other's.
    pub(crate) fn has_all_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(own), Self::Set(others)) => others.iter().all(|(source, intervals)| {
                let own = own.get(source).map_or(&[][..], Vec::as_slice);
                let is_in =
                    |(first, last): &(u64, u64)| own.iter().any(|(from, to)| from <= first && last <= to);
                intervals.iter().all(is_in)
            }),
            (Self::Position(own), Self::Position(others)) => {
                others.iter().all(|(domain, (server, sequence))| match own.get(domain) {
                    Some((_, own)) if own > sequence => true,
                    // The same number by another server is another transaction.
                    Some((own_server, own)) => own == sequence && own_server == server,
                    None => false,
                })
            }
            _ => false,
        }
    }
}

impl fmt::Display for Gtids {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = match self {
            Self::Set(set) => {
                let interval = |(first, last): &(u64, u64)| match first == last {
                    true => format!(":{first}"),
                    false => format!(":{first}-{last}"),
                };
                let source = |(source, intervals): (&String, &Vec<(u64, u64)>)| {
                    source.clone() + &intervals.iter().map(interval).collect::<String>()
                };
                set.iter().map(source).collect()
            }
            Self::Position(position) => {
                let gtid = |(domain, (server, sequence)): (&u64, &(u64, u64))| {
                    format!("{domain}-{server}-{sequence}")
                };
                position.iter().map(gtid).collect()
            }
        };
        out.write_str(&words.join(","))
    }
}

fn interval(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some((first, last))
}

/// Ascending, and what touches is one.
fn joined(mut intervals: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    intervals.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(intervals.len());
    for (first, last) in intervals {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: &str = "3E11FA47-71CA-11E1-9E33-C80AA9429562";
    const B: &str = "4e11fa47-71ca-11e1-9e33-c80aa9429562";

    #[test]
    fn set_has_what_its_intervals_have() {
        let set = |text: &str| Gtids::parse_set(text).unwrap_or_else(|| panic!("{text}"));
        for (one, other, has_all) in [
            ("A:1-5", "A:1-5", true),
            ("A:1-5", "A:2-3", true),
            ("A:1-5", "A:2-6", false),
            ("A:1-5:7-9", "A:5-7", false),
            ("A:1-5:6-9", "A:5-7", true),
            ("A:1-5", "", true),
            ("", "A:1", false),
            ("A:1-5,\nB:1-3", "B:2", true),
            ("A:1-5", "B:1", false),
            ("A:1-5:tag:1-7", "A:tag:6", true),
            ("A:1-7", "A:tag:6", false),
        ] {
            let with_names = |text: &str| text.replace('A', A).replace('B', B);
            let (one, other) = (set(&with_names(one)), set(&with_names(other)));
            assert_eq!(one.has_all_of(&other), has_all, "{one} {other}");
        }
        assert_eq!(set(&format!("{A}:1-3:5, {A}:4")).to_string(), format!("{}:1-5", A.to_lowercase()));
        for wrong in ["x:5-3", "x:1-", "x:-1"] {
            assert_eq!(Gtids::parse_set(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn position_has_what_comes_before_it_in_each_domain() {
        let position = |text: &str| Gtids::parse_position(text).unwrap_or_else(|| panic!("{text}"));
        for (one, other, has_all) in [
            ("0-1-5", "0-1-5", true),
            ("0-1-6", "0-2-5", true),
            ("0-1-5", "0-2-5", false),
            ("0-1-5", "0-1-6", false),
            ("0-1-5,1-1-1", "1-1-1", true),
            ("0-1-5", "1-1-1", false),
            ("", "", true),
        ] {
            let (one, other) = (position(one), position(other));
            assert_eq!(one.has_all_of(&other), has_all, "{one} {other}");
        }
        assert!(!position("").has_all_of(&Gtids::parse_set("").expect("nothing")));
        for wrong in ["0-1", "a-1-1", "0-1-x"] {
            assert_eq!(Gtids::parse_position(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn set_has_another_if_it_has_each_of_its_transactions(
            own in proptest::collection::vec((1_u64..30, 0_u64..5), 0..6),
            others in proptest::collection::vec((1_u64..30, 0_u64..5), 0..6),
        ) {
            let text = |intervals: &[(u64, u64)]| {
                let parts = intervals.iter().map(|(first, more)| format!(":{first}-{}", first + more));
                match intervals.is_empty() {
                    true => String::new(),
                    false => format!("{A}{}", parts.collect::<String>()),
                }
            };
            let members = |intervals: &[(u64, u64)]| {
                let all = intervals.iter().flat_map(|(first, more)| *first..=first + more);
                all.collect::<std::collections::BTreeSet<_>>()
            };
            let set = |intervals: &[(u64, u64)]| Gtids::parse_set(&text(intervals)).expect("a set");
            prop_assert_eq!(
                set(&own).has_all_of(&set(&others)),
                members(&own).is_superset(&members(&others))
            );
            prop_assert_eq!(Gtids::parse_set(&set(&own).to_string()), Some(set(&own)));
        }
    }
}
