#!/bin/sh
# Installs etwkit for this user: downloads the archive for this machine, checks its sum, and unpacks it.
#
#   sh install.sh [FOLDER]      the program goes to FOLDER, or to ~/.local/bin
#
# ETWKIT_RELEASES_URL names other releases than those that this file came with, ETWKIT_VERSION another version.
set -eu

releases=${ETWKIT_RELEASES_URL:-@RELEASES@}
version=${ETWKIT_VERSION:-@VERSION@}
to=${1:-$HOME/.local/bin}

fail() {
  echo "error: $1" >&2
  exit 2
}

[ -n "$releases" ] || fail "this installer knows no releases; set ETWKIT_RELEASES_URL to where they are"
case $(uname -s)-$(uname -m) in
  Linux-x86_64) triple=x86_64-unknown-linux-gnu ;;
  Linux-aarch64) triple=aarch64-unknown-linux-gnu ;;
  Darwin-x86_64) triple=x86_64-apple-darwin ;;
  Darwin-arm64) triple=aarch64-apple-darwin ;;
  *) fail "there is no archive for $(uname -s) on $(uname -m); cargo builds the program from its source" ;;
esac
name=etwkit-$version-$triple
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

get() { # FILE
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --output "$work/$1" "$releases/download/v$version/$1"
  elif command -v wget >/dev/null; then
    wget --quiet --output-document="$work/$1" "$releases/download/v$version/$1"
  else
    fail "neither curl nor wget is installed"
  fi || fail "cannot download $releases/download/v$version/$1"
}

get "$name.tar.gz"
get "SHA256SUMS-$triple"
if command -v sha256sum >/dev/null; then sum=sha256sum; else sum="shasum -a 256"; fi
expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS-$triple")
found=$($sum "$work/$name.tar.gz" | cut -d ' ' -f 1)
[ -n "$expected" ] && [ "$expected" = "$found" ] || fail "the checksum of $name.tar.gz is wrong; nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work"
mkdir -p "$to"
# A program that runs cannot be written over, but another file can take its name.
cp "$work/$name/etwkit" "$to/.etwkit.new"
chmod 755 "$to/.etwkit.new"
mv -f "$to/.etwkit.new" "$to/etwkit"
"$to/etwkit" --version
echo "Installed $to/etwkit"
case :$PATH: in
  *:"$to":*) ;;
  *) echo "note: $to is not in PATH" ;;
esac
