//! Running programs: code memory, threads, library calls, caches.
