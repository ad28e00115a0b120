"""The list of programs that a peer has, filled by the files of each group."""

from typing import Callable, NamedTuple


class Program(NamedTuple):
    """What makes a function and its arguments."""

    make: Callable
    # Whether numbers have 64 bits.
    x64: bool = False
    # Whether JAX is to compile it; else it is called as it is.
    jitted: bool = True


# By the name of the peer and of the program.
PROGRAMS = {}


def program(x64=False):
    """Registers what makes a function and its arguments as a program of JAX."""

    def register(make):
        PROGRAMS["jax", make.__name__] = Program(make, x64)
        return make

    return register


def row(name, args, x64=False, **peers):
    """Registers functions of one name, by peer, on the same arguments: made by `args` as arrays of NumPy."""
    for peer, function in peers.items():
        PROGRAMS[peer, name] = Program(lambda function=function: (function, args()), x64)


def called(name, **peers):
    """Registers functions of one name, by peer, that take nothing: each is made and then called as it is."""
    for peer, make in peers.items():
        PROGRAMS[peer, name] = Program(lambda make=make: (make(), ()), jitted=False)
