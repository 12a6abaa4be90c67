// A button that copies an example: of a session in Python its input alone, without prompts and without results.
document.addEventListener("DOMContentLoaded", () => {
  const input = (text) => {
    const lines = text.split("\n")
    const typed = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4))
    const shell = lines.map((line) => line.replace(/^\$ /, ""))
    return (typed.length ? typed : shell).join("\n").trimEnd() + "\n"
  }
  for (const block of document.querySelectorAll("div.highlight")) {
    const code = block.querySelector("pre")
    if (!code) continue
    const button = document.createElement("button")
    button.type = "button"
    button.className = "copy"
    button.textContent = "Copy"
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(input(code.textContent))
      button.textContent = "Copied"
      setTimeout(() => { button.textContent = "Copy" }, 1500)
    })
    block.append(button)
  }
})
