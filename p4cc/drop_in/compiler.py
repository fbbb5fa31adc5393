"""p4c, p4c-bm2-ss, p4c-bm2-psa and p4test by their own command lines: `python -m p4cc.drop_in.compiler p4c basic.p4`.

The options, exit codes and names of files are p4c's. An option that changes nothing here is named once on standard
error; one whose result would be missing is refused.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NoReturn

from p4cc.errors import UserError
from p4cc.planning.programs import CompiledProgram, compile_program
from p4cc.version import p4cc_version

VERSION = "1.2.5"
"""The p4c whose command line and files these are; scripts read it from `--version`."""


class Tool(Enum):
    """A program of p4c."""

    DRIVER = "p4c"
    BM2_SS = "p4c-bm2-ss"
    BM2_PSA = "p4c-bm2-psa"
    TEST = "p4test"


_WITHOUT_EFFECT = {
    "--Wdisable": "?",
    "--Werror": "?",
    "--Wwarn": "?",
    "--disable-annotations": "?",
    "--emit-externs": None,
    "--excludeBackendPasses": 1,
    "--excludeFrontendPasses": 1,
    "--excludeMidendPasses": 1,
    "--listFrontendPasses": None,
    "--loopsUnroll": None,
    "--maxErrorCount": 1,
    "--ndebug": None,
    "--nocpp": None,
    "--parser-inline-opt": None,
    "--testJson": None,
    "--undefined-behavior-warnings": None,
    "--verbose": None,
    "-T": 1,
    "-U": 1,
    "-Xassembler": 1,
    "-Xlinker": 1,
    "-Xp4c": 1,
    "-Xpreprocessor": 1,
    "-c": None,
    "-g": None,
    "-v": None,
}
"""Options that change nothing here, and how many words follow them: none, one, or perhaps one behind `=`."""

_REFUSED = (
    "--dump",
    "--fromJSON",
    "--p4runtime-entries-file",
    "--p4runtime-entries-files",
    "--pp",
    "--toJSON",
    "--top4",
)
"""Options that write or read what p4cc does not have."""

_TARGETS = ("bmv2", "bmv2-ss-p4org")
_ARCHITECTURES = ("v1model", "psa")
_BACK_ENDS = {Tool.BM2_SS: "v1model", Tool.BM2_PSA: "psa"}
"""What each of p4c's back ends for BMv2 compiles."""
_LANGUAGES = ("p4-16", "p4_16", "16")
_FORMATS = {".json": "json", ".bin": "binary", ".txt": "text", ".txtpb": "text"}


