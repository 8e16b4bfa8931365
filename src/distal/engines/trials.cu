// Many trials at once: one warp a trial, lanes are neurons.
//
// The host (gpu.py) defines:
//   HIDDEN     hidden neurons
//   CLIMB      0 DSP rules, 1 hill climbing
//   OUTPUTS    how output sums act: 0 winner, 1 binary, 2 random
//   PUNISH     1 if an equal EP is punished
//   CURRENT    1 if `pre` of recurrent and feedback synapses is that of the same step
//   NORMALISE  0 neuron, 1 layer, 2 none
//   STEPS      steps per episode
//   KEEP       1 if the best weights are kept
//   WARPS      warps a block, BLOCKS blocks wanted on a multiprocessor
//
// Compiled without fused multiply-add, and with subnormal numbers: every + and × is rounded on its own.
// The words are those of the definition (docs/exactness.md); docs/performance.md
// explains the design.

typedef unsigned int u32;
typedef unsigned long long u64;

#define INPUTS 3
#define ACTIONS 4
#define FEED (INPUTS + 1)
#define COLUMNS (FEED + HIDDEN + ACTIONS)        // incoming entries of a hidden neuron
#define SLOTS ((HIDDEN + ACTIONS + 31) / 32)     // neurons a lane; lane l has l, l + 32, ...
#define EVENTS 32                                // transitions that are remembered, one a lane
#define WORDS (EVENTS / 4)                       // four events a word, a byte each
#define ROW 12                                   // words of a row in shared memory, whole 16-byte pieces
#define ROWS (COLUMNS + HIDDEN)                  // what feeds hidden neurons, then hidden as outputs see it
#define ALL 0xFFFFFFFFu
#define NONE 0x7FFFFFFF

#define WEIGHTS 0
#define NOISE 1
#define ACTION 2

struct Event {       // one transition of the automaton, as it lies in shared memory
    u32 before[SLOTS], after[SLOTS];
    u32 walls, times;
};

struct Shared {      // of one warp
    u32 rows[ROWS][ROW];
    Event events[EVENTS];
};

// ---------------------------------------------------------------- random numbers

