"""The text of a robot's file, checked before MuJoCo reads it: nothing outside of the file's folder is opened.

Includes are joined to one text, and every name of a file in it is replaced by that of a copy. What has no effect on the
motion, such as textures and cameras, is taken out, and what could take any time or memory is limited or refused.
"""

import io
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of
from nonsmooth.settings import shown

#: limits, far above the needs of robots: bytes of all texts and of all meshes, elements with their copies, levels,
#: included files, and points of a height field
TEXTS, MESHES, MOST, DEEPEST, INCLUDES, POINTS = 4_000_000, 100_000_000, 20_000, 400, 50, 1_000_000
MESH_ENDINGS = (".stl", ".obj", ".msh")
#: tags without effect on the motion, which are taken out
UNREAD = {"visual", "size", "statistic", "custom", "texture", "skin", "sensor", "light", "camera", "layer"}
#: tags that are refused, and what to do
REFUSED = {
    "extension": "a plugin; take it out",
    "plugin": "a plugin; take it out",
    "composite": "a flexible part; take it out, flexible bodies are made in Python or TOML files",
    "flexcomp": "a flexible part; take it out, flexible bodies are made in Python or TOML files",
    "flex": "a flexible part; take it out, flexible bodies are made in Python or TOML files",
    "model": "another model to be attached; let MuJoCo save the whole as one file, mj_saveLastXML",
}


@dataclass
class Source:
    """The text for MuJoCo, the files that go with it, by their names there, and what was taken out of a URDF file."""

    path: Path
    folder: Path
    text: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    taken_out: list[tuple[str, str]] = field(default_factory=list)
    urdf: bool = False
    read: int = 0

    def error(self, sentence: str) -> InputError:
        return InputError(f"{self.path}: {sentence}")

    def bytes_of(self, name: str, most: int, what: str) -> bytes:
        """The bytes of a file in the folder; InputError if it lies elsewhere, or is too long."""
        parts = re.split(r"[/\\]", name)
        outside = PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or ".." in parts or ":" in name
        article = "an" if what[0] in "aeiou" else "a"
        path = None if outside else self.folder / path_of(name, f"{self.path}: {article} {what}")
        if path is None or not path.resolve().is_relative_to(self.folder):
            raise self.error(f"the {what} {shown(name)} is not within the folder of the model; copy it there.")
        return self._bytes(path, most, f"the {what} {shown(name)}")

    def _bytes(self, path: Path, most: int, what: str) -> bytes:
        try:
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):
                raise OSError(0, "it is not a regular file")
            if about.st_size > most:
                raise self.error(f"{what} has more than {most} bytes; make it smaller.")
            return path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise self.error(f"{what} cannot be read ({reason}); give a file that exists.") from error

    def tree(self, data: bytes, name: str) -> Element:
        """The elements of a text; the number of their levels is limited while it is read."""
        self.read += len(data)
        if self.read > TEXTS:
            raise self.error(f"the texts of its files have more than {TEXTS} bytes; make them smaller.")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise self.error(f"{name} is no UTF-8 text; save it as such.") from None
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise self.error(f"{name} has a document type or entities of its own; take them out.")
        depth, found = 0, None
        try:
            for event, element in ElementTree.iterparse(io.StringIO(text), events=("start", "end")):
                found = element if found is None else found
                depth += 1 if event == "start" else -1
                if depth > DEEPEST:
                    raise self.error(f"{name} has elements in more than {DEEPEST} levels; make it flatter.")
        except ElementTree.ParseError as error:
            raise self.error(f"{name} is no XML text ({error}); correct it there.") from None
        assert found is not None
        return found


def read_source(path: Path) -> Source:
    """The checked text of a file, MJCF or URDF, and the files that it names; InputError of one sentence."""
    source = Source(path, path.resolve().parent)
    root = source.tree(source._bytes(path, TEXTS, "the file"), "the file")
    if root.tag not in ("mujoco", "robot"):
        raise source.error(
            f"it is no file of a robot: it begins with <{shown(root.tag)}>, MJCF with <mujoco>, URDF with <robot>."
        )
    source.urdf = root.tag == "robot"
    _join(source, root, [])
    if any("xacro" in element.tag for element in root.iter()):
        raise source.error("it is a text for xacro; let xacro make the URDF file of it.")
    if _count(source, root) > MOST:
        raise source.error(f"it has more than {MOST} elements, copies included; make it smaller.")
    for element in list(root.iter()):
        for key, text in element.attrib.items():
            if "nan" in text.lower().replace("-", " ").split():  # which MuJoCo takes for a number that is not given
                raise source.error(f'<{element.tag}> has {key}="{text[:40]}", which is not a number; give one.')
        # what has no effect on the motion
        element[:] = [child for child in element if child.tag not in UNREAD]
        if element.tag == "material":
            element.attrib.pop("texture", None)
    _take_files(source, root)
    source.text = ElementTree.tostring(root, encoding="unicode")
    return source


