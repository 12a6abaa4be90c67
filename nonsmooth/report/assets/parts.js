// The mechanism at one time: frames, which plots/frames.py explains, and the pieces in them, of plots/pieces.py. Within
// joints with clearance, offset and tilt are magnified about the joint.

const PLACINGS = {
  At: (m, { spot, axes }) => ({ ...m.body(axes ?? spot.body), p: m.spot(spot) }),

  Between(m, { a, b }) {
    const p = m.spot(a),
      x = sub(b.kind ? PLACINGS[b.kind](m, b).p : m.spot(b), p);
    return { p, x, y: unit(cross(x, m.ink.camera.toward)), z: [0, 0, 0] };
  },

  Sleeve(m, one) {
    const [x, y, z] = m.axes(one.a, one.axes_a),
      outer = m.outer(one),
      half = one.long ? Math.max(one.length, 1.2 * outer) / 2 : outer;
    return { p: m.spot(one.a), x: mul(x, half), y: mul(y, outer), z: mul(z, outer) };
  },

  Journal(m, one) {
    const own = m.axes(one.b, one.axes_b),
      at = m.spot(one.a),
      offset = sub(m.spot(one.b), at),
      outer = m.outer(one),
      inner = Math.max(outer - m.magnify * one.clearance, 0.2 * outer),
      [x, y, z] = own.map((axis) => mul(axis, inner));
    if (!one.long) return { p: add(at, offset, m.magnify), x, y, z };
    const [n] = m.axes(one.a, one.axes_a),
      reach = (1.25 * Math.max(one.length, 1.2 * outer) - one.length) / 2;
    const [low, high] = [-1, 1].map((side) => {
      const end = add(offset, own[0], (side * one.length) / 2),
        along = dot(end, n);
      return add(mul(n, along + side * reach), add(end, n, -along), m.magnify);
    });
    return { p: add(at, add(low, high), 0.5), x: mul(sub(high, low), 0.5), y, z };
  },

  Tunnel(m, one) {
    const scale = m.drawn(one).map((size, i) => (i ? size + m.magnify * one.plays[i] : 1)),
      [x, y, z] = m.axes(one.a, one.axes_a).map((axis, i) => mul(axis, scale[i] ?? 1));
    return { p: m.spot(one.a), x, y, z };
  },

  Face(m, one) {
    const [x, y, z] = m.axes(one.a, one.axes_a),
      reach = m.drawn(one)[1] + m.magnify * one.plays[1];
    return { p: add(m.spot(one.a), y, one.side * reach), x, y: mul(y, one.side), z };
  },

  Block(m, one) {
    const guide = m.axes(one.a, one.axes_a),
      own = m.axes(one.b, one.axes_b),
      at = m.spot(one.a),
      offset = sub(m.spot(one.b), at),
      drawn = m.drawn(one),
      factors = [1, m.magnify, m.magnify],
      sizes = m.flat ? [one.sizes[0], 0] : one.sizes; // as the gaps of a guide in the plane have it
    const along = (local) => guide.reduce((sum, axis, i) => add(sum, axis, local[i]), [0, 0, 0]);
    const [x, y, z = [0, 0, 0]] = sizes.map((size, k) =>
      along(
        guide.map((axis, i) => {
          const same = i === k;
          return (same ? drawn[k] : 0) + (factors[i] ?? 1) * (dot(axis, own[k]) * size - (same ? size : 0));
        }),
      ),
    );
    return { p: add(at, along(guide.map((axis, i) => factors[i] * dot(axis, offset)))), x, y, z };
  },
};

// A mechanism at one time, ready to be drawn.
class Mechanism {
  constructor(run, row, t, { ink, colours, magnify, deformation, shapes }) {
    Object.assign(this, { run, row, t, ink, colours, magnify, shapes, scene: run.scene, flat: ink.camera.flat });
    this.bodies = run.frames(row, t, deformation);
    this.w = run.scene.grain / 100;
    this.order = new Map(run.scene.bodies.map((body, k) => [body.name, k]));
    this.frames = run.scene.frames.map((one) => PLACINGS[one.kind](this, one));
  }

  body(name) {
    return this.bodies.get(name) ?? GROUND;
  }
  spot({ body, at }) {
    return placed(this.body(body), at);
  }
  axes({ body }, local) {
    return local.map((axis) => turned(this.body(body), axis)).concat(local.length < 3 ? [[0, 0, 1]] : []);
  }

  // Radius that a bearing is drawn with, and half sizes of a slider.
  outer({ radius, clearance }) {
    return Math.max(6 * this.w, radius, (this.magnify * clearance) / 0.8);
  }
  drawn({ sizes }) {
    return sizes.map((size, i) => (i ? Math.max(size, 3 * this.w) : size));
  }

  colour(name) {
    const k = this.order.get(name.split(".")[0]); // of a node that of its body
    if (k !== undefined) return this.colours.own[k % this.colours.own.length];
    if (name.startsWith("#")) return name;
    const { ink, soft, card, ground } = this.colours;
    return { "*ink": ink, "*loose": ink, "*faint": soft, "*paper": card }[name] ?? ground;
  }