__device__ __forceinline__ uint4 philox(u32 c0, u32 c1, u32 c2, u32 c3, u64 seed)
{
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u64 p0 = (u64)c0 * 0xD2511F53u, p1 = (u64)c2 * 0xCD9E8D57u;
        c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
        c1 = (u32)p1;
        c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c3 = (u32)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

__device__ __forceinline__ float uniform(u32 word)
{
    return (float)((int)word >> 8) * 0x1p-23f;
}

// −ln((k + ½) / 2^31), with k the upper 31 bits of the word
__device__ __forceinline__ float minus_ln(u32 word)
{
    float x = (float)(int)(word >> 1) + 0.5f;
    int offset = __float_as_int(x) - 0x3F3504F3;
    float exponent = (float)(offset >> 23);
    float mantissa = __int_as_float((offset & 0x7FFFFF) + 0x3F3504F3);
    float s = __fdiv_rn(mantissa - 1.0f, mantissa + 1.0f);
    float z = s * s;
    float series = (((float)(1.0 / 7) * z + (float)(1.0 / 5)) * z + (float)(1.0 / 3)) * z + 1.0f;
    return (31.0f - exponent) * (float)0.6931471805599453 - (s + s) * series;
}

__device__ __forceinline__ float2 normals(u32 radius_word, u32 angle_word)
{
    float y = minus_ln(radius_word);
    float radius = __fsqrt_rn(y + y);
    float x = (float)(int)(angle_word << 2) * (float)(3.141592653589793 / 4 / 2147483648.0);
    float z = x * x;
    float sine = (float)(1.0 / 362880) * z + (float)(-1.0 / 5040);
    sine = (((sine * z + (float)(1.0 / 120)) * z + (float)(-1.0 / 6)) * z + 1.0f) * x;
    float cosine = (float)(1.0 / 40320) * z + (float)(-1.0 / 720);
    cosine = ((cosine * z + (float)(1.0 / 24)) * z + -0.5f) * z + 1.0f;
    u32 quarter = angle_word >> 30;
    float first = quarter & 1 ? sine : cosine, second = quarter & 1 ? cosine : sine;
    // Signs are the upper bit of a float: negative first for quarters 1 and 2, second for 2 and 3.
    first = __int_as_float(__float_as_int(first) ^ (int)(((quarter + 1) & 2) << 30));
    second = __int_as_float(__float_as_int(second) ^ (int)((quarter & 2) << 30));
    return make_float2(radius * first, radius * second);
}

// ---------------------------------------------------------------- a lane's neurons

// A lane's weights stand as those of a hidden neuron: inputs and bias, hidden, outputs. An output
// neuron has no entries but those from the hidden neurons and its bias, which stands where theirs does.
typedef float Weights[SLOTS][COLUMNS];

struct Lane {
    int lane;

    __device__ __forceinline__ int neuron(int slot) const { return 32 * slot + lane; }
    __device__ __forceinline__ bool is_hidden(int slot) const { return neuron(slot) < HIDDEN; }
    __device__ __forceinline__ bool is_output(int slot) const
    {
        return neuron(slot) >= HIDDEN && neuron(slot) < HIDDEN + ACTIONS;
    }

    // Whether column c of this neuron is a synapse.
    __device__ __forceinline__ bool exists(int slot, int c) const
    {
        if (c >= FEED && c < FEED + HIDDEN) return neuron(slot) < HIDDEN + ACTIONS && neuron(slot) != c - FEED;
        return is_hidden(slot) || (c == INPUTS && is_output(slot));
    }
};

// Draw four entries from `block` on: uniform weights, or normal deviates.
__device__ __forceinline__ float4 four(u32 block, int neuron, u32 episode, u32 purpose, u64 seed)
{
    uint4 word = philox(block, neuron, episode, purpose, seed);
    if (purpose == WEIGHTS) return make_float4(uniform(word.x), uniform(word.y), uniform(word.z), uniform(word.w));
    float2 a = normals(word.x, word.y), b = normals(word.z, word.w);
    return make_float4(a.x, a.y, b.x, b.y);
}

__device__ __forceinline__ float pick(float4 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

// Fill a lane's weights from the generator: w = uniform, or w = best + σ z.
//
// The draw is the pre-synaptic index: of a hidden neuron the column; of an output neuron the hidden
// neuron, and HIDDEN for the bias. FEED is 4, one block, so column c of an output is draw c − 4, and the
// first block, of which it has the bias alone, is that of draw HIDDEN.
template <u32 purpose>
__device__ __forceinline__ void draw(const Lane me, Weights &w, u64 seed, u32 episode, float sigma, const float *best)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        int n = me.neuron(s);
#pragma unroll
        for (int block = 0; block < (COLUMNS + 3) / 4; block++) {
            u32 drawn_block = !me.is_output(s) ? block : block == 0 ? HIDDEN / 4 : block - 1;
            float4 v = four(drawn_block, n, episode, purpose, seed);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int c = 4 * block + k;
                if (c >= COLUMNS) continue;
                float drawn = c == INPUTS && me.is_output(s) ? pick(v, HIDDEN % 4) : pick(v, k);
                if (purpose == NOISE) drawn = __ldcg(best + (s * COLUMNS + c) * 32 + me.lane) + sigma * drawn;
                w[s][c] = me.exists(s, c) ? drawn : 0.0f;
            }
        }
    }
}

__device__ __forceinline__ void save(const Lane me, const Weights &w, float *to)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) to[(s * COLUMNS + c) * 32 + me.lane] = w[s][c];
}

__device__ __forceinline__ void load(const Lane me, Weights &w, const float *from)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) w[s][c] = __ldcg(from + (s * COLUMNS + c) * 32 + me.lane);
}

