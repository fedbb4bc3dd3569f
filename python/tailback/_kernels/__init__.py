"""Linux kernels for the stack `linux`: build them from source, list and remove them.

`store` reads and changes the directory of built kernels; `building` makes a kernel and its guest program; `initramfs` packs that
program. The Rust crate `tailback-linux` runs the kernels, and defines the directory and the sources that are compiled.
"""

from tailback._kernels.building import Build, Plan, plan
from tailback._kernels.store import Kernel, kernels, remove

__all__ = ["Build", "Kernel", "Plan", "kernels", "plan", "remove"]
