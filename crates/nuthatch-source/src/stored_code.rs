//! What stored code leaves in sessions, from the bodies of all routines and triggers and the texts of all views.
//!
//! A body leaves what it does itself ([`left_by`]) and what the code leaves that it names. So what is known grows until no name adds
//! anything. Bodies are not taken apart: see `trigger_body.rs`.

use nuthatch_sql::{Leaves, Runs, StoredCode, is_own_schema, is_plain};

use crate::definitions::{Definitions, RoutineDefinition};
use crate::session_effects::{Assignable, left_by, left_by_view};
use crate::trigger_body::TriggerBody;

/// All of the stored code. `assignable` are the variables that a SET may name.
pub(crate) fn stored_code(definitions: &Definitions, assignable: &Assignable) -> StoredCode {
    let pieces = pieces(definitions, assignable);
    let odd_names: Vec<_> = pieces.iter().map(|piece| piece.name).filter(|name| !is_plain(name)).collect();
    let mut code = StoredCode::default();
    while pieces.iter().filter(|piece| piece.add_to(&mut code, &odd_names)).count() > 0 {}
    while pieces.iter().filter(|piece| piece.add_asking_to(&mut code, &odd_names)).count() > 0 {}
    code
}

/// By these names the session's last insert id is read.
const INSERT_ID: [&[u8]; 2] = [b"last_insert_id", b"identity"];

/// One text that runs where its name stands.
struct Piece<'d> {
    name: &'d [u8],
    role: Role,
    /// Without what it names.
    own: Leaves,
    text: TriggerBody,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Function,
    /// Its functions are called behind its name.
    Package,
    Trigger,
    View,
}

fn pieces<'d>(definitions: &'d Definitions, assignable: &Assignable) -> Vec<Piece<'d>> {
    let piece = |name: &'d Vec<u8>, role, text: &[u8]| {
        let own = match role {
            // Hidden ones may do anything.
            _ if text.is_empty() => Leaves::Lasting,
            Role::View => left_by_view(text),
            _ => left_by(text, assignable),
        };
        Piece { name, role, own, text: TriggerBody::new(text) }
    };
    // Those of the server's own are known by their schema's name.
    let routines = definitions.routines.iter().filter(|routine| !is_own_schema(&routine.schema));
    let routines = routines.map(|routine| piece(&routine.name, role(routine), &routine.body));
    let triggers = definitions.triggers.iter();
    let triggers = triggers.map(|trigger| piece(&trigger.table.name, Role::Trigger, &trigger.body));
    let views = definitions.views.iter().map(|view| piece(&view.view.name, Role::View, &view.text));
    routines.chain(triggers).chain(views).collect()
}

/// A procedure counts as a function: bodies call it by its name.
fn role(routine: &RoutineDefinition) -> Role {
    if routine.kind.starts_with(b"PACKAGE") { Role::Package } else { Role::Function }
}

