"""The main job from logs to a judged model, as one verb."""
