"""The drivers: how each program is made ready, and its command. Whatever is fetched or built goes to .cache.

All versions are pinned: in package.json, requirements.txt, pom.xml, Cargo.lock and go.sum. PHP and the C library are
Debian's own.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
CACHE = HERE / ".cache"


@dataclass(frozen=True)
class Program:
    """`command` runs the scenario; `prepare` is called once before, with the others of its kind only once in all."""

    name: str
    prepare: Callable[[], None]
    command: tuple


class NotPrepared(Exception):
    """Why a driver could not be fetched or built, in one sentence and the end of what the tool said."""


def run(what, command, cwd, **environment):
    """What a tool prints; its words are shown only if it fails."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise NotPrepared(f"{what}: {error.filename} is not installed") from error
    if done.returncode:
        raise NotPrepared(f"{what} failed (exit {done.returncode}):\n" + "\n".join(done.stdout.splitlines()[-15:]))
    return done.stdout


def is_fresh(mark, *sources):
    """Whether `mark` was made after all of these were last changed."""
    return mark.exists() and all(mark.stat().st_mtime >= source.stat().st_mtime for source in sources)


def nothing():
    """Is there already: the runner itself needs it."""


def node():
    """npm's packages, as package-lock.json has them."""
    home, lock = CACHE / "node", HERE / "node/package-lock.json"
    mark = home / "node_modules/.package-lock.json"
    if not is_fresh(mark, lock):
        home.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            (home / name).write_bytes((HERE / "node" / name).read_bytes())
        run("npm ci for Node's drivers", ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], home)
        mark.touch()


def java():
    """Maven's jars, as pom.xml has them, and the class."""
    home = CACHE / "java"
    jars, classes = home / "jars", home / "classes"
    if not is_fresh(jars, HERE / "java/pom.xml"):
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
        maven = ["mvn", "-B", "-q", "-f", HERE / "java/pom.xml", goal, f"-DoutputDirectory={jars}"]
        run("mvn for Java's drivers", maven, HERE)
        jars.touch()
    sources = sorted((HERE / "java").glob("*.java"))
    if not is_fresh(classes / "Scenario.class", *sources):
        run("javac", ["javac", "--release", "17", "-d", classes, "-cp", f"{jars}/*", *sources], HERE)


def c():
    """The program against Debian's libmariadb."""
    program = CACHE / "c/libmariadb"
    if not is_fresh(program, HERE / "c/scenario.c"):
        program.parent.mkdir(parents=True, exist_ok=True)
        libraries = ["-I/usr/include/mariadb", "-lmariadb", "-lpthread", "-lcrypto"]
        run("cc", ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-o", program, HERE / "c/scenario.c", *libraries], HERE)


def rust():
    """Both programs; cargo knows what is fresh."""
    command = ["cargo", "build", "--locked", "--manifest-path", HERE / "rust/Cargo.toml"]
    run("cargo build for Rust's drivers", command, HERE / "rust", CARGO_TARGET_DIR=str(CACHE / "rust"))


def go():
    """The observer of tests/drivers, which is the scenario for Go."""
    command = ["go", "build", "-buildvcs=false", "-o", CACHE / "go/observer", "."]
    run("go build for Go's driver", command, HERE.parent / "tests/drivers/go")


def php():
    """Debian's php-cli and php-mysql."""
    run("PHP's mysqli", ["php", "-r", "exit(function_exists('mysqli_connect') ? 0 : 1);"], HERE)


JAVA = ("java", "-Xmx1g", "-cp", f"{CACHE}/java/classes:{CACHE}/java/jars/*", "Scenario")
NODE = {"NODE_PATH": str(CACHE / "node/node_modules")}
PHP = ("php", "-d", "mysqlnd.net_read_timeout=15", "-d", "mysqli.allow_local_infile=1", str(HERE / "php/scenario.php"))
PYTHON = (sys.executable, "-B", str(HERE / "python/scenario.py"))

PROGRAMS = [
    Program("pymysql", nothing, (*PYTHON, "pymysql")),
    Program("mysqlclient", nothing, (*PYTHON, "mysqlclient")),
    Program("connector-python", nothing, (*PYTHON, "connector-python")),
    Program("connector-python-c", nothing, (*PYTHON, "connector-python-c")),
    Program("node-mysql2", node, ("node", str(HERE / "node/scenario.js"), "mysql2")),
    Program("node-mariadb", node, ("node", str(HERE / "node/scenario.js"), "mariadb")),
    Program("connector-j", java, (*JAVA, "mysql")),
    Program("mariadb-j", java, (*JAVA, "mariadb")),
    Program("php-mysqli", php, (*PHP, "mysqli")),
    Program("php-pdo", php, (*PHP, "pdo")),
    Program("libmariadb", c, (str(CACHE / "c/libmariadb"),)),
    Program("sqlx", rust, (str(CACHE / "rust/debug/sqlx"),)),
    Program("mysql_async", rust, (str(CACHE / "rust/debug/mysql_async"),)),
    Program("go", go, (str(HERE / "go/scenario.sh"), str(CACHE / "go/observer"))),
]
