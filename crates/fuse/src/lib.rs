//! Graph to kernel program: what becomes one nest, which buffers live when.
