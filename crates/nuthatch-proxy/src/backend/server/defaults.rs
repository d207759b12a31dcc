//! What sessions of each server begin with, the global values of session variables, and how that has changed.
//!
//! A session keeps the values that were in force when it logged in, and so does a connection. The changes of all servers are numbered one
//! after the other; an [`Era`] is the number at which something began. Each server has *chapters*, from one change of its own to
//! the next, with one set of values for all who came under it. Where a session meets a connection of another chapter, the
//! difference of the two sets is what must be set on the connection (`session/lease/inheritance.rs`).
//!
//! The values are asked of the server: before the first change that goes through the proxy, and after each; else by the next connection
//! that is opened. What is changed past the proxy is found by the next look at the server (`exact/program.rs`). Until a chapter's values are
//! known, it is only known to be another.
//!
//! A server that begins anew has a new book: nobody has what it began with before, as no connection of then is left.
//!
//! A chapter is forgotten when nothing is left that began in it. No cost on the hit path; for other statements one comparison.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use nuthatch_sql::{Carry, ROLE_VARIABLES, ServerFlavor, SystemVariable};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::state::{Settings, literal_of};

/// How many sets of values of one server are told from each other by what is in them.
const SETS_MAX: usize = 64;

/// How long somebody who begins waits for a change that is under way.
const PATIENCE: Duration = Duration::from_millis(500);

/// When something began: later changes it has not seen.
#[derive(Debug, Default)]
pub(crate) struct Era(u64);

/// The global values of variables that sessions begin with, as a server tells them, by the names that it has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Defaults(BTreeMap<Box<[u8]>, Box<[u8]>>);

/// From one change of a server's defaults to the next.
#[derive(Debug)]
struct Chapter {
    since: u64,
    values: Option<(u32, Arc<Defaults>)>,
}

#[derive(Debug)]
struct Book {
    /// Never empty.
    chapters: Vec<Chapter>,
    /// Sets with their numbers; the first is never forgotten.
    sets: Vec<(u32, Arc<Defaults>)>,
    last_set: u32,
}

/// What of a server's defaults tells them from those that it had at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Edition {
    /// The set of that number.
    Set(u32),
    /// That of the chapter since then, whatever it is.
    Since(u64),
}

/// What sessions of an era begin with, where that is not what they began with at first: equal ones are worth the same answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Inheritance(Arc<[(usize, Edition)]>);

/// The eras of all servers, and who is in them.
#[derive(Debug)]
struct Eras {
    latest: ArcSwap<Era>,
    /// All that something may still be in.
    alive: Mutex<Vec<Weak<Era>>>,
    /// Changes that are under way.
    changing: AtomicUsize,
    settled: Notify,
}

/// The defaults of one server.
#[derive(Debug)]
pub(crate) struct ServerDefaults {
    /// The number of its last change; 0 for none.
    changed: AtomicU64,
    book: Mutex<Book>,
    eras: Arc<Eras>,
}

/// The defaults of all servers, by host and port.
#[derive(Debug)]
pub(crate) struct AllDefaults {
    eras: Arc<Eras>,
    servers: Mutex<Vec<(String, u16, Arc<ServerDefaults>)>>,
}

/// A change that is under way: while this lives, what begins waits for it.
#[derive(Debug)]
pub(crate) struct Changing(Arc<Eras>);

impl Drop for Changing {
    fn drop(&mut self) {
        self.0.changing.fetch_sub(1, Ordering::AcqRel);
        self.0.settled.notify_waiters();
    }
}

impl Default for AllDefaults {
    fn default() -> Self {
        let first = Arc::new(Era(0));
        let alive = Mutex::new(vec![Arc::downgrade(&first)]);
        let eras = Eras {
            latest: ArcSwap::new(first),
            alive,
            changing: AtomicUsize::new(0),
            settled: Notify::new(),
        };
        Self { eras: Arc::new(eras), servers: Mutex::default() }
    }
}

impl AllDefaults {
    /// Those of a server, which may stand in several hostgroups.
    pub(crate) fn of(&self, host: &str, port: u16) -> Arc<ServerDefaults> {
        let mut servers = self.servers.lock();
        if let Some((_, _, known)) = servers.iter().find(|known| (known.0.as_str(), known.1) == (host, port))
        {
            return Arc::clone(known);
        }
        let defaults = Arc::new(ServerDefaults::new(&self.eras));
        servers.push((host.to_owned(), port, Arc::clone(&defaults)));
        defaults
    }

