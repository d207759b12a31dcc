#!/bin/bash
# The scenario for Go's driver: every check of tests/drivers/go, each as one step, in an empty schema.
#   scenario.sh OBSERVER
set -uo pipefail
export OBSERVE_ADDRESS=$DB_HOST:$DB_PORT OBSERVE_USER=$DB_USER OBSERVE_PASSWORD=$DB_PASSWORD
export MYSQL_PWD=$DB_PASSWORD
seconds_max=40

fresh_schema() {
  mariadb -h "$DB_HOST" -P "$DB_PORT" -u "$DB_USER" --skip-ssl -e 'DROP DATABASE IF EXISTS t; CREATE DATABASE t'
}

"$1" list | while read -r name; do
  fresh_schema || exit 1
  if seen=$(timeout "$seconds_max" "$1" "$name" 2>&1 < /dev/null); then outcome=""; else outcome="raised "; fi
  seen=${seen//\\/\\\\}
  seen=${seen//$'\n'/\\n}
  printf '%s\t%s%s\n' "$name" "$outcome" "${seen//$'\t'/\\t}"
done
