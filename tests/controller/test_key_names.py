"""Keys of one table whose names end alike."""

from controller.pipeline import load_pipeline


def _p4info(*names: str) -> str:
    fields = "".join(
        f'match_fields {{ id: {at} name: "{name}" bitwidth: 8 match_type: EXACT }}' for at, name in enumerate(names, 1)
    )
    return f'tables {{ preamble {{ id: 33554433 name: "ingress.t" alias: "t" }} {fields} size: 8 }}'


def test_keys_that_end_alike_are_known_by_their_whole_names() -> None:
    names = ["hdr.outer.$valid$", "hdr.inner.$valid$", "hdr.tcp.$valid$", "hdr.tcp.flags"]
    fields = load_pipeline(_p4info(*names), b"program").schema.tables["t"].match_fields
    assert [fields[name].id for name in names] == [1, 2, 3, 4]
    assert fields["flags"].id == 4
    # The end of three names is none's.
    assert fields.get("$valid$") is None


def test_a_whole_name_comes_before_the_end_of_another() -> None:
    for names in (["hdr.ip.dst", "dst"], ["dst", "hdr.ip.dst"]):
        fields = load_pipeline(_p4info(*names), b"program").schema.tables["t"].match_fields
        assert [fields[name].name for name in names] == names
