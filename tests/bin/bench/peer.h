// What the files in C have to say about a program.

#include <stddef.h>

struct work {
    // One call.
    void (*run)(void);
    // What it leaves.
    const float *result;
    size_t length;
};

// Memory that begins with a large page, in such pages where the system has them and it is large.
void *in_large_pages(size_t bytes);

// Prepares the program of a name; 0 if there is none.
int find_loop(const char *name, struct work *work);
int find_vector(const char *name, struct work *work);
int find_limit(const char *name, struct work *work);
