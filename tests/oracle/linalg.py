"""Makes linalg.txt: values and derivatives of linear algebra and sums of products, by JAX.

    pip install jax==0.10.2 numpy && python tests/oracle/linalg.py

As make.py: a composition is a function of one float64 array, the same stands in linalg.rs. Vectors that have no sign
of their own have the one of docs/numerics.md, by `fixed`.
"""

import math
import pathlib

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

jax.config.update("jax_enable_x64", True)
ROWS = []


def wave(shape, phase):
    """sin(0.7 i + phase) for the i-th element."""
    return np.sin(0.7 * np.arange(math.prod(shape), dtype=np.float64) + phase).reshape(shape)


def probed(f):
    def g(x):
        y = f(x)
        return y if y.ndim == 0 else jnp.sum(y * wave(y.shape, 0.9))

    return g


KINDS = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(probed(f)),
    "hvp": lambda f: lambda x: jax.jvp(jax.grad(probed(f)), (x,), (wave(x.shape, 1.1),))[1],
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (wave(x.shape, 1.1),))[1],
    "each": jax.vmap,
    "each_grad": lambda f: jax.vmap(jax.grad(probed(f))),
}


def row(name, shape, kinds, f):
    x = jnp.array(wave(shape, 0.5))
    for kind in kinds.split():
        y = np.asarray(jax.jit(KINDS[kind](f))(x), dtype=np.float64)
        assert np.isfinite(y).all(), (name, kind, y)
        numbers = " ".join(repr(float(v)) for v in y.ravel())
        ROWS.append(f"linalg/{name}/{kind}: [{','.join(map(str, y.shape))}] {numbers}")


def spd(x):
    return x @ jnp.swapaxes(x, -1, -2) + 2 * jnp.eye(x.shape[-2])


def strong(x):
    """Far from singular, with pivots that are not on the diagonal."""
    m, n = x.shape[-2:]
    i, j = np.indices((m, n))
    return x + np.where(j == (i + 1) % n, 3.0 + i, 0.0)


def fixed(u):
    """Columns, the first large component of each positive; and the signs."""
    size = jnp.abs(u)
    first = jnp.argmax(size >= 0.7 * jnp.max(size, axis=-2, keepdims=True), axis=-2, keepdims=True)
    sign = jax.lax.stop_gradient(jnp.sign(jnp.take_along_axis(u, first, axis=-2)))
    return u * sign, sign


def svd(x):
    u, s, vt = jnp.linalg.svd(x, full_matrices=False)
    u, sign = fixed(u)
    return u, s, vt * jnp.swapaxes(sign, -1, -2)


def eigh(x):
    w, v = jnp.linalg.eigh(x)
    return w, fixed(v)[0]


def extra(x):
    u = jnp.linalg.svd(x, full_matrices=True)[0][:, x.shape[1] :]
    return u @ u.T


def marginal(x):
    l = jnp.linalg.cholesky(spd(x))
    y = wave((3,), 0.2)
    a = jsl.cho_solve((l, True), y)
    return 0.5 * y @ a + jnp.sum(jnp.log(jnp.diag(l)))


def cplx(x):
    """The two halves along the first axis as one complex array."""
    return x[0] + 1j * x[1]


def parts(z):
    return jnp.stack([z.real, z.imag])


def hpd(a):
    return a @ a.conj().T + 2 * jnp.eye(a.shape[-1])


def eig(a):
    """By ascending real parts, of conjugates the upper one first; the first large component of a vector is real."""
    w, v = jax.lax.linalg.eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    order = jnp.lexsort((-w.imag, w.real))
    w, v = w[order], v[:, order]
    size = jnp.abs(v)
    first = jnp.argmax(size >= 0.7 * jnp.max(size, axis=0), axis=0)
    lead = v[first, jnp.arange(v.shape[1])]
    return w, v * (lead.conj() / jnp.abs(lead))


