/* Freestanding o32: system calls, output, signals. No libc, so that what a handler sees is what the kernel wrote. */
typedef unsigned u32; typedef unsigned long long u64; typedef unsigned char u8;

#define SYS(n) (4000 + (n))
static long sys4(long n, long a, long b, long c, long d) {
    register long v0 asm("$2") = n, a0 asm("$4") = a, a1 asm("$5") = b, a2 asm("$6") = c, a3 asm("$7") = d;
    asm volatile("syscall" : "+r"(v0), "+r"(a3) : "r"(a0), "r"(a1), "r"(a2)
                 : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo", "memory");
    return a3 ? -v0 : v0;
}
#define sys3(n, a, b, c) sys4(n, (long)(a), (long)(b), (long)(c), 0)
#define sys2(n, a, b) sys4(n, (long)(a), (long)(b), 0, 0)
#define sys1(n, a) sys4(n, (long)(a), 0, 0, 0)

static char line[256]; static int fill;
static void flush(void) { sys3(SYS(4), 1, line, fill); fill = 0; }
static void text(const char *s) { while (*s) line[fill++] = *s++; }
static void hex(u32 x) { for (int i = 28; i >= 0; i -= 4) line[fill++] = "0123456789abcdef"[x >> i & 15]; }
static void item(const char *name, u32 x) { text(" "); text(name); text("="); hex(x); }
static void end(void) { text("\n"); flush(); }
static void quit(int code) { sys1(SYS(1), code); for (;;); }

#define SA_SIGINFO 8
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000
enum { ILL = 4, TRAP = 5, ABRT = 6, FPE = 8, KILL = 9, BUS = 10, SEGV = 11, ALRM = 14, USR1 = 16, USR2 = 17, CHLD = 18 };

struct action { u32 flags; void *handler; u32 mask[4]; };
/* The code comes before the error number on MIPS. */
struct info { int signo, code, error; union { u32 addr; struct { u32 pid, uid, value; } from; u32 pad[29]; }; };
struct context {
    u32 regmask, status; u64 pc, regs[32], fpregs[32];
    u32 acx, fpc_csr, fpc_eir, used_math, dsp; u64 mdhi, mdlo; u32 hi1, lo1, hi2, lo2, hi3, lo3;
};
struct stack { void *sp; u32 size; u32 flags; };
struct ucontext { u32 flags; void *link; struct stack stack; struct context mc; u32 mask[4]; };

static void on(int sig, void *handler, u32 flags) {
    struct action a = { flags, handler, { 0, 0, 0, 0 } };
    sys4(SYS(194), sig, (long)&a, 0, 16);
}
