"""WordPress and MediaWiki from Debian, with PHP's built-in server, on a database behind the proxy with its exact cache on.

A seed says what is written, all of it through the proxy. After each write some pages are looked at through the proxy, twice, and at a
second PHP server that asks the database itself, by an account that may only read: all three must be the same. A single client looks at one
page after the other, so the server has few connections at any time. Started by `make apps`.
"""

import argparse
import difflib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent.parent / "tests/drivers")]

import mediawiki
import wordpress
from php import Php
from stage import SOURCES, Stage, holds

APPS = {app.NAME: app for app in (wordpress, mediawiki)}
PACKAGES = ("wordpress", "wordpress-theme-twentytwentythree", "mediawiki", "mediawiki-classes", "php-getid3", "libjs-cropper",
            "libjs-underscore", "libjs-jquery")
CONNECTIONS_MAX = 4
OPENED_MAX = 20
LOOK_SECONDS_MAX = 30
DIFFERENCES_MAX = 5
LINES_MAX = 4
SHOWN_CHARS_MAX = 200


def main():
    arguments = parsed()
    passed = failed = 0
    for name in arguments.apps:
        with Stage() as stage:
            tree = stage.program.parent.parent / "apps/tree" if arguments.tree is None else arguments.tree
            subprocess.run([SOURCES / "tools/unpack.sh", tree, *PACKAGES], check=True)
            run = Run(stage, APPS[name], tree, arguments.follow)
            run.go(arguments.seed, arguments.writes)
            passed, failed = passed + run.passed, failed + run.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def parsed():
    parser = argparse.ArgumentParser(prog="make apps", description=__doc__.splitlines()[0])
    parser.add_argument("apps", nargs="*", metavar="APP", help="of " + ", ".join(APPS) + "; none is all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writes", type=int, default=40, help="after each, six pages are compared")
    parser.add_argument("--follow", default="off", choices=("off", "bounded"), help="whether the binlog is followed: writes end less")
    parser.add_argument("--tree", type=Path, help="where the packages are unpacked")
    arguments = parser.parse_args()
    if unknown := set(arguments.apps) - set(APPS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(APPS)}")
    arguments.apps = arguments.apps or list(APPS)
    return arguments


