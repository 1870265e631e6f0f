/* Models of units for the Dragon simulator: the C ABI of xenoglot-dragon's `cosim`, which documents it. */
#ifndef XENOGLOT_DRAGON_H
#define XENOGLOT_DRAGON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XENOGLOT_DRAGON_ABI 2

/* `until` of a unit that does nothing more by itself. */
#define XENOGLOT_DRAGON_NEVER UINT64_MAX

#define XENOGLOT_DRAGON_MAX_PIXELS 16
#define XENOGLOT_DRAGON_MAX_SAMPLES 8
#define XENOGLOT_DRAGON_MAX_LINES 8
#define XENOGLOT_DRAGON_BURST_BYTES 32
#define XENOGLOT_DRAGON_VERTEX_BYTES 128
#define XENOGLOT_DRAGON_PROGRAM_WORDS 256

/* What a unit did in a tick. */
enum xenoglot_dragon_event {
    XENOGLOT_DRAGON_GENERIC_IDLE = 0,
    XENOGLOT_DRAGON_TICK = 1,
    XENOGLOT_DRAGON_PROCESS_COMMAND = 2,
    XENOGLOT_DRAGON_WAIT = 3,
    XENOGLOT_DRAGON_MEM_READ = 4,
    XENOGLOT_DRAGON_MEM_WRITE = 5,
    XENOGLOT_DRAGON_QUEUE_FULL = 6,
    XENOGLOT_DRAGON_EXEC = 7,
    XENOGLOT_DRAGON_LATENCY = 8,
    XENOGLOT_DRAGON_TEX_WAIT = 9,
    XENOGLOT_DRAGON_RASTER = 10,
    XENOGLOT_DRAGON_SETUP_TRI = 11,
    XENOGLOT_DRAGON_VTX_HIT = 12,
    XENOGLOT_DRAGON_VTX_MISS = 13,
    XENOGLOT_DRAGON_VTX_WAIT = 14,
    XENOGLOT_DRAGON_DRAIN = 15,
    XENOGLOT_DRAGON_UNIT_BUSY = 16
};

/* Units that have something under way. */
enum xenoglot_dragon_busy {
    XENOGLOT_DRAGON_BUSY_PROGRAM_LOAD = 1,
    XENOGLOT_DRAGON_BUSY_DRAW = 2,
    XENOGLOT_DRAGON_BUSY_FILL = 4,
    XENOGLOT_DRAGON_BUSY_STORE = 8,
    XENOGLOT_DRAGON_BUSY_LOAD = 16,
    XENOGLOT_DRAGON_BUSY_WRITE_GLOBAL = 32
};

/* What an instruction does to tile buffers and textures. */
enum xenoglot_dragon_access {
    XENOGLOT_DRAGON_ACCESS_NONE = 0,
    /* The pixel of a tile buffer is loaded; the next input has it. */
    XENOGLOT_DRAGON_ACCESS_LOAD = 1,
    XENOGLOT_DRAGON_ACCESS_STORE = 2,
    /* The next input has the value, which the thread has no use of before it is told that the sample is there. */
    XENOGLOT_DRAGON_ACCESS_SAMPLE = 3
};

/* In all structures: flags are 0 or 1; `now` is the tick; `until` is the tick before which the unit does nothing by itself, 0 to
 * be ticked in the next one, which always comes after a tick in which something was handed over; `reserved` is not used. */

/* Parameters of memory. Times are in ticks. */
typedef struct {
    /* Bytes. */
    uint32_t bytes;
    /* Whether the timer says how long accesses take, not the SDRAM: 0 or 1. */
    uint32_t timer;
    uint32_t burst;
    uint32_t read;
    uint32_t write;
    uint32_t controller;
    /* A number. */
    uint32_t banks;
    /* Bytes. */
    uint32_t row_bytes;
    uint32_t cas;
    uint32_t rcd;
    uint32_t rp;
    uint32_t ras;
    uint32_t rc;
    uint32_t rrd;
    uint32_t wr;
    uint32_t turnaround;
    uint32_t rfc;
    uint32_t refresh;
} xenoglot_dragon_memory_config;