// ---------------------------------------------------------------- the network

// All activations, one bit a neuron: hidden 0 … H−1, then the outputs.
struct State {
    u32 bits[SLOTS];

    __device__ __forceinline__ bool active(int neuron) const { return bits[neuron >> 5] >> (neuron & 31) & 1; }
    __device__ __forceinline__ u32 outputs() const
    {
        u32 low = bits[HIDDEN >> 5] >> (HIDDEN & 31);
#if (HIDDEN & 31) > 28
        low |= bits[(HIDDEN >> 5) + 1] << (32 - (HIDDEN & 31));
#endif
        return low & 15;
    }
    __device__ __forceinline__ void add_outputs(u32 active)
    {
        bits[HIDDEN >> 5] |= active << (HIDDEN & 31);
#if (HIDDEN & 31) > 28
        bits[(HIDDEN >> 5) + 1] |= active >> (32 - (HIDDEN & 31));
#endif
    }
};

// Σ over active hidden neurons, in ascending order.
__device__ __forceinline__ void recurrent(const Weights &w, const State &state, float (&sum)[SLOTS])
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++) sum[s] = 0.0f;
#pragma unroll
    for (int h = 0; h < HIDDEN; h++)
        if (state.active(h)) {
#pragma unroll
            for (int s = 0; s < SLOTS; s++) sum[s] += w[s][FEED + h];
        }
}

// Compute the state that follows one with these wall bits, and its action (not with OUTPUTS 2).
// `sum` holds the recurrent sums of the state before, and of the new one after.
__device__ __forceinline__ State follow(
    const Lane me, const Weights &weights, const State &state, u32 walls, float alpha_h, float alpha_o, float (&sum)[SLOTS], u32 &action)
{
    State next;
    u32 outputs = state.outputs();
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        const float *w = weights[s];
        float from_inputs = 0.0f, from_outputs = 0.0f;
        if (walls & 1) from_inputs += w[0];
        if (walls & 2) from_inputs += w[1];
        if (walls & 4) from_inputs += w[2];
        from_inputs += w[3];
#pragma unroll
        for (int k = 0; k < ACTIONS; k++)
            if (outputs >> k & 1) from_outputs += w[FEED + HIDDEN + k];
        float total = from_inputs + alpha_h * sum[s] + alpha_o * from_outputs;
        next.bits[s] = __ballot_sync(ALL, me.is_hidden(s) && total > 0.0f);
    }
    recurrent(weights, next, sum);
    // Every lane gets the four output sums and chooses for itself.
    float total[ACTIONS];
#pragma unroll
    for (int k = 0; k < ACTIONS; k++) {
        const int slot = (HIDDEN + k) / 32, lane = (HIDDEN + k) % 32;
        total[k] = __shfl_sync(ALL, sum[slot] + weights[slot][INPUTS], lane);
    }
    const bool second = total[1] > total[0], fourth = total[3] > total[2];
    const bool later = (fourth ? total[3] : total[2]) > (second ? total[1] : total[0]);
    action = later ? 2 + fourth : second;  // the first, if equal
    u32 active = 1u << action;
    if (OUTPUTS != 0) {
        active = 0;
#pragma unroll
        for (int k = 0; k < ACTIONS; k++) active |= (u32)(total[k] > 0.0f) << k;
    }
    next.add_outputs(active);
    return next;
}

// ---------------------------------------------------------------- the DSP update

// Steps in which a lane's neurons were active, as a byte for every event: 0 to 255, and what is above.
struct Traces {
    u32 low[SLOTS][WORDS];
#if STEPS > 255
    u32 high[SLOTS][WORDS];
#endif
};

// The same in all: as pre-synaptic neurons, as post-synaptic ones, and the input with the lane's number.
struct Totals {
    u32 pre[SLOTS], post[SLOTS], input;
};

