/**
 * The rules of this house that no general linter knows: who may import what, who may read the
 * clock, who may reach the network, and that an exception gives its reason. oxlint loads them as
 * a plugin; the interface is ESLint's.
 *
 * @module
 */

import { relative, sep } from "node:path";

/** Packages that one place wraps, so that they can be replaced there. */
const doors = [
  { name: /^(elysia|@elysiajs\/[^/]+)(\/|$)/, at: ["core/http/"] },
  { name: /^@modelcontextprotocol\//, at: ["core/mcp/"] },
  { name: /^(@sinclair\/)?typebox(\/|$)/, at: ["core/plugin/schema.ts"] },
  { name: /^(better-sqlite3|pg)(\/|$)|^bun:sqlite$/, at: ["core/db/"] },
  // The types and `sql` are for plugins too: #core hands them on.
  { name: /^kysely(\/|$)/, at: ["core/db/", "core/mod.ts"] },
];

/** What a file of a plugin may name besides npm packages. */
const forPlugins = /^(\.\/|#core$|#web$|#plugins\/[a-z0-9_]+$)/;

/** Why a file may not import something; undefined where it may. */
function refusal(file, name) {
  if (file.startsWith("test/") || file.startsWith(".tools/")) return undefined;
  const at = doors.find((door) => door.name.test(name))?.at;
  if (at && !at.some((path) => file.startsWith(path)))
    return `Only ${at.join(" and ")} may import "${name}"`;
  if (file.startsWith("core/") && /^#plugins\b|^(\.\.\/)+plugins\b/.test(name))
    return `Core knows no plugin: let the plugin declare what core needs of "${name}"`;
  const [, own] = file.match(/^plugins\/([^/]+)\//) ?? [];
  if (own === undefined) return undefined;
  if (name === `#plugins/${own}`) return `Import "./…" inside a plugin, not "${name}"`;
  const outside = /^[.#/]|^(node|bun|file):|^bun$/.test(name);
  if (outside && !forPlugins.test(name))
    return `A plugin imports "./…", "#core", "#web", "#plugins/<name>" and packages, not "${name}"`;
  return undefined;
}

/** A rule that is told the path of the file, from the root of the project and with "/". */
function rule(visitors) {
  const create = (context) => {
    const file = relative(context.cwd, context.filename).split(sep).join("/");
    return visitors(file, (node, message) => context.report({ node, message }), context);
  };
  return { meta: { type: "problem", schema: [] }, create };
}

const boundaries = rule((file, report) => {
  const check = (node) => {
    // An import() of what is only known when it runs cannot be judged, nor put into the binary.
    const name = node.source?.value ?? node.argument?.literal?.value ?? node.argument?.value;
    const message = typeof name === "string" ? refusal(file, name) : undefined;
    if (message) report(node, message);
  };
  return {
    ImportDeclaration: check,
    ImportExpression: check,
    ExportAllDeclaration: check,
    ExportNamedDeclaration: check,
    TSImportType: check,
  };
});

const clock = rule((file, report) => {
  if (/^(core\/db\/clock\.ts$|test\/(e2e|bench)\/|\.tools\/)/.test(file)) return {};
  const message =
    "Time comes from the clock that was handed in; core/db/clock.ts reads the real one";
  const reads = new Set(["Date.now", "Temporal.Now"]);
  return {
    MemberExpression(node) {
      if (reads.has(`${node.object.name}.${node.property.name}`)) report(node, message);
    },
    NewExpression(node) {
      if (node.callee.name === "Date" && node.arguments.length === 0) report(node, message);
    },
    CallExpression(node) {
      if (node.callee.name === "Date") report(node, message);
    },
  };
});

const egress = rule((file, report, context) => {
  if (/^(core\/(egress|web)\/|test\/|\.tools\/)/.test(file)) return {};
  const message = "Only core/egress reaches the network: it resolves, checks and pins the address";
  return {
    MemberExpression(node) {
      const global = ["Bun", "globalThis", "window", "self"].includes(node.object.name);
      if (global && node.property.name === "fetch") report(node, message);
    },
    "Program:exit"(node) {
      const { through } = context.sourceCode.getScope(node);
      for (const { identifier } of through)
        if (identifier.name === "fetch") report(identifier, message);
    },
  };
});

const reasons = rule((_file, report, context) => ({
  Program() {
    for (const comment of context.sourceCode.getAllComments())
      if (/^\s*(oxlint|eslint)-disable(?!.* -- \S)/s.test(comment.value))
        report(comment, "Say why: // oxlint-disable-next-line <rule> -- <reason>");
  },
}));

export default { meta: { name: "innkeep" }, rules: { boundaries, clock, egress, reasons } };
