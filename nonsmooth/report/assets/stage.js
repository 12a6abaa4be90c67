// The picture of one run, or of one over another: canvas, gestures, paths, arrows of forces, rings of impacts.

// `full` is the force that is drawn at full length [N].
const STAGE_OPTIONS = { forces: true, traces: true, names: false, shapes: true, magnify: 1, deformation: 1, full: 0 };
// Share of the longest force that is drawn at full length beyond it, and below which none is drawn
const SHORTEST = 0.005;
// Length of an arrow, in hundredths of a symbol's scale.
const ARROW = 26;

class Stage {
  constructor(host, runs, clock, camera, options) {
    Object.assign(this, { host, runs, clock, camera, options });
    this.canvas = element("canvas", {
      tabindex: "0",
      role: "img",
      "aria-label": "mechanism in motion; arrow keys turn or shift, plus and minus change the size, home resets",
    });
    host.append(this.canvas);
    this.context = this.canvas.getContext("2d");
    this.back = document.createElement("canvas");
    camera.listeners.push(() => this.stale());
    this.gestures();
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(host);
    this.colours = palette();
    this.resize();
  }

  resize() {
    const { clientWidth, clientHeight } = this.host,
      ratio = window.devicePixelRatio || 1;
    if (!clientWidth || !clientHeight) return;
    Object.assign(this, { width: clientWidth, height: clientHeight, ratio });
    for (const canvas of [this.canvas, this.back]) sized(canvas, clientWidth, clientHeight);
    this.stale();
  }

  // What does not move is to be drawn again.
  stale() {
    this.old = true;
    this.draw();
  }

  repaint() {
    this.colours = palette();
    this.stale();
  }

  draw() {
    if (!this.width) return;
    const { context, width, height } = this;
    if (this.old) this.paths();
    context.clearRect(0, 0, width, height);
    if (this.options.traces) context.drawImage(this.back, 0, 0, width, height);
    const ink = new Ink(context, this.camera, this.width, this.height);
    this.runs.forEach((run, k) => {
      if (!run.scene) return;
      ink.alpha = k ? 0.4 : 1;
      this.mechanism(ink, run, k);
      if (!k && this.options.forces && this.options.full > 0) this.measure(ink);
      if (!k && !this.camera.flat) this.triad(ink);
      ink.paint();
    });
  }

  mechanism(ink, run, k) {
    const { t } = this.clock,
      row = rowAt(run.t, t),
      m = new Mechanism(run, row, t, { ink, colours: this.colours, ...this.options });
    if (this.options.traces) this.tails(m, k);
    m.draw();
    drawFields(m);
    m.pushes = pushesOf(m, Math.min(row + 1, run.t.length - 1)); // forces are means of the step that ends in a row
    if (this.options.forces) this.arrows(m);
    this.rings(m);
    if (this.options.names) this.titles(m);
    this.last = m;
  }

  // Paths of the mass centres over the whole run, on a canvas of their own.
  paths() {
    const context = this.back.getContext("2d");
    context.clearRect(0, 0, this.width, this.height);
    const ink = new Ink(context, this.camera, this.width, this.height);
    for (const run of this.runs) {
      if (!run.scene) continue;
      const stride = Math.max(1, Math.floor((run.t.length * run.scene.bodies.length) / 12000));
      run.scene.bodies.forEach((body, k) => {
        const points = [];
        for (let i = 0; i < run.t.length; i += stride) points.push(centreAt(run, body, i));
        ink.line(points, { colour: this.colours.own[k % this.colours.own.length], width: 0.8, alpha: 0.35 });
      });
    }
    ink.paint();
    this.old = false;
  }

  // The last stretch of each path.
  tails(m, k) {
    const { run, t, row } = m,
      first = rowAt(run.t, t - 0.02 * this.clock.length),
      stride = Math.max(1, Math.floor((row - first) / 40));
    if (k) return;
    for (const body of run.scene.bodies) {
      const points = [];
      for (let i = first; i <= row; i += stride) points.push(centreAt(run, body, i));
      points.push(m.body(body.name).p);
      m.ink.line(points, { colour: m.colour(body.name), width: 2, alpha: 0.7, layer: this.camera.flat ? 1.5 : 0 });
    }
  }

  arrows(m) {
    this.drawn = 0; // for tests
    const reach = ARROW * m.w;
    for (const { p, force } of m.pushes.values()) {
      const size = norm(force),
        share = size / this.options.full;
      if (!(share > SHORTEST)) continue;
      m.ink.arrow(p, mul(force, (reach * Math.min(share, 1.5)) / size), {
        colour: this.colours.hit,
        width: m.px(1, 2.6),
      });
      this.drawn += 1;
    }
  }

