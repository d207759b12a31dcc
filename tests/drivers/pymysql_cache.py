"""What PyMySQL sees of the cache: hits, their bytes, and when there must be none."""

import time

from verdict import difference
from wire import answer, answers

# By the key, because a hit does not repeat the server's remark that no index was used.
ROWS = "SELECT id, v, s, NULL AS n FROM a WHERE id > 0"
# A digest has no blank after a comma.
RULE = {"match_digest": "^SELECT id,v,s", "cache_ttl": 60000}


def table(connection):
    answers(
        connection,
        "CREATE OR REPLACE TABLE a (id INT PRIMARY KEY, v INT, s VARCHAR(20))",
        "INSERT INTO a VALUES (1, 10, 'é'), (2, 20, NULL)",
    )


class Counted:
    """Hits and the server's SELECTs during a `with` block."""

    def __init__(self, stage):
        self.stage = stage

    def __enter__(self):
        self._now_and_later()
        self._hits, self._selects = self._now()
        return self

    def _now_and_later(self):
        """Waits while the proxy looks at the server, of its own accord: behind a definition, say."""
        before = None
        while before != (before := self.stage.selects_of_server()):
            time.sleep(0.4)

    def __exit__(self, *_):
        hits, selects = self._now()
        self.hits, self.selects = hits - self._hits, selects - self._selects

    def _now(self):
        return self.stage.statistic("Query_Cache_count_GET_OK"), self.stage.selects_of_server()


def second_select_is_a_hit(stage):
    stage.set_rules(RULE)
    with stage.proxy.connect(database="t") as connection, stage.proxy.connect(database="t") as other:
        table(connection)
        with Counted(stage) as first:
            filled = answer(connection, ROWS)
        with Counted(stage) as second:
            hit, of_another = answer(connection, ROWS), answer(other, ROWS)
        with stage.direct.connect(database="t") as direct:
            truth = answer(direct, ROWS)
    counts = (first.hits, first.selects, second.hits, second.selects)
    return difference([(0, 1, 2, 0), truth, truth, truth], [counts, filled, hit, of_another]) or True


def hit_is_counted_in_the_digests(stage):
    stage.set_rules(RULE)
    stage.admin.rows("SELECT * FROM stats_mysql_query_digest_reset")
    with stage.proxy.connect(database="t") as connection:
        table(connection)
        answers(connection, ROWS, ROWS, ROWS)
    seen = stage.admin.rows(
        "SELECT hostgroup, count_star, sum_time = 0 FROM stats_mysql_query_digest "
        "WHERE digest_text LIKE 'SELECT id,v,s%' ORDER BY hostgroup"
    )
    hits = stage.admin.rows("SELECT hits FROM stats_mysql_query_rules")
    return (seen, hits) == (((-1, 2, 1), (0, 1, 0)), ((3,),)) or (seen, hits)


def bytes_are_those_of_each_character_set(stage):
    """A reader in latin1 does not get what one in utf8mb4 had stored, by login or by SET NAMES."""
    stage.set_rules(RULE)
    seen = []
    with stage.proxy.connect(database="t") as maker:
        table(maker)
    for way in (stage.direct, stage.proxy, stage.proxy):
        of_way = []
        for charset in ("utf8mb4", "latin1"):
            with way.connect(database="t", charset=charset, use_unicode=False) as connection:
                of_way.append(
                    answers(connection, ROWS, "SET NAMES " + ("latin1" if charset == "utf8mb4" else "utf8mb4"), ROWS)
                )
        seen.append(of_way)
    return difference(seen[0], seen[1]) or difference(seen[0], seen[2]) or True


def own_write_in_a_transaction_is_seen(stage):
    """In ttl mode another may read what was stored; who has written in the transaction may not."""
    stage.set_rules(RULE)
    with stage.proxy.connect(database="t") as writer, stage.proxy.connect(database="t") as reader:
        table(writer)
        answer(reader, ROWS)
        answers(writer, "BEGIN", "UPDATE a SET v = 11 WHERE id = 1")
        own = answer(writer, ROWS)[0][1]
        stored = answer(reader, ROWS)[0][1]
        answer(writer, "ROLLBACK")
        after = answer(writer, ROWS)[0][1]
    return (own[0][1], stored[0][1], after[0][1]) == (11, 10, 10) or (own, stored, after)


