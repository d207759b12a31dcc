"""sysbench's OLTP tests through the proxy, in both of its modes: with prepared statements and without.

No error, no reconnect, and the data is what as many statements past the proxy would leave.
"""

import functools
import re
import subprocess

from stage import Stage, holds
from verdict import Verdict

THREADS, SECONDS, TABLES, ROWS = 8, 3, 4, 5000
TESTS = ["oltp_point_select", "oltp_read_only", "oltp_read_write"]
MODES = ["auto", "disable"]
# mysql-max_stmts_per_connection
STATEMENTS_PER_CONNECTION = 100


class Sysbench:
    """Runs sysbench against one way in."""

    def __init__(self, stage, way):
        self.stage, self.way = stage, way
        self.config = stage.dir / f"sysbench-{way.name}.cfg"
        self.config.touch(mode=0o600)
        self.config.write_text(
            f"mysql-host=127.0.0.1\nmysql-port={way.port}\nmysql-user={way.user}\nmysql-password={way.password}\nmysql-db=sbtest\n"
        )

    def __call__(self, test, command, *options):
        """What sysbench printed; raises with it if it failed."""
        done = subprocess.run(
            [
                "sysbench",
                f"--config-file={self.config}",
                f"--tables={TABLES}",
                f"--table-size={ROWS}",
                f"--threads={THREADS}",
                f"--time={SECONDS}",
                *options,
                test,
                command,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stdout)
        return done.stdout


def figures(printed):
    """Statements, ignored errors and reconnects."""
    return {
        name: int(re.search(rf"{name}: +(\d+)", printed)[1]) for name in ("queries", "ignored errors", "reconnects")
    }


def prepared(stage, sysbench):
    stage.fresh_schema("sbtest")
    sysbench("oltp_read_write", "prepare")
    counts = [
        stage.direct.rows(f"SELECT COUNT(*), MIN(id), MAX(id) FROM sbtest{n}", database="sbtest")[0]
        for n in range(1, TABLES + 1)
    ]
    return counts == [(ROWS, 1, ROWS)] * TABLES or counts


def run(stage, sysbench, test, mode):
    """Deadlocks, which read_write provokes rarely, are the server's: sysbench counts them as ignored errors."""
    deadlocks = deadlocks_of_server(stage)
    seen = figures(sysbench(test, "run", f"--db-ps-mode={mode}", "--report-interval=1"))
    deadlocks = deadlocks_of_server(stage) - deadlocks
    good = seen["queries"] > 100 and seen["ignored errors"] == deadlocks and seen["reconnects"] == 0
    return good or (seen, deadlocks)


def deadlocks_of_server(stage):
    return int(stage.direct.rows("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")[0][1])


def nothing_is_left_open(stage):
    """No transaction, and no more statements than the proxy's connections may keep for others."""

    def left():
        statements = int(stage.direct.rows("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")[0][1])
        connections = int(stage.admin.rows("SELECT SUM(ConnFree) FROM stats_mysql_connection_pool")[0][0])
        transactions = stage.direct.rows("SELECT COUNT(*) FROM information_schema.INNODB_TRX")[0][0]
        return statements <= STATEMENTS_PER_CONNECTION * connections, transactions, statements, connections

    return holds(lambda: left()[:2] == (True, 0), 10) or left()


def rows_are_as_many_as_before(stage):
    """read_write deletes and inserts the same key in one transaction."""
    counts = [
        stage.direct.rows(f"SELECT COUNT(*) FROM sbtest{n}", database="sbtest")[0][0] for n in range(1, TABLES + 1)
    ]
    return counts == [ROWS] * TABLES or counts


def cached(stage, sysbench):
    """With a rule, most point selects are hits, and the server sees that few."""
    stage.set_rules({"match_digest": "^SELECT c FROM sbtest. WHERE id=", "cache_ttl": 60000})
    before = stage.statistic("Query_Cache_count_GET_OK"), stage.selects_of_server()
    seen = figures(sysbench("oltp_point_select", "run", "--db-ps-mode=disable", "--rand-type=uniform"))
    hits, selects = stage.statistic("Query_Cache_count_GET_OK") - before[0], stage.selects_of_server() - before[1]
    stage.set_rules()
    good = hits > 100 and hits + selects >= seen["queries"] and selects <= TABLES * ROWS * 2 and seen["reconnects"] == 0
    return good or (seen, hits, selects)


with Stage() as stage:
    verdict = Verdict(stage)
    sysbench = Sysbench(stage, stage.proxy)
    verdict.claim("prepare loads all rows", functools.partial(prepared, stage, sysbench))
    for mode in MODES:
        for test in TESTS:
            verdict.claim(
                f"{test} runs without error, db-ps-mode={mode}", functools.partial(run, stage, sysbench, test, mode)
            )
            verdict.claim(
                f"{test} leaves nothing open, db-ps-mode={mode}", functools.partial(nothing_is_left_open, stage)
            )
    verdict.claim("no row was lost or made twice", functools.partial(rows_are_as_many_as_before, stage))
    verdict.claim("with a rule, point selects are hits", functools.partial(cached, stage, sysbench))
    verdict.claim("cleanup drops the tables", lambda: "Dropping table" in sysbench("oltp_read_write", "cleanup"))
    verdict.end(questions_min=1000)
