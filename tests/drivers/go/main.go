// Program observer does with a server what Go programs do, and prints what it sees.
//
//	observer list      the checks, one line each
//	observer NAME      runs one; the schema is empty before
//
// Whether that is right is not known here: go_suite.py runs it directly and through the proxy, and compares. The server
// stands in $OBSERVE_ADDRESS, the login in $OBSERVE_USER and $OBSERVE_PASSWORD.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

type check struct {
	name string
	// run prints what it sees; an error is a failure of the check, not an observation.
	run func(*sql.DB) error
	// settings are parameters of the DSN.
	settings map[string]string
}

var checks = append(append(valueChecks, sessionChecks...), poolChecks...)

func main() {
	if len(os.Args) != 2 {
		fail(errors.New("usage: observer list | NAME"))
	}
	for _, check := range checks {
		if os.Args[1] == "list" {
			fmt.Println(check.name)
		} else if os.Args[1] == check.name {
			fail(observe(check))
			return
		}
	}
	if os.Args[1] != "list" {
		fail(fmt.Errorf("there is no check %q", os.Args[1]))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func observe(check check) error {
	db, err := open(check.settings)
	if err != nil {
		return err
	}
	defer db.Close()
	return check.run(db)
}

func open(settings map[string]string) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", os.Getenv("OBSERVE_ADDRESS")
	config.User, config.Passwd = os.Getenv("OBSERVE_USER"), os.Getenv("OBSERVE_PASSWORD")
	config.DBName = "t"
	config.MaxAllowedPacket = 64 << 20
	config.Timeout, config.ReadTimeout = 20*time.Second, 60*time.Second
	dsn := config.FormatDSN()
	for name, value := range settings {
		dsn += "&" + name + "=" + value
	}
	return sql.Open("mysql", dsn)
}

// tell prints one observation on one line.
func tell(format string, values ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprintf(format, values...), "\n", "\\n"))
}

// told makes a server's error an observation; any other error stays one.
func told(what string, err error) error {
	var refusal *mysql.MySQLError
	if errors.As(err, &refusal) {
		tell("%s: error %d (%s): %s", what, refusal.Number, refusal.SQLState[:], refusal.Message)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

type querier interface {
	Query(string, ...any) (*sql.Rows, error)
	Exec(string, ...any) (sql.Result, error)
}

// exec tells the statement's counts; an error of the server is told too.
func exec(on querier, text string, arguments ...any) error {
	result, err := on.Exec(text, arguments...)
	if err != nil {
		return told(shortened(text), err)
	}
	id, _ := result.LastInsertId()
	affected, _ := result.RowsAffected()
	tell("%s: id %d, %d rows", shortened(text), id, affected)
	return nil
}

// execAll sends each in turn.
func execAll(on querier, statements ...string) error {
	for _, text := range statements {
		if err := exec(on, text); err != nil {
			return err
		}
	}
	return nil
}

// query tells all results with their columns' types.
func query(on querier, text string, arguments ...any) error {
	rows, err := on.Query(text, arguments...)
	if err != nil {
		return told(shortened(text), err)
	}
	return tellRows(text, rows)
}

func tellRows(text string, rows *sql.Rows) error {
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() {
		types, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		for _, one := range types {
			length, hasLength := one.Length()
			precision, scale, hasScale := one.DecimalSize()
			nullable, _ := one.Nullable()
			tell("%s: column %s %s %v length %d %t, decimal %d %d %t, null %t", shortened(text), one.Name(),
				one.DatabaseTypeName(), one.ScanType(), length, hasLength, precision, scale, hasScale, nullable)
		}
		if err := tellValues(rows, len(types)); err != nil {
			return err
		}
	}
	return told(shortened(text), rows.Err())
}

func tellValues(rows *sql.Rows, columns int) error {
	values, places := make([]any, columns), make([]any, columns)
	for place := range values {
		places[place] = &values[place]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		line := ""
		for _, value := range values {
			line += fmt.Sprintf(" %T %v;", value, shortened(fmt.Sprintf("%v", value)))
		}
		tell("row%s", line)
	}
	return nil
}

// shortened is long texts by their beginning, length and end.
func shortened(text string) string {
	if len(text) <= 120 {
		return text
	}
	return fmt.Sprintf("%s... %d bytes ...%s", text[:60], len(text), text[len(text)-20:])
}