def flags_are_the_readers_own(stage):
    """A hit tells the reader's autocommit and transaction, not those of who filled."""
    stage.set_rules(RULE)
    with stage.proxy.connect(database="t") as connection, stage.direct.connect(database="t") as direct:
        table(connection)
        answer(connection, ROWS)
        steps = ("SET autocommit = 0", ROWS, "COMMIT", "SET autocommit = 1", ROWS)
        proxied, truth = answers(connection, *steps), answers(direct, *steps)

    # In a transaction that a read has opened the server says so; a hit opens none, so only autocommit is compared.
    def autocommit(seen):
        return [outcome[0][2] & 2 for sql, outcome in seen if sql == ROWS]

    return autocommit(proxied) == autocommit(truth) == [0, 2] or (proxied, truth)


def hit_is_the_last_statement(stage):
    """After a hit, FOUND_ROWS, ROW_COUNT and SHOW WARNINGS speak of it."""
    stage.set_rules(RULE)
    after = ("SELECT FOUND_ROWS()", ROWS, "SELECT ROW_COUNT()", ROWS, "SHOW WARNINGS", ROWS, "SELECT LAST_INSERT_ID()")
    steps = ("SELECT CAST('x' AS INT)", ROWS, *after, "UPDATE a SET v = v", ROWS, "SELECT ROW_COUNT()")
    with stage.proxy.connect(database="t") as connection, stage.direct.connect(database="t") as direct:
        table(connection)
        answer(connection, ROWS)
        proxied, truth = answers(connection, *steps), answers(direct, *steps)

    def values(seen):
        return [(sql, [part[1] for part in outcome if part[0] != "OK"]) for sql, outcome in seen]

    return difference(values(truth), values(proxied)) or True


def flush_and_new_rules_empty_it(stage):
    """After PROXYSQL FLUSH QUERY CACHE and after a LOAD without the rule there is no hit."""
    stage.set_rules(RULE)
    with stage.proxy.connect(database="t") as connection:
        table(connection)
        answers(connection, ROWS, ROWS)
        stage.admin.rows("PROXYSQL FLUSH QUERY CACHE")
        with Counted(stage) as flushed:
            answer(connection, ROWS)
        stage.set_rules()
        with Counted(stage) as unruled:
            answers(connection, ROWS, ROWS)
    return (flushed.hits, flushed.selects, unruled.hits, unruled.selects) == (0, 1, 0, 2) or (
        flushed.__dict__,
        unruled.__dict__,
    )


def what_must_not_be_stored(stage):
    """Whatever the rule says."""
    stage.set_rules({"match_pattern": ".", "cache_ttl": 60000})
    statements = [
        "SELECT * FROM a FOR UPDATE",
        "SELECT * FROM a LOCK IN SHARE MODE",
        "SELECT GET_LOCK('x', 0)",
        "SELECT IS_FREE_LOCK('x')",
        "SELECT id + LAST_INSERT_ID() FROM a",
        "SELECT id, FOUND_ROWS() FROM a",
        "SELECT 1/0 FROM a",
        "SELECT * FROM nowhere",
        "SHOW TABLES",
        "SELECT @u",
        "SELECT id, CONNECTION_ID() FROM a",
        "SELECT id INTO @u FROM a LIMIT 1",
        "CALL p()",
    ]
    with stage.proxy.connect(database="t") as connection:
        table(connection)
        answer(connection, "CREATE OR REPLACE PROCEDURE p() SELECT 1")
        wrong = []
        for sql in statements:
            with Counted(stage) as counted:
                answers(connection, sql, sql)
            if counted.hits:
                wrong.append(sql)
    return not wrong or wrong


def large_answers_are_hits_too(stage):
    stage.set_rules({"match_digest": "^SELECT REPEAT", "cache_ttl": 60000})
    with stage.proxy.connect(database="t") as connection:
        sizes = (100, 10_000, 1 << 20, (1 << 24) - 5, 20 << 20)
        with Counted(stage) as counted:
            for size in sizes:
                sql = f"SELECT REPEAT('h', {size})"
                for _ in range(2):
                    connection.query(sql)
                    assert connection._result.rows == (("h" * size,),), size
    return counted.hits >= len(sizes) - 2 or counted.__dict__


CHECKS = [
    ("the second SELECT is a hit, with the server's bytes", second_select_is_a_hit),
    ("hits stand in the digests with hostgroup -1", hit_is_counted_in_the_digests),
    ("a hit has the bytes of the reader's character set", bytes_are_those_of_each_character_set),
    ("a hit is refused to who has written in the transaction", own_write_in_a_transaction_is_seen),
    ("a hit has the reader's own status flags", flags_are_the_readers_own),
    ("a hit is the session's last statement", hit_is_the_last_statement),
    ("no hit after a flush or without the rule", flush_and_new_rules_empty_it),
    ("what must not be stored is not", what_must_not_be_stored),
    ("large answers are hits and arrive whole", large_answers_are_hits_too),
]
