// The mechanism in space. Where the gaps of contacts close comes with the run; joints with clearance are magnified as
// in the plane, so each of them also says where a point of it is shown.

const RINGS = 20;

// Points on a circle about an axis.
function ring(centre, u, v, radius, count = RINGS) {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return add(add(centre, u, radius * Math.cos(angle)), v, radius * Math.sin(angle));
  });
}

function tube(m, from, to, radius, colour, inner, outline = 0.8) {
  const axis = unit(sub(to, from)),
    [u, v] = perpendicular(axis),
    low = ring(from, u, v, radius),
    high = ring(to, u, v, radius);
  for (let i = 0; i < RINGS; i++) {
    const j = (i + 1) % RINGS;
    m.ink.face([low[i], low[j], high[j], high[i]], { fill: colour, inner });
  }
  for (const end of [low, high]) {
    m.ink.face(end, { fill: colour, inner: inner * 0.6 });
    m.ink.line([...end, end[0]], { colour, width: outline });
  }
}

function ball(m, centre, radius, colour, inner) {
  m.ink.disc(centre, radius, { fill: colour, inner, colour, width: 1.2 });
}

// A plate under a point that the ground holds.
function plate(m, spot) {
  if (!m.fixed(spot.body)) return;
  const at = m.spot(spot),
    up = [0, 1, 2].map((i) => (i === m.scene.vertical ? 1 : 0)),
    [u, v] = perpendicular(up);
  const foot = add(at, up, -3.2 * m.w),
    colour = m.colours.ground;
  const corners = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([i, j]) => add(add(foot, u, 2.6 * i * m.w), v, 2.6 * j * m.w));
  m.ink.line([at, foot], { colour, width: 1.5 });
  m.ink.face(corners, { fill: colour, inner: 0.5, colour, width: 0.8 });
}

function spatialBodies(m) {
  for (const { name, points, faces } of m.scene.bodies) {
    const frame = m.frame(name),
      colour = m.colour(name),
      at = frame.curves?.length || m.shaped.has(name) ? [] : points.map((p) => placed(frame, p));
    for (const curve of frame.curves ?? []) {
      // in pieces, each with its own distance from the viewer
      for (let i = 1; i < curve.length; i++)
        m.ink.line([curve[i - 1], curve[i]], { colour: shaded(colour, 0.9), width: m.px(1.3, 2.4) });
    }
    for (const face of at.length ? faces : []) {
      m.ink.face(
        face.map((i) => at[i]),
        { fill: colour, inner: faces.length > 1 ? 0.12 : 0.28, colour, width: 0.8, alpha: 0.9 },
      );
    }
    for (const p of at) {
      if (norm(sub(p, frame.p)) > 0)
        m.ink.line([frame.p, p], { colour: shaded(colour, 0.9), width: m.px(1.3, 2.4), alpha: 0.9 });
    }
    m.ink.dot(frame.p, 2.6, { fill: colour, colour: m.colours.card, width: 0.8, nearer: m.w });
  }
}

