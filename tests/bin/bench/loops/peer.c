// The scalar loop in C: gcc -O3 -march=native.

#include "../peer.h"

#include <string.h>

// What the compiler must not know before it runs.
static volatile float start = 0.3f, rate = 3.7f;
static float result;

static void fori_scalar_1e6(void) {
    float x = start, r = rate;
    for (int i = 0; i < 1000000; i++) x = r * x * (1.0f - x);
    result = x;
}

int find_loop(const char *name, struct work *work) {
    *work = (struct work){fori_scalar_1e6, &result, 1};
    return strcmp(name, "fori_scalar_1e6") == 0;
}
