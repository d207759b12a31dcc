#!/usr/bin/env python3
"""Check that every dependency's licence is on deny.toml's list, and that it comes from an allowed registry.

    tools/licences.py             check this workspace
    tools/licences.py --self-test check the check

A crate passes when its SPDX expression can be met with allowed licences alone. No licence field, or an expression that
cannot be read, fails. cargo-deny does the same and more; it takes minutes to build, and this takes a second.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def is_allowed(expression, allowed):
    """Whether the SPDX expression can be met with the allowed licences; ValueError when it cannot be read."""
    tokens = re.findall(r"\(|\)|[A-Za-z0-9.+-]+|\S", expression.replace("/", " OR "))
    met = _any_of(tokens, allowed)
    if tokens:
        raise ValueError(f"unexpected {tokens[0]!r}")
    return met


def _any_of(tokens, allowed):
    met = _all_of(tokens, allowed)
    while tokens and tokens[0].upper() == "OR":
        tokens.pop(0)
        met = _all_of(tokens, allowed) or met
    return met


def _all_of(tokens, allowed):
    met = _one(tokens, allowed)
    while tokens and tokens[0].upper() == "AND":
        tokens.pop(0)
        met = _one(tokens, allowed) and met
    return met


def _one(tokens, allowed):
    if not tokens:
        raise ValueError("it ends too early")
    token = tokens.pop(0)
    if token == "(":
        met = _any_of(tokens, allowed)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a parenthesis is not closed")
        return met
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", token) or token.upper() in ("OR", "AND", "WITH"):
        raise ValueError(f"unexpected {token!r}")
    if len(tokens) > 1 and tokens[0].upper() == "WITH":
        tokens.pop(0)
        token = f"{token} WITH {tokens.pop(0)}"
    return token in allowed


def complaints(package, policy):
    """What is wrong with one package of `cargo metadata`, each as a sentence."""
    name = f"{package['name']} {package['version']}"
    source = package["source"]
    if source is not None and source.removeprefix("registry+") not in policy["sources"]["allow-registry"]:
        yield f"{name}: comes from {source}, which deny.toml does not allow"
    expression = package["license"]
    if not expression:
        yield f"{name}: names no licence"
        return
    try:
        if not is_allowed(expression, policy["licenses"]["allow"]):
            yield f"{name}: {expression} is not on deny.toml's list"
    except ValueError as error:
        yield f"{name}: cannot read the licence {expression!r}: {error}"


def packages(targets):
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    for target in targets:
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]


def check(policy):
    found = packages(policy["graph"]["targets"])
    bad = [complaint for package in found for complaint in complaints(package, policy)]
    for complaint in bad:
        print(f"licences: {complaint}", file=sys.stderr)
    if bad:
        sys.exit(1)
    print(f"licences: {len(found)} packages, all allowed")


def self_test(policy):
    """Each row is (licence, whether it passes); shows that the check can fail."""
    registry = "registry+" + policy["sources"]["allow-registry"][0]
    rows = [
        ("MIT", True), ("MIT OR GPL-3.0-only", True), ("MIT/Apache-2.0", True), ("BSL-1.0", True),
        ("Apache-2.0 WITH LLVM-exception", True), ("(MIT OR AGPL-3.0) AND Unicode-3.0", True),
        ("GPL-3.0-only", False), ("AGPL-3.0-or-later", False), ("BUSL-1.1", False), ("MIT AND GPL-2.0-only", False),
        ("LGPL-2.1-or-later", False), ("Apache-2.0 WITH Some-exception", False), ("SSPL-1.0", False),
        (None, False), ("", False), ("MIT OR", False), ("(MIT", False), ("MIT MIT", False), ("Custom", False),
    ]
    for licence, passes in rows:
        package = {"name": "x", "version": "1", "source": registry, "license": licence}
        assert (not list(complaints(package, policy))) is passes, licence
    elsewhere = {"name": "x", "version": "1", "source": "git+https://example.org/x", "license": "MIT"}
    assert list(complaints(elsewhere, policy)), "a git source passes"
    print(f"licences: {len(rows) + 1} made-up packages judged rightly")


def main():
    policy = tomllib.loads((ROOT / "deny.toml").read_text())
    if sys.argv[1:] == ["--self-test"]:
        self_test(policy)
    elif not sys.argv[1:]:
        check(policy)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
