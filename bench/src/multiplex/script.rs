//! What a client does: two inserts to three reads, half of the reads asking for its own last insert id.
//!
//! Each answer is judged by what this client inserted before. Pure: no socket and no clock.

use super::dialogue::Answer;

/// Where all clients insert. A statement that ran twice would meet the second key.
pub(super) const TABLE: &str = "CREATE TABLE tickets (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    client INT NOT NULL, number INT NOT NULL, note CHAR(60) NOT NULL,
    UNIQUE KEY (client, number)) ENGINE = InnoDB";

/// Of sysbench's table.
const ROWS: u64 = 10_000;

/// One client's mind.
#[derive(Debug)]
pub(super) struct Script {
    client: usize,
    random: Random,
    /// Of the last insert; 0 before the first.
    number: u64,
    /// What the server said of it.
    id: u64,
    /// An id that the client read and the insert it was of, not yet followed up.
    told: Option<(u64, u64)>,
    asked: Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    Insert,
    LastId,
    RowOfLastId,
    RowOfTold(u64, u64),
    Other,
}

/// What an answer was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// An insert is acknowledged.
    Inserted,
    /// An id, or the row of one, is as it must be.
    IdRight,
    /// Another read.
    Read,
}

impl Script {
    pub(super) fn new(client: usize, seed: u64) -> Self {
        let random = Random(seed ^ (client as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Self { client, random, number: 0, id: 0, told: None, asked: Asked::Nothing }
    }

    /// The next statement.
    pub(super) fn ask(&mut self) -> String {
        self.asked = self.choose();
        match self.asked {
            Asked::Insert => {
                self.number += 1;
                let (client, number) = (self.client, self.number);
                format!(
                    "INSERT INTO tickets (client, number, note) VALUES ({client}, {number}, 'of {client}')"
                )
            }
            Asked::LastId => "SELECT LAST_INSERT_ID()".into(),
            Asked::RowOfLastId => "SELECT id, client, number FROM tickets WHERE id = LAST_INSERT_ID()".into(),
            Asked::RowOfTold(id, _) => format!("SELECT id, client, number FROM tickets WHERE id = {id}"),
            Asked::Nothing | Asked::Other => {
                format!("SELECT c FROM sbtest1 WHERE id = {}", 1 + self.random.below(ROWS))
            }
        }
    }

    fn choose(&mut self) -> Asked {
        match self.random.below(10) {
            0..4 => Asked::Insert,
            4..7 if self.random.below(2) == 0 => Asked::LastId,
            4..7 => Asked::RowOfLastId,
            // What was told is followed up by the next of the other reads.
            _ => self.told.take().map_or(Asked::Other, |(id, number)| Asked::RowOfTold(id, number)),
        }
    }

    /// Takes the answer to it; the text says what is wrong with it.
    pub(super) fn take(&mut self, answer: &Answer) -> Result<Outcome, String> {
        let asked = std::mem::replace(&mut self.asked, Asked::Nothing);
        match (asked, answer) {
            (Asked::Insert, Answer::Ok { affected: 1, insert_id }) if *insert_id > 0 => {
                self.id = *insert_id;
                Ok(Outcome::Inserted)
            }
            (Asked::LastId, Answer::Rows(rows)) if *rows == [[self.id.to_string()]] => {
                self.told = (self.id > 0).then_some((self.id, self.number));
                Ok(Outcome::IdRight)
            }
            (Asked::RowOfLastId, Answer::Rows(rows)) if *rows == self.row(self.id, self.number) => {
                Ok(Outcome::IdRight)
            }
            (Asked::RowOfTold(id, number), Answer::Rows(rows)) if *rows == self.row(id, number) => {
                Ok(Outcome::IdRight)
            }
            (Asked::Other, Answer::Rows(rows)) if rows.len() == 1 => Ok(Outcome::Read),
            _ => Err(format!(
                "client {} with insert {} under id {} asked {asked:?} and is answered {answer:?}",
                self.client, self.number, self.id
            )),
        }
    }

    /// What an insert of its own must read as; nothing before the first.
    fn row(&self, id: u64, number: u64) -> Vec<Vec<String>> {
        let row = [id, self.client as u64, number].map(|value| value.to_string());
        if id == 0 { vec![] } else { vec![row.to_vec()] }
    }
}

/// SplitMix64.
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `limit`, evenly drawn.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(row: &[&str]) -> Answer {
        Answer::Rows(vec![row.iter().map(|&value| value.to_owned()).collect()])
    }

    fn asking(asked: Asked) -> Script {
        Script { number: 3, id: 70, asked, ..Script::new(5, 1) }
    }

    #[test]
    fn wrong_ids_rows_and_counts_are_told() {
        let refused = [
            (Asked::LastId, rows(&["71"])),
            (Asked::LastId, rows(&["0"])),
            (Asked::RowOfLastId, rows(&["70", "6", "3"])),
            (Asked::RowOfLastId, rows(&["70", "5", "2"])),
            (Asked::RowOfLastId, Answer::Rows(vec![])),
            (Asked::RowOfTold(69, 2), rows(&["69", "6", "2"])),
            (Asked::Insert, Answer::Ok { affected: 0, insert_id: 71 }),
            (Asked::Insert, Answer::Error("1062: Duplicate entry".into())),
            (Asked::Other, Answer::Rows(vec![])),
        ];
        for (asked, answer) in refused {
            assert!(asking(asked).take(&answer).is_err(), "{asked:?} {answer:?}");
        }
        assert_eq!(asking(Asked::LastId).take(&rows(&["70"])), Ok(Outcome::IdRight));
        assert_eq!(asking(Asked::RowOfLastId).take(&rows(&["70", "5", "3"])), Ok(Outcome::IdRight));
    }

    #[test]
    fn a_new_session_has_no_id() {
        let fresh = || Script::new(5, 1);
        let asking = |asked| Script { asked, ..fresh() };
        assert_eq!(asking(Asked::LastId).take(&rows(&["0"])), Ok(Outcome::IdRight));
        assert!(asking(Asked::LastId).take(&rows(&["12"])).is_err());
        assert_eq!(asking(Asked::RowOfLastId).take(&Answer::Rows(vec![])), Ok(Outcome::IdRight));
    }

    #[test]
    fn two_of_five_statements_insert_and_half_of_the_reads_ask_for_the_id() {
        let mut script = Script::new(1, 7);
        let texts: Vec<_> = (0..10_000).map(|_| script.ask()).collect();
        let share = |word: &str| texts.iter().filter(|text| text.contains(word)).count() as f64 / 10_000.0;
        assert!((share("INSERT INTO") - 0.4).abs() < 0.02);
        assert!((share("LAST_INSERT_ID()") - 0.3).abs() < 0.02);
    }
}
