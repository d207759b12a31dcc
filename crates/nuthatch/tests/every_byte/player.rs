//! Plays a script as a client, and holds what each statement is answered against what may have become of it.
//!
//! Each statement that writes leaves a mark of its own in the table `ran`, on the server. What the client is told says how often the
//! mark may be there: once behind an OK, never behind an error that says so, once or never where the error says that this is not known.

use std::io;
use std::ops::ControlFlow;

use crate::client::{Answer, Client, Failure, Login, Prepared, ServerError};

/// All that a statement is answered.
pub(crate) type Reply = io::Result<Vec<Result<Answer, ServerError>>>;

/// Whether the client's connection is still there.
pub(crate) type Flow = ControlFlow<()>;

/// How often marks may stand in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    Once(u32),
    Never(u32),
    /// All of them once, or none.
    Together(Vec<u32>),
    /// Each once, or none of those behind it.
    InOrder(Vec<u32>),
}

/// What a checker must find, to show that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// A write whose outcome is not known is sent again, as if it had not been run.
    SendsAgain,
}

/// What an error of a lost connection says of its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Plain,
    NotExecuted,
    RolledBack,
    Unknown,
    CommitUnknown,
}

/// What came of a statement.
enum Told {
    Answered(Vec<Answer>),
    /// So many answers, then an error. `is_partial`: a part of the answer had come.
    Lost {
        answers: usize,
        words: Words,
        is_partial: bool,
    },
    /// The client was hung up on.
    Gone,
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Player {
    client: Client,
    pub(crate) login: Login,
    case: u32,
    marks: u32,
    /// The marks of the open transaction.
    open: Option<Vec<u32>>,
    /// Something else keeps the session on its connection.
    pub(crate) is_held: bool,
    fault: Fault,
    errors_of_last: u32,
    pub(crate) expected: Vec<Expected>,
    pub(crate) violations: Vec<String>,
    /// Errors that the client was told, and ends without one.
    pub(crate) errors: u32,
    /// It was hung up on behind an answer: the proxy had still to ask for something that the session must know.
    pub(crate) was_ended: bool,
}

impl Player {
    pub(crate) fn new(client: Client, login: Login, case: u32, fault: Fault) -> Self {
        Self {
            client,
            login,
            case,
            marks: 0,
            open: None,
            is_held: false,
            fault,
            errors_of_last: 0,
            expected: Vec::new(),
            violations: Vec::new(),
            errors: 0,
            was_ended: false,
        }
    }

    pub(crate) const fn case(&self) -> u32 {
        self.case
    }

    /// The next mark.
    pub(crate) fn mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks
    }

    /// The text by which a mark is written.
    pub(crate) fn insert(&self, mark: u32) -> String {
        format!("INSERT INTO ran (c, m) VALUES ({}, {mark})", self.case)
    }

    /// Writes a mark by a text.
    pub(crate) fn write(&mut self) -> Flow {
        let mark = self.mark();
        let text = self.insert(mark);
        self.write_by(&[mark], |client| client.query_whole(&text))
    }

    /// The same in the way that is given, of marks that are written together.
    pub(crate) fn write_by(&mut self, marks: &[u32], mut ask: impl FnMut(&mut Client) -> Reply) -> Flow {
        let reply = ask(&mut self.client);
        let mut told = self.hear("a write", reply);
        let is_unknown = matches!(told, Told::Lost { words: Words::Unknown, .. });
        if self.fault == Fault::SendsAgain && is_unknown {
            told = match ask(&mut self.client) {
                Ok(answers) => Told::Answered(answers.into_iter().flatten().collect()),
                Err(_) => told,
            };
        }
        let is_inside = self.open.is_some();
        match (told, is_inside) {
            (Told::Answered(_), true) => self.open.get_or_insert_default().extend(marks),
            (Told::Answered(_), false) => self.expect_each(marks, Expected::Once),
            (Told::Lost { words: Words::RolledBack, .. } | Told::Gone, true) => {
                self.expect_each(marks, Expected::Never);
                return self.lose_transaction();
            }
            (Told::Lost { words: Words::NotExecuted, .. }, false) => {
                self.expect_each(marks, Expected::Never);
            }
            (Told::Lost { words: Words::Unknown, .. }, false) => {
                self.expected.push(Expected::Together(marks.to_vec()));
            }
            (Told::Gone, false) => {
                self.expected.push(Expected::Together(marks.to_vec()));
                return Flow::Break(());
            }
            (Told::Lost { words, .. }, _) => self.violate(format!("a write was told {words:?}")),
        }
        self.go_on()
    }