// Turn the transitions that were taken into words, four events each: rows in shared memory for neurons
// as pre-synaptic ones (a byte 0 or 1), registers for the lane's own as post-synaptic ones (times taken).
__device__ __forceinline__ void build(Shared &mine, const Lane me, int known, Traces &t, Totals &total)
{
    __syncwarp();
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        u32 before[SLOTS], after[SLOTS], input = 0, times = 0, times_high = 0;
#pragma unroll
        for (int s = 0; s < SLOTS; s++) before[s] = after[s] = 0;
        if (4 * i < known) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const Event &event = mine.events[4 * i + j];
#pragma unroll
                for (int s = 0; s < SLOTS; s++) {
                    before[s] |= (event.before[s] >> me.lane & 1) << 8 * j;
                    after[s] |= (event.after[s] >> me.lane & 1) << 8 * j;
                }
                input |= ((event.walls | 1 << INPUTS) >> me.lane & 1) << 8 * j;
                times |= (event.times & 255) << 8 * j;
                times_high |= (event.times >> 8) << 8 * j;
            }
        }
#pragma unroll
        for (int s = 0; s < SLOTS; s++) {
            int n = me.neuron(s);
            u32 pre = CURRENT ? after[s] : before[s];
            u32 own = after[s] * 255;
            t.low[s][i] = own & times;
            total.pre[s] = __dp4a(pre, times, total.pre[s]);
            total.post[s] = __dp4a(after[s], times, total.post[s]);
#if STEPS > 255
            t.high[s][i] = own & times_high;
            total.pre[s] += 256 * __dp4a(pre, times_high, 0u);
            total.post[s] += 256 * __dp4a(after[s], times_high, 0u);
#endif
            if (4 * i < known || i < 3) {  // the first 16 bytes of a row are always read
                if (n < HIDDEN + ACTIONS) mine.rows[FEED + n][1 + i] = pre;
                if (n < HIDDEN) mine.rows[COLUMNS + n][1 + i] = after[s];
            }
        }
        total.input = __dp4a(input, times, total.input);
#if STEPS > 255
        total.input += 256 * __dp4a(input, times_high, 0u);
#endif
        if ((4 * i < known || i < 3) && me.lane < FEED) mine.rows[me.lane][1 + i] = input;
    }
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        int n = me.neuron(s);
        if (n < HIDDEN + ACTIONS) mine.rows[FEED + n][0] = total.pre[s] << 16;
        if (n < HIDDEN) mine.rows[COLUMNS + n][0] = total.post[s] << 16;
    }
    if (me.lane < FEED) mine.rows[me.lane][0] = total.input << 16;
    __syncwarp();
}

// The row that column c of a neuron reads: outputs see the hidden neurons of the same step.
__device__ __forceinline__ const u32 *row(const Shared &mine, const Lane me, int s, int c)
{
    int r = me.is_output(s) && c >= FEED && c < FEED + HIDDEN ? COLUMNS + c - FEED : c;
    return mine.rows[r];
}

// Steps in which both neurons of a synapse were active, and those of the pre-synaptic one << 16.
__device__ __forceinline__ int both(const u32 *row, const Traces &t, int s, int known, int &pre)
{
    uint4 a = *(const uint4 *)row;
    pre = (int)a.x;
    u32 count = __dp4a(a.w, t.low[s][2], __dp4a(a.z, t.low[s][1], __dp4a(a.y, t.low[s][0], 0u)));
#if STEPS > 255
    count += 256 * __dp4a(a.w, t.high[s][2], __dp4a(a.z, t.high[s][1], __dp4a(a.y, t.high[s][0], 0u)));
#endif
    if (known > 12) {
        uint4 b = *(const uint4 *)(row + 4);
        count = __dp4a(b.w, t.low[s][6], __dp4a(b.z, t.low[s][5], __dp4a(b.y, t.low[s][4],
                __dp4a(b.x, t.low[s][3], count))));
#if STEPS > 255
        count += 256 * __dp4a(b.w, t.high[s][6], __dp4a(b.z, t.high[s][5], __dp4a(b.y, t.high[s][4],
                 __dp4a(b.x, t.high[s][3], 0u))));
#endif
        if (known > 28) {
            count = __dp4a(row[8], t.low[s][7], count);
#if STEPS > 255
            count += 256 * __dp4a(row[8], t.high[s][7], 0u);
#endif
        }
    }
    return count;
}

