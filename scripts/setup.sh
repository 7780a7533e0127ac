# shellcheck shell=bash disable=SC2034
# Sourced by ./demo and ./test: the Debian packages that they need (Debian 12, Ubuntu 24.04), and their installation.

build_packages=(
  build-essential cmake ninja-build
  libcli11-dev libfmt-dev libprotobuf-dev libtomlplusplus-dev libxxhash-dev nlohmann-json3-dev protobuf-compiler
)
test_packages=(
  libgtest-dev clang-format
  python3 python3-numpy python3-pip
)

# install_packages NAME...: installs those that are missing; without any missing, apt is not called.
install_packages() {
  local package missing=()
  if ! command -v apt-get >/dev/null; then
    echo "This system has no apt-get. Needed, under the names that Debian gives them: $*"
    return
  fi
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing, and neither root nor sudo is at hand to install them: ${missing[*]}" >&2
      return 1
    fi
    root=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure_and_build [CMAKE-OPTION]...: into build/, with all processors.
configure_and_build() {
  cmake --preset release "$@"
  cmake --build --preset release --parallel "$(nproc)"
}
