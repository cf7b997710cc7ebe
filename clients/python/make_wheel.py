"""Puts the clients and the program into a wheel: make_wheel.py VERSION PLATFORM-TAG PROGRAM FOLDER

Prints the name of the file that it makes in FOLDER. A wheel is a zip file with a list of what is in it (PEP 427); equal input
makes equal bytes. What the package is called and needs is in pyproject.toml. Needs Python 3.11 or later.
"""

import base64
import hashlib
import pathlib
import sys
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "offshoot_sessions"


def texts(project, platform):
    """The files of the folder `.dist-info`, without RECORD."""
    readme = (HERE / project["readme"]).read_text(encoding="utf-8")
    metadata = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "License": project["license"]["text"],
        "Requires-Python": project["requires-python"],
        "Project-URL": f"Repository, {project['urls']['Repository']}",
        "Description-Content-Type": "text/markdown",
    }
    wheel = {"Wheel-Version": "1.0", "Generator": "offshoot", "Root-Is-Purelib": "false", "Tag": f"py3-none-{platform}"}
    yield "METADATA", lines(metadata, ": ") + "\n" + readme
    yield "WHEEL", lines(wheel, ": ")
    yield "entry_points.txt", "[console_scripts]\n" + lines(project["scripts"], " = ")
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        yield f"licenses/{licence}", (HERE.parent.parent / licence).read_text(encoding="utf-8")


def lines(members, between):
    return "".join(f"{name}{between}{value}\n" for name, value in members.items())


def contents(info, project, platform, program):
    """The files of the wheel without RECORD: path, bytes and mode."""
    for file in sorted((HERE / PACKAGE).glob("*")):
        if file.name == "py.typed" or file.suffix == ".py":
            yield f"{PACKAGE}/{file.name}", file.read_bytes(), 0o644
    yield f"{PACKAGE}/bin/offshoot", pathlib.Path(program).read_bytes(), 0o755
    for name, text in texts(project, platform):
        yield f"{info}/{name}", text.encode(), 0o644


def main(version, platform, program, folder):
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if project["version"] != version:
        sys.exit(f"clients/python/pyproject.toml: its version must be {version}")
    info = f"{PACKAGE}-{version}.dist-info"
    name = f"{PACKAGE}-{version}-py3-none-{platform}.whl"
    record = ""
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, data, mode):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        for path, data, mode in contents(info, project, platform, program):
            add(path, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        add(f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644)
    print(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
