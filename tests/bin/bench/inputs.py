"""Inputs that look random and are the same to the bit in inputs.rs."""

import numpy as np


def words(shape, seed):
    """Numbers of 32 bits."""
    x = np.arange(int(np.prod(shape)), dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32(seed)
    for shift, factor in (16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x.reshape(shape)


def floats(shape, seed):
    """Between -1 and 1."""
    return scaled(shape, seed, 1.0)


def scaled(shape, seed, scale):
    """Between -scale and scale."""
    return (scale * (words(shape, seed) / 2147483648.0 - 1.0)).astype(np.float32)


def places(count, size, seed):
    """Between 0 and the size."""
    return (words((count,), seed) % np.uint32(size)).astype(np.int32)
