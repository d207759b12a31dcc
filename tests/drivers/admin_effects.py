"""What was put in force in the admin interface, and its way to the disk, as clients of the data plane see it."""

import pymysql

from wire import answers

ACCOUNT = "app"


def user_is_made_and_taken_away(stage, mariadb):
    """A user gets in after LOAD, is refused after the LOAD of its end."""
    secret = "only-for-this-test"
    stage.direct.rows(f"CREATE OR REPLACE USER {ACCOUNT}@'127.0.0.1' IDENTIFIED BY '{secret}'")
    stage.direct.rows(f"CREATE OR REPLACE USER {ACCOUNT}@localhost IDENTIFIED BY '{secret}'")

    def login():
        try:
            return stage.proxy.rows("SELECT CURRENT_USER()", user=ACCOUNT, password=secret)[0][0].split("@")[0]
        except pymysql.err.OperationalError as error:
            return error.args[0]

    seen = [login()]
    mariadb(f"INSERT INTO mysql_users (username, password) VALUES ('{ACCOUNT}', '{secret}')")
    seen.append(login())
    mariadb("LOAD MYSQL USERS TO RUNTIME")
    seen.append(login())
    mariadb(f"UPDATE mysql_users SET active = 0 WHERE username = '{ACCOUNT}'; LOAD MYSQL USERS TO RUNTIME")
    seen.append(login())
    mariadb(f"DELETE FROM mysql_users WHERE username = '{ACCOUNT}'; LOAD MYSQL USERS TO RUNTIME")
    seen.append(login())
    return seen == [1045, 1045, ACCOUNT, 1045, 1045] or seen


def rules_answer(stage):
    """error_msg and OK_msg act at once."""
    stage.set_rules(
        {"match_digest": "^DROP", "error_msg": "not here: é"}, {"match_digest": "^UPDATE t SET", "OK_msg": "fine"}
    )
    with stage.proxy.connect() as connection:
        seen = [outcome for _, outcome in answers(connection, "DROP TABLE nowhere", "UPDATE t SET x = 1", "SELECT 1")]
    stage.set_rules()
    good = (
        seen[0][0][1] == 1148 and "not here: é" in seen[0][0][3] and seen[1][0][0] == "OK" and seen[2][0][1] == ((1,),)
    )
    return good or seen


def server_is_taken_away(stage, mariadb):
    """Without a server error 9001 in time, with it again answers."""
    mariadb(
        "SET mysql-connect_timeout_server_max = 500; LOAD MYSQL VARIABLES TO RUNTIME; "
        "UPDATE mysql_servers SET status = 'OFFLINE_HARD'; LOAD MYSQL SERVERS TO RUNTIME"
    )
    with stage.proxy.connect() as connection:
        offline = answers(connection, "SELECT 1")[0][1][0][:2]
        mariadb(
            "UPDATE mysql_servers SET status = 'ONLINE'; LOAD MYSQL SERVERS TO RUNTIME; "
            "SET mysql-connect_timeout_server_max = 10000; LOAD MYSQL VARIABLES TO RUNTIME"
        )
        online = answers(connection, "SELECT 1")[0][1][0][1]
    return (offline[1], online) == (9001, ((1,),)) or (offline, online)


def statistics_show_the_traffic(stage, mariadb):
    stage.admin.rows("SELECT * FROM stats_mysql_query_digest_reset")
    with stage.proxy.connect(database="mysql") as connection:
        answers(connection, "SELECT 12345", "SELECT 6789", "SELECT 'x'")
        shown = mariadb(
            "SELECT schemaname, username, digest_text, count_star FROM stats_mysql_query_digest "
            "WHERE digest_text = 'SELECT ?'",
            "-N",
        )
        sessions = mariadb(
            "SELECT COUNT(*) FROM stats_mysql_processlist WHERE user = 'nuthatch' AND db = 'mysql'", "-N"
        )
    return (shown, sessions) == ("mysql\tnuthatch\tSELECT ?\t3\n", "1\n") or (shown, sessions)


def disk_survives_a_restart(stage, mariadb):
    """Rules, users and variables that were saved are in force after a restart."""
    mariadb(
        "INSERT INTO mysql_query_rules (rule_id, active, match_digest, OK_msg, apply) VALUES (5, 1, '^SELECT saved', "
        "'ok', 1); "
        "LOAD MYSQL QUERY RULES TO RUNTIME;"
        "SAVE MYSQL QUERY RULES TO DISK; INSERT INTO mysql_query_rules (rule_id, active) VALUES (6, 1); "
        "LOAD MYSQL QUERY RULES TO RUNTIME;"
        "SET mysql-wait_timeout = 123000; LOAD MYSQL VARIABLES TO RUNTIME; SAVE MYSQL VARIABLES TO DISK; "
        "SAVE MYSQL USERS TO DISK; SAVE MYSQL SERVERS TO DISK"
    )
    stopped, started = stage.stop_proxy(), stage.start_proxy()
    rules = mariadb("SELECT rule_id FROM runtime_mysql_query_rules", "-N").split()
    timeout = mariadb.last(
        "SELECT variable_value FROM runtime_global_variables WHERE variable_name = 'mysql-wait_timeout'"
    )
    with stage.proxy.connect() as connection:
        acts = [outcome[0][0] for _, outcome in answers(connection, "SELECT saved", "SELECT 1")]
    seen = (stopped, started, rules, timeout, acts[0], acts[1] != "OK")
    return seen == (0, True, ["5"], "123000", "OK", True) or seen
