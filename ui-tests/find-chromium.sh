#!/bin/sh
# Prints the path of a Chromium: named by CHROMIUM_PATH, found on PATH, or installed by Debian's package manager.
set -eu

if [ -n "${CHROMIUM_PATH:-}" ]; then
  [ -x "$CHROMIUM_PATH" ] || { echo "CHROMIUM_PATH names no program: $CHROMIUM_PATH" >&2; exit 1; }
  echo "$CHROMIUM_PATH"
  exit
fi

find_chromium() {
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" && return
  done
  return 1
}

find_chromium && exit

if command -v apt-get >/dev/null; then
  as_root=""
  [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
  if $as_root true 2>/dev/null; then
    echo "Installing Chromium for the browser tests ..." >&2
    {
      $as_root apt-get update -q &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core
    } >&2 || true
    find_chromium && exit
  fi
fi

cat >&2 <<'END'
The browser tests need Chromium or Chrome, and none was found. Install one (on Debian, as root:
`apt-get install chromium`) or name one: CHROMIUM_PATH=/path/to/chromium make test
END
exit 1