/* Parameters that models need. */
typedef struct {
    /* Width and height of a tile buffer in pixels. */
    uint32_t bin_size;
    /* VPUs, 1 to 8. The pixel at x and y goes to VPU `(x / 2 + y / 2) % vpus`. */
    uint32_t vpus;
    /* Pixels of a row that the rasteriser tests in a tick. */
    uint32_t raster_pixels;
    /* Whether it skips the rest of a row after the last covered pixel: 0 or 1. */
    uint32_t row_skip;
    /* Pixels that a fill writes in a tick. */
    uint32_t fill_pixels;
    /* Ticks to set up a triangle. */
    uint32_t setup;
    /* Vertices that the vertex cache holds. */
    uint32_t vertex_cache;
    /* Lines of 32 bytes that the texture cache holds. */
    uint32_t texture_cache;
    /* Fraction bits of fixed-point registers; 0 for `f32`. */
    uint32_t fraction;
    /* Threads of a VPU. */
    uint32_t threads;
    /* Ticks from the issue of an instruction to the thread's next, by `Latency`: simple, multiply, dot, special, tile,
     * texture. */
    uint32_t latency[6];
    /* Memory. */
    xenoglot_dragon_memory_config memory;
} xenoglot_dragon_config;

/* What a unit asks memory for. It has one access at a time; the tile buffer store writes, all others read. */
typedef struct {
    /* 1 if there is one. */
    uint32_t valid;
    /* The first byte. */
    uint32_t address;
    /* How many. */
    uint32_t bytes;
    uint32_t reserved;
} xenoglot_dragon_request;

/* What memory answers. */
typedef struct {
    /* The tick in which the access under way is done; 0 without one. */
    uint64_t done;
    /* 1 in the first tick from that one on: the access is over, and another one can be asked for. */
    uint32_t valid;
    uint32_t reserved;
} xenoglot_dragon_reply;

/* An edge function: `value + x * dx + y * dy`, in 1/256 of a pixel's area. A pixel is covered where it is at least
 * `bias` for all three edges. */
typedef struct {
    /* At the centre of the tile buffer's first pixel. */
    int64_t value;
    /* From pixel to pixel, to the right. */
    int64_t dx;
    /* From pixel to pixel, downwards. */
    int64_t dy;
    /* 1 where a pixel on the edge is outside, else 0. */
    int64_t bias;
} xenoglot_dragon_edge;

/* A pixel of a tile buffer. */
typedef struct {
    /* From the left. */
    uint16_t x;
    /* From the top. */
    uint16_t y;
} xenoglot_dragon_pixel;

/* A sample of a texture that a thread waits for. */
typedef struct {
    /* The thread's VPU. */
    uint32_t vpu;
    /* Its slot there. */
    uint32_t slot;
    /* How many of `lines` it needs, in order. */
    uint32_t count;
    /* Lines of memory of 32 bytes: addresses divided by 32. */
    uint32_t lines[XENOGLOT_DRAGON_MAX_LINES];
} xenoglot_dragon_sample;

/* What the command processor is handed in a tick. */
typedef struct {
    uint64_t now;
    /* Signals that are raised. */
    uint32_t signals;
    /* Units that have something under way: XENOGLOT_DRAGON_BUSY_*. */
    uint32_t busy;
    /* Register writes in the FIFO. */
    uint32_t depth;
    /* Register of the first; 0 without one. */
    uint32_t reg;
    /* Value of the first. */
    uint32_t value;
    uint32_t reserved;
} xenoglot_dragon_command_input;

/* What the command processor did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if it took the first write from the FIFO. */
    uint32_t take;
    /* 1 if the write below takes effect: a register is set, or a unit that is not busy is started. A write that has no
     * meaning sets the machine's faults; a wait for signals has no effect, as that is the command processor's own. */
    uint32_t write;
    /* Its register. */
    uint32_t reg;
    /* Its value. */
    uint32_t value;
    /* Signals that it cleared. */
    uint32_t clear;
    /* 1 if it has something under way after this tick, such as a wait for signals: the frame is not over. */
    uint32_t waits;
    /* The signals it waits for. */
    uint32_t mask;
} xenoglot_dragon_command_output;

/* What the program loader is handed in a tick. */
typedef struct {
    uint64_t now;
    /* Memory's answer. */
    xenoglot_dragon_reply memory;
    /* 1 if a load is started. That happens only after the one before is finished. */
    uint32_t valid;
    /* Where the program is. */
    uint32_t address;
} xenoglot_dragon_program_load_input;

