// Many trials at once: one warp a trial, lanes are neurons.
//
// The host (`__init__.py`) defines:
//   INPUTS     bits that are sensed, without the bias: 1 to 31
//   ACTIONS    outputs: 1 to 16
//   EVENT_BITS bits of the class of a transition: 6, so that a long word has a bit for each
//   IN_SPOT    bits of a spot that say what is sensed there, the bias included; 0 where there is no room for them
//   WEIGHTS, NOISE, ACTION  what random numbers are for
//   ROUNDS, MULTIPLIER0, MULTIPLIER1, KEY_STEP0, KEY_STEP1  Philox's constants
//   SQRT_HALF_BITS  √½ as a 32-bit float
//   HIDDEN     hidden neurons
//   LARGE      1 if there are more weights than registers: each lane has them in memory of its own
//   CLIMB      0 DSP rules, 1 hill climbing
//   SIGMOID    1 if hidden neurons are continuous
//   FARTHEST_BITS, LOG2_E_BITS, SHIFT_BITS, LN_2_HIGH_BITS, LN_2_LOW_BITS, SERIES0 … SERIES6, ONE_BITS
//              the constants of `network.logistic`, as the bits of 32-bit floats
//   PHASES     1 if goals move
//   WINNER, BINARY, RANDOM  how output sums act: 1 for one of them
//   PUNISH     1 if an equal EP is punished
//   CURRENT    1 if `pre` of recurrent and feedback synapses is that of the same step
//   BY_LAYER   1 if the weights from each layer have their own norm
//   RAW        1 if weights are not normalised
//   STEPS      steps per episode
//   KEEP       1 if the best weights are kept
//   EVERY      1 if the EP of every episode is kept
//   BLOCKS     blocks, of one warp each, wanted on a multiprocessor
//   WAITING    long trials that may wait to be taken over, about
//   TOGETHER   steps that are checked together: 4, or 1 where the compiler has too few predicates for four
//
// Compiled without fused multiply-add, and with subnormal numbers: every + and × is rounded on its own.
// The words are those of the definition (docs/exactness.md); docs/performance.md
// explains the design.

typedef unsigned int u32;
typedef unsigned long long u64;

#define SENSED (INPUTS + 1)                      // inputs and the bias
#define FEED ((SENSED + 3) / 4 * 4)              // their columns: in fours, so that the next ones are aligned
#define PAD (FEED - SENSED)                      // the first columns, which are none: nothing is kept for them
#define BIAS (FEED - 1)                          // the column of the bias
#define COLUMNS (FEED + HIDDEN + ACTIONS)        // incoming entries of a hidden neuron
#define GROUPS ((COLUMNS + 3) / 4)               // of four columns
#define NEURONS (HIDDEN + ACTIONS)
#define SLOTS ((NEURONS + 31) / 32)              // neurons a lane; lane l has l, l + 32, ...
#define NUMBER (ACTIONS > 8 ? 4 : ACTIONS > 4 ? 3 : 2)  // bits of an action's number
#define BITS ((NEURONS + SENSED + (BINARY ? NUMBER : 0) + 31) / 32)  // words of a record
#define ROOM (STEPS > 128 ? 128 : (STEPS + 31) / 32 * 32)           // steps that are remembered
#define WORDS (ROOM / 32)
#define FULL (STEPS > ROOM ? ROOM - 32 : ROOM)   // steps of a past that is full: 32 more may be put behind them
#define SEEN (4 * GROUPS)                        // rows of hidden neurons as outputs see them, after those of columns
#define SPLIT ((HIDDEN & 31) + ACTIONS > 32)     // whether the outputs are in two slots
#define PARTS (BY_LAYER ? 3 : 1)                 // of a neuron's weights, each with a norm
#define LONG (STEPS / 3)                         // steps an episode, on average, of a trial that takes long
#define SURE 3                                   // episodes of a piece before a trial can be called long
#define FOUR (TOGETHER == 4 && SLOTS == 1 && WINNER)
#define EVENTS (1 << EVENT_BITS)                 // classes of transitions
#define STATE_AT (IN_SPOT + EVENT_BITS)          // a spot is state << STATE_AT | event << IN_SPOT | what is sensed
#define EVENT_OF(spot) ((spot) >> IN_SPOT & EVENTS - 1)
#define ROW (HIDDEN / 4 * 4 + 4)                 // of activities: one more than the hidden neurons, in fours
#define RECALLED (BITS == 1 && NEURONS + SENSED + (BINARY ? NUMBER : 0) < 32)  // whether a record leaves a bit free
#define EARLIER (SLOTS * COLUMNS > 250 ? 8 : 32)  // steps whose activities are kept: as many as there is room for
#if LARGE
#define UNROLLED _Pragma("unroll 1")
#else
#define UNROLLED _Pragma("unroll")               // over weights, which are in registers only if all is unrolled
#endif
#define ALL 0xFFFFFFFFu
#define NONE 0x7FFFFFFF

// ---------------------------------------------------------------- random numbers

__device__ __forceinline__ uint4 philox(u32 c0, u32 c1, u32 c2, u32 c3, u64 seed)
{
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        u64 p0 = (u64)c0 * (u32)MULTIPLIER0, p1 = (u64)c2 * (u32)MULTIPLIER1;
        c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
        c1 = (u32)p1;
        c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c3 = (u32)p0;
        k0 += (u32)KEY_STEP0;
        k1 += (u32)KEY_STEP1;
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
    int offset = __float_as_int(x) - SQRT_HALF_BITS;
    float exponent = (float)(offset >> 23);
    float mantissa = __int_as_float((offset & 0x7FFFFF) + SQRT_HALF_BITS);
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

// Where an entry of a lane's weights lies in memory.
__device__ __forceinline__ constexpr int place_of(int slot, int c)
{
    return (slot * (COLUMNS - PAD) + c - PAD) * 32;
}

// The lower n bits.
__device__ __forceinline__ u32 below(int n)
{
    return n <= 0 ? 0 : n >= 32 ? ALL : (1u << n) - 1;
}

// The part of a neuron's weights, for their norms, that column c belongs to.
__device__ __forceinline__ constexpr int part_of(int c)
{
    return PARTS == 1 || c < FEED ? 0 : c < FEED + HIDDEN ? 1 : 2;
}

struct Lane {
    int lane;

    __device__ __forceinline__ int neuron(int slot) const { return 32 * slot + lane; }
    __device__ __forceinline__ bool is_hidden(int slot) const { return neuron(slot) < HIDDEN; }
    __device__ __forceinline__ bool is_output(int slot) const
    {
        return neuron(slot) >= HIDDEN && neuron(slot) < NEURONS;
    }

    // Whether column c of this neuron is a synapse.
    __device__ __forceinline__ bool exists(int slot, int c) const
    {
        if (c >= FEED && c < FEED + HIDDEN) return neuron(slot) < NEURONS && neuron(slot) != c - FEED;
        return is_hidden(slot) || (c == BIAS && is_output(slot));
    }

    // The same for 32 columns from `first` on, a bit each.
    __device__ __forceinline__ u32 synapses(int slot, int first) const
    {
        const int n = neuron(slot), self = FEED + n - first;
        if (n < HIDDEN) return self >= 0 && self < 32 ? ~(1u << self) : ALL;
        if (n < NEURONS) return below(FEED + HIDDEN - first) & ~below(FEED - first) | (first ? 0 : 1u << BIAS);
        return 0;
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

template <class Four>
__device__ __forceinline__ auto &pick(Four &v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

// Fill a lane's weights from the generator: w = uniform, or w = best + σ z.
//
// The draw is the pre-synaptic index. Column c of a hidden neuron is draw c − PAD, of this block or the one
// before. Column c of an output neuron is draw c − FEED, and FEED / 4 blocks earlier; its bias is draw HIDDEN.
template <u32 purpose>
__device__ __forceinline__ void draw(const Lane me, Weights &w, u64 seed, u32 episode, float sigma, const float *best)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        int n = me.neuron(s);
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f), before;
        UNROLLED
        for (int block = 0; block < GROUPS; block++) {
            u32 drawn_block = !me.is_output(s) ? block : 4 * block < FEED ? HIDDEN / 4 : block - FEED / 4;
            before = v;
            v = four(drawn_block, n, episode, purpose, seed);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int c = 4 * block + k;
                if (c < PAD || c >= COLUMNS) continue;
                float drawn = c == BIAS && me.is_output(s)  ? pick(v, HIDDEN % 4)
                              : PAD == 0 || me.is_output(s) ? pick(v, k)
                              : k < PAD                     ? pick(before, k + 4 - PAD)
                                                            : pick(v, k - PAD);
                if (purpose == NOISE) drawn = __ldcg(best + place_of(s, c) + me.lane) + sigma * drawn;
                w[s][c] = me.exists(s, c) ? drawn : 0.0f;
            }
        }
    }
}

