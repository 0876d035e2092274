#!/usr/bin/env bash
# What `kohort studio` adds to a release build, in seconds of CPU time (at most 90).
# Builds once without it and once with it, in a folder of its own, so that everything is built from nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${1:-target/studio-build}"
cpu() { # user and system time of a command, in seconds
  local TIMEFORMAT="%U %S"
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
without=$(cpu cargo build --release -p kohort-cli --no-default-features)
with=$(cpu cargo build --release -p kohort-cli)
echo "without the studio: $without CPU s; the studio adds: $with CPU s"
