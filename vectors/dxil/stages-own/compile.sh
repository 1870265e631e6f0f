#!/bin/sh
# Compiles the sources with DirectXShaderCompiler's front end, whose path is in $DXC; the first line of each has the flags.
for source in *.hlsl; do
    $DXC $(head -n 1 "$source" | cut -c 4-) -Vd -Qstrip_debug -Fo "${source%.hlsl}.dxil" "$source" || exit 1
done
