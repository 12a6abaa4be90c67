// The mechanism in the plane. Within joints with clearance, offset and tilt are magnified about the joint.

const ENDS = [
  [-1, -1],
  [-1, 1],
  [1, -1],
  [1, 1],
];

function planarBodies(m) {
  const blocks = new Set(),
    rounds = new Set();
  for (const { primitives } of m.scene.parts) {
    for (const one of primitives) {
      if (one.kind === "Slide" || one.kind === "Guide") blocks.add(one.b.body);
      if (one.kind === "Round") rounds.add(one.spot.body);
    }
  }
  for (const { name, points } of m.scene.bodies) {
    const colour = m.colour(name),
      frame = m.frame(name);
    for (const curve of frame.curves ?? [])
      m.ink.line(curve, { colour, alpha: 0.88, width: m.px(2.4, 3), layer: 3 });
    if (frame.curves?.length || m.shaped.has(name)) continue;
    let outline = points;
    if (points.length < 2) {
      if (blocks.has(name) || rounds.has(name)) continue;
      outline = [
        [-3, -3],
        [3, -3],
        [3, 3],
        [-3, 3],
      ].map((corner) => mul([...corner, 0], m.w));
    }
    const course = outline.map((p) => placed(frame, p));
    if (outline.length > 2) m.ink.face(course, { fill: colour, inner: 0.55, colour, width: m.px(1, 1.5), layer: 3 });
    else m.ink.line(course, { colour, alpha: 0.88, width: m.px(2.4, 3), layer: 3 });
  }
}

// A triangle on a hatched line under a point that the ground holds.
function support(m, at, height = 5) {
  const { w } = m,
    colour = m.colours.ground,
    foot = add(at, [0, -height * w, 0]);
  m.ink.face([at, add(foot, [-3.2 * w, 0, 0]), add(foot, [3.2 * w, 0, 0])], { fill: colour, inner: 0.4, layer: 1 });
  m.ink.line([add(foot, [-5 * w, 0, 0]), add(foot, [5 * w, 0, 0])], { colour, width: 1.4, layer: 1 });
  for (let i = -4; i <= 4; i += 2) {
    const top = add(foot, [i * w, 0, 0]);
    m.ink.line([top, add(top, [-1.4 * w, -1.6 * w, 0])], { colour, width: 0.8, layer: 1 });
  }
}

// A line with strokes on its solid side.
function hatched(m, from, to, inward) {
  const colour = m.colours.ink,
    length = norm(sub(to, from)),
    along = unit(sub(to, from));
  m.ink.line([from, to], { colour, width: 1.5, layer: 2 });
  const gap = Math.max(2.5 * m.w, length / 60);
  for (let x = gap / 2; x < length; x += gap) {
    const foot = add(from, along, x);
    m.ink.line([foot, add(add(foot, inward, 1.8 * m.w), along, -1.2 * m.w)], {
      colour: m.colours.ground,
      width: 0.8,
      layer: 2,
    });
  }
}

