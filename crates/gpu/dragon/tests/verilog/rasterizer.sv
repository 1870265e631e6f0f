// The rasteriser: Pineda's edge functions along the rows of a triangle's bounding box, some pixels of a row a clock. One
// triangle waits while another is walked. What comes in is used in the same clock.
module rasterizer (
    input logic clk,
    input logic rst,
    // Constant: pixels of a row a clock, VPUs, and whether a row ends behind its last covered pixel.
    input logic [4:0] pixels,
    input logic [3:0] vpus,
    input logic row_skip,
    // A triangle, after a clock with `ready`.
    input logic valid,
    input logic [6:0] first_x,
    input logic [6:0] first_y,
    input logic [6:0] last_x,
    input logic [6:0] last_y,
    // Edge functions at pixel 0, 0, and what a pixel to the right and one downwards add.
    input logic signed [63:0] value[3],
    input logic signed [63:0] dx[3],
    input logic signed [63:0] dy[3],
    input logic [2:0] bias,
    // Fragments that each VPU has room for.
    input logic [8:0] room[8],
    output logic ready,
    output logic finished,
    // It has a triangle, and could hand on none of its pixels.
    output logic busy,
    output logic full,
    output logic [4:0] count,
    output logic [6:0] x[16],
    output logic [6:0] y[16]
);
  typedef struct packed {
    logic [6:0] first_x, first_y, last_x, last_y;
    logic [2:0][63:0] value, dx, dy;
    logic [2:0] bias;
  } triangle;

  typedef struct packed {
    logic waits, walks, seen;
    triangle waiting, current;
    logic [6:0] x, y;
    // Edge functions here, and where the row begins.
    logic [2:0][63:0] here, row;
  } state;

  state now, next;

  function automatic logic is_covered(logic [2:0][63:0] here, logic [2:0] outside);
    is_covered = 1;
    for (int n = 0; n < 3; n++)
      if ($signed(here[n]) < $signed({63'b0, outside[n]})) is_covered = 0;
  endfunction

  always_comb begin
    logic stop, covered;
    logic [2:0] vpu;
    logic [8:0] left[8];
    next = now;
    finished = 0;
    full = 0;
    count = 0;
    covered = 0;
    vpu = 0;
    for (int n = 0; n < 16; n++) begin
      x[n] = 0;
      y[n] = 0;
    end
    for (int n = 0; n < 8; n++) left[n] = room[n];
    if (valid) begin
      next.waits = 1;
      next.waiting.first_x = first_x;
      next.waiting.first_y = first_y;
      next.waiting.last_x = last_x;
      next.waiting.last_y = last_y;
      next.waiting.bias = bias;
      for (int n = 0; n < 3; n++) begin
        next.waiting.value[n] = value[n];
        next.waiting.dx[n] = dx[n];
        next.waiting.dy[n] = dy[n];
      end
    end
    if (!next.walks && next.waits) begin
      next.current = next.waiting;
      next.waits = 0;
      next.walks = 1;
      next.seen = 0;
      next.x = next.current.first_x;
      next.y = next.current.first_y;
      for (int n = 0; n < 3; n++) begin
        next.row[n] = next.current.value[n] + next.current.dx[n] * 64'(next.x)
                    + next.current.dy[n] * 64'(next.y);
        next.here[n] = next.row[n];
      end
    end
    busy = next.walks;
    stop = !next.walks;
    for (int t = 0; t < 16; t++)
      if (!stop && t < int'(pixels)) begin
        covered = is_covered(next.here, next.current.bias);
        // A quad stays together.
        vpu = 3'(({2'b0, next.x[6:1]} + {2'b0, next.y[6:1]}) % {4'b0, vpus});
        if (covered && left[vpu] == 0) begin
          full = t == 0;
          stop = 1;
        end else begin
          if (covered) begin
            left[vpu]--;
            x[count[3:0]] = next.x;
            y[count[3:0]] = next.y;
            count++;
            next.seen = 1;
          end
          next.x++;
          for (int n = 0; n < 3; n++) next.here[n] += next.current.dx[n];
          if ((!covered && next.seen && row_skip) || next.x > next.current.last_x) begin
            if (next.y == next.current.last_y) begin
              next.walks = 0;
              finished = 1;
            end
            next.y++;
            next.x = next.current.first_x;
            next.seen = 0;
            for (int n = 0; n < 3; n++) begin
              next.row[n] += next.current.dy[n];
              next.here[n] = next.row[n];
            end
            stop = 1;
          end
        end
      end
    ready = !next.waits;
  end

  always_ff @(posedge clk)
    if (rst) now <= '0;
    else now <= next;
endmodule
