/* Programs whose handlers print what the kernel tells them: KIND selects one. A handler that repairs what it was called
   for changes the context, so the way back is tested too. */
#include "sys.h"

void *memset(void *p, int c, u32 n) { u8 *b = p; while (n--) *b++ = c; return p; }
void *memcpy(void *p, const void *q, u32 n) { u8 *b = p; const u8 *s = q; while (n--) *b++ = *s++; return p; }

extern char fault[], after[];

/* What all handlers print: the signal, where it happened from a label, and some registers. */
static void show(const char *name, int sig, struct info *i, struct ucontext *u) {
    text(name); item("sig", sig); item("signo", i->signo); item("error", i->error); item("code", i->code);
    item("pc", (u32)u->mc.pc - (u32)fault); end();
    text(" "); item("s0", u->mc.regs[16]); item("s1", u->mc.regs[17]); item("hi", u->mc.mdhi); item("lo", u->mc.mdlo);
    item("mask", u->mask[0]); item("zero", u->mc.regs[0]); end();
}
static void skip(struct ucontext *u) { u->mc.pc = (u32)after; u->mc.regs[16] = 0x600d; }

#define REGISTERS "li $16, 0x1234\n li $17, -2\n li $8, 77\n mthi $8\n li $8, 88\n mtlo $8\n"
#define RUN(code, ...) ({ register u32 s0 asm("$16"); asm volatile(".set push\n.set noreorder\n" REGISTERS \
    ".globl fault\n.globl after\nfault:\n" code "\nnop\nafter:\n.set pop" : "=r"(s0) : __VA_ARGS__ : "$8", "$9", "$17", "hi", "lo", "memory", "$f4", "$f6"); s0; })

static volatile u32 count;