// More than 32 transitions: add what is there to counts in memory and go on with an empty list.
__device__ __noinline__ Totals flush(Shared &mine, const Lane me, int known, Totals total, int *counts, bool first)
{
    Traces t;
    build(mine, me, known, t, total);
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
#pragma unroll 1
        for (int c = 0; c < COLUMNS; c++) {
            int pre, *to = counts + (s * COLUMNS + c) * 32 + me.lane;
            int count = both(row(mine, me, s, c), t, s, known, pre);
            *to = first ? count : *to + count;
        }
    __syncwarp();
    return total;
}

// The largest count whose frequency is not above θ, or −1: the division is the definition's.
__device__ __forceinline__ int threshold(float theta, int steps, int lane)
{
    float n = (float)steps;
    int from = max((int)(theta * n) - 1, 0);
    bool below = from + lane <= steps && __fdiv_rn((float)(from + lane), n) <= theta;
    return from + __ffs(~__ballot_sync(ALL, below)) - 2;
}

// The upper bits of the four half-words of two numbers, each as a byte 0 or −1.
__device__ __forceinline__ u32 signs(int a, int b)
{
    u32 bytes;
    asm("prmt.b32 %0, %1, %2, 0xFDB9;" : "=r"(bytes) : "r"(a), "r"(b));  // bit 3 of a digit copies the sign
    return bytes;
}

// w / norm, rounded to nearest, for a norm and a quotient far from the ends of the range. `inverse` is
// 1 / norm, rounded. The residuals are exact, which is what the fused operation is for; a second step
// makes the quotient the correctly rounded one (Markstein).
__device__ __forceinline__ float divided(float w, float norm, float inverse)
{
    float q = w * inverse;
    q = __fmaf_rn(__fmaf_rn(-q, norm, w), inverse, q);
    return __fmaf_rn(__fmaf_rn(-q, norm, w), inverse, q);
}

__device__ __forceinline__ void update(
    Shared &mine, const Lane me, Weights &w, int known, Totals total, int *counts, bool flushed, int steps,
    int limit, float eta, u32 table)
{
    Traces t;
    build(mine, me, known, t, total);
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        bool hidden = me.is_hidden(s), output = me.is_output(s);
        float rate = hidden || output ? eta : 0.0f, feeding = hidden ? eta : 0.0f;
        // Two counts in a word, and four comparisons in two subtractions: a half's upper bit says "not above".
        int limits = (limit + 0x8000) * 0x10001;
        int rest = limits - (int)(total.post[s] | (steps - total.post[s]) << 16);
        float squares[3] = {0.0f, 0.0f, 0.0f}, bias = 0.0f;
        u32 smallest = ALL;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const int part = c < FEED ? 0 : c < FEED + HIDDEN ? 1 : 2;
            int pre, count = both(row(mine, me, s, c), t, s, known, pre);
            if (flushed) count += counts[(s * COLUMNS + c) * 32 + me.lane];
            int p1 = pre - count * 65535;                        // 11 | 10 << 16
            u32 bits = signs(limits - p1, rest + p1);            // not 11, not 10, not 01, not 00
            int change = table << __dp4a((int)bits, (int)0xF0F8FCFE, 0);
            bool changes = change & 0x40000000;
            if (part == 1) changes = changes && me.neuron(s) != c - FEED;
            float own = part == 1 || c == INPUTS ? rate : feeding;
            float delta = __int_as_float(__float_as_int(own) | (change & 0x80000000));
            float changed = w[s][c] + (changes ? delta : 0.0f);
            w[s][c] = changed;
            if (NORMALISE != 2) {
                float square = changed * changed;
                if (c == INPUTS) {  // an output's bias comes last
                    bias = output ? square : 0.0f;
                    square = output ? 0.0f : square;
                }
                squares[NORMALISE == 1 ? part : 0] += square;
                smallest = min(smallest, 2 * __float_as_uint(changed) - 1);
            }
        }
        if (NORMALISE == 2) continue;
        squares[NORMALISE == 1 ? 1 : 0] += bias;
        float norm[3], inverse[3];
        bool far = smallest >= (27u << 24) - 1;  // |w| ≥ 2^-100, or 0
