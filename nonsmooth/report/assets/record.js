// A video of the picture as it moves, which the browser makes: webm, in real time.

const WEBM = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const FRAMES = 30; // of the video in a second, at most
const LENGTHS = [5, 10, 20, 60]; // seconds to choose from, besides once through the time that is shown

class Recorder {
  constructor(button, length, note) {
    Object.assign(this, { button, length, note });
    const { MediaRecorder: maker, HTMLCanvasElement: canvas } = window;
    this.type = maker && canvas.prototype.captureStream && WEBM.find((type) => maker.isTypeSupported(type));
    button.disabled = length.disabled = !this.type;
    if (!this.type) note.textContent = "This browser cannot record a video; Chromium and Firefox can.";
    length.replaceChildren(
      element("option", { value: "" }, "once"),
      ...LENGTHS.map((seconds) => element("option", { value: String(seconds) }, `${seconds} s`)),
    );
  }

  toggle(stages, clock) {
    if (this.maker) this.end();
    else if (this.type && stages.length && clock.length > 0) this.start(stages, clock);
  }

  // Plays from the start of the time that is shown.
  start(stages, clock) {
    const widths = stages.map(({ canvas }) => canvas.width),
      picture = document.createElement("canvas"),
      chunks = [];
    picture.width = widths.reduce((sum, width) => sum + width, 0);
    picture.height = Math.max(...stages.map(({ canvas }) => canvas.height));
    Object.assign(this, { stages, clock, picture, frames: 0, before: -Infinity, began: performance.now() });
    clock.pause();
    clock.seek(clock.window[0]);
    this.frame();
    const maker = new MediaRecorder(picture.captureStream(FRAMES), { mimeType: this.type });
    maker.addEventListener("dataavailable", ({ data }) => chunks.push(data));
    maker.addEventListener("stop", () => {
      save("motion.webm", new Blob(chunks, { type: "video/webm" }));
      this.note.textContent = "";
    });
    maker.start();
    this.maker = maker;
    this.tell(true);
    clock.play();
  }

  end() {
    const { maker, clock } = this;
    if (!maker) return;
    this.maker = null;
    this.tell(false);
    clock.pause();
    maker.stop();
  }

  tell(on) {
    this.button.textContent = on ? "stop" : "record";
    this.button.setAttribute("aria-pressed", String(on));
    this.length.disabled = on;
    if (on) this.note.textContent = "recording; keep this page in view";
  }

  // After each picture: the length that was chosen, or the end of the time that is shown, ends the video.
  step() {
    const { maker, clock, length } = this;
    if (!maker) return;
    const passed = (performance.now() - this.began) / 1000,
      over = length.value ? passed >= Number(length.value) : clock.t < this.before;
    if (over) this.end();
    else this.frame();
  }

  frame() {
    const { picture, stages, clock } = this,
      context = picture.getContext("2d"),
      { ratio, colours } = stages[0];
    context.fillStyle = colours.card;
    context.fillRect(0, 0, picture.width, picture.height);
    let x = 0;
    for (const { canvas } of stages) {
      context.drawImage(canvas, x, 0);
      x += canvas.width;
    }
    context.font = `${13 * ratio}px system-ui, sans-serif`;
    context.fillStyle = colours.ink;
    context.fillText(`t = ${timeText(clock)}`, 8 * ratio, 18 * ratio);
    this.before = clock.t;
    this.frames += 1;
  }
}
