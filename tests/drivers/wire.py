"""All that PyMySQL received for a statement, as values that can be compared: also what its interface hides.

Of an ERR packet the code, SQLSTATE and message; of OK and EOF packets the status flags, warnings, insert id and info; of
a result set every column's definition.
"""

from pymysql import err
from pymysql.connections import MySQLResult
from pymysql.protocol import EOFPacketWrapper

_raise = err.raise_mysql_exception


def _raise_with_packet(data):
    """PyMySQL's own, with the ERR packet kept: its exceptions leave the SQLSTATE out."""
    try:
        _raise(data)
    except err.MySQLError as error:
        error.sqlstate = data[4:9].decode(errors="replace") if data[3:4] == b"#" else None
        raise


err.raise_mysql_exception = _raise_with_packet


def _keep_status_of_eof(self, packet):
    """PyMySQL's own, with the status flags kept, which it only looks at."""
    if not packet.is_eof_packet():
        return False
    end = EOFPacketWrapper(packet)
    self.warning_count, self.server_status, self.has_next = end.warning_count, end.server_status, end.has_next
    return True


MySQLResult._check_packet_is_eof = _keep_status_of_eof


def answers(connection, *statements):
    """What each statement was answered, in order; an error does not end the list."""
    return [(sql[:60], answer(connection, sql)) for sql in statements]


def answer(connection, sql):
    """All results of one statement, the last possibly an error."""
    seen = []
    try:
        connection.query(sql)
        while True:
            seen.append(result(connection._result))
            if not connection._result.has_next:
                return seen
            connection.next_result()
    except err.MySQLError as error:
        return [*seen, refusal(error)]


def values(seen):
    """The same answers without the columns' definitions."""
    return [(sql, [(part[1:] if isinstance(part[0], list) else part) for part in outcome]) for sql, outcome in seen]


def refusal(error):
    """An error's class, code, SQLSTATE and message."""
    return (type(error).__name__, error.args[0], getattr(error, "sqlstate", None), str(error.args[1:]))


def result(one):
    if one.description is None:
        return ("OK", one.affected_rows, one.insert_id, flags(one.server_status), one.warning_count, one.message)
    columns = [
        (
            f.catalog,
            f.db,
            f.table_name,
            f.org_table,
            f.name,
            f.org_name,
            f.charsetnr,
            f.length,
            f.type_code,
            f.flags,
            f.scale,
        )
        for f in one.fields
    ]
    return (columns, one.rows, flags(one.server_status), one.warning_count)


def flags(status):
    """The status without SLOW_WAS_SLOW, which is a matter of chance."""
    return None if status is None else status & ~0x0800