__device__ __forceinline__ void save(const Lane me, const Weights &w, float *to)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
        UNROLLED
        for (int c = PAD; c < COLUMNS; c++) to[place_of(s, c) + me.lane] = w[s][c];
}

__device__ __forceinline__ void load(const Lane me, Weights &w, const float *from)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
        UNROLLED
        for (int c = PAD; c < COLUMNS; c++) w[s][c] = __ldcg(from + place_of(s, c) + me.lane);
}

// ---------------------------------------------------------------- the network

// A step, one bit a neuron: hidden 0 … H−1, outputs, then what was sensed: the inputs and the bias
// (and the action, where the outputs do not tell it). A state is a record of which the neurons alone are set.
struct Record {
    u32 bits[BITS];

    __device__ __forceinline__ bool active(int neuron) const { return bits[neuron >> 5] >> (neuron & 31) & 1; }

    // So many bits from `at` on, of one word or of two.
    __device__ __forceinline__ u32 get(int at, int width) const
    {
        u32 low = bits[at >> 5] >> (at & 31);
        if ((at & 31) + width > 32) low |= bits[(at >> 5) + 1] << (32 - (at & 31));
        return low & below(width);
    }
    __device__ __forceinline__ void put(int at, int width, u32 value)
    {
        bits[at >> 5] |= value << (at & 31);
        if ((at & 31) + width > 32) bits[(at >> 5) + 1] |= value >> (32 - (at & 31));
    }
    __device__ __forceinline__ u32 outputs() const { return get(HIDDEN, ACTIONS); }
    __device__ __forceinline__ u32 sensed() const { return get(NEURONS, SENSED); }

    // The same, with what is sensed.
    __device__ __forceinline__ Record sensing(u32 sensed) const
    {
        Record r = *this;
        r.put(NEURONS, SENSED, sensed);
        return r;
    }
    __device__ __forceinline__ Record state() const
    {
        Record r;
#pragma unroll
        for (int b = 0; b < BITS; b++) r.bits[b] = bits[b] & below(NEURONS - 32 * b);
        return r;
    }
    __device__ __forceinline__ bool operator==(const Record &other) const
    {
        bool same = true;
#pragma unroll
        for (int b = 0; b < BITS; b++) same = same && bits[b] == other.bits[b];
        return same;
    }
};

// An episode, as far as it lies in the past: so many steps, of which those from `from` on were taken
// 1 + rounds times.
struct Walk {
    int length, from, rounds;
    int steps;  // all that were taken
};

struct __align__(16) Shared {
    u32 rows[WORDS + 1][SEEN + 4 * GROUPS];  // of a neuron, or input, as pre-synaptic: its activity, a bit a step
    u32 own[WORDS + 1][SLOTS][32];      // … of the lane's neurons as post-synaptic
    u32 totals[SEEN + 4 * GROUPS];      // … its active steps << 16
#if !LARGE
    float4 changes[SLOTS][GROUPS][32];  // see Changes
#endif
    u32 past[BITS][1 + ROOM];           // records of the steps, after that of the one before
    int spots[ROOM + 1];                // where the steps began, and the last ended
#if SIGMOID
    __align__(16) float activity[EARLIER][ROW];  // what the hidden neurons passed on, in the last steps
#endif
    Walk walk;
    float added[2][16];                 // what a synapse gets, by m and trace bits

    __device__ __forceinline__ Record record(int at) const
    {
        Record r;
#pragma unroll
        for (int b = 0; b < BITS; b++) r.bits[b] = past[b][1 + at];
        return r;
    }
    __device__ __forceinline__ void keep(int at, const Record &r)
    {
#pragma unroll
        for (int b = 0; b < BITS; b++) past[b][1 + at] = r.bits[b];
    }

    // Forget the first steps of a past that is full: all but 32.
    __device__ __forceinline__ void forget(int lane, int gone)
    {
        __syncwarp();
        const Record kept = record(gone + lane), edge = record(gone - 1);
        const int spot = spots[gone + lane], end = spots[FULL];
        __syncwarp();
        keep(lane, kept);
        keep(-1, edge);
        spots[lane] = spot;
        spots[32] = end;
        __syncwarp();
    }

    // Take the first steps of a circle, fewer than 32, once more: copy them behind the last.
    __device__ __forceinline__ void repeat(int lane, int length, int from, int again)
    {
        if (lane < again) {
            keep(length + lane, record(from + lane));
            spots[length + lane + 1] = spots[from + lane + 1];
        }
    }
};

static_assert(sizeof(Shared) <= 48 << 10, "more than a block may have");

// The changes of a lane's weights; before that, counts of steps in which both neurons were active.
struct Changes {
#if LARGE
    float4 own[SLOTS][GROUPS];

    __device__ __forceinline__ float4 &at(Shared &, const Lane, int slot, int group) { return own[slot][group]; }
#else
    __device__ __forceinline__ float4 &at(Shared &mine, const Lane me, int slot, int group)
    {
        return mine.changes[slot][group][me.lane];
    }
#endif
};

// Keep a number or an address: the compiler would find it anew at every use, which takes longer than the use.
__device__ __forceinline__ int held(int number)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(number));
#endif
    return number;
}
__device__ __forceinline__ Shared &held(Shared &memory)
{
#ifdef __CUDA_ARCH__
    u32 address = (u32)__cvta_generic_to_shared(&memory);
    asm volatile("" : "+r"(address));
    return *(Shared *)__cvta_shared_to_generic(address);
#else
    return memory;
#endif
}

template <class T>
__device__ __forceinline__ T *held(T *address)
{
#ifdef __CUDA_ARCH__
    int multiprocessor;  // fewer than 2^20, which the compiler does not know
    asm("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    asm volatile("add.u64 %0, %0, %1;" : "+l"(address) : "l"((u64)(multiprocessor >> 20)));
#endif
    return address;
}

// The place of the highest bit that is set.
__device__ __forceinline__ u32 highest(u32 bits)
{
#ifdef __CUDA_ARCH__
    u32 place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(bits));
    return place;
#else
    return 31 - __clz(bits);
#endif
}