class _Parser(argparse.ArgumentParser):
    """Ends with p4c's exit code for a wrong command line."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: error: {message}\n")
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class _P4InfoFile:
    path: Path
    form: str


def main(words: list[str] | None = None) -> int:
    """Runs the tool that the first word names; answers its exit code."""
    name, *rest = sys.argv[1:] if words is None else words
    tool = Tool(name)
    try:
        return _run(tool, rest)
    except UserError as error:
        sys.stderr.write(f"{tool.value}: error: {error}\n")
        return 1


def _run(tool: Tool, words: list[str]) -> int:
    parser = _parser(tool)
    given = parser.parse_args(words)
    _name_without_effect(tool, words)
    for option in _REFUSED:
        if any(word.split("=")[0] == option for word in words):
            raise UserError(f"{option} is not supported", remedy="use p4c itself for this option")
    _check_target(given)
    if given.program is None:
        parser.error("no input file")
    program = Path(given.program)
    compiled = compile_program(program, tuple(given.include), tuple(given.define), None)
    sys.stderr.write(compiled.rendered)
    if not compiled.ok:
        return 1
    if tool is not Tool.TEST:
        wanted: str = given.arch
        _check_architecture(compiled, _BACK_ENDS.get(tool) or wanted, program)
    if tool is Tool.DRIVER:
        _write_into(given, program, compiled)
    elif tool in _BACK_ENDS and given.output is not None:
        _write(Path(given.output), compiled.bmv2_json())
    for file in _p4info_files(given):
        _write(file.path, _p4info(compiled, file.form))
    return 0


def _parser(tool: Tool) -> argparse.ArgumentParser:
    parser = _Parser(prog=tool.value, allow_abbrev=False, description=f"{tool.value} by p4cc {p4cc_version()}")
    version = f"{tool.value} {VERSION} (SHA: p4cc-{p4cc_version()} BUILD: Release)"
    parser.add_argument("--version", "-V", action="version", version=version)
    parser.add_argument("program", nargs="?", help="P4-16 source")
    parser.add_argument("-I", dest="include", action="append", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]")
    parser.add_argument("-o", dest="output", metavar="FOLDER" if tool is Tool.DRIVER else "FILE")
    parser.add_argument("-b", "--target", default=_TARGETS[0])
    parser.add_argument("-a", "--arch", default=_ARCHITECTURES[0])
    parser.add_argument("-x", "--std", "--p4v", dest="language", default=_LANGUAGES[0])
    parser.add_argument("-E", dest="preprocess_only", action="store_true", help="write the preprocessed source only")
    parser.add_argument("-e", dest="skip_preprocessor", action="store_true", help="the source is preprocessed")
    parser.add_argument("--p4runtime-files", "--p4runtime-file", dest="p4info", default="", metavar="FILE,...")
    parser.add_argument("--p4runtime-format", dest="p4info_form", choices=("binary", "json", "text"))
    for option, count in _WITHOUT_EFFECT.items():
        if count is None:
            parser.add_argument(option, action="store_true", help=argparse.SUPPRESS)
        else:
            parser.add_argument(option, action="append", nargs="?" if count == "?" else None, help=argparse.SUPPRESS)
    for option in _REFUSED:
        parser.add_argument(option, nargs="?", help=argparse.SUPPRESS)
    return parser


def _name_without_effect(tool: Tool, words: list[str]) -> None:
    for option in dict.fromkeys(word.split("=")[0] for word in words):
        if option in _WITHOUT_EFFECT:
            sys.stderr.write(f"{tool.value}: {option} has no effect in p4cc\n")


def _check_target(given: argparse.Namespace) -> None:
    if given.target not in _TARGETS:
        raise UserError(f"target {given.target} is not supported", remedy=f"use {', '.join(_TARGETS)}")
    if given.arch not in _ARCHITECTURES:
        raise UserError(
            f"BMv2 JSON for {given.arch} is not supported",
            remedy=f"write the program for {' or '.join(_ARCHITECTURES)}, or use p4c itself",
        )
    if given.language.lower() not in _LANGUAGES:
        raise UserError(f"language {given.language} is not supported", remedy="translate the program to P4-16")


def _check_architecture(compiled: CompiledProgram, wanted: str, program: Path) -> None:
    """A back end takes programs of its own architecture only, as in p4c."""
    found = re.search(r'^ *arch: "(\w+)"', compiled.p4info_text(), re.MULTILINE)
    architecture = found.group(1) if found else wanted
    if architecture != wanted:
        remedy = (
            f"compile it with p4c --arch {architecture}" if architecture in _ARCHITECTURES else "use another back end"
        )
        raise UserError(f"a program for {architecture}, not for {wanted}", place=str(program), remedy=remedy)


def _write_into(given: argparse.Namespace, program: Path, compiled: CompiledProgram) -> None:
    """The driver's files, named after the source, in the folder that `-o` names."""
    folder = Path(given.output or ".")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder: {error.strerror}", place=str(folder)) from error
    if not given.skip_preprocessor:
        _write(folder / f"{program.stem}.p4i", compiled.device_config())
    if not given.preprocess_only:
        _write(folder / f"{program.stem}.json", compiled.bmv2_json())


def _p4info_files(given: argparse.Namespace) -> list[_P4InfoFile]:
    files: list[_P4InfoFile] = []
    for name in filter(None, given.p4info.split(",")):
        form = given.p4info_form or _FORMATS.get(Path(name).suffix)
        if form is None:
            raise UserError(
                "the ending of the file does not tell its format",
                place=name,
                remedy=f"end it with one of {', '.join(_FORMATS)}, or give --p4runtime-format",
            )
        files.append(_P4InfoFile(Path(name), form))
    return files


def _p4info(compiled: CompiledProgram, form: str) -> str | bytes:
    if form == "text":
        return compiled.p4info_text()
    if form == "binary":
        return compiled.p4info_bytes()
    # Both take a while to import, and few ask for JSON.
    from google.protobuf.json_format import MessageToJson

    from controller.pipeline import parse_p4info

    return MessageToJson(parse_p4info(compiled.p4info_bytes())) + "\n"


def _write(path: Path, content: str | bytes) -> None:
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UserError(f"cannot write: {error.strerror}", place=str(path)) from error


if __name__ == "__main__":
    sys.exit(main())
