"""From kernels to machine code: trace, SIMD batch and scan kernels, cache, C source."""
