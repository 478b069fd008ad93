"""What the robot is: joints, drives, friction, parameters, and the files they come from."""
