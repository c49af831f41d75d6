// A button on each block of code, but not on what the code prints, that copies it.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("[class^=highlight-]:not(.highlight-text, .highlight-none) > .highlight")) {
    const code = block.querySelector("pre").innerText;
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code);
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 2000);
    });
    block.append(button);
  }
});