/* What the program loader did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if what memory holds at the address is the program from the next tick on. */
    uint32_t finished;
    /* What it asks memory for. */
    xenoglot_dragon_request request;
} xenoglot_dragon_program_load_output;

/* What the triangle draw coordinator is handed in a tick. */
typedef struct {
    uint64_t now;
    /* Memory's answer. */
    xenoglot_dragon_reply memory;
    /* 1 if a draw is started. That happens only after the one before is finished. */
    uint32_t valid;
    /* Where its indices are, 16 bits each. */
    uint32_t indices;
    /* How many triangles it has. */
    uint32_t triangles;
    /* Which are not drawn: 0 none, 1 clockwise ones, 2 counter-clockwise ones. */
    uint32_t cull;
    /* The bin's first pixel: x and y. */
    uint32_t bin[2];
    /* 1 if a vertex is there that was asked for. */
    uint32_t vertex;
    /* Its place on the screen in sixteenths of a pixel: x and y, from -32768 to 32767. */
    int32_t place[2];
    /* 1 if the rasteriser takes a triangle in this tick. */
    uint32_t room;
    /* 1 if the rasteriser has no triangle, and no VPU a fragment. */
    uint32_t drained;
    uint32_t reserved;
    /* The burst that was read, when memory's answer is valid. */
    uint8_t data[XENOGLOT_DRAGON_BURST_BYTES];
} xenoglot_dragon_draw_input;

/* What the triangle draw coordinator did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if the draw is finished. */
    uint32_t finished;
    /* 1 if it asks for a vertex. It has one request at a time. */
    uint32_t ask;
    /* The vertex's index. */
    uint32_t index;
    /* What it asks memory for. */
    xenoglot_dragon_request request;
    /* 1 if it hands the rasteriser the triangle of the last three vertices, set up. What is said of it has to be
     * right: the machine interpolates, from the same vertices. */
    uint32_t triangle;
    uint32_t reserved;
    /* First pixel of its bounding box in the tile buffer: x and y. */
    uint32_t first[2];
    /* Last pixel, which is inside. */
    uint32_t last[2];
    /* Its edges: opposite the first vertex, and on clockwise, the second and third in turn. */
    xenoglot_dragon_edge edges[3];
} xenoglot_dragon_draw_output;

/* What the vertex cache is handed in a tick. */
typedef struct {
    uint64_t now;
    /* Memory's answer. */
    xenoglot_dragon_reply memory;
    /* 1 if a draw has started: what is cached is of no use any more. */
    uint32_t flush;
    /* Where the draw's vertices are. */
    uint32_t address;
    /* Bytes of a vertex. */
    uint32_t bytes;
    /* 1 if a vertex is asked for. That happens only after the one before was answered. */
    uint32_t valid;
    /* Its index. */
    uint32_t index;
    uint32_t reserved;
    /* What was read, when memory's answer is valid. */
    uint8_t data[XENOGLOT_DRAGON_VERTEX_BYTES];
} xenoglot_dragon_vertex_cache_input;

/* What the vertex cache did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if it has found that the vertex is there. */
    uint32_t hit;
    /* 1 if it has found that it is not. */
    uint32_t miss;
    /* 1 if it answers what it was asked. */
    uint32_t answer;
    /* What it asks memory for. */
    xenoglot_dragon_request request;
    /* The vertex as memory holds it. */
    uint8_t data[XENOGLOT_DRAGON_VERTEX_BYTES];
} xenoglot_dragon_vertex_cache_output;

/* What the rasteriser is handed in a tick. */
typedef struct {
    uint64_t now;
    /* 1 if a triangle is handed over. That happens only after a tick with `ready`. */
    uint32_t valid;
    /* First pixel of the triangle's bounding box in the tile buffer: x and y. */
    uint32_t first[2];
    /* Last pixel, which is inside. */
    uint32_t last[2];
    uint32_t reserved;
    /* Edges. */
    xenoglot_dragon_edge edges[3];
    /* Fragments that the queue of each VPU has room for. */
    uint32_t room[8];
} xenoglot_dragon_raster_input;

/* What the rasteriser did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if it takes another triangle in the next tick. */
    uint32_t ready;
    /* 1 if the triangle it was handed first is finished, with the pixels of this tick. */
    uint32_t finished;
    /* How many of `pixels` are covered by that triangle and handed on. */
    uint32_t count;
    /* Pixels, in the order in which VPUs receive them. */
    xenoglot_dragon_pixel pixels[XENOGLOT_DRAGON_MAX_PIXELS];
} xenoglot_dragon_raster_output;

