#!/usr/bin/env python3
"""Writes what the reference tools read from each file of this folder into the JSON beside it.

The tests do not need this script. Run it by hand, where bash, dash, python-dotenv, ruamel.yaml and PyYAML
are installed, after a file was added.
"""
import datetime
import importlib.metadata
import json
import logging
import math
import pathlib
import shutil
import subprocess
import sys

import dotenv
import ruamel.yaml
import yaml

FOLDER = pathlib.Path(__file__).parent
HOME = "/home/alice"
logging.disable(logging.CRITICAL)


def version(package):
    return f"{package} {importlib.metadata.version(package)}"


def shell_version(shell):
    command = ["dpkg-query", "--showformat=${Version}", "--show", shell]
    return f"{shell} {subprocess.run(command, capture_output=True, text=True).stdout}"


def in_shell(shell, path):
    """The variables that a shell sets, without those that it always sets."""
    def variables(script):
        result = subprocess.run(
            [shutil.which(shell), "-c", script], env={"HOME": HOME}, cwd=FOLDER,
            stdin=subprocess.DEVNULL, capture_output=True)
        pairs = [pair.split(b"=", 1) for pair in result.stdout.split(b"\0") if b"=" in pair]
        return {name.decode(): value.decode() for name, value in pairs}
    usual = variables("exec /usr/bin/env -0")
    found = variables(f"set -a; . ./{path.name}; exec /usr/bin/env -0")
    return {name: value for name, value in sorted(found.items()) if name not in usual or name == "A"}


def in_python_dotenv(path):
    code = "import dotenv,json,sys,logging;logging.disable(50);" \
        "print(json.dumps(dotenv.dotenv_values(sys.argv[1])))"
    result = subprocess.run(
        [sys.executable, "-c", code, path], env={"HOME": HOME}, cwd="/", capture_output=True)
    return json.loads(result.stdout)


def plain(value):
    """The value in JSON."""
    if isinstance(value, dict):
        return {name if isinstance(name, str) else json.dumps(name): plain(inner)
                for name, inner in value.items()}
    if isinstance(value, set):
        return sorted(plain(inner) for inner in value)
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return f"a date: {value.isoformat()}"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, float) and not math.isfinite(value):
        return f"a number: {value}"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a number: {value}"
    return value


def in_yaml(load, text):
    try:
        return plain(load(text))
    except Exception as error:
        return f"error: {type(error).__name__}"


def main():
    for path in sorted(FOLDER.iterdir()):
        if path.suffix not in (".env", ".yaml"):
            continue
        if path.suffix == ".env":
            answers = {shell_version(shell): in_shell(shell, path) for shell in ("bash", "dash")}
            answers[version("python-dotenv")] = in_python_dotenv(str(path))
        else:
            text = path.read_bytes().decode()
            answers = {
                version("ruamel.yaml"): in_yaml(ruamel.yaml.YAML(typ="safe", pure=True).load, text),
                version("PyYAML"): in_yaml(yaml.safe_load, text),
            }
        beside = path.with_suffix(path.suffix + ".json")
        expected = json.loads(beside.read_text()) if beside.exists() else {}
        expected["answers"] = answers
        beside.write_text(json.dumps(expected, indent=2, ensure_ascii=False) + "\n")


main()
