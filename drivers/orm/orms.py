"""The suites of the ORMs: how each is told where to connect, which part of it is quick, and what its output means."""

import sys
import xml.etree.ElementTree as xml
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import sources
from sources import HOME
from suites import Suite

HERE = Path(__file__).resolve().parent
SCHEMAS = {"django": ("django", "django_other"), "sqlalchemy": ("test", "test_schema", "test_schema_2")}

# Of Django's: what asks and writes in most ways, in about a minute.
DJANGO_PART = """aggregation aggregation_regress annotations backends basic bulk_create custom_lookups dates defer delete
distinct_on_fields expressions expressions_case expressions_window extra_regress force_insert_update foreign_object
generic_relations get_or_create introspection known_related_objects lookup m2m_recursive m2m_through many_to_many many_to_one
model_inheritance null_queries one_to_one ordering pagination prefetch_related queries raw_query reverse_lookup
select_for_update select_related transaction_hooks transactions update update_only_fields""".split()
# What its own runner leaves out as well; what wants other databases' libraries; what only starts some hundred programs.
DJANGO_LEFT_OUT = {"import_error_package", "test_runner_apps", "gis_tests", "admin_scripts"}
# So many at once: each run has the tables of its own only, so that a flush is short.
DJANGO_APPS_AT_ONCE = 16

# Of SQLAlchemy's: the dialect, and how the core and the ORM ask and write.
SQLALCHEMY_PART = """test/dialect/mysql test/sql/test_query.py test/sql/test_insert_exec.py test/engine/test_transaction.py
test/engine/test_execute.py test/orm/test_query.py test/orm/test_unitofwork.py test/orm/test_transaction.py
test/orm/test_lazy_relations.py test/orm/test_eager_relations.py test/orm/inheritance/test_basic.py test/orm/dml""".split()
# All but aaa_profiling, which counts calls of Python's.
SQLALCHEMY_ALL = """test/dialect test/engine test/sql test/base test/ext test/orm/declarative test/orm/dml test/orm/inheritance
test/orm/test_[a-d]*.py test/orm/test_[e-l]*.py test/orm/test_[m-r]*.py test/orm/test_[s-z]*.py""".split()


@dataclass(frozen=True)
class Orm:
    """`pieces(is_part)` is called when the suite is there, and gives what runs one after the other. Of its SELECTs, so many percent must be
    judged cacheable."""

    name: str
    prepare: Callable
    pieces: Callable
    percent_min: int


def django(is_part):
    tests = HOME / "django/tests"
    apps = [path.parent.name for path in sorted(tests.glob("*/__init__.py")) if path.parent.name not in DJANGO_LEFT_OUT]
    if is_part:
        return [django_piece("django", DJANGO_PART)]
    starts = range(0, len(apps), DJANGO_APPS_AT_ONCE)
    return [django_piece(f"django-{apps[at]}", apps[at : at + DJANGO_APPS_AT_ONCE]) for at in starts]


def django_piece(name, apps):
    home = HOME / "django"

    def start(way, dir):
        (dir / "ends").unlink(missing_ok=True)
        environment = account(way) | {"PYTHONPATH": f"{HERE}:{home}", "ORM_ENDS": str(dir / "ends")}
        command = [sys.executable, "-B", "runtests.py", "--settings=django_settings", "--parallel=1", "--noinput"]
        return [*command, *apps], environment, home / "tests"

    def read(dir, _):
        path = dir / "ends"
        lines = [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []
        return numbered([(name, end) for end, name in lines])

    return Suite(name, sources.django, start, read)


def sqlalchemy(is_part):
    if is_part:
        return [sqlalchemy_piece("sqlalchemy", SQLALCHEMY_PART)]
    home = HOME / "sqlalchemy"
    return [
        sqlalchemy_piece("sqlalchemy-" + glob.removeprefix("test/").replace("/", "-"), sorted(map(str, home.glob(glob))))
        for glob in SQLALCHEMY_ALL
    ]


def sqlalchemy_piece(name, paths):
    home = HOME / "sqlalchemy"

    def start(way, dir):
        url = f"mysql+mysqldb://{way.user}:{way.password}@127.0.0.1:{way.port}/test?charset=utf8mb4"
        (dir / "tests.xml").unlink(missing_ok=True)
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:logging", f"--junitxml={dir}/tests.xml", "--maxfail=10000"]
        command = [sys.executable, "-B", "-m", "pytest", *options, "--dburi", url, *paths]
        return command, account(way) | {"PYTHONPATH": str(home / "lib")}, home

    def read(dir, _):
        path = dir / "tests.xml"
        return numbered([ended(case) for case in xml.parse(path).iter("testcase")] if path.exists() else [])

    return Suite(name, sources.sqlalchemy, start, read)


def ended(case):
    marks = {child.tag for child in case}
    end = "failed" if marks & {"failure", "error"} else "skipped" if "skipped" in marks else "passed"
    return f"{case.get('classname')}.{case.get('name')}", end


def account(way):
    return {"ORM_PORT": str(way.port), "ORM_USER": way.user, "ORM_PASSWORD": way.password}


def numbered(tests):
    """With a number behind each name that comes again."""
    seen, all_of = Counter(), []
    for name, end in tests:
        seen[name] += 1
        all_of.append((name if seen[name] == 1 else f"{name} #{seen[name]}", end))
    return all_of


ORMS = {"django": Orm("django", sources.django, django, 95), "sqlalchemy": Orm("sqlalchemy", sources.sqlalchemy, sqlalchemy, 85)}
