"""p4c, p4c-bm2-ss and p4test by their own command lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.pipeline import parse_p4info
from p4cc.drop_in.compiler import main
from p4cc.planning.programs import compile_program

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests/p4runtime/everything.p4"
PSA = ROOT / "engine/filetests/cases/run/psa_json.p4"


def test_the_driver_writes_its_files_into_the_folder(tmp_path: Path) -> None:
    info = tmp_path / "everything.p4info.txtpb"
    words = ["p4c", "--target", "bmv2", "--arch", "v1model", "--std", "p4-16", "-o", str(tmp_path / "build")]
    assert main([*words, "--p4runtime-files", str(info), str(PROGRAM)]) == 0
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == ["everything.json", "everything.p4i"]
    document = json.loads((tmp_path / "build/everything.json").read_text())
    assert document["__meta__"]["version"] == [2, 23]
    assert "V1Switch" in (tmp_path / "build/everything.p4i").read_text()
    assert "tables {" in info.read_text()


def test_preprocessed_source_compiles_as_the_source_did(tmp_path: Path) -> None:
    assert main(["p4c", "-E", "-o", str(tmp_path), str(PROGRAM)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["everything.p4i"]
    assert main(["p4c", "-e", "-o", str(tmp_path), str(tmp_path / "everything.p4i")]) == 0
    assert main(["p4c-bm2-ss", "-o", str(tmp_path / "direct.json"), str(PROGRAM)]) == 0
    made, direct = (json.loads((tmp_path / name).read_text()) for name in ("everything.json", "direct.json"))
    assert made == direct


def test_every_form_of_p4info_is_the_same_message(tmp_path: Path) -> None:
    files = [tmp_path / f"info.{ending}" for ending in ("bin", "json", "txtpb")]
    names = ",".join(map(str, files))
    assert main(["p4c-bm2-ss", "--p4runtime-files", names, "-o", str(tmp_path / "a.json"), str(PROGRAM)]) == 0
    message = parse_p4info(files[0].read_bytes())
    assert len(json.loads(files[1].read_text())["tables"]) == len(message.tables) > 0
    assert files[2].read_text().count("tables {") == len(message.tables)


COPIES = """
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> a; bit<32> b; }
struct headers { h_t h; }
struct meta { bit<32> hash; bit<2> color; }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply {} }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    direct_meter<bit<2>>(MeterType.bytes) limits;
    action count() { hash(m.hash, HashAlgorithm.crc32_custom, 32w0, { hdr.h.a }, 32w1024); }
    action send(bit<9> port) { s.egress_spec = port; limits.read(m.color); }
    table route { key = { hdr.h.a: exact; } actions = { send; } meters = limits; }
    apply { count(); route.apply(); hdr.h.b = m.hash; }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply {} }
control C(inout headers hdr, inout meta m) { apply {} }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


def test_actions_that_the_json_has_twice_are_read_once(tmp_path: Path) -> None:
    program, document = tmp_path / "copies.p4", tmp_path / "copies.json"
    program.write_text(COPIES)
    info = tmp_path / "source.bin"
    assert main(["p4c-bm2-ss", "--p4runtime-files", str(info), "-o", str(document), str(program)]) == 0
    # p4-utils looks for the control of a pipeline here.
    assert json.loads(document.read_text())["pipelines"][0]["source_info"]["source_fragment"] == "I"
    # A table with a direct meter has actions of its own, and a called action stands in its place, too.
    compiled = compile_program(document, (), (), None)
    assert compiled.ok, compiled.rendered
    for content in (info.read_bytes(), compiled.p4info_bytes()):
        (action,) = [one for one in parse_p4info(content).actions if one.preamble.name == "I.send"]
        assert [(param.name, param.bitwidth) for param in action.params] == [("port", 9)]


def test_the_version_is_one_that_scripts_read(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["p4c", "--version"])
    assert ended.value.code == 0
    name, number, *_ = capsys.readouterr().out.split()
    assert (name, number.split(".")[0]) == ("p4c", "1")


def test_options_without_effect_are_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["p4c-bm2-ss", "--Wdisable", "--Wdisable=unused", "-g", "--maxErrorCount", "3"]
    assert main([*words, "-o", str(tmp_path / "a.json"), str(PROGRAM)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("p4c-bm2-ss: ")]
    assert said == [f"p4c-bm2-ss: {option} has no effect in p4cc" for option in ("--Wdisable", "-g", "--maxErrorCount")]


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["--toJSON", "ir.json"], "--toJSON is not supported"),
        (["--std", "p4-14"], "language p4-14 is not supported"),
        (["--target", "ebpf"], "target ebpf is not supported"),
        (["--arch", "pna"], "BMv2 JSON for pna is not supported"),
        (["--arch", "psa"], "a program for v1model, not for psa"),
        (["--p4runtime-files", "info.protobuf"], "the ending of the file does not tell its format"),
        (["--unknown"], "unrecognized arguments: --unknown"),
    ],
)
def test_what_p4cc_does_not_have_is_refused_by_name(
    words: list[str], cause: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        try:
            code = main(["p4c", *words, str(PROGRAM)])
        except SystemExit as ended:
            code = ended.code
    assert code == 1
    assert cause in capsys.readouterr().err


def test_a_counter_of_psa_that_is_listed_twice_is_one(tmp_path: Path) -> None:
    """p4c writes a counter into `counter_arrays`, and as an instance of the extern."""
    file = tmp_path / "twice.json"
    assert main(["p4c-bm2-psa", "-o", str(file), str(PSA)]) == 0
    data = json.loads(file.read_text())
    counters = [one["name"] for one in data["extern_instances"] if one["type"] == "Counter"]
    assert counters
    data["counter_arrays"] = [
        {"name": name, "id": at, "size": 64, "is_direct": False} for at, name in enumerate(counters)
    ]
    file.write_text(json.dumps(data))
    info = parse_p4info(compile_program(file).p4info_bytes())
    assert [one.preamble.name for one in info.counters] == counters


def test_psa_programs_are_for_their_back_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["p4c", "--target", "bmv2", "--arch", "psa", "-o", str(tmp_path / "driver"), str(PSA)]) == 0
    assert main(["p4c-bm2-psa", "-o", str(tmp_path / "direct.json"), str(PSA)]) == 0
    made, direct = (tmp_path / "driver" / f"{PSA.stem}.json").read_text(), (tmp_path / "direct.json").read_text()
    assert made == direct
    document = json.loads(direct)
    assert [parser["name"] for parser in document["parsers"]] == ["ingress_parser", "egress_parser"]
    assert {one["type"] for one in document["extern_instances"]} >= {"Counter"}
    for words in (["p4c"], ["p4c-bm2-ss"], ["p4c", "--arch", "v1model"]):
        assert main([*words, "-o", str(tmp_path / "wrong"), str(PSA)]) == 1
        assert "a program for psa, not for v1model" in capsys.readouterr().err
    assert not (tmp_path / "wrong").exists()


def test_an_error_in_the_program_is_exit_code_1_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "wrong.p4"
    program.write_text("#include <core.p4>\n#include <v1model.p4>\nheader h { bit<8> }\n")
    assert main(["p4c-bm2-ss", "-o", str(tmp_path / "wrong.json"), str(program)]) == 1
    assert "wrong.p4:3" in capsys.readouterr().err
    assert not (tmp_path / "wrong.json").exists()


def test_p4test_takes_programs_of_other_architectures(tmp_path: Path) -> None:
    assert main(["p4test", str(ROOT / "p4src/tna/ecn_dual.p4")]) == 0
    assert list(tmp_path.iterdir()) == []
