#!/usr/bin/env python3
"""Makes containers of LLVM text: assemble.py FILE.ll…, beside each a FILE.dxil.

$DXCOMPILER is DirectXShaderCompiler's library, whose IDxcAssembler does it. Operations behind the end of its table (SM 6.7)
would crash it: they are called `dx_op.…` while it reads them, and renamed in the bitcode, where both names take as many bits.
"""
import ctypes, os, re, sys, uuid

LATE = ["quadVote", "textureGatherRaw", "sampleCmpLevel", "textureStoreSample"]
CHAR6 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
# IUnknown has a virtual destructor on systems other than Windows: two more slots.
FIRST = int(os.environ.get("DXC_IUNKNOWN_SLOTS", "5"))
library = ctypes.CDLL(os.environ["DXCOMPILER"])

def guid(text): return (ctypes.c_ubyte * 16)(*uuid.UUID(text).bytes_le)

def method(of, slot, *arguments, gives=ctypes.c_int32):
    table = ctypes.cast(of, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    types = [t for t, _ in arguments]
    return ctypes.CFUNCTYPE(gives, ctypes.c_void_p, *types)(table[FIRST + slot])(of, *(v for _, v in arguments))

def create(cls, interface):
    made = ctypes.c_void_p()
    if library.DxcCreateInstance(guid(cls), guid(interface), ctypes.byref(made)): sys.exit("no such object in the library")
    return made

def content(blob):
    return ctypes.string_at(method(blob, 0, gives=ctypes.c_void_p), method(blob, 1, gives=ctypes.c_size_t))

def out(of, slot, *arguments):
    made = ctypes.c_void_p()
    failed = method(of, slot, *arguments, (ctypes.c_void_p, ctypes.byref(made)))
    return None if failed else made

def assemble(text):
    utilities = create("6245d6af-66e0-48fd-80b4-4d271796748c", "4605c4cb-2019-492a-ada4-65f20bb7d67f")
    assembler = create("d728db68-f903-4f80-94cd-dccf76ec7151", "091f7a26-1c1f-4948-904b-e6e3a8a771d5")
    u32, pointer = ctypes.c_uint32, ctypes.c_void_p
    blob = out(utilities, 3, (ctypes.c_char_p, text), (u32, len(text)), (u32, 65001))
    result = out(assembler, 0, (pointer, blob))
    container = out(result, 1)
    return content(container) if container else sys.exit(content(out(result, 2)).decode())

def renamed(container):
    bits = "".join(f"{byte:08b}"[::-1] for byte in container)
    for name in LATE:
        for_text = lambda text: "".join(f"{CHAR6.index(c):06b}"[::-1] for c in text)
        bits = bits.replace(for_text("dx_op." + name), for_text("dx.op." + name))
    return bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))

for path in sys.argv[1:]:
    text = re.sub(r"@dx\.op\.(%s)\b" % "|".join(LATE), r"@dx_op.\1", open(path).read())
    open(os.path.splitext(path)[0] + ".dxil", "wb").write(renamed(assemble(text.encode())))