    /// In which begins what begins now.
    pub(crate) fn era(&self) -> Arc<Era> {
        self.eras.latest.load_full()
    }

    /// The same, once no change is under way any more, or for too long.
    pub(crate) async fn settled(&self) {
        self.eras.settled().await;
    }

    /// Whether a change is under way.
    pub(crate) fn is_changing(&self) -> bool {
        self.eras.is_changing()
    }

    /// What sessions of that era begin with; `None` for what they began with at first.
    pub(crate) fn inheritance(&self, era: &Era) -> Option<Inheritance> {
        let servers = self.servers.lock();
        let editions: Vec<_> = (0..)
            .zip(servers.iter())
            .filter_map(|(place, (_, _, server))| Some((place, server.book.lock().edition(era.0)?)))
            .collect();
        (!editions.is_empty()).then(|| Inheritance(editions.into()))
    }
}

impl Eras {
    fn is_changing(&self) -> bool {
        self.changing.load(Ordering::Acquire) > 0
    }

    async fn settled(&self) {
        if !self.is_changing() {
            return;
        }
        let settling = async {
            loop {
                let settled = self.settled.notified();
                if !self.is_changing() {
                    return;
                }
                settled.await;
            }
        };
        let _in_vain = timeout(PATIENCE, settling).await;
    }
}

impl ServerDefaults {
    fn new(eras: &Arc<Eras>) -> Self {
        let chapters = vec![Chapter { since: 0, values: None }];
        let book = Mutex::new(Book { chapters, sets: Vec::new(), last_set: 0 });
        Self { changed: AtomicU64::new(0), book, eras: Arc::clone(eras) }
    }

    /// Has what begins wait until what this returns is dropped.
    pub(crate) fn begin_change(&self) -> Changing {
        self.eras.changing.fetch_add(1, Ordering::AcqRel);
        Changing(Arc::clone(&self.eras))
    }

    /// In which era a connection begins that is opened now, once no change is under way, or for too long.
    pub(crate) async fn era_to_begin(&self) -> Arc<Era> {
        self.eras.settled().await;
        self.eras.latest.load_full()
    }

    /// Whether what began in that era may have begun with other values than what begins now.
    pub(crate) fn is_later_than(&self, era: &Era) -> bool {
        self.changed.load(Ordering::Acquire) > era.0
    }

    /// Whether a connection that was opened in that era may have begun during a change.
    pub(crate) fn may_have_changed_since(&self, era: &Era) -> bool {
        self.eras.is_changing() || self.is_later_than(era)
    }

    /// Whether the values are to be asked for that sessions begin with now.
    pub(crate) fn lacks_values(&self) -> bool {
        self.book.lock().last().values.is_none()
    }

    /// The defaults have been changed to these values, or to unknown ones: a chapter begins.
    pub(crate) fn change(&self, values: Option<Defaults>) {
        self.turn(Turn::Chapter, values);
    }

    /// The server has begun anew, or is another: the book begins anew. What sessions began with at the one that is no more is forgotten;
    /// they take what there is now.
    pub(crate) fn begin_anew(&self) {
        self.turn(Turn::Book, None);
    }

    fn turn(&self, turn: Turn, values: Option<Defaults>) {
        let mut alive = self.eras.alive.lock();
        let number = self.eras.latest.load().0 + 1;
        let numbers: Vec<_> = alive.iter().filter_map(|era| Some(era.upgrade()?.0)).collect();
        alive.retain(|era| era.strong_count() > 0);
        let mut book = self.book.lock();
        match turn {
            Turn::Chapter => book.forget_all_but(&numbers),
            Turn::Book => {
                book.chapters.clear();
                book.sets.clear();
            }
        }
        book.chapters.push(Chapter { since: number, values: None });
        if let Some(values) = values {
            book.learn(number, values);
        }
        drop(book);
        // Whoever is in the new era finds the chapter.
        self.changed.store(number, Ordering::Release);
        let era = Arc::new(Era(number));
        alive.push(Arc::downgrade(&era));
        self.eras.latest.store(era);
    }

    /// Takes note of the values that were asked for, by somebody who saw that number as that of the last change.
    pub(crate) fn learn(&self, number: u64, values: Defaults) {
        self.book.lock().learn(number, values);
    }

    /// The number of the last change.
    pub(crate) fn last_change(&self) -> u64 {
        self.changed.load(Ordering::Acquire)
    }

