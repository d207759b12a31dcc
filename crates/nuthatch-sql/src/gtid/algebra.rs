//! What sets and positions are together, and what one lacks of another.
//!
//! Pure. Cost: one walk over both sides.

use std::fmt;

use super::{GtidPositions, GtidSet, Intervals, Origin, join};

impl GtidSet {
    /// Holds what the other holds as well.
    pub fn add(&mut self, other: &Self) {
        for (origin, intervals) in &other.0 {
            let own = self.0.entry(origin.clone()).or_default();
            own.extend_from_slice(intervals);
            join(own);
        }
    }

    /// The transactions that are not in the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let rest = |(origin, own): (&Origin, &Intervals)| {
            let rest = outside(own, other.0.get(origin).map_or(&[][..], Vec::as_slice));
            (!rest.is_empty()).then(|| (origin.clone(), rest))
        };
        Self(self.0.iter().filter_map(rest).collect())
    }

    /// Lets go of the lowest ranges of each server until it has no more than so many.
    pub fn keep_last(&mut self, ranges_max: usize) {
        for intervals in self.0.values_mut() {
            let surplus = intervals.len().saturating_sub(ranges_max);
            drop(intervals.drain(..surplus));
        }
    }

    /// How many transactions.
    #[must_use]
    pub fn count(&self) -> u64 {
        let intervals = self.0.values().flatten();
        intervals.fold(0, |sum, (first, last)| sum.saturating_add((last - first).saturating_add(1)))
    }
}

/// What the intervals cover and `taken` does not; both ascending and apart.
fn outside(intervals: &[(u64, u64)], taken: &[(u64, u64)]) -> Intervals {
    let mut rest = Vec::new();
    for (first, last) in intervals {
        let mut next = Some(*first);
        for (from, to) in taken.iter().filter(|(from, to)| from <= last && first <= to) {
            if let Some(begin) = next.filter(|begin| begin < from) {
                rest.push((begin, from - 1));
            }
            next = to.checked_add(1);
        }
        rest.extend(next.filter(|begin| begin <= last).map(|begin| (begin, *last)));
    }
    rest
}

/// As MySQL writes it, in one line.
impl fmt::Display for GtidSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut known = None;
        for ((uuid, tag), intervals) in &self.0 {
            if known != Some(uuid) {
                let separator = if known.is_some() { "," } else { "" };
                write!(out, "{separator}{}", Uuid(*uuid))?;
                known = Some(uuid);
            }
            if !tag.is_empty() {
                write!(out, ":{tag}")?;
            }
            for (first, last) in intervals {
                match first == last {
                    true => write!(out, ":{first}")?,
                    false => write!(out, ":{first}-{last}")?,
                }
            }
        }
        Ok(())
    }
}

/// Written with its dashes.
struct Uuid(u128);

impl fmt::Display for Uuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |shift: u32, bits: u32| (self.0 >> shift) & ((1 << bits) - 1);
        let (first, second, third) = (part(96, 32), part(80, 16), part(64, 16));
        write!(out, "{first:08x}-{second:04x}-{third:04x}-{:04x}-{:012x}", part(48, 16), part(0, 48))
    }
}

/// One transaction of MariaDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gtid {
    /// Its domain.
    pub domain: u32,
    /// Who wrote it.
    pub server: u32,
    /// Its number in the domain.
    pub sequence: u64,
}

impl fmt::Display for Gtid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}-{}", self.domain, self.server, self.sequence)
    }
}

impl GtidPositions {
    /// Is as far as the other as well, in each domain and of each server.
    pub fn add(&mut self, other: &Self) {
        for (of, sequence) in &other.0 {
            let known = self.0.entry(*of).or_default();
            *known = (*known).max(*sequence);
        }
    }

    /// The last transaction of each domain and server, in this order.
    #[must_use]
    pub fn gtids(&self) -> Vec<Gtid> {
        let gtid = |((domain, server), sequence): (&(u32, u32), &u64)| Gtid {
            domain: *domain,
            server: *server,
            sequence: *sequence,
        };
        let mut gtids: Vec<_> = self.0.iter().map(gtid).collect();
        gtids.sort_unstable();
        gtids
    }

    /// Is at that transaction, the last one in its domain.
    pub fn reach(&mut self, domain: u32, sequence: u64) {
        let known = self.0.entry((domain, 0)).or_default();
        *known = (*known).max(sequence);
    }

    /// Whether in each domain it is as far as the other, whoever wrote it.
    #[must_use]
    pub fn is_up_to(&self, other: &Self) -> bool {
        let last = |domain| self.0.iter().filter(|((of, _), _)| *of == domain).map(|(_, last)| *last).max();
        other.0.iter().all(|((domain, _), sequence)| last(*domain).is_some_and(|last| last >= *sequence))
    }

    /// The number of the last transaction that this server wrote in that domain.
    #[must_use]
    pub fn last(&self, domain: u32, server: u32) -> Option<u64> {
        self.0.get(&(domain, server)).copied()
    }
}