#pragma unroll
        for (int part = 0; part < (NORMALISE == 1 ? 3 : 1); part++) {
            norm[part] = __fsqrt_rn(squares[part]);
            if (norm[part] == 0.0f) norm[part] = 1.0f;
            inverse[part] = __frcp_rn(norm[part]);
            far = far && norm[part] > 0x1p-60f && norm[part] < 0x1p20f;
        }
        if (__all_sync(ALL, far)) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const int part = NORMALISE == 1 ? (c < FEED ? 0 : c < FEED + HIDDEN ? 1 : 2) : 0;
                float n = norm[part], i = inverse[part];
                if (NORMALISE == 1 && c == INPUTS && output) n = norm[1], i = inverse[1];
                w[s][c] = divided(w[s][c], n, i);
            }
        } else {
            // Weights that a rule never changes shrink until they are subnormal, and then 0. This is rare, and
            // goes through memory: 28 copies of a full division would not fit into the cache of instructions.
            float *spare = (float *)counts + s * COLUMNS * 32 + me.lane;
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) spare[c * 32] = w[s][c];
#pragma unroll 1
            for (int c = 0; c < COLUMNS; c++) {
                float n = norm[0];
                if (NORMALISE == 1 && (c >= FEED || (c == INPUTS && output))) n = c < FEED + HIDDEN ? norm[1] : norm[2];
                spare[c * 32] = __fdiv_rn(spare[c * 32], n);
            }
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) w[s][c] = spare[c * 32];
        }
    }
}

// ---------------------------------------------------------------- trials

