// Vectors, the camera, and the ink that it sees: lines, faces and discs, painted from behind to the front.

const AXES = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const mul = (a, k) => [k * a[0], k * a[1], k * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => {
  const size = norm(a);
  return size > 0 ? mul(a, 1 / size) : [0, 0, 0];
};

// Ground components of a vector, and ground place of a point, of a frame; local ones have two or three components.
const turned = (f, v) => add(add(mul(f.x, v[0] ?? 0), f.y, v[1] ?? 0), f.z, v[2] ?? 0);
const placed = (f, v) => add(f.p, turned(f, v));

// Two unit vectors perpendicular to a unit vector and to each other.
function perpendicular(n) {
  const k = [0, 1, 2].reduce((a, b) => (Math.abs(n[b]) < Math.abs(n[a]) ? b : a));
  const u = unit(cross(n, AXES[k]));
  return [u, cross(n, u)];
}

// Elevations just below the vertical: one is reached by dragging, the other by a choice.
const STEEPEST = 1.55;
const STEEP = Math.PI / 2 - 1e-6;

class Camera {
  constructor(scene) {
    Object.assign(this, { scene, flat: scene.dimension === 2, listeners: [] });
    this.home();
  }

  home() {
    const { low, high, view } = this.scene;
    this.middle = mul(add(low, high), 0.5);
    [this.elevation, this.azimuth] = view.map((angle) => (angle * Math.PI) / 180);
    this.zoom = 1;
    this.chosen = "home";
    this.turn();
  }

  turn() {
    const { elevation: e, azimuth: a } = this,
      up = this.scene.vertical;
    if (this.flat) Object.assign(this, { right: [1, 0, 0], up: [0, 1, 0], toward: [0, 0, 1] });
    else {
      const seen = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
      this.toward = [0, 1, 2].map((i) => seen[(i + 2 - up) % 3]);
      this.right = unit(cross(AXES[up], this.toward));
      this.up = cross(this.toward, this.right);
    }
    for (const listener of this.listeners) listener();
  }

  // Look against the direction of an axis of the ground.
  along(axis) {
    const place = (axis + 2 - this.scene.vertical) % 3; // among the two level axes and the vertical one
    this.elevation = place === 2 ? STEEP : 0;
    this.azimuth = [0, Math.PI / 2, -Math.PI / 2][place];
    this.chosen = String(axis);
    this.turn();
  }

  orbit(x, y) {
    this.chosen = "";
    this.azimuth -= x;
    this.elevation = Math.min(Math.max(this.elevation + y, -STEEPEST), STEEPEST);
    this.turn();
  }

  // Shift what is seen by pixels.
  pan(x, y, scale) {
    this.middle = add(add(this.middle, this.right, -x / scale), this.up, y / scale);
    this.turn();
  }

  closer(factor) {
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.1), 1e5);
    this.turn();
  }

  // Pixels per metre with which the whole motion fits into a picture.
  scale(width, height) {
    const { low, high, size } = this.scene,
      spans = [this.right, this.up].map((axis) =>
        [0, 1, 2].reduce((sum, i) => sum + Math.abs(axis[i]) * (high[i] - low[i]), 0),
      );
    const room = 0.12 * size + 2 * 14 * (this.scene.grain / 100);
    return this.zoom * Math.min(width / (spans[0] + room), height / (spans[1] + room));
  }
}

// Colours of the theme, read once.
function palette() {
  const names = ["ink", "soft", "grid", "card", "ground", "hit", "bad", "accent"];
  const found = Object.fromEntries(names.map((name) => [name, css(`--${name}`)]));
  found.own = ["--c0", "--c2", "--c4", "--c3", "--c5", "--c1"].map(css);
  found.series = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"].map(css);
  found.modes = Object.fromEntries(
    ["open", "closed", "stick", "slip", "other"].map((name) => [name, css(`--${name}`)]),
  );
  return found;
}

// A colour made lighter or darker.
function shaded(colour, factor) {
  const value = parseInt(colour.slice(1), 16);
  const parts = [value >> 16, (value >> 8) & 255, value & 255].map((x) => Math.round(Math.min(x * factor, 255)));
  return `rgb(${parts.join(",")})`;
}

const LIGHT = unit([-0.35, 0.5, 0.8]);

class Ink {
  constructor(context, camera, width, height) {
    Object.assign(this, { context, camera, width, height, items: [], alpha: 1 });
    this.scale = camera.scale(width, height);
  }

  at(p) {
    const offset = sub(p, this.camera.middle);
    return [
      this.width / 2 + this.scale * dot(offset, this.camera.right),
      this.height / 2 - this.scale * dot(offset, this.camera.up),
    ];
  }

