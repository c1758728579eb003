import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

type Graph = Map<string, string[]>;

function modules(root: string): Graph {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const imports = (file: string): string[] =>
    [...readFileSync(join(root, file), "utf8").matchAll(/from "(\.[^"]+)"/g)].map((found) =>
      join(dirname(file), `${found[1]}.ts`),
    );
  return new Map(files.map((file) => [file, imports(file)]));
}

/** The modules that can be reached from themselves. */
function inCycles(graph: Graph): string[] {
  const reaches = (from: string): Set<string> => {
    const seen = new Set<string>();
    const waiting = [...(graph.get(from) ?? [])];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(...(graph.get(next) ?? []));
    }
    return seen;
  };
  return [...graph.keys()].filter((file) => reaches(file).has(file)).sort();
}

describe("the modules of the page", () => {
  it("import each other in no cycle, types included", () => {
    const graph = modules(join(import.meta.dirname, "../src"));
    expect(graph.get("records.ts")).toContain("types.ts");
    expect(inCycles(graph)).toEqual([]);
  });

  it("are found in a cycle where there is one", () => {
    const cycle: Graph = new Map([
      ["a.ts", ["b.ts"]],
      ["b.ts", ["c.ts"]],
      ["c.ts", ["b.ts"]],
    ]);
    expect(inCycles(cycle)).toEqual(["b.ts", "c.ts"]);
  });
});
