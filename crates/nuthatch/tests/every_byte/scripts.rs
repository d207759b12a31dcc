//! The scripted sessions.

use crate::client::{Cursor, Types, Value};
use crate::player::{Flow, Player};

/// A session by its name.
pub(crate) type Script = (&'static str, fn(&mut Player) -> Flow);

/// All that are cut at each byte.
pub(crate) const SCRIPTS: [Script; 11] = [
    ("text", text),
    ("prepared", prepared),
    ("transaction", transaction),
    ("load data local", load_data),
    ("several statements", several),
    ("cursor", cursor),
    ("change user", change_user),
    ("large packets", large),
    ("procedure", procedure),
    ("state", state),
    ("exact cache", exact),
];

/// Statements of this size are longer than one frame.
const HUGE_BYTES: usize = 17 << 20;

fn text(player: &mut Player) -> Flow {
    player.write()?;
    player.read_marks()?;
    player.write()?;
    player.read("SELECT id, v FROM fixed ORDER BY id", |answers| answers[0].rows.len() == 20)?;
    player.write()?;
    player.read_marks()
}

fn prepared(player: &mut Player) -> Flow {
    let insert = player.prepare("INSERT INTO ran (c, m, v) VALUES (?, ?, ?)")?;
    let select = player.prepare("SELECT id, v FROM fixed WHERE id <= ?")?;
    for round in 1..=3 {
        let mark = player.mark();
        let values =
            [Value::Int(player.case().into()), Value::Int(mark.into()), Value::Text(vec![b'x'; 100 * round])];
        player
            .write_by(&[mark], |client| client.execute_whole(&insert, &values, Types::Sent, Cursor::None))?;
        player.read_by(
            "an execution",
            |client| client.execute_whole(&select, &[Value::Int(7)], Types::Sent, Cursor::None),
            |answers| answers[0].rows.len() == 7,
        )?;
    }
    player.read_marks()
}

fn transaction(player: &mut Player) -> Flow {
    player.begin()?;
    player.write()?;
    player.read_marks()?;
    player.write()?;
    player.commit()?;
    player.write()?;
    player.begin()?;
    player.write()?;
    player.roll_back()?;
    player.read_marks()
}

fn load_data(player: &mut Player) -> Flow {
    for _ in 0..2 {
        let marks = [player.mark(), player.mark(), player.mark()];
        let lines: Vec<_> =
            marks.iter().map(|mark| format!("{}\t{mark}\n", player.case()).into_bytes()).collect();
        let load = "LOAD DATA LOCAL INFILE 'any.tsv' INTO TABLE ran (c, m)";
        player.write_by(&marks, |client| client.load_file(load, &lines))?;
    }
    player.read_marks()
}

fn several(player: &mut Player) -> Flow {
    let marks = [player.mark(), player.mark(), player.mark()];
    let texts: Vec<_> =
        marks.iter().map(|mark| format!("{}; SELECT COUNT(*) FROM fixed", player.insert(*mark))).collect();
    player.write_in_order(&marks, 2, &texts.join("; "))?;
    player.read("SELECT 1 FROM fixed LIMIT 1; SELECT 2 FROM fixed LIMIT 1", |answers| answers.len() == 2)?;
    player.read_marks()
}

fn cursor(player: &mut Player) -> Flow {
    let select = player.prepare("SELECT id, v FROM fixed ORDER BY id")?;
    player.is_held = true;
    player.read_by(
        "an execution with a cursor",
        |client| client.execute_whole(&select, &[], Types::Sent, Cursor::ReadOnly),
        |answers| answers.len() == 1,
    )?;
    if player.errors > 0 {
        // It has none.
        return Flow::Break(());
    }
    for _ in 0..3 {
        let fetched = |client: &mut crate::client::Client| match client.fetch(&select, 4) {
            Ok(answer) => Ok(vec![Ok(answer)]),
            Err(crate::client::Failure::Server(error)) => Ok(vec![Err(error)]),
            Err(crate::client::Failure::Gone(error)) => Err(error),
        };
        player.read_by("a fetch", fetched, |answers| answers[0].rows.len() == 4)?;
        player.write()?;
    }
    player.read_marks()
}

fn change_user(player: &mut Player) -> Flow {
    let login = player.login.clone();
    player.write()?;
    player.read("SET @a = 7, SESSION sql_mode = 'ANSI_QUOTES'", |_| true)?;
    player.read("SELECT @a, id FROM fixed WHERE id = 1", |answers| answers[0].value() == "7")?;
    player.manage("COM_CHANGE_USER", |client| client.change_user(&login))?;
    player.read("SELECT @a, id FROM fixed WHERE id = 1", |answers| answers[0].value() == "NULL")?;
    player.write()?;
    player.read("SET @a = 8", |_| true)?;
    player.manage("COM_RESET_CONNECTION", |client| {
        client.command(nuthatch_wire::Command::ResetConnection as u8, &[]).map(drop)
    })?;
    player.read("SELECT @a, id FROM fixed WHERE id = 1", |answers| answers[0].value() == "NULL")?;
    player.write()?;
    player.read_marks()
}

fn large(player: &mut Player) -> Flow {
    of_size(player, 70_000)
}

/// The same with packets of several frames: for runs of their own.
pub(crate) fn huge(player: &mut Player) -> Flow {
    of_size(player, HUGE_BYTES)
}

fn of_size(player: &mut Player, bytes: usize) -> Flow {
    let mark = player.mark();
    let text = format!("{} /* {} */", player.insert(mark), "x".repeat(bytes));
    player.write_by(&[mark], |client| client.query_whole(&text))?;
    let select = format!("SELECT REPEAT('y', {bytes}), id FROM fixed WHERE id < 3");
    player.read(&select, |answers| answers[0].rows.len() == 2)?;
    player.read_marks()
}

fn procedure(player: &mut Player) -> Flow {
    // While nothing is known of the server's stored code.
    player.is_held = true;
    for _ in 0..2 {
        let marks = [player.mark(), player.mark()];
        let text = format!("CALL two_marks({}, {}, {})", player.case(), marks[0], marks[1]);
        player.write_in_order(&marks, 1, &text)?;
        player.read_marks()?;
    }
    Flow::Continue(())
}

fn state(player: &mut Player) -> Flow {
    player.read("SET NAMES latin1", |_| true)?;
    player.read("SET @a = 'own', SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", |_| true)?;
    player.write()?;
    let shown = "SELECT CONCAT_WS(' ', @a, DATABASE(), @@sql_mode, @@character_set_client), id FROM fixed WHERE id = 1";
    let schema = String::from_utf8_lossy(player.login.schema.as_deref().unwrap_or_default()).into_owned();
    let expected = format!("own {schema} ANSI_QUOTES,NO_BACKSLASH_ESCAPES latin1");
    player.read(shown, |answers| answers[0].value() == expected)?;
    player.read(&format!("USE {schema}_other"), |_| true)?;
    let elsewhere = format!("own {schema}_other ANSI_QUOTES,NO_BACKSLASH_ESCAPES latin1");
    let shown = shown.replace("fixed", &format!("{schema}.fixed"));
    player.read(&shown, |answers| answers[0].value() == elsewhere)?;
    let mark = player.mark();
    let text = player.insert(mark).replace("ran", &format!("{schema}.ran"));
    player.write_by(&[mark], |client| client.query_whole(&text))?;
    player.read(&format!("USE {schema}"), |_| true)?;
    player.read_marks()
}

fn exact(player: &mut Player) -> Flow {
    for _ in 0..3 {
        player.read_marks()?;
        player.read_marks()?;
        player.write()?;
    }
    player.begin()?;
    player.write()?;
    player.read_marks()?;
    player.commit()?;
    player.read_marks()
}