class Run:
    """One application on a server of its own."""

    def __init__(self, stage, app, tree, follow):
        self.stage, self.app, self.follow, self.passed, self.failed, self.most = stage, app, follow, 0, 0, 0
        self.root = stage.dir / app.NAME
        app.lay_out(tree, self.root)
        stage.direct.rows(f"CREATE DATABASE {app.SCHEMA} CHARACTER SET utf8mb4")
        stage.direct.rows("CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'of-the-reader'")
        stage.direct.rows(f"GRANT SELECT ON {app.SCHEMA}.* TO reader@'127.0.0.1'")
        stage.admin.rows("SET mysql-query_cache_type = 1")
        if follow != "off":
            stage.direct.rows("CREATE USER follow@'127.0.0.1' IDENTIFIED BY 'of-the-follower'")
            stage.direct.rows("GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO follow@'127.0.0.1'")
            stage.admin.rows("SET mysql-query_cache_follow_username = 'follow'")
            stage.admin.rows("SET mysql-query_cache_follow_password = 'of-the-follower'")
            stage.admin.rows(f"SET mysql-query_cache_follow = '{follow}'")
        stage.admin.rows("LOAD MYSQL VARIABLES TO RUNTIME")
        self._await_exact()

    def _await_exact(self):
        asked = f"EXPLAIN CACHE FOR USER '{self.stage.direct.user}' SELECT 1"
        if not holds(lambda: dict(self.stage.admin.rows(asked))["mode"].startswith("exact"), LOOK_SECONDS_MAX):
            sys.exit("the proxy does not cache as exact")
        told = "SELECT mode FROM stats_query_cache_follow"
        if self.follow != "off" and not holds(lambda: [row[0] for row in self.stage.admin.rows(told)] == [self.follow], LOOK_SECONDS_MAX):
            sys.exit(f"the binlog is not followed: {self.stage.admin.rows('SELECT mode, why FROM stats_query_cache_follow')}")

    def _let_go_of_connections(self):
        """Those of an installation, which takes several at a time, are none that pages need."""
        for status in "OFFLINE_HARD", "ONLINE":
            self.stage.admin.rows(f"UPDATE mysql_servers SET status = '{status}'")
            self.stage.admin.rows("LOAD MYSQL SERVERS TO RUNTIME")
            if status == "OFFLINE_HARD" and not holds(lambda: self._connections() == 0, LOOK_SECONDS_MAX):
                sys.exit(f"{self._connections()} connections outlast their server")
        self._await_exact()

    def _php(self, name, port, user, password, **more):
        told = {"APP_DATABASE": f"127.0.0.1:{port}", "APP_USER": user, "APP_PASSWORD": password} | more
        return Php(name, self.root, self.stage.dir / f"{self.app.NAME}.{name}.log", **told)

    def go(self, seed, writes):
        stage = self.stage
        with (
            self._php("proxy", stage.proxy.port, stage.direct.user, stage.direct.password) as proxied,
            self._php("direct", stage.direct.port, "reader", "of-the-reader", APP_READS_ONLY="1") as direct,
        ):
            self.app.install(proxied)
            self._let_go_of_connections()
            editor = self.app.Editor(proxied, seed)
            before, pages = self._counters(), 0
            for number in range(writes):
                kind = editor.write()
                direct.borrow_cookies(proxied)
                for path in editor.paths():
                    self._compare(f"{path} after write {number} ({kind})", proxied, direct, path)
                    pages += 3
                if self.failed >= DIFFERENCES_MAX:
                    print(f"-- {self.app.NAME}: no further, with so many differences")
                    break
            self._tell(before, pages)

    def _compare(self, what, proxied, direct, path):
        pages = []
        for server in (proxied, proxied, direct):
            status, text = server.page(path)
            pages.append((status, self.app.settled(text)))
            self._count_connections()
        if pages[0] == pages[1] == pages[2]:
            self.passed += 1
            return
        self.failed += 1
        other = pages[0] if pages[0] != pages[2] else pages[1]
        print(f"FAILED {self.app.NAME}: {what}: {other[0]} through the proxy, {pages[2][0]} directly", flush=True)
        for line in told(pages[2][1].splitlines(), other[1].splitlines()):
            print("       " + line)

    def _connections(self):
        ((used, free),) = self.stage.admin.rows("SELECT SUM(ConnUsed), SUM(ConnFree) FROM stats_mysql_connection_pool")
        return int(used or 0) + int(free or 0)

    def _count_connections(self):
        self.most = max(self.most, self._connections())

    def _counters(self):
        return {name: int(value) for name, value in self.stage.admin.rows("SELECT Variable_Name, Variable_Value FROM stats_mysql_global")
                if name.startswith("Query_Cache_count")} | {
                    "opened": int(self.stage.admin.rows("SELECT SUM(ConnOK) FROM stats_mysql_connection_pool")[0][0]),
                    **dict(zip(("invalidated", "repeated"), map(int, self.stage.admin.rows(
                        "SELECT COALESCE(SUM(invalidated), 0), COALESCE(SUM(repeated), 0) FROM stats_query_cache")[0])))}

    def _tell(self, before, pages):
        after = self._counters()
        grown = {name: after[name] - before[name] for name in before}
        hits, asked = grown["Query_Cache_count_GET_OK"], grown["Query_Cache_count_GET"]
        opened = grown["opened"]
        print(f"-- {self.app.NAME}: {pages} pages, {self.passed} compared alike; {hits} hits of {asked} look-ups "
              f"({100 * hits / max(asked, 1):.1f} %); at most {self.most} server connections at a time, {opened} opened")
        print(f"   {asked - hits} misses, {grown['invalidated']} of them of what was written over ({grown['repeated']} to be the same again);"
              " since its installation, those with most and most written over:")
        for most in ("look_ups - hits", "repeated"):
            for misses, invalidated, repeated, text in self.stage.admin.rows(
                    f"SELECT look_ups - hits, invalidated, repeated, digest_text FROM stats_query_cache WHERE look_ups > hits ORDER BY {most} DESC LIMIT 8"):
                print(f"   {misses} misses, {invalidated} invalidated, {repeated} the same again: {str(text)[:SHOWN_CHARS_MAX]}")
        self._check(f"at most {CONNECTIONS_MAX} server connections at a time", self.most <= CONNECTIONS_MAX)
        self._check(f"at most {OPENED_MAX} server connections opened over all pages", opened <= OPENED_MAX)

    def _check(self, what, holds_true):
        self.passed, self.failed = self.passed + holds_true, self.failed + (not holds_true)
        print(f"{'ok' if holds_true else 'FAILED'} {self.app.NAME}: {what}")


def told(direct, proxied):
    """The first lines that differ, from shortly before the place where they part."""
    changes = [change for change in difflib.SequenceMatcher(None, direct, proxied, False).get_opcodes() if change[0] != "equal"]
    for _, from_one, to_one, from_other, to_other in changes[:LINES_MAX]:
        one, other = "\n".join(direct[from_one:to_one]), "\n".join(proxied[from_other:to_other])
        at = max(0, next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other))) - 60)
        yield f"line {from_one + 1} directly:  {one[at:at + SHOWN_CHARS_MAX]!r}"
        yield f"line {from_other + 1} by proxy:  {other[at:at + SHOWN_CHARS_MAX]!r}"


main()
