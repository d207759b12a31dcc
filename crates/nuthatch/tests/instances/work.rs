//! An instance that is written to without a pause, and what its tables add up to.

use std::process::{Child, Stdio};

use crate::host::{Host, await_that};

/// Rows come, change and go in two tables, in transactions, until it is told to stop.
const SCHEMA: &str = "CREATE DATABASE work; USE work;\n\
    CREATE TABLE going (yes INT); INSERT INTO going VALUES (1);\n\
    CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, note VARCHAR(200));\n\
    CREATE TABLE moved (id INT AUTO_INCREMENT PRIMARY KEY, source INT, target INT, note TEXT);\n\
    INSERT INTO account VALUES (0,100,''),(1,100,''),(2,100,''),(3,100,''),(4,100,''),(5,100,''),(6,100,''),(7,100,'');\n\
    DELIMITER //\n\
    CREATE PROCEDURE work()\n\
    BEGIN\n\
      DECLARE a INT; DECLARE b INT;\n\
      WHILE EXISTS (SELECT 1 FROM going) DO\n\
        SET a = FLOOR(RAND() * 8), b = FLOOR(RAND() * 8);\n\
        START TRANSACTION;\n\
        UPDATE account SET balance = balance - 1, note = REPEAT(SHA2(RAND(), 256), 3) WHERE id = a;\n\
        UPDATE account SET balance = balance + 1 WHERE id = b;\n\
        INSERT INTO moved (source, target, note) VALUES (a, b, REPEAT(SHA2(RAND(), 256), 10));\n\
        IF RAND() < 0.2 THEN DELETE FROM moved WHERE id < (SELECT * FROM (SELECT MAX(id) - 500 FROM moved) AS m); END IF;\n\
        COMMIT;\n\
      END WHILE;\n\
    END //\n\
    DELIMITER ;\n";

/// One whom nobody stops but itself.
pub(crate) struct Work<'a> {
    host: &'a Host,
    name: String,
    worker: Option<Child>,
}

impl<'a> Work<'a> {
    /// It goes on already.
    pub(crate) fn begin(host: &'a Host, name: &str) -> Self {
        let file = host.root().join(format!("{name}.sql"));
        std::fs::write(&file, SCHEMA).expect("it goes well");
        let made = host
            .command(&["client", name])
            .stdin(std::fs::File::open(&file).expect("it goes well"))
            .status()
            .expect("it goes well");
        assert!(made.success());
        let worker = host
            .command(&["client", name, "--", "work", "--execute", "CALL work()"])
            .stdout(Stdio::null())
            .spawn()
            .expect("it goes well");
        let work = Self { host, name: name.into(), worker: Some(worker) };
        work.await_more();
        work
    }

    /// Some more is done.
    pub(crate) fn await_more(&self) {
        let last = || self.host.query(&self.name, "SELECT COALESCE(MAX(id), 0) FROM work.moved");
        let before: u64 = last().parse().expect("a number");
        await_that(|| last().parse::<u64>().expect("a number") > before + 200);
    }

    /// Nobody writes any more.
    pub(crate) fn end(mut self) {
        self.host.query(&self.name, "DELETE FROM work.going");
        let mut worker = self.worker.take().expect("it is ended once");
        assert!(worker.wait().expect("it goes well").success());
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}

/// What is in the tables, as the server adds it up. No money has come or gone, whatever the moment.
pub(crate) fn checksums(host: &Host, name: &str) -> String {
    assert_eq!(host.query(name, "SELECT SUM(balance), COUNT(*) FROM work.account"), "800\t8");
    host.query(name, "CHECKSUM TABLE work.account, work.moved")
}
