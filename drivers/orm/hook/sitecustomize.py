"""Asks the proxy about each SELECT that mysqlclient or PyMySQL is about to send: would it be cached, for a new session?

Python imports this by itself at its start, where the directory is in PYTHONPATH. It asks `EXPLAIN CACHE` in the admin interface, on
a connection of its own, so that the session that sends the SELECT is as it would be without. What it was told is written to
$ORM_JUDGED when the process ends.
"""

import atexit
import json
import os
import re
import threading
import time
from collections import Counter
from pathlib import Path

# A change of a definition is read within this; what is not known then is not there.
CATALOGUE_SECONDS_MAX = 0.3
SELECT = re.compile(rb"(?:\s|\(|/\*(?!!).*?\*/)*(?:SELECT|WITH)\b", re.I | re.S)
USE = re.compile(rb"\s*USE\s+`?(\w+)`?\s*;?\s*$", re.I)


class Judge:
    """Counts what was told, by reason; of those that are cached there is none."""

    def __init__(self, port, user, to):
        self.port, self.user, self.to = port, user, to
        self.told, self.examples = Counter(), {}
        self.lock, self.admin = threading.Lock(), None

    def judge(self, schema, text):
        """Takes note of what the cache would do with it in that schema, if it is a SELECT."""
        if not SELECT.match(text):
            return
        with self.lock:
            reason = self.reason(schema, text)
            deadline = time.monotonic() + CATALOGUE_SECONDS_MAX
            while is_for_now(reason) and time.monotonic() < deadline:
                time.sleep(0.005)
                reason = self.reason(schema, text)
            self.told[reason] += 1
            self.examples.setdefault(reason, text[:300].decode(errors="replace"))

    def reason(self, schema, text):
        where = b" IN SCHEMA `%s`" % schema.encode() if schema else b""
        try:
            steps = dict(self.ask(b"EXPLAIN CACHE FOR USER '%s'%s " % (self.user.encode(), where) + text))
        except Exception as error:
            self.admin = None
            return f"it could not be asked: {error}"
        if not steps["mode"].startswith("exact"):
            return steps["mode"].removeprefix("not cached: ")
        if steps["source"].startswith("none"):
            return steps["source"]
        reads = steps["reads"]
        return reads.removeprefix("not cached as exact: ") if reads.startswith("not cached") else ""

    def ask(self, question):
        if self.admin is None:
            account = {"host": "127.0.0.1", "port": self.port, "user": "admin", "password": "admin"}
            self.admin = pymysql.connect(**account, autocommit=True)
        send_by_pymysql(self.admin, question)
        return self.admin._result.rows

    def write(self):
        if self.told:
            path = Path(self.to) / f"judged-{os.getpid()}-{time.time_ns()}.json"
            told = [[reason, count, self.examples[reason]] for reason, count in self.told.items()]
            path.write_text(json.dumps(told))


def is_for_now(reason):
    """It may be that the proxy has not yet read what has just been defined."""
    return reason.startswith("none: ") or reason.endswith(("is not known (yet)", "a definition has just been changed"))


def watch(connection, judge):
    """Has each connection of this class ask before it sends."""
    begin, send, select = connection.__init__, connection.query, connection.select_db

    def begin_in(self, *arguments, **named):
        self.judged_schema = named.get("db") or named.get("database") or (arguments[3] if len(arguments) > 3 else "")
        begin(self, *arguments, **named)

    def select_noted(self, schema):
        self.judged_schema = schema
        return select(self, schema)

    def send_judged(self, query, *arguments, **named):
        text = query.encode("utf-8", "surrogateescape") if isinstance(query, str) else bytes(query)
        if use := USE.match(text):
            self.judged_schema = use[1].decode()
        judge.judge(self.judged_schema, text)
        return send(self, query, *arguments, **named)

    connection.__init__, connection.query, connection.select_db = begin_in, send_judged, select_noted


if "ORM_JUDGED" in os.environ:
    import MySQLdb.connections
    import pymysql

    send_by_pymysql = pymysql.connections.Connection.query
    one = Judge(int(os.environ["ORM_ADMIN_PORT"]), os.environ["ORM_USER"], os.environ["ORM_JUDGED"])
    atexit.register(one.write)
    for one_class in (MySQLdb.connections.Connection, pymysql.connections.Connection):
        watch(one_class, one)
