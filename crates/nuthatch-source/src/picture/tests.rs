//! Looks at servers that are made up: what real ones cannot be brought to say in a test.

use super::*;
use crate::question::{NamedRow, Row};
use nuthatch_sql::{Cascades, SideEffects, TableId, Unsuitable};

/// For words in a statement, its answer: rows in lines, values parted by bars.
type Answer<'a> = (&'static str, &'a str);

/// Answers by the first words that stand in the question, and nothing to others.
struct Made<'a>(Vec<Answer<'a>>);

impl Server for Made<'_> {
    async fn ask(&mut self, question: Question) -> Result<Vec<Row>, PictureError> {
        let answer = self.0.iter().find(|(words, _)| question.sql.contains(words));
        let rows = answer.map_or("", |(_, rows)| rows).lines();
        Ok(rows.map(|row| row.split('|').map(|value| value.as_bytes().to_vec()).collect()).collect())
    }

    /// Each value is `name=value`.
    async fn ask_named(&mut self, question: Question) -> Result<Vec<NamedRow>, PictureError> {
        let named = |value: Vec<u8>| {
            let text = String::from_utf8(value).unwrap();
            let (name, value) = text.split_once('=').unwrap_or((&text, ""));
            (name.to_owned(), value.as_bytes().to_vec())
        };
        let rows = self.ask(question).await?.into_iter();
        Ok(rows.map(|row| row.into_iter().map(named).collect()).collect())
    }
}

const GRANTED: Answer<'static> = ("SHOW GRANTS", "GRANT ALL PRIVILEGES ON *.* TO `u`@`%`");
const REPEATABLE: Answer<'static> = ("tx_isolation", "tx_isolation|REPEATABLE-READ");
const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

