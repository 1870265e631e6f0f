/* A rasteriser and a fill as the simulator's own: four pixels of a row a tick, and a value when its time is over. */
#include "xenoglot_dragon.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t first[2], last[2];
    xenoglot_dragon_edge edges[3];
} triangle;

typedef struct {
    xenoglot_dragon_config config;
    uint32_t waits, walks, seen, x, y;
    triangle waiting, current;
} rasterizer;

static void reset(void *user, const xenoglot_dragon_config *config) {
    rasterizer *r = user;
    memset(r, 0, sizeof *r);
    r->config = *config;
}

static int covered(const rasterizer *r) {
    for (int n = 0; n < 3; n++) {
        const xenoglot_dragon_edge *e = &r->current.edges[n];
        if (e->value + e->dx * r->x + e->dy * r->y < e->bias)
            return 0;
    }
    return 1;
}

static void next_row(rasterizer *r) {
    r->x = r->current.first[0];
    r->seen = 0;
}

static void walk(rasterizer *r, const uint32_t *free_slots, xenoglot_dragon_raster_output *out) {
    uint32_t room[8];
    memcpy(room, free_slots, sizeof room);
    for (uint32_t tested = 0; tested < r->config.raster_pixels; tested++) {
        int inside = covered(r);
        if (inside) {
            uint32_t *left = &room[xenoglot_dragon_vpu(r->x, r->y, r->config.vpus)];
            if (*left == 0) {
                if (tested == 0)
                    out->event = XENOGLOT_DRAGON_QUEUE_FULL;
                return;
            }
            --*left;
            out->pixels[out->count].x = (uint16_t)r->x;
            out->pixels[out->count++].y = (uint16_t)r->y;
            r->seen = 1;
        }
        r->x++;
        if ((!inside && r->seen && r->config.row_skip) || r->x > r->current.last[0]) {
            if (r->y++ == r->current.last[1]) {
                r->walks = 0;
                out->finished = 1;
            }
            next_row(r);
            return;
        }
    }
}

static void tick(void *user, const xenoglot_dragon_raster_input *in, xenoglot_dragon_raster_output *out) {
    rasterizer *r = user;
    if (in->valid) {
        memcpy(r->waiting.first, in->first, sizeof in->first);
        memcpy(r->waiting.last, in->last, sizeof in->last);
        memcpy(r->waiting.edges, in->edges, sizeof in->edges);
        r->waits = 1;
    }
    if (!r->walks && r->waits) {
        r->current = r->waiting;
        r->waits = 0;
        r->walks = 1;
        r->y = r->current.first[1];
        next_row(r);
    }
    out->until = XENOGLOT_DRAGON_NEVER;
    if (r->walks) {
        out->event = XENOGLOT_DRAGON_RASTER;
        walk(r, in->room, out);
        if (out->event == XENOGLOT_DRAGON_RASTER)
            out->until = 0;
    }
    out->ready = !r->waits;
}

static size_t save(void *user, uint8_t *state, size_t capacity) {
    if (capacity >= sizeof(rasterizer))
        memcpy(state, user, sizeof(rasterizer));
    return sizeof(rasterizer);
}

static int load(void *user, const uint8_t *state, size_t length) {
    if (length != sizeof(rasterizer))
        return 0;
    memcpy(user, state, length);
    return 1;
}

xenoglot_dragon_raster_model new_rasterizer(void) {
    return (xenoglot_dragon_raster_model){
        .abi = XENOGLOT_DRAGON_ABI,
        .user = calloc(1, sizeof(rasterizer)),
        .reset = reset,
        .tick = tick,
        .save = save,
        .load = load,
        .destroy = free,
    };
}

typedef struct {
    uint32_t per_tick, busy;
    uint64_t done;
} fill;

static void reset_fill(void *user, const xenoglot_dragon_config *config) {
    *(fill *)user = (fill){.per_tick = config->fill_pixels};
}

static void tick_fill(void *user, const xenoglot_dragon_fill_input *in, xenoglot_dragon_fill_output *out) {
    fill *f = user;
    if (in->valid) {
        f->busy = 1;
        f->done = in->now + (in->pixels + f->per_tick - 1) / f->per_tick - 1;
    }
    out->until = XENOGLOT_DRAGON_NEVER;
    if (!f->busy)
        return;
    out->event = XENOGLOT_DRAGON_TICK;
    out->until = f->done;
    if (in->now < f->done)
        return;
    f->busy = 0;
    out->finished = 1;
    out->count = in->pixels;
}

/* Cannot be saved. */
xenoglot_dragon_fill_model new_fill(void) {
    return (xenoglot_dragon_fill_model){
        .abi = XENOGLOT_DRAGON_ABI,
        .user = calloc(1, sizeof(fill)),
        .reset = reset_fill,
        .tick = tick_fill,
        .destroy = free,
    };
}