// The bits of all lanes together. Those that have any have the same, apart from the uppermost.
__device__ __forceinline__ u32 united(u32 bits)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    const u32 uppermost = __ballot_sync(ALL, bits >> 31), any = __ballot_sync(ALL, bits != 0);
    return any ? __shfl_sync(ALL, bits, __ffs(uppermost ? uppermost : any) - 1) : 0;
#endif
}

// The record of nothing.
__device__ __forceinline__ Record nothing()
{
    Record r;
#pragma unroll
    for (int b = 0; b < BITS; b++) r.bits[b] = 0;
    return r;
}

// The output that won in a remembered step, as a neuron.
__device__ __forceinline__ u32 winner_of(const Record &r)
{
    if (BINARY) return HIDDEN + r.get(NEURONS + SENSED, NUMBER);
    if (!SPLIT) return HIDDEN / 32 * 32 + highest(r.bits[HIDDEN / 32] & below(ACTIONS) << (HIDDEN & 31));
    return HIDDEN + highest(r.outputs());
}

// One of the actions whose bits are set, or of all if none is, by a random word.
__device__ __forceinline__ u32 one_of(u32 active, u32 word)
{
    if (active == 0) active = below(ACTIONS);
    const u32 choice = __umulhi(word, __popc(active));
    for (u32 k = 0; k < choice; k++) active &= active - 1;
    return __ffs(active) - 1;
}

// Where the actions lead from a state: four spots are read at once, before it is known which of them is
// needed; of any other number the one that is needed, once it is known.
#if ACTIONS == 4
typedef int4 Moves;
typedef int4 Ahead;

__device__ __forceinline__ Ahead ahead_of(const Moves *moves, int state) { return __ldg(moves + state); }
__device__ __forceinline__ int chosen(const Ahead &ahead, u32 action)
{
    return action & 2 ? (action & 1 ? ahead.w : ahead.z) : (action & 1 ? ahead.y : ahead.x);
}
#else
typedef int Moves;
typedef const int *Ahead;

__device__ __forceinline__ Ahead ahead_of(const Moves *moves, int state) { return moves + state * ACTIONS; }
__device__ __forceinline__ int chosen(const Ahead &ahead, u32 action) { return __ldg(ahead + action); }
#endif

// Where the action of a remembered step leads.
__device__ __forceinline__ int chosen_again(const Ahead &ahead, const Record &r)
{
#if ACTIONS == 4 && WINNER && BITS == 1  // the bits of the outputs say it
    const bool odd = r.bits[0] & 10u << HIDDEN, high = r.bits[0] & 12u << HIDDEN;
    return high ? (odd ? ahead.w : ahead.z) : (odd ? ahead.y : ahead.x);
#else
    return RANDOM ? 0 : chosen(ahead, winner_of(r) - HIDDEN);
#endif
}

// What is sensed in a spot.
__device__ __forceinline__ u32 sensed_in(const u32 *sensed_at, int spot)
{
    return IN_SPOT ? spot & below(IN_SPOT) : __ldg(sensed_at + (spot >> STATE_AT));
}

// The first of the actions with the largest sum, the same as a bit, and the spot that it leads to.
struct Choice {
    u32 action, bit;
    int spot;
};
__device__ __forceinline__ Choice best_of(const float (&total)[ACTIONS], const Ahead &ahead)
{
#if ACTIONS == 4  // in two rounds
    const bool second = total[1] > total[0], fourth = total[3] > total[2];
    const bool later = (fourth ? total[3] : total[2]) > (second ? total[1] : total[0]);
    const u32 one = second ? 2 : 1, other = fourth ? 8 : 4;
    const int low = second ? ahead.y : ahead.x, high = fourth ? ahead.w : ahead.z;
    return {later ? 2u + fourth : second, later ? other : one, later ? high : low};
#else
    u32 action = 0;
    float largest = total[0];
#pragma unroll
    for (int k = 1; k < ACTIONS; k++)
        if (total[k] > largest) {
            largest = total[k];
            action = k;
        }
    return {action, 1u << action, chosen(ahead, action)};
#endif
}

// Σ over active hidden neurons, in ascending order.
__device__ __forceinline__ void recurrent(const Weights &w, const Record &state, float (&sum)[SLOTS])
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++) sum[s] = 0.0f;
#if LARGE
#pragma unroll
    for (int b = 0; 32 * b < HIDDEN; b++)
        for (u32 active = state.bits[b] & below(HIDDEN - 32 * b); active; active &= active - 1) {
            const int h = 32 * b + __ffs(active) - 1;
#pragma unroll
            for (int s = 0; s < SLOTS; s++) sum[s] += w[s][FEED + h];
        }
#else
#pragma unroll
    for (int h = 0; h < HIDDEN; h++)
        if (state.active(h)) {
#pragma unroll
            for (int s = 0; s < SLOTS; s++) sum[s] += w[s][FEED + h];
        }
#endif
}

// The sum that decides whether a lane's neuron becomes active; `sum` is that over the hidden neurons.
__device__ __forceinline__ float excitation(
    const float (&w)[COLUMNS], u32 sensed, u32 outputs, float sum, float alpha_h, float alpha_o)
{
    float from_inputs = 0.0f, from_outputs = 0.0f;
#pragma unroll
    for (int i = 0; i < INPUTS; i++)
        if (sensed >> i & 1) from_inputs += w[PAD + i];
    from_inputs += w[BIAS];
#pragma unroll
    for (int k = 0; k < ACTIONS; k++)
        if (outputs >> k & 1) from_outputs += w[FEED + HIDDEN + k];
    return from_inputs + alpha_h * sum + alpha_o * from_outputs;
}

// The sums of the outputs, for every lane; `sum` is that over the hidden neurons.
__device__ __forceinline__ void output_sums(const Weights &w, const float (&sum)[SLOTS], float (&total)[ACTIONS])
{
#pragma unroll
    for (int k = 0; k < ACTIONS; k++) {
        const int slot = (HIDDEN + k) / 32, lane = (HIDDEN + k) % 32;
        total[k] = __shfl_sync(ALL, sum[slot] + w[slot][BIAS], lane);
    }
}

// Put the outputs into a state, and return the spot that their action leads to; every lane chooses for itself.
__device__ __forceinline__ int act(Record &next, const float (&total)[ACTIONS], const Ahead &ahead)
{
    const Choice choice = best_of(total, ahead);
    if (WINNER) {
        next.put(HIDDEN, ACTIONS, choice.bit);
    } else {
        u32 active = 0;
#pragma unroll
        for (int k = 0; k < ACTIONS; k++) active |= (u32)(total[k] > 0.0f) << k;
        next.put(HIDDEN, ACTIONS, active);
        if (BINARY) next.put(NEURONS + SENSED, NUMBER, choice.action);
    }
    return choice.spot;
}

// The neurons that follow a state, with what is sensed: bits of the hidden ones, and of other lanes behind them.
// `sum` holds the recurrent sums of the state.
__device__ __forceinline__ Record excited(
    const Weights &w, const Record &state, u32 sensed, float alpha_h, float alpha_o, const float (&sum)[SLOTS])
{
    Record next = nothing();
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        float total = excitation(w[s], sensed, state.outputs(), sum[s], alpha_h, alpha_o);
        next.bits[s] = __ballot_sync(ALL, total > 0.0f);
    }
    return next;
}

