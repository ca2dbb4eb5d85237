#!/bin/sh
# Judges a Kubernetes object by the command line of wasmtime: sh judge.sh COMPONENT OBJECT.json
set -eu
# A request is a text within a text: backslashes and quotes are escaped.
request=$(printf '{"check":{"object":%s}}' "$(tr -d '\n' <"$2")" | sed 's/[\\"]/\\&/g')
exec "${WASMTIME:-wasmtime}" run --invoke "evaluate-json(\"$request\")" "$1"
