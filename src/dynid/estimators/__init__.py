"""Ways to solve a problem, behind one verb."""
