"""The mariadb command line through the proxy, compared with itself past it: what it prints and how it ends."""

import functools
import re
import subprocess

from binlog import is_read_alike
from stage import Stage
from verdict import Verdict

SETUP = (
    "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(50) COMMENT 'ä', d DATETIME(3), b BLOB);"
    "INSERT INTO a (s, d, b) VALUES ('é𝄞', '2024-02-29 12:00:00.125', X'00FF'), (NULL, NULL, NULL), ('a\\tb\\n"
    "c\\\\', NULL, '');"
)

# Name, options, standard input.
RUNS = [
    ("-e prints a result", ["-e", "SELECT * FROM a"], ""),
    (
        "-e takes several statements",
        [
            "-e",
            "SELECT 1; INSERT INTO a (s) VALUES ('x'); SELECT ROW_COUNT(); SELECT LAST_INSERT_ID(); "
            "SELECT COUNT(*) FROM a",
        ],
        "",
    ),
    ("-e ends with 1 at the first error", ["-e", "SELECT 1; SELEKT; SELECT 2"], ""),
    ("--force goes on after an error", ["--force", "-e", "SELECT 1; SELEKT; SELECT * FROM nowhere; SELECT 2"], ""),
    (
        "-vvv tells rows, warnings and times",
        ["-vvv", "-e", "SELECT * FROM a; UPDATE a SET s = 'y' WHERE id = 1; SELECT CAST('x' AS INT); DO 1/0"],
        "",
    ),
    (
        "--show-warnings shows them",
        [
            "--show-warnings",
            "-vvv",
            "-e",
            "SET sql_mode=''; INSERT INTO a (d) VALUES ('never'); SELECT 1; DROP TABLE IF EXISTS nowhere",
        ],
        "",
    ),
    ("--table draws a table", ["--table", "-e", "SELECT * FROM a"], ""),
    ("--vertical, --xml and --html print the same", ["--vertical", "-e", "SELECT * FROM a"], ""),
    ("--xml prints the same", ["--xml", "-e", "SELECT * FROM a"], ""),
    ("--html prints the same", ["--html", "-e", "SELECT * FROM a"], ""),
    (
        "--column-type-info shows all metadata",
        ["--column-type-info", "-e", "SELECT a.*, 1 AS one, 'x', NULL, NOW(3) > 0 FROM a"],
        "",
    ),
    ("--quick reads row by row", ["--quick", "-N", "-e", "SELECT seq, REPEAT('q', seq % 100) FROM seq_1_to_50000"], ""),
    (
        "a batch from standard input",
        ["-N"],
        "SELECT 1;\nCREATE TABLE c (n INT);\nINSERT INTO c VALUES (1),\n  (2);\n-- comment\nSELECT * FROM c;\n",
    ),
    ("a batch stops at an error and names its line", [], "SELECT 1;\n\nSELECT nowhat;\nSELECT 2;\n"),
    (
        "DELIMITER, procedures and their results",
        [],
        "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; SELECT 'zwei'; SELECT * FROM a; END//\nCALL p()//\n"
        "DELIMITER ;\nSELECT 'next';\n",
    ),
    ("source reads a file", ["-e", "source {dir}/script.sql"], ""),
    (
        "transactions in a batch",
        [],
        "SET autocommit=0; INSERT INTO a (s) VALUES ('r'); ROLLBACK; SELECT COUNT(*) FROM a; BEGIN;"
        "INSERT INTO a (s) VALUES ('c'); COMMIT; SELECT COUNT(*) FROM a;\n",
    ),
    (
        "use changes the schema",
        ["--no-auto-rehash"],
        "SELECT DATABASE();\nuse information_schema\nSELECT DATABASE();\nUSE t;\nSELECT COUNT(*) FROM a;\nuse nodb\n",
    ),
    (
        "character sets of the option",
        ["--default-character-set=latin1", "-e", "SELECT s, HEX(s), 'z', @@character_set_results FROM a"],
        "",
    ),
    (
        "\\C changes the character set",
        [],
        "\\C latin1\nSELECT s FROM a;\n\\C utf8mb4\nSELECT s, @@character_set_client FROM a;\n",
    ),
    ("binary values by --binary-as-hex", ["--binary-as-hex", "-e", "SELECT b FROM a"], ""),
    (
        "a statement of 17 MB and its result",
        ["-N", "--max-allowed-packet=64M"],
        "SELECT MD5('" + "m" * (17 << 20) + "');\nSELECT REPEAT('z', 17*1024*1024);\n",
    ),
    ("300,000 rows", ["-N", "-e", "SELECT seq, 'row', NULL FROM seq_1_to_300000"], ""),
    (
        "SHOW statements",
        [
            "-e",
            "SHOW TABLES; SHOW CREATE TABLE a; SHOW FULL COLUMNS FROM a; SHOW INDEX FROM t.a; "
            "SHOW VARIABLES LIKE 'version%';"
            "SHOW DATABASES; SHOW GRANTS; SHOW COLLATION LIKE 'utf8mb4_g%'; SHOW ENGINES; HELP 'SELECT'",
        ],
        "",
    ),
    ("--init-command acts", ["--init-command=SET @i = 7", "-e", "SELECT @i"], ""),
    ("--safe-updates acts", ["--safe-updates", "-e", "DELETE FROM a"], ""),
    ("--compress is agreed on or left out", ["--compress", "-N", "-e", "SELECT REPEAT('c', 100000)"], ""),
    (
        "LOAD DATA LOCAL leaves the session in step",
        ["--force", "--local-infile=0"],
        "LOAD DATA LOCAL INFILE '/dev/null' INTO TABLE a;\nSELECT 'in step';\n",
    ),
]

