// One time for everything on the page, and the part of it that is shown.

class Clock {
  constructor(runs) {
    this.start = Math.min(...runs.map((run) => run.start));
    this.end = Math.max(...runs.map((run) => run.end));
    this.length = this.end - this.start;
    Object.assign(this, { runs, t: this.start, playing: false, speed: 1, frames: 0 });
    this.window = [this.start, this.length > 0 ? this.end : this.start + 1];
    this.listeners = { time: [], window: [], state: [] };
  }

  on(what, listener) {
    this.listeners[what].push(listener);
  }
  tell(what) {
    for (const listener of this.listeners[what]) listener(this);
  }

  seek(t) {
    this.t = Math.min(Math.max(t, this.start), this.end);
    this.tell("time");
  }

  zoom(from, to) {
    from = Math.max(from, this.start);
    to = Math.min(to, this.end);
    if (!(to - from > this.length * 1e-7)) return;
    this.window = [from, to];
    this.tell("window");
  }

  // Widen or narrow the window about the time, which keeps its place in it.
  scale(factor) {
    const [from, to] = this.window;
    this.zoom(this.t - (this.t - from) * factor, this.t + (to - this.t) * factor);
  }

  whole() {
    this.zoom(this.start, this.end);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  pause() {
    this.playing = false;
    this.tell("state");
  }

  play() {
    if (!(this.length > 0)) return;
    const [from, to] = this.window;
    if (this.t >= to || this.t < from) this.seek(from);
    Object.assign(this, { playing: true, frames: 0, began: performance.now() });
    this.tell("state");
    let before = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      const [first, last] = this.window,
        next = this.t + (Math.max(now - before, 0) / 1000) * this.speed;
      before = now;
      this.frames += 1;
      this.seek(next > last ? first : next);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // Go to the impact after (1) or before (-1) now, of any run.
  impact(direction) {
    this.pause();
    const found = this.runs.map((run) => run.impactFrom(this.t, direction)).filter((t) => t !== undefined);
    if (found.length) this.seek(direction > 0 ? Math.min(...found) : Math.max(...found));
  }

  // Go to the row so many after now, of the first run.
  step(count) {
    this.pause();
    const { t } = this.runs[0],
      row = rowAt(t, this.t);
    const next = count < 0 && this.t > t[row] ? row + 1 + count : row + count;
    this.seek(t[Math.min(Math.max(next, 0), t.length - 1)]);
  }
}

// Speeds to choose from, as shares of life: 1, 2, 5 times powers of ten around what makes a run last 12 s.
function speeds(length) {
  const wish = length > 0 ? length / 12 : 1,
    exponent = Math.floor(Math.log10(wish)),
    found = [];
  for (let power = exponent - 2; power <= exponent + 2; power++)
    for (const digit of [1, 2, 5]) found.push(Number(`${digit}e${power}`));
  if (!found.includes(1)) found.push(1);
  found.sort((a, b) => a - b);
  const nearest = found.reduce((a, b) => (Math.abs(Math.log(b / wish)) < Math.abs(Math.log(a / wish)) ? b : a));
  return [found, nearest];
}

function speedName(speed) {
  if (speed === 1) return "real time";
  return speed < 1 ? `${digits(1 / speed, 6)}× slower` : `${digits(speed, 6)}× faster`;
}
