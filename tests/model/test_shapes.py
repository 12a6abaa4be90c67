"""Shapes of bodies: what they enclose, where they are seen, STL files; and that motion does not know of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nonsmooth import (
    BoxShape,
    CylinderShape,
    DeclarationError,
    InputError,
    Mesh,
    MeshShape,
    Model,
    ModelError,
    MoreauJean,
    PolygonShape,
    RodShape,
    SphereShape,
    Trajectory,
    plots,
    read_model,
    read_stl,
    simulate,
)
from nonsmooth.declarative import model_text
from nonsmooth.model.drawing import Solid
from nonsmooth.model.shapes import MOST_TRIANGLES, TRIANGLE
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.plots.frames import outlines
from nonsmooth_problems import slider_crank_revolute, socket_pendulum

HALF = np.sqrt(0.5)
CORNERS = np.array(np.meshgrid([0, 40], [0, 30], [0, 20], indexing="ij"), float).reshape(3, -1).T
#: a block of 40 x 30 x 20 from the origin
BLOCK = [CORNERS[[i, j, k]] for i, j, k in (
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
    (1, 5, 7), (1, 7, 3),
)]  # fmt: skip


def binary(triangles):
    rows = np.zeros(len(triangles), TRIANGLE)
    rows["vertices"] = np.reshape(triangles, (-1, 3, 3))
    return b"solid but binary".ljust(80) + len(rows).to_bytes(4, "little") + rows.tobytes()


def text(triangles):
    lines = ["solid block"]
    for corners in triangles:
        lines += ["facet normal 0 0 0", " outer loop", *(f"  vertex {x:e} {y:e} {z:e}" for x, y, z in corners)]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid block"]).encode()


def volume(solid):
    """Of what the faces enclose, positive if their corners are counterclockwise as seen from outside."""
    found = 0.0
    for face in solid.faces:
        first, *rest = solid.points[list(face)]
        found += sum(first @ np.cross(a, b) for a, b in zip(rest[:-1], rest[1:], strict=True)) / 6
    return found


def area(polygons):
    return sum(0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) for x, y in (one.T for one in polygons))


def test_what_shapes_enclose(tmp_path):
    """Polygons of 24 corners have 0.9886 of a circle's area; of a ball two such roundings lose no more than 3 %."""
    round_area = 24 / 2 * np.sin(2 * np.pi / 24)
    ends = {"start": (0.0, 0.1, 0.2), "end": (0.3, 0.1, 0.6)}
    (tmp_path / "block.stl").write_bytes(binary(BLOCK))
    mesh = read_stl(tmp_path / "block.stl", unit="mm")
    for shape, expected, tolerance in (
        (BoxShape("s", "b", edges=(0.1, 0.2, 0.3), quaternion=(0.8, 0.0, 0.6, 0.0)), 6e-3, 1e-12),
        (CylinderShape("s", "b", radius=0.1, **ends), round_area * 0.01 * 0.5, 1e-12),
        (SphereShape("s", "b", radius=0.3), 4 / 3 * np.pi * 0.027, 0.03),
        (RodShape("s", "b", radius=0.1, **ends), np.pi * 0.01 * 0.5 + 4 / 3 * np.pi * 1e-3, 0.03),
        (MeshShape("s", "b", mesh=mesh, quaternion=(0.8, 0.0, 0.6, 0.0)), 40e-3 * 30e-3 * 20e-3, 1e-12),
    ):
        assert volume(shape.solid()) == pytest.approx(expected, rel=tolerance)


def test_what_is_seen_in_the_plane(tmp_path):
    (tmp_path / "block.stl").write_bytes(text(BLOCK))
    block = MeshShape("s", "b", mesh=read_stl(tmp_path / "block.stl", unit="mm"), at=(1.0, 2.0), angle=np.pi / 2)
    seen = outlines(block.solid())
    assert area(seen) == pytest.approx(2 * 40e-3 * 30e-3)  # its upper and its lower side, turned the same way
    corners = np.concatenate(seen)
    assert np.allclose(corners.min(axis=0), (0.97, 2.0)) and np.allclose(corners.max(axis=0), (1.0, 2.04))
    for shape, expected in (
        (BoxShape("s", "b", edges=(0.1, 0.2), angle=0.3), 0.02),
        (SphereShape("s", "b", radius=0.1), np.pi * 0.01),
        (CylinderShape("s", "b", radius=0.1, start=(0.0, 0.0), end=(0.3, 0.4)), 0.5 * 0.2 * np.cos(np.pi / 24)),
        (RodShape("s", "b", radius=0.1, start=(0.0, 0.0), end=(0.3, 0.4)), 0.5 * 0.2 + np.pi * 0.01),
        (PolygonShape("s", "b", points=[(0, 0), (1, 0), (1, 1), (0.5, 0.2)]), 0.35),
    ):
        assert area(outlines(shape.solid())) == pytest.approx(expected, rel=1e-2)


