#!/usr/bin/env bash
# Builds a wheel that only reads boots, for another system than this machine's: make/reader-wheel.sh TARGET FOLDER
# It has neither the plugin nor the guests' programs, which are for QEMU on this machine. zig brings the C library and the
# linker of every target, so that no cross compiler and no SDK has to be installed. Of macOS it brings the system library
# only: the names of the others that the wheel needs are in make/macos.
set -euo pipefail

target=$1
folder=$(mkdir -p "$2" && cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"

case $target in
  aarch64-unknown-linux-gnu) options=(--compatibility manylinux_2_28) linked=() ;;
  aarch64-apple-darwin | x86_64-apple-darwin)
    options=() linked=(-- -C "link-arg=-F$here/make/macos" -C "link-arg=-L$here/make/macos")
    export MACOSX_DEPLOYMENT_TARGET=11.0
    ;;
  *)
    echo "error: no wheel is built for $target" >&2
    echo "hint: aarch64-unknown-linux-gnu, aarch64-apple-darwin or x86_64-apple-darwin" >&2
    exit 2
    ;;
esac
if [ ! -e "$(rustc --print target-libdir --target "$target")" ] && ! { command -v rustup >/dev/null && rustup --quiet target add "$target"; }; then
  echo "error: this Rust has no target $target" >&2
  echo "hint: with Rust from rustup (https://rustup.rs), \`rustup target add $target\` adds it" >&2
  exit 1
fi

tree=.build/reader-wheel
rm -rf "$tree"
mkdir -p "$tree/src"
for shared in crates man Cargo.toml Cargo.lock pyproject.toml README.md LICENSE-APACHE LICENSE-GPL-2 LICENSE-MIT; do
  ln -s "../../$shared" "$tree/$shared"
done
cp -a src/firstlight src/firstlight_studies "$tree/src"
rm -f "$tree"/src/firstlight/_core*.so
find "$tree/src" -name __pycache__ -prune -exec rm -rf {} +
find "$tree/src/firstlight/assets" -type f ! -name page.html ! -name 'firstlight-collect.*' -delete

# One folder for all targets: what they have in common is for this machine.
cd "$tree"
PATH=$here/.build/zig/bin:$PATH VIRTUAL_ENV=$here/.build/zig "$here/.venv/bin/python" -m maturin build --quiet --release --locked \
  --zig --target "$target" --target-dir "$here/target/reader" --out "$folder" "${options[@]}" "${linked[@]}"
