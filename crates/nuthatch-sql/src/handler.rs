//! Which handlers a statement opens or closes: `HANDLER t OPEN AS a`, `HANDLER a CLOSE`.

use crate::classify::cursor::Cursor;
use crate::temporary::table;
use crate::token::Lexing;

/// What becomes of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handler {
    /// It is opened under this name, without quotes, as written: its alias, or else that of its table.
    Opened(Vec<u8>),
    /// The one of this name is closed.
    Closed(Vec<u8>),
}

/// What `query` does with a handler, if it is one statement that opens or closes one and is understood as far as its name goes.
#[must_use]
pub fn handler(query: &[u8], lexing: Lexing) -> Option<Handler> {
    let mut cursor = Cursor::new(query, lexing);
    if !cursor.take_word(b"HANDLER") {
        return None;
    }
    let table = table(&mut cursor)?;
    let handler = if cursor.take_word(b"CLOSE") {
        Handler::Closed(table.name)
    } else if cursor.take_word(b"OPEN") {
        let has_alias = cursor.take_word(b"AS") || !cursor.at_end();
        Handler::Opened(if has_alias { cursor.take_name()? } else { table.name })
    } else {
        return None;
    };
    cursor.ends_statement().then_some(handler)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    fn shown(query: &str) -> String {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
        match handler(query.as_bytes(), lexing) {
            None => "-".to_owned(),
            Some(Handler::Opened(name)) => format!("opened {}", text(name)),
            Some(Handler::Closed(name)) => format!("closed {}", text(name)),
        }
    }

    #[test]
    fn names_are_read_and_nothing_else_is_understood() {
        for (query, expected) in [
            ("HANDLER t OPEN", "opened t"),
            ("handler `a b`.`c``d` open; -- x", "opened c`d"),
            ("HANDLER s.t OPEN AS a", "opened a"),
            ("HANDLER t OPEN a", "opened a"),
            ("HANDLER t OPEN AS `close`", "opened close"),
            ("HANDLER close OPEN", "opened close"),
            ("HANDLER a CLOSE", "closed a"),
            ("HANDLER /* x */ T close ;", "closed T"),
            ("HANDLER a READ FIRST", "-"),
            ("HANDLER a READ k = (1)", "-"),
            ("HANDLER .t OPEN", "-"),
            ("HANDLER t OPEN AS", "-"),
            ("HANDLER t OPEN AS a b", "-"),
            ("HANDLER t OPEN AS 'a'", "-"),
            ("HANDLER t OPEN /*!50000 AS a */", "-"),
            ("HANDLER t CLOSE; HANDLER u OPEN", "-"),
            ("HANDLER t CLOSE /*", "-"),
            ("HANDLER t", "-"),
            ("SELECT 1", "-"),
        ] {
            assert_eq!(shown(query), expected, "{query}");
        }
    }
}