def _join(source: Source, element: Element, within: list[str]) -> None:
    """Put the elements of included files in place of the includes."""
    children: list[Element] = []
    for child in element:
        if child.tag != "include":
            _join(source, child, within)
            children.append(child)
            continue
        name = child.get("file", "")
        if name in within or len(within) >= INCLUDES:
            raise source.error(f"the file {shown(name)} includes itself; take one of the includes out.")
        root = source.tree(source.bytes_of(name, TEXTS, "included file"), f"the included file {shown(name)}")
        if root.tag not in ("mujoco", "mujocoinclude"):
            raise source.error(f"the included file {shown(name)} begins with <{shown(root.tag)}>, not with <mujoco>.")
        _join(source, root, [*within, name])
        children += root
    element[:] = children


def _count(source: Source, element: Element) -> int:
    """The number of elements, with the copies that `replicate` makes."""
    if element.tag in REFUSED:
        raise source.error(f"<{element.tag}> is {REFUSED[element.tag]}.")
    if element.tag == "hfield" and _whole(element.get("nrow")) * _whole(element.get("ncol")) > POINTS:
        raise source.error(f"a height field has more than {POINTS} points; make it coarser.")
    found = 1
    for child in element:
        found += _count(source, child)
    return found * max(1, _whole(element.get("count"))) if element.tag == "replicate" else found


def _whole(text: str | None) -> int:
    """A whole number, 0 where there is none; what is not a number MuJoCo refuses."""
    found = re.fullmatch(r"\s*\+?(\d{1,12})\s*", text or "")
    return int(found[1]) if found else 0


def _take_files(source: Source, root: Element) -> None:
    """Replace each name of a file by that of a copy, after it was checked."""
    folder, total = "", 0
    for compiler in root.iter("compiler"):
        compiler.attrib.pop("texturedir", None)
        compiler.attrib.pop("strippath", None)
        assets = compiler.attrib.pop("assetdir", folder)
        folder = compiler.attrib.pop("meshdir", assets)
    if source.urdf:
        _take_out(source, root, folder)
    for element in root.iter():
        for key in [one for one in element.attrib if one.startswith("file")]:
            name = element.attrib[key]
            if element.tag not in ("mesh", "hfield") or key not in ("file", "filename"):
                raise source.error(f"<{element.tag}> names the file {shown(name)}, which is not read; take it out.")
            if element.tag == "hfield" and not name:
                continue
            data = source.bytes_of(f"{folder}/{name}" if folder else name, MESHES, element.tag)
            total += len(data)
            if total > MESHES:
                raise source.error(f"its meshes have more than {MESHES} bytes; export them more coarsely.")
            if element.tag == "mesh" and "name" not in element.attrib and not source.urdf:
                element.set("name", PurePosixPath(name.replace("\\", "/")).stem)
            element.set(key, f"file{len(source.files)}{PurePosixPath(name).suffix.lower()}")
            source.files[element.attrib[key]] = data


def _take_out(source: Source, root: Element, folder: str) -> None:
    """Remove meshes of a URDF file that MuJoCo does not read, or that are not there.

    A mesh ``package://name/path`` is looked for by its path in the folder, from which leading parts are left out.
    """
    for link in root.iter("link"):
        for child in link.findall("collision"):
            mesh = child.find("geometry/mesh")
            if mesh is None:
                continue
            name = there = mesh.get("filename", "")
            parts = [one for one in re.sub(r"^\w+://", "", name).split("/") if one]
            if ".." not in parts and not name.startswith("/"):  # one outside is refused where it would be read
                tails = ("/".join(parts[i:]) for i in range(len(parts)))
                there = next((one for one in tails if (source.folder / folder / one).is_file()), "")
            if there.lower().endswith(MESH_ENDINGS):
                mesh.set("filename", there)
            else:
                source.taken_out.append((link.get("name", "link"), f"the mesh {name}"))
                link.remove(child)
