"""Rows of any table over BF Runtime, as a user writes them: the program's, and those of the chip.

What P4Runtime has no request for is set so: mirror sessions with headers, multicast on two levels, the packet
generator, `Wred`, `Lpf`. Pure, no I/O.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from controller.bfrt import wire
from controller.bfrt.codec import put_match, value_bytes
from controller.bfrt.program import Program
from controller.bfrt.schema import Field, Table, missing
from controller.errors import PlanError
from controller.resolve import match_of, number_of
from controller.written import AnyValue, WrittenEntry

T = TypeVar("T", bool, int, str)

MAX_HEX_DIGITS = 1 << 15
"""Of a list of bytes: the packet generator's buffer has 16 KiB."""
_INT_WORD_BITS = 32
MAX_FLOAT = 3.0e38
"""Of 32 bits."""


def to_update(row: WrittenEntry, program: Program) -> wire.Message:
    """The message that sets a row, whether it is there or not; raises PlanError that names the row's place."""
    try:
        return _update(row, _table(row.table, program))
    except PlanError as error:
        raise PlanError(f"{row.place}: {error.place}", error.cause, error.remedy) from None


def _table(name: str, program: Program) -> Table:
    """A table of the program, or one of the chip's; raises PlanError."""
    chip = program.chip_schema
    for schema in (program.schema, chip):
        if name in schema.tables:
            return schema.tables[name]
    short = [table for table in chip.tables.values() if table.name.partition(".")[2] == name]
    if len(short) == 1:
        return short[0]
    try:
        return program.schema.find(name)
    except PlanError as error:
        cause = f"{error.cause}; the chip has {', '.join(sorted(chip.tables))}"
        raise PlanError(error.place, cause, "correct the name") from None


def _update(row: WrittenEntry, table: Table) -> wire.Message:
    made = wire.Update(type=wire.Update.MODIFY if row.default else wire.Update.INSERT_OR_MODIFY)
    entry = made.entity.table_entry
    entry.table_id, entry.is_default_entry = table.id, row.default
    for name, values in row.match:
        key = table.keys.get(str(name))
        if key is None:
            missing(f"table {table.name}: key", name, table.keys)
        field, where = key.field, f"table {table.name}: key {key.field.name}"
        match = match_of(field.name, key.match.lower(), field.width_bits, values, where)
        put_match(entry.key.fields.add(field_id=field.id), key, match, where)
    params: Mapping[str, Field] = {}
    if row.action is not None:
        action = table.actions.get(row.action)
        if action is None:
            missing(f"table {table.name}: action", row.action, table.actions)
        entry.data.action_id, params = action.id, action.params
    for name, value in row.params:
        field = params.get(str(name)) or table.data.get(str(name))
        if field is None:
            missing(f"table {table.name}: field", name, [*params, *table.data])
        put_value(entry.data.fields.add(field_id=field.id), field, value, f"table {table.name}: field {name}")
    return made


def put_value(made: wire.Message, field: Field, value: AnyValue, where: str) -> None:
    """Puts a value into a data field by the type that the schema has for it; raises PlanError."""
    match field.kind, field.repeated, value:
        case "bool", False, bool():
            made.bool_val = value
        case "float", False, int() | float() if not isinstance(value, bool):
            if abs(value) > MAX_FLOAT:
                raise PlanError(where, f"{value!r:.60} is out of range for a float", "give a smaller number")
            made.float_val = value
        case "string", False, str():
            made.str_val = value
        case "bytes", True, str() if field.width_bits == 8:
            made.stream = _hex_bytes(value, where)
        case "bool", True, list():
            made.bool_arr_val.SetInParent()
            made.bool_arr_val.val.extend(_each(value, bool, field, where))
        case "string", True, list():
            made.str_arr_val.SetInParent()
            made.str_arr_val.val.extend(_each(value, str, field, where))
        case _, True, list() if field.width_bits:
            numbers = _each(value, int, field, where)
            for number in numbers:
                value_bytes(number, field, where)
                if number.bit_length() > _INT_WORD_BITS:
                    raise PlanError(where, f"{number:#x} in a list has more than 32 bits", "give a smaller number")
            made.int_arr_val.SetInParent()
            made.int_arr_val.val.extend(numbers)
        case _, False, int() | str() if field.width_bits and field.kind != "bool" and not isinstance(value, bool):
            made.stream = value_bytes(number_of(value, field.width_bits, where), field, where)
        case _:
            raise _not_of_type(field, value, where)


def _each(values: Sequence[object], kind: type[T], field: Field, where: str) -> list[T]:
    result = [value for value in values if type(value) is kind]
    if len(result) != len(values):
        raise _not_of_type(field, values, where)
    return result


def _not_of_type(field: Field, value: object, where: str) -> PlanError:
    kind = f"{field.width_bits} bits" if field.kind == "bytes" else field.kind
    return PlanError(
        where, f"{value!r:.60} is not a {'list of ' if field.repeated else 'value of '}{kind}", "correct the value"
    )


def _hex_bytes(text: str, where: str) -> bytes:
    digits = text.removeprefix("0x")
    if digits == text or len(digits) > MAX_HEX_DIGITS:
        raise PlanError(
            where, f"{text!r:.60} is not a byte string", f"write 0x and up to {MAX_HEX_DIGITS} hexadecimal digits"
        )
    try:
        return bytes.fromhex(digits.zfill((len(digits) + 1) // 2 * 2))
    except ValueError:
        raise PlanError(
            where, f"{text!r:.60} contains characters that are not hexadecimal digits", "correct the value"
        ) from None