  // Pixels of a symbol's size.
  px(share, least = 1) {
    return Math.max(share * this.w * this.ink.scale, least);
  }

  draw() {
    for (const piece of this.scene.pieces) {
      if (this.shapes ? piece.bare : piece.shape === "solid") continue;
      const f = this.frames[piece.frame],
        { width = 1.2, layer = 0, alpha = 1 } = piece;
      PIECES[piece.shape](this, piece, f, {
        colour: this.colour(piece.colour),
        width: width < 2 ? width : this.px(0.4 * width, width),
        alpha,
        dash: (piece.dash ?? []).map((x) => 1.2 * x),
        ...(this.flat || Math.abs(layer) >= 9 ? { layer } : { nearer: layer * this.w }),
      });
    }
  }
}

const PIECES = {
  line(m, { points }, f, style) {
    let line = [];
    for (const point of [...points, null]) {
      if (point) line.push(placed(f, point));
      else {
        if (line.length) m.ink.line(line, style);
        line = [];
      }
    }
  },

  curve(m, { of }, f, style) {
    for (const curve of m.body(of).curves) {
      // in pieces, each with its own distance from the viewer
      if (m.flat) m.ink.line(curve, style);
      else for (let i = 1; i < curve.length; i++) m.ink.line([curve[i - 1], curve[i]], style);
    }
  },

  faces(m, { points, faces, fill }, f, { colour, layer, nearer }) {
    const at = points.map((p) => placed(f, p));
    for (const face of faces)
      m.ink.face(
        face.map((i) => at[i]),
        { fill: colour, inner: fill, layer, nearer },
      );
  },

  // An area in the plane; in space faces, of a convex shape those that are seen.
  solid(m, { points, faces, fill, convex }, f, { colour, width, layer }) {
    const at = points.map((p) => placed(f, p)),
      polygons = faces.map((face) => face.map((i) => at[i]));
    if (m.flat) m.ink.region(polygons, { fill: colour, inner: fill, layer, ...(width ? { colour, width } : {}) });
    else
      for (const face of polygons) {
        const [a, b, c] = face;
        if (!convex || dot(cross(sub(b, a), sub(c, a)), m.ink.camera.toward) > 0)
          m.ink.face(face, { fill: colour, whole: true, layer });
      }
  },

  // A circle, or the outline of an ellipsoid where the line of sight touches it, as in plots/scene.py.
  ball(m, { points, inside, fill }, f, style) {
    const axes = points.map((axis) => turned(f, axis)),
      area = inside ? m.colour(inside) : style.colour;
    let [u, v] = axes;
    if (!m.flat) {
      const seen = unit(axes.map((axis) => dot(axis, m.ink.camera.toward) / dot(axis, axis)));
      [u, v] = perpendicular(seen).map((side) => axes.reduce((sum, axis, i) => add(sum, axis, side[i]), [0, 0, 0]));
    }
    const outline = Array.from({ length: 48 }, (_, i) => {
      const angle = (Math.PI * i) / 24;
      return add(add(f.p, u, Math.cos(angle)), v, Math.sin(angle));
    });
    m.ink.face(outline, { ...style, fill: area, inner: fill, lit: false });
  },

  mark(m, { points, inside, width, marker = "dot" }, f, style) {
    const at = placed(f, points[0]),
      size = marker === "centre" ? width / 2 : width;
    m.ink.dot(at, m.px(0.18 * size, size / 2), { ...style, fill: m.colour(inside), width: 1.1 });
  },

  arrow(m, { points }, f, style) {
    const [foot, tip] = points.map((p) => placed(f, p));
    m.ink.arrow(foot, sub(tip, foot), { ...style, colour: m.colours.soft, width: 1.6 * style.width, layer: 8.5 });
  },
};

// Fields of acceleration stand in the upper right corner.
function drawFields(m) {
  const { ink } = m,
    { right, up, middle } = ink.camera;
  for (const acceleration of m.scene.fields) {
    const corner = add(add(middle, right, (ink.width / 2 - 26) / ink.scale), up, (ink.height / 2 - 16) / ink.scale);
    ink.arrow(corner, mul(unit(acceleration), 34 / ink.scale), { colour: m.colours.soft, width: 1.6, layer: 8.5 });
    ink.text(add(corner, right, -4 / ink.scale), "g", { fill: m.colours.soft, halo: m.colours.card, layer: 8.5 });
  }
}

// Where and how contacts push on their second bodies at a row, from the tables that come with the run.
function pushesOf(m, row) {
  const { tables } = m.run,
    vector = (columns, k) => [0, 1, 2].map((axis) => columns[3 * k + axis][row]);
  return new Map(
    m.scene.contacts.flatMap(({ gaps, frame }, k) =>
      gaps.map((gap, i) => [
        gap,
        { p: placed(m.frames[frame], vector(tables[`touch_${k}`], i)), force: vector(tables.force, gap) },
      ]),
    ),
  );
}
