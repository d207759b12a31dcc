"""PyMySQL through the proxy, compared with PyMySQL past it."""

import functools

import pymysql_cache
import pymysql_sessions
import pymysql_types
import server_resets
from stage import Stage
from verdict import Verdict
from wire import answers


def over_the_unix_socket(stage):
    with stage.proxy.connect(unix_socket=str(stage.socket), database="t") as connection:
        seen = answers(connection, "SELECT 1, DATABASE()", "SELEKT")
    with stage.direct.connect(database="t") as connection:
        truth = answers(connection, "SELECT 1, DATABASE()", "SELEKT")
    return seen == truth or (seen, truth)


with Stage() as stage:
    verdict = Verdict(stage)
    for name, check in pymysql_types.CHECKS + pymysql_sessions.CHECKS:
        verdict.same(name, check)
    verdict.claim("the Unix socket is as good as the port", functools.partial(over_the_unix_socket, stage))
    for name, check in pymysql_sessions.CLAIMS + pymysql_cache.CHECKS:
        stage.fresh_schema()
        verdict.claim(name, functools.partial(check, stage))
    for name, check in server_resets.CHECKS:
        verdict.claim(name, functools.partial(check, stage.direct))
    verdict.end(questions_min=1000)