/* What the texture unit is handed in a tick. */
typedef struct {
    uint64_t now;
    /* Memory's answer. */
    xenoglot_dragon_reply memory;
    /* 1 if a texture was changed: what is cached is of no use any more. */
    uint32_t flush;
    /* How many of `samples` are asked for. */
    uint32_t count;
    /* Samples, in order. */
    xenoglot_dragon_sample samples[XENOGLOT_DRAGON_MAX_SAMPLES];
} xenoglot_dragon_texture_input;

/* What the texture unit did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if the sample it was handed first is finished. */
    uint32_t finished;
    /* Lines it has found to be there. */
    uint32_t hits;
    /* Lines it has found not to be. */
    uint32_t misses;
    /* What it asks memory for. */
    xenoglot_dragon_request request;
} xenoglot_dragon_texture_output;

/* What the tile buffer fill is handed in a tick. */
typedef struct {
    uint64_t now;
    /* 1 if a fill is started. That happens only after the one before is finished. */
    uint32_t valid;
    /* Pixels of the tile buffer. */
    uint32_t pixels;
} xenoglot_dragon_fill_input;

/* What the tile buffer fill did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if the fill is finished. */
    uint32_t finished;
    /* The first pixel that gets the value, row by row. */
    uint32_t first;
    /* How many. */
    uint32_t count;
} xenoglot_dragon_fill_output;

/* What the tile buffer store or load is handed in a tick. */
typedef struct {
    uint64_t now;
    /* Memory's answer. */
    xenoglot_dragon_reply memory;
    /* 1 if a transfer is started. That happens only after the one before is finished. */
    uint32_t valid;
    /* The first row's address. */
    uint32_t address;
    /* Bytes from row to row in memory. */
    uint32_t stride;
    /* Rows of the tile buffer. */
    uint32_t rows;
    /* Bytes of a row. */
    uint32_t row_bytes;
    uint32_t reserved;
} xenoglot_dragon_transfer_input;

/* What the tile buffer store or load did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if the transfer is finished. */
    uint32_t finished;
    /* 1 if a row's data move, from the tile buffer to memory or the other way. */
    uint32_t moved;
    /* The row. */
    uint32_t row;
    /* Its address. */
    uint32_t address;
    uint32_t reserved;
    /* What it asks memory for. */
    xenoglot_dragon_request request;
} xenoglot_dragon_transfer_output;

/* What the unit that writes globals is handed in a tick. */
typedef struct {
    uint64_t now;
    /* 1 if a write is started. That happens only after the one before is finished. */
    uint32_t valid;
    /* The global. */
    uint32_t global;
    /* Its value. */
    uint32_t value[4];
} xenoglot_dragon_write_global_input;

/* What the unit that writes globals did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if the write is finished: the global below has its value from now on. */
    uint32_t finished;
    /* The global, 0 to 15. */
    uint32_t global;
    uint32_t reserved;
    /* Its value. */
    uint32_t value[4];
} xenoglot_dragon_write_global_output;

/* What a VPU is handed in a tick. */
typedef struct {
    uint64_t now;
    /* The tick from which the thread can use the sample that is there. */
    uint64_t sampled_at;
    /* 1 if the sample is there that the thread of a slot waits for. */
    uint32_t sampled;
    /* The slot. */
    uint32_t slot;
    /* 1 if a fragment waits in the queue. */
    uint32_t fragment;
    /* Its pixel: y times the tile buffer's width, and x. */
    uint32_t pixel;
    /* What its thread starts with. */
    uint32_t registers[16][4];
    /* What was loaded or sampled in the tick before. */
    uint32_t value[4];
    /* Globals. */
    uint32_t globals[16][4];
    /* Programs that have been loaded: another number, another program. */
    uint32_t loads;
    /* Words of the program. */
    uint32_t words;
    /* The program. */
    uint32_t program[XENOGLOT_DRAGON_PROGRAM_WORDS];
} xenoglot_dragon_vpu_input;

