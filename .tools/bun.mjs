/**
 * Runs the pinned Bun: `node .tools/bun.mjs server.ts`, `node .tools/bun.mjs test`.
 *
 * Before that it brings node_modules to what bun.lock says, so that a fresh clone, a pull that
 * changed the lock and a folder made by `npm install` all start with one command. Where nothing
 * is missing that costs some 20 ms and no network. It is the one file that Node runs, since it
 * has to work before there is any Bun.
 *
 * @module
 */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const windows = process.platform === "win32";
const pinned = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies.bun;
const installed = join(root, "node_modules/bun/bin/bun.exe"); // its name on every platform
const scratch = "node_modules/.bun-download";

/** Ends with a message for a person; standard output belongs to the program that was asked for. */
function fail(message, status = 1) {
  console.error(message.trim());
  process.exit(status || 1);
}

/** Whether a file is the pinned Bun and runs here; a placeholder and another platform's do not. */
function works(bun) {
  return spawnSync(bun, ["--version"], { encoding: "utf8" }).stdout?.trim() === pinned;
}

/** Gets Bun through npm, into a folder of its own. Runs no install script: some npm refuse those. */
function download() {
  console.error(`Getting Bun ${pinned} from the npm registry…`);
  const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const args = ["install", "--prefix", scratch, ...flags, "--loglevel=error", `bun@${pinned}`];
  // On Windows npm is a script, which only a shell can start: hence no argument with a blank.
  const npm = spawnSync("npm", args, { cwd: root, encoding: "utf8", shell: windows });
  if (npm.error) fail(`Cannot run npm: ${npm.error.message}`);
  if (npm.status !== 0) fail(`Cannot install Bun ${pinned}:\n${npm.stdout}${npm.stderr}`);
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  const name = windows ? "windows" : process.platform;
  for (const libc of ["", "-musl"]) {
    const bin = join(root, scratch, `node_modules/@oven/bun-${name}-${arch}${libc}/bin`);
    const bun = join(bin, windows ? "bun.exe" : "bun");
    if (existsSync(bun) && works(bun)) return bun;
  }
  return fail(`Cannot run Bun ${pinned} on ${process.platform}-${process.arch}`);
}

/** Brings node_modules to what bun.lock says, with that very Bun. */
function install() {
  const ready = works(installed);
  const bun = ready ? installed : download();
  // Bun leaves a package alone that has the right version, even one whose binary is not there.
  if (!ready) rmSync(join(root, "node_modules/bun"), { recursive: true, force: true });
  if (!ready) rmSync(join(root, "node_modules/@oven"), { recursive: true, force: true });
  const args = ["install", "--frozen-lockfile", "--no-progress"];
  const { status, stdout, stderr, error } = spawnSync(bun, args, { cwd: root, encoding: "utf8" });
  if (error) fail(`Cannot run ${bun}: ${error.message}`);
  if (status !== 0) fail(`Cannot install what bun.lock names:\n${stdout}${stderr}`, status);
  const report = stdout.match(/^\d+ packages? installed.*$/m);
  if (report) console.error(report[0]);
  if (!ready) rmSync(join(root, scratch), { recursive: true, force: true });
}

install();

const args = ["--no-orphans", ...process.argv.slice(2)];
const child = spawn(installed, args, { cwd: root, stdio: "inherit" });
child.on("error", (error) => fail(`Cannot run ${installed}: ${error.message}`));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
// A service manager signals npm, and npm this process: hand it on, and end when the child has.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // A terminal has already sent its Ctrl-C to the whole group.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
// Where npm, or the shell between, is killed outright, the child must not be left behind.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent || !process.env.npm_lifecycle_event) return;
  clearInterval(watch);
  child.kill("SIGTERM");
}, 250);