// The record of a step whose hidden neurons are known, and where its action leads (not with RANDOM). `sum` becomes
// the recurrent sums of the new state.
__device__ __forceinline__ Record acted(
    const Weights &w, Record next, u32 sensed, const Ahead &ahead, float (&sum)[SLOTS], int &spot)
{
    recurrent(w, next, sum);
    float total[ACTIONS];
    output_sums(w, sum, total);
#pragma unroll
    for (int s = 0; s < SLOTS; s++) next.bits[s] &= below(HIDDEN - 32 * s);
    spot = act(next, total, ahead);
    return next.sensing(sensed);
}

// Whether a record does not follow now from the state before: bits of neurons that differ, 0 if it does. `sum`
// holds the recurrent sums of that state, and those of the record after.
__device__ __forceinline__ u32 differing(
    const Weights &w, const Record &before, const Record &record, float alpha_h, float alpha_o,
    float (&sum)[SLOTS])
{
    u32 wrong = 0;
    if (!FOUR) __syncwarp();  // or the compiler mixes this with what follows, and runs out of predicates
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        float total = excitation(w[s], record.sensed(), before.outputs(), sum[s], alpha_h, alpha_o);
        wrong |= (__ballot_sync(ALL, total > 0.0f) ^ record.bits[s]) & below(HIDDEN - 32 * s);
    }
    recurrent(w, record, sum);
    // No output before the one that won has as large a sum, and none after it a larger one.
    const int winner = winner_of(record), slot = HIDDEN / 32;
    float own[SLOTS];
#pragma unroll
    for (int s = 0; s < SLOTS; s++) own[s] = sum[s] + w[s][BIAS];
    const bool beyond = SPLIT && winner >= 32 * (slot + 1);
    const float largest = __shfl_sync(ALL, beyond ? own[SLOTS - 1] : own[slot], winner & 31);
#pragma unroll
    for (int s = slot; s < SLOTS; s++) {
        const u32 outputs = below(NEURONS - 32 * s) & ~below(HIDDEN - 32 * s);
        const u32 as_large = __ballot_sync(ALL, own[s] >= largest);
        const u32 larger = __ballot_sync(ALL, own[s] > largest);
        wrong |= (as_large & below(winner - 32 * s) | larger) & outputs;
        if (!WINNER) wrong |= (__ballot_sync(ALL, own[s] > 0.0f) ^ record.bits[s]) & outputs;
    }
    return wrong;
}

// Compute the steps again that were computed in the episode before: as long as they come out the same, so does
// everything between them. Returns whether all do; else `step` is the first that does not. Where four follow one
// another, they do not wait for each other.
__device__ __forceinline__ bool unchanged(
    const Shared &mine, const Weights &w, u32 computed, int length, float alpha_h, float alpha_o, int &step)
{
    Record state = nothing();
    float sum[SLOTS];  // over the hidden neurons of the state
#pragma unroll
    for (int s = 0; s < SLOTS; s++) sum[s] = 0.0f;
    bool same = true;
    for (int word = 0; same && 32 * word < length; word++) {
        u32 todo = __ballot_sync(ALL, computed >> word & 1);
        while (todo) {
            const int low = __ffs(todo) - 1;
            step = 32 * word + low;
            const Record before = mine.record(step - 1).state();
            if (!(before == state)) recurrent(w, before, sum);
            state = before;
            u32 wrong[4] = {0, 0, 0, 0};
            if (FOUR && (todo >> low & 15) == 15) {
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const Record record = mine.record(step + k);
                    wrong[k] = differing(w, state, record, alpha_h, alpha_o, sum);
                    state = record.state();
                }
                todo &= todo - 1;
                todo &= todo - 1;
                todo &= todo - 1;
            } else {
                const Record record = mine.record(step);
                wrong[0] = differing(w, state, record, alpha_h, alpha_o, sum);
                state = record.state();
            }
            if (wrong[0] | wrong[1] | wrong[2] | wrong[3]) {
                same = false;
                step += wrong[0] ? 0 : wrong[1] ? 1 : wrong[2] ? 2 : 3;
                break;
            }
            todo &= todo - 1;
        }
    }
    return same;
}

// ---------------------------------------------------------------- continuous neurons

#if SIGMOID
#ifdef __CUDA_ARCH__
// 1 / x, off by a unit in the last place at most.
__device__ __forceinline__ float nearly_inverse(float x)
{
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
}
#endif

// a / b, rounded to nearest, for b = 1 + p and a = 1 or p, with any p from 2^-27 to 1. This is what the compiler
// makes of a division, without its look for numbers that are too large or too small. All p were tried, with
// inverses off by a unit or not: the result is exact, save 1 / (2 − 2^-23) where the inverse of that is off, which
// no card's is, for __frcp_rn refines it the same way.
__device__ __forceinline__ float quotient(float a, float b)
{
    float inverse = nearly_inverse(b);
    inverse = __fmaf_rn(inverse, __fmaf_rn(-b, inverse, 1.0f), inverse);
    const float q = a * inverse;
    return __fmaf_rn(__fmaf_rn(-b, q, a), inverse, q);
}

// 1 / (1 + e^-x), in the words of `network.logistic`.
__device__ __forceinline__ float logistic(float sum)
{
    const float size = fminf(fabsf(sum), __int_as_float(FARTHEST_BITS)), shift = __int_as_float(SHIFT_BITS);
    const float shifted = size * __int_as_float(LOG2_E_BITS) + shift, whole = shifted - shift;
    const float u = (whole * __int_as_float(LN_2_HIGH_BITS) - size) + whole * __int_as_float(LN_2_LOW_BITS);
    const int series[] = {SERIES0, SERIES1, SERIES2, SERIES3, SERIES4, SERIES5, SERIES6};
    float power = __int_as_float(series[0]);
#pragma unroll
    for (int k = 1; k < 7; k++) power = power * u + __int_as_float(series[k]);
    power *= __int_as_float(ONE_BITS - (__float_as_int(shifted) << 23));
    return quotient(sum > 0.0f ? 1.0f : power, 1.0f + power);
}

// Compute a step, and where its action leads (not with RANDOM). `sum` holds the recurrent sums of the step before,
// and of this one after; `key` tells activities apart: what differs in it differs, what does not may.
__device__ __forceinline__ Record activate(
    Shared &mine, const Lane me, const Weights &w, int step, const Record &state, u32 sensed, float alpha_h,
    float alpha_o, const Ahead &ahead, float (&sum)[SLOTS], int &spot, u32 &key)
{
    Record next = nothing();
    float(&activity)[ROW] = mine.activity[step % EARLIER];
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        const float total = excitation(w[s], sensed, state.outputs(), sum[s], alpha_h, alpha_o);
        next.bits[s] = __ballot_sync(ALL, total > 0.0f) & below(HIDDEN - 32 * s);
        activity[min(me.neuron(s), HIDDEN)] = logistic(total);  // of no use after the last hidden neuron's
        sum[s] = 0.0f;
    }
    __syncwarp();
    UNROLLED
    for (int first = 0; first < HIDDEN; first += 4) {
        const float4 passed_on = *(const float4 *)(activity + first);
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + k < HIDDEN) {
#pragma unroll
                for (int s = 0; s < SLOTS; s++) sum[s] += w[s][FEED + first + k] * pick(passed_on, k);
            }
    }
    float total[ACTIONS];
    output_sums(w, sum, total);
    key = 0;
#pragma unroll
    for (int k = 0; k < ACTIONS; k++) key = key * (u32)KEY_STEP0 + __float_as_uint(total[k]);
    spot = act(next, total, ahead);
    return next.sensing(sensed);
}

