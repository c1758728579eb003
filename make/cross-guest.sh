#!/usr/bin/env bash
# Builds a program of the guest for another processor than this machine's: make/cross-guest.sh ARCHITECTURE CRATE FILE
# The crates are firstlight-guest, the helper; firstlight-walk; and firstlight-restat, a library.
# Where the Rust toolchain brings a static C library (musl) and the linker, no other compiler is needed; elsewhere both are
# those of the distribution's cross compiler. A toolchain that rustup does not manage may lack the target, and a machine the
# cross compiler: then only boots of such guests are not possible, and everything else is.
set -euo pipefail

architecture=$1 crate=$2 file=$3
own_flags=()
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"

case $architecture in
  aarch64)
    target=aarch64-unknown-linux-musl
    linker=rust-lld
    ;;
  arm)
    target=armv7-unknown-linux-gnueabihf
    linker=arm-linux-gnueabihf-gcc
    packages="gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"
    ;;
  mips64el)
    # Rust brings no library for it: cargo builds that from its source, which no stable Rust does by itself.
    target=mips64el-unknown-linux-gnuabi64
    linker=mips64el-linux-gnuabi64-gcc
    packages="gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross"
    library_source=lib/rustlib/src/rust/library/Cargo.lock
    oldest_rust=1.95
    # The crate rustix would otherwise call the C library, whose signals it does not know here.
    flags="--cfg rustix_use_experimental_asm"
    # The compiler's absolute addresses have 32 bits, and the C library's programs lie above them.
    own_flags=(-C link-arg=-Wl,-Ttext-segment=0x10000000)
    ;;
  ppc64le)
    target=powerpc64le-unknown-linux-gnu
    linker=powerpc64le-linux-gnu-gcc
    packages="gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"
    # Inline assembly of this architecture is stable since then.
    oldest_rust=1.95
    ;;
  riscv64)
    target=riscv64gc-unknown-linux-gnu
    linker=riscv64-linux-gnu-gcc
    packages="gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"
    ;;
  *)
    echo "error: no target is known for $architecture" >&2
    exit 2
    ;;
esac

rust=$(rustc --version | cut -d' ' -f2)
if [ "$(printf '%s\n' "${oldest_rust:-0}" "$rust" | sort -V | head -n 1)" != "${oldest_rust:-0}" ]; then
  echo "note: $crate for guests on $architecture is not built: it needs Rust $oldest_rust, and this is $rust" >&2
  echo "hint: update Rust, then run \`make guest\`" >&2
  exit 0
fi
build=()
if [ -n "${library_source:-}" ]; then
  if [ ! -e "$(rustc --print sysroot)/$library_source" ] && ! { command -v rustup >/dev/null && rustup --quiet component add rust-src; }; then
    echo "note: $crate for guests on $architecture is not built: this Rust lacks the source of its library" >&2
    echo "hint: with Rust from rustup (https://rustup.rs), \`make guest\` adds it; a distribution has it as rust-src" >&2
    exit 0
  fi
  build=(-Z build-std=std,panic_abort)
  export RUSTC_BOOTSTRAP=1 CARGO_PROFILE_RELEASE_PANIC=abort
elif [ ! -e "$(rustc --print target-libdir --target "$target")" ] && ! { command -v rustup >/dev/null && rustup --quiet target add "$target"; }; then
  echo "note: $crate for guests on $architecture is not built: this Rust has no target $target" >&2
  echo "hint: with Rust from rustup (https://rustup.rs), \`make guest\` adds it" >&2
  exit 0
fi
if [ -n "${packages:-}" ] && ! { command -v "$linker" >/dev/null && [ -e "$("$linker" -print-file-name=libc.a)" ]; }; then
  echo "note: $crate for guests on $architecture is not built: the cross compiler is missing" >&2
  echo "hint: install it with \`apt-get install $packages\`, then run \`make guest\`" >&2
  exit 0
fi

remap="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$here=/firstlight"
export CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_STRIP=symbols
targets=${CARGO_TARGET_DIR:-target}/guest
if [ "$crate" = firstlight-restat ]; then
  # The library has no library of its own. Its few functions of C are those of the program that preloads it, so the C library
  # of the Rust target does not matter.
  export CARGO_PROFILE_RELEASE_PANIC=abort RUSTFLAGS="-C linker=$linker -C target-feature=-crt-static $remap"
  cargo build --release --locked --quiet -p "$crate" --target "$target" --target-dir "$targets-preload"
  install -D -m 755 "$targets-preload/$target/release/libfirstlight_restat.so" "$file"
  exit 0
fi

export RUSTFLAGS="-C linker=$linker -C target-feature=+crt-static -C relocation-model=static ${flags:-} $remap"
cargo rustc --release --locked --quiet "${build[@]}" -p "$crate" --target "$target" --target-dir "$targets" -- "${own_flags[@]}" || {
  # What no stable Rust does by itself may fail with another one: everything else is built all the same.
  [ -n "${library_source:-}" ] || exit 1
  echo "note: $crate for guests on $architecture is not built: the lines above say why" >&2
  exit 0
}
install -D -m 755 "$targets/$target/release/$crate" "$file"