  depth(p) {
    return dot(p, this.camera.toward);
  }

  put(points, style) {
    let depth = 0;
    for (const p of points) depth += this.depth(p);
    this.items.push({
      points: points.map((p) => this.at(p)),
      depth: depth / points.length + (style.nearer ?? 0),
      layer: style.layer ?? 0,
      alpha: this.alpha * (style.alpha ?? 1),
      style,
    });
  }

  line(points, style) {
    this.put(points, style);
  }

  // A polygon; in space lit from the upper left of the viewer.
  face(points, style) {
    let { fill } = style;
    if (!this.camera.flat && style.lit !== false) {
      const n = unit(cross(sub(points[1], points[0]), sub(points[2], points[1])));
      const seen = [this.camera.right, this.camera.up, this.camera.toward].map((axis) => dot(n, axis));
      fill = shaded(fill, 0.62 + 0.5 * Math.abs(dot(seen, LIGHT)));
    }
    // faces that hide what is behind them leave no seam
    this.put(points, { ...style, fill, close: true, ...(style.whole ? { colour: fill, width: 0.7 } : {}) });
  }

  // One area of several polygons, which all turn the same way.
  region(polygons, style) {
    const starts = new Set();
    let count = 0;
    for (const polygon of polygons) {
      starts.add(count);
      count += polygon.length;
    }
    this.put(polygons.flat(), { ...style, close: true, starts });
  }

  // A circle that faces the viewer, its radius in metres, or in pixels if `pixels`.
  disc(centre, radius, style) {
    this.put([centre], { ...style, radius: style.pixels ? radius : radius * this.scale });
  }

  // A symbol of a fixed number of pixels.
  dot(centre, radius, style) {
    this.disc(centre, radius, { ...style, pixels: true });
  }

  text(at, words, style) {
    this.put([at], { ...style, words });
  }

  // From a foot along a vector, with a head.
  arrow(foot, vector, style) {
    const tip = add(foot, vector),
      [x0, y0] = this.at(foot),
      [x1, y1] = this.at(tip);
    const length = Math.hypot(x1 - x0, y1 - y0),
      width = style.width ?? 3;
    if (length < 1) return;
    const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length],
      head = Math.min(4.2 * width, 0.7 * length);
    const p = (along, across) => [x0 + along * ux - across * uy, y0 + along * uy + across * ux];
    const w = width / 2,
      outline = [
        [0, w],
        [length - head, w],
        [length - head, 3.2 * w],
        [length, 0],
        [length - head, -3.2 * w],
        [length - head, -w],
        [0, -w],
      ].map(([a, b]) => p(a, b));
    this.items.push({
      points: outline,
      depth: this.depth(foot),
      layer: style.layer ?? 9,
      alpha: this.alpha * (style.alpha ?? 1),
      style: { fill: style.colour, close: true },
    });
  }

  paint() {
    const { context } = this;
    this.items.sort((a, b) => a.layer - b.layer || a.depth - b.depth);
    context.lineJoin = "round";
    for (const item of this.items) this.one(item);
    context.globalAlpha = 1;
    context.setLineDash([]);
    this.items = [];
  }

  one({ points, alpha, style }) {
    const { context } = this;
    context.globalAlpha = alpha;
    if (style.words !== undefined) {
      context.font = "12px system-ui, sans-serif";
      context.lineWidth = 3;
      context.strokeStyle = style.halo;
      context.fillStyle = style.fill;
      context.strokeText(style.words, points[0][0] + 6, points[0][1] - 6);
      context.fillText(style.words, points[0][0] + 6, points[0][1] - 6);
      return;
    }
    context.beginPath();
    if (style.radius !== undefined) context.arc(points[0][0], points[0][1], Math.max(style.radius, 0), 0, 2 * Math.PI);
    else {
      context.moveTo(points[0][0], points[0][1]);
      for (let i = 1; i < points.length; i++) {
        if (style.starts?.has(i)) context.closePath();
        context[style.starts?.has(i) ? "moveTo" : "lineTo"](points[i][0], points[i][1]);
      }
      if (style.close) context.closePath();
    }
    if (style.fill) {
      context.globalAlpha = alpha * (style.inner ?? 1);
      context.fillStyle = style.fill;
      context.fill();
      context.globalAlpha = alpha;
    }
    if (style.colour) {
      context.setLineDash(style.dash ?? []);
      context.lineCap = style.cap ?? "round";
      context.strokeStyle = style.colour;
      context.lineWidth = style.width ?? 1.2;
      context.stroke();
    }
  }
}
