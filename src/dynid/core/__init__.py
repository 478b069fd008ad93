"""What every stage uses: errors, findings, lazy imports."""
