//! Statements by name and by number are forgotten one by one.

use super::*;
use crate::session::parts::names::{NamedStatement, folded};

fn with_long_data(long_data: &[&[u8]], has_too_much: bool) -> Statement {
    let mut statement = Statement::of_text("SELECT ?");
    if has_too_much {
        statement.add_long_data(b"more than there may be".to_vec(), 0);
    }
    long_data.iter().for_each(|data| statement.add_long_data(data.to_vec(), 1000));
    statement
}

/// With `one` and `two` prepared by name, and 1 and 2 by number.
fn statements() -> Statements {
    let mut names = Names::default();
    for (name, text) in [("one", "SELECT 1"), ("two", "SELECT 2")] {
        let key = Statement::of_text(&format!("PREPARE {name} FROM '{text}'")).key().clone();
        let named = NamedStatement { key, text: text.as_bytes().into() };
        names.insert(folded(name.as_bytes()), named);
    }
    let mut prepared = Prepared::default();
    prepared.add(1, with_long_data(&[b"a", b"b"], true));
    prepared.add(2, with_long_data(&[b"c"], false));
    Statements { prepared: Some(Box::new(prepared)), names: Some(Box::new(names)) }
}

fn texts(statements: &Statements) -> [Option<Arc<[u8]>>; 2] {
    [&b"one"[..], b"two"].map(|name| statements.named_text(name))
}

#[test]
fn name_is_forgotten_once_and_leaves_the_others() {
    let (one, two): (Arc<[u8]>, Arc<[u8]>) = (b"SELECT 1"[..].into(), b"SELECT 2"[..].into());
    let mut statements = statements();
    assert_eq!(texts(&statements), [Some(one), Some(Arc::clone(&two))]);
    for (name, was_there) in [(&b"three"[..], false), (b"one", true), (b"one", false)] {
        assert_eq!(statements.forget_name(name), was_there, "{name:?}");
    }
    assert_eq!(texts(&statements), [None, Some(two)]);
    assert!(!Statements::default().forget_name(b"one"));
    assert_eq!(texts(&Statements::default()), [None, None]);
}

#[test]
fn only_execution_by_a_known_name_has_a_text_and_a_key_that_were_prepared() {
    let statements = statements();
    let name = || Arc::from(&b"one"[..]);
    let prepare = Named::Prepare { name: name(), text: b"SELECT 9"[..].into(), sent: None };
    for (text, named, expected) in [
        ("SELECT 1", None, None),
        ("EXECUTE one", Some(Named::Execute { name: name() }), Some("SELECT 1")),
        ("EXECUTE three", Some(Named::Execute { name: b"three"[..].into() }), None),
        ("EXECUTE one", Some(Named::Unknown { name: name() }), None),
        ("PREPARE one FROM 'SELECT 9'", Some(prepare), None),
    ] {
        let plan = Plan { named: named.map(Box::new), ..Plan::of_text(text) };
        let found = statements.prepared_text(&plan);
        assert_eq!(found, expected.map(str::as_bytes), "{:?}", plan.named);
        let key_text = statements.prepared_key(&plan).map(|key| &*key.text);
        let expected = expected.map(|text| format!("PREPARE one FROM '{text}'").into_bytes());
        assert_eq!(key_text, expected.as_deref(), "{:?}", plan.named);
    }
}

#[test]
fn long_data_are_dropped_of_one_statement_which_stays() {
    let mut statements = statements();
    assert_eq!(statements.long_data(1), [b"a", b"b"]);
    for id in [1, 9] {
        statements.drop_long_data(id);
        assert!(statements.long_data(id).is_empty(), "{id}");
    }
    assert!(statements.prepared_statement(1).is_some());
    assert_eq!(statements.long_data(2), [b"c"]);
}

#[test]
fn that_too_much_came_is_told_once() {
    let mut statements = statements();
    let told = [1, 1, 2, 9].map(|id| statements.takes_too_much(id));
    assert_eq!(told, [true, false, false, false]);
    assert!(!Statements::default().takes_too_much(1));
}