# What differs by its nature: times, and the thread's number.
VOLATILE = [
    (re.compile(pattern), with_)
    for pattern, with_ in (
        (rb"\(?\b\d+\.\d{3} sec\)?", b"(time)"),
        (rb"(Connection id:\s+)\d+", rb"\1N"),
        (rb"(TCP port:\s+)\d+", rb"\1N"),
        (rb"Uptime:[^\n]*\s+Threads:[^\n]*", b"(statistics)"),
        (rb"'127\.0\.0\.1'", b"'localhost'"),
        (rb"@127\.0\.0\.1", b"@localhost"),
        # The proxy offers TLS, the lab's MariaDB has none.
        (rb"SSL:[^\r\n]*", b"(SSL)"),
    )
]


class CommandLine:
    """The mariadb program; its login is in an option file."""

    def __init__(self, stage):
        self.stage = stage
        (stage.dir / "script.sql").write_text(
            "SELECT 'from a file';\nINSERT INTO a (s) VALUES ('file');\nSELECT COUNT(*) FROM a;\n"
        )

    def run(self, way, options, text, schema=("-D", "t")):
        """Exit status, standard output, standard error, without what must differ."""
        options = [option.replace("{dir}", str(self.stage.dir)) for option in options]
        done = subprocess.run(
            ["mariadb", f"--defaults-file={way.option_file}", "--default-character-set=utf8mb4", *schema, *options],
            input=text.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return [
            done.returncode,
            *cleaned(done.stdout).splitlines(),
            "standard error:",
            *cleaned(done.stderr).splitlines(),
        ]

    def after_setup(self, options, text, way):
        """One run in a schema that the command line has filled, the same way in."""
        setup = self.run(way, [], SETUP)
        assert setup == [0, "standard error:"], setup
        return self.run(way, options, text)

    def on_a_terminal(self, way):
        """With completion: `use` asks for all tables and, by COM_FIELD_LIST, for their columns."""
        self.run(way, [], SETUP + "CREATE TABLE wide (" + ", ".join(f"c{n} INT DEFAULT {n}" for n in range(300)) + ");")
        script = "use information_schema\nuse t\nSELECT COUNT(*) FROM a;\n\\s\nSELEKT;\nSELECT 'é';\n\\u mysql\nSELECT DATABASE();\nquit\n"
        command = f"mariadb --defaults-file={way.option_file} --default-character-set=utf8mb4 --auto-rehash -D t --prompt='> '"
        done = subprocess.run(
            ["script", "-qec", command, "/dev/null"],
            input=script.encode(),
            capture_output=True,
            timeout=60,
            env={"TERM": "dumb", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self.stage.dir)},
            check=False,
        )
        printed = cleaned(done.stdout)
        for needed in (b"Database changed", b"Current database:", b"|        3 |", b"ERROR 1064"):
            assert needed in printed, printed.decode(errors="replace")
        greeting = printed.index(b"Your M")
        return [done.returncode, *printed[printed.index(b"\n", greeting) :].splitlines()]

    def logins(self, way):
        """A wrong password, an unknown user, an unknown schema, none."""
        seen = self.run(way, ["-e", "SELECT 1"], "", schema=("nodb",))
        for options in (["--password=wrong"], ["--user=nobody"], ["-e", "SELECT DATABASE(), CURRENT_USER() <> ''"]):
            seen += self.run(way, options, "", schema=())
        return seen

    def admin_program(self, way):
        """mariadb-admin's commands that a proxy can answer."""
        seen = []
        for command in ("ping", "status", "version"):
            done = subprocess.run(
                ["mariadb-admin", f"--defaults-file={way.option_file}", command],
                capture_output=True,
                timeout=60,
                check=False,
            )
            seen += [command, done.returncode, cleaned(done.stdout).split(b"\n")[0].split(b":")[0][:20]]
        return seen

    def dump(self, way):
        """mariadb-dump in one transaction, and the dump read back."""
        self.run(
            way,
            [],
            SETUP
            + "CREATE VIEW v AS SELECT id FROM a; CREATE TRIGGER g BEFORE INSERT ON a FOR EACH ROW SET NEW.s = 'g';"
            "CREATE TABLE big AS SELECT seq, REPEAT('d', 1000) AS t FROM seq_1_to_20000;",
        )
        done = subprocess.run(
            [
                "mariadb-dump",
                f"--defaults-file={way.option_file}",
                "--single-transaction",
                "--routines",
                "--triggers",
                "--skip-dump-date",
                "--hex-blob",
                "t",
            ],
            capture_output=True,
            timeout=60,
            check=False,
        )
        self.stage.fresh_schema()
        back = subprocess.run(
            ["mariadb", f"--defaults-file={way.option_file}", "-D", "t"],
            input=done.stdout,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return [
            done.returncode,
            cleaned(done.stderr),
            hash(done.stdout),
            back.returncode,
            back.stderr,
            *self.run(way, ["-e", "CHECKSUM TABLE a, big; SELECT * FROM v; SHOW TRIGGERS LIKE 'nothing'"], ""),
        ]


def cleaned(output):
    for pattern, with_ in VOLATILE:
        output = pattern.sub(with_, output)
    return output


def cached(stage, command_line):
    """The same -e often, with a rule; another client, of other capabilities, was there before."""
    stage.fresh_schema()
    command_line.run(stage.direct, [], SETUP)
    stage.set_rules({"match_digest": "^SELECT id,s FROM a", "cache_ttl": 60000})
    sql = "SELECT id, s FROM a"
    truth = command_line.run(stage.direct, ["--table", "-e", sql], "")
    stage.proxy.rows(sql, database="t")
    before = stage.statistic("Query_Cache_count_GET_OK")
    seen = [command_line.run(stage.proxy, ["--table", "-e", sql], "") for _ in range(3)]
    hits = stage.statistic("Query_Cache_count_GET_OK") - before
    stage.set_rules()
    return (hits >= 2 and seen == [truth] * 3) or (hits, truth, seen)


with Stage() as stage:
    verdict = Verdict(stage)
    command_line = CommandLine(stage)
    for name, options, text in RUNS:
        verdict.same(name, functools.partial(command_line.after_setup, options, text))
    verdict.same("a terminal: completion, status, errors", command_line.on_a_terminal)
    verdict.same("logins are taken and refused alike", command_line.logins)
    verdict.same("mariadb-admin is answered", command_line.admin_program)
    verdict.same("mariadb-dump dumps, and the dump loads", command_line.dump)
    remote = ["--read-from-remote-server"]
    verdict.claim("mariadb-binlog reads to the end", functools.partial(is_read_alike, "mariadb-binlog", [remote], stage))
    verdict.claim("the second SELECT is a hit", functools.partial(cached, stage, command_line))
    verdict.end(questions_min=100)
