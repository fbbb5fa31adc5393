"""What the switches are told: threshold planner, desired state, and its installation over P4Runtime.

Named here is what is pure; `controller.pipeline` and `controller.install` bring in gRPC and are imported by name.
"""

from controller.ecn import Level, Profile, codepoint_map
from controller.errors import ControllerError, PlanError, PlannerError, SwitchError
from controller.model import Bottleneck
from controller.plan import (
    EcnSettings,
    SwitchPlan,
    plan_network,
    port_warnings,
    same_thresholds,
    thresholds_by_rule,
)
from controller.planner import KRule, Thresholds, choose_thresholds, threshold_warnings
from controller.settings import LinkPlan, plan_link

__all__ = [
    "Bottleneck",
    "ControllerError",
    "EcnSettings",
    "KRule",
    "Level",
    "LinkPlan",
    "PlanError",
    "PlannerError",
    "Profile",
    "SwitchError",
    "SwitchPlan",
    "Thresholds",
    "choose_thresholds",
    "codepoint_map",
    "plan_link",
    "plan_network",
    "port_warnings",
    "same_thresholds",
    "threshold_warnings",
    "thresholds_by_rule",
]
