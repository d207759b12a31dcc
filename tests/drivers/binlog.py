"""A binlog read to its end over the network: what the server's own program prints, directly and through the proxy."""

import subprocess


def is_read_alike(program, ways, stage):
    """`program` with each of the options; the log is one that nobody writes to any more."""
    stage.direct.rows("CREATE DATABASE IF NOT EXISTS logged")
    stage.direct.rows("CREATE TABLE IF NOT EXISTS logged.t (a INT, b LONGTEXT)")
    for number in range(30):
        stage.direct.rows(f"INSERT INTO logged.t VALUES ({number}, REPEAT('x', {number} * 30000))")
    log = stage.direct.rows("SHOW BINARY LOGS")[-1][0]
    stage.direct.rows("FLUSH BINARY LOGS")
    for options in ways:
        direct, proxied = (read(program, way, log, options) for way in (stage.direct, stage.proxy))
        if direct != proxied or direct[0] != 0 or len(direct[1]) < 1_000_000:
            return options, [(code, len(said), complaint) for code, said, complaint in (direct, proxied)]
    return True


def read(program, way, log, options):
    """Exit status, what is printed, what is complained of; without the thread, which each connection has of its own."""
    done = subprocess.run(
        [program, f"--defaults-file={way.option_file}", *options, log], capture_output=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr
