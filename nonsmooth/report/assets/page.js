// Puts the parts together: choice of runs, controls, keys, theme, print.

const current = { parts: [] };
const loaded = new Map();

async function load(k) {
  if (!loaded.has(k)) loaded.set(k, new Run(facts.runs[k], await unpack(k, facts.runs[k].index), k));
  return loaded.get(k);
}

// Show one run, or two side by side.
async function show(choice) {
  const runs = await Promise.all(choice.map(load));
  current.clock?.pause();
  current.parts.forEach(dismiss);
  for (const name of ["stages", "orbits", "modes", "impacts", "charts"]) byId(name).replaceChildren();
  for (const one of document.querySelectorAll("[data-run]")) one.hidden = !choice.includes(Number(one.dataset.run));
  const clock = new Clock(runs),
    options = { ...STAGE_OPTIONS, ...current.options };
  Object.assign(current, { runs, clock, options, choice });
  stages();
  const charts = new Charts(byId("charts"), runs, clock),
    orbits = new Orbits(byId("orbits"), runs, clock),
    modes = new Modes(byId("modes"), runs, clock);
  current.impacts = new Impacts(byId("impacts"), runs, clock);
  Object.assign(current, { charts, orbits, modes, parts: [...current.stages, charts, orbits, modes] });
  controls();
  offer();
  notes();
  clock.on("time", tellTime);
  clock.on("state", () => clock.playing || current.recorder.end());
  clock.on("time", () => {
    for (const stage of current.stages) stage.draw();
    current.recorder.step();
  });
  clock.seek(clock.start);
}

// What is replaced looks at its size no longer, nor at whether it is seen.
function dismiss({ watch, sight }) {
  watch?.disconnect();
  sight?.disconnect();
}

// A picture for each run, or one for both, with a common camera.
function stages() {
  const { runs, clock, options, overlay } = current,
    drawable = runs.filter((run) => run.scene),
    host = byId("stages");
  current.recorder.end();
  current.stages?.forEach(dismiss);
  host.replaceChildren();
  host.classList.toggle("two", drawable.length > 1 && !overlay);
  current.stages = [];
  for (const run of runs) {
    if (!run.scene)
      host.append(element("p", { class: "fault" }, "The mechanism is not drawn. ", named(run.info.fault, "why")));
  }
  if (!drawable.length) return;
  options.full = Math.max(...runs.map((run) => (run.longest ??= longest(run))));
  options.magnify = current.magnify ?? drawable[0].scene.magnify;
  options.deformation = current.deformation ?? (drawable[0].scene.deformation || 1);
  current.camera = new Camera(drawable[0].scene);
  for (const group of overlay ? [drawable] : drawable.map((run) => [run])) {
    const box = element("div", { class: "stage" });
    box.style.height = `${stageHeight(host.clientWidth / (overlay ? 1 : drawable.length), group[0].scene)}px`;
    const figure = element("figure", { class: "picture" }, box);
    if (runs.length > 1)
      figure.append(
        element(
          "figcaption",
          {},
          ...group.flatMap((run, k) => (k ? [" over ", named(run.label)] : [named(run.label)])),
        ),
      );
    host.append(figure);
    current.stages.push(new Stage(box, group, clock, current.camera, options));
  }
  current.camera.listeners.push(() => {
    byId("view").value = current.camera.chosen;
  });
  current.camera.turn();
}

// As high as the motion needs at this width, within limits.
function stageHeight(width, { low, high, dimension, size }) {
  const most = Math.min(0.5 * window.innerHeight, 560),
    room = 0.2 * size;
  const wanted = dimension === 2 ? (width * (high[1] - low[1] + room)) / (high[0] - low[0] + room) : most;
  return Math.round(Math.min(Math.max(wanted, 230), Math.max(most, 280)));
}

function controls() {
  const { clock, runs } = current,
    [choices, speed] = speeds(clock.length),
    drawable = runs.find((run) => run.scene);
  byId("speed").replaceChildren(...choices.map((x) => element("option", { value: String(x) }, speedName(x))));
  clock.speed = speed;
  byId("speed").value = String(speed);
  clock.on("state", () => {
    document.body.classList.toggle("playing", clock.playing);
    byId("play").setAttribute("aria-label", clock.playing ? "pause" : "play");
  });
  const { magnify, loose, deformation } = drawable?.scene ?? { magnify: 1, loose: false, deformation: 0 };
  byId("magnifier").hidden = !loose;
  byId("magnify").max = String(Math.log10(5 * magnify));
  byId("magnify").value = String(Math.log10(current.options.magnify));
  byId("bender").hidden = !deformation;
  byId("deformation").max = String(Math.log10(5 * (deformation || 1)));
  byId("deformation").value = String(Math.log10(current.options.deformation));
  for (const name of ["forces", "traces", "names", "shapes"]) pressed(name, current.options[name]);
  byId("overlay").hidden = runs.filter((run) => run.scene).length < 2;
  pressed("overlay", Boolean(current.overlay));
  byId("shapes").hidden = !runs.some((run) => run.scene?.shaped.length);
  byId("picture-tools").hidden = !drawable;
  byId("viewer").hidden = drawable?.scene.dimension !== 3;
}

// Bodies, contacts and joints, by which curves are chosen.
function offer() {
  const { runs } = current,
    tables = ["q", "gap", "reaction"],
    names = runs.flatMap((run) => tables.flatMap((table) => run.info.names[table])),
    parts = new Set(names.map((name) => name.slice(0, Math.max(name.lastIndexOf("."), 0)) || name));
  byId("known").replaceChildren(...[...parts].map((name) => element("option", { value: name.slice(0, 80) })));
  byId("filter").value = "";
}

function pressed(name, on) {
  byId(name).setAttribute("aria-pressed", String(on));
}

// What is shown of the rows, what is magnified, and what arrows mean.
function notes() {
  const lines = current.runs.flatMap(({ info, label }) => {
    const words = [];
    if (info.shown < info.rows) {
      words.push(
        `${info.shown} of ${info.rows} rows are shown, all impacts and changes of contact modes among them; ` +
          `between them coordinates are off by at most ${digits(info.error, 2)} of their range`,
      );
    } else words.push(`all ${info.rows} rows are shown`);
    if (info.unusable) words.push(`${info.unusable} rows with values that are not numbers are left out`);
    return [`${current.runs.length > 1 ? `${label.slice(0, 80)}: ` : ""}${words.join("; ")}.`];
  });
  byId("shown").textContent = lines.join(" ");
  tellMagnification();
}

function tellMagnification() {
  const { options, runs } = current,
    scene = runs.find((run) => run.scene)?.scene;
  if (!scene) {
    byId("legend").textContent = "";
    return;
  }
  const factor = digits(options.magnify, 3),
    bent = digits(options.deformation, 3),
    words = [];
  if (scene.loose)
    words.push(
      options.magnify === 1 ? "drawn to scale" : `clearances and motions in them are drawn ${factor} times their size`,
    );
  if (scene.deformation)
    words.push(
      options.deformation === 1 ? "deformations as they are" : `deformations are drawn ${bent} times their size`,
    );
  if (options.full > 0) {
    words.push(
      `arrows: mean ${scene.dimension === 2 ? "normal " : ""}contact forces on the second body, without impacts`,
    );
  }
  if (runs.some((run) => run.impactT.length)) words.push("rings: impacts, larger with the impulse");
  byId("legend").textContent = words.join(" · ");
  byId("factor").textContent = `clearances × ${factor}`;
  byId("bent").textContent = `deformations × ${bent}`;
}

function timeText({ t, length }) {
  return `${t.toFixed(Math.min(Math.max(Math.ceil(4 - Math.log10(length || 1)), 3), 9))} s`;
}

function tellTime() {
  const { clock, runs } = current,
    { t } = clock;
  byId("time").value = String(clock.length > 0 ? ((t - clock.start) / clock.length) * 1e5 : 0);
  byId("clock").textContent = timeText(clock);
  const next = runs
    .map((run) => [run, run.impactFrom(t, 1)])
    .filter(([, at]) => at !== undefined)
    .sort((a, b) => a[1] - b[1])[0];
  const now = runs.find((run) => run.instants[rowAt(run.instants, t)] === t);
  if (clock.playing && performance.now() - (current.told ?? 0) < 120) return;
  current.told = performance.now();
  const line = byId("next-impact");
  if (now) line.replaceChildren("impact now: ", ...contactsAt(now, t));
  else if (next)
    line.replaceChildren(`next impact in ${quantity(next[1] - t, "s")}: `, ...contactsAt(next[0], next[1]));
  else if (runs.every((run) => run.info.compliant)) line.replaceChildren();
  else line.replaceChildren(runs.some((run) => run.impactT.length) ? "no further impact" : "no impacts");
}

function contactsAt(run, t) {
  const found = [];
  for (let i = rowAt(run.impactT, t); i >= 0 && run.impactT[i] === t; i--) found.push(run.impactGap[i]);
  const names = [...new Set(found)].sort((a, b) => a - b).map((gap) => named(run.info.names.gap[gap]));
  const more = names.length > 2 ? [` and ${names.length - 2} more`] : [];
  return [...names.slice(0, 2).flatMap((name, k) => (k ? [", ", name] : [name])), ...more];
}

function toggle(name) {
  current.options[name] = !current.options[name];
  pressed(name, current.options[name]);
  for (const stage of current.stages) stage.draw();
}

const ACTIONS = {
  play: () => current.clock.toggle(),
  next: () => current.clock.impact(1),
  previous: () => current.clock.impact(-1),
  whole: () => current.clock.whole(),
  closer: () => current.clock.scale(0.5),
  wider: () => current.clock.scale(2),
  start: () => current.clock.seek(current.clock.start),
  end: () => current.clock.seek(current.clock.end),
  forces: () => toggle("forces"),
  traces: () => toggle("traces"),
  names: () => toggle("names"),
  shapes: () => toggle("shapes"),
  record: () => current.recorder.toggle(current.stages, current.clock),
  bigger: () => current.camera?.closer(1.25),
  smaller: () => current.camera?.closer(0.8),
  home: () => current.camera?.home(),
  theme: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  overlay: () => {
    if (current.runs.filter((run) => run.scene).length < 2) return;
    current.overlay = !current.overlay;
    stages();
    current.parts = [...current.stages, current.charts, current.orbits, current.modes];
    pressed("overlay", current.overlay);
  },
};
const KEYS = {
  " ": "play",
  n: "next",
  p: "previous",
  0: "whole",
  "+": "closer",
  "=": "closer",
  "-": "wider",
  Home: "start",
  End: "end",
  f: "forces",
  t: "traces",
  b: "names",
  s: "shapes",
  v: "record",
  o: "overlay",
  d: "theme",
  r: "home",
};

function theme(name) {
  document.documentElement.dataset.theme = name;
  for (const part of current.parts) part.repaint();
}

function wire() {
  for (const button of document.querySelectorAll("[data-do]"))
    button.addEventListener("click", () => ACTIONS[button.dataset.do]());
  byId("time").addEventListener("input", (event) => {
    current.clock.pause();
    current.clock.seek(current.clock.start + (event.target.value / 1e5) * current.clock.length);
  });
  byId("speed").addEventListener("change", (event) => {
    current.clock.speed = Number(event.target.value);
  });
  for (const name of ["magnify", "deformation"]) {
    byId(name).addEventListener("input", (event) => {
      current[name] = current.options[name] = 10 ** Number(event.target.value);
      tellMagnification();
      for (const stage of current.stages) stage.draw();
    });
  }
  byId("view").addEventListener("change", ({ target: { value } }) => {
    if (value === "home") current.camera.home();
    else current.camera.along(Number(value));
  });
  byId("filter").addEventListener("input", (event) => current.charts.choose(event.target.value));
  document.addEventListener("keydown", (event) => {
    const { tagName, type } = event.target;
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      tagName === "SELECT" ||
      (tagName === "INPUT" && type !== "range")
    )
      return;
    if (event.key === "Escape") for (const charts of [current.charts, current.orbits]) charts.enlarge(null);
    if (event.key === " " && /^(BUTTON|SUMMARY|A)$/.test(tagName)) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if (type === "range") return;
      current.clock.step((event.key === "ArrowRight" ? 1 : -1) * (event.shiftKey ? 20 : 1));
    } else if (KEYS[event.key] && !(type === "range" && /^(Home|End|[-+=])$/.test(event.key)))
      ACTIONS[KEYS[event.key]]();
    else return;
    event.preventDefault();
  });
  const before = {};
  window.addEventListener("beforeprint", () => {
    Object.assign(before, { theme: document.documentElement.dataset.theme, rows: current.impacts.shown });
    theme("light");
    current.impacts.fill(25);
    for (const charts of [current.charts, current.orbits]) charts.enlarge(null);
    current.charts.drawAll();
  });
  window.addEventListener("afterprint", () => {
    theme(before.theme);
    current.impacts.fill(before.rows);
  });
}

// Which of several runs are shown.
function pickers() {
  const count = facts.runs.length,
    host = byId("pickers");
  host.hidden = count < 2;
  if (count < 2) return [0];
  const choice = [0, count - 1],
    name = (info, k) => info.label.slice(0, 80) || `run ${k + 1}`;
  const selects = [byId("first"), byId("second")];
  selects.forEach((select, i) => {
    if (i) select.append(element("option", { value: "-1" }, "nothing"));
    select.append(...facts.runs.map((info, k) => element("option", { value: String(k) }, name(info, k))));
    select.value = String(choice[i]);
    select.addEventListener("change", () => {
      const chosen = selects.map((one) => Number(one.value)).filter((k, j, all) => k >= 0 && all.indexOf(k) === j);
      show(chosen);
    });
  });
  return choice;
}

// Where a page in a frame is replaced by another, time and view stay: the name of the frame outlives its page.
function remember() {
  const { clock, camera } = current;
  if (!facts.light || window === window.parent) return;
  try {
    const { t, playing, view } = JSON.parse(window.name);
    if (camera && view.every(Number.isFinite)) {
      [camera.azimuth, camera.elevation, camera.zoom] = view;
      camera.chosen = "";
      camera.turn();
    }
    if (Number.isFinite(t)) clock.seek(t);
    if (playing) clock.play();
  } catch {
    // another name
  }
  const note = () => {
    const { azimuth = 0, elevation = 0, zoom = 1 } = camera ?? {};
    window.name = JSON.stringify({ t: clock.t, playing: clock.playing, view: [azimuth, elevation, zoom] });
  };
  for (const what of ["time", "state"]) clock.on(what, note);
  camera?.listeners.push(note);
}

async function main() {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  wire();
  current.recorder = new Recorder(byId("record"), byId("record-length"), byId("record-note"));
  await show(pickers());
  remember();
  document.body.dataset.ready = String(Math.round(performance.now()));
  window.nonsmooth = current; // for the console and for tests
}

main().catch((error) => {
  byId("shown").textContent = `This page could not be built: ${error.message}`;
  throw error;
});
