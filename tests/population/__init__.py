"""A population that judges the judges: random robots, motions, sensors and defects whose truth is known.

``cases.draw_case(half, index)`` gives a sound case, ``defects.damage(case, name, size)`` a damaged one,
``judge.judge(case, judge_today)`` what a judge makes of it, and ``python -m population.run`` rates and table.
Thresholds are set on the half "setting" and rates are shown on the half "showing": other robots, other seeds.
"""
