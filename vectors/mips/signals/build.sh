#!/bin/sh
# Builds the programs with Debian's gcc-mips-linux-gnu and gcc-mipsel-linux-gnu 12, and records what they print under
# qemu-user 7.2.
set -eu
cd "$(dirname "$0")"
kind=0
for name in segv bus ill overflow trap float altstack waiting; do
    kind=$((kind + 1))
    for target in mips mipsel; do
        "$target-linux-gnu-gcc" -march=mips2 -mfp32 -mhard-float -mno-abicalls -fno-pic -G0 -ffreestanding -nostdlib \
            -static -O1 -w -fno-stack-protector -Wl,-e,__start -DKIND=$kind -o "$name.$target.elf" sig.c
        "$target-linux-gnu-strip" -s -R .comment -R .note.gnu.build-id "$name.$target.elf"
    done
    "qemu-mips" "./$name.mips.elf" >"$name.out"
    "qemu-mipsel" "./$name.mipsel.elf" | cmp - "$name.out"
done
