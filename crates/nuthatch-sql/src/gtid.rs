//! Which transactions a server has executed, as it says so itself: MySQL's sets, MariaDB's positions.
//!
//! MySQL numbers the transactions of each server (by UUID, since 8.3 also by tag), and executes them in any order: what it has executed
//! is a set of intervals. MariaDB numbers those of each domain, and executes them in their order: the last one tells of all before it.
//! What is not of the form that the manuals give is not understood, and proves nothing.
//!
//! Pure: no server is asked. Cost: sorting the intervals once; a comparison walks both sides.

mod algebra;

use std::collections::{BTreeMap, HashMap};

pub use algebra::Gtid;

use crate::ServerFlavor;

/// Which transactions, as a server of either kind tells of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownGtids {
    /// MySQL's, each one.
    Set(GtidSet),
    /// MariaDB's, the last of each domain, or of each domain and server.
    Positions(GtidPositions),
}

impl KnownGtids {
    /// As a server of that kind writes them.
    #[must_use]
    pub fn parse(flavor: ServerFlavor, text: &str) -> Option<Self> {
        match flavor {
            ServerFlavor::MySql(_) => GtidSet::parse(text).map(Self::Set),
            ServerFlavor::MariaDb(_) => GtidPositions::parse(text).map(Self::Positions),
        }
    }
}

/// MySQL's `gtid_executed`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet(BTreeMap<Origin, Intervals>);

/// The UUID of a server, and the tag of the transactions, which is empty for none.
type Origin = (u128, Box<str>);

/// First and last of each: ascending, neither overlapping nor touching.
type Intervals = Vec<(u64, u64)>;

impl GtidSet {
    /// `uuid:1-5:7:tag:1-3,\nuuid:…`; "MySQL Reference Manual, GTID Sets".
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut set = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (uuid, mut rest) = part.split_once(':')?;
            let uuid = uuid_of(uuid)?;
            let mut tag = Box::default();
            loop {
                let (word, following) = rest.split_once(':').unwrap_or((rest, ""));
                let word = word.trim();
                match word.starts_with(|first: char| first.is_ascii_digit()) {
                    true => set.0.entry((uuid, Box::clone(&tag))).or_default().push(interval(word)?),
                    false => tag = tag_of(word)?,
                }
                if following.is_empty() {
                    // What ends in a colon, or a tag without transactions, is not understood.
                    let is_whole = !rest.ends_with(':') && word.starts_with(|c: char| c.is_ascii_digit());
                    is_whole.then_some(())?;
                    break;
                }
                rest = following;
            }
        }
        set.0.values_mut().for_each(join);
        Some(set)
    }

    /// Whether all transactions of the other are in this one.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        other.0.iter().all(|(origin, intervals)| {
            let own = self.0.get(origin).map_or(&[][..], Vec::as_slice);
            intervals.iter().all(|interval| is_covered(*interval, own))
        })
    }

    /// Whether this transaction of that server, by its UUID as a number, is in it.
    #[must_use]
    pub fn has(&self, uuid: u128, tag: &str, number: u64) -> bool {
        self.0.get(&(uuid, tag.into())).is_some_and(|own| is_covered((number, number), own))
    }

    /// Each server's UUID and tag with the first and last of its intervals, in order.
    pub fn origins(&self) -> impl ExactSizeIterator<Item = (u128, &str, &[(u64, u64)])> {
        self.0.iter().map(|((uuid, tag), intervals)| (*uuid, &**tag, intervals.as_slice()))
    }
}

/// Whether one of the intervals has all of that.
fn is_covered((first, last): (u64, u64), own: &[(u64, u64)]) -> bool {
    let place = own.partition_point(|(own_first, _)| *own_first <= first);
    place.checked_sub(1).and_then(|place| own.get(place)).is_some_and(|(_, end)| *end >= last)
}

/// The number that a server's uuid is: without its dashes 32 hexadecimal digits.
pub fn uuid_of(text: &str) -> Option<u128> {
    let digits: String = text.trim().chars().filter(|letter| *letter != '-').collect();
    let is_uuid = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_uuid.then(|| u128::from_str_radix(&digits, 16).ok()).flatten()
}

/// Up to 32 letters, digits and underscores, the first no digit, in any case.
fn tag_of(word: &str) -> Option<Box<str>> {
    let is_tag = (1..=32).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_tag.then(|| word.to_ascii_lowercase().into())
}

fn interval(word: &str) -> Option<(u64, u64)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (number(first)?, number(last)?);
    (1 <= first && first <= last).then_some((first, last))
}

fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Sorts the intervals and joins those that overlap or touch.
fn join(intervals: &mut Intervals) {
    intervals.sort_unstable();
    intervals.dedup_by(|(first, last), (_, before)| {
        let joins = *first <= before.saturating_add(1);
        if joins {
            *before = (*before).max(*last);
        }
        joins
    });
}

/// MariaDB's positions: `gtid_binlog_pos` and `gtid_slave_pos`, one transaction for each domain; `gtid_binlog_state`, one for each domain
/// and server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidPositions(HashMap<(u32, u32), u64>);

impl GtidPositions {
    /// `domain-server-number,…`; "MariaDB Knowledge Base, Global Transaction ID".
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut positions = Self::default();
        for gtid in text.split(',').map(str::trim).filter(|gtid| !gtid.is_empty()) {
            let mut parts = gtid.split('-');
            let [domain, server] = [parts.next()?, parts.next()?].map(|part| number(part)?.try_into().ok());
            let sequence = number(parts.next()?)?;
            let known = positions.0.entry((domain?, server?)).or_default();
            *known = sequence.max(*known);
            parts.next().is_none().then_some(())?;
        }
        Some(positions)
    }

    /// Whether who has executed all up to this has executed what the other stands for: of two that are equally far in a domain, both must
    /// be of one server.
    #[must_use]
    pub fn reaches(&self, other: &Self) -> bool {
        other.0.iter().all(|((domain, server), sequence)| {
            let mut own = self.0.iter().filter(|((own, _), _)| own == domain);
            own.any(|((_, by), reached)| reached > sequence || reached == sequence && by == server)
        })
    }

    /// Whether each of its transactions is among those of `state`.
    #[must_use]
    pub fn is_known_in(&self, state: &Self) -> bool {
        self.0.iter().all(|(of, sequence)| state.0.get(of).is_some_and(|last| last >= sequence))
    }
}

#[cfg(test)]
mod tests;