#if KIND == 1 /* SEGV: nothing is there; the rights do not allow it */
static u32 page;
static void handler(int sig, struct info *i, struct ucontext *u) {
    show("segv", sig, i, u); item("addr", i->addr >= page && i->addr < page + 4096 ? i->addr - page + 1 : i->addr); end();
    if (i->code == 2) { sys3(SYS(125), page, 4096, 3); text(" made writable"); end(); } else skip(u);
}
static u32 __attribute__((noinline)) one(u32 at) { return RUN("lw $9, 8(%1)", "r"(at)); }
int main(void) {
    on(SEGV, handler, SA_SIGINFO);
    page = (u32)sys3(SYS(45), 0, 0, 0); page = (page + 4095) & ~4095u; sys1(SYS(45), page + 4096);
    sys3(SYS(125), page, 4096, 1);
    text("skipped"); end(); item("s0", one(0x18)); end();
    *(volatile u32 *)(page + 0x20) = 7;
    text("written"); item("value", *(volatile u32 *)(page + 0x20)); end();
    return 0;
}
#elif KIND == 2 /* BUS: unaligned */
static void handler(int sig, struct info *i, struct ucontext *u) { show("bus", sig, i, u); item("addr", i->addr); end(); skip(u); }
static u32 __attribute__((noinline)) load(u32 at) { return RUN("lw $9, 1(%1)", "r"(at)); }
int main(void) { on(BUS, handler, SA_SIGINFO); text("skipped"); item("s0", load(0x400000)); end(); return 0; }
#elif KIND == 3 /* ILL */
static void handler(int sig, struct info *i, struct ucontext *u) { show("ill", sig, i, u); skip(u); }
static u32 __attribute__((noinline)) bad(void) { return RUN(".word 0x0000003b", "r"(0)); }
int main(void) { on(ILL, handler, SA_SIGINFO); text("skipped"); item("s0", bad()); end(); return 0; }
#elif KIND == 4 /* FPE: overflow of an addition */
static void handler(int sig, struct info *i, struct ucontext *u) { show("fpe", sig, i, u); item("addr", i->addr - (u32)fault); end(); skip(u); }
static u32 __attribute__((noinline)) over(u32 x) { return RUN("add $9, %1, %1", "r"(x)); }
int main(void) { on(FPE, handler, SA_SIGINFO); text("skipped"); item("s0", over(0x7fffffff)); end(); return 0; }
#elif KIND == 5 /* TRAP: a conditional trap, and a break */
static void handler(int sig, struct info *i, struct ucontext *u) { show("trap", sig, i, u); skip(u); }
static u32 __attribute__((noinline)) zero(u32 x) { return RUN("teq %1, $0", "r"(x)); }
int main(void) {
    on(TRAP, handler, SA_SIGINFO); text("not taken"); item("s0", zero(1)); end();
    text("skipped"); item("s0", zero(0)); end(); return 0;
}
#elif KIND == 6 /* FPE of the floating-point unit: an enabled division by zero; registers of the unit */
static void handler(int sig, struct info *i, struct ucontext *u) {
    show("float", sig, i, u); item("addr", i->addr - (u32)fault); end();
    u->mc.fpc_csr &= ~0x3f000u; skip(u);
}
static u32 __attribute__((noinline)) divide(double a, double b) {
    u32 csr = 0x400; asm volatile("ctc1 %0, $31" : : "r"(csr));
    u32 r = RUN("div.d $f4, %1, %2", "f"(a), "f"(b));
    asm volatile("ctc1 $0, $31"); return r;
}
int main(void) { on(FPE, handler, SA_SIGINFO); text("skipped"); item("s0", divide(1.0, 0.0)); end(); return 0; }
#elif KIND == 7 /* another stack, nested handlers, one shot, no deferring, both kinds of frames */
static char stack[16384] __attribute__((aligned(16)));
static int onstack(void) { char c; return &c >= stack && &c < stack + sizeof stack; }
static void plain(int sig, int zero, struct context *c) {
    count++; text("plain"); item("sig", sig); item("zero", zero); item("count", count); item("altstack", onstack());
    item("sp", (u32)c->regs[29] >= (u32)stack && (u32)c->regs[29] < (u32)stack + sizeof stack); end();
}
static void nested(int sig, struct info *i, struct ucontext *u) {
    count++; text("nested"); item("sig", sig); item("code", i->code); item("count", count); item("altstack", onstack()); item("flags", u->stack.flags); item("mask", u->mask[0]); end();
    if (count < 3) { long pid = sys1(SYS(20), 0); sys2(SYS(37), pid, USR1); text("back"); item("count", count); end(); }
}
int main(void) {
    struct stack s = { stack, sizeof stack, 0 }, old; sys2(SYS(206), &s, 0); sys2(SYS(206), 0, &old);
    text("altstack"); item("size", old.size); item("flags", old.flags); end();
    long pid = sys1(SYS(20), 0);
    on(USR1, nested, SA_SIGINFO | SA_ONSTACK | SA_NODEFER); sys2(SYS(37), pid, USR1);
    on(USR2, plain, SA_RESETHAND); sys2(SYS(37), pid, USR2);
    struct action a; sys4(SYS(194), USR2, 0, (long)&a, 16); text("reset"); item("handler", (u32)a.handler); end();
    on(USR1, plain, SA_ONSTACK); sys2(SYS(37), pid, USR1);
    return 0;
}
#elif KIND == 8 /* masks, pending signals, waiting, alarm, a value, interrupted calls */
static void handler(int sig, struct info *i, struct ucontext *u) {
    count++; text("handler"); item("sig", sig); item("code", i->code); item("value", i->code == -1 ? i->from.value : 0); item("mask", u->mask[0]); end();
}
static u32 pending(void) { u32 s[4]; sys2(SYS(196), s, 16); return s[0]; }
int main(void) {
    u32 block[4] = { 1u << (USR1 - 1) | 1u << (USR2 - 1), 0, 0, 0 }, none[4] = { 0 }, old[4];
    long pid = sys1(SYS(20), 0), tid = sys1(SYS(222), 0);
    on(USR1, handler, SA_SIGINFO); on(USR2, handler, SA_SIGINFO); on(ALRM, handler, SA_SIGINFO); on(40, handler, SA_SIGINFO);
    sys4(SYS(195), 1, (long)block, (long)old, 16); text("old"); item("mask", old[0]); end();
    sys2(SYS(37), pid, USR1); sys3(SYS(266), pid, tid, USR2); sys2(SYS(37), pid, USR1);
    text("blocked"); item("pending", pending()); item("count", count); end();
    sys4(SYS(195), 3, (long)none, 0, 16);
    text("open"); item("pending", pending()); item("count", count); end();
    struct info q; memset(&q, 0, sizeof q); q.code = -1; q.from.value = 0xabcd;
    sys3(SYS(198), pid, 40, &q);
    sys4(SYS(195), 1, (long)block, 0, 16); sys2(SYS(37), pid, USR2);
    long r = sys2(SYS(199), none, 16); text("suspended"); item("result", -r); item("pending", pending()); end();
    struct info got; memset(&got, 0, sizeof got); sys2(SYS(37), pid, USR1);
    r = sys4(SYS(197), (long)block, (long)&got, 0, 16); text("waited"); item("signal", r); item("signo", got.signo); item("code", got.code); end();
    u32 timer[4] = { 0, 0, 0, 20000 }; sys3(SYS(104), 0, timer, 0);
    u32 time[2] = { 5, 0 }, rest[2] = { 0, 0 }; r = sys2(SYS(166), time, rest); text("slept"); item("result", -r); item("rest", rest[0]); end();
    int ends[2]; sys2(SYS(328), ends, 0); char c = 0;
    sys3(SYS(104), 0, timer, 0); r = sys3(SYS(3), ends[0], &c, 1); text("read"); item("result", -r); end();
    return 0;
}
#endif

void start(void) { quit(main()); }
asm(".globl __start\n.set noreorder\n__start: addiu $29, $29, -32\n j start\n nop\n.set reorder");
