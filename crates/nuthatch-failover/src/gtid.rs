//! What a server has, by the global ids of its transactions: in its own words, and understood.
//!
//! A set of MySQL names every transaction. A position of MariaDB names the last of each domain; that all before it are there is what its
//! replicas hold to.

use std::fmt;

use nuthatch_sql::{GtidPositions, GtidSet, KnownGtids, ServerFlavor, uuid_of};

use crate::loss::Lacking;

/// See the module's doc. Equal ones may be written otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Gtids {
    /// As the server wrote it, in one line.
    text: String,
    understood: KnownGtids,
}

impl Gtids {
    /// `@@global.gtid_executed`, `@@global.gtid_current_pos`, as a server of that kind writes it.
    pub(crate) fn parse(flavor: ServerFlavor, text: &str) -> Option<Self> {
        let understood = KnownGtids::parse(flavor, text)?;
        Some(Self { text: text.split_whitespace().collect(), understood })
    }

    /// Whether it has all that the other has, as far as ids tell. Of two kinds neither has the other's.
    pub(crate) fn has_all_of(&self, other: &Self) -> bool {
        match (&self.understood, &other.understood) {
            (KnownGtids::Set(own), KnownGtids::Set(other)) => own.contains(other),
            (KnownGtids::Positions(own), KnownGtids::Positions(other)) => own.reaches(other),
            _ => false,
        }
    }

    /// Whether it lacks something of the other, and all of that was written first by the MySQL server with this `server_uuid`.
    pub(crate) fn lacks_only_of(&self, other: &Self, server_uuid: &str) -> bool {
        let (KnownGtids::Set(own), KnownGtids::Set(other)) = (&self.understood, &other.understood) else {
            return false;
        };
        let Some(writer) = uuid_of(server_uuid) else { return false };
        let lacking = other.without(own);
        lacking.count() > 0 && lacking.origins().all(|(uuid, ..)| uuid == writer)
    }

    /// It has what the other has as well. Two kinds do not mix: what is of another one is left out.
    pub(crate) fn add(&mut self, other: &Self) {
        match (&mut self.understood, &other.understood) {
            (KnownGtids::Set(own), KnownGtids::Set(other)) => {
                own.add(other);
                self.text = own.to_string();
            }
            (KnownGtids::Positions(own), KnownGtids::Positions(other)) => {
                own.add(other);
                self.text = positions(own);
            }
            _ => {}
        }
    }

    /// Whether a server that has this, in its binlog or received, has all that another one has come to, transaction by transaction as
    /// far as ids tell. `own` is that server's id: what it has written itself says nothing of what it has received.
    pub(crate) fn holds(&self, come_to: &Self, own: u64) -> bool {
        match (&self.understood, &come_to.understood) {
            (KnownGtids::Set(all), KnownGtids::Set(come_to)) => all.contains(come_to),
            (KnownGtids::Positions(all), KnownGtids::Positions(come_to)) => {
                let all = (all, all.gtids());
                come_to.gtids().iter().all(|gtid| match all.0.last(gtid.domain, gtid.server) {
                    Some(last) => last >= gtid.sequence,
                    None => all.1.iter().any(|one| {
                        one.domain == gtid.domain
                            && one.sequence > gtid.sequence
                            && u64::from(one.server) != own
                    }),
                })
            }
            _ => false,
        }
    }

    /// What of these transactions, which were acknowledged, a server that has this does not have.
    pub(crate) fn lacks(&self, acknowledged: &KnownGtids) -> Lacking {
        match (&self.understood, acknowledged) {
            (KnownGtids::Set(own), KnownGtids::Set(set)) => Lacking::of_sets(set, own),
            (KnownGtids::Positions(own), KnownGtids::Positions(last)) => {
                Lacking::of_positions(last, own, None)
            }
            // A server of another kind has none of them.
            (_, KnownGtids::Set(set)) => Lacking::of_sets(set, &GtidSet::default()),
            (_, KnownGtids::Positions(last)) => Lacking::of_positions(last, &GtidPositions::default(), None),
        }
    }

    /// What a server with this binlog has that a server with the other binlog does not have. `writer` is the id of the first.
    pub(crate) fn surplus_over(&self, other: &Self, writer: u64) -> Lacking {
        match (&self.understood, &other.understood) {
            (KnownGtids::Set(own), KnownGtids::Set(other)) => Lacking::of_sets(own, other),
            (KnownGtids::Positions(own), KnownGtids::Positions(other)) => {
                Lacking::of_positions(own, other, Some(writer))
            }
            (KnownGtids::Set(own), _) => Lacking::of_sets(own, &GtidSet::default()),
            (KnownGtids::Positions(own), _) => Lacking::of_positions(own, &GtidPositions::default(), None),
        }
    }
}

/// As MariaDB writes them; of each domain and server one.
fn positions(positions: &GtidPositions) -> String {
    positions.gtids().iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl PartialEq for Gtids {
    fn eq(&self, other: &Self) -> bool {
        self.understood == other.understood
    }
}

impl Eq for Gtids {}

impl fmt::Display for Gtids {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3E11FA47-71CA-11E1-9E33-C80AA9429562";
    const B: &str = "4e11fa47-71ca-11e1-9e33-c80aa9429562";
    const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);
    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);

    #[test]
    fn set_has_what_its_intervals_have() {
        let set = |text: &str| Gtids::parse(MYSQL, text).unwrap_or_else(|| panic!("{text}"));
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
        assert_eq!(set(&format!("{A}:1-3:5, {A}:4")), set(&format!("{}:1-5", A.to_lowercase())));
        assert_eq!(set(&format!("{A}:1-3,\n{B}:4")).to_string(), format!("{A}:1-3,{B}:4"));
        for wrong in ["x:5-3", "x:1-", "x:-1"] {
            assert_eq!(Gtids::parse(MYSQL, &wrong.replace('x', A)), None, "{wrong}");
        }
    }

    #[test]
    fn what_a_server_lacks_of_its_own_is_told_apart_from_what_others_wrote() {
        let set = |text: &str| {
            let text = text.replace('A', A).replace('B', B);
            Gtids::parse(MYSQL, &text).unwrap_or_else(|| panic!("{text}"))
        };
        for (one, other, is_so) in [
            ("A:1-5", "A:1-5", false),
            ("A:1-6", "A:1-5", false),
            ("A:1-5", "A:1-7", true),
            ("A:1-5", "A:1-5:tag:1", true),
            ("A:1-5", "A:1-7,\nB:1", false),
            ("A:1-5,B:1", "A:1-7,\nB:1", true),
            ("A:1-5", "B:1", false),
        ] {
            assert_eq!(set(one).lacks_only_of(&set(other), A), is_so, "{one} {other}");
        }
        let positions = |text| Gtids::parse(MARIADB, text).expect(text);
        assert!(!positions("0-1-5").lacks_only_of(&positions("0-1-6"), ""));
    }

    #[test]
    fn position_has_what_comes_before_it_in_each_domain() {
        let position = |text: &str| Gtids::parse(MARIADB, text).unwrap_or_else(|| panic!("{text}"));
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
        assert!(!position("").has_all_of(&Gtids::parse(MYSQL, "").expect("nothing")));
        for wrong in ["0-1", "a-1-1", "0-1-x"] {
            assert_eq!(Gtids::parse(MARIADB, wrong), None, "{wrong}");
        }
    }
}