// How many steps before the last one the agent came to the same place with the same activity, to the bit; 0 if it
// did not in those that are kept. Bit l of `match` says that the one which is l mod EARLIER has the same key.
__device__ __forceinline__ int repeated(const Shared &mine, const Lane me, u32 match, int last, int base)
{
    match &= below(min(last, EARLIER)) & ~(1u << last % EARLIER);  // this one took the place of a step
    while (match) {
        const int earlier = __ffs(match) - 1, ago = last - earlier & EARLIER - 1, now = last - base, then = now - ago;
        bool same = mine.spots[then + 1] >> STATE_AT == mine.spots[now + 1] >> STATE_AT &&
                    mine.record(then).state() == mine.record(now).state();
#pragma unroll
        for (int s = 0; s < SLOTS; s++)
            if (me.is_hidden(s))
                same = same && mine.activity[earlier][me.neuron(s)] == mine.activity[last % EARLIER][me.neuron(s)];
        if (__all_sync(ALL, same)) return ago;
        match &= match - 1;
    }
    return 0;
}
#endif

// ---------------------------------------------------------------- the DSP update

// Active steps of the lane's neurons and inputs: as pre-synaptic ones, and as post-synaptic ones.
struct Totals {
    u32 pre[BITS], post[SLOTS];
};

// The largest count whose frequency is not above θ: the division is the definition's.
__device__ __forceinline__ int threshold(float theta, int steps, int lane)
{
    float n = (float)steps;
    int from = max((int)(theta * n) - 1, 0);
    bool not_above = from + lane <= steps && __fdiv_rn((float)(from + lane), n) <= theta;
    return from + __ffs(~__ballot_sync(ALL, not_above)) - 2;
}

// The upper bits of the four half-words of two numbers, each as a byte 0 or −1.
__device__ __forceinline__ int signs(u32 a, u32 b)
{
#ifdef __CUDA_ARCH__
    int bytes;
    asm("prmt.b32 %0, %1, %2, 0xFDB9;" : "=r"(bytes) : "r"(a), "r"(b));  // bit 3 of a digit copies the sign
    return bytes;
#else
    return (a >> 15 & 1) * 0xFF | (a >> 31) * 0xFF00 | (b >> 15 & 1) * 0xFF0000 | (b >> 31) * 0xFF000000;
#endif
}

// Turn a matrix of bits round: bit k of lane l becomes bit l of lane k.
__device__ __forceinline__ u32 transposed(u32 x, int lane)
{
    u32 mask = 0x0000FFFF;
#pragma unroll
    for (int k = 16; k; k >>= 1, mask ^= mask << k) {
        const u32 other = __shfl_xor_sync(ALL, x, k);
        x = lane & k ? x & ~mask | other >> k & mask : x & mask | other << k & ~mask;
    }
    return x;
}

// The column of a neuron or input as pre-synaptic.
__device__ __forceinline__ int column_of(int source)
{
    return source < NEURONS ? FEED + source : PAD + source - NEURONS;
}

// Write the activity of all neurons and inputs into rows, a bit a step, and that of the steps of a circle into
// another, from its first step on. Adds to the totals.
__device__ __forceinline__ void build(Shared &mine, const Lane me, const Walk &walk, Totals &total)
{
    u32 now[BITS], pre[BITS], now_before[BITS], pre_before[BITS];
#pragma unroll
    for (int b = 0; b < BITS; b++) {
        now[b] = mine.past[b][0] >> me.lane << 31;
        pre[b] = 0;
    }
    __syncwarp();
    // Words of 32 steps, and one more for the circle, which has at most 32.
    const int words = (walk.length + 31) >> 5, from = walk.from - 32 * (words - 1);
    if (words > 1)  // then all words are read; a neuron was active in none of those that are not used
#pragma unroll
        for (int word = 2; word < WORDS; word++)
#pragma unroll
            for (int s = 0; s < SLOTS; s++) mine.own[word][s][me.lane] = 0;
#pragma unroll 1
    for (int word = 0; word <= words; word++) {
        const bool circle = word == words;
        const int kept = circle ? WORDS : word;
        const u32 mask = below(walk.length - (circle ? walk.from : 32 * word));
        const int times = circle ? walk.rounds : 1;
#pragma unroll
        for (int b = 0; b < BITS; b++) {
            const int source = 32 * b + me.lane;
            u32 n, p;
            if (circle) {
                n = from >= 0 ? now[b] >> (from & 31) : __funnelshift_r(now_before[b], now[b], from);
                p = from >= 0 ? pre[b] >> (from & 31) : __funnelshift_r(pre_before[b], pre[b], from);
            } else {
                n = transposed(mine.past[b][1 + 32 * word + me.lane], me.lane);
                p = CURRENT || source >= NEURONS ? n : n << 1 | now[b] >> 31;
                now_before[b] = now[b];
                pre_before[b] = pre[b];
                now[b] = n;
                pre[b] = p;
            }
            total.pre[b] += times * __popc(p & mask);
            if (b < SLOTS) {
                total.post[b] += times * __popc(n & mask);
                mine.own[kept][b][me.lane] = n & mask;
            }
            if (source < NEURONS + SENSED) mine.rows[kept][column_of(source)] = p;
            if (source < HIDDEN) mine.rows[kept][SEEN + source] = n;
        }
    }
}

// What the events of a walk cost; `outcome` has those of its goal.
__device__ __forceinline__ int extra_of(const Shared &mine, const Lane me, const int *outcome)
{
    const Walk walk = mine.walk;
    int extra = 0;
#pragma unroll 1
    for (int at = me.lane; at < (walk.length + 31 & ~31); at += 32) {
        const int event = at < walk.length ? EVENT_OF(mine.spots[at + 1]) : 0;
        if (__ballot_sync(ALL, event)) {
            int cost = (outcome[event] >> 1) * (1 + (at >= walk.from ? walk.rounds : 0));
#pragma unroll
            for (int k = 16; k; k >>= 1) cost += __shfl_xor_sync(ALL, cost, k);
            extra += cost;
        }
    }
    return extra;
}

// The row from which the lane's neuron gets a group of its columns: outputs see the hidden neurons of the
// same step.
__device__ __forceinline__ int row_of(const Lane me, int slot, int group)
{
    return 4 * group + (4 * group >= FEED && me.is_output(slot) ? SEEN - FEED : 0);
}

// Count, for every synapse, the steps in which both its neurons were active, and add the counts to those in
// `changes`, where there are some already if `begun`.
__device__ __forceinline__ void count(Shared &mine, Changes &changes, const Lane me, bool begun, Totals &total)
{
    const Walk walk = mine.walk;
    build(mine, me, walk, total);
    __syncwarp();
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
#pragma unroll 1
        for (int g = 0; g < GROUPS; g++) {
            uint4 *to = (uint4 *)&changes.at(mine, me, s, g);
            uint4 n = begun ? *to : make_uint4(0, 0, 0, 0);
#pragma unroll 1
            for (int word = 0; 32 * word < walk.length; word++) {
                const uint4 rows = *(const uint4 *)(mine.rows[word] + row_of(me, s, g));
#pragma unroll
                for (int k = 0; k < 4; k++) pick(n, k) += __popc(pick(rows, k) & mine.own[word][s][me.lane]);
            }
            *to = n;
        }
}

