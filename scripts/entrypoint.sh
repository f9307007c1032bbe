#!/bin/sh
# A container's entrypoint: `entrypoint.sh replay smoke-1k …` runs perfq in its place, so that signals reach perfq.
# perfq is $PERFQ_PYZ, else perfq.pyz beside this file, else `perfq` on PATH. Where the home folder cannot be written
# (a read-only image, an arbitrary user id) SHIV_ROOT is set to a folder of this user's own under ${TMPDIR:-/tmp}.
set -eu
here=$(dirname "$0")
pyz=${PERFQ_PYZ:-}
if [ -z "$pyz" ] && [ -f "$here/perfq.pyz" ]; then pyz=$here/perfq.pyz; fi
[ -n "$pyz" ] || exec perfq "$@"

if [ -z "${SHIV_ROOT:-}" ] && { [ -z "${HOME:-}" ] || ! mkdir -p "$HOME/.shiv" 2>/dev/null || [ ! -w "$HOME/.shiv" ]; }; then
  SHIV_ROOT=${TMPDIR:-/tmp}/perfq-$(id -u)
  export SHIV_ROOT
  # A folder that someone else made there could hold someone else's code. (dash, busybox and bash all have -O.)
  mkdir -m 700 "$SHIV_ROOT" 2>/dev/null || true
  # shellcheck disable=SC3067
  if [ ! -O "$SHIV_ROOT" ] || [ -L "$SHIV_ROOT" ]; then
    echo "perfq: $SHIV_ROOT cannot be made or belongs to another user; set SHIV_ROOT to a folder of your own" >&2
    exit 78
  fi
fi
exec python3 "$pyz" "$@"
