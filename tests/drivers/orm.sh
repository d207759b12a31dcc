#!/bin/bash
# A good part of the test suites of Django and SQLAlchemy, directly and through the proxy with its query cache on (`make orm-suites`
# runs all), against a server of its own. What it needs is installed where it is missing. The program is in $NUTHATCH.
exec "$(dirname "$0")/../../drivers/run.sh" orm --part --server mariadb "$@"
