"""600 clients in Python that take every processor there is: at most 30 connections to the server at any moment.

On a machine that is short of processors every line is long, and a connection more only adds to it: `backend/shortage.rs`. Each client asks
for one row after the other without a pause. With `--pause` milliseconds between them, or fewer `--clients`, it shows what else there is.
"""

import argparse
import multiprocessing
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "drivers"))

from stage import Stage  # noqa: E402

CONNECTIONS_MAX = 30
ROWS = 1000


def client(way, until, pause_ms, counts, number):
    connection, asked = way.connect(), 0
    with connection, connection.cursor() as cursor:
        while time.time() < until:
            cursor.execute("SELECT v FROM busy.t WHERE id = %d" % (1 + (number * 7 + asked) % ROWS))
            cursor.fetchall()
            asked += 1
            if pause_ms:
                time.sleep(pause_ms / 1000)
    counts[number] = asked


def clients(way, count, until, pause_ms, sums):
    counts = [0] * count
    threads = [
        threading.Thread(target=client, args=(way, until, pause_ms, counts, number)) for number in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sums.put((sum(counts), counts.count(0)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--clients", type=int, default=600)
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--seconds", type=float, default=15)
    arguments.add_argument("--pause", type=float, default=0)
    chosen = arguments.parse_args()
    with Stage() as stage:
        for statement in (
            "CREATE DATABASE busy",
            "CREATE TABLE busy.t (id INT PRIMARY KEY, v VARCHAR(50))",
            f"INSERT INTO busy.t SELECT seq, CONCAT('v', seq) FROM seq_1_to_{ROWS}",
        ):
            stage.direct.rows(statement, database="mysql")
        until, sums = time.time() + chosen.seconds, multiprocessing.Queue()
        share = chosen.clients // chosen.processes
        started = [
            multiprocessing.Process(target=clients, args=(stage.proxy, share, until, chosen.pause, sums))
            for _ in range(chosen.processes)
        ]
        for process in started:
            process.start()
        most = 0
        while time.time() < until:
            time.sleep(0.5)
            ((now,),) = stage.admin.rows("SELECT SUM(ConnUsed + ConnFree) FROM stats_mysql_connection_pool")
            most = max(most, int(now))
        answers, idle = (sum(figures) for figures in zip(*(sums.get() for _ in started)))
        for process in started:
            process.join()
    print(f"{answers / chosen.seconds:.0f} statements a second, at most {most} connections, {idle} clients without an answer")
    is_well = most <= CONNECTIONS_MAX and idle == 0
    print("1 passed, 0 failed" if is_well else "0 passed, 1 failed")
    sys.exit(not is_well)


if __name__ == "__main__":
    main()
