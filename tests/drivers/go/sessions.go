package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

var sessionChecks = []check{
	{"transactions", transactions, nil},
	{"a statement prepared before a transaction runs in it", preparedBefore, nil},
	{"statements prepared, used often and closed", preparedOften, nil},
	{"errors", errorsAreTold, nil},
	{"errors of prepared statements leave them usable", preparedErrors, nil},
	{"several statements in one", severalStatements, map[string]string{"multiStatements": "true"}},
	{"several statements without the setting", severalStatements, nil},
	{"procedures", procedures, nil},
	{"rows found are counted", rowsFound, map[string]string{"clientFoundRows": "true"}},
	{"variables of the DSN", variables, map[string]string{"sql_mode": "%27ANSI%27", "time_zone": "%27%2B03%3A00%27", "autocommit": "1"}},
	{"a connection keeps its state", connectionKeepsState, nil},
	{"a cancelled statement", cancelled, nil},
	{"isolation levels", isolation, nil},
}

const table = "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL UNIQUE, s VARCHAR(3))"

func transactions(db *sql.DB) error {
	if err := exec(db, table); err != nil {
		return err
	}
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		for _, v := range []any{1, 2, 1, nil} {
			if err := exec(tx, "INSERT INTO a (v) VALUES (?)", v); err != nil {
				return err
			}
		}
		if err := query(tx, "SELECT v, LAST_INSERT_ID(), @@in_transaction FROM a WHERE v > ?", 0); err != nil {
			return err
		}
		if err := execAll(tx, "DELETE FROM a WHERE v = 1"); err != nil {
			return err
		}
		if err := end(tx); err != nil {
			return err
		}
		if err := query(db, "SELECT v, @@in_transaction FROM a"); err != nil {
			return err
		}
	}
	return nil
}

func preparedBefore(db *sql.DB) error {
	if err := exec(db, table); err != nil {
		return err
	}
	insert, err := db.Prepare("INSERT INTO a (v) VALUES (?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for v := 0; v < 6; v++ {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if _, err := tx.Stmt(insert).Exec(v); err != nil {
			return err
		}
		if v%2 == 0 {
			err = tx.Rollback()
		} else {
			err = tx.Commit()
		}
		if err != nil {
			return err
		}
	}
	if _, err := insert.Exec(100); err != nil {
		return err
	}
	return query(db, "SELECT v FROM a WHERE v > ? ORDER BY v", -1)
}

func preparedOften(db *sql.DB) error {
	if err := exec(db, table); err != nil {
		return err
	}
	statements := make([]*sql.Stmt, 300)
	for n := range statements {
		var err error
		if statements[n], err = db.Prepare(fmt.Sprintf("SELECT ? + %d, ?", n)); err != nil {
			return err
		}
	}
	for round := 0; round < 3; round++ {
		sum := 0
		for n, statement := range statements {
			var number int
			var text sql.NullString
			if err := statement.QueryRow(round, nil).Scan(&number, &text); err != nil {
				return err
			}
			if number != n+round || text.Valid {
				return fmt.Errorf("statement %d gave %d, %v", n, number, text)
			}
			sum += number
		}
		tell("round %d: %d", round, sum)
	}
	for _, statement := range statements {
		if err := statement.Close(); err != nil {
			return err
		}
	}
	return query(db, "SELECT 'after', ?", 1)
}

func errorsAreTold(db *sql.DB) error {
	if err := exec(db, table); err != nil {
		return err
	}
	texts := []string{"SELEKT ?", "SELECT * FROM nowhere WHERE ?", "SELECT nowhat, ? FROM a", "INSERT INTO a (v, s) VALUES (?, 'too long')",
		"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'ours é', MYSQL_ERRNO = 5000", "SELECT (SELECT 1 UNION SELECT 2), ?",
		"CALL nothing(?)", "USE nodb", "", "-- nothing"}
	for _, text := range texts {
		var arguments []any
		if strings.Contains(text, "?") {
			arguments = append(arguments, 1)
		}
		if err := query(db, text, arguments...); err != nil {
			return err
		}
	}
	return query(db, "SELECT 'after', ?", 1)
}

func preparedErrors(db *sql.DB) error {
	if err := exec(db, table); err != nil {
		return err
	}
	insert, err := db.Prepare("INSERT INTO a (v) VALUES (?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, v := range []any{1, 1, nil, "x", 2, 2, 3} {
		if _, err := insert.Exec(v); told(fmt.Sprint(v), err) != nil {
			return err
		}
	}
	if err := execAll(db, "ALTER TABLE a ADD w INT DEFAULT 7"); err != nil {
		return err
	}
	if _, err := insert.Exec(4); err != nil {
		return err
	}
	return query(db, "SELECT v, w FROM a WHERE v > ? ORDER BY v", 0)
}

func severalStatements(db *sql.DB) error {
	if err := exec(db, table); err != nil {
		return err
	}
	for _, text := range []string{"SELECT 1; SELECT 'zwei', 2; SELECT NULL WHERE 0", "SELECT 3;", "SET @a = 1; SELECT @a"} {
		if err := query(db, text); err != nil {
			return err
		}
	}
	// Errors behind a result are for Exec: this driver's Query waits for ever for what follows one.
	err := execAll(db, "INSERT INTO a (v) VALUES (1); INSERT INTO a (v) VALUES (2), (3)", "BEGIN; INSERT INTO a (v) VALUES (4); ROLLBACK",
		"SELECT 1; SELEKT; SELECT 3", "SELECT 1; SELECT * FROM nowhere; SELECT 3", "INSERT INTO a (v) VALUES (5); INSERT INTO a (v) VALUES (5)")
	if err != nil {
		return err
	}
	return query(db, "SELECT v FROM a")
}

func procedures(db *sql.DB) error {
	err := execAll(db, table, "CREATE PROCEDURE p(n INT) BEGIN SELECT n; INSERT INTO a (v) VALUES (n); SELECT v, 'x' FROM a; END",
		"CREATE PROCEDURE f() BEGIN SELECT 1; SELECT * FROM nowhere; END")
	if err != nil {
		return err
	}
	for _, v := range []any{5, 6} {
		if err := query(db, "CALL p(?)", v); err != nil {
			return err
		}
	}
	// An error behind a result is for Exec: see severalStatements.
	if err := execAll(db, "CALL p(5)", "CALL f()"); err != nil {
		return err
	}
	return query(db, "SELECT v FROM a WHERE v > ?", 0)
}

func rowsFound(db *sql.DB) error {
	return execAll(db, table, "INSERT INTO a (v) VALUES (1), (2)", "UPDATE a SET s = 'x'", "UPDATE a SET s = 'x'", "UPDATE a SET v = v WHERE v = 9")
}

func variables(db *sql.DB) error {
	for n := 0; n < 3; n++ {
		if err := query(db, `SELECT @@sql_mode, @@time_zone, @@autocommit, FROM_UNIXTIME(0), "v" FROM (SELECT ? AS v) AS x`, n); err != nil {
			return err
		}
	}
	return nil
}

func connectionKeepsState(db *sql.DB) error {
	ctx := context.Background()
	one, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer one.Close()
	other, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer other.Close()
	state := []string{"SET @mine = 5", "USE information_schema", "SET SESSION group_concat_max_len = 10",
		"CREATE TEMPORARY TABLE t.x (n INT)", "SELECT GET_LOCK('go', 0)"}
	questions := []string{"SELECT @mine, DATABASE(), @@group_concat_max_len, ?", "SELECT COUNT(*) FROM t.x WHERE 1 = ?",
		"SELECT GET_LOCK('go', 0), ?"}
	for _, text := range state {
		if _, err := one.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	for _, on := range []*sql.Conn{one, other} {
		for _, text := range questions {
			rows, err := on.QueryContext(ctx, text, 1)
			if err != nil {
				if err = told(text, err); err != nil {
					return err
				}
				continue
			}
			if err := tellRows(text, rows); err != nil {
				return err
			}
		}
	}
	return one.PingContext(ctx)
}

// cancelled gives up a statement; the driver then closes the connection, and the pool goes on with another.
func cancelled(db *sql.DB) error {
	for n := 0; n < 3; n++ {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		_, err := db.ExecContext(ctx, "DO SLEEP(3)")
		cancel()
		tell("%t %t", errors.Is(err, context.DeadlineExceeded), errors.Is(err, driver.ErrBadConn))
		if err := query(db, "SELECT 'after', ?", n); err != nil {
			return err
		}
	}
	return nil
}

func isolation(db *sql.DB) error {
	if err := execAll(db, table, "INSERT INTO a (v) VALUES (1)"); err != nil {
		return err
	}
	levels := []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted,
		sql.LevelRepeatableRead, sql.LevelSerializable}
	for _, level := range levels {
		for _, readOnly := range []bool{false, true} {
			tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level, ReadOnly: readOnly})
			if err != nil {
				return err
			}
			tell("%v %t", level, readOnly)
			err = query(tx, "SELECT v, trx_isolation_level, trx_is_read_only FROM a, information_schema.INNODB_TRX "+
				"WHERE trx_mysql_thread_id = CONNECTION_ID()")
			if err != nil {
				return err
			}
			if err := exec(tx, "UPDATE a SET s = ?", "i"); err != nil {
				return err
			}
			if err := tx.Rollback(); err != nil {
				return err
			}
		}
	}
	return nil
}