def test_a_mesh_covers_in_the_plane_what_its_triangles_do():
    """Winding numbers of its polygons about points are how many triangles cover them, edges and holes included."""
    rng = np.random.default_rng(3)
    vertices = np.column_stack([rng.random((8, 2)), np.zeros(8)])
    triangles = np.array([rng.permutation(8)[:3] for _ in range(12)])
    polygons = MeshShape("s", "b", mesh=Mesh(vertices, triangles)).solid().seen
    assert len(polygons) < len(triangles)

    def winding(polygon, at):
        angles = np.unwrap(np.arctan2(*(np.vstack([polygon, polygon[:1]]) - at).T[::-1]))
        return (angles[-1] - angles[0]) / (2 * np.pi)

    for at in rng.random((40, 2)):
        covering = sum(abs(winding(vertices[one, :2], at)) for one in triangles)
        assert sum(winding(one, at) for one in polygons) == pytest.approx(covering, abs=1e-9)


def shaped(model, bodies, spatial):
    place = (0.01, 0.02, 0.03) if spatial else (0.01, 0.02)
    model.add(BoxShape("plate", "ground", edges=place, at=place))
    for i, body in enumerate(bodies):
        model.add(RodShape(f"rod {i}", body, radius=0.01, start=place, end=(0.1, 0.0, 0.0)[: len(place)]))
        model.add(SphereShape(f"ball {i}", body, radius=0.01))
    model.add(MeshShape("mesh", bodies[0], mesh=Mesh(1e-3 * CORNERS, np.array([[0, 2, 6]])), at=place))
    return model


@pytest.mark.parametrize("problem, bodies", [(slider_crank_revolute, ("crank", "slider")), (socket_pendulum, ())])
def test_motion_does_not_know_of_shapes(problem, bodies, tmp_path):
    """The same parameters, the same equations, the same bits; and the shapes come back from a file."""
    plain, with_shapes = problem(), problem()
    bodies = bodies or tuple(one.name for one in plain.elements if type(one).__name__ == "SpatialBody")
    shaped(with_shapes, bodies, spatial=problem is socket_pendulum)
    one, other = plain.build(), with_shapes.build()
    assert one.parameters == other.parameters
    runs = [simulate(system, MoreauJean(), t_end=2e-3, dt=1e-5) for system in (one, other)]
    for table in ("q", "v", "P_N", "gap", "energy"):
        first, second = (getattr(run, table).array for run in runs)
        assert first.tobytes() == second.tobytes()
    runs[1].save(tmp_path / "run.nc")
    t = runs[1].t[:1]
    again, drawn = (drawing_of_run(run, t).primitives(Solid) for run in (Trajectory.load(tmp_path / "run.nc"), runs[1]))
    assert len(again) == 2 + 2 * len(bodies)
    for a, b in zip(again, drawn, strict=True):
        assert a.points.tobytes() == b.points.tobytes() and a.faces == b.faces and a.spot == b.spot


def test_shapes_are_drawn_and_move_with_their_bodies():
    model = slider_crank_revolute()
    model.add(PolygonShape("wing", "crank", points=[(0.0, 0.0), (0.03, 0.0), (0.0, 0.3)]))
    system = model.build()
    run = simulate(system, MoreauJean(), t_end=2e-3, dt=1e-5)
    film = plots.animation(run, frames=5)
    (patch,) = [one for one in film.axes.patches if one.get_label() == "crank"]  # instead of a bar
    assert "crank" not in [line.get_label() for line in film.axes.lines]
    for k in (0, 4):
        film.draw(k)
        row = int(np.argmin(np.abs(run.t - film.t[k])))
        angle = run.q["crank.angle"][row]
        centre = [run.q["crank.x"][row], run.q["crank.y"][row]]
        tip = centre + 0.3 * np.array([-np.sin(angle), np.cos(angle)])
        assert np.allclose(patch.get_path().vertices[2], tip, atol=1e-6)
    (low, high) = film.axes.get_ylim()
    assert low < tip[1] < high  # what is shown reaches to it
    sketch = plots.sketch(system)
    assert np.any([np.allclose(one.get_path().vertices[2, 1], 0.3, atol=0.1) for one in sketch.axes[0].patches])


def test_faces_in_space_follow_and_face_the_viewer():
    model = socket_pendulum()
    (body,) = [one.name for one in model.elements if type(one).__name__ == "SpatialBody"]
    model.add(BoxShape("plate", body, edges=(0.1, 0.2, 0.3)))
    run = simulate(model.build(), MoreauJean(), t_end=2e-2, dt=1e-4)
    film = plots.animation(run, frames=3)
    film.draw(2)
    every = [one for one in film.axes.collections if hasattr(one, "_vec") or hasattr(one, "_faces")]
    boxes = [np.asarray(one._faces) for one in every if len(one._faces) == 3]  # three sides of a box are seen
    middle = [run.q[f"{body}.{axis}"][-1] for axis in "xyz"]
    assert any(np.isclose(np.linalg.norm(box.reshape(-1, 3) - middle, axis=1), 0.187082869).all() for box in boxes)


