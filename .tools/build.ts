/**
 * Makes the one file that is the product: `npm run build` for this machine, and
 * `npm run build -- --target linux-arm64` for another.
 *
 * Everything that the server needs is inside: the runtime, the code, the native half of SQLite,
 * and each asset that the code imports `with { type: "file" }` or `"text"`. A Worker needs a
 * bundle of its own, so each `*_worker.ts` becomes one.
 *
 * @module
 */

import { mkdir, rename, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";

import { dependencies } from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");

/** The platforms; for each the runtime's package and the entry of better-sqlite3. */
const targets = {
  "linux-x64": { runtime: "linux-x64", sqlite: "linux-x64" },
  "linux-arm64": { runtime: "linux-aarch64", sqlite: "linux-arm64" },
  "linux-x64-musl": { runtime: "linux-x64-musl", sqlite: "linuxmusl-x64" },
  "linux-arm64-musl": { runtime: "linux-aarch64-musl", sqlite: "linuxmusl-arm64" },
  "darwin-x64": { runtime: "darwin-x64", sqlite: "darwin-x64" },
  "darwin-arm64": { runtime: "darwin-aarch64", sqlite: "darwin-arm64" },
  "windows-x64": { runtime: "windows-x64", sqlite: "win32-x64" },
} as const;

type Target = keyof typeof targets;

function isTarget(name: string): name is Target {
  return Object.hasOwn(targets, name);
}

function targetOfThisMachine(): string {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform === "win32" ? "windows" : platform}-${arch}`;
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return `linux-${arch}${report.header.glibcVersionRuntime === undefined ? "-musl" : ""}`;
}

/** The Bun of another platform, from the package registry; kept for the next build. */
async function runtimeFor(target: Target): Promise<string> {
  const name = `@oven/bun-${targets[target].runtime}`;
  const folder = join(root, "node_modules/.cache/bun", `${target}-${dependencies.bun}`);
  const binary = target.startsWith("windows") ? "bun.exe" : "bun";
  const file = join(folder, "node_modules", name, "bin", binary);
  if (await Bun.file(file).exists()) return file;
  await mkdir(folder, { recursive: true });
  const manifest = { private: true, optionalDependencies: { [name]: dependencies.bun } };
  await Bun.write(join(folder, "package.json"), JSON.stringify(manifest));
  const anywhere = ["--os=*", "--cpu=*", "--libc=*"];
  const command = [process.execPath, "install", "--no-save", "--ignore-scripts", ...anywhere];
  const { exitCode } = Bun.spawnSync(command, { cwd: folder, stdout: "ignore", stderr: "inherit" });
  if (exitCode === 0 && (await Bun.file(file).exists())) return file;
  throw new Error(`Cannot get the runtime for ${target}: "${name}" did not install`);
}

/** The plain entry of better-sqlite3 looks for its native half on disk; this one embeds it. */
function embedSqlite(target: Target): Bun.BunPlugin {
  const path = Bun.resolveSync(`better-sqlite3/${targets[target].sqlite}`, root);
  return {
    name: "embed-sqlite",
    setup(build) {
      build.onResolve({ filter: /^better-sqlite3$/ }, () => ({ path }));
    },
  };
}

async function build(target: Target, entry: string, outfile: string): Promise<void> {
  const here = target === targetOfThisMachine();
  const workers = new Bun.Glob("{core,plugins}/**/*_worker.ts").scan({ cwd: root, absolute: true });
  const folder = `${outfile}.parts`;
  const file = join(folder, basename(outfile));
  await Bun.build({
    entrypoints: [entry, ...(await Array.fromAsync(workers)).toSorted()],
    compile: {
      outfile: file,
      target: `bun-${target}`,
      ...(here ? {} : { executablePath: await runtimeFor(target) }),
      // What runs must not depend on files that happen to lie in the current folder.
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
    // Bytecode halves the time to start. Names stay (`keepNames` does not hold them), and the map
    // gives the traces that an operator sends us the lines of this repository: 2 MB of 119.
    bytecode: true,
    format: "esm",
    // A page that the browser loads lazily stays a file of its own.
    splitting: true,
    minify: { syntax: true, whitespace: true, identifiers: false },
    sourcemap: "linked",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [embedSqlite(target)],
  });
  // The maps that Bun leaves beside the binary are inside it too.
  await rename(file, outfile);
  await rm(folder, { recursive: true });
}

const { values } = parseArgs({
  options: {
    target: { type: "string", default: targetOfThisMachine() },
    entry: { type: "string", default: join(root, "server.ts") },
    outfile: { type: "string" },
  },
});
const { target, entry } = values;
if (!isTarget(target)) {
  console.error(`Cannot build for "${target}": it is none of ${Object.keys(targets).join(", ")}`);
  process.exit(2);
}
const name = target === targetOfThisMachine() ? "innkeep" : `innkeep-${target}`;
const suffix = target.startsWith("windows") ? ".exe" : "";
const outfile = values.outfile ?? join(root, "dist", `${name}${suffix}`);
await build(target, entry, outfile);
console.log(`${relative(".", outfile)}: ${(Bun.file(outfile).size / 1e6).toFixed(1)} MB`);
