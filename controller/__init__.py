"""The controller: threshold planner, desired state, and its installation over P4Runtime or BF Runtime.

Named here is what is pure; `controller.pipeline` and `controller.install` bring in gRPC and are imported by name.

Names load when they are first used: help of the command line waits for no routes and no plans.
"""

from typing import TYPE_CHECKING

from topos.late_names import late_names

if TYPE_CHECKING:
    from controller.ecn import Level, Profile, codepoint_map
    from controller.errors import ControllerError, PlanError, PlannerError, SwitchError
    from controller.model import Bottleneck
    from controller.plan import (
        EcnSettings,
        SwitchPlan,
        plan_network,
        port_warnings,
        same_thresholds,
    )
    from controller.planner import (
        KRule,
        ThresholdRule,
        Thresholds,
        bound_warnings,
        choose_thresholds,
        threshold_warnings,
        thresholds_by_rule,
    )
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
    "ThresholdRule",
    "Thresholds",
    "bound_warnings",
    "choose_thresholds",
    "codepoint_map",
    "plan_link",
    "plan_network",
    "port_warnings",
    "same_thresholds",
    "threshold_warnings",
    "thresholds_by_rule",
]

_HOMES = {
    "Bottleneck": "controller.model",
    "ControllerError": "controller.errors",
    "EcnSettings": "controller.plan",
    "KRule": "controller.planner",
    "Level": "controller.ecn",
    "LinkPlan": "controller.settings",
    "PlanError": "controller.errors",
    "PlannerError": "controller.errors",
    "Profile": "controller.ecn",
    "SwitchError": "controller.errors",
    "SwitchPlan": "controller.plan",
    "ThresholdRule": "controller.planner",
    "Thresholds": "controller.planner",
    "bound_warnings": "controller.planner",
    "choose_thresholds": "controller.planner",
    "codepoint_map": "controller.ecn",
    "plan_link": "controller.settings",
    "plan_network": "controller.plan",
    "port_warnings": "controller.plan",
    "same_thresholds": "controller.plan",
    "threshold_warnings": "controller.planner",
    "thresholds_by_rule": "controller.planner",
}

__getattr__ = late_names("controller", _HOMES)
