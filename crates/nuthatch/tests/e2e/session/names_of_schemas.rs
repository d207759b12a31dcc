//! Names of schemas outside ASCII: whatever character sets sessions talk in, each is in the schema that the server takes its bytes for.

use nuthatch_lab::{Kind, ScratchLab};

use crate::client::{Address, Client, Failure, Login};
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{before, user_row};

/// A name as a client of a character set writes it.
struct Writing {
    charset: &'static str,
    collation: u8,
    name: &'static [u8],
}

const fn writing(charset: &'static str, collation: u8, name: &'static [u8]) -> Writing {
    Writing { charset, collation, name }
}

/// Among them are the same bytes for several schemas, and several bytes for the same one; the second byte of a character of `sjis` is a
/// backslash.
const WRITINGS: [Writing; 14] = [
    writing("utf8mb4", 45, "tëst".as_bytes()),
    writing("latin1", 8, b"t\xEBst"),
    writing("latin1", 8, "tëst".as_bytes()),
    writing("cp1251", 51, b"t\xEBst"),
    writing("utf8mb3", 33, "tлst".as_bytes()),
    writing("utf8mb4", 45, "tÃ«st".as_bytes()),
    writing("gbk", 28, b"t\xA4\xCF"),
    writing("sjis", 13, b"t\x95\\"),
    writing("utf8mb4", 45, "t表".as_bytes()),
    writing("utf8mb4", 45, "tは".as_bytes()),
    writing("binary", 63, "tëst".as_bytes()),
    writing("ascii", 11, b"test"),
    writing("latin2", 9, b"t\xEBst"),
    writing("swe7", 10, b"t}st"),
];

/// The schemas that the writings mean, and others that a wrong reading would come to.
const SCHEMAS: [&str; 8] = ["tëst", "tлst", "tÃ«st", "tは", "t表", "test", "tåst", "t}st"];

/// How a session comes into a schema.
#[derive(Debug, Clone, Copy)]
enum Way {
    Login,
    Use,
    InitDb,
    ChangeUser,
}

const WAYS: [Way; 4] = [Way::Login, Way::Use, Way::InitDb, Way::ChangeUser];

fn enter(address: &Address, login: &Login, writing: &Writing, way: Way) -> Result<Client, Failure> {
    let plain = login.clone().collation(writing.collation);
    let named = plain.clone().schema(writing.name);
    match way {
        Way::Login => Client::connect(address, &named),
        Way::Use => {
            let mut client = Client::connect(address, &plain)?;
            client.query([b"USE `", writing.name, b"`"].concat())?;
            Ok(client)
        }
        Way::InitDb => {
            let mut client = Client::connect(address, &login.clone().schema("test"))?;
            client.query(format!("SET NAMES {}", writing.charset))?;
            client.init_db(writing.name)?;
            Ok(client)
        }
        Way::ChangeUser => {
            let mut client = Client::connect(address, login)?;
            client.change_user(&named)?;
            Ok(client)
        }
    }
}

/// Which schema the session is in, or which error kept it out.
fn whereabouts(entered: Result<&mut Client, u16>) -> String {
    match entered {
        Ok(client) => match client.query("SELECT v FROM t") {
            Ok(answer) => answer.value(),
            Err(failure) => failure.server().code.to_string(),
        },
        Err(code) => code.to_string(),
    }
}

fn entered(entered: Result<Client, Failure>) -> Result<Client, u16> {
    entered.map_err(|failure| failure.server().code)
}

fn check(kind: Kind) {
    let lab: ScratchLab = servers::own_of(kind, 300);
    let mut primary = servers::primary(&lab);
    for (number, schema) in SCHEMAS.iter().enumerate() {
        primary.ok(format!("CREATE DATABASE IF NOT EXISTS `{schema}`"));
        primary.ok(format!("CREATE TABLE `{schema}`.t SELECT 'schema {number}' AS v"));
    }
    let login = servers::account(&lab);
    let proxy = Proxy::start(&before(Setup::default(), &lab).user(user_row(&login, "")));
    let (through, direct) = (Address::Tcp(proxy.mysql), servers::direct_address(&lab));
    let at_server = |writing: &Writing, way: Way| {
        whereabouts(entered(enter(&direct, &login, writing, way)).as_mut().map_err(|code| *code))
    };
    let expected: Vec<[String; 4]> =
        WRITINGS.iter().map(|writing| WAYS.map(|way| at_server(writing, way))).collect();
    let found = expected.iter().flatten().filter(|found| found.starts_with("schema")).count();
    assert!(found >= 44, "{found} are somewhere: {expected:?}");
    for (a, first) in WRITINGS.iter().enumerate() {
        for (b, second) in WRITINGS.iter().enumerate() {
            let (ways, other_ways) = ((a + b) % 4, (a + 3 * b + 1) % 4);
            let (way, other_way) = (WAYS[ways], WAYS[other_ways]);
            let (expected, other_expected) = (&expected[a][ways], &expected[b][other_ways]);
            let case = format!(
                "{kind:?}: {} {:x?} by {way:?}, {} {:x?} by {other_way:?}",
                first.charset, first.name, second.charset, second.name
            );
            let mut one = entered(enter(&through, &login, first, way));
            let mut two = entered(enter(&through, &login, second, other_way));
            for _ in 0..2 {
                assert_eq!(&whereabouts(one.as_mut().map_err(|code| *code)), expected, "{case}");
                assert_eq!(&whereabouts(two.as_mut().map_err(|code| *code)), other_expected, "{case}");
            }
            // The session stays where it is, whatever it talks in afterwards.
            if let Ok(client) = &mut one {
                client.ok(format!("SET NAMES {}", second.charset));
            }
            assert_eq!(&whereabouts(two.as_mut().map_err(|code| *code)), other_expected, "{case}");
            assert_eq!(&whereabouts(one.as_mut().map_err(|code| *code)), expected, "{case}, renamed");
        }
    }
    let used = proxy.operator().value("SELECT ConnOK FROM stats_mysql_connection_pool");
    assert!(used.parse::<u64>().expect("a number") < 40, "{used} connections");
}

#[test]
fn each_pair_of_character_sets_is_in_its_schemas_on_mariadb() {
    check(Kind::MariaDb);
}

#[test]
fn each_pair_of_character_sets_is_in_its_schemas_on_mysql() {
    check(Kind::MySql);
}

#[test]
fn rules_and_statistics_know_a_schema_by_one_name() {
    let lab = servers::own_of(Kind::MariaDb, 100);
    let mut primary = servers::primary(&lab);
    primary.ok("CREATE DATABASE `tëst`");
    let login = servers::account(&lab);
    let rule = "rule_id=1, schemaname='tëst', match_pattern='^SELECT 1', OK_msg='by the rule', apply=1";
    let proxy = Proxy::start(&before(Setup::default(), &lab).user(user_row(&login, "")).rule(rule));
    let mut client = proxy.client(&login.clone().collation(8).schema(b"t\xEBst"));
    assert!(client.ok("SELECT 1").rows.is_empty(), "the rule answers");
    let mut other = proxy.client(&login.collation(45).schema("tëst"));
    assert!(other.ok("SELECT 1").rows.is_empty(), "the rule answers");
    let shown = proxy.operator().ok("SELECT DISTINCT db FROM stats_mysql_processlist").column();
    assert_eq!(shown, ["tëst"]);
}
