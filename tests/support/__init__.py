"""What the tests share: robots to try, kernels run on arrays, and other people's physics as oracles."""
