// The first page works without this: it says whether the server is ready, and offers to copy the examples.

const state = document.querySelector("[data-state]");

const say = (kind, words) => {
  state.dataset.state = kind;
  state.textContent = words;
};

async function askReady() {
  try {
    const { status } = await fetch("/readyz", { cache: "no-store" });
    if (status === 200) say("good", "Ready");
    else say("bad", "Not ready: the database cannot be written. The server's log says why");
  } catch {
    say("bad", "Not reachable: the server has stopped, or the network is down");
  }
}

async function copy(block, button) {
  await navigator.clipboard.writeText(block.querySelector("code").textContent);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

/** Only where the browser lets a page write to the clipboard: over https, or on this machine. */
function offerCopies() {
  if (navigator.clipboard === undefined) return;
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => void copy(block, button));
    block.append(button);
  }
}

void askReady();
offerCopies();
