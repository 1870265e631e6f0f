/* Models of units for the Dragon simulator: the C ABI of xenoglot-dragon's `cosim`, which documents it. */
#ifndef XENOGLOT_DRAGON_H
#define XENOGLOT_DRAGON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XENOGLOT_DRAGON_ABI 1

/* `until` of a unit that does nothing more by itself. */
#define XENOGLOT_DRAGON_NEVER UINT64_MAX

#define XENOGLOT_DRAGON_MAX_PIXELS 16

/* What a unit did in a tick. */
enum xenoglot_dragon_event {
    XENOGLOT_DRAGON_GENERIC_IDLE = 0,
    XENOGLOT_DRAGON_TICK = 1,
    XENOGLOT_DRAGON_MEM_READ = 4,
    XENOGLOT_DRAGON_MEM_WRITE = 5,
    XENOGLOT_DRAGON_QUEUE_FULL = 6,
    XENOGLOT_DRAGON_RASTER = 10
};

typedef struct {
    uint32_t bin_size;
    uint32_t vpus;
    uint32_t raster_pixels;
    uint32_t row_skip;
    uint32_t fill_pixels;
} xenoglot_dragon_config;

/* value + x * dx + y * dy; a pixel is covered where that is at least `bias` for all three edges. */
typedef struct {
    int64_t value;
    int64_t dx;
    int64_t dy;
    int64_t bias;
} xenoglot_dragon_edge;

typedef struct {
    uint64_t now;
    /* 1: a triangle is handed over. */
    uint32_t valid;
    /* First and last pixel of its bounding box in the tile buffer, both inside: x and y. */
    uint32_t first[2];
    uint32_t last[2];
    uint32_t reserved;
    xenoglot_dragon_edge edges[3];
    /* Fragments that the queue of each VPU has room for. */
    uint32_t room[8];
} xenoglot_dragon_raster_input;

typedef struct {
    uint16_t x;
    uint16_t y;
} xenoglot_dragon_pixel;

typedef struct {
    /* The tick before which it does nothing by itself; 0 to be ticked in the next one, which always comes after a tick in
     * which something was handed over. */
    uint64_t until;
    uint32_t event;
    /* 1: another triangle can come in the next tick. */
    uint32_t ready;
    /* 1: the triangle that came first is finished, with these pixels. */
    uint32_t finished;
    uint32_t count;
    xenoglot_dragon_pixel pixels[XENOGLOT_DRAGON_MAX_PIXELS];
} xenoglot_dragon_raster_output;

typedef struct {
    uint64_t now;
    /* 1: a fill is started. */
    uint32_t valid;
    /* Pixels of the tile buffer. */
    uint32_t pixels;
} xenoglot_dragon_fill_input;

typedef struct {
    uint64_t until;
    uint32_t event;
    /* 1: the fill is finished. */
    uint32_t finished;
    /* Pixels that get the value: the first, row by row, and how many. */
    uint32_t first;
    uint32_t count;
} xenoglot_dragon_fill_output;

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

XENOGLOT_DRAGON_MODEL(xenoglot_dragon_raster_model, xenoglot_dragon_raster_input, xenoglot_dragon_raster_output);
XENOGLOT_DRAGON_MODEL(xenoglot_dragon_fill_model, xenoglot_dragon_fill_input, xenoglot_dragon_fill_output);

/* The VPU that a pixel goes to. */
static inline uint32_t xenoglot_dragon_vpu(uint32_t x, uint32_t y, uint32_t vpus) {
    return (x / 2 + y / 2) % vpus;
}

#ifdef __cplusplus
}
#endif

#endif
