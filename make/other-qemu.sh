#!/usr/bin/env bash
# Puts the QEMU of another Debian release into .build/other-qemu, for the tests that boot with a second one:
# make/other-qemu.sh [RELEASE]. Nothing is installed; the release's packages are unpacked beside their own C library.
set -euo pipefail

release=${1:-trixie}
here=$(cd "$(dirname "$0")/.." && pwd)
target=$here/.build/other-qemu
programs=(qemu-system-x86_64 qemu-system-aarch64 qemu-system-riscv64)
packages=qemu-system-x86,seabios,qemu-system-arm,qemu-system-riscv,opensbi
complete=true
for program in "${programs[@]}"; do [ -x "$target/$program" ] || complete=false; done
"$complete" && exit 0

rm -rf "$target" "$target.partial"
mkdir -p "$here/.build"
trap 'rm -rf "$target.partial"' EXIT
mmdebstrap --quiet --variant=extract --include="$packages" "$release" "$target.partial" >&2
for program in "${programs[@]}"; do
	sed "s/@PROGRAM@/$program/" >"$target.partial/$program" <<'WRAPPER'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
lib=$root/usr/lib/x86_64-linux-gnu
export QEMU_MODULE_DIR="$lib/qemu"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/pulseaudio" "$root/usr/bin/@PROGRAM@" \
	-L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
WRAPPER
	chmod +x "$target.partial/$program"
	"$target.partial/$program" --version >&2
done
mv "$target.partial" "$target"
