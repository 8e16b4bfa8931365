// A warp on the processor: its 32 lanes are coroutines that take turns at every warp-wide function.
//
// This runs trials.cu where there is no card, slowly, to test it. KERNEL is its path. Lanes that arrive at
// different functions are an error; on a card that would be undefined. Between two functions they run in an
// order that changes each time, so what depends on the order comes out wrong.

#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

// <cmath> and <algorithm> would take a third of the time in which all of this is compiled.
extern "C" {
float fabsf(float), fminf(float, float), fmaf(float, float, float), sqrtf(float);
double fma(double, double, double);
}
template <class T> static T max(T a, T b) { return a < b ? b : a; }
template <class T> static T min(T a, T b) { return b < a ? b : a; }

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __shared__ static

struct uint4 { unsigned x, y, z, w; };
struct int4 { int x, y, z, w; };
struct float4 { float x, y, z, w; };
struct float2 { float x, y; };
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static float2 make_float2(float x, float y) { return {x, y}; }

static struct { unsigned x; } threadIdx;

// ---------------------------------------------------------------- lanes

enum Function { BALLOT, SHUFFLE, SYNC };
enum Outcome { DONE, DIVERGED, WAITED };

static const int LANES = 32, STACK = 1 << 17;
static ucontext_t outside, entry[LANES];
static jmp_buf resume[LANES];
static bool started[LANES];
static char stacks[LANES][STACK];
static int current, finished, parity[LANES];
static unsigned behind;
static uint32_t values[2][LANES], ballots[2];
static unsigned arrived[2][SYNC + 1];  // the lanes at each function
static Outcome outcome;

static void leave(Outcome how)
{
    outcome = how;
    setcontext(&outside);
}

// One of the lanes that are not yet at the next function.
static int another(int lane)
{
    static unsigned random = 1;
    behind &= ~(1u << lane);
    if (!behind) behind = 0xFFFFFFFFu;
    random = random * 1664525 + 1013904223;
    const unsigned from = random >> 27;
    const uint64_t twice = (uint64_t)behind << 32 | behind;  // the first one from there on, or from the beginning
    return (from + __builtin_ctzll(twice >> from)) % LANES;
}

static void switch_to(int lane)
{
    current = lane;
    threadIdx.x = lane;
    if (started[lane]) _longjmp(resume[lane], 1);
    started[lane] = true;
    setcontext(&entry[lane]);
}

// Give a value, wait for all lanes, and return where theirs are. There are two sides, for a lane may be at the next
// function before the others have read what was given at this one.
static int meet(Function function, uint32_t value)
{
    const int lane = current, side = parity[lane] ^= 1;
    const unsigned own = 1u << lane;
    values[side][lane] = value;
    ballots[side] = value ? ballots[side] | own : ballots[side] & ~own;
    for (unsigned &lanes : arrived[side]) lanes &= ~own;
    arrived[side][function] |= own;
    if (!_setjmp(resume[lane])) switch_to(another(lane));
    if (arrived[side][function] != 0xFFFFFFFFu) leave(DIVERGED);
    return side;
}

static unsigned __ballot_sync(unsigned, bool value) { return ballots[meet(BALLOT, value)]; }

static bool __all_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) == 0xFFFFFFFFu; }
static bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
static void __syncwarp() { meet(SYNC, 0); }

template <class T> static T __shfl_sync(unsigned, T value, int lane)
{
    static_assert(sizeof(T) == 4, "a word");
    uint32_t word;
    memcpy(&word, &value, 4);
    word = values[meet(SHUFFLE, word)][lane & 31];
    memcpy(&value, &word, 4);
    return value;
}

template <class T> static T __shfl_xor_sync(unsigned mask, T value, int k) { return __shfl_sync(mask, value, current ^ k); }

// ---------------------------------------------------------------- functions of one lane

static int atomicAdd(int *at, int value) { int old = *at; *at += value; return old; }
static int atomicMax(int *at, int value) { int old = *at; *at = max(old, value); return old; }
static int atomicCAS(int *at, int from, int to) { int old = *at; if (old == from) *at = to; return old; }
static void __threadfence() {}
static void __nanosleep(unsigned) { leave(WAITED); }  // a single warp would wait for ever
template <class T> static T __ldg(const T *p) { return *p; }
template <class T> static T __ldcg(const T *p) { return *p; }

static int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
static unsigned __float_as_uint(float x) { return __float_as_int(x); }
static float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
static float __fdiv_rn(float a, float b) { return a / b; }
static float __frcp_rn(float a) { return 1.0f / a; }
static float __fsqrt_rn(float a) { return sqrtf(a); }
static float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

static unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) { return ((uint64_t)high << 32 | low) >> (n & 31); }
static int __dp4a(int a, int b, int c)
{
    for (int k = 0; k < 4; k++) c += (int)(signed char)(a >> 8 * k) * (signed char)(b >> 8 * k);
    return c;
}

// 1 / x as a card finds it: in turn a unit too large, exact, and a unit too small; but exact where it has to be.
static float nearly_inverse(float x)
{
    static int off = 0;
    off = off == 1 ? -1 : off + 1;
    return __int_as_float(__float_as_int(1.0f / x) + (x == 2.0f - 0x1p-23f ? 0 : off));
}

// Whether this is one of the warps that run fastest: one time in so many, or never if that is 0.
extern "C" { int one_in = 3; }
static bool favoured()
{
    static unsigned asked = 0;
    return one_in && asked++ % one_in == 0;
}

#include KERNEL

#if SIGMOID
extern "C" void logistics(const float *sums, float *activities, int count)
{
    for (int k = 0; k < count; k++) activities[k] = logistic(sums[k]);
}
#endif

// ---------------------------------------------------------------- a launch

struct Arguments {  // of run_trials
    const int *learner_of, *goal_of;
    const u64 *seed_of;
    const float *numbers;
    const signed char *changes_of;
    const Moves *moves;
    const u32 *sensed_at;
    const int *starts, *outcomes, *left, *recorded;
    int *best, *eps, *memory;
    float *all_weights, *all_kept;
    int *next, *claimed, *done, *handed;
    int trials, first, last, piece, resample, columns, episodes, states, step_cost, phase, phases;
};

static const Arguments *given;

static void run_lane()
{
    const Arguments &a = *given;
    run_trials(a.learner_of, a.goal_of, a.seed_of, a.numbers, a.changes_of, a.moves, a.sensed_at, a.starts, a.outcomes,
               a.left, a.recorded, a.best, a.eps, a.memory, a.all_weights, a.all_kept, a.next, a.claimed, a.done,
               a.handed, a.trials, a.first, a.last, a.piece, a.resample, a.columns, a.episodes, a.states, a.step_cost,
               a.phase, a.phases);
    if (++finished == LANES) leave(DONE);
    switch_to(another(current));
}

extern "C" int launch(const Arguments *arguments)
{
    given = arguments;
    finished = 0;
    behind = 0xFFFFFFFFu;
    for (int lane = 0; lane < LANES; lane++) {
        started[lane] = false;
        getcontext(&entry[lane]);
        entry[lane].uc_stack.ss_sp = stacks[lane];
        entry[lane].uc_stack.ss_size = STACK;
        makecontext(&entry[lane], run_lane, 0);
    }
    volatile bool back = false;
    getcontext(&outside);
    if (!back) {
        back = true;
        switch_to(0);
    }
    return outcome;
}
