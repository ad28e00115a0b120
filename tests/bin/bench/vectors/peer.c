// Kernels over vectors in C: gcc -O3 -march=native -ffast-math -fopenmp. A name is that of a kernel and of a size.

#include "../peer.h"

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Below this many elements threads do not pay.
#define MANY 50000
#define ROW 256

static size_t n;
static float *restrict x, *restrict y, *restrict z;

// The polynomials of our own exp and tanh.
static inline float exp_tail(float r) {
    float q = 0.0013839651364833117f;
    q = q * r + 0.008369204588234425f;
    q = q * r + 0.04166809841990471f;
    q = q * r + 0.16666516661643982f;
    q = q * r + 0.4999999403953552f;
    return r * r * q;
}

static inline float reduced(float v, float k) {
    return fmaf(k, 1.9046542e-9f, fmaf(k, -0.6931472f, v));
}

static inline float power_of_two(float k) {
    union { int32_t bits; float value; } power = {((int32_t)k + 127) << 23};
    return power.value;
}

static inline float exponential(float v) {
    v = fminf(fmaxf(v, -87.0f), 88.0f);
    float k = rintf(v * 1.4426950408889634f), r = reduced(v, k);
    return power_of_two(k) * (1.0f + (r + exp_tail(r)));
}

static inline float hyperbolic(float v) {
    float m = fminf(fabsf(v), 10.0f), k = rintf(m * 0.69f), r = m - k * 1.3862943611198906f;
    float s = r * r, p = -0.004835437051951885f;
    p = p * s + 0.019727611914277077f;
    p = p * s + -0.053406693041324615f;
    p = p * s + 0.13326594233512878f;
    p = p * s + -0.3333306312561035f;
    float n = s * r * p + r, power = power_of_two(4.0f * k - 1.0f), whole = fminf(k, 1.0f);
    return copysignf(whole + (n - whole) / (n * (power - 0.5f) + (power + 0.5f)), v);
}

// A kernel works on a part and returns what it has of a reduction.
static float axpy(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) z[i] = 0.75f * x[i] + y[i];
    return 0;
}

static float chain(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
        float a = x[i] * y[i] + 0.5f, b = a * x[i] - y[i];
        z[i] = fmaxf(a * b + x[i], a - b) * 0.25f;
    }
    return 0;
}

static float exp_(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) z[i] = exponential(x[i]);
    return 0;
}

static float tanh_(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) z[i] = hyperbolic(x[i]);
    return 0;
}

static float sum(size_t begin, size_t end) {
    float s = 0;
    for (size_t i = begin; i < end; i++) s += x[i];
    return s;
}

static float max(size_t begin, size_t end) {
    float m = x[begin];
    for (size_t i = begin; i < end; i++) m = m > x[i] ? m : x[i];
    return m;
}

static float dot(size_t begin, size_t end) {
    float s = 0;
    for (size_t i = begin; i < end; i++) s += x[i] * y[i];
    return s;
}

static float rows(size_t begin, size_t end) {
    for (size_t row = begin / ROW; row < end / ROW; row++) {
        float s = 0;
        for (size_t i = 0; i < ROW; i++) s += x[row * ROW + i];
        z[row] = s;
    }
    return 0;
}

static const struct kernel {
    const char *name;
    float (*part)(size_t begin, size_t end);
    // How many elements make a result; 0 if all do.
    size_t per_result;
} KERNELS[] = {
    {"axpy", axpy, 1}, {"chain", chain, 1}, {"exp", exp_, 1}, {"tanh", tanh_, 1},
    {"sum", sum, 0},   {"max", max, 0},     {"dot", dot, 0},  {"rows", rows, ROW},
    // Nothing is strict here.
    {"axpy_strict", axpy, 1},
    {"chain_strict", chain, 1},
};

static const struct kernel *kernel;

static void run(void) {
    float all;
    if (n < MANY) {
        all = kernel->part(0, n);
    } else {
        float parts[64] = {0};
        int threads = omp_get_max_threads();
#pragma omp parallel num_threads(threads)
        {
            size_t me = omp_get_thread_num(), rows = n / ROW;
            parts[me] = kernel->part(rows * me / threads * ROW, rows * (me + 1) / threads * ROW);
        }
        all = parts[0];
        for (int i = 1; i < threads; i++)
            all = kernel->part == max ? (all > parts[i] ? all : parts[i]) : all + parts[i];
    }
    if (kernel->per_result == 0) z[0] = all;
}

static const struct {
    const char *name;
    size_t length;
} SIZES[] = {{"l1", 2048}, {"l2", 98304}, {"dram", 50331648}};

// The same numbers as `floats` of inputs.rs.
static void fill(float *numbers, uint32_t seed) {
    for (size_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)i * 0x9E3779B9u + seed;
        v = (v ^ (v >> 16)) * 0x85EBCA6Bu;
        v = (v ^ (v >> 13)) * 0xC2B2AE35u;
        v = v ^ (v >> 16);
        numbers[i] = (float)((double)v / 2147483648.0 - 1.0);
    }
}

static float *fresh(float *old) {
    free(old);
    return in_large_pages(n * sizeof(float));
}

int find_vector(const char *name, struct work *work) {
    const char *split = strrchr(name, '_');
    if (!split) return 0;
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        if (strcmp(split + 1, SIZES[s].name) != 0) continue;
        for (size_t k = 0; k < sizeof KERNELS / sizeof *KERNELS; k++) {
            size_t length = strlen(KERNELS[k].name);
            if (length != (size_t)(split - name) || strncmp(name, KERNELS[k].name, length) != 0) continue;
            n = SIZES[s].length;
            x = fresh(x), y = fresh(y), z = fresh(z);
            fill(x, 1), fill(y, 2), memset(z, 0, n * sizeof(float));
            kernel = &KERNELS[k];
            *work = (struct work){run, z, kernel->per_result ? n / kernel->per_result : 1};
            return 1;
        }
    }
    return 0;
}
