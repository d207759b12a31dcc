package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
)

var valueChecks = []check{
	{"types at their limits, binary protocol", typesAtTheirLimits, nil},
	{"types at their limits, times parsed", typesAtTheirLimits, map[string]string{"parseTime": "true"}},
	{"types at their limits, text protocol", typesAtTheirLimits, map[string]string{"interpolateParams": "true"}},
	{"parameters of every type", parametersOfEveryType, map[string]string{"parseTime": "true", "loc": "UTC"}},
	{"a thousand parameters", aThousandParameters, nil},
	{"rows of 20 MB", rowsOf20MB, nil},
	{"rows at the boundaries of packets", rowsAtTheBoundaries, nil},
	{"many rows", manyRows, nil},
	{"collation latin1", charset, map[string]string{"charset": "latin1"}},
	{"collation utf8mb4_spanish_ci", charset, map[string]string{"collation": "utf8mb4_spanish_ci"}},
}

// Each with values at its limits; a NULL is added.
var types = [][]string{
	{"TINYINT", "-128", "127"}, {"TINYINT UNSIGNED", "0", "255"}, {"SMALLINT", "-32768", "32767"}, {"SMALLINT UNSIGNED", "0", "65535"},
	{"MEDIUMINT", "-8388608", "8388607"}, {"INT", "-2147483648", "2147483647"}, {"INT UNSIGNED", "0", "4294967295"},
	{"BIGINT", "-9223372036854775808", "9223372036854775807"}, {"BIGINT UNSIGNED", "0", "18446744073709551615"},
	{"DECIMAL(65,30)", "-99999999999999999999999999999999999.999999999999999999999999999999", "0"},
	{"FLOAT", "-3.40282e38", "1.17549e-38"}, {"DOUBLE", "-1.7976931348623157e308", "2.2250738585072014e-308"},
	{"BIT(64)", "b'0'", "b'1111111111111111111111111111111111111111111111111111111111111111'"}, {"BIT(1)", "b'0'", "b'1'"},
	{"DATE", "'1000-01-01'", "'9999-12-31'"}, {"DATETIME", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"},
	{"DATETIME(6)", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'"}, {"DATETIME(3)", "'2024-02-29 12:00:00.5'", "'2024-02-29 00:00:00'"},
	{"TIMESTAMP NULL", "'1970-01-02 00:00:01'", "'2038-01-18 03:14:07'"}, {"TIME", "'-838:59:59'", "'838:59:59'"},
	{"TIME(6)", "'-00:00:00.000001'", "'838:59:59.999999'"}, {"YEAR", "1901", "2155"}, {"CHAR(255)", "''", "REPEAT('é', 255)"},
	{"VARCHAR(16000)", "''", "REPEAT('𝄞', 16000)"}, {"BINARY(4)", "X'00'", "X'FFFFFFFF'"}, {"VARBINARY(65000)", "''", "REPEAT(X'00FF', 32500)"},
	{"TINYTEXT", "''", "REPEAT('x', 251)"}, {"MEDIUMTEXT", "''", "REPEAT('ab', 100000)"}, {"LONGBLOB", "''", "REPEAT(X'00', 70000)"},
	{"ENUM('', 'a', 'ü')", "''", "'ü'"}, {"SET('a', 'b', 'c')", "''", "'a,b,c'"}, {"JSON", "'{}'", `'{"a": [1, null, "ü"]}'`},
	{"GEOMETRY", "ST_GeomFromText('POINT(0 0)')", "ST_GeomFromText('POINT(1 2)')"},
}

// typesAtTheirLimits reads by prepared statements unless parameters are interpolated: a parameter makes it one.
func typesAtTheirLimits(db *sql.DB) error {
	for _, one := range types {
		err := execAll(db, "DROP TABLE IF EXISTS v", "CREATE TABLE v (n INT AUTO_INCREMENT PRIMARY KEY, a "+one[0]+")",
			fmt.Sprintf("INSERT INTO v (a) VALUES (%s), (%s), (NULL)", one[1], one[2]))
		if err != nil {
			return err
		}
		if err := query(db, "SELECT a, a IS NULL, ? FROM v ORDER BY n", one[0]); err != nil {
			return err
		}
	}
	return nil
}

func parametersOfEveryType(db *sql.DB) error {
	moment := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
	values := []any{int64(math.MinInt64), int64(math.MaxInt64), uint64(math.MaxUint64), int8(-1), uint8(255), math.MaxFloat64,
		-math.SmallestNonzeroFloat64, float32(1.5), true, false, nil, "", "é𝄞 \x00 ' \" \\ \n", []byte{0, 255, 1}, []byte{}, []byte(nil),
		moment, time.Time{}, sql.NullString{}, strings.Repeat("p", 70000)}
	if err := exec(db, "CREATE TABLE p (n INT PRIMARY KEY, a LONGBLOB, d DATETIME(6))"); err != nil {
		return err
	}
	for n, value := range values {
		if err := query(db, "SELECT ?, HEX(?) = HEX(?), ? IS NULL", value, value, value, value); err != nil {
			return err
		}
		if err := exec(db, "INSERT INTO p (n, a) VALUES (?, ?)", n, value); err != nil {
			return err
		}
	}
	if err := exec(db, "UPDATE p SET d = ? WHERE n < 2", moment); err != nil {
		return err
	}
	return query(db, "SELECT n, a, d FROM p WHERE n >= ? ORDER BY n", 0)
}

func aThousandParameters(db *sql.DB) error {
	arguments := make([]any, 1000)
	for n := range arguments {
		if n%7 != 0 {
			arguments[n] = n
		}
	}
	return query(db, "SELECT COALESCE(?"+strings.Repeat(", ?", 999)+"), ?", append(arguments, "last")...)
}

// rowsOf20MB writes the value as long data, because it is larger than the driver's packets.
func rowsOf20MB(db *sql.DB) error {
	value := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	if err := exec(db, "CREATE TABLE b (n INT PRIMARY KEY, a LONGBLOB, c LONGBLOB)"); err != nil {
		return err
	}
	if err := exec(db, "INSERT INTO b VALUES (?, ?, ?)", 1, value, "small"); err != nil {
		return err
	}
	var back []byte
	var serverHash string
	if err := db.QueryRow("SELECT a, SHA2(a, 256) FROM b WHERE n = ?", 1).Scan(&back, &serverHash); err != nil {
		return err
	}
	hash := sha256.Sum256(value)
	tell("%t %t", bytes.Equal(back, value), serverHash == hex.EncodeToString(hash[:]))
	return query(db, "SELECT n, LENGTH(a), c FROM b WHERE n = ?", 1)
}

func rowsAtTheBoundaries(db *sql.DB) error {
	const longest = 1<<24 - 1
	for _, size := range []int{0, 250, 251, 252, 65535, 65536, longest - 8, longest - 7, longest - 6, longest - 5, longest - 4, longest} {
		var back string
		if err := db.QueryRow("SELECT REPEAT(?, ?)", "r", size).Scan(&back); err != nil {
			return err
		}
		tell("%d %t", size, back == strings.Repeat("r", size))
	}
	return nil
}

func manyRows(db *sql.DB) error {
	// MySQL has no seq_1_to_100000.
	if err := execAll(db, "CREATE TABLE d (n INT)", "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)"); err != nil {
		return err
	}
	seq := "SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * e.n + 10000 * f.n AS seq FROM d a, d b, d c, d e, d f"
	rows, err := db.Query("SELECT seq, REPEAT('m', seq % 100) FROM ("+seq+") s WHERE seq > ?", 0)
	if err != nil {
		return err
	}
	defer rows.Close()
	count, sum, bytes := 0, 0, 0
	for rows.Next() {
		var number int
		var text string
		if err := rows.Scan(&number, &text); err != nil {
			return err
		}
		count, sum, bytes = count+1, sum+number, bytes+len(text)
	}
	tell("%d %d %d", count, sum, bytes)
	return rows.Err()
}

func charset(db *sql.DB) error {
	if err := execAll(db, "CREATE TABLE c (a VARCHAR(20) CHARSET utf8mb4)", "INSERT INTO c VALUES (_utf8mb4 X'C3A9F09D849E')"); err != nil {
		return err
	}
	return query(db, "SELECT a, HEX(a), @@character_set_results, @@collation_connection, 'n' = 'ñ' FROM c WHERE 1 = ?", 1)
}