// In all arrays by trial, a lane's weights lie at ((trial · SLOTS + slot) · COLUMNS + column) · 32 + lane.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) run_trials(
    const int *learner_of,   // (trials)
    const int *goal_of,      // (trials)
    const u64 *seed_of,      // (trials)
    const float *numbers,    // (learners, 4): η, θ, α_h, α_o; or σ, α_h, α_o, 0
    const u32 *tables,       // (learners, 2): the changes for m = −1, and for m = +1
    const int *moves,        // (places · 4), aligned to 16 bytes: see distal.engines.tables
    const int *distances,    // (finals · cells)
    const int *recorded,     // (episodes of this launch): the column of `best`, or −1
    int *best,               // (trials, columns)
    int *memory,             // (trials, 2): lowest EP; EP before, or best of the climb
    float *all_weights,      // (trials, …): as they run, or the best of the climb
    float *all_kept,         // (trials, …): of the lowest EP
    int *all_counts,         // (warps, …)
    int *next,               // the next piece of work to be taken
    volatile int *done,      // (trials): the episodes that a trial has behind it
    int trials, int first, int last,   // episodes first … last − 1 are run
    int piece,               // … so many at a time
    int resample, int columns, int cells, int start)
{
    __shared__ __align__(16) Shared shared[WARPS];
    const int warp = threadIdx.x >> 5;
    Shared &mine = shared[warp];
    const Lane me = {(int)(threadIdx.x & 31)};
    Weights w;
    const int size = SLOTS * COLUMNS * 32;
    int *counts = all_counts + (size_t)(blockIdx.x * WARPS + warp) * size;

    // Some trials take ten times as long as others, and the last to be begun would be waited for. So a
    // piece of work is a few episodes of a trial, and all trials have their first piece before any has its
    // second. Weights wait in memory meanwhile (read past the first cache, which another warp does not see).
    while (true) {
        int work = 0;
        if (me.lane == 0) work = atomicAdd(next, 1);
        work = __shfl_sync(ALL, work, 0);
        const int trial = work % trials, begin = first + work / trials * piece, end_of_piece = min(last, begin + piece);
        if (begin >= last) return;
        if (begin > first) {
            if (me.lane == 0)
                while (done[trial] < begin) __nanosleep(500);
            __threadfence();
            __syncwarp();
        }

        // What is needed once an episode is read again each time: registers are scarcer than reads.
        const int learner = learner_of[trial], goal = goal_of[trial];
        const float *number = numbers + 4 * learner;
        const float alpha_h = number[CLIMB ? 1 : 2], alpha_o = number[CLIMB ? 2 : 3];
        float *weights = all_weights + (size_t)trial * size;

        int lowest = NONE, previous = NONE;  // `previous` is the best of the climb in hill climbing
        if (begin > 0) {
            lowest = __ldcg(memory + 2 * trial);
            previous = __ldcg(memory + 2 * trial + 1);
            if (!CLIMB) load(me, w, weights);
        }
        for (int episode = begin; episode < end_of_piece; episode++) {
            const bool fresh = episode == 0 || (resample && episode % resample == 0);
            if (fresh) {
                draw<WEIGHTS>(me, w, seed_of[trial], episode, 0.0f, weights);
                previous = NONE;
            } else if (CLIMB) {
                draw<NOISE>(me, w, seed_of[trial], episode, number[0], weights);  // number 0 is σ
            }

            // ---- the walk. Lane u remembers transition u, and the place and state of a step mod 32.
            State state, old, before, after;
#pragma unroll
            for (int s = 0; s < SLOTS; s++) state.bits[s] = old.bits[s] = before.bits[s] = after.bits[s] = 0;
            u32 event_walls = ALL, event_action = 0, event_times = 0;
            int known = 0, old_place = -1;
            bool flushed = false;
            Totals total;
#pragma unroll
            for (int s = 0; s < SLOTS; s++) total.pre[s] = total.post[s] = 0;
            total.input = 0;
            float sum[SLOTS];
#pragma unroll
            for (int s = 0; s < SLOTS; s++) sum[s] = 0.0f;
            bool sum_is_of_state = true;

            int spot = start, end = start, step = 0, pits = 0;
            int period = 0, rounds = 0, left = 0, turn = 0;  // of a cycle, once one is found
            bool reached = false;
            uint4 words = make_uint4(0, 0, 0, 0);
            while (step < STEPS) {
                const int4 ahead = __ldg((const int4 *)moves + (spot >> 9));  // where the four actions lead
                const u32 walls = spot & 7;
                u32 action;
                int weight = 1;
                if (period) {
                    if (turn == left) end = spot;
                    if (turn == (rounds ? period : left)) break;
                    weight = rounds + (turn < left);
                    turn++;
                }

                // The transition: remembered, or computed.
                bool same = event_walls == walls;
#pragma unroll
                for (int s = 0; s < SLOTS; s++) same = same && before.bits[s] == state.bits[s];
                const u32 match = __ballot_sync(ALL, same);
                if (OUTPUTS != 2 && match && period == 0) {
                    // Who comes to a place in a state that was there before goes round in a circle from here.
                    // (The transition is known then, unless the list was emptied: the next round will tell.)
                    same = old_place == spot >> 9;
#pragma unroll
                    for (int s = 0; s < SLOTS; s++) same = same && old.bits[s] == state.bits[s];
                    const u32 seen = __ballot_sync(ALL, same);
                    if (seen) {
                        period = ((step - __ffs(seen)) & 31) + 1;
                        rounds = (STEPS - step) / period;
                        left = (STEPS - step) % period;
                        continue;
                    }
                }
                if (OUTPUTS != 2 && me.lane == (step & 31)) {
                    old_place = spot >> 9;
                    old = state;
                }
                if (match) {
                    int u = __ffs(match) - 1;
                    if (me.lane == u) event_times += weight;
#pragma unroll
                    for (int s = 0; s < SLOTS; s++) state.bits[s] = __shfl_sync(ALL, after.bits[s], u);
                    action = __shfl_sync(ALL, event_action, u);
                    sum_is_of_state = false;
                } else {
                    if (known == EVENTS) {
                        if (!CLIMB) {
#pragma unroll
                            for (int s = 0; s < SLOTS; s++) {
                                mine.events[me.lane].before[s] = before.bits[s];
                                mine.events[me.lane].after[s] = after.bits[s];
                            }
                            mine.events[me.lane].walls = event_walls;
                            mine.events[me.lane].times = event_times;
                            total = flush(mine, me, known, total, counts, !flushed);
                            flushed = true;
                        }
                        known = 0;
                        event_walls = ALL;
                        event_times = 0;
                    }
                    if (!sum_is_of_state) recurrent(w, state, sum);
                    sum_is_of_state = true;
                    State following = follow(me, w, state, walls, alpha_h, alpha_o, sum, action);
                    if (me.lane == known) {
                        before = state;
                        after = following;
                        event_walls = walls;
                        event_action = action;
                        event_times = weight;
                    }
                    known++;
                    state = following;
                }
                if (OUTPUTS == 2) {  // lane l holds the words of four of the next 128 steps
                    if ((step & 127) == 0) words = philox((step >> 2) + me.lane, 0, episode, ACTION, seed_of[trial]);
                    u32 own = (step & 3) == 0 ? words.x : (step & 3) == 1 ? words.y : (step & 3) == 2 ? words.z : words.w;
                    u32 word = __shfl_sync(ALL, own, step >> 2 & 31), active = state.outputs();
                    if (active == 0) active = 15;
                    u32 choice = __umulhi(word, __popc(active));
                    for (u32 k = 0; k < choice; k++) active &= active - 1;
                    action = __ffs(active) - 1;
                }
                spot = action & 2 ? (action & 1 ? ahead.w : ahead.z) : (action & 1 ? ahead.y : ahead.x);
                int entered = spot >> 3 & 63;
                if (period == 0) step++;
                if (entered) {
                    if (entered == goal + 1) {
                        reached = true;
                        break;
                    }
                    pits += weight;
                }
            }

            if (period == 0) end = spot;
            const int ep = (reached ? step : STEPS + distances[goal * cells + (end >> 11)]) + 5 * pits;
            if (ep < lowest) {
                lowest = ep;
                if (KEEP) save(me, w, all_kept + (size_t)trial * size);
            }
            const int column = recorded[episode - first];
            if (column >= 0 && me.lane == 0) best[(size_t)trial * columns + column] = lowest;

            if (CLIMB) {
                if (ep < previous) {
                    previous = ep;
                    save(me, w, weights);
                }
            } else {
                const bool good = ep < previous || (ep == previous && !PUNISH);
                previous = ep;
                const int steps = reached ? step : STEPS;
                const int limit = threshold(number[1], steps, me.lane);
#pragma unroll
                for (int s = 0; s < SLOTS; s++) {
                    mine.events[me.lane].before[s] = before.bits[s];
                    mine.events[me.lane].after[s] = after.bits[s];
                }
                mine.events[me.lane].walls = event_walls;
                mine.events[me.lane].times = me.lane < known ? event_times : 0;
                update(mine, me, w, known, total, counts, flushed, steps, limit, number[0],
                       tables[2 * learner + good]);
            }
        }
        if (me.lane == 0) {
            memory[2 * trial] = lowest;
            memory[2 * trial + 1] = previous;
        }
        if (!CLIMB) save(me, w, weights);
        __threadfence();
        __syncwarp();
        if (me.lane == 0) done[trial] = end_of_piece;
    }
}