const PLANAR = {
  ...SHARED,

  Mark(m, one) {
    const at = m.spot(one.shape === "joint" ? one.b : one.a);
    if (m.fixed(one.a.body)) support(m, at);
    m.ink.dot(at, m.px(1.1, 2.5), { fill: m.colours.card, colour: m.colours.ink, width: 1.1, layer: 6 });
  },

  Slide(m, one) {
    const along = unit(m.vector(one.a.body, one.along)),
      at = m.spot(one.a),
      block = m.spot(one.b),
      { w } = m;
    const [first, last] = one.span,
      ends = [first - 14 * w, last + 14 * w].map((x) => add(at, along, x));
    m.ink.line(ends, { colour: m.colours.soft, width: 1, dash: [9, 3, 2, 3], layer: 1 });
    const colour = m.colour(one.b.body),
      frame = m.frame(one.b.body),
      corners = [
        [-7, -4],
        [7, -4],
        [7, 4],
        [-7, 4],
      ];
    const course = corners.map(([x, y]) => add(block, turned(frame, [x * w, y * w])));
    m.ink.face(course, { fill: colour, inner: 0.5, colour, width: 1.2, layer: 2.5 });
  },

  Bearing(m, one, part) {
    const { w } = m,
      centre = m.spot(one.a),
      e = sub(m.spot(one.b), centre),
      play = m.magnify * one.clearance;
    const radius = Math.max(6 * w, play / 0.8),
      inner = Math.max(radius - play, 0.2 * radius);
    if (m.fixed(one.a.body) || m.fixed(one.b.body)) support(m, centre, 6 + radius / w);
    const middle = add(centre, e, m.magnify),
      colour = m.colour(one.b.body);
    m.ink.disc(centre, radius, { fill: m.colours.card, colour: m.colour(one.a.body), width: m.px(0.9, 1.6), layer: 7 });
    m.ink.disc(middle, inner, { fill: colour, inner: 0.85, colour: m.colours.ink, width: 0.8, layer: 8 });
    const rim = add(middle, m.frame(one.b.body).x, inner);
    m.ink.line([middle, rim], { colour: m.colours.card, alpha: 0.8, width: 1.2, layer: 8 });
    const outward = unit(e);
    m.pushes.set(part.gaps[0], { p: add(centre, outward, radius), n: mul(outward, -1) });
  },

  Guide(m, one, part) {
    const frame = m.frame(one.a.body),
      along = turned(frame, one.along),
      across = turned(frame, one.across);
    const origin = m.spot(one.a),
      offset = sub(m.spot(one.b), origin),
      axis = m.vector(one.b.body, one.along_b);
    const x = dot(offset, along),
      y = dot(offset, across),
      cosine = dot(axis, along),
      sine = dot(axis, across);
    const a = one.length / 2,
      half = Math.max(one.height / 2, 3 * m.w),
      play = m.magnify * one.clearance;
    const [first, last] = one.span.map((end, i) => end + (i ? 1.6 : -1.6) * a);
    for (const side of [-1, 1]) {
      const wall = add(origin, across, side * (half + play));
      hatched(m, add(wall, along, first), add(wall, along, last), mul(across, side));
    }
    const corners = ENDS.map(([end, side]) =>
      add(add(origin, along, x + end * a * cosine), across, side * half + m.magnify * (y + end * a * sine)),
    );
    const colour = m.colour(one.b.body);
    m.ink.face(
      [0, 2, 3, 1].map((i) => corners[i]),
      { fill: colour, inner: 0.45, colour, width: 1.2, layer: 2.5 },
    );
    corners.forEach((p, i) => m.pushes.set(part.gaps[i], { p, n: mul(across, -ENDS[i][1]) }));
  },

  Wall(m, one, part) {
    const normal = unit(m.vector(one.spot.body, one.normal)),
      along = [normal[1], -normal[0], 0],
      at = m.spot(one.spot);
    const room = Math.max(8 * m.w, 1.4 * one.radius),
      [first, last] = one.span;
    hatched(m, add(at, along, first - room), add(at, along, last + room), mul(normal, -1));
    m.pushes.set(part.gaps[0], { p: add(m.spot(one.near), normal, -one.radius), n: normal });
  },

  Round(m, one) {
    const colour = m.colour(one.spot.body),
      centre = m.spot(one.spot);
    m.ink.disc(centre, one.radius, { fill: colour, inner: 0.5, colour, width: 1.4, layer: 2.5 });
    m.ink.line([centre, add(centre, m.frame(one.spot.body).y, one.radius)], { colour, width: 1.2, layer: 2.6 });
  },

  Touch(m, one, part) {
    const a = m.spot(one.a),
      line = sub(m.spot(one.b), a);
    m.pushes.set(part.gaps[0], { p: add(a, line, one.share), n: unit(line) });
  },
};
