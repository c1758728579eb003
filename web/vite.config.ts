import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

const POLICY = "FIRSTLIGHT-POLICY";

/**
 * Puts the page's Content-Security-Policy into the finished file: nothing may be fetched, and of scripts and
 * styles only those run whose digest is named. What a boot brings along cannot run, even if it got into the page.
 */
function contentSecurityPolicy(): Plugin {
  let folder = "dist";
  return {
    name: "firstlight-content-security-policy",
    apply: "build",
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    writeBundle() {
      const page = resolve(folder, "index.html");
      const html = readFileSync(page, "utf8");
      const digests = (pattern: RegExp): string =>
        [...html.matchAll(pattern)]
          .map(
            (found) =>
              `'sha256-${createHash("sha256")
                .update(found[1] ?? "")
                .digest("base64")}'`,
          )
          .join(" ");
      const scripts = digests(/<script async type="module"[^>]*>([\s\S]*?)<\/script>/g);
      const styles = digests(/<style[^>]*>([\s\S]*?)<\/style>/g);
      if (!scripts || !styles) throw new Error("the page has no script or no style of its own");
      const rules = [
        "default-src 'none'",
        `script-src ${scripts}`,
        `style-src ${styles}`,
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ].join("; ");
      if (html.split(POLICY).length !== 2) throw new Error(`the page names ${POLICY} not exactly once`);
      writeFileSync(
        page,
        html.replace(POLICY, () => rules),
      );
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), contentSecurityPolicy()],
  build: { target: "es2022", modulePreload: false, reportCompressedSize: false },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
