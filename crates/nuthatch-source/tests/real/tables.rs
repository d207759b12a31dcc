//! One schema with all kinds of tables, and what is to be known of each.

use nuthatch_lab::{Kind, Server};
use nuthatch_source::Picture;
use nuthatch_sql::{SideEffects, Table, TableId};

use crate::servers::{account, look, run, shared, tcp};

/// What both families know.
const SCRIPT: &str = include_str!("tables.sql");
const MARIADB: &str = include_str!("tables_mariadb.sql");
const MYSQL: &str = include_str!("tables_mysql.sql");

/// For each table: why it is unsuitable; its key; what it reads besides itself; what a write to it may write besides it.
/// `!` marks a table whose changes no ROLLBACK undoes.
const EXPECTED: &[(&str, &str)] = &[
    ("s.plain", "id -2147483648..2147483647 @0 auto; reads; writes"),
    ("s.tiny", "id -128..127 @1; reads; writes"),
    ("s.big", "id 0..18446744073709551615 @0; reads; writes"),
    ("s.filled", "id 0..16777215 @0; reads; writes"),
    ("s.texts", "-; reads; writes"),
    ("s.bits", "-; reads; writes"),
    ("s.two", "-; reads; writes"),
    ("s.no_key", "-; reads; writes"),
    ("s.unique_key", "-; reads; writes"),
    ("s.indexed", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.doubly", "id -2147483648..2147483647 @0 beside others; reads; writes"),
    ("s.split", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.hidden_column", "id -2147483648..2147483647 @?; reads; writes"),
    ("s.defaults", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.my", "id -2147483648..2147483647 @0 !; reads; writes"),
    ("s.fleeting", "Engine !; reads; writes"),
    ("s.merged", "Engine !; reads; writes anything"),
    ("s.v_merged", "View !; reads s.merged; writes anything"),
    ("s.computed", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.logged", "-; reads; writes s.log"),
    ("s.log", "id -2147483648..2147483647 @0 auto; reads; writes"),
    ("s.chain", "-; reads; writes s.log s.logged s.o`d'd"),
    ("s.o`d'd", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.calling", "-; reads; writes anything"),
    ("s.calls_calling", "-; reads; writes anything"),
    // A quoted name may be any that is no plain word.
    ("s.far", "-; reads; writes s-2.t s.o`d'd"),
    ("s-2.t", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.ansi", "-; reads; writes s.log s.o`d'd"),
    (
        "s.parent",
        "id -2147483648..2147483647 @0; reads; writes s.child s.grandchild s.log when removed, when changed in []",
    ),
    (
        "s.child",
        "id -2147483648..2147483647 @0; reads; writes when removed, s.grandchild s.log when changed in [id]",
    ),
    ("s.grandchild", "-; reads; writes s.log"),
    ("s.strict_child", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.own_parent", "id -2147483648..2147483647 @0; reads; writes when removed, when changed in []"),
    ("s.moment", "id -2147483648..2147483647 @0 beside others; reads; writes s.of_moment"),
    ("s.of_moment", "id -2147483648..2147483647 @0; reads; writes"),
    (
        "s.pair",
        "c -2147483648..2147483647 @1 beside others; reads; writes s.of_pair when removed, s.of_pair when changed in [a b, d]",
    ),
    ("s.of_pair", "-; reads; writes"),
    ("s.v_plain", "-; reads s.plain; writes s.plain"),
    ("s.v_of_view", "-; reads s.plain s.tiny s.v_plain; writes s.plain s.tiny s.v_plain"),
    ("s.v_cte", "-; reads s.o`d'd s.plain s.v_plain; writes s.o`d'd s.plain s.v_plain"),
    ("s.v_strings", "-; reads s.texts; writes s.texts"),
    ("s.v_now", "View; reads s.plain; writes s.plain"),
    ("s.v_function", "CallingView; reads s.plain; writes anything"),
    ("s.v_of_function", "CallingView; reads s.plain s.v_function; writes anything"),
    ("s.v_system", "View; reads; writes"),
    ("s.v_gone", "View; reads; writes"),
    ("s.v_my", "- !; reads s.my; writes s.my"),
    ("s.v_fleeting", "View !; reads s.fleeting; writes s.fleeting"),
    ("s.v_logged", "-; reads s.logged; writes s.log s.logged"),
    ("s.v_one", "-; reads; writes"),
    ("s.writes_view", "-; reads; writes s.log s.logged s.v_logged"),
];

const EXPECTED_MARIADB: &[(&str, &str)] = &[
    ("s.sequence", "Sequence !; reads; writes"),
    ("s.versioned", "SystemVersioned; reads; writes"),
    ("s.partly_versioned", "SystemVersioned; reads; writes"),
    ("s.period", "-; reads; writes"),
    ("s.doubly_hashed", "id -2147483648..2147483647 @0 beside others; reads; writes"),
    ("s.clocked", "GeneratedColumn; reads; writes"),
    ("s.v_clocked", "View; reads s.clocked; writes s.clocked"),
    ("s.oracle", "-; reads; writes anything"),
    ("s.backslash", "-; reads; writes s.log s.logged"),
];

const EXPECTED_MYSQL: &[(&str, &str)] = &[
    ("s.documents", "id -2147483648..2147483647 @0; reads; writes"),
    ("s.invisible_key", "my_row_id 0..18446744073709551615 @? auto; reads; writes"),
    ("s.doubly_expressed", "id -2147483648..2147483647 @0 beside others; reads; writes"),
    ("s.computed_key", "-; reads; writes"),
    ("s.quotes", "-; reads; writes s.log s.logged"),
];

#[tokio::test]
async fn every_table_is_what_its_definition_says() {
    let labs = shared();
    for (lab, kind) in labs.both().into_iter().zip([Kind::MariaDb, Kind::MySql]) {
        let of_kind = make(lab.primary(), kind);
        let picture = look(&tcp(lab.primary()), &account(lab)).await;
        let wrong: Vec<_> = EXPECTED
            .iter()
            .chain(of_kind)
            .map(|(table, expected)| (*table, *expected, found(table, &picture)))
            .filter(|(_, expected, found)| found.as_deref() != Some(*expected))
            .collect();
        assert!(wrong.is_empty(), "{kind:?}: {wrong:#?}");
        let known = picture.catalogue.tables().filter(|(schema, _, _)| *schema == b"s" || *schema == b"s-2");
        assert_eq!(known.count(), EXPECTED.len() + of_kind.len(), "{kind:?}");
        assert_eq!(picture.tables_left_out, 0);
        assert!(picture.uptime_s.is_some_and(|uptime_s| uptime_s < 3600), "{:?}", picture.uptime_s);
        let pool = picture.buffer_pool.expect("InnoDB tells of its buffer pool");
        assert!(pool.size_bytes >= 5 << 20 && pool.read_requests > pool.reads, "{pool:?}");
        run(lab.primary(), "DROP DATABASE s; DROP DATABASE `s-2`");
    }
}

/// Makes the schemas, and gives what is expected of the tables that this kind alone has.
fn make(server: Server<'_>, kind: Kind) -> &'static [(&'static str, &'static str)] {
    let (script, expected) = match kind {
        Kind::MariaDb => (MARIADB, EXPECTED_MARIADB),
        Kind::MySql => (MYSQL, EXPECTED_MYSQL),
    };
    run(server, &format!("{SCRIPT}{script}"));
    expected
}

/// The description of a table that is known.
fn found(table: &str, picture: &Picture) -> Option<String> {
    let (schema, name) = table.split_once('.')?;
    let table = picture.catalogue.table(schema.as_bytes(), name.as_bytes())?;
    Some(described(table, picture))
}

fn described(table: &Table, picture: &Picture) -> String {
    let names = |ids: &[TableId]| {
        let name = |id: TableId| {
            let (schema, name, _) =
                picture.catalogue.tables().find(|(_, _, table)| table.id == id).expect("a known table");
            format!(" {}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(name))
        };
        let mut names: Vec<_> = ids.iter().filter(|id| **id != table.id).map(|id| name(*id)).collect();
        names.sort();
        names.concat()
    };
    let writes = match &table.side_effects {
        SideEffects::Tables(tables) => names(tables),
        SideEffects::Cascades(cascades) => {
            let names =
                |ids: &Option<Box<[TableId]>>| ids.as_ref().map_or(" anything".to_owned(), |ids| names(ids));
            let columns: Vec<_> =
                cascades.referenced.iter().map(|name| String::from_utf8_lossy(name)).collect();
            let (removal, change) = (names(&cascades.of_removal), names(&cascades.of_change));
            format!("{removal} when removed,{change} when changed in [{}]", columns.join(", "))
        }
        SideEffects::Everything => " anything".to_owned(),
    };
    let key = table.key.as_ref().map_or("-".to_owned(), |key| {
        let position = key.position.map_or("?".to_owned(), |position| position.to_string());
        let auto = if key.is_auto_increment { " auto" } else { "" };
        let unique = if key.is_only_unique { "" } else { " beside others" };
        format!("{} {}..{} @{position}{auto}{unique}", String::from_utf8_lossy(&key.column), key.min, key.max)
    });
    let kind = table.unsuitable.map_or(key, |why| format!("{why:?}"));
    let mark = if table.is_transactional { "" } else { " !" };
    format!("{kind}{mark}; reads{}; writes{writes}", names(&table.reads))
}