@pytest.mark.parametrize("form", [binary, text])
def test_stl_files(form, tmp_path):
    path = tmp_path / "block.stl"
    path.write_bytes(form([*BLOCK, [CORNERS[0]] * 3]))  # one without area is left out
    mesh = read_stl(path, unit="mm")
    assert mesh.vertices.shape == (8, 3) and mesh.triangles.shape == (12, 3)
    assert np.allclose(np.sort(mesh.vertices[mesh.triangles].reshape(12, -1), axis=0),
                       np.sort(1e-3 * np.array(BLOCK).reshape(12, -1), axis=0), atol=1e-9)  # fmt: skip
    assert np.array_equal(read_stl(path, unit="m").vertices, np.unique(CORNERS, axis=0))


@pytest.mark.parametrize(
    "data, said",
    [
        (binary(BLOCK)[:-1], "is no STL file"),
        (b"", "is no STL file"),
        (b"solid x\nvertex 1 2 3\nvertex 1 2 3", "is no STL file"),
        (b"solid x\nvertex 1 2 three\nvertex 1 2 3\nvertex 2 2 3", "is no STL file"),
        (binary([]), "no triangles"),
        (binary([[[np.nan] * 3] * 3]), "not finite"),
        (binary([[[1.0] * 3] * 3]), "only triangles without area"),
        (binary(np.zeros((MOST_TRIANGLES + 1, 3, 3))), "has 10001 triangles, more than the 10000"),
    ],
)
def test_files_that_are_no_meshes(data, said, tmp_path):
    path = tmp_path / "bad.stl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=said):
        read_stl(path, unit="mm")


def test_shapes_that_cannot_be(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_stl(tmp_path / "none.stl", unit="mm")
    with pytest.raises(InputError, match="unit must be one of length"):
        read_stl(tmp_path / "none.stl", unit="kg")
    with pytest.raises(InputError, match="at most 10000 triangles"):
        Mesh(CORNERS, np.zeros((MOST_TRIANGLES + 1, 3)))
    with pytest.raises(InputError, match="from 0 to 7"):
        Mesh(CORNERS, np.array([[0, 1, 8]]))
    for make, said in (
        (lambda: BoxShape("s", "b", edges=(0.1, -0.2)), "edges must be positive"),
        (lambda: BoxShape("s", "b", edges=(0.1,)), "edges takes two components in the plane, three in space"),
        (lambda: BoxShape("s", "b", edges=(0.1, 0.2), quaternion=(0, 0, 0, 0)), "not all zero"),
        (lambda: SphereShape("s", "b", radius=float("inf")), "radius must be finite"),
        (lambda: SphereShape("s", "b", radius=(0.1, 0.2)), r"radius must be positive \[m\], got \(0.1, 0.2\)"),
        (lambda: RodShape("s", "b", radius=0.1, start=(0, 0), end=(0, 0)), "start and end must be two places"),
        (lambda: PolygonShape("s", "b", points=[(0, 0), (1, 1)]), "at least three pairs"),
        (lambda: MeshShape("s", "b", mesh="rod.stl"), "mesh must be a Mesh, as read_stl returns"),
        (lambda: BoxShape("s", "rod.pin", edges=(0.1, 0.2)), "not to the node"),
    ):
        with pytest.raises(ModelError, match=said):
            make()
    edge = Mesh(np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]), np.array([[0, 1, 2]]))
    model = slider_crank_revolute()
    model.add(MeshShape("s", "crank", mesh=edge))
    with pytest.raises(ModelError, match="seen from its edge along z"):
        model.build()
    model = slider_crank_revolute()
    model.add(SphereShape("s", "crank", radius=0.1, at=(0.0, 0.0, 0.0)))
    with pytest.raises(ModelError, match="at takes 2 components in a planar model"):
        model.build()


FILE = """
[elements.wheel]
kind = "planar-body"
mass = 1
inertia = 1e-3
[elements.face]
kind = "mesh-shape"
body = "wheel"
at = ["1 mm", 0]
mesh = { kind = "stl-file", file = "block.stl", unit = "mm" }
"""


def test_stl_files_of_toml_files(tmp_path):
    (tmp_path / "block.stl").write_bytes(binary(BLOCK))
    (tmp_path / "wheel.toml").write_text(FILE)
    model: Model = read_model(tmp_path / "wheel.toml")
    points = model.elements[1].solid().points
    assert np.allclose(points.max(axis=0), (0.041, 0.03, 0.02))
    assert '{ kind = "stl-file", file = "block.stl", unit = "mm" }' in model_text(model)
    for name, said in (("../block.stl", "in the folder of the TOML file"), ("none.stl", "copy it there")):
        Path(tmp_path / "bad.toml").write_text(FILE.replace("block.stl", name))
        with pytest.raises(DeclarationError, match=rf"bad.toml:10: elements.face.mesh.file: file .*{said}"):
            read_model(tmp_path / "bad.toml")
