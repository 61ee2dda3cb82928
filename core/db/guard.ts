/**
 * The guard of the tests: a Kysely plugin that refuses any statement on an account's table that does not name its
 * account. Statements that mean to span accounts say so by `acrossAccounts(db)`.
 *
 * @module
 */

import type { KyselyPlugin, RootOperationNode } from "kysely";

/** Refuses statements without `account_id` on the tables named. */
export function accountGuard(accountTables: ReadonlySet<string>): KyselyPlugin {
  return {
    transformQuery({ node }) {
      const table = firstTable(node, accountTables);
      if (table !== undefined && !namesAccount(node)) {
        throw new Error(`A ${node.kind} on "${table}" does not name its account_id`);
      }
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Walks all nodes below `value` until `found` answers something. */
function search<T>(value: unknown, found: (node: Node) => T | undefined): T | undefined {
  if (!isNode(value)) return undefined;
  const here = found(value);
  if (here !== undefined) return here;
  for (const child of Object.values(value)) {
    const below = search(child, found);
    if (below !== undefined) return below;
  }
  return undefined;
}

function firstTable(node: RootOperationNode, tables: ReadonlySet<string>): string | undefined {
  return search(node, (each) => {
    if (each.kind !== "SchemableIdentifierNode") return undefined;
    const { name } = each.identifier as { name: string };
    return tables.has(name) ? name : undefined;
  });
}

const clauses = ["where", "joins", "columns"] as const;

function namesAccount(node: RootOperationNode): boolean {
  const parts = node as unknown as Node;
  return clauses.some((clause) =>
    search(parts[clause], (each) => {
      if (each.kind === "ColumnNode")
        return (each.column as { name: string }).name === "account_id" || undefined;
      if (each.kind === "RawNode")
        return String(each.sqlFragments).includes("account_id") || undefined;
      return undefined;
    }),
  );
}
