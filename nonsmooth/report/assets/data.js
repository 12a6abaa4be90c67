// Numbers of the runs: unpacked columns, and where everything is at any time.

const facts = JSON.parse(document.getElementById("facts").textContent);
const TYPES = { f4: Float32Array, f8: Float64Array, u4: Uint32Array, u1: Uint8Array, i4: Int32Array, i2: Uint16Array };

// Tables of run k by name, each an array of columns.
async function unpack(k, index) {
  const text = atob(document.getElementById(`numbers-${k}`).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const tables = {};
  for (const [name, entry] of Object.entries(index)) tables[name] = columnsOf(raw, entry);
  return tables;
}

// The bytes of a column stand sorted by their place in the number.
function columnsOf(raw, { kind, shape: [count, n], at, low, step }) {
  const size = TYPES[kind].BYTES_PER_ELEMENT;
  return Array.from({ length: count }, (_, k) => {
    const from = at + k * n * size,
      sorted = new Uint8Array(n * size);
    for (let b = 0; b < size; b++) for (let i = 0; i < n; i++) sorted[i * size + b] = raw[from + b * n + i];
    const column = new TYPES[kind](sorted.buffer);
    if (kind === "i4") return fromDifferences(column, low[k], step[k]);
    return kind === "i2" ? Float32Array.from(column, (x) => low[k] + x * step[k]) : column;
  });
}

// A column from its second differences, in whole numbers that wrap at 2^32.
function fromDifferences(twice, low, step) {
  const column = new Float64Array(twice.length);
  for (let i = 0, slope = 0, value = 0; i < twice.length; i++) {
    slope = (slope + twice[i]) | 0;
    value = (value + slope) | 0;
    column[i] = low + (value >>> 0) * step;
  }
  return column;
}

// Last index whose time is not after t, at least 0.
function rowAt(times, t) {
  let low = 0,
    high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return Math.max(low, 0);
}

const GROUND = { p: [0, 0, 0], x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

class Run {
  constructor(info, tables, index) {
    Object.assign(this, { info, tables, index, label: info.label, scene: info.scene, names: info.names });
    [this.t] = tables.t;
    this.start = this.t[0];
    this.end = this.t[this.t.length - 1];
    this.impactT = tables.impact_t[0] ?? new Float64Array();
    this.impactGap = tables.impact_gap[0] ?? new Uint32Array();
    this.left = new Map(Array.from(tables.jump_row[0] ?? [], (row, k) => [row, k]));
    this.instants = Array.from(new Set(this.impactT)).sort((a, b) => a - b);
    const rates = new Map(info.names.v.map((name, k) => [name, k]));
    this.rate = info.names.q.map((name) => rates.get(name));
  }

  // Coordinate k between rows i and i + 1: cubic from the right limit of its rate to the left limit at the next row.
  coordinate(k, i, t) {
    const q = this.tables.q[k];
    if (i >= this.t.length - 1 || t <= this.t[i]) return q[i];
    const dt = this.t[i + 1] - this.t[i],
      s = Math.min((t - this.t[i]) / dt, 1),
      rise = q[i + 1] - q[i];
    const rate = this.rate[k];
    if (rate === undefined) return q[i] + s * rise;
    const jump = this.left.get(i + 1),
      v = this.tables.v[rate];
    const after = jump === undefined ? v[i + 1] : this.tables.jump_v[rate][jump];
    const a = v[i] * dt - rise,
      b = rise - after * dt;
    // where coordinates and velocities are not of one smooth motion the chord is the honest course
    const smooth = Math.abs(a) + Math.abs(b) < 2 * Math.abs(rise) + 1e-12;
    return q[i] + s * rise + (smooth ? s * (1 - s) * ((1 - s) * a + s * b) : 0);
  }

  // Place and axes of a body.
  frame({ columns }, i, t) {
    const at = (label) => this.coordinate(columns[label], i, t);
    if ("angle" in columns) {
      const angle = at("angle"),
        c = Math.cos(angle),
        s = Math.sin(angle);
      return { p: [at("x"), at("y"), 0], x: [c, s, 0], y: [-s, c, 0], z: [0, 0, 1] };
    }
    if (!("qw" in columns)) return { ...GROUND, p: [at("x"), at("y"), "z" in columns ? at("z") : 0] };
    let [w, x, y, z] = ["qw", "qx", "qy", "qz"].map(at);
    const size = Math.hypot(w, x, y, z) || 1;
    [w, x, y, z] = [w / size, x / size, y / size, z / size];
    return {
      p: [at("x"), at("y"), at("z")],
      x: [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
      y: [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
      z: [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    };
  }

  // Frames of bodies and of nodes of flexible ones, whose deflections are drawn so many times as large.
  frames(row, t, factor) {
    const found = new Map();
    for (const body of this.scene.bodies) {
      const frame = this.frame(body, row, t);
      found.set(body.name, frame);
      if (body.flexible) this.deform(body, frame, row, t, factor, found);
    }
    return found;
  }

  // The curves of a flexible body, one for each of its beams, and the frames of its nodes.
  deform({ name, flexible }, frame, row, t, factor, found) {
    const eta = flexible.eta.map((k) => this.coordinate(k, row, t)),
      at = ({ moved, bent }, i) => add(mode(moved, i, eta), mode(bent, i, eta), factor),
      course = flexible.places.map((p, i) => placed(frame, add(p, at(flexible, i))));
    frame.curves = [];
    flexible.ends.forEach((end, k) => {
      const piece = course.slice(k ? flexible.ends[k - 1] : 0, end),
        before = frame.curves.at(-1);
      if (before && norm(sub(before.at(-1), piece[0])) < 1e-9 * this.scene.size) before.push(...piece.slice(1));
      else frame.curves.push(piece);
    });
    for (const node of flexible.nodes) {
      const angle = mode(node.turned, 0, eta),
        axis = (e) => unit(turned(frame, add(e, cross(angle, e))));
      found.set(`${name}.${node.name}`, {
        p: placed(frame, add(node.at, at(node, 0))),
        x: axis(AXES[0]),
        y: axis(AXES[1]),
        z: axis(AXES[2]),
      });
    }
  }

  // The impact after (1) or before (-1) a time.
  impactFrom(t, direction) {
    const tiny = 1e-12 * (this.end - this.start);
    return direction > 0 ? this.instants.find((x) => x > t + tiny) : this.instants.findLast((x) => x < t - tiny);
  }
}

// Point i of a field of modes with these amplitudes, which are its last index.
function mode(field, i, eta) {
  return [0, 1, 2].map((d) => eta.reduce((sum, one, k) => sum + field[(3 * i + d) * eta.length + k] * one, 0));
}

const PREFIXES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
  [1e-12, "p"],
];
const PREFIXED = new Set(["m", "N", "J", "s", "m/s", "N s", "N m", "m kg^1/2", "m kg^1/2/s"]);

// Factor and name of a readable unit for numbers of this size.
function readable(unit, size) {
  if (!PREFIXED.has(unit) || !(size > 0)) return [1, unit];
  const [factor, prefix] = PREFIXES.find(([factor]) => size >= factor * 0.9) ?? [1, ""];
  return [factor, prefix + unit];
}

function digits(x, n = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  return x === 0 ? "0" : Number(x.toPrecision(n)).toString();
}

function quantity(x, unit, n = 3) {
  const [factor, shown] = readable(unit, Math.abs(x));
  return `${digits(x / factor, n)} ${shown}`;
}

// An element with attributes and children; strings become text, never markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A name in a direction of its own, cut by the style where it is long.
function named(text, kind = "name") {
  const made = element("bdi", { class: kind }, text.length > 200 ? `${text.slice(0, 200)}…` : text);
  if (text.length > 20) made.title = text.slice(0, 2000);
  return made;
}

// The context of a canvas of so many pixels of the style sheet, in these pixels.
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1,
    context = canvas.getContext("2d");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const byId = (name) => document.getElementById(name);