const SPATIAL = {
  ...SHARED,

  Mark(m, one) {
    plate(m, one.a);
    const fill = one.shape === "ball" || one.shape === "weld" ? m.colours.ink : m.colours.card;
    m.ink.dot(m.spot(one.b), 3.4, { fill, colour: m.colours.ink, width: 1, nearer: 2 * m.w });
  },

  Axle(m, one) {
    const at = m.spot(one.spot),
      along = unit(m.vector(one.spot.body, one.along));
    m.ink.line(
      [-1, 1].map((side) => add(at, along, 4 * side * m.w)),
      { colour: m.colours.ink, width: 2, cap: "butt", nearer: m.w },
    );
  },

  Slide(m, one) {
    plate(m, one.a);
    const at = m.spot(one.a),
      block = m.spot(one.b),
      along = unit(m.vector(one.a.body, one.along)),
      { w } = m;
    const [first, last] = [Math.min(one.span[0], 0) - 10 * w, Math.max(one.span[1], 0) + 10 * w];
    m.ink.line([add(at, along, first), add(at, along, last)], { colour: m.colours.soft, width: 1, dash: [8, 3, 2, 3] });
    const colour = m.colour(one.b.body),
      [u, v] = perpendicular(along);
    if (one.round) tube(m, add(block, along, -4 * w), add(block, along, 4 * w), 2.2 * w, colour, 0.45);
    else
      solid(
        m,
        SIGNS.map(([i, j, k]) => add(add(add(block, along, 4 * i * w), u, 2.2 * j * w), v, 2.2 * k * w)),
        colour,
        0.35,
      );
  },

  Bearing(m, one, part) {
    plate(m, one.a);
    const at = m.spot(one.a),
      journal = m.spot(one.b),
      play = m.magnify * one.clearance;
    const radius = Math.max(6 * m.w, one.radius, play / 0.8),
      inner = Math.max(radius - play, 0.2 * radius);
    const [outer, colour] = [m.colour(one.a.body), m.colour(one.b.body)];
    if (!one.axis_a.length) {
      m.ink.disc(at, radius, { fill: outer, inner: 0.12, colour: outer, width: 1.6, nearer: -m.w });
      ball(m, add(at, sub(journal, at), m.magnify), inner, colour, 0.6);
      part.shown = (p) => add(at, unit(sub(p, at)), radius);
      return;
    }
    const n = unit(m.vector(one.a.body, one.axis_a)),
      axis = unit(m.vector(one.b.body, one.axis_b));
    const half = Math.max(one.length, 1.2 * radius) / 2;
    const ends = [-1, 1].map((side) => {
      const offset = sub(add(journal, axis, (side * one.length) / 2), at),
        x = dot(offset, n);
      const lifted = x + side * (1.25 * half - one.length / 2);
      return add(add(at, n, lifted), add(offset, n, -x), m.magnify);
    });
    tube(m, add(at, n, -half), add(at, n, half), radius, outer, 0.12, 1.4);
    tube(m, ends[0], ends[1], inner, colour, 0.5);
    part.shown = (p) => {
      const offset = sub(p, at),
        x = dot(offset, n),
        stretch = one.length ? (2 * half) / one.length : 1;
      return add(add(at, n, stretch * x), unit(add(offset, n, -x)), radius);
    };
  },

  Guide(m, one, part) {
    const origin = m.spot(one.a),
      rows = axes(m, one.a.body, one.along, one.across);
    const own = axes(m, one.b.body, one.along_b, one.across_b),
      offset = sub(m.spot(one.b), origin);
    const sizes = [one.length, one.height, one.width].map((x) => x / 2),
      least = 3 * m.w;
    const drawn = [sizes[0], Math.max(sizes[1], least), Math.max(sizes[2], least)];
    const plays = [0, one.clearance, one.side_clearance || one.clearance].map((x) => x * m.magnify);
    const centre = rows.map((axis) => dot(axis, offset));
    const inGround = (local) => rows.reduce((sum, axis, i) => add(sum, axis, local[i]), origin);
    const corners = SIGNS.map((sign) => {
      const arm = own.reduce((sum, axis, i) => add(sum, axis, sign[i] * sizes[i]), [0, 0, 0]);
      return inGround(
        [0, 1, 2].map((i) => {
          const deviation = dot(rows[i], arm) - sign[i] * sizes[i];
          return i
            ? sign[i] * drawn[i] + m.magnify * (centre[i] + deviation)
            : centre[0] + sign[0] * sizes[0] + deviation;
        }),
      );
    });
    solid(m, corners, m.colour(one.b.body), 0.5, { width: 1.2 });
    const [first, last] = [one.span[0] - 0.8 * one.length, one.span[1] + 0.8 * one.length];
    const tunnel = SIGNS.map((s) =>
      inGround([s[0] < 0 ? first : last, s[1] * (drawn[1] + plays[1]), s[2] * (drawn[2] + plays[2])]),
    );
    solid(m, tunnel, m.fixed(one.a.body) ? m.colours.ground : m.colour(one.a.body), 0.06);
    part.shown = (p) => {
      const local = rows.map((axis) => dot(axis, sub(p, origin)));
      return inGround(
        local.map((x, i) => (i ? Math.sign(x) * drawn[i] + m.magnify * (x - Math.sign(x) * sizes[i]) : x)),
      );
    };
  },

  Wall(m, one) {
    const frame = m.frame(one.spot.body),
      corners = one.corners.map((p) => placed(frame, p)),
      colour = m.colours.ground;
    m.ink.face(corners, { fill: colour, inner: 0.16, colour, width: 0.8, nearer: -4 * m.w, lit: false });
    for (let i = 1; i < 6; i++) {
      const mix = (a, b) => add(corners[a], sub(corners[b], corners[a]), i / 6);
      for (const [a, b, c, d] of [
        [0, 1, 3, 2],
        [1, 2, 0, 3],
      ]) {
        m.ink.line([mix(a, b), mix(c, d)], { colour, width: 0.5, nearer: -4 * m.w });
      }
    }
  },

  Round(m, one) {
    const centre = m.spot(one.spot),
      colour = m.colour(one.spot.body),
      { x, y, z } = m.frame(one.spot.body);
    ball(m, centre, one.radius, colour, 0.4);
    for (const [u, v] of [
      [x, y],
      [y, z],
      [z, x],
    ]) {
      const points = ring(centre, u, v, one.radius, 36);
      m.ink.line([...points, points[0]], { colour, width: 0.7, alpha: 0.8, nearer: m.w });
    }
  },

  // Its outline where the line of sight touches it, as in plots/space.py.
  Ellipsoid(m, one) {
    const centre = m.spot(one.spot),
      colour = m.colour(one.spot.body),
      axes = one.semi_axes.map((axis) => m.vector(one.spot.body, axis)),
      seen = axes.map((axis) => dot(axis, m.ink.camera.toward) / dot(axis, axis));
    const [u, v] = perpendicular(unit(seen)).map((side) =>
      axes.reduce((sum, axis, i) => add(sum, axis, side[i]), [0, 0, 0]),
    );
    const outline = ring(centre, u, v, 1, 36);
    m.ink.face(outline, { fill: colour, inner: 0.4 });
    m.ink.line([...outline, outline[0]], { colour, width: 1.2 });
    for (const [i, j] of [
      [0, 1],
      [1, 2],
      [2, 0],
    ]) {
      const points = ring(centre, axes[i], axes[j], 1, 36);
      m.ink.line([...points, points[0]], { colour, width: 0.7, alpha: 0.8, nearer: m.w });
    }
  },

  Cylinder(m, one) {
    const at = m.spot(one.spot),
      along = unit(m.vector(one.spot.body, one.along)),
      half = Math.max(one.length / 2, 0.3 * m.w);
    tube(m, add(at, along, -half), add(at, along, half), one.radius, m.colour(one.spot.body), 0.4);
    const [u] = perpendicular(unit(one.along.concat(0).slice(0, 3))); // turns with the body, so that its turning shows
    m.ink.line([at, add(at, m.vector(one.spot.body, u), one.radius)], {
      colour: m.colours.ink,
      width: 1,
      nearer: half,
    });
  },

  Box(m, one) {
    const frame = m.frame(one.spot.body),
      base = one.spot.at.length ? one.spot.at : [0, 0, 0];
    const corners = SIGNS.map((sign) =>
      placed(
        frame,
        base.map((x, i) => x + (sign[i] * one.edges[i]) / 2),
      ),
    );
    solid(m, corners, m.colour(one.spot.body), 0.4);
  },
};

// Directions of length, height and width in the ground frame.
function axes(m, body, along, across) {
  const first = unit(m.vector(body, along)),
    second = unit(m.vector(body, across));
  return [first, second, cross(first, second)];
}

// Where and how contacts push on their second bodies at a row, from the tables that come with the run.
function spatialPushes(m, row) {
  const { tables } = m.run;
  m.scene.parts.forEach((part, k) => {
    const columns = tables[`touch_${k}`];
    if (!columns) return;
    const frame = m.frame(part.bodies[0]);
    part.gaps.forEach((gap, i) => {
      const force = [0, 1, 2].map((axis) => tables.force[3 * gap + axis][row]);
      const p = placed(
        frame,
        [0, 1, 2].map((axis) => columns[3 * i + axis][row]),
      );
      m.pushes.set(gap, { p: part.shown ? part.shown(p) : p, force });
    });
  });
}
