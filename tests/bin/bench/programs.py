"""The list of programs that a peer has, filled by the peer.py of each group."""

# By the name of the peer and of the program: what makes a function and its arguments, and whether they have 64 bits.
PROGRAMS = {}


def program(x64=False):
    """Registers what makes a function and its arguments as a program of JAX."""

    def register(make):
        PROGRAMS["jax", make.__name__] = make, x64
        return make

    return register


def row(name, args, **peers):
    """Registers functions of one name, by peer, on the same arguments: made by `args` as arrays of NumPy."""
    for peer, function in peers.items():
        PROGRAMS[peer, name] = (lambda function=function: (function, args())), False