ALL = "value grad jvp"
row("cholesky", (3, 3), ALL + " hvp", lambda x: jnp.linalg.cholesky(spd(x)))
row("cholesky_of_half", (3, 3), ALL, lambda x: jnp.linalg.cholesky(x + 4 * jnp.eye(3)))
row("cholesky_of_many", (2, 3, 3), "value grad each each_grad", lambda x: jnp.linalg.cholesky(spd(x)))
row("cholesky_large", (20, 20), "value", lambda x: jnp.linalg.cholesky(spd(x))[-1])
row("marginal", (3, 3), ALL + " hvp", marginal)
B = wave((3, 2), 0.3)
for lower in (True, False):
    for trans in (0, 1):
        for unit in (False, True):
            name = f"solve_{'lower' if lower else 'upper'}{'_transposed' if trans else ''}{'_unit' if unit else ''}"
            solve = lambda x: jsl.solve_triangular(
                x + 2 * jnp.eye(3), B, trans=trans, lower=lower, unit_diagonal=unit
            )
            row(name, (3, 3), ALL, solve)
row("solve_sides", (3,), ALL, lambda x: jsl.solve_triangular(np.tril(wave((3, 3), 0.1)) + 2 * np.eye(3), x, lower=True))
row("lu", (3, 3), ALL + " hvp", lambda x: jax.lax.linalg.lu(strong(x))[0])
row("lu_tall", (4, 2), ALL, lambda x: jax.lax.linalg.lu(strong(x))[0])
row("lu_wide", (2, 4), ALL, lambda x: jax.lax.linalg.lu(strong(x))[0])
row("lu_pivots", (4, 4), "value", lambda x: jax.lax.linalg.lu(strong(x))[1].astype(jnp.float64))
row("lu_order", (4, 4), "value", lambda x: jax.lax.linalg.lu(strong(x))[2].astype(jnp.float64))
row("lu_of_many", (2, 3, 3), "value each_grad", lambda x: jax.lax.linalg.lu(strong(x))[0])
row("q", (3, 3), ALL + " hvp", lambda x: jnp.linalg.qr(strong(x))[0])
row("r", (3, 3), ALL, lambda x: jnp.linalg.qr(strong(x))[1])
row("q_tall", (4, 2), ALL, lambda x: jnp.linalg.qr(strong(x))[0])
row("r_tall", (4, 2), ALL, lambda x: jnp.linalg.qr(strong(x))[1])
row("q_full", (4, 2), "value", lambda x: jnp.linalg.qr(strong(x), mode="complete")[0])
row("r_wide", (2, 4), "value", lambda x: jnp.linalg.qr(strong(x))[1])
row("q_of_many", (2, 3, 3), "value each", lambda x: jnp.linalg.qr(strong(x))[0])
row("singular_values", (4, 3), ALL + " hvp", lambda x: jnp.linalg.svd(strong(x), compute_uv=False))
row("u", (3, 3), ALL, lambda x: svd(strong(x))[0])
row("vt", (3, 3), ALL, lambda x: svd(strong(x))[2])
row("u_tall", (4, 2), ALL + " hvp", lambda x: svd(strong(x))[0])
row("vt_wide", (2, 4), ALL, lambda x: svd(strong(x))[2])
row("u_extra", (4, 2), "value", lambda x: extra(strong(x)))
row("eigenvalues", (3, 3), ALL + " hvp", lambda x: eigh(spd(x))[0])
row("eigenvectors", (3, 3), ALL + " hvp", lambda x: eigh(spd(x))[1])
row("eigenvectors_of_half", (3, 3), ALL, lambda x: eigh(strong(x))[1])
row("solve", (3, 3), ALL + " hvp", lambda x: jnp.linalg.solve(strong(x), wave((3, 2), 0.3)))
row("solve_vector", (4,), ALL, lambda b: jnp.linalg.solve(strong(wave((4, 4), 0.2)), b))
row("solve_of_many", (2, 3, 3), "value grad each_grad", lambda x: jnp.linalg.solve(strong(x), wave((3, 2), 0.3)))
row("inv", (3, 3), ALL + " hvp", lambda x: jnp.linalg.inv(strong(x)))
row("det_2", (2, 2), ALL + " hvp", jnp.linalg.det)
row("det_3", (3, 3), ALL, lambda x: jnp.linalg.det(strong(x)))
row("det_4", (4, 4), ALL, lambda x: jnp.linalg.det(strong(x)))
row("slogdet", (4, 4), ALL + " hvp", lambda x: jnp.linalg.slogdet(strong(x))[1])
row("sign_of_det", (2, 4, 4), "value", lambda x: jnp.linalg.slogdet(strong(x) * np.array([1.0, -1.0])[:, None, None])[0])
row("pinv_tall", (4, 2), ALL, lambda x: jnp.linalg.pinv(strong(x)))
row("pinv_wide", (2, 4), ALL, lambda x: jnp.linalg.pinv(strong(x)))
row("pinv_of_lower_rank", (4,), "value", lambda x: jnp.linalg.pinv(jnp.outer(x, x)))
row("lstsq", (4, 2), "value grad", lambda x: jnp.linalg.lstsq(strong(x), wave((4,), 0.3))[0])
row("rank", (4,), "value", lambda x: jnp.linalg.matrix_rank(jnp.outer(x, x)).astype(jnp.float64))
row("norm", (3, 4), ALL, jnp.linalg.norm)
row("norm_1", (3, 4), ALL, lambda x: jnp.linalg.norm(x, ord=1, axis=1))
row("norm_3", (3, 4), ALL, lambda x: jnp.linalg.norm(x, ord=3, axis=0))
row("norm_largest", (3, 4), ALL, lambda x: jnp.linalg.norm(x, ord=jnp.inf, axis=1))
row("norm_rows", (3, 4), ALL, lambda x: jnp.linalg.norm(x, ord=jnp.inf))
row("norm_columns", (3, 4), ALL, lambda x: jnp.linalg.norm(x, ord=1))
row("norm_spectral", (3, 4), ALL, lambda x: jnp.linalg.norm(strong(x), ord=2))
row("norm_nuclear", (3, 4), ALL, lambda x: jnp.linalg.norm(strong(x), ord="nuc"))
row("power_5", (3, 3), ALL, lambda x: jnp.linalg.matrix_power(x, 5))
row("power_minus_2", (3, 3), ALL, lambda x: jnp.linalg.matrix_power(strong(x), -2))
row("trace", (3, 4), "value grad", jnp.trace)
row("diag", (2, 3, 4), "value grad", lambda x: jnp.diagonal(x, axis1=1, axis2=2))
row("diag_of_vector", (3,), "value grad", jnp.diag)
row("tril", (3, 4), "value grad", lambda x: jnp.tril(x, 1))
row("triu", (3, 4), "value grad", lambda x: jnp.triu(x, -1))
row("kron", (2, 3), ALL, lambda x: jnp.kron(x, x.T))
row("outer", (3,), ALL, lambda x: jnp.outer(x, jnp.sin(x)))
row("cross", (2, 3), ALL, lambda x: jnp.cross(x, jnp.cos(x)))
row("complex_cholesky", (2, 3, 3), ALL, lambda x: parts(jnp.linalg.cholesky(hpd(cplx(x)))))
row("complex_lu", (2, 3, 3), ALL, lambda x: parts(jax.lax.linalg.lu(strong(cplx(x)))[0]))
row("complex_q", (2, 3, 3), ALL, lambda x: parts(jnp.linalg.qr(strong(cplx(x)))[0]))
row("complex_r", (2, 3, 3), ALL, lambda x: parts(jnp.linalg.qr(strong(cplx(x)))[1]))
row("complex_q_tall", (2, 4, 2), ALL, lambda x: parts(jnp.linalg.qr(strong(cplx(x)))[0]))
row("complex_solve", (2, 3, 3), ALL, lambda x: parts(jnp.linalg.solve(strong(cplx(x)), wave((3, 2), 0.3) + 0j)))
row("complex_sides", (2, 3), ALL, lambda x: parts(jnp.linalg.solve(strong(wave((3, 3), 0.2)) + 0j, cplx(x))))
row("complex_inv", (2, 3, 3), ALL, lambda x: parts(jnp.linalg.inv(strong(cplx(x)))))
row("complex_det", (2, 4, 4), ALL, lambda x: parts(jnp.linalg.det(strong(cplx(x)))))
row("complex_slogdet", (2, 4, 4), ALL, lambda x: jnp.linalg.slogdet(strong(cplx(x)))[1])
row("complex_norm", (2, 3, 4), ALL, lambda x: jnp.linalg.norm(cplx(x)))
row("eig_values", (3, 3), ALL + " hvp", lambda x: parts(eig(strong(x))[0]))
row("eig_vectors", (3, 3), ALL, lambda x: parts(eig(strong(x))[1]))
row("eig_sizes", (5, 5), ALL, lambda x: jnp.abs(jnp.linalg.eigvals(strong(x))).max())
row("eig_values_of_complex", (2, 3, 3), ALL, lambda x: parts(eig(strong(cplx(x)))[0]))
row("eig_vectors_of_complex", (2, 3, 3), ALL, lambda x: parts(eig(strong(cplx(x)))[1]))
row("eigenvalues_large", (12, 12), "value", lambda x: parts(eig(strong(x))[0]))
W = wave
row("einsum_product", (2, 3), ALL, lambda x: jnp.einsum("ij,jk->ik", x, W((3, 4), 0.1)))
row("einsum_batch", (2, 2, 3), ALL, lambda x: jnp.einsum("bij,bjk->bik", x, W((2, 3, 2), 0.1)))
row("einsum_diagonal", (3, 3), ALL, lambda x: jnp.einsum("ii->i", x * x))
row("einsum_trace", (3, 3), ALL, lambda x: jnp.einsum("ii", x * x))
row("einsum_transpose", (2, 3), ALL, lambda x: jnp.einsum("ij->ji", x * x))
row("einsum_implicit", (2, 3), ALL, lambda x: jnp.einsum("ba,bc", x, x))
row("einsum_rest", (2, 2, 3), ALL, lambda x: jnp.einsum("...ij,...jk->...ik", x, W((1, 3, 2), 0.1)))
row("einsum_chain", (2, 3), ALL, lambda x: jnp.einsum("ab,bc,cd,de->ae", x, W((3, 4), 0.1), W((4, 2), 0.2), x))
row("einsum_five", (2, 3), ALL, lambda x: jnp.einsum("ab,cb,cd,ed,ef->af", x, x, x, x, x))
row("einsum_inner", (2, 3, 3), ALL, lambda x: jnp.einsum("ijj,i->i", x, W((2,), 0.1)))
row("einsum_form", (3,), ALL, lambda x: jnp.einsum("i,ij,j", x, W((3, 3), 0.1), x))
row("einsum_sums", (2, 3, 4), ALL, lambda x: jnp.einsum("abc,cd->d", x, W((4, 2), 0.1)))
row("einsum_twice", (2, 2, 3), ALL, lambda x: jnp.einsum("aab,bc->ac", x, W((3, 2), 0.1)))
row("tensordot", (2, 3, 4), ALL, lambda x: jnp.tensordot(x, W((4, 3, 2), 0.1), axes=((1, 2), (1, 0))))
row("matmul", (2, 1, 2, 3), ALL, lambda x: jnp.matmul(x, W((2, 3, 2), 0.1)))
row("matmul_vector", (2, 3, 3), ALL, lambda x: jnp.matmul(x, W((3,), 0.1)))
row("vector_matmul", (3,), ALL, lambda x: jnp.matmul(x, W((2, 3, 4), 0.1)))

if __name__ == "__main__":
    head = f"# Made by tests/oracle/linalg.py with JAX {jax.__version__}; do not edit.\n"
    pathlib.Path(__file__).with_name("linalg.txt").write_text(head + "\n".join(ROWS) + "\n")
    print(len(ROWS), "rows of", len({r.rsplit("/", 1)[0] for r in ROWS}), "compositions")
