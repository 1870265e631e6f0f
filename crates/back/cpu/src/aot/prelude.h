// What the functions of a library have in common. The macros STATE_... and XGA_... come before it.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
typedef char State;
typedef u64 Code(State *, u32);

#define LIKELY(c) __builtin_expect(!!(c), 1)
#define UNLIKELY(c) __builtin_expect(!!(c), 0)
#define AT(type, offset) (*(type *)(s + (offset)))
#define XGA_CODE __attribute__((section("xga_text"), visibility("hidden")))

register u64 xga_stack __asm__("rsp");
extern const i32 xga_table[] __attribute__((visibility("hidden")));

// The code for a guest address that is not known before, or back to whoever can find it.
static inline u64 xga_go(State *s, u32 pc) {
    u32 place = pc - XGA_BASE;
    place = place >> 2 | place << 30;
    if (LIKELY(place < XGA_COUNT)) {
        const i32 *entry = &xga_table[place];
        if (LIKELY(*entry)) return ((Code *)((u64)entry + (i64)*entry))(s, pc);
    }
    return pc;
}

// A call of the guest: what comes back is where it goes on, and usually behind the call. Where the host's stack is used up, all
// calls are left.
#define CALL(code, pc, behind) do { \
    if (UNLIKELY(xga_stack < AT(u64, STATE_STACK_LIMIT))) return (pc); \
    next = code(s, (pc)); \
    if (UNLIKELY(next != (behind))) return next; \
} while (0)
#define TAIL(code, pc) do { \
    if (UNLIKELY(xga_stack < AT(u64, STATE_STACK_LIMIT))) return (pc); \
    return code(s, (pc)); \
} while (0)

// Accesses to the guest's memory. One that may not go ahead raises a signal, whose handler goes on at `fault`.
#define SITE(pc, pending, fault) \
    "\n.pushsection xga_ex,\"a\",@progbits\n" \
    ".balign 4\n" \
    ".long 1b - ., %l[" #fault "] - ., " #pc ", " #pending "\n" \
    ".popsection"
#define LOAD(insn, to, place, pc, pending, fault) \
    __asm__ volatile goto("1: " insn SITE(pc, pending, fault) : "=r"(to) : "m"(place) : : fault)
#define STORE(insn, from, place, pc, pending, fault) \
    __asm__ volatile goto("1: " insn SITE(pc, pending, fault) : : "m"(place), "re"(from) : : fault)
// One whose address is no multiple of its size.
#define MISALIGNED(at, count, fault) do { \
    AT(volatile u32, STATE_FAULT_PC) = (at); \
    AT(volatile u32, STATE_FAULT_PENDING) = (count); \
    goto fault; \
} while (0)

static inline f32 f32_of(u32 v) { f32 r; __builtin_memcpy(&r, &v, 4); return r; }
static inline f64 f64_of(u64 v) { f64 r; __builtin_memcpy(&r, &v, 8); return r; }
static inline u32 u32_of(f32 v) { u32 r; __builtin_memcpy(&r, &v, 4); return r; }
static inline u64 u64_of(f64 v) { u64 r; __builtin_memcpy(&r, &v, 8); return r; }

// Rounding to an integer, which may be inexact.
#define ROUND(name, type, insn, how) \
    static inline type name(type v) { type r; __asm__ volatile(insn " $" #how ", %1, %0" : "=x"(r) : "x"(v)); return r; }
ROUND(nearest_f32, f32, "roundss", 0)
ROUND(nearest_f64, f64, "roundsd", 0)
ROUND(floor_f32, f32, "roundss", 1)
ROUND(floor_f64, f64, "roundsd", 1)
ROUND(ceil_f32, f32, "roundss", 2)
ROUND(ceil_f64, f64, "roundsd", 2)
ROUND(trunc_f32, f32, "roundss", 3)
ROUND(trunc_f64, f64, "roundsd", 3)

// A conversion of an integer to a float, which may be inexact. The C compiler knows nothing of that exception: it would leave out a
// conversion whose result is not used, and move others. Empty assembly that takes operand and result keeps each where it is.
#define OF_INTEGER(name, type, of) \
    static inline type name(of v) { type r; __asm__ volatile("" : "+r"(v)); r = (type)v; __asm__ volatile("" : "+x"(r)); return r; }
OF_INTEGER(f32_of_i32, f32, i32)
OF_INTEGER(f32_of_i64, f32, i64)
OF_INTEGER(f64_of_i64, f64, i64)

static inline u8 add_overflows(u32 a, u32 b) { i32 r; return __builtin_add_overflow((i32)a, (i32)b, &r); }
static inline u8 sub_overflows(u32 a, u32 b) { i32 r; return __builtin_sub_overflow((i32)a, (i32)b, &r); }

// A division by zero has the result 0; the least number is its own quotient by -1.
static inline u32 udiv32(u32 a, u32 b) { return b ? a / b : 0; }
static inline u32 urem32(u32 a, u32 b) { return b ? a % b : 0; }
static inline u32 sdiv32(u32 a, u32 b) { return b == 0 ? 0 : b == ~0u ? -a : (u32)((i32)a / (i32)b); }
static inline u32 srem32(u32 a, u32 b) { return b + 1 <= 1 ? 0 : (u32)((i32)a % (i32)b); }
static inline u32 rotl32(u32 a, u32 b) { return a << (b & 31) | a >> (-b & 31); }
static inline u32 clz32(u32 a) { return a ? (u32)__builtin_clz(a) : 32; }