  // What an arrow's length means, in the lower left corner.
  measure(ink) {
    const { camera, colours } = this,
      length = ARROW * (this.last.scene.grain / 100) * ink.scale;
    const share = Math.min(1, this.width / 3 / length),
      foot = add(camera.middle, camera.right, (14 - this.width / 2) / ink.scale);
    const at = add(foot, camera.up, (14 - this.height / 2) / ink.scale),
      reach = mul(camera.right, (share * length) / ink.scale);
    ink.arrow(at, reach, { colour: colours.hit, width: 2.6 });
    ink.text(at, quantity(share * this.options.full, "N"), { fill: colours.ink, halo: colours.card, layer: 11 });
  }

  // The axes of the ground, in the lower right corner.
  triad(ink) {
    const { camera, colours } = this,
      foot = add(camera.middle, camera.right, (this.width / 2 - 40) / ink.scale),
      at = add(foot, camera.up, (40 - this.height / 2) / ink.scale);
    ["x", "y", "z"].forEach((name, k) => {
      ink.arrow(at, mul(AXES[k], 26 / ink.scale), { colour: colours.soft, width: 1.6 });
      ink.text(add(at, AXES[k], 26 / ink.scale), name, { fill: colours.soft, halo: colours.card, layer: 11 });
    });
  }

  // Rings where impacts were a moment ago; their size tells the impulse.
  rings(m) {
    const { run, t } = m,
      life = Math.max(0.15 * this.clock.speed, 1e-9),
      impulse = run.tables.impacts[0] ?? [];
    run.strongest ??= impulse.reduce((most, x) => Math.max(most, x), 0) || 1;
    for (let i = rowAt(run.impactT, t); i >= 0 && run.impactT[i] > t - life; i--) {
      const push = m.pushes.get(run.impactGap[i]),
        age = (t - run.impactT[i]) / life;
      if (age < 0 || !push) continue;
      const radius = m.px(1.2 + 7 * Math.sqrt(impulse[i] / run.strongest), 3) * (0.6 + 0.6 * age);
      m.ink.dot(push.p, radius, { colour: this.colours.bad, width: 2.2, alpha: 1 - age, layer: 10 });
    }
  }

  titles(m) {
    for (const body of m.scene.bodies) {
      const words = body.name.length > 24 ? `${body.name.slice(0, 24)}…` : body.name;
      m.ink.text(m.body(body.name).p, words, { fill: m.colour(body.name), halo: this.colours.card, layer: 11 });
    }
  }

  gestures() {
    const { canvas, camera } = this,
      scale = () => camera.scale(this.width, this.height),
      touches = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      touches.set(event.pointerId, event);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = touches.get(event.pointerId);
      if (!before) return;
      const x = event.clientX - before.clientX,
        y = event.clientY - before.clientY;
      if (touches.size === 2) {
        const [other] = [...touches.values()].filter((one) => one.pointerId !== event.pointerId);
        const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
        camera.closer(apart(event) / Math.max(apart(before), 1));
      } else if (camera.flat || event.shiftKey || before.button === 2) camera.pan(x, y, scale());
      else camera.orbit(0.008 * x, 0.008 * y);
      const button = before.button;
      touches.set(event.pointerId, {
        pointerId: event.pointerId,
        clientX: event.clientX,
        clientY: event.clientY,
        button,
      });
    });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, (event) => touches.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => camera.home());
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (document.activeElement !== canvas && !event.ctrlKey) return; // until it is chosen, the page scrolls
        event.preventDefault();
        camera.closer(Math.exp(-0.0015 * event.deltaY));
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (way && (camera.flat || event.shiftKey)) camera.pan(-24 * way[0], -24 * way[1], scale());
      else if (way) camera.orbit(0.1 * way[0], 0.1 * way[1]);
      else if (event.key === "+" || event.key === "=") camera.closer(1.2);
      else if (event.key === "-") camera.closer(1 / 1.2);
      else if (event.key === "Home") camera.home();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}

function centreAt(run, { columns }, row) {
  const { q } = run.tables;
  return [q[columns.x][row], q[columns.y][row], "z" in columns ? q[columns.z][row] : 0];
}

// The force that is drawn at full length: the 99th percentile of what presses, so that one peak does not hide the rest.
function longest(run) {
  const pressing = [],
    force = run.tables.force ?? [];
  for (let i = 0; i < force.length; i += 3) {
    for (let row = 0; row < force[i].length; row++) {
      const size = Math.hypot(force[i][row], force[i + 1][row], force[i + 2][row]);
      if (size > 0) pressing.push(size);
    }
  }
  const most = pressing.reduce((a, b) => Math.max(a, b), 0);
  const values = pressing.filter((x) => x > 1e-4 * most).sort((a, b) => a - b);
  return values.length ? values[Math.floor(0.99 * (values.length - 1))] : 0;
}
