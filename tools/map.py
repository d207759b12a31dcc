#!/usr/bin/env python3
"""Holds the map of the code to what it promises: ARCHITECTURE.md stays short, its lines and those of docs/design do not run over, and
each source file that they name is there."""

import pathlib
import re
import sys

MAP = "ARCHITECTURE.md"
BYTES_MAX = 15 * 1024
COLUMNS_MAX = 140
SOURCES = ["", "crates/nuthatch-proxy/src/", "crates/nuthatch/src/", "crates/nuthatch-proxy/", "crates/nuthatch-source/src/"]


def complaints(path: pathlib.Path, files: set[str]) -> list[str]:
    text = path.read_text()
    found = []
    if path.name == MAP and len(text.encode()) > BYTES_MAX:
        found.append(f"{path}: {len(text.encode())} bytes, at most {BYTES_MAX}: move what is no map to docs/design")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS_MAX and not line.startswith("|"):
            found.append(f"{path}:{number}: {len(line)} columns, at most {COLUMNS_MAX}")
        for named in re.findall(r"`([a-z_./-]+/[a-z_]+\.rs)`", line):
            if not any(source + named in files for source in SOURCES) and not any(f.endswith("/" + named) for f in files):
                found.append(f"{path}:{number}: {named} is not there")
    return found


def main() -> int:
    files = {str(path) for folder in ("crates", "bench", "tools") for path in pathlib.Path(folder).rglob("*.rs")}
    pages = [pathlib.Path(MAP), *sorted(pathlib.Path("docs/design").glob("*.md"))]
    lines = [line for page in pages for line in complaints(page, files)]
    print("\n".join([*lines, f"map: {len(pages)} pages, {len(lines)} faults"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