    /// Writes marks by several statements in one, each of its own, of which that many are answered behind each mark.
    pub(crate) fn write_in_order(&mut self, marks: &[u32], answers_each: usize, text: &str) -> Flow {
        let reply = self.client.query_whole(text);
        match self.hear("several writes", reply) {
            Told::Answered(_) => self.expect_each(marks, Expected::Once),
            Told::Lost { words: Words::NotExecuted, .. } => self.expect_each(marks, Expected::Never),
            Told::Lost { answers, words: Words::Unknown, .. } => {
                self.expect_in_order(marks, answers / answers_each);
            }
            Told::Gone => {
                self.expect_in_order(marks, 0);
                return Flow::Break(());
            }
            Told::Lost { words, .. } => self.violate(format!("several writes were told {words:?}")),
        }
        self.go_on()
    }

    fn expect_in_order(&mut self, marks: &[u32], done: usize) {
        let (done, rest) = marks.split_at(done.min(marks.len()));
        self.expect_each(done, Expected::Once);
        self.expected.push(Expected::InOrder(rest.to_vec()));
    }

    /// Reads, and gives the answers to `check`.
    pub(crate) fn read(&mut self, text: &str, check: impl FnOnce(&[Answer]) -> bool) -> Flow {
        let reply = self.client.query_whole(text);
        self.hear_read(text, reply, check)
    }

    /// The same of the marks that are there by what was told: each once.
    pub(crate) fn read_marks(&mut self) -> Flow {
        let text = marks_of(self.case);
        let surely: Vec<_> = self
            .expected
            .iter()
            .filter_map(|expected| if let Expected::Once(mark) = expected { Some(*mark) } else { None })
            .chain(self.open.iter().flatten().copied())
            .map(|mark| mark.to_string())
            .collect();
        let never = self.expected.clone();
        self.read(&text, |answers| {
            let shown = answers[0].column();
            let is_none_wrong = shown
                .iter()
                .all(|mark| mark.parse().is_ok_and(|mark| !never.contains(&Expected::Never(mark))));
            surely.iter().all(|mark| shown.contains(mark)) && is_none_wrong
        })
    }

    /// The same in the way that is given.
    pub(crate) fn read_by(
        &mut self,
        what: &str,
        ask: impl FnOnce(&mut Client) -> Reply,
        check: impl FnOnce(&[Answer]) -> bool,
    ) -> Flow {
        let reply = ask(&mut self.client);
        self.hear_read(what, reply, check)
    }

    fn hear_read(&mut self, what: &str, reply: Reply, check: impl FnOnce(&[Answer]) -> bool) -> Flow {
        let is_inside = self.open.is_some();
        match self.hear(what, reply) {
            Told::Answered(answers) if check(&answers) => {}
            Told::Answered(answers) => {
                let tables: Vec<_> = answers.iter().map(Answer::table).collect();
                self.violate(format!("{what} was answered {tables:?}"));
            }
            Told::Lost { words: Words::RolledBack, .. } | Told::Gone if is_inside => {
                return self.lose_transaction();
            }
            // Nothing of it had come, and nothing tied it to its connection: another should have answered.
            Told::Lost { words: Words::Plain, is_partial, .. } if is_partial || self.is_held => {}
            Told::Lost { words, .. } => self.violate(format!("{what} was told {words:?}")),
            Told::Gone => return Flow::Break(()),
        }
        self.go_on()
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, text: &str) -> ControlFlow<(), Prepared> {
        match self.client.prepare(text) {
            Ok(prepared) => ControlFlow::Continue(prepared),
            Err(failure) => {
                let reply = match failure {
                    Failure::Server(error) => Ok(vec![Err(error)]),
                    Failure::Gone(error) => Err(error),
                };
                self.hear_read("a preparation", reply, |_| true)?;
                ControlFlow::Break(())
            }
        }
    }

    /// Something that a server is not needed for, or that is no statement.
    pub(crate) fn manage(
        &mut self,
        what: &str,
        ask: impl FnOnce(&mut Client) -> Result<(), Failure>,
    ) -> Flow {
        let reply = match ask(&mut self.client) {
            Ok(()) => Ok(vec![Ok(Answer::default())]),
            Err(Failure::Server(error)) => Ok(vec![Err(error)]),
            Err(Failure::Gone(error)) => Err(error),
        };
        self.hear_read(what, reply, |_| true)
    }

    pub(crate) fn begin(&mut self) -> Flow {
        let flow = self.read("BEGIN", |_| true);
        self.open = flow.is_continue().then(Vec::new);
        flow
    }

    pub(crate) fn commit(&mut self) -> Flow {
        let marks = self.open.clone().unwrap_or_default();
        let reply = self.client.query_whole("COMMIT");
        match self.hear("a COMMIT", reply) {
            Told::Answered(_) => {
                self.expect_each(&marks, Expected::Once);
                self.open = None;
                return self.go_on();
            }
            Told::Lost { words: Words::RolledBack, .. } => return self.lose_transaction(),
            Told::Lost { words: Words::CommitUnknown, .. } => {
                self.expected.push(Expected::Together(marks));
                self.open = Some(Vec::new());
                return self.lose_transaction();
            }
            Told::Gone => self.expected.push(Expected::Together(marks)),
            Told::Lost { words, .. } => self.violate(format!("a COMMIT was told {words:?}")),
        }
        Flow::Break(())
    }

