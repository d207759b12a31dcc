//! PyMySQL: types, parameters, transactions, several results, commands that only drivers send.

use crate::interface::Interface;

const CONNECT: &str = "
import pymysql
from pymysql.constants import CLIENT, COMMAND, FIELD_TYPE
def connect(user='admin', **more):
    return pymysql.connect(host='127.0.0.1', port=PORT, user=user, password=user, **more)
c = connect()
cur = c.cursor()
def refused(sql):
    try:
        cur.execute(sql)
    except pymysql.err.MySQLError as error:
        print(type(error).__name__, error.args[0])
";

/// Name, program, what it prints.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "numbers come as numbers, text as text",
        r#"
cur.execute("SELECT 1, 'a', NULL, 0.5, hits FROM stats_mysql_query_rules")
print(cur.fetchall(), [d[1] for d in cur.description] == [FIELD_TYPE.LONGLONG, 253, 253, FIELD_TYPE.DOUBLE, FIELD_TYPE.LONGLONG])
cur.execute("SELECT rule_id, match_digest FROM mysql_query_rules")
print(cur.fetchall(), [d[1] for d in cur.description] == [FIELD_TYPE.LONGLONG, 253])
"#,
        "((1, 'a', None, 0.5, 42),) True\n() True\n",
    ),
    (
        "backslashes and quotes in parameters arrive as they are",
        r#"
pattern = "^SELECT \\d 'x' \"y\" \\\\"
print(cur.execute("INSERT INTO mysql_query_rules (rule_id, match_digest) VALUES (%s, %s)", (7, pattern)), cur.lastrowid)
cur.execute("SELECT match_digest FROM mysql_query_rules")
print(cur.fetchone()[0] == pattern)
"#,
        "1 7\nTrue\n",
    ),
    (
        "a transaction is rolled back and its state is told",
        r#"
def state(): return bool(c.server_status & 1)
cur.execute("INSERT INTO mysql_users (username) VALUES ('a'), ('b')"); print(cur.rowcount, state())
c.begin(); cur.execute("DELETE FROM mysql_users"); print(cur.rowcount, state())
c.rollback(); cur.execute("SELECT COUNT(*) FROM mysql_users"); print(cur.fetchone(), state())
c.begin(); cur.execute("UPDATE mysql_users SET active = 0 WHERE username = 'a'"); c.commit(); print(state())
c.commit(); c.rollback()
"#,
        "2 False\n2 True\n(2,) False\nFalse\n",
    ),
    (
        "errors are of the class that drivers expect",
        r#"
cur.execute("INSERT INTO mysql_query_rules (rule_id) VALUES (1)")
refused("INSERT INTO mysql_query_rules (rule_id) VALUES (1)")
refused("INSERT INTO mysql_users (username) VALUES (NULL)")
refused("SELECT * FROM nowhere")
refused("SELEKT")
refused("SELECT 1; SELECT 2")
refused("")
"#,
        "IntegrityError 1062\nIntegrityError 1048\nProgrammingError 1146\nProgrammingError 1064\n\
         ProgrammingError 1064\nOperationalError 1065\n",
    ),
    (
        "several statements in one packet have several results, up to the first error",
        r#"
m = connect(client_flag=CLIENT.MULTI_STATEMENTS).cursor()
m.execute("LOAD MYSQL USERS TO RUNTIME; SELECT 1; SET mysql-wait_timeout=1000; SELECT @@mysql-wait_timeout; SELEKT; SELECT 2")
print(m.fetchall())
try:
    while m.nextset(): print(m.fetchall())
except pymysql.err.ProgrammingError as error: print(error.args[0])
"#,
        "()\n((1,),)\n()\n((1000,),)\n1064\n",
    ),
    (
        "warnings are counted in the OK packet",
        r#"
cur.execute("INSERT INTO mysql_query_rules (rule_id, active, log) VALUES (1, 1, 1)")
cur.execute("LOAD MYSQL QUERY RULES TO RUNTIME"); print(cur._result.warning_count)
cur.execute("SHOW WARNINGS"); print(len(cur.fetchall()))
cur.execute("LOAD MYSQL USERS TO RUNTIME"); print(cur._result.warning_count)
"#,
        "1\n1\n0\n",
    ),
    (
        "commands other than queries are answered",
        r#"
c.ping(); c.select_db('stats'); cur.execute("SELECT DATABASE()"); print(cur.fetchone())
def send(command, body=b''):
    try:
        c._execute_command(command, body)
        return c._read_packet()
    except pymysql.err.MySQLError as error: return error.args[0]
print(send(COMMAND.COM_STATISTICS).get_all_data())
print(send(0x1f).is_ok_packet(), send(0x1b, b'\0\0').is_eof_packet(), send(0x16, b'SELECT 1'), send(0x55))
packet, fields = send(COMMAND.COM_FIELD_LIST, b'stats_mysql_users\0'), 0
while not packet.is_eof_packet(): packet, fields = c._read_packet(), fields + 1
print(fields, send(COMMAND.COM_FIELD_LIST, b'nowhere\0'))
c.ping(); print('alive')
"#,
        "('stats',)\nb'Uptime: 12  Threads: 9  Questions: 345  Slow queries: 0'\nTrue True 1047 1047\n3 1146\nalive\n",
    ),
    (
        "a reset ends the transaction",
        r#"
c.begin(); cur.execute("INSERT INTO mysql_users (username) VALUES ('a')")
c._execute_command(0x1f, b''); print(c._read_packet().is_ok_packet())
cur.execute("SELECT COUNT(*) FROM mysql_users"); print(cur.fetchone())
"#,
        "True\n(0,)\n",
    ),
];

#[test]
fn pymysql_programs_print_what_they_must() {
    for (name, program, expected) in PROGRAMS {
        let printed = Interface::start().python(&format!("{CONNECT}{program}"));
        assert_eq!(printed, *expected, "{name}");
    }
}
