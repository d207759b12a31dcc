//! Collations in which strings are told apart by a normal form: no two of them are equal for the server that have another one.
//!
//! All strings of up to two characters, with contractions of three and the like, are grouped and compared by each server itself.

use nuthatch_lab::Kind;
use nuthatch_sql::ColumnValue;

use crate::ground;
use crate::servers;

/// What some collations take for one letter or for others.
const LONGER: [&str; 24] = [
    "dzs", "dz", "ccs", "cscs", "ddz", "dzdz", "ggy", "gygy", "lly", "lyly", "ch", "Ch", "ll", "lj", "nj",
    "aa", "AA", "ij", "ss", "sz", "a b", "a-b", "ab ", "a b c",
];

#[test]
fn collations_that_are_known_take_no_two_normal_forms_for_equal_on_mariadb() {
    are_known_rightly(Kind::MariaDb);
}

#[test]
fn collations_that_are_known_take_no_two_normal_forms_for_equal_on_mysql() {
    are_known_rightly(Kind::MySql);
}

fn are_known_rightly(kind: Kind) {
    let lab = ground::lab(kind);
    let mut server = servers::primary(&lab);
    server.ok("CREATE DATABASE collations");
    server.ok("USE collations");
    server.ok("SET NAMES utf8mb4");
    server.ok("CREATE TABLE one (s VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin) ENGINE=InnoDB");
    let one: Vec<String> = (0x20..=0x7E_u8).map(|byte| char::from(byte).to_string()).collect();
    insert(&mut server, &one);
    insert(&mut server, &[String::new()]);
    server.ok("CREATE TABLE two (s VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin)");
    server.ok("INSERT INTO two SELECT CONCAT(a.s, b.s) FROM one a, one b WHERE b.s <> '' OR a.s = ''");
    server.ok("INSERT INTO two SELECT a.s FROM one a WHERE a.s <> ''");
    for longer in LONGER {
        server.ok(format!("INSERT INTO two VALUES ('{longer}')"));
    }
    let names = server.table("SELECT COLLATION_NAME FROM information_schema.COLLATIONS ORDER BY 1");
    // Those of MariaDB that are of several character sets have their names without one there.
    let names = names.iter().flat_map(|row| match row[0].starts_with("uca1400") {
        true => vec![format!("utf8mb4_{}", row[0]), format!("utf8mb3_{}", row[0])],
        false => vec![row[0].clone()],
    });
    let known: Vec<String> = names.filter(|name| nuthatch_source::has_normal_form(name.as_bytes())).collect();
    assert!(known.len() > 60, "{known:?}");
    let mut wrong = Vec::new();
    for collation in &known {
        let charset = collation.split_once('_').expect("a character set").0;
        let converted = format!("CONVERT(s USING {charset}) COLLATE {collation}");
        let groups = server.table(format!(
            "SELECT GROUP_CONCAT(HEX(s)) FROM two GROUP BY {converted} HAVING COUNT(DISTINCT LOWER(TRIM(TRAILING FROM s))) > 1"
        ));
        wrong.extend(groups.iter().map(|group| format!("{collation}: {}", group[0])));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The comparison can fail.
    let lithuanian = "SELECT COUNT(*) FROM two GROUP BY CONVERT(s USING utf8mb4) COLLATE utf8mb4_lithuanian_ci \
                      HAVING COUNT(DISTINCT LOWER(TRIM(TRAILING FROM s))) > 1";
    assert!(!server.table(lithuanian).is_empty());
    assert_ne!(ColumnValue::of_string(b"i"), ColumnValue::of_string(b"y"));
}

fn insert(server: &mut crate::client::Client, strings: &[String]) {
    let quoted = |string: &String| format!("('{}')", string.replace('\\', "\\\\").replace('\'', "''"));
    let values: Vec<String> = strings.iter().map(quoted).collect();
    server.ok(format!("INSERT INTO one VALUES {}", values.join(",")));
}
