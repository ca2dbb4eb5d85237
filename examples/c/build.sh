#!/bin/sh
# Makes C of the policy's core module, and the example with it: sh build.sh MODULE FOLDER
set -eu
mkdir -p "$2"
wasm2c "$1" -n plumb_policy -o "$2/policy.c"
# Add -O2 for speed; it takes minutes.
cc -O0 -w -I"$2" -o "$2/judge" judge.c "$2/policy.c" -lwasm-rt-impl -lm