/* What a VPU did in a tick. */
typedef struct {
    uint64_t until;
    /* What it did: an xenoglot_dragon_event. */
    uint32_t event;
    /* 1 if it took the fragment and started a thread. */
    uint32_t take;
    /* Threads that it has after this tick. */
    uint32_t threads;
    /* 1 if an instruction was issued. */
    uint32_t issue;
    /* Its word in the program. */
    uint32_t pc;
    /* The pixel of its thread. */
    uint32_t pixel;
    /* Ticks until its thread can issue again, as far as that is known; for counters. */
    uint32_t ticks;
    /* 1 if its word is no instruction. */
    uint32_t undefined;
    /* What it does to tile buffers and textures: XENOGLOT_DRAGON_ACCESS_*. */
    uint32_t access;
    /* The program's number of that tile buffer or texture. */
    uint32_t unit;
    /* The slot of the thread that samples. */
    uint32_t slot;
    uint32_t reserved;
    /* What is stored, or the place that is sampled. */
    uint32_t value[4];
} xenoglot_dragon_vpu_output;

/* An access that memory is asked for. Memory is not ticked: it is called when a unit asks. */
typedef struct {
    uint64_t now;
    /* Who asks: a unit's track: 0 command, 1 vpu_program_load, 2 triangle_draw, 3 vertex_cache, 4 rasterizer, 5
     * texture,      * 6 tile_buffer_fill, 7 tile_buffer_store, 8 tile_buffer_load, 9 write_vpu_global. */
    uint32_t unit;
    /* 1 for a write. */
    uint32_t write;
    /* The first byte. */
    uint32_t address;
    /* How many. */
    uint32_t bytes;
} xenoglot_dragon_memory_input;

/* What comes of an access. */
typedef struct {
    /* The tick in which it is done, later than that in which it is asked for. */
    uint64_t done;
    /* Ticks for which the bus was others'. */
    uint64_t queued;
    /* Bursts that found their row open. */
    uint32_t hits;
    /* Bursts that found no row open in their bank. */
    uint32_t closed;
    /* Bursts that found another row open in their bank. */
    uint32_t conflicts;
    /* Refreshes that were made since the access before. */
    uint32_t refreshes;
} xenoglot_dragon_memory_output;

/* A model. `user` is the first argument of all functions; they are called by one thread at a time.
 *
 * reset    as after power-up.
 * tick     one tick; the output is zero before. Ticks that are skipped are not reported, see `until`.
 * save     writes the state if it has at most `capacity` bytes; gives how many it has, 0 if it cannot be had. May be null.
 * load     takes a state back; not 0 if it was one. May be null.
 * destroy  the model is not used any more. May be null. */
#define XENOGLOT_DRAGON_MODEL(name, input, output)                             \
    typedef struct {                                                           \
        uint32_t abi;                                                          \
        uint32_t reserved;                                                     \
        void *user;                                                            \
        void (*reset)(void *user, const xenoglot_dragon_config *config);       \
        void (*tick)(void *user, const input *in, output *out);                \
        size_t (*save)(void *user, uint8_t *state, size_t capacity);           \
        int (*load)(void *user, const uint8_t *state, size_t length);          \
        void (*destroy)(void *user);                                           \
    } name

XENOGLOT_DRAGON_MODEL(xenoglot_dragon_command_model, xenoglot_dragon_command_input, xenoglot_dragon_command_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_program_load_model, xenoglot_dragon_program_load_input, xenoglot_dragon_program_load_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_draw_model, xenoglot_dragon_draw_input, xenoglot_dragon_draw_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_vertex_cache_model, xenoglot_dragon_vertex_cache_input, xenoglot_dragon_vertex_cache_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_raster_model, xenoglot_dragon_raster_input, xenoglot_dragon_raster_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_texture_model, xenoglot_dragon_texture_input, xenoglot_dragon_texture_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_fill_model, xenoglot_dragon_fill_input, xenoglot_dragon_fill_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_transfer_model, xenoglot_dragon_transfer_input, xenoglot_dragon_transfer_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_write_global_model, xenoglot_dragon_write_global_input, xenoglot_dragon_write_global_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_vpu_model, xenoglot_dragon_vpu_input, xenoglot_dragon_vpu_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_memory_model, xenoglot_dragon_memory_input, xenoglot_dragon_memory_output);

/* The VPU that a pixel goes to. */
static inline uint32_t xenoglot_dragon_vpu(uint32_t x, uint32_t y, uint32_t vpus) {
    return (x / 2 + y / 2) % vpus;
}

#ifdef __cplusplus
}
#endif

#endif