// From the counts of the last `words` words of steps, added to those in `changes` if `begun`, the changes of the
// weights. A count above `limit` is frequent; lanes 0 … 15 have the change for trace bits 1111 … 0000.
template <int words>
__device__ __forceinline__ void decide_from(
    Shared &mine, Changes &changes, const Lane me, bool begun, const Totals &total, int limit, float change)
{
    const Walk walk = mine.walk;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        // Two counts in a word, and four comparisons in two subtractions: a half's upper bit says "not above".
        const u32 limits = (limit + 0x8000u) * 0x10001u;
        const u32 rest = limits - (total.post[s] | (walk.steps - total.post[s]) << 16);
        const u32 own_circle = mine.own[WORDS][s][me.lane];
        u32 own[words], exists = 0;
#pragma unroll
        for (int word = 0; word < words; word++) own[word] = mine.own[word][s][me.lane];
#pragma unroll 1  // short code is faster than what more of it gains: warps are at different places of it
        for (int g = 0; g < GROUPS; g++) {
            if ((g & 7) == 0) exists = me.synapses(s, 4 * g);
            const int row = row_of(me, s, g);
            const uint4 circle = *(const uint4 *)(mine.rows[WORDS] + row);
            const uint4 pre = *(const uint4 *)(mine.totals + row);
            uint4 n = make_uint4(0, 0, 0, 0);
            if (STEPS > ROOM && begun) n = *(const uint4 *)&changes.at(mine, me, s, g);
#pragma unroll
            for (int k = 0; k < 4; k++) pick(n, k) += walk.rounds * __popc(pick(circle, k) & own_circle);
#pragma unroll
            for (int word = 0; word < words; word++) {
                const uint4 rows = *(const uint4 *)(mine.rows[word] + row);
#pragma unroll
                for (int k = 0; k < 4; k++) pick(n, k) += __popc(pick(rows, k) & own[word]);
            }
            float4 decided;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const u32 p1 = pick(pre, k) - pick(n, k) * 65535;  // 11 | 10 << 16
                const int bits = signs(limits - p1, rest + p1);    // not 11, not 10, not 01, not 00
                const float c = __shfl_sync(ALL, change, __dp4a(bits, (int)0xF8FCFEFF, 0));
                pick(decided, k) = exists >> k & 1 ? c : 0.0f;
            }
            changes.at(mine, me, s, g) = decided;
            exists >>= 4;
        }
    }
}

// The same, after counting the last steps of an episode. Most walks are a word, and all code is shorter for those.
__device__ __forceinline__ void decide(
    Shared &mine, Changes &changes, const Lane me, bool begun, Totals &total, int limit, float change)
{
    build(mine, me, mine.walk, total);
#pragma unroll
    for (int b = 0; b < BITS; b++) {
        const int source = 32 * b + me.lane;
        if (source < NEURONS + SENSED) mine.totals[column_of(source)] = total.pre[b] << 16;
        if (source < HIDDEN) mine.totals[SEEN + source] = total.post[b] << 16;
    }
    __syncwarp();
    if (WORDS == 1 || mine.walk.length <= 32)
        decide_from<1>(mine, changes, me, begun, total, limit, change);
    else
        decide_from<WORDS>(mine, changes, me, begun, total, limit, change);
}

// w / norm, rounded to nearest, for a norm and a quotient far from the ends of the range. `inverse` and
// `more` together are 1 / norm to 48 bits, so the first quotient is off by little more than half a unit;
// its residual is exact, which is what the fused operation is for, and corrects it (Markstein).
__device__ __forceinline__ float divided(float w, float norm, float inverse, float more)
{
    float q = __fmaf_rn(w, inverse, w * more);
    return __fmaf_rn(__fmaf_rn(-q, norm, w), inverse, q);
}

// The same for any float: twice the digits and two more are enough for a second rounding to do no harm.
__device__ __forceinline__ float divided_in_double(float w, double norm, double inverse)
{
    double q = w * inverse;
    return (float)__fma_rn(__fma_rn(-q, norm, (double)w), inverse, q);
}

// Add the changes to the weights, and divide every neuron's by their norm.
__device__ __forceinline__ void update(Shared &mine, Changes &changes, const Lane me, Weights &w)
{
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        const bool output = me.is_output(s);
        float squares[3] = {0.0f, 0.0f, 0.0f}, bias = 0.0f;
        u32 smallest = ALL;
        UNROLLED
        for (int g = 0; g < GROUPS; g++) {
            const float4 change = changes.at(mine, me, s, g);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int c = 4 * g + k;
                if (c < PAD || c >= COLUMNS) continue;
                const float changed = w[s][c] + pick(change, k);
                w[s][c] = changed;
                if (RAW) continue;
                float square = changed * changed;
                if (c == BIAS) {  // an output's bias comes last
                    bias = output ? square : 0.0f;
                    square = output ? 0.0f : square;
                }
                squares[part_of(c)] += square;
                smallest = min(smallest, 2 * __float_as_uint(changed) - 1);
            }
        }
        if (RAW) continue;
        squares[part_of(FEED)] += bias;
        float norm[3], inverse[3], more[3];
        bool far = smallest >= (27u << 24) - 1;  // |w| ≥ 2^-100, or 0
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            norm[part] = __fsqrt_rn(squares[part]);
            if (norm[part] == 0.0f) norm[part] = 1.0f;
            inverse[part] = __frcp_rn(norm[part]);
            more[part] = __fmaf_rn(-inverse[part], norm[part], 1.0f) * inverse[part];
            far = far && norm[part] > 0x1p-60f && norm[part] < 0x1p20f;
        }
        // What a column's part has; an output's bias belongs to its weights from the hidden neurons.
        const auto own = [&](const auto &of, int c) {
            return PARTS > 1 && c == BIAS && output ? of[part_of(FEED)] : of[part_of(c)];
        };
        if (__all_sync(ALL, far)) {
            UNROLLED
            for (int c = PAD; c < COLUMNS; c++) w[s][c] = divided(w[s][c], own(norm, c), own(inverse, c), own(more, c));
        } else {  // weights that a rule never changes shrink until they are subnormal, and then 0
            double exact[3], inverted[3];
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                exact[part] = norm[part];
                inverted[part] = 1.0 / exact[part];
            }
            UNROLLED
            for (int c = PAD; c < COLUMNS; c++) w[s][c] = divided_in_double(w[s][c], own(exact, c), own(inverted, c));
        }
    }
}

// ---------------------------------------------------------------- long trials

#ifdef __CUDA_ARCH__
// Whether this warp is among those that run fastest: of the warps that could go on, each of a multiprocessor's
// four schedulers prefers the one with the lowest number.
__device__ __forceinline__ bool favoured()
{
    int number;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(number));
    return number < 4;
}
#endif

// Take the trial that was handed over first; −1 if there is none.
__device__ __noinline__ int taken_over(int *handed)
{
    volatile int *now = handed;
    while (true) {
        const int taken = now[1];
        if (taken >= now[0]) return -1;
        if (atomicCAS(handed + 1, taken, taken + 1) != taken) continue;
        int entry;
        while ((entry = now[2 + taken]) == 0) __nanosleep(100);  // it is about to be written
        __threadfence();
        return entry - 1;
    }
}

// Hand a trial over, whose memory has been written.
__device__ __forceinline__ void hand_over(int trial, int *handed)
{
    __threadfence();
    volatile int *entry = handed + 2 + atomicAdd(handed, 1);
    *entry = trial + 1;
}

// ---------------------------------------------------------------- trials

#if PHASES
#define GOAL (*goal)
#else
#define GOAL goal_of[trial]
#endif

