// The scalar loop in C: gcc -O3 -march=native. Speaks as talk.rs beside this says.

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// What the compiler must not know before it runs.
static volatile float start = 0.3f, rate = 3.7f, result;

__attribute__((noinline)) static float fori_scalar_1e6(float x, float r) {
    for (int i = 0; i < 1000000; i++) x = r * x * (1.0f - x);
    return x;
}

int main(void) {
    char line[256], word[16], name[64];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        long calls = 1;
        if (sscanf(line, "%15s %63s %ld", word, name, &calls) < 2 || strcmp(name, "fori_scalar_1e6") != 0) return 1;
        double begin = now();
        for (long i = 0; i < calls; i++) result = fori_scalar_1e6(start, rate);
        double seconds = (now() - begin) / (double)calls;
        if (strcmp(word, "first") == 0) printf("%.9e %.17e\n", seconds, (double)result);
        else printf("%.9e\n", seconds);
    }
    return 0;
}
