#!/bin/bash
# Go's database/sql through the proxy, against a server of its own. Needs what `make deps` installs, and the program in $NUTHATCH.
exec /usr/bin/python3 -B "$(dirname "$0")/go_suite.py" "$@"