// In all arrays by trial, a lane's weights lie at place_of(slot, column) + lane.
extern "C" __global__ void __launch_bounds__(32, BLOCKS) run_trials(
    const int *learner_of,   // (trials)
    const int *goal_of,      // (trials), or (trials, phases)
    const u64 *seed_of,      // (trials)
    const float *numbers,    // (learners, 4): η, θ, α_h, α_o; or σ, α_h, α_o, 0
    const signed char *changes_of,  // (learners, 16, 2): −1, 0 or +1 by trace bits, for m = −1 and m = +1
    const Moves *moves,      // (states of the table, actions): the spots that the actions lead to
    const u32 *sensed_at,    // (states): inputs and bias, a bit each; for spots that do not tell
    const int *starts,       // (goals): the spots that episodes begin in
    const int *outcomes,     // (goals, EVENTS): what an event costs << 1 | whether it ends the episode
    const int *cut_off,      // (goals, states): what it costs to be cut off there
    const int *recorded,     // (episodes of this launch): the column of `best`, or −1
    int *best,               // (trials, columns)
    int *eps,                // (trials, episodes): the EP of every episode
    int *memory,             // (trials, 2): lowest EP; EP before, or best of the climb
    float *all_weights,      // (trials, …): as they run, or the best of the climb
    float *all_kept,         // (trials, …): of the lowest EP
    int *next,               // the next piece of work to be taken
    int *claimed,            // (trials): pieces of a trial that have been taken, or NONE if one warp does the rest
    volatile int *done,      // (trials): the episodes that a trial has behind it
    int *handed,             // (2 + trials): how many trials were handed over, and taken over; then trial + 1 of each
    int trials, int first, int last,   // episodes first … last − 1 are run:
    int piece,                         // so many in a first piece, twice as many in the next, and so on
    int resample, int columns, int episodes, int states, int step_cost,
    int phase, int phases)             // episodes until the goal moves, and how many goals a trial has
{
    __shared__ Shared memory_of_the_warp;
    Shared &mine = held(memory_of_the_warp);
    moves = held(moves);
    const Lane me = {held((int)(threadIdx.x & 31))};
    Weights w;
    Changes changes;
    const int size = place_of(SLOTS, PAD);

    // Some trials take ten times as long as others, and the last to be begun would be waited for. So a
    // piece of work is a few episodes of a trial, and all trials have their first piece before any has its
    // second. A trial that is found in a later piece to take long (in the first, agents walk far that soon repeat
    // themselves) is done at once by a warp that is favoured: if this one is not, it hands the trial over. Weights
    // wait in memory meanwhile (read past the first cache, which another warp does not see).
    while (true) {
        int work = 0, trial = -1;
        if (me.lane == 0) {
            if (favoured()) trial = taken_over(handed);
            if (trial < 0) work = atomicAdd(next, 1);
        }
        trial = __shfl_sync(ALL, trial, 0);
        work = __shfl_sync(ALL, work, 0);
        int turn = work / trials;
        int begin = turn > 24 ? last : first + piece * ((1 << turn) - 1), until = last;  // no launch has more turns
        if (trial < 0 && begin >= last) {
            if (me.lane == 0) trial = taken_over(handed);
            trial = __shfl_sync(ALL, trial, 0);
            if (trial < 0) return;
        }
        if (trial >= 0) {
            if (me.lane == 0) begin = done[trial];
            begin = __shfl_sync(ALL, begin, 0);
            turn = 25;  // after all pieces
        } else {
            trial = work % trials;
            until = min(last, begin + (piece << turn));
            int taken = 0;
            if (me.lane == 0) taken = atomicMax(claimed + trial, turn + 1);
            if (__shfl_sync(ALL, taken, 0) == NONE) continue;  // a piece is given out once; all may have been claimed
        }
        if (turn) {
            if (me.lane == 0)
                while (done[trial] < begin) __nanosleep(500);
            __threadfence();
            __syncwarp();
        }

        // What is needed once an episode is read again each time: registers are scarcer than reads.
        const int learner = learner_of[trial];
        const float *number = numbers + 4 * learner;
        const float alpha_h = number[CLIMB ? 1 : 2], alpha_o = number[CLIMB ? 2 : 3];
        float *weights = all_weights + (size_t)trial * size;
#if PHASES
        const int *goal = goal_of + (size_t)trial * phases + max(begin - 1, 0) / phase;
#endif
        const int *outcome = outcomes + EVENTS * GOAL + me.lane;
        u64 ends = __ballot_sync(ALL, outcome[0] & 1);  // the events that end an episode, a bit each
        ends |= (u64)__ballot_sync(ALL, outcome[32] & 1) << 32;

        int lowest = NONE, previous = NONE;  // `previous` is the best of the climb in hill climbing
        if (begin > 0) {
            lowest = __ldcg(memory + 2 * trial);
            previous = __ldcg(memory + 2 * trial + 1);
            if (!CLIMB) load(me, w, weights);
        }
        int limit = 0;
        if (!CLIMB) {
            limit = threshold(number[1], STEPS, me.lane);
            mine.added[me.lane & 1][me.lane >> 1] = number[0] * changes_of[32 * learner + me.lane];  // number 0 is η
            __syncwarp();
        }
        // The episode before, if all of it lies in the past: its computed steps, steps, EP and m.
        bool known = false, was_good = false;
        u32 computed = 0;   // bit k of lane l says that step 32 k + l was
        int length = 0, ep = 0, walked = 0;
        bool handing = false;
        for (int episode = begin; episode < until; episode++) {
            const bool fresh = episode == 0 || (resample && episode % resample == 0);
#if PHASES
            const bool moved = episode > 0 && episode % phase == 0;
            if (moved) {
                goal++;
                outcome = outcomes + EVENTS * GOAL + me.lane;
                ends = __ballot_sync(ALL, outcome[0] & 1);
                ends |= (u64)__ballot_sync(ALL, outcome[32] & 1) << 32;
                lowest = NONE;
                known = false;
            }
#endif
            if (fresh) {
                draw<WEIGHTS>(me, w, seed_of[trial], episode, 0.0f, weights);
                previous = NONE;
#if PHASES
            } else if (CLIMB && moved) {  // the best weights are measured anew
                load(me, w, weights);
                previous = NONE;
#endif
            } else if (CLIMB) {
                draw<NOISE>(me, w, seed_of[trial], episode, number[0], weights);  // number 0 is σ
            }

            int step = 0;
            const bool same = !SIGMOID && known && unchanged(mine, w, computed, length, alpha_h, alpha_o, step);

            Totals total;
#pragma unroll
            for (int b = 0; b < BITS; b++) total.pre[b] = 0;
#pragma unroll
            for (int s = 0; s < SLOTS; s++) total.post[s] = 0;
            int base = 0;   // steps that are no longer in the past, but counted
            if (!same) {
                // The walk, or the rest of it. Lane l remembers the last step that is l mod 32: what decided it, where
                // it was, and its record.
                Record state = nothing(), decided = nothing(), recorded_as = nothing(), decides;
                float sum[SLOTS];
                int place = 0, spot = starts[GOAL], period = 0, extra = 0;
                bool over = false;
                uint4 words = make_uint4(0, 0, 0, 0);
                if (known) {
                    const int at = step - 1 - (step - 1 - me.lane & 31);
                    if (at >= 0) {
                        decided = mine.record(at - 1).state().sensing(mine.record(at).sensed());
                        place = mine.spots[at] >> STATE_AT;
                        if (RECALLED) recorded_as = mine.record(at);
                    }
                    state = mine.record(step - 1).state();
                    spot = mine.spots[step];
                    computed &= below(step - me.lane + 31 >> 5);
                } else {
                    computed = 0;
                    mine.keep(-1, state);
                    mine.spots[0] = spot;
                }
                recurrent(w, state, sum);
                Ahead ahead = ahead_of(moves, spot >> STATE_AT);
                u32 sensed = sensed_in(sensed_at, spot);

                const auto take = [&](const Record &record, int to, u32 fresh_step) {
                    if (!SIGMOID && me.lane == (step & 31)) {
                        decided = decides;
                        place = spot >> STATE_AT;
                        if (RECALLED) recorded_as = record;
                        computed |= fresh_step << (step - base >> 5);
                    }
                    state = record.state();
                    if (RANDOM) {  // lane l holds the words of four of the next 128 steps
                        if ((step & 127) == 0)
                            words = philox((step >> 2) + me.lane, 0, episode, ACTION, seed_of[trial]);
                        const u32 word = __shfl_sync(ALL, pick(words, step & 3), step >> 2 & 31);
                        to = chosen(ahead, one_of(state.outputs(), word));
                    }
                    mine.keep(step - base, record);
                    spot = to;
                    ahead = ahead_of(moves, spot >> STATE_AT);
                    sensed = sensed_in(sensed_at, spot);
                    step++;
                    mine.spots[step - base] = spot;
                    over = ((u32)(ends >> EVENT_OF(spot)) & 1) | (u32)(step == STEPS);
                    if (STEPS > ROOM && step - base == FULL) {
                        // The past is full: all but its last 32 steps are counted and forgotten.
                        const int gone = FULL - 32;
                        mine.walk = {gone, gone, 0, 0};
                        __syncwarp();
                        extra += extra_of(mine, me, outcomes + EVENTS * GOAL);
                        if (!CLIMB) count(mine, changes, me, base > 0, total);
                        mine.forget(me.lane, gone);
                        base += gone;
                    }
                };

#if SIGMOID
                u32 key = 0, now;  // lane l remembers that of the last step that is l mod EARLIER
                while (!over) {
                    int to;
                    const Record record =
                        activate(mine, me, w, step, state, sensed, alpha_h, alpha_o, ahead, sum, to, now);
                    take(record, to, 1);
                    if (RANDOM) continue;
                    now = now * (u32)KEY_STEP0 + (spot >> STATE_AT);
                    const u32 match = __ballot_sync(ALL, key == now);
                    if (me.lane == (step - 1) % EARLIER) key = now;
                    if (match && !over) {
                        period = repeated(mine, me, match, step - 1, base);
                        over = period > 0;
                    }
                }
#else
                // The lanes that remember a step which was decided by the same, or whether any does. All do if the walk
                // is over, so that one branch asks for both. Lanes are made sure of first, where nothing waits for it.
                const auto look = [&] {
                    __syncwarp();
                    decides = state.sensing(sensed);
                    const bool found = over || decided == decides;
                    return RECALLED ? (u32)__any_sync(ALL, found) : __ballot_sync(ALL, found);
                };
                while (true) {
                    // What follows is computed before it is known whether it is remembered: neither waits for the other.
                    u32 match = look();
                    Record next = excited(w, state, sensed, alpha_h, alpha_o, sum);
                    if (match) {
                        do {
                            if (over) break;
                            // Who comes to a place in a state that was there before goes round in a circle from here.
                            const bool same_step = decided == decides;
                            const bool here = !RANDOM && same_step && place == spot >> STATE_AT;
                            Record record;
                            if (RECALLED) {
                                record.bits[0] = united(same_step ? recorded_as.bits[0] | (u32)here << 31 : 0);
                                over = record.bits[0] >> 31;
                            } else {
                                record = mine.record(step - base - 1 - (step - __ffs(match) & 31));
                                over = __any_sync(ALL, here);
                            }
                            if (over) {
                                period = (step - __ffs(__ballot_sync(ALL, here)) & 31) + 1;
                                break;
                            }
                            take(record, chosen_again(ahead, record), 0);
                            match = look();
                        } while (match);
                        if (over) break;
                        recurrent(w, state, sum);
                        next = excited(w, state, sensed, alpha_h, alpha_o, sum);
                    }
                    int to;
                    const Record record = acted(w, next, sensed, ahead, sum, to);
                    take(record, to, 1);
                }
#endif

                // The steps of a circle are taken again until the end: some once more, which makes any of them the
                // first of a circle, and then all of them so many times.
                const bool ended = ends >> EVENT_OF(spot) & 1;  // never in a circle: it would have ended before
                length = step - base;
                const int from = length - period, again = STEPS - step, left = period ? again % period : 0;
                mine.repeat(me.lane, length, from, left);
                mine.walk = {length + left, from + left, period ? again / period : 0, ended ? step : STEPS};
                __syncwarp();
                extra += extra_of(mine, me, outcomes + EVENTS * GOAL);
                const int end = period ? mine.spots[from + left] : spot;
                if (CLIMB) __syncwarp();  // before a lane is at the next episode
                ep = step_cost * (ended ? step : STEPS) + extra;
                if (!ended) ep += cut_off[GOAL * states + (end >> STATE_AT)];
                known = !RANDOM && !SIGMOID && base == 0;
            }

            if (ep < lowest) {
                lowest = ep;
                if (KEEP) save(me, w, all_kept + (size_t)trial * size);
            }
            const int column = recorded[episode - first];
            if (column >= 0 && me.lane == 0) best[(size_t)trial * columns + column] = lowest;
            if (EVERY && me.lane == 0) eps[(size_t)trial * episodes + episode] = ep;

            if (CLIMB) {
                if (ep < previous) {
                    previous = ep;
                    save(me, w, weights);
                }
            } else {
                const bool good = ep < previous || (ep == previous && !PUNISH);
                previous = ep;
                if (!same || good != was_good) {  // else the changes are those of the episode before
                    const int steps = mine.walk.steps;
                    decide(mine, changes, me, base > 0, total, steps == STEPS ? limit : threshold(number[1], steps, me.lane),
                           mine.added[good][15 - me.lane & 15]);
                    was_good = good;
                }
                update(mine, changes, me, w);
            }
            walked += same ? 0 : step;
            const int so_far = episode + 1 - begin;
            if (turn && until < last && so_far >= SURE && walked > LONG * so_far) {
                enum { ASK_AGAIN, FINISH, HAND_OVER, NEVER };
                int decision = ASK_AGAIN;
                if (me.lane == 0) {
                    volatile int *now = handed;
                    decision = favoured() ? FINISH : now[0] - now[1] < WAITING ? HAND_OVER : ASK_AGAIN;
                    // Not if another warp has taken the next piece, and waits for the end of this one.
                    if (decision != ASK_AGAIN && atomicCAS(claimed + trial, turn + 1, NONE) != turn + 1)
                        decision = NEVER;
                }
                decision = __shfl_sync(ALL, decision, 0);
                handing = decision == HAND_OVER;
                if (decision == FINISH) until = last;
                if (decision == HAND_OVER) until = episode + 1;
                if (decision == NEVER) walked = -NONE;
            }
        }
        if (me.lane == 0) {
            memory[2 * trial] = lowest;
            memory[2 * trial + 1] = previous;
        }
        if (!CLIMB) save(me, w, weights);
        __threadfence();
        __syncwarp();
        if (me.lane == 0) {
            done[trial] = until;
            if (handing) hand_over(trial, handed);
        }
    }
}
