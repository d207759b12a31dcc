"""The mariadb command line at the admin interface: a session as it prints, wrong SQL, the tables."""

import subprocess
from pathlib import Path

from verdict import difference

STATEMENTS = Path(__file__).parent / "statements"


class Mariadb:
    """The command line at the admin interface; the login is in an option file."""

    def __init__(self, stage):
        self.stage = stage

    def __call__(self, sql, *options):
        """What `-e` printed, standard error behind it."""
        done = subprocess.run(
            ["mariadb", f"--defaults-file={self.stage.admin.option_file}", *options, "-e", sql],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout + done.stderr

    def last(self, sql):
        """The last value of the last row."""
        return self(sql, "-N").split()[-1]


def session():
    """Name, statements and expected output of each block."""
    for block in (STATEMENTS / "admin_session.txt").read_text().split("\n# ")[1:]:
        head, expected = block.split("=>\n")
        name, sql = head.split("\n", 1)
        yield name, sql, expected.rstrip("\n") + "\n"


def wrong():
    """Statement and what its error must hold."""
    lines = (STATEMENTS / "admin_wrong.txt").read_text().splitlines()
    return [line.split("  =>  ") for line in lines if "  =>  " in line]


def printed(mariadb, sql, expected, *options):
    return difference(expected, mariadb(sql, *options)) or True


def refused(mariadb, sql, needed):
    seen = mariadb(sql)
    return (needed in seen and "ERROR" in seen and mariadb("SELECT 1 AS alive") == "alive\n1\n") or seen


def tables_are_shown(mariadb):
    tables = mariadb("SHOW TABLES", "-N").split()
    needed = {
        "mysql_servers",
        "mysql_users",
        "mysql_query_rules",
        "global_variables",
        "runtime_mysql_servers",
        "runtime_mysql_users",
        "runtime_mysql_query_rules",
    }
    shown = mariadb("SHOW TABLES FROM stats", "-N").split()
    needed_stats = {
        "stats_mysql_query_digest",
        "stats_mysql_query_digest_reset",
        "stats_mysql_global",
        "stats_mysql_query_rules",
        "stats_mysql_connection_pool",
        "stats_mysql_processlist",
    }
    return (needed <= set(tables) and needed_stats <= set(shown)) or (tables, shown)


def every_table_has_a_definition_and_rows(mariadb):
    """SHOW CREATE TABLE and SELECT * of all tables."""
    wrong = []
    for schema in ("main", "stats", "disk"):
        for table in mariadb(f"SHOW TABLES FROM {schema}", "-N").split():
            made = mariadb(f"SHOW CREATE TABLE {schema}.{table}\\G")
            rows = mariadb(f"SELECT * FROM {schema}.{table} LIMIT 3")
            if f"CREATE TABLE {table}" not in made or "ERROR" in made + rows:
                wrong.append((schema, table, made[:200], rows[:200]))
    return not wrong or wrong
