#!/usr/bin/env bash
# Installs the system packages that are missing: make/packages.sh SET...
# A set is named in the first column below. As root it installs them; otherwise it prints the one command to run and stops.
set -euo pipefail

# SET  WHAT IS NEEDED  DEBIAN PACKAGE. What is needed is a command, or a check below written as CHECK().
needs='
python  has_venv()          python3-venv
python  has_certificates()  ca-certificates
build   gcc                 gcc
build   has_static_libc()   libc6-dev
build   has_cargo()         CARGO
run     qemu-system-x86_64  qemu-system-x86
run     static_busybox()    busybox-static
run     cpio                cpio
run     mke2fs              e2fsprogs
run     mmdebstrap          mmdebstrap
run     zstd                zstd
run     fakeroot            fakeroot
test    has_chromium()      chromium
test    qemu-system-aarch64 qemu-system-arm
test    qemu-system-riscv64 qemu-system-misc
test    riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu
test    has_riscv64_libc()  libc6-dev-riscv64-cross
test    arm-linux-gnueabihf-gcc gcc-arm-linux-gnueabihf
test    has_armhf_libc()    libc6-dev-armhf-cross
test    qemu-system-ppc64   qemu-system-ppc
test    powerpc64le-linux-gnu-gcc gcc-powerpc64le-linux-gnu
test    has_ppc64el_libc()  libc6-dev-ppc64el-cross
test    qemu-system-mips64el qemu-system-mips
test    mips64el-linux-gnuabi64-gcc gcc-mips64el-linux-gnuabi64
test    has_mips64el_libc() libc6-dev-mips64el-cross
test    has_ovmf()          ovmf
test    has_u_boot()        u-boot-qemu
test    uftrace             uftrace
test    strace              strace
test    trace-cmd           trace-cmd
test    has_sftp_server()   openssh-sftp-server
lint    has_clippy()        CLIPPY
loaders has_u_boot()        u-boot-qemu
loaders aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
loaders dpkg-source         dpkg-dev
loaders flex                flex
loaders bison               bison
loaders bc                  bc
loaders has_openssl()       libssl-dev
clusters munged             munge
clusters slurmctld          slurmctld
clusters slurmd             slurmd
clusters sbatch             slurm-client
studies flex                flex
studies bison               bison
studies bc                  bc
studies perl                perl
studies depmod              kmod
studies lz4                 lz4
studies has_libelf()        libelf-dev
studies has_openssl()       libssl-dev
studies mkfs.cramfs         util-linux-extra
studies genromfs            genromfs
studies mkfs.jffs2          mtd-utils
studies mksquashfs          squashfs-tools
studies mkfs.erofs          erofs-utils
studies mkfs.xfs            xfsprogs
studies mkfs.btrfs          btrfs-progs
studies mkfs.f2fs           f2fs-tools
studies has_faketime()      libfaketime
'

# The first Rust that builds the workspace: `rust-version` in Cargo.toml.
rust_wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
python=${PYTHON:-python3}
# mke2fs lives where a person's PATH often does not reach.
PATH=$PATH:/usr/sbin:/sbin

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }
has_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }
has_certificates() { [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ]; }
has_static_libc() { command -v gcc >/dev/null && [ -e "$(gcc -print-file-name=libc.a)" ]; }
has_libc_of() { command -v "$1" >/dev/null && [ -e "$("$1" -print-file-name=libc.a)" ]; }
has_armhf_libc() { has_libc_of arm-linux-gnueabihf-gcc; }
has_mips64el_libc() { has_libc_of mips64el-linux-gnuabi64-gcc; }
has_ppc64el_libc() { has_libc_of powerpc64le-linux-gnu-gcc; }
has_riscv64_libc() { has_libc_of riscv64-linux-gnu-gcc; }
has_cargo() { command -v cargo >/dev/null && at_least "$rust_wanted" "$(cargo --version | cut -d' ' -f2)"; }
has_clippy() { cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1; }
has_libelf() { [ -e /usr/include/gelf.h ]; }
has_sftp_server() { [ -e /usr/lib/openssh/sftp-server ]; }
has_openssl() { [ -e /usr/include/openssl/opensslv.h ]; }
has_ovmf() { [ -e /usr/share/ovmf/OVMF.fd ]; }
has_u_boot() { [ -e /usr/lib/u-boot/qemu_arm64/u-boot.bin ]; }
has_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null
has_faketime() { compgen -G "/usr/lib/*/faketime/libfaketime.so.1" >/dev/null; }
static_busybox() { command -v busybox >/dev/null && ! ldd "$(command -v busybox)" >/dev/null 2>&1; }

# The version of a package that apt would install; empty when there is none.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][^+~-]*\).*/\1/p'; }

# Debian 12 has its current Rust under names of their own, `cargo-web` and the like. A cargo that stands in PATH without
# having come from a package, but is too old, is its owner's to update.
rust_packages() {
  local suffix
  for suffix in "" -web; do
    local version
    version=$(candidate "rustc$suffix")
    if [ -n "$version" ] && at_least "$rust_wanted" "$version"; then
      case $1 in
        CARGO) echo "rustc$suffix cargo$suffix" ;;
        CLIPPY) echo "rust-clippy$suffix rustfmt$suffix" ;;
      esac
      return
    fi
  done
  echo "error: cargo $rust_wanted or newer is needed, and the distribution has none" >&2
  echo "hint: install Rust with rustup (https://rustup.rs), components clippy and rustfmt for \`make lint\`" >&2
  exit 1
}

missing=()
while read -r set need package; do
  [[ " $* " == *" $set "* ]] || continue
  case $need in
    *"()") "${need%()}" && continue ;;
    *) command -v "$need" >/dev/null && continue ;;
  esac
  missing+=("$package")
done <<<"$(sed '/^$/d' <<<"$needs")"
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "error: missing: ${missing[*]} (names of Debian packages), and this machine has no apt-get to install them" >&2
  exit 1
fi
# Without package lists nothing is known of the versions that apt has to offer.
if [ "$(id -u)" = 0 ]; then
  echo "installing: ${missing[*]}" >&2
  apt-get update -qq >&2
fi
packages=()
for package in "${missing[@]}"; do
  case $package in
    CARGO | CLIPPY)
      names=$(rust_packages "$package") || exit 1
      # shellcheck disable=SC2206 # names of packages, split on purpose
      packages+=($names)
      ;;
    *) packages+=("$package") ;;
  esac
done
install=(apt-get install -y --no-install-recommends "${packages[@]}")
if [ "$(id -u)" = 0 ]; then
  DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2
else
  echo "error: system packages are missing: ${packages[*]}" >&2
  echo "hint: run \`sudo ${install[*]}\`" >&2
  exit 1
fi
