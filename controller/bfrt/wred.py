"""RED's curves in cells of the chip's own filter (`Wred` of TNA), which only BF Runtime can set.

To plans a cell is an entry by its index, as a table of curves by port would have; one that never marks is none.
"""

from controller.bfrt import wire
from controller.bfrt.schema import Field, Table, missing
from controller.entities import ActionCall, Entry, EntryKey, Exact, Key
from controller.errors import PlanError
from controller.red import WRED_FILTER, WRED_P_UNIT
from controller.roles import ActionPart, KeyPart, ParamPart, TablePart

WRED = "egress.red"
"""The filter in `ecn_wred.p4`; bf-rt.json has no annotations of filters."""
WRED_KEY = "$WRED_INDEX"
SET_WRED = "$WRED_SPEC"
WRED_PART = TablePart(
    WRED_FILTER,
    WRED,
    {"egress_port": KeyPart(WRED_KEY, "exact", 32)},
    {
        "set_curve": ActionPart(
            SET_WRED,
            {
                "k_min": ParamPart("low", 32, None),
                "k_max": ParamPart("high", 32, None),
                "p_max": ParamPart("p_max", 32, None),
            },
        )
    },
)
"""A cell as a plan sees it."""

NO_THRESHOLD = 0xFF00_0000
"""Both thresholds of an unset cell: more than a queue can hold."""

_TIME = "$WRED_SPEC_TIME_CONSTANT_NS"
_LOW = "$WRED_SPEC_MIN_THRESH_CELLS"
_HIGH = "$WRED_SPEC_MAX_THRESH_CELLS"
_P_MAX = "$WRED_SPEC_MAX_PROBABILITY"
_ARGS = ("high", "low", "p_max")


def is_wred(table: Table) -> bool:
    """Whether the table's rows are cells of such a filter."""
    return table.kind == "Wred"


def to_cell(key: Key, call: ActionCall | None, table: Table) -> wire.Message:
    """The row of a cell with its curve; without one a cell that never marks. Raises PlanError."""
    high, low, p_max = NO_THRESHOLD, NO_THRESHOLD, 0
    if call is not None:
        if call.name != SET_WRED or tuple(name for name, _ in call.args) != _ARGS:
            raise PlanError(str(key), f"{call} does not set a filter", f"plan {SET_WRED}({', '.join(_ARGS)})")
        high, low, p_max = (value for _, value in call.args)
    match key:
        case EntryKey(_, (Exact(field=field, value=cell),)) if field == WRED_KEY and 0 <= cell < table.size:
            pass
        case _:
            raise PlanError(str(key), f"the filter has cells 0 to {table.size - 1}", "give one of them")
    row = wire.TableEntry(table_id=table.id)
    index = table.keys.get(WRED_KEY)
    if index is None:
        missing(f"table {table.name}: key", WRED_KEY, table.keys)
    row.key.fields.add(field_id=index.field.id).exact.value = cell.to_bytes(index.field.width_bytes, "big")
    # The average follows the queue of this moment, as DCQCN does.
    row.data.fields.add(field_id=table.data_field(_TIME).id).float_val = 0.0
    for name, depth in ((_LOW, low), (_HIGH, high)):
        field = table.data_field(name)
        if not 0 <= depth < 1 << field.width_bits:
            raise PlanError(
                str(key), f"{depth} cells do not fit in {field.width_bits} bits", "give a smaller threshold"
            )
        row.data.fields.add(field_id=field.id).stream = depth.to_bytes(field.width_bytes, "big")
    row.data.fields.add(field_id=table.data_field(_P_MAX).id).float_val = p_max / WRED_P_UNIT
    return row


def from_cell(row: wire.Message, table: Table, name: str) -> Entry | None:
    """The entry of a cell; None for one that never marks. Raises PlanError."""
    index, found = table.keys[WRED_KEY].field, dict[str, float]()
    for one in row.data.fields:
        field: Field | None = table.data_by_id.get(one.field_id)
        if field is None:
            raise PlanError(
                "read answer", f"{table.name} has no field {one.field_id:#x}", "check the log of the switch"
            )
        found[field.name] = one.float_val if field.kind == "float" else int.from_bytes(one.stream, "big")
    cells = [int.from_bytes(key.exact.value, "big") for key in row.key.fields if key.field_id == index.id]
    if len(cells) != 1 or not {_LOW, _HIGH, _P_MAX} <= found.keys():
        raise PlanError("read answer", f"a cell of {table.name} is incomplete", "check the log of the switch")
    if found[_LOW] >= NO_THRESHOLD:
        return None
    # A time constant of another's is a difference, as is a share that no plan has.
    p_max = found[_P_MAX] * WRED_P_UNIT
    whole = round(p_max) if found.get(_TIME, 0.0) == 0.0 and 0 <= p_max <= WRED_P_UNIT else -1
    args = (("high", int(found[_HIGH])), ("low", int(found[_LOW])), ("p_max", whole))
    return Entry(EntryKey(name, (Exact(WRED_KEY, cells[0]),)), ActionCall(SET_WRED, args))
