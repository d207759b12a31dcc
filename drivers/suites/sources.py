"""Where the suites come from: fetched below .cache in pinned versions, by the clients of their registries."""

import json
import re
import shutil
import sys
from pathlib import Path

from programs import CACHE, NotPrepared, is_fresh, run

HOME = CACHE / "suites"
HERE = Path(__file__).resolve()
SCENARIO = HERE.parent.parent / "rust/Cargo.toml"

# Debian 12's Go is older than what the driver wants since 1.8.
GO_DRIVER, GO_DRIVER_FOR_OLD_GO = "v1.9.3", "v1.7.1"
PYMYSQL = "1.1.1"
# Version and SHA-256 of PyPI's source archives.
MYSQLCLIENT = "2.2.7", "24ae22b59416d5fcce7e99c9d37548350b4565baac82f95e149cac6ce4163845"
SQLALCHEMY = "2.0.44", "0ae7454e1ab1d780aee69fd2aae7d6b8670a581d8847f2d1e0f7ddfbf47e5a22"
DJANGO = "5.2.8", "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f"


def go():
    """The module of Go's proxy, which holds its tests, and the program made of them."""
    home = HOME / "go"
    program = home / "mysql.test"
    if is_fresh(program, HERE):
        return
    said = run("go version", ["go", "version"], HOME)
    version = tuple(int(number) for number in re.search(r"go(\d+)\.(\d+)", said).groups())
    module = "github.com/go-sql-driver/mysql@" + (GO_DRIVER if version >= (1, 21) else GO_DRIVER_FOR_OLD_GO)
    fresh(home)
    run("go mod download", ["go", "mod", "download", module], HOME)
    modules = run("go env", ["go", "env", "GOMODCACHE"], HOME).strip()
    shutil.copytree(Path(modules) / module, home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    run("go test -c", ["go", "test", "-c", "-o", program, "."], home)


def pymysql():
    """The upstream source as Debian has it: PyPI's archive lacks the tests."""
    home = HOME / "pymysql"
    if is_fresh(home / "fetched", HERE):
        return
    fresh(home)
    source = debian_source("trixie", "python-pymysql", f"python-pymysql_{PYMYSQL}.orig.tar.xz")
    unpack(source, home)


def mysqlclient():
    """PyPI's archive; what is tested is the one in the environment."""
    from_pypi("mysqlclient", *MYSQLCLIENT)


def sqlalchemy():
    """PyPI's archive, which is also what is tested."""
    from_pypi("sqlalchemy", *SQLALCHEMY)


def django():
    """PyPI's archive, which is also what is tested."""
    from_pypi("django", *DJANGO)


def from_pypi(name, version, sha256):
    home = HOME / name
    if is_fresh(home / "fetched", HERE):
        return
    fresh(home)
    wanted = home / "wanted.txt"
    wanted.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", name]
    run("pip download", [*pip, "--require-hashes", "-d", home, "-r", wanted], HOME)
    unpack(home / f"{name}-{version}.tar.gz", home)


def php():
    """The tests of mysqli, and what runs them, in PHP's source as Debian has it."""
    of_debian("php", "bookworm", "php8.2", "php8.2_*.orig.tar.xz", "*/ext/mysqli/tests/*", "*/run-tests.php")


def dbd_mariadb():
    """The upstream source as Debian has it; what is tested is Debian's package."""
    of_debian("dbd-mariadb", "bookworm", "libdbd-mariadb-perl", "libdbd-mariadb-perl_*.orig.tar.gz")


def of_debian(name, suite, package, archive, *parts):
    """All of a package's original archive, or some parts of it."""
    home = HOME / name
    if is_fresh(home / "fetched", HERE):
        return
    fresh(home)
    unpack(debian_source(suite, package, archive), home, *parts)


def mysql_async():
    """The crate that the scenario's Cargo.lock names, and the program made of its tests."""
    home = HOME / "mysql_async"
    program = home / "mysql_async.test"
    if is_fresh(program, HERE, SCENARIO):
        return
    fresh(home)
    said = run("cargo metadata", ["cargo", "metadata", "-q", "--format-version=1", "--locked", "--manifest-path", SCENARIO], HOME)
    packages = json.loads(said[said.index("{") :])["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == "mysql_async")
    shutil.copytree(Path(manifest).parent, home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    with (home / "Cargo.toml").open("a") as own:
        own.write("\n[workspace]\n")
    features = ["--no-default-features", "--features", "minimal,native-tls-tls"]
    build = ["cargo", "test", "-q", "--locked", "--lib", "--no-run", "--message-format=json", *features]
    said = run("cargo test --no-run", build, home, CARGO_TARGET_DIR=str(CACHE / "rust"))
    executable = re.search(r'"executable":"([^"]+)"', said)[1]
    shutil.copy(executable, program)


def fresh(home):
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)


def unpack(archive, home, *parts):
    """Without the archive's own top directory; `fetched` is made last."""
    options = ["--strip-components=1", "--no-same-owner", "--wildcards"]
    run("tar", ["tar", "-xf", archive, "-C", home, *options, *parts], home)
    (home / "fetched").touch()


def debian_source(suite, package, archive):
    """The path of a package's original archive, fetched by apt from its mirror without touching the system's lists."""
    home = HOME / "apt"
    fresh(home)
    (home / "lists/partial").mkdir(parents=True)
    (home / "archives/partial").mkdir(parents=True)
    (home / "status").touch()
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (home / "sources.list").write_text(f"deb-src [signed-by={key}] {mirror()} {suite} main\n")
    options = {
        "Dir::Etc::sourcelist": home / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": home,
        "Dir::State::Lists": home / "lists",
        "Dir::State::status": home / "status",
        "Dir::Cache": home,
        "Debug::NoLocking": 1,
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
    }
    get = ["apt-get", "-q", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    run("apt-get update", [*get, "update"], home)
    run("apt-get source", [*get, "source", "--tar-only", "--download-only", package], home)
    if not (found := sorted(home.glob(archive))):
        raise NotPrepared(f"{suite} has no {archive} any more, but {[path.name for path in home.glob('*.orig.*')]}")
    return found[0]


def mirror():
    """The Debian mirror of this machine's apt."""
    for path in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]:
        if path.is_file() and (found := re.search(r"^(?:URIs:|deb\b(?: \[[^]]*\])?) +(\S+/debian)/?(?:\s|$)", path.read_text(), re.M)):
            return found[1]
    raise NotPrepared("there is no Debian mirror in apt's sources")