async fn seen(
    flavor: ServerFlavor,
    answers: &[Answer<'_>],
    tables_max: u32,
) -> Result<Picture, PictureError> {
    let mut server = Made([answers, &[GRANTED, REPEATABLE]].concat());
    picture(&mut server, flavor, &TableIds::new(tables_max), true).await
}

#[tokio::test]
async fn only_a_server_that_stands_alone_is_a_source() {
    let (size, members) = ("wsrep_cluster_size", "replication_group_members");
    for (flavor, words, rows, expected) in [
        (MARIADB, size, "wsrep_cluster_size|0", Ok(())),
        (MARIADB, size, "wsrep_cluster_size|1", Ok(())),
        (MARIADB, size, "wsrep_cluster_size|3", Err(NotASource::Cluster)),
        (MARIADB, size, "wsrep_cluster_size|?", Err(NotASource::Cluster)),
        (MYSQL, size, "wsrep_cluster_size|2", Err(NotASource::Cluster)),
        (MYSQL, members, "1", Ok(())),
        (MYSQL, members, "2", Err(NotASource::Cluster)),
        (MARIADB, "SHOW ALL SLAVES STATUS", "a connection", Err(NotASource::Replica)),
        (MYSQL, "SHOW REPLICA STATUS", "a channel", Err(NotASource::Replica)),
        (ServerFlavor::MySql(50_744), "SHOW SLAVE STATUS", "a channel", Err(NotASource::Replica)),
    ] {
        assert_eq!(seen(flavor, &[(words, rows)], 1).await.unwrap().source, expected, "{words} {rows}");
    }
}

#[tokio::test]
async fn server_whose_storage_is_read_only_or_whose_sessions_begin_unseen_is_no_source() {
    for (flavor, variable, expected) in [
        (MYSQL, "innodb_read_only|ON", Err(NotASource::ReadOnlyStorage)),
        (MYSQL, "innodb_read_only|1", Err(NotASource::ReadOnlyStorage)),
        (MARIADB, "innodb_read_only|ON", Err(NotASource::ReadOnlyStorage)),
        (MARIADB, "innodb_read_only|OFF", Ok(())),
        (MYSQL, "init_connect|SET Transaction_ISOLATION = 'SERIALIZABLE'", Err(NotASource::InitConnect)),
        (
            MARIADB,
            "init_connect|SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            Err(NotASource::InitConnect),
        ),
        (MARIADB, "init_connect|SET @@Sql_Mode = ''", Err(NotASource::InitConnect)),
        (MARIADB, "init_connect|SET NAMES utf8mb4", Ok(())),
        (MARIADB, "init_connect|set autocommit=0; INSERT INTO log.logins (a, b) VALUES (1, 2);", Ok(())),
        (MARIADB, "init_connect|SET NAMES utf8mb4, time_zone = '+01:00'", Err(NotASource::InitConnect)),
        (MYSQL, "init_connect|SET NAMES utf8mb4; SET time_zone = '+01:00'", Err(NotASource::InitConnect)),
        (MARIADB, "init_connect|CALL begin()", Err(NotASource::InitConnect)),
        (MYSQL, "sql_mode|STRICT_TRANS_TABLES,ANSI_QUOTES", Err(NotASource::AnsiQuotes)),
        (MYSQL, "sql_mode|ansi", Err(NotASource::AnsiQuotes)),
        (MYSQL, "sql_mode|STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY", Ok(())),
        (MARIADB, "sql_mode|REAL_AS_FLOAT,ANSI_QUOTES,ANSI", Ok(())),
    ] {
        let variables = format!("{variable}\ntx_isolation|READ-COMMITTED");
        let picture = seen(flavor, &[("tx_isolation", &variables)], 1).await.unwrap();
        assert_eq!((picture.source, picture.isolation), (expected, Isolation::ReadCommitted), "{variable}");
    }
}

#[tokio::test]
async fn answers_of_another_form_give_no_picture() {
    for answer in [
        ("information_schema.TABLES", "s|t"),
        ("COLUMN_KEY", "s"),
        ("QUOTE(COLUMN_TYPE)", "s|t|"),
        ("QUOTE(SUB_PART)", "s|t"),
        ("information_schema.TRIGGERS", "s|t|body"),
        ("tx_isolation", "tx_isolation|SNAPSHOT"),
        ("tx_isolation", "tx_isolation"),
        ("tx_isolation", "sql_mode|"),
    ] {
        let error = seen(MARIADB, &[answer], 1).await.unwrap_err();
        assert!(matches!(error, PictureError::NotUnderstood(_)), "{answer:?}: {error}");
    }
}

#[tokio::test]
async fn tables_whose_names_differ_in_case_only_are_one_and_unsuitable() {
    let answers = [
        (
            "information_schema.TABLES",
            "s|T|BASE TABLE|InnoDB\nS|t|BASE TABLE|MyISAM\ns|a|BASE TABLE|InnoDB\ns|b|BASE TABLE|InnoDB",
        ),
        ("INDEX_NAME = 'PRIMARY'", "s|T|id"),
        ("COLUMN_KEY", "s|T|id|1|int|int(11)||"),
        ("information_schema.TRIGGERS", "s|T|UPDATE a SET x = 1|\nS|t|UPDATE s.b SET x = 1|"),
    ];
    let catalogue = seen(MARIADB, &answers, 10).await.unwrap().catalogue;
    assert_eq!(catalogue.len(), 3);
    let table = catalogue.table(b"s", b"t").unwrap();
    assert_eq!((table.unsuitable, table.key.as_ref()), (Some(Unsuitable::AmbiguousName), None));
    assert!(!table.is_transactional);
    let SideEffects::Tables(mut written) = table.side_effects.clone() else { panic!("{table:?}") };
    written.sort();
    assert_eq!(*written, [b"a", b"b"].map(|name| catalogue.table(b"s", name).unwrap().id));
}

#[tokio::test]
async fn table_whose_engine_may_keep_its_rows_elsewhere_writes_anything_and_its_view_is_read_without() {
    let engines = ["InnoDB", "MyISAM", "Aria", "MEMORY", "CSV", "ARCHIVE", "BLACKHOLE", "ROCKSDB"];
    let others = ["MRG_MyISAM", "FEDERATED", "CONNECT", "SPIDER", "ndbcluster", ""];
    let rows: String =
        engines.iter().chain(&others).map(|engine| format!("s|t{engine}|BASE TABLE|{engine}\n")).collect();
    let answers = [
        ("information_schema.TABLES", &*format!("{rows}s|v|VIEW|\ns|T|BASE TABLE|InnoDB")),
        ("information_schema.VIEWS", "s|v|select `s`.`tFEDERATED`.`id` AS `id` from `s`.`tFEDERATED`"),
    ];
    let catalogue = seen(MARIADB, &answers, 99).await.unwrap().catalogue;
    let effects = |name: &str| &catalogue.table(b"s", name.as_bytes()).unwrap().side_effects;
    for engine in engines {
        assert_eq!(*effects(&format!("t{engine}")), SideEffects::Tables([].into()), "{engine}");
        let unsuitable = catalogue.table(b"s", format!("t{engine}").as_bytes()).unwrap().unsuitable;
        let is_cached = ["InnoDB", "MyISAM"].contains(&engine);
        assert_eq!(unsuitable, (!is_cached).then_some(Unsuitable::Engine), "{engine}");
    }
    for engine in others {
        assert_eq!(*effects(&format!("t{engine}")), SideEffects::Everything, "{engine}");
    }
    let view = catalogue.table(b"s", b"v").unwrap();
    assert_eq!((&view.side_effects, view.unsuitable), (&SideEffects::Everything, Some(Unsuitable::View)));
    assert!(!catalogue.reads_may_write());
}

#[tokio::test]
async fn definition_is_another_when_columns_indexes_or_the_text_of_a_view_are() {
    let definition = async |columns: &str, indexes: &str, text: &str| {
        let answers = [
            ("information_schema.TABLES", "s|v|VIEW|"),
            ("QUOTE(COLUMN_TYPE)", columns),
            ("QUOTE(SUB_PART)", indexes),
            ("information_schema.VIEWS", text),
        ];
        seen(MARIADB, &answers, 1).await.unwrap().catalogue.table(b"s", b"v").unwrap().definition
    };
    let (columns, text) = ("s|v|18446744073709551615", "s|v|select 1");
    let first = definition(columns, "s|v|7", text).await;
    assert_eq!(definition(columns, "s|v|7", text).await, first);
    for (columns, indexes, text) in
        [("s|v|1", "s|v|7", text), (columns, "", text), (columns, "s|v|7", "s|v|select 2")]
    {
        assert_ne!(definition(columns, indexes, text).await, first);
    }
}

#[tokio::test]
async fn what_a_table_without_number_writes_is_not_forgotten() {
    let answers = [
        (
            "information_schema.TABLES",
            "s|a|BASE TABLE|InnoDB\ns|c|BASE TABLE|InnoDB\ns|b|BASE TABLE|InnoDB\ns|v|VIEW|",
        ),
        ("information_schema.TRIGGERS", "s|a|UPDATE b SET x = 1|\ns|b|UPDATE c SET x = 1|"),
    ];
    let picture = seen(MARIADB, &answers, 2).await.unwrap();
    assert_eq!((picture.tables_left_out, picture.catalogue.table(b"s", b"b")), (2, None));
    let a = picture.catalogue.table(b"s", b"a").unwrap();
    assert_eq!(a.side_effects, SideEffects::Tables([TableId(1)].into()));
}

#[tokio::test]
async fn foreign_keys_cascade_by_their_rules_and_whatever_is_written_where_more_may_follow() {
    let tables = "s|a|BASE TABLE|InnoDB\ns|b|BASE TABLE|InnoDB\ns|c|BASE TABLE|InnoDB";
    let [a, b, c] = [TableId(0), TableId(1), TableId(2)];
    let cascades = |of_removal: &[TableId], of_change: &[TableId], referenced: &[&str]| {
        let referenced = referenced.iter().map(|name| name.as_bytes().into()).collect();
        let (of_removal, of_change) = (Some(of_removal.into()), Some(of_change.into()));
        SideEffects::Cascades(Box::new(Cascades { of_removal, of_change, referenced }))
    };
    for (keys, columns, triggers, expected) in [
        ("s|b|s|a|CASCADE|RESTRICT|Id", "", "", cascades(&[], &[b], &["id"])),
        ("s|b|s|a|NO ACTION|SET NULL|id", "", "", cascades(&[b], &[], &[])),
        ("s|b|s|a|CASCADE|CASCADE|x\ns|b|s|a|CASCADE|CASCADE|id", "", "", cascades(&[b], &[b], &["id", "x"])),
        // A chain, and a circle.
        ("s|b|s|a|RESTRICT|CASCADE|id\ns|c|s|b|SET NULL|RESTRICT|x", "", "", cascades(&[b, c], &[], &[])),
        ("s|b|s|a|RESTRICT|CASCADE|id\ns|a|s|b|CASCADE|CASCADE|id", "", "", cascades(&[a, b], &[], &[])),
        ("s|a|s|a|RESTRICT|CASCADE|id", "", "", cascades(&[a], &[], &[])),
        ("s|b|s|a|RESTRICT|RESTRICT|id", "", "", SideEffects::Tables([].into())),
        // What is written follows not only from what the statement says.
        ("s|b|s|a|CASCADE|RESTRICT|", "", "", SideEffects::Tables([b].into())),
        (
            "s|b|s|a|CASCADE|CASCADE|x",
            "s|a|x|2|int|int(11)|STORED GENERATED|`id`",
            "",
            SideEffects::Tables([b].into()),
        ),
        (
            "s|b|s|a|CASCADE|CASCADE|x",
            "s|a|X|2|timestamp|timestamp|on update current_timestamp()|",
            "",
            SideEffects::Tables([b].into()),
        ),
        (
            "s|b|s|a|CASCADE|CASCADE|x",
            "s|a|y|2|int|int(11)|VIRTUAL GENERATED|`x`",
            "",
            cascades(&[b], &[b], &["x"]),
        ),
        ("s|b|s|a|CASCADE|CASCADE|x", "", "s|a|SET NEW.x = 1|", SideEffects::Tables([b].into())),
        ("s|b|s|a|CASCADE|CASCADE|x", "", "s|b|UPDATE c SET x = 1|", cascades(&[b, c], &[b, c], &["x"])),
    ] {
        let answers = [
            ("information_schema.TABLES", tables),
            ("COLUMN_KEY", columns),
            ("information_schema.TRIGGERS", triggers),
            ("REFERENTIAL_CONSTRAINTS", keys),
        ];
        let catalogue = seen(MYSQL, &answers, 9).await.unwrap().catalogue;
        let found = catalogue.table(b"s", b"a").unwrap();
        assert_eq!((found.id, &found.side_effects), (a, &expected), "{keys} {columns} {triggers}");
    }
}

#[tokio::test]
async fn view_of_a_table_without_number_and_one_without_text_are_unsuitable() {
    let answers = [
        ("information_schema.TABLES", "s|v|VIEW|\ns|hidden|VIEW|\ns|t|BASE TABLE|InnoDB"),
        ("information_schema.VIEWS", "s|v|select `s`.`t`.`id` from `s`.`t`\ns|hidden|"),
    ];
    let catalogue = seen(MARIADB, &answers, 2).await.unwrap().catalogue;
    assert_eq!(catalogue.table(b"s", b"v").unwrap().unsuitable, Some(Unsuitable::View));
    let hidden = catalogue.table(b"s", b"hidden").unwrap();
    assert_eq!(hidden.unsuitable, Some(Unsuitable::HiddenView));
    assert_eq!(hidden.side_effects, SideEffects::Everything);
}

#[tokio::test]
async fn stored_functions_with_names_of_known_ones_are_known_and_what_calls_them_runs_other_code() {
    let answers = [
        (
            "information_schema.TABLES",
            "s|v|VIEW|\ns|of_v|VIEW|\ns|t|BASE TABLE|InnoDB\ns|plain|BASE TABLE|InnoDB",
        ),
        (
            "information_schema.VIEWS",
            "s|v|select `random_bytes`(`s`.`plain`.`id`) AS `r` from `s`.`plain`\ns|of_v|select `s`.`v`.`r` AS `r` from `s`.`v`",
        ),
        ("information_schema.TRIGGERS", "s|t|SET NEW.a = nvl(1, 2)|"),
        (
            "information_schema.ROUTINES",
            "s|NVL|FUNCTION|RETURN a\ns|random_bytes|FUNCTION|RETURN a\ns|median|PROCEDURE|SELECT 1\ns|f|FUNCTION|RETURN a\n\
             sys|format_bytes|FUNCTION|RETURN a",
        ),
    ];
    let catalogue = seen(MYSQL, &answers, 9).await.unwrap().catalogue;
    let mut functions: Vec<_> = catalogue.stored_functions().collect();
    functions.sort_unstable();
    assert_eq!(functions, [&b"nvl"[..], b"random_bytes"]);
    for name in [&b"v"[..], b"of_v", b"t"] {
        let table = catalogue.table(b"s", name).unwrap();
        assert_eq!(table.side_effects, SideEffects::Everything, "{table:?}");
    }
    for name in [&b"v"[..], b"of_v"] {
        assert_eq!(catalogue.table(b"s", name).unwrap().unsuitable, Some(Unsuitable::CallingView));
    }
    assert_eq!(seen(MYSQL, &answers[..2], 9).await.unwrap().catalogue.stored_functions().count(), 0);
}

#[tokio::test]
async fn missing_privileges_are_told_as_the_statement_that_gives_them() {
    let grants = "GRANT SELECT, TRIGGER ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*SECRET'";
    let error = seen(MARIADB, &[("SHOW GRANTS", grants), ("CURRENT_USER", "u@%")], 1).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "see all of the server's catalogue; give GRANT SHOW VIEW, SLAVE MONITOR ON *.* TO `u`@`%`"
    );
    assert!(!format!("{error:?}").contains("SECRET"));
}