    pub(crate) fn roll_back(&mut self) -> Flow {
        let reply = self.client.query_whole("ROLLBACK");
        match self.hear("a ROLLBACK", reply) {
            Told::Answered(_) => {
                let marks = self.open.take().unwrap_or_default();
                self.expect_each(&marks, Expected::Never);
                self.go_on()
            }
            Told::Lost { words: Words::RolledBack, .. } | Told::Gone => self.lose_transaction(),
            Told::Lost { words, .. } => {
                self.violate(format!("a ROLLBACK was told {words:?}"));
                Flow::Break(())
            }
        }
    }

    /// The transaction is gone, and so must the client's connection be.
    fn lose_transaction(&mut self) -> Flow {
        let marks = self.open.take().unwrap_or_default();
        self.expect_each(&marks, Expected::Never);
        if !self.client.is_closed_by_server() {
            self.violate("the session went on without its transaction".to_owned());
        }
        Flow::Break(())
    }

    /// Whether the session goes on. Behind an error it must, with no more said of that.
    fn go_on(&mut self) -> Flow {
        let errors = std::mem::take(&mut self.errors_of_last);
        match self.client.command(nuthatch_wire::Command::Ping as u8, &[]) {
            Ok(_) => Flow::Continue(()),
            // Its connection was lost behind the answer.
            Err(failure) if failure.is_closed() && self.open.is_some() => self.lose_transaction(),
            Err(failure) if failure.is_closed() && (self.is_held || errors == 0) => {
                self.was_ended = errors == 0;
                Flow::Break(())
            }
            Err(failure) => {
                self.violate(format!("the session does not go on: {failure:?}"));
                Flow::Break(())
            }
        }
    }

    fn hear(&mut self, what: &str, reply: Reply) -> Told {
        let received = self.client.received();
        let answers = match reply {
            Ok(answers) => answers,
            Err(error) => {
                self.count_error();
                let is_tied = self.open.is_some() || self.is_held;
                let failure = Failure::Gone(error);
                if !failure.is_closed() {
                    self.violate(format!("{what} hangs: {failure:?}"));
                } else if received == 0 && !is_tied {
                    self.violate(format!("{what} was hung up on without a word"));
                }
                return Told::Gone;
            }
        };
        let count = answers.len();
        let mut good = Vec::new();
        for answer in answers {
            match answer {
                Ok(answer) => good.push(answer),
                Err(error) => {
                    self.count_error();
                    let is_partial = received > error_len(&error);
                    let words = words_of(&error).unwrap_or_else(|| {
                        self.violate(format!("{what} was told {error:?}"));
                        Words::Plain
                    });
                    return Told::Lost { answers: count - 1, words, is_partial };
                }
            }
        }
        Told::Answered(good)
    }

    fn expect_each(&mut self, marks: &[u32], expected: impl Fn(u32) -> Expected) {
        self.expected.extend(marks.iter().map(|mark| expected(*mark)));
    }

    const fn count_error(&mut self) {
        self.errors += 1;
        self.errors_of_last += 1;
    }

    fn violate(&mut self, what: String) {
        self.violations.push(what);
    }
}

/// The text that reads the marks of a case.
pub(crate) fn marks_of(case: u32) -> String {
    format!("SELECT m FROM ran WHERE c = {case} ORDER BY n")
}

/// The bytes of an ERR packet, its header included.
fn error_len(error: &ServerError) -> usize {
    4 + 1 + 2 + 1 + error.state.len() + error.message.len()
}

fn words_of(error: &ServerError) -> Option<Words> {
    let rest = error.message.strip_prefix("Lost connection to MySQL server during query")?;
    let words = match rest {
        "" => Words::Plain,
        "; the statement was not executed" => Words::NotExecuted,
        "; the transaction was rolled back" => Words::RolledBack,
        "; it is not known whether the statement was executed" => Words::Unknown,
        "; it is not known whether the transaction was committed" => Words::CommitUnknown,
        _ => return None,
    };
    (error.code == 2013).then_some(words)
}

/// Why the table is not what the client was told; nothing if it is.
pub(crate) fn find_wrong(expected: &[Expected], found: &[u32]) -> Vec<String> {
    let times = |mark: &u32| found.iter().filter(|found| *found == mark).count();
    let mut wrong: Vec<_> = expected
        .iter()
        .filter(|expected| match expected {
            Expected::Once(mark) => times(mark) != 1,
            Expected::Never(mark) => times(mark) != 0,
            Expected::Together(marks) => {
                !marks.iter().all(|mark| times(mark) == 1) && !marks.iter().all(|mark| times(mark) == 0)
            }
            Expected::InOrder(marks) => {
                let times: Vec<_> = marks.iter().map(times).collect();
                !times.is_sorted_by(|a, b| a >= b) || times.iter().any(|times| *times > 1)
            }
        })
        .map(|expected| format!("expected {expected:?}, found {found:?}"))
        .collect();
    wrong.dedup();
    wrong
}