    /// Whether it is known what a session of that era must have set on a connection of the other.
    pub(crate) fn can_tell(&self, era: &Era, there: &Era) -> bool {
        !self.is_later_than(era) || self.at(era).is_some() && self.at(there).is_some()
    }

    /// What began in that era began with, if that is known.
    pub(crate) fn at(&self, era: &Era) -> Option<Arc<Defaults>> {
        let book = self.book.lock();
        book.at(era.0).values.as_ref().map(|(_, values)| Arc::clone(values))
    }

    /// What begins now begins with, if that is known.
    pub(crate) fn now(&self) -> Option<Arc<Defaults>> {
        let book = self.book.lock();
        book.last().values.as_ref().map(|(_, values)| Arc::clone(values))
    }

    /// The server was looked at, and no change was seen since that number was the last: takes note of what was found.
    pub(crate) fn compare(&self, number: u64, found: Defaults) -> Compared {
        if self.eras.is_changing() || self.last_change() != number {
            return Compared::TooLate;
        }
        match self.now() {
            Some(known) if *known == found => Compared::AsKnown,
            Some(_) => {
                self.change(Some(found));
                Compared::Changed
            }
            None => {
                self.learn(number, found);
                Compared::AsKnown
            }
        }
    }
}

/// What came of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// They are what is known.
    AsKnown,
    /// They were changed past the proxy: a chapter has begun.
    Changed,
    /// A change was seen meanwhile.
    TooLate,
}

/// What begins with a change.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Chapter,
    Book,
}

impl Book {
    fn last(&self) -> &Chapter {
        self.chapters.last().expect("there is a chapter")
    }

    fn at(&self, number: u64) -> &Chapter {
        let mut earlier = self.chapters.iter().rev();
        earlier.find(|chapter| chapter.since <= number).or(self.chapters.first()).expect("there is a chapter")
    }

    fn learn(&mut self, number: u64, values: Defaults) {
        if number > 0 && self.last_set == 0 {
            // What sessions began with at first is not known, or at another server: this may be another set.
            self.last_set = 1;
        }
        let known = self.sets.iter().find(|(_, set)| **set == values).cloned();
        let set = known.unwrap_or_else(|| {
            let set = (self.last_set, Arc::new(values));
            self.last_set += 1;
            if self.sets.len() == SETS_MAX {
                drop(self.sets.remove(1));
            }
            self.sets.push((set.0, Arc::clone(&set.1)));
            set
        });
        if let Some(chapter) = self.chapters.iter_mut().find(|chapter| chapter.since == number) {
            chapter.values.get_or_insert(set);
        }
    }

    /// Forgets chapters in which nothing is left, but for the last. In the first is also what began before it, at a server that is no more.
    fn forget_all_but(&mut self, numbers: &[u64]) {
        let ends: Vec<_> = self.chapters.iter().skip(1).map(|chapter| chapter.since).collect();
        let (mut begins, mut ends) = (0, ends.into_iter());
        self.chapters.retain(|_| {
            let Some(end) = ends.next() else { return true };
            let lasted = std::mem::replace(&mut begins, end)..end;
            numbers.iter().any(|number| lasted.contains(number))
        });
    }

    fn edition(&self, number: u64) -> Option<Edition> {
        let chapter = self.at(number);
        match &chapter.values {
            // The first set that was ever seen.
            Some((0, _)) => None,
            Some((set, _)) => Some(Edition::Set(*set)),
            None if chapter.since == 0 => None,
            None => Some(Edition::Since(chapter.since)),
        }
    }
}

