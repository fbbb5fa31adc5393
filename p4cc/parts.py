"""The parts of a scenario for Python programs: classes with their fields, for an editor to complete.

```
import p4cc
from p4cc import parts as P

scenario = p4cc.Scenario(
    name="mine",
    topology=P.Star(senders=8),
    traffic=P.Incast(sru_bytes=64_000),
    variants=[P.Variant(name="DCTCP", congestion_avoidance=P.algorithm("dctcp", g=0.0625))],
)
result = p4cc.run(scenario)
```

Fields, units and defaults are those of a scenario's file (docs/reference/scenario.md); `kind` is the class's own and is
not given. A value that cannot be raises `p4cc.UserError` with the field's path.
"""

from __future__ import annotations

from typing import Any

from p4cc.scenario import port_controls
from p4cc.scenario.base import Algorithm, Parameter, Sender
from p4cc.scenario.built import Scenario
from p4cc.scenario.changes import TimedRow as Change
from p4cc.scenario.closed_loop import ClosedLoopTraffic as ClosedLoop
from p4cc.scenario.coflows import CoflowsTraffic as Coflows
from p4cc.scenario.coflows import TreeTraffic as Tree
from p4cc.scenario.collective import CollectiveTraffic as Collective
from p4cc.scenario.control import Absence, ExponentialLatency, LognormalLatency, UniformLatency
from p4cc.scenario.control import ControlSettings as Control
from p4cc.scenario.fabric import BufferSettings as Buffer
from p4cc.scenario.fabric import QueueSettings as Queue
from p4cc.scenario.fabric import RdmaTransport as Rdma
from p4cc.scenario.fabric import RedCurveSettings as RedCurve
from p4cc.scenario.fabric import SchedulerSettings as Scheduler
from p4cc.scenario.fabric import WatchdogSettings as Watchdog
from p4cc.scenario.faults import Fault, SlowReceiver, Storm
from p4cc.scenario.figures import (
    BarFigure,
    CdfFigure,
    HeatMapFigure,
    Panel,
    PercentilesFigure,
    PortSharesFigure,
    SweepFigure,
    TimeFigure,
    TracesFigure,
    UtilisationFigure,
    Window,
)
from p4cc.scenario.flow_figures import (
    BySizeFigure,
    CollectiveStepsFigure,
    DecidedCellsFigure,
    DepthsFigure,
    PairedFigure,
    PausesFigure,
    PodMatrixFigure,
    PodPairFigure,
)
from p4cc.scenario.operations import ChakraTraffic as Chakra
from p4cc.scenario.operations import GoalTraffic as Goal
from p4cc.scenario.operations import Operation
from p4cc.scenario.operations import OperationsTraffic as Operations
from p4cc.scenario.operations import SimaiTraffic as Simai
from p4cc.scenario.pairs import CdfGap, DrawnMatrix, ExponentialGap, FileMatrix, LognormalGap, SizeClass
from p4cc.scenario.port_controls import *
from p4cc.scenario.programs import BfrtRow, CloneRow, FileRow, MulticastRow, SwitchProgram, TableRow
from p4cc.scenario.programs import RouteSettings as Routes
from p4cc.scenario.rpc import RpcTraffic as Rpc
from p4cc.scenario.schema import Limits, PortThresholds, Record, Transport, Variant
from p4cc.scenario.schema import SwitchSettings as Switch
from p4cc.scenario.schema import ThresholdSettings as Thresholds
from p4cc.scenario.sizes import CdfSize, FixedSize, UniformSize
from p4cc.scenario.state_records import DigestsRecord, DropsRecord, LogRecord, StateFigure, StateRecord
from p4cc.scenario.topology import CustomTopology as Custom
from p4cc.scenario.topology import DragonflyTopology as Dragonfly
from p4cc.scenario.topology import DumbbellTopology as Dumbbell
from p4cc.scenario.topology import FatTreeTopology as FatTree
from p4cc.scenario.topology import HtsimTopology, Ns3Topology
from p4cc.scenario.topology import ImportedTopology as Imported
from p4cc.scenario.topology import LeafSpineTopology as LeafSpine
from p4cc.scenario.topology import ParkingLotTopology as ParkingLot
from p4cc.scenario.topology import RailTopology as Rail
from p4cc.scenario.topology import StarTopology as Star
from p4cc.scenario.traffic import BulkTraffic as Bulk
from p4cc.scenario.traffic import BurstsTraffic as Bursts
from p4cc.scenario.traffic import HtsimTraffic, Ns3Traffic
from p4cc.scenario.traffic import IncastTraffic as Incast
from p4cc.scenario.traffic import PairsTraffic as Pairs
from p4cc.scenario.traffic import PoissonTraffic as Poisson
from p4cc.scenario.traffic import RoundsTraffic as Rounds
from p4cc.scenario.traffic import TableTraffic as FlowTable
from p4cc.scenario.traffic_base import Deadline, DeadlineChange
from p4cc.scenario.user_headers import Announcement, HeadersRecord, OwnHeader
from p4cc.scenario.user_packets import PacketsReceived
from p4cc.scenario.user_packets import PacketsTraffic as Packets
from p4cc.scenario.user_packets import ReplayTraffic as Replay
from topos.generators import LinkChange

