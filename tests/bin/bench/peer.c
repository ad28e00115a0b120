// The programs in C beside ours, asked line by line as talk.rs in the folder `beside` says.

#define _DEFAULT_SOURCE
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PIECES 64
// The parts of a batch of calls that are timed.
#define SLICES 64

#define LARGE_PAGE ((size_t)2 << 20)

void *in_large_pages(size_t bytes) {
    size_t size = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory = aligned_alloc(LARGE_PAGE, size);
    if (!memory) abort();
    // Advice: where it is refused the memory is as good without.
    if (bytes >= LARGE_PAGE) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Seconds of one call from so many: of the part in the middle, and of the fastest.
struct timed {
    double median, least;
};

static struct timed timed(const struct work *work, long calls) {
    // Fills the caches and wakes the threads, unless one call is all.
    if (calls > 1) work->run();
    double times[SLICES];
    long each = (calls + SLICES - 1) / SLICES, slices = calls / each;
    for (long slice = 0; slice < slices; slice++) {
        double begin = now();
        for (long i = 0; i < each; i++) work->run();
        times[slice] = (now() - begin) / (double)each;
    }
    qsort(times, (size_t)slices, sizeof *times, by_size);
    return (struct timed){(times[(slices - 1) / 2] + times[slices / 2]) / 2, times[0]};
}

// The array as it is, or the sums of its pieces and its norm.
static void summary(const float *x, size_t length) {
    if (length <= PIECES) {
        for (size_t i = 0; i < length; i++) printf(" %.17e", (double)x[i]);
        return;
    }
    size_t piece = (length + PIECES - 1) / PIECES;
    double squares = 0;
    for (size_t at = 0; at < length; at += piece) {
        double sum = 0;
        for (size_t i = at; i < length && i < at + piece; i++) {
            sum += x[i];
            squares += (double)x[i] * x[i];
        }
        printf(" %.17e", sum);
    }
    printf(" %.17e", sqrt(squares));
}

int main(void) {
    char line[256], question[16], name[64];
    struct work work = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        long calls = 1;
        if (sscanf(line, "%15s %63s %ld", question, name, &calls) < 2) return 1;
        if (strcmp(question, "first") == 0) {
            if (!find_loop(name, &work) && !find_vector(name, &work) && !find_limit(name, &work)) return 1;
            printf("%.9e", timed(&work, 1).median);
            summary(work.result, work.length);
            puts("");
        } else if (strcmp(question, "time") == 0) {
            printf("%.9e\n", timed(&work, calls).median);
        } else if (strcmp(question, "least") == 0) {
            printf("%.9e\n", timed(&work, calls).least);
        } else {
            // Nobody plans memory here.
            puts("nan nan nan");
        }
    }
    return 0;
}
