"""What the switches are told: threshold planner, desired state, and its installation over P4Runtime.

Named here is what is pure; `controller.pipeline` and `controller.install` bring in gRPC and are imported by name.
"""

from controller.ecn import Level, Profile, codepoint_map
from controller.errors import ControllerError, PlanError, PlannerError, SwitchError
from controller.model import Bottleneck
from controller.plan import EcnSettings, SwitchPlan, plan_network, same_thresholds, thresholds_by_rule
from controller.planner import KRule, Reading, ThresholdPlan, Thresholds, plan_thresholds, threshold_warnings

__all__ = [
    "Bottleneck",
    "ControllerError",
    "EcnSettings",
    "KRule",
    "Level",
    "PlanError",
    "PlannerError",
    "Profile",
    "Reading",
    "SwitchError",
    "SwitchPlan",
    "ThresholdPlan",
    "Thresholds",
    "codepoint_map",
    "plan_network",
    "plan_thresholds",
    "same_thresholds",
    "threshold_warnings",
    "thresholds_by_rule",
]
