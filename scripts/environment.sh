# Sourced by the other scripts: makes .venv hold this project and the extras named, or leaves it as it is.
# Reaches for the network only when pyproject.toml, the constraints or the extras have changed.

fail() {
    printf 'chunkbench: %s\n' "$*" >&2
    exit 2
}

environment_key() {
    cat pyproject.toml scripts/constraints.txt | cksum | tr -d ' '
}

ready() {
    local extras=$1 python=${PYTHON:-python3} key stamp free
    key=$(environment_key)
    stamp=.venv/.chunkbench
    if [ -f "$stamp" ] && .venv/bin/python -c '' 2>/dev/null; then
        if [ "$(cat "$stamp")" = "$key dev" ] || [ "$(cat "$stamp")" = "$key $extras" ]; then
            return
        fi
    fi

    command -v "$python" >/dev/null || fail "there is no $python: install Python 3.11, 3.12 or 3.13, or name one: PYTHON=python3.11 bash $0"
    "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' ||
        fail "$python is $("$python" -V 2>&1); Python 3.11, 3.12 or 3.13 is needed: PYTHON=python3.11 bash $0"
    free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1024) }')
    [ "$free" -ge 4000 ] || fail "$free MB are free here and the environment needs 4,000: make room and run this again"

    printf 'Setting up .venv with %s (a few minutes, about 2 GB) …\n' "$("$python" -V)" >&2
    .venv/bin/python -c '' 2>/dev/null || { rm -rf .venv && "$python" -m venv .venv; } ||
        fail "could not make .venv: on Debian and Ubuntu, install the package python3-venv"
    rm -f "$stamp"
    PIP_CONSTRAINT=$PWD/scripts/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
        .venv/bin/python -m pip install --quiet --editable ".${extras:+[$extras]}" ||
        fail "the installation failed (see above): check the connection to the package registry and run this again"
    printf '%s %s' "$key" "$extras" >"$stamp"
}
