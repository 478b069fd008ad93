"""dynid: the dynamic model of robots, identified from motion logs."""
