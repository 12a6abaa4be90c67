// What drawings in the plane and in space share: the mechanism at one time, symbols, loads.

const SIGNS = [-1, 1].flatMap((i) => [-1, 1].flatMap((j) => [-1, 1].map((k) => [i, j, k])));

// A mechanism at one time, ready to be drawn.
class Mechanism {
  constructor(run, row, t, { ink, colours, magnify, deformation, shapes }) {
    Object.assign(this, { run, row, t, ink, colours, magnify, shapes, scene: run.scene });
    this.shaped = new Set(shapes ? run.scene.shaped : []);
    this.frames = run.frames(row, t, deformation);
    this.w = run.scene.grain / 100;
    this.order = new Map(run.scene.bodies.map((body, k) => [body.name, k]));
    this.pushes = new Map();
  }

  frame(body) {
    return this.frames.get(body) ?? GROUND;
  }
  fixed(body) {
    return !this.frames.has(body);
  }
  spot({ body, at }) {
    return placed(this.frame(body), at);
  }
  vector(body, local) {
    return turned(this.frame(body), local);
  }

  colour(body) {
    const k = this.order.get(body.split(".")[0]); // of a node that of its body
    return k === undefined ? this.colours.ground : this.colours.own[k % this.colours.own.length];
  }

  // Pixels of a symbol's stroke.
  px(share, least = 1) {
    return Math.max(share * this.w * this.ink.scale, least);
  }
}

function solid(m, corners, colour, inner, style = {}) {
  const faces = [
    [0, 1, 3, 2],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 3, 7, 6],
    [0, 2, 6, 4],
    [1, 3, 7, 5],
  ];
  for (const face of faces)
    m.ink.face(
      face.map((i) => corners[i]),
      { fill: colour, inner, colour, width: 0.8, ...style },
    );
}

function coil(m, one) {
  const a = m.spot(one.a),
    b = m.spot(one.b),
    line = sub(b, a),
    points = [a];
  const across = mul(unit(cross(line, m.ink.camera.toward)), 2.2 * m.w);
  for (let i = 0; i <= 12; i++)
    points.push(add(add(a, line, 0.15 + (0.7 * i) / 12), across, i % 12 ? (i % 2 ? 1 : -1) : 0));
  m.ink.line([...points, b], { colour: m.colours.ink, width: 1.1, layer: m.ink.camera.flat ? 4 : 0 });
}

function rod(m, one) {
  const style = { colour: m.colours.ink, width: m.px(0.5, 1.4), layer: m.ink.camera.flat ? 4 : 0 };
  m.ink.line([m.spot(one.a), m.spot(one.b)], one.dotted ? { ...style, width: 1.4, dash: [2, 4] } : style);
}

function dotted(m, one) {
  m.ink.dot(m.spot(one.spot), m.px(0.7, 2), { fill: m.colours.ink, layer: 6 });
}

// An arc with a head, about an axis.
function arc(m, one) {
  const centre = m.spot(one.pivot),
    flat = m.ink.camera.flat;
  const axis = flat || !one.axis.some(Boolean) ? [0, 0, 1] : unit(one.a ? m.vector(one.a.body, one.axis) : one.axis);
  const [u, v] = flat
      ? [
          [1, 0, 0],
          [0, 1, 0],
        ]
      : perpendicular(axis),
    points = [];
  for (let i = 0; i <= 20; i++) {
    const angle = -0.5 + (2.6 * i) / 20;
    points.push(add(add(centre, u, 7 * m.w * Math.cos(angle)), v, 7 * m.w * Math.sin(angle)));
  }
  m.ink.line(points, { colour: m.colours.soft, width: 1.2, layer: 6 });
  m.ink.arrow(points[18], sub(points[20], points[18]), { colour: m.colours.soft, width: 2, layer: 6 });
}

function pull(m, one) {
  const along = one.along.some(Boolean) ? one.along : [1, 0, 0];
  const direction = unit(one.fixed ? m.vector(one.spot.body, along) : [along[0], along[1], along[2] ?? 0]);
  const at = m.spot(one.spot);
  m.ink.arrow(add(at, direction, -14 * m.w), mul(direction, 14 * m.w), {
    colour: m.colours.soft,
    width: 2,
    layer: 8.5,
  });
}

function field(m, one) {
  const size = Math.hypot(...one.acceleration);
  if (!size) return;
  const direction = unit([one.acceleration[0], one.acceleration[1] ?? 0, one.acceleration[2] ?? 0]);
  const { ink } = m,
    { right, up, middle } = ink.camera;
  const corner = add(add(middle, right, (ink.width / 2 - 26) / ink.scale), up, (ink.height / 2 - 16) / ink.scale);
  ink.arrow(corner, mul(direction, 34 / ink.scale), { colour: m.colours.soft, width: 1.6, layer: 8.5 });
  ink.text(add(corner, right, -4 / ink.scale), "g", { fill: m.colours.soft, halo: m.colours.card, layer: 8.5 });
}

// Places of a shape's points, and its polygons in the plane, unpacked once.
function points(flat, size) {
  return Array.from({ length: flat.length / size }, (_, i) => flat.slice(size * i, size * (i + 1)));
}

// A shape of a body: an area in the plane; in space its faces, behind all symbols, of a convex one those that are seen.
function shape(m, one) {
  if (!m.shapes) return;
  const frame = m.frame(one.body),
    fill = m.colour(one.body),
    { camera } = m.ink;
  if (camera.flat) {
    one.local ??= one.polygons.map((polygon) => points(polygon, 2));
    const edge = one.local.length > 1 ? {} : { colour: fill, width: 1.3 };
    m.ink.region(
      one.local.map((polygon) => polygon.map((p) => placed(frame, p))),
      { fill, inner: 0.5, layer: 2, ...edge },
    );
    return;
  }
  one.local ??= points(one.points, 3);
  const at = one.local.map((p) => placed(frame, p));
  for (const face of one.faces) {
    const [a, b, c] = face.map((i) => at[i]);
    if (one.convex && dot(cross(sub(b, a), sub(c, a)), camera.toward) <= 0) continue;
    m.ink.face(
      face.map((i) => at[i]),
      { fill, whole: true, layer: -1 },
    );
  }
}

const SHARED = { Solid: shape, Coil: coil, Line: rod, Dot: dotted, Turn: arc, Arrow: pull, Field: field };