__all__: list[str] = [
    "Absence",
    "Algorithm",
    "Announcement",
    "BarFigure",
    "BfrtRow",
    "Buffer",
    "Bulk",
    "Bursts",
    "BySizeFigure",
    "CdfFigure",
    "CdfGap",
    "CdfSize",
    "Chakra",
    "Change",
    "CloneRow",
    "ClosedLoop",
    "Coflows",
    "Collective",
    "CollectiveStepsFigure",
    "Control",
    "Custom",
    "Deadline",
    "DeadlineChange",
    "DecidedCellsFigure",
    "DepthsFigure",
    "DigestsRecord",
    "Dragonfly",
    "DrawnMatrix",
    "DropsRecord",
    "Dumbbell",
    "ExponentialGap",
    "ExponentialLatency",
    "FatTree",
    "Fault",
    "FileMatrix",
    "FileRow",
    "FixedSize",
    "FlowTable",
    "Goal",
    "HeadersRecord",
    "HeatMapFigure",
    "HtsimTopology",
    "HtsimTraffic",
    "Imported",
    "Incast",
    "LeafSpine",
    "Limits",
    "LinkChange",
    "LogRecord",
    "LognormalGap",
    "LognormalLatency",
    "MulticastRow",
    "Ns3Topology",
    "Ns3Traffic",
    "Operation",
    "Operations",
    "OwnHeader",
    "Packets",
    "PacketsReceived",
    "PairedFigure",
    "Pairs",
    "Panel",
    "ParkingLot",
    "PausesFigure",
    "PercentilesFigure",
    "PodMatrixFigure",
    "PodPairFigure",
    "Poisson",
    "PortSharesFigure",
    "PortThresholds",
    "Queue",
    "Rail",
    "Rdma",
    "Record",
    "RedCurve",
    "Replay",
    "Rounds",
    "Routes",
    "Rpc",
    "Scenario",
    "Scheduler",
    "Sender",
    "Simai",
    "SizeClass",
    "SlowReceiver",
    "Star",
    "StateFigure",
    "StateRecord",
    "Storm",
    "SweepFigure",
    "Switch",
    "SwitchProgram",
    "TableRow",
    "Thresholds",
    "TimeFigure",
    "TracesFigure",
    "Transport",
    "Tree",
    "UniformLatency",
    "UniformSize",
    "UtilisationFigure",
    "Variant",
    "Watchdog",
    "Window",
    "algorithm",
    "own_algorithm",
]
__all__ += port_controls.__all__


def algorithm(name: str, **parameters: Parameter) -> Algorithm:
    """An algorithm of the registry with its parameters (`p4cc algorithms`): `algorithm("dctcp", g=0.0625)`.

    The registry's rules for them are checked with the scenario; raises UserError for a value of another type.
    """
    return Algorithm(name=name, **_extra(parameters))


def own_algorithm(file_and_class: str, **parameters: Parameter) -> Algorithm:
    """A class of your own, `FILE.py:CLASS`, with its parameters (docs/how-to/write-an-algorithm.md).

    The file is searched next to the scenario and in the working folder; raises UserError for a text of another form.
    """
    return Algorithm(name=file_and_class.rpartition(":")[2], python=file_and_class, **_extra(parameters))


def _extra(parameters: dict[str, Parameter]) -> dict[str, Any]:
    """Parameters in addition to the fields; pydantic's constructor declares only the fields."""
    return dict(parameters)