impl Defaults {
    /// Of all global variables; `None` if those are not all.
    pub(crate) fn of<'a>(
        variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
        server: ServerFlavor,
    ) -> Option<Self> {
        let of_sessions = variables.into_iter().filter_map(|(name, value)| {
            let name = match SystemVariable::named(name, server) {
                // No session can set them, but they tell what it may see.
                _ if ROLE_VARIABLES.contains(&name) => name.into(),
                Some(variable) if variable.is_inherited() => variable.name_on(server).as_bytes().into(),
                _ => return None,
            };
            Some((name, value.into()))
        });
        let values: BTreeMap<Box<[u8]>, Box<[u8]>> = of_sessions.collect();
        let is_whole = [&b"sql_mode"[..], b"wait_timeout"].iter().all(|name| values.contains_key(*name));
        is_whole.then_some(Self(values))
    }

    /// A value, as the server tells it.
    pub(crate) fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.get(name).map(|value| &**value)
    }

    /// Whether the SQL mode has this in it.
    pub(crate) fn has_mode(&self, mode: &[u8]) -> bool {
        self.value(b"sql_mode").is_some_and(|modes| modes.split(|byte| *byte == b',').any(|one| one == mode))
    }

    /// Whether some session may not set all that it takes.
    pub(crate) fn may_be_refused_over(&self, there: &Self, server: ServerFlavor) -> bool {
        let needs_privilege = |name: &[u8]| {
            SystemVariable::named(name, server).is_none_or(|variable| variable.needs_privilege(server))
        };
        self.over(there, server).map_or(true, |settings| settings.names().any(needs_privilege))
    }

    /// What must be set where sessions began with the values `there` to have these.
    ///
    /// # Errors
    /// A variable that cannot be set.
    pub(crate) fn over(&self, there: &Self, server: ServerFlavor) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for (name, value) in &self.0 {
            let differs = |name: &[u8]| self.value(name) != there.value(name);
            let Some(variable) = SystemVariable::named(name, server) else { continue };
            let is_of_differing_group = || match variable.carry() {
                Carry::Ordered(group) => self.0.keys().any(|other| {
                    let carry = SystemVariable::named(other, server).map(|other| other.carry());
                    carry == Some(Carry::Ordered(group)) && differs(other)
                }),
                _ => false,
            };
            // Of these the whole is set, which differs as well or stands for what does.
            let is_part = variable.whole().is_some_and(|whole| whole != &**name);
            if is_part || !differs(name) && !is_of_differing_group() {
                continue;
            }
            let literal = literal(name, value).filter(|_| variable.carry() != Carry::ReadOnly);
            let Some(literal) = literal else { return Err(variable.name().to_owned()) };
            settings.set(name, Some(&literal));
        }
        Ok(settings)
    }
}

