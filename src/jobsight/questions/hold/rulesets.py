"""Today's rules for held jobs, as sites and experiments run them: baselines that a model must beat.

- crab: CMS CRAB releases four codes and removes the rest after seven minutes.
- gridpack: CMS gridpack production releases six causes.
- ospool: the OSPool's access points release up to the fourth hold, unless a duration was exceeded.
- pegasus, wmcore: never release; remove after four hours, after ten minutes.
"""

from collections.abc import Mapping

from jobsight.models.rules import Among, Arm, Between, RuleSet

__all__ = ["RULE_NAMES", "RULE_SETS"]

_CODE = ("hold_code",)
_CAUSE = ("hold_code", "hold_subcode")


def _releasing(name: str, among: Among) -> RuleSet:
    return RuleSet(name, (Arm("release", True, (among,)), Arm("remove", False)))


RULE_SETS: Mapping[str, RuleSet] = {
    "crab": _releasing("crab", Among(_CODE, ((6,), (13,), (28,), (30,)))),
    "gridpack": _releasing(
        "gridpack", Among(_CAUSE, ((26, 119), (26, 120), (13, None), (30, 256), (12, 28), (6, 0)))
    ),
    "ospool": RuleSet(
        "ospool",
        (
            Arm(
                "release",
                True,
                (Between("num_holds", high=4), Among(_CODE, ((46,), (47,)), negated=True)),
            ),
            Arm("keep", False),
        ),
    ),
    "pegasus": RuleSet("pegasus", (Arm("remove", False),)),
    "wmcore": RuleSet("wmcore", (Arm("remove", False),)),
}

RULE_NAMES = tuple(f"rules:{name}" for name in RULE_SETS)
"""What reports and the command line call them."""
