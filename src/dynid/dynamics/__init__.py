"""The physics, one algorithm per file, written once over any scalar type."""
