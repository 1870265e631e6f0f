// The simulator's C interface around the rasteriser in Verilog: a tick is a clock.
#include "Vrasterizer.h"
#include "verilated.h"
#include "xenoglot_dragon.h"
#include <memory>

namespace {

struct Model {
    VerilatedContext context;
    std::unique_ptr<Vrasterizer> top;

    void clock() {
        top->clk = 1;
        top->eval();
        top->clk = 0;
        top->eval();
    }
};

void reset(void *user, const xenoglot_dragon_config *config) {
    Model &model = *static_cast<Model *>(user);
    model.top = std::make_unique<Vrasterizer>(&model.context);
    Vrasterizer &top = *model.top;
    top.pixels = config->raster_pixels;
    top.vpus = config->vpus;
    top.row_skip = config->row_skip;
    top.valid = 0;
    top.rst = 1;
    top.clk = 0;
    top.eval();
    model.clock();
    top.rst = 0;
}

void tick(void *user, const xenoglot_dragon_raster_input *in, xenoglot_dragon_raster_output *out) {
    Model &model = *static_cast<Model *>(user);
    Vrasterizer &top = *model.top;
    top.valid = in->valid;
    top.first_x = in->first[0];
    top.first_y = in->first[1];
    top.last_x = in->last[0];
    top.last_y = in->last[1];
    top.bias = 0;
    for (int n = 0; n < 3; n++) {
        top.value[n] = in->edges[n].value;
        top.dx[n] = in->edges[n].dx;
        top.dy[n] = in->edges[n].dy;
        top.bias |= in->edges[n].bias << n;
    }
    for (int n = 0; n < 8; n++)
        top.room[n] = in->room[n];
    top.eval();
    out->event = !top.busy ? XENOGLOT_DRAGON_GENERIC_IDLE : top.full ? XENOGLOT_DRAGON_QUEUE_FULL : XENOGLOT_DRAGON_RASTER;
    // While it walks every clock counts; else nothing changes until it is handed a triangle or there is room.
    out->until = out->event == XENOGLOT_DRAGON_RASTER ? 0 : XENOGLOT_DRAGON_NEVER;
    out->ready = top.ready;
    out->finished = top.finished;
    out->count = top.count;
    for (uint32_t n = 0; n < out->count; n++) {
        out->pixels[n].x = top.x[n];
        out->pixels[n].y = top.y[n];
    }
    model.clock();
}

void destroy(void *user) { delete static_cast<Model *>(user); }

} // namespace

extern "C" xenoglot_dragon_raster_model new_verilog_rasterizer() {
    xenoglot_dragon_raster_model table = {};
    table.abi = XENOGLOT_DRAGON_ABI;
    table.user = new Model;
    table.reset = reset;
    table.tick = tick;
    table.destroy = destroy;
    return table;
}
