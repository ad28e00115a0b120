// What the machine can do at most: gcc -O3 -march=native -fopenmp. What a program leaves is the amount of work of one
// call, in billions of bytes or of operations.

#include "../peer.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// As wide as vectors are anywhere; gcc splits them where they are shorter.
typedef float floats __attribute__((vector_size(64)));
typedef double doubles __attribute__((vector_size(64)));
typedef int64_t words __attribute__((vector_size(64)));

// Enough to hide how long one operation takes.
#define CHAINS 12
#define ROUNDS 200000

static float amount;
// Bytes of each thread's array, and how often it is gone through.
static size_t size, sweeps;
static char *from[64], *to[64];
// Where results go, so that they are made.
static volatile float sink;

static void copy(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        for (size_t i = 0; i < sweeps; i++) {
            memcpy(to[me], from[me], size);
            __asm__ volatile("" ::: "memory");
        }
    }
}

static void read(void) {
#pragma omp parallel
    {
        const words *at = (const words *)from[omp_get_thread_num()];
        words sum[8] = {0};
        for (size_t i = 0; i < sweeps; i++) {
            for (size_t j = 0; j < size / sizeof(words); j += 8)
                for (int k = 0; k < 8; k++) sum[k] ^= at[j + k];
            __asm__ volatile("" ::: "memory");
        }
        for (int k = 1; k < 8; k++) sum[0] ^= sum[k];
        sink = (float)sum[0][0];
    }
}

#define FMA(NAME, VECTOR)                                                       \
    static void NAME(void) {                                                    \
        _Pragma("omp parallel") {                                               \
            VECTOR sum[CHAINS], factor = {0}, term = {0};                       \
            for (int k = 0; k < CHAINS; k++) sum[k] = (VECTOR){0} + (float)k;   \
            factor = factor + (0.5f + sink * 0), term = term + (1.0f + sink * 0); \
            for (long i = 0; i < ROUNDS; i++)                                   \
                for (int k = 0; k < CHAINS; k++) sum[k] = sum[k] * factor + term; \
            for (int k = 1; k < CHAINS; k++) sum[0] += sum[k];                  \
            sink = (float)sum[0][0];                                            \
        }                                                                       \
    }

FMA(fma_f32, floats)
FMA(fma_f64, doubles)

// How much each thread has of an array, so that two of them fit, and how often it goes through it.
static int level(const char *name) {
    int threads = omp_get_max_threads();
    if (strcmp(name, "l1") == 0) size = 16 << 10, sweeps = 10000;
    else if (strcmp(name, "l2") == 0) size = 512 << 10, sweeps = 200;
    else if (strcmp(name, "l3") == 0) size = (20 << 20) / threads, sweeps = 4;
    else if (strcmp(name, "dram") == 0) size = ((size_t)600 << 20) / threads, sweeps = 1;
    else return 0;
    size = size / 4096 * 4096;
    for (int i = 0; i < threads && i < 64; i++) {
        free(from[i]), free(to[i]);
        from[i] = in_large_pages(size), to[i] = in_large_pages(size);
        memset(from[i], 1, size), memset(to[i], 1, size);
    }
    return 1;
}

int find_limit(const char *name, struct work *work) {
    double threads = omp_get_max_threads(), flops = 2.0 * CHAINS * ROUNDS * threads;
    void (*run)(void) = 0;
    if (strncmp(name, "copy_", 5) == 0 && level(name + 5)) run = copy, amount = 2e-9 * size * sweeps * threads;
    if (strncmp(name, "read_", 5) == 0 && level(name + 5)) run = read, amount = 1e-9 * size * sweeps * threads;
    if (strcmp(name, "fma_f32") == 0) run = fma_f32, amount = 1e-9 * flops * sizeof(floats) / sizeof(float);
    if (strcmp(name, "fma_f64") == 0) run = fma_f64, amount = 1e-9 * flops * sizeof(doubles) / sizeof(double);
    *work = (struct work){run, &amount, 1};
    return run != 0;
}
