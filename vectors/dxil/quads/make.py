#!/usr/bin/env python3
"""Writes the .test files of the shaders here that are this project's own. What is expected is computed from what the HLSL
says; the order of a quad is 0 1 / 2 3."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from testfile import test

X, Y, Z = 4, 6, 2
out = []
for gy in range(3):
    for gx in range(2):
        def place(x, y, z): return (gx * X + x) | (gy * Y + y) << 8 | z << 16
        def own(x, y, z): return x | y << 4 | z << 8 | (x + X * (y + Y * z)) << 12 | ((x & 1) + 2 * (y & 1)) << 24
        for z in range(Z):
            for y in range(Y):
                for x in range(X):
                    out += [place(x, y, z), own(x, y, z), place(x ^ 1, y ^ 1, z), own(x | 1, y & ~1, z)]
test("places", "cs_6_6", [("uav 0 0", "structured", [], 4 * len(out), 16, "-")], [("uav 0 0", out)], groups="2 3 1",
    needs=["subgroup quad"])

# Before SM 6.6 quads are four lanes after each other, and lanes follow rows on every host that is known.
out = []
for i in range(4 * 6):
    out += [i % 4 | i // 4 << 8 | i % 4 << 24, i ^ 1, i ^ 2, i & ~3 | 2]
test("rows", "cs_6_5", [("uav 0 0", "structured", [], 4 * len(out), 16, "-")], [("uav 0 0", out)], needs=["subgroup quad"])
