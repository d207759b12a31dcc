"""The three drivers, each as one class with the same methods, as far as the driver has them."""

import os

HOST = os.environ["DB_HOST"]
PORT = int(os.environ["DB_PORT"])
USER = os.environ["DB_USER"]
PASSWORD = os.environ["DB_PASSWORD"]
SCHEMA = os.environ["DB_NAME"]


def login(settings):
    """The settings of a connection that all three spell alike."""
    return {"host": HOST, "port": PORT, "user": USER, "password": PASSWORD, "database": SCHEMA} | settings


class PyMySql:
    """PyMySQL: all in Python, text protocol only."""

    prepares = resets = changes_user = False
    # Steps in which the driver raises by its own fault, whatever the server.
    own_faults = ()

    def __init__(self):
        import pymysql
        from pymysql.constants import CLIENT

        self.module, self.several, self.streamed = pymysql, CLIENT.MULTI_STATEMENTS, pymysql.cursors.SSCursor
        self.found_rows = {"client_flag": CLIENT.FOUND_ROWS}
        self.compressed = None
        self.errors = pymysql.err.Error

    def open(self, autocommit=True, ca=None, **settings):
        if ca:
            settings["ssl"] = {"ca": ca, "check_hostname": False}
        settings = {"charset": "utf8mb4", "client_flag": self.several, "max_allowed_packet": 64 << 20} | settings
        return self.module.connect(autocommit=autocommit, **login(settings))

    def error(self, error):
        return tuple(error.args)

    def streaming(self, connection):
        return connection.cursor(self.streamed)

    def set_autocommit(self, connection, autocommit):
        connection.autocommit(autocommit)

    def warnings(self, connection, cursor):
        return connection.show_warnings()

    def thread_id(self, connection):
        return connection.thread_id()

    def is_encrypted(self, connection):
        return connection._secure

    def has_ended(self, connection):
        return not connection.open


class MySqlClient(PyMySql):
    """mysqlclient (MySQLdb), over the C library."""

    changes_user = True

    def __init__(self):
        import MySQLdb
        import MySQLdb.cursors
        from MySQLdb.constants import CLIENT

        self.module, self.several, self.streamed = MySQLdb, CLIENT.MULTI_STATEMENTS, MySQLdb.cursors.SSCursor
        self.found_rows = {"client_flag": CLIENT.FOUND_ROWS}
        self.compressed = {"compress": 1}
        self.errors = MySQLdb.Error

    def open(self, autocommit=True, ca=None, **settings):
        if ca:
            settings |= {"ssl": {"ca": ca}, "ssl_mode": "REQUIRED"}
        settings = {"charset": "utf8mb4", "client_flag": self.several, "local_infile": 0} | settings
        settings["local_infile"] = int(settings["local_infile"])
        return self.module.connect(autocommit=autocommit, **login(settings))

    def change_user(self, connection, user, password, database):
        connection.change_user(user, password, database)
        return "changed"

    def warnings(self, connection, cursor):
        return connection.warning_count(), connection.show_warnings()

    def is_encrypted(self, connection):
        return bool(connection.get_ssl_cipher()) if hasattr(connection, "get_ssl_cipher") else "unknown"

    def has_ended(self, connection):
        return refuses(connection.ping, self.errors)


class ConnectorPython:
    """mysql-connector-python: its part in Python, or its C extension."""

    prepares = resets = changes_user = True

    def __init__(self, pure):
        import mysql.connector
        from mysql.connector.constants import ClientFlag

        self.module, self.pure = mysql.connector, pure
        # It reads four bytes of a YEAR in Python; in C it keeps the columns of the first execution.
        self.own_faults = ("binary YEAR",) if pure else ("prepared, table altered between",)
        self.found_rows = {"client_flags": [ClientFlag.FOUND_ROWS]}
        self.compressed = {"compress": True}
        self.errors = mysql.connector.Error
        if not pure:
            import _mysql_connector

            self.errors = (mysql.connector.Error, _mysql_connector.MySQLInterfaceError)

    def open(self, autocommit=True, ca=None, local_infile=False, **settings):
        settings |= {"ssl_ca": ca} if ca else {"ssl_disabled": True}
        settings = {"charset": "utf8mb4", "allow_local_infile": local_infile, "read_timeout": 20} | settings
        return self.module.connect(autocommit=autocommit, use_pure=self.pure, **login(settings))

    def error(self, error):
        return error.errno, error.sqlstate, error.msg

    def streaming(self, connection):
        return connection.cursor(buffered=False)

    def set_autocommit(self, connection, autocommit):
        connection.autocommit = autocommit

    def prepared(self, connection):
        return connection.cursor(prepared=True)

    def change_user(self, connection, user, password, database):
        connection.cmd_change_user(user, password, database)
        return "changed"

    def reset(self, connection):
        connection.cmd_reset_connection()
        return "reset"

    def warnings(self, connection, cursor):
        cursor.execute("SHOW WARNINGS")
        return cursor.fetchall()

    def thread_id(self, connection):
        return connection.connection_id

    def is_encrypted(self, connection):
        return bool(connection.is_secure)

    def has_ended(self, connection):
        return not connection.is_connected()


def refuses(call, errors):
    """Whether it raises one of these."""
    try:
        call()
    except errors:
        return True
    return False


ADAPTERS = {
    "pymysql": PyMySql,
    "mysqlclient": MySqlClient,
    "connector-python": lambda: ConnectorPython(pure=True),
    "connector-python-c": lambda: ConnectorPython(pure=False),
}
