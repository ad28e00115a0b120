// What the files in C have to say about a program.

#include <stddef.h>

struct work {
    // One call.
    void (*run)(void);
    // What it leaves.
    const float *result;
    size_t length;
};

// Prepares the program of a name; 0 if there is none.
int find_loop(const char *name, struct work *work);
int find_vector(const char *name, struct work *work);
int find_limit(const char *name, struct work *work);
