"""What users do all day, in JAX and NumPy: the same programs as in the Rust files beside these, on the same inputs."""

import workloads.bodies
import workloads.calls
import workloads.elementwise
import workloads.images
import workloads.indexed
import workloads.mapped
import workloads.network
import workloads.newton
import workloads.products
import workloads.recurrence
import workloads.reductions
import workloads.transformer  # noqa: F401
