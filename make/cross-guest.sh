#!/usr/bin/env bash
# Builds the guest's helper for another processor than this machine's: make/cross-guest.sh ARCHITECTURE FILE
# The Rust toolchain brings the C library and the linker; no other compiler is needed. A toolchain that rustup does not
# manage may lack them: then only boots of such guests are not possible, and everything else is.
set -euo pipefail

architecture=$1
target=$architecture-unknown-linux-musl
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"

if [ ! -e "$(rustc --print target-libdir --target "$target")" ] && ! { command -v rustup >/dev/null && rustup target add --quiet "$target"; }; then
  echo "note: the helper of guests on $architecture is not built: this Rust has no target $target" >&2
  echo "hint: with Rust from rustup (https://rustup.rs), \`make guest\` adds it" >&2
  exit 0
fi

export CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_STRIP=symbols
export RUSTFLAGS="-C linker=rust-lld -C target-feature=+crt-static -C relocation-model=static \
--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$here=/firstlight"
cargo build --release --locked --quiet -p firstlight-guest --target "$target" --target-dir target/guest
install -D -m 755 "target/guest/$target/release/firstlight-guest" "$2"