/// A value as SQL writes it. Of these variables a server tells NULL as an empty text.
fn literal(name: &[u8], told: &[u8]) -> Option<Box<[u8]>> {
    const MAY_BE_NULL: [&[u8]; 5] = [
        b"default_tmp_storage_engine",
        b"enforce_storage_engine",
        b"external_table_secondary_storage_engine",
        b"external_table_storage_engine",
        b"innodb_ft_user_stopword_table",
    ];
    match told.is_empty() && MAY_BE_NULL.contains(&name) {
        true => Some(b"NULL".as_slice().into()),
        false => literal_of(told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: ServerFlavor = ServerFlavor::MariaDb(101_119);

    fn defaults(pairs: &[(&str, &str)]) -> Defaults {
        let always = [
            ("sql_mode", ""),
            ("wait_timeout", "28800"),
            ("port", "3306"),
            ("character_set_client", "utf8mb4"),
        ];
        let mut values: BTreeMap<&str, &str> = always.into();
        values.extend(pairs.iter().copied());
        Defaults::of(values.into_iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())), SERVER)
            .expect("all are there")
    }

    fn over(from: &[(&str, &str)], to: &[(&str, &str)]) -> Result<Settings, String> {
        defaults(to).over(&defaults(from), SERVER)
    }

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::default();
        pairs.iter().for_each(|(name, value)| settings.set(name.as_bytes(), Some(value.as_bytes())));
        settings
    }

    #[test]
    fn difference_is_what_must_be_set() {
        assert_eq!(over(&[], &[]), Ok(settings(&[])));
        assert_eq!(over(&[("sql_mode", "ANSI")], &[]), Ok(settings(&[("sql_mode", "''")])));
        assert_eq!(over(&[("port", "1")], &[]), Ok(settings(&[])), "no session variable");
        let roles = [("mandatory_roles", "reader@%")];
        assert_ne!(defaults(&roles), defaults(&[]), "sessions that begin now may see more");
        assert_eq!(over(&roles, &[]), Ok(settings(&[])), "and none can set that");
        let both = settings(&[("max_join_size", "5"), ("sql_big_selects", "'ON'")]);
        let to = [("max_join_size", "5"), ("sql_big_selects", "ON")];
        assert_eq!(
            over(&[("max_join_size", "7"), ("sql_big_selects", "ON")], &to),
            Ok(both),
            "they go together"
        );
        let to = [("max_allowed_packet", "1024")];
        assert_eq!(over(&[("max_allowed_packet", "2048")], &to), Err("max_allowed_packet".to_owned()));
    }

    #[test]
    fn each_keeps_what_was_in_force_when_it_began() {
        let all = AllDefaults::default();
        let server = all.of("db", 3306);
        let values = |n: &str| defaults(&[("group_concat_max_len", n)]);
        let first = all.era();
        server.learn(0, values("1"));
        server.change(None);
        let (second, number) = (all.era(), server.last_change());
        assert!(server.is_later_than(&first) && !server.is_later_than(&second) && server.lacks_values());
        assert_eq!(server.at(&second), None);
        server.learn(number, values("2"));
        server.change(Some(values("1")));
        let third = all.era();
        let at = |era| {
            server.at(era).map(|values| {
                String::from_utf8_lossy(values.value(b"group_concat_max_len").unwrap_or_default())
                    .into_owned()
            })
        };
        assert_eq!([&first, &second, &third].map(|era| at(era).expect("known")), ["1", "2", "1"]);
        assert_eq!(all.inheritance(&first), all.inheritance(&third), "the same answers hold");
        assert_ne!(all.inheritance(&first), all.inheritance(&second));
        assert_eq!(all.of("other", 3306).at(&second), None);
    }

    #[test]
    fn chapter_in_which_nothing_is_left_is_forgotten() {
        let all = AllDefaults::default();
        let server = all.of("db", 3306);
        let first = all.era();
        for number in 1..2_000 {
            server.change(Some(defaults(&[("group_concat_max_len", &number.to_string())])));
        }
        let book = server.book.lock();
        let since: Vec<_> = book.chapters.iter().map(|chapter| chapter.since).collect();
        assert_eq!(since, [0, 1_998, 1_999], "that of a session, and the last ones");
        assert_eq!(book.sets.len(), SETS_MAX);
        drop(book);
        drop(first);
    }

    #[test]
    fn what_sessions_began_with_at_a_server_that_is_no_more_counts_no_more() {
        let all = AllDefaults::default();
        let server = all.of("db", 3306);
        let values = |n: &str| defaults(&[("group_concat_max_len", n)]);
        let first = all.era();
        server.learn(0, values("1"));
        server.change(Some(values("2")));
        let second = all.era();
        server.begin_anew();
        assert!(server.is_later_than(&second), "its connections are closed");
        assert!(server.lacks_values());
        assert_eq!([&first, &second].map(|era| server.at(era)), [None, None]);
        server.learn(server.last_change(), values("3"));
        let third = all.era();
        server.change(Some(values("4")));
        let now = server.at(&third).expect("known");
        assert_eq!(now.value(b"group_concat_max_len"), Some(&b"3"[..]));
        for era in [&first, &second] {
            assert_eq!(server.at(era), Some(Arc::clone(&now)), "as what began at the new server");
            assert_eq!(all.inheritance(era), all.inheritance(&third));
        }
        drop((second, third));
        server.change(Some(values("5")));
        assert_eq!(server.at(&first), Some(now), "the first session is still there");
    }

    #[test]
    fn change_past_the_proxy_is_found_and_one_that_was_seen_is_none() {
        let all = AllDefaults::default();
        let server = all.of("db", 3306);
        let values = |n: &str| defaults(&[("group_concat_max_len", n)]);
        assert_eq!(server.compare(0, values("1")), Compared::AsKnown);
        assert_eq!(server.compare(0, values("1")), Compared::AsKnown);
        assert_eq!(server.compare(0, values("2")), Compared::Changed);
        assert_eq!(server.compare(0, values("1")), Compared::TooLate);
        let changing = server.begin_change();
        assert_eq!(server.compare(1, values("3")), Compared::TooLate);
        drop(changing);
        assert_eq!(server.compare(1, values("2")), Compared::AsKnown);
    }

    #[tokio::test(start_paused = true)]
    async fn what_begins_waits_for_a_change_that_is_under_way() {
        let all = AllDefaults::default();
        let server = all.of("db", 3306);
        let changing = server.begin_change();
        let before = all.era();
        assert!(server.may_have_changed_since(&before));
        let (waited, ()) = tokio::join!(server.era_to_begin(), async {
            tokio::task::yield_now().await;
            server.change(None);
            drop(changing);
        });
        assert!(!server.may_have_changed_since(&waited));
        let _for_ever = server.begin_change();
        server.era_to_begin().await;
    }
}