impl<'d> Piece<'d> {
    /// The names that stand in it.
    fn names<'s>(&'s self, odd_names: &'s [&'d [u8]]) -> impl Iterator<Item = &'s [u8]> {
        let odd = odd_names.iter().copied().filter(|name| self.text.may_show(name));
        self.text.words().chain(odd)
    }

    /// Says whether more is known then.
    fn add_asking_to(&self, code: &mut StoredCode, odd_names: &[&'d [u8]]) -> bool {
        let asks =
            || self.text.words().any(|word| INSERT_ID.iter().any(|name| word.eq_ignore_ascii_case(name)));
        (asks() || code.is_asking(self.names(odd_names))) && code.add_asking(self.name)
    }

    /// Says whether more is known then.
    fn add_to(&self, code: &mut StoredCode, odd_names: &[&'d [u8]]) -> bool {
        let names = || self.names(odd_names);
        let left_by_body = || self.own.max(code.left_by_body(names()));
        match self.role {
            Role::Function => {
                let left = left_by_body();
                code.add(self.name, Runs::Called, left)
            }
            Role::Package => {
                let left = left_by_body();
                code.add(self.name, Runs::Read, left)
            }
            Role::Trigger => {
                let left = left_by_body();
                code.add(self.name, Runs::Written, left)
            }
            Role::View => {
                let read = self.own.max(code.left_by_view(names()));
                let written = left_by_body();
                let grows = code.add(self.name, Runs::Read, read);
                code.add(self.name, Runs::Written, written) || grows
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{TableRef, TriggerDefinition, ViewDefinition};
    use nuthatch_sql::{Class, Lexing, ServerFlavor, classify};

    const SERVER: ServerFlavor = ServerFlavor::MariaDb(101_119);

    fn code() -> StoredCode {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let table = |name| TableRef { schema: bytes("s"), name: bytes(name) };
        let routine = |kind, name, body| RoutineDefinition {
            schema: bytes("s"),
            name: bytes(name),
            kind: bytes(kind),
            body: bytes(body),
        };
        let trigger =
            |name, body| TriggerDefinition { table: table(name), body: bytes(body), sql_mode: Vec::new() };
        let view = |name, text| ViewDefinition { view: table(name), text: bytes(text) };
        let definitions = Definitions {
            routines: vec![
                routine("FUNCTION", "through", "RETURN 1 + sets()"),
                routine("FUNCTION", "sets", "BEGIN SET lc_time_names = 'de_DE'; RETURN 7; END"),
                routine("FUNCTION", "quiet", "RETURN 7"),
                routine("FUNCTION", "writes", "BEGIN INSERT INTO fires VALUES (1); RETURN 7; END"),
                routine("PROCEDURE", "locks", "DO GET_LOCK('a', 1)"),
                routine("FUNCTION", "hidden", ""),
                routine("PACKAGE BODY", "pack", "FUNCTION f RETURN INT AS BEGIN SET @a = 1; RETURN 7; END;"),
                routine("FUNCTION", "an odd one", "BEGIN SET @a = 1; RETURN 7; END"),
            ],
            triggers: vec![
                trigger("fires", "SET time_zone = '+01:00'"),
                trigger("calls", "CALL locks()"),
                trigger("notes", "INSERT INTO log VALUES (NEW.id, @user, NOW())"),
                trigger("odd", "SET NEW.a = `an odd one`()"),
            ],
            views: vec![
                view("over", "select `s`.`seen`.`a` AS `a` from `s`.`seen`"),
                view("seen", "select `s`.`through`() AS `a`"),
                view("of_fires", "select `s`.`fires`.`a` AS `a` from `s`.`fires`"),
                view("takes_lock", "select get_lock('a',1) AS `a`"),
                view("own", "select `sys`.`format_time`(1) AS `a`"),
            ],
            ..Definitions::default()
        };
        stored_code(&definitions, &Assignable::known())
    }

    #[test]
    fn what_code_leaves_is_followed_through_what_it_names() {
        let code = code();
        for (text, expected) in [
            ("SELECT quiet()", Leaves::Nothing),
            ("SELECT sets()", Leaves::Told),
            ("SELECT through()", Leaves::Told),
            ("SELECT writes()", Leaves::Told),
            ("SELECT hidden()", Leaves::Lasting),
            ("SELECT pack.f()", Leaves::Told),
            ("SELECT * FROM over", Leaves::Told),
            ("SELECT * FROM own", Leaves::Told),
            ("SELECT * FROM takes_lock", Leaves::Untold),
            ("SELECT * FROM of_fires", Leaves::Nothing),
            ("INSERT INTO of_fires VALUES (1)", Leaves::Told),
            ("SELECT * FROM fires", Leaves::Nothing),
            ("DELETE FROM fires", Leaves::Told),
            ("UPDATE calls SET a = 1", Leaves::Untold),
            ("UPDATE notes SET a = 1", Leaves::Nothing),
            ("UPDATE odd SET a = 1", Leaves::Told),
        ] {
            let lexing = Lexing::of(SERVER);
            let class = Class::of(&classify(text.as_bytes(), lexing));
            assert_eq!(code.leaves(text.as_bytes(), class, lexing, b"s"), expected, "{text}");
        }
    }
}
