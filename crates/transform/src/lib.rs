//! Graph transforms that change meaning: jvp, linearize, transpose, vmap.
