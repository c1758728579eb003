#!/usr/bin/env bash
# Puts the QEMU of another Debian release into .build/other-qemu, for the tests that boot with a second one:
# make/other-qemu.sh [RELEASE]. Nothing is installed; the release's packages are unpacked beside their own C library.
set -euo pipefail

release=${1:-trixie}
here=$(cd "$(dirname "$0")/.." && pwd)
target=$here/.build/other-qemu
[ -x "$target/qemu-system-x86_64" ] && exit 0

rm -rf "$target" "$target.partial"
mkdir -p "$here/.build"
trap 'rm -rf "$target.partial"' EXIT
mmdebstrap --quiet --variant=extract --include=qemu-system-x86,seabios "$release" "$target.partial" >&2
cat >"$target.partial/qemu-system-x86_64" <<'WRAPPER'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
lib=$root/usr/lib/x86_64-linux-gnu
export QEMU_MODULE_DIR="$lib/qemu"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/pulseaudio" "$root/usr/bin/qemu-system-x86_64" \
	-L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
WRAPPER
chmod +x "$target.partial/qemu-system-x86_64"
"$target.partial/qemu-system-x86_64" --version >&2
mv "$target.partial" "$target"
