"""The admin interface with the clients that operators use: the mariadb command line, mycli, PyMySQL.

What is put in force there must show in the data plane: users, servers, rules, variables, and their way to the disk.
"""

import functools

import admin_clients
import admin_effects
import admin_session
from stage import Stage
from verdict import Verdict

with Stage() as stage:
    verdict = Verdict(stage)
    mariadb = admin_session.Mariadb(stage)
    for name, sql, expected in admin_session.session():
        verdict.claim(f"mariadb: {name}", functools.partial(admin_session.printed, mariadb, sql, expected))
    for sql, needed in admin_session.wrong():
        verdict.claim(f"mariadb: wrong: {sql}", functools.partial(admin_session.refused, mariadb, sql, needed))
    for name, check, *arguments in (
        ("mariadb: the tables are shown", admin_session.tables_are_shown, mariadb),
        (
            "mariadb: every table has a definition and rows",
            admin_session.every_table_has_a_definition_and_rows,
            mariadb,
        ),
        ("mycli: batch", admin_clients.mycli, stage),
        ("mycli: a terminal with completion", admin_clients.mycli_on_a_terminal, stage),
        ("mycli: through the proxy as past it", admin_clients.mycli_through_the_proxy, stage),
        ("PyMySQL: parameters, transactions, several statements, errors", admin_clients.pymysql_session, stage),
        ("PyMySQL: wrong logins are refused", admin_clients.wrong_logins, stage),
        ("PyMySQL: many sessions at once", admin_clients.many_at_once, stage),
        (
            "a user is let in by LOAD, and no longer after the next",
            admin_effects.user_is_made_and_taken_away,
            stage,
            mariadb,
        ),
        ("error_msg and OK_msg act", admin_effects.rules_answer, stage),
        ("without a server 9001, with it again answers", admin_effects.server_is_taken_away, stage, mariadb),
        ("the statistics show the traffic", admin_effects.statistics_show_the_traffic, stage, mariadb),
        ("what was saved is in force after a restart", admin_effects.disk_survives_a_restart, stage, mariadb),
    ):
        verdict.claim(name, functools.partial(check, *arguments))
    verdict.questions_before = 0  # the restart set the counters to 0
    verdict.end(questions_min=1)
