//! A concrete array: dtype, shape, buffer; to and from ndarray and .npy.
