//! What is lent to a session stays apart from its own, and what its defaults tell.

use nuthatch_sql::ServerFlavor;

use super::*;

const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

fn begun() -> Begun {
    Begun::in_era(Arc::new(Era::default()))
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    pairs.iter().for_each(|(name, value)| settings.set(name.as_bytes(), Some(value.as_bytes())));
    settings
}

fn defaults(server: ServerFlavor, mode: &str, isolation: &str) -> Defaults {
    // MariaDB had the second name until 11.1.
    let name = if server == MYSQL { "transaction_isolation" } else { "tx_isolation" };
    let pairs = [("sql_mode", mode), ("wait_timeout", "28800"), (name, isolation)];
    let pairs = pairs.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    Defaults::of(pairs, server).expect("all are there")
}

/// For the tests of other parts.
impl Begun {
    pub(crate) const fn set_odd_isolation(&mut self, is_odd: bool) {
        self.has_odd_isolation = is_odd;
    }

    pub(crate) const fn set_ansi_quotes(&mut self, ansi_quotes: Option<bool>) {
        self.ansi_quotes = ansi_quotes;
    }
}

#[test]
fn what_is_lent_is_not_the_sessions_own_and_gives_way_to_what_is() {
    for (own, wanted, all, lent) in [
        (&[][..], &[][..], &[][..], &[][..]),
        (&[("a", "1")], &[], &[("a", "1")], &[]),
        (&[], &[("b", "2")], &[("b", "2")], &[("b", "2")]),
        (&[("a", "1")], &[("a", "9"), ("b", "2")], &[("a", "1"), ("b", "2")], &[("b", "2")]),
    ] {
        let (mut begun, mut state) = (begun(), settings(own));
        begun.lend(&mut state, &settings(wanted));
        assert_eq!((&state, &begun.lent), (&settings(all), &settings(lent)), "{own:?} {wanted:?}");
        assert_eq!(begun.own(&state), settings(own), "{own:?} {wanted:?}");
    }
}

#[test]
fn what_is_lent_next_takes_the_place_of_what_was_lent_before() {
    let (mut begun, mut state) = (begun(), settings(&[("a", "1")]));
    begun.lend(&mut state, &settings(&[("b", "2"), ("c", "3")]));
    begun.lend(&mut state, &settings(&[("c", "4"), ("d", "5")]));
    assert_eq!(state, settings(&[("a", "1"), ("c", "4"), ("d", "5")]));
    begun.lend(&mut state, &Settings::default());
    assert_eq!((state, begun.lent), (settings(&[("a", "1")]), Settings::default()));
}

#[test]
fn what_the_session_sets_itself_becomes_its_own() {
    let (mut begun, mut state) = (begun(), settings(&[("a", "1")]));
    begun.lend(&mut state, &settings(&[("b", "2"), ("c", "3")]));
    for name in ["b", "a", "never_set"] {
        begun.let_go_of(name.as_bytes());
    }
    state.set(b"b", Some(b"7"));
    assert_eq!(begun.own(&state), settings(&[("a", "1"), ("b", "7")]));
    begun.lend(&mut state, &settings(&[("b", "8")]));
    assert_eq!(state, settings(&[("a", "1"), ("b", "7")]), "it is not lent over");
}

#[test]
fn defaults_tell_how_it_reads_quotes_and_whether_its_isolation_is_odd() {
    let usual = "REPEATABLE-READ";
    for (server, mode, isolation, ansi_quotes, is_odd) in [
        (MARIADB, "", usual, false, false),
        (MYSQL, "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,ANSI", usual, true, false),
        (MYSQL, "STRICT_TRANS_TABLES", "READ-COMMITTED", false, false),
        (MYSQL, "", "READ-UNCOMMITTED", false, true),
        (MARIADB, "ANSI_QUOTES", "SERIALIZABLE", true, true),
    ] {
        let mut begun = begun();
        // What was known before does not count.
        begun.learn(&defaults(server, "ANSI_QUOTES", "SERIALIZABLE"));
        begun.learn(&defaults(server, mode, isolation));
        let learned = (begun.ansi_quotes, begun.has_odd_isolation);
        assert_eq!(learned, (Some(ansi_quotes), is_odd), "{server:?} {mode} {isolation}");
    }
}
