#!/usr/bin/env bash
# Puts other programs that draw boots into .build/other-tools, for the pictures of docs/guides/timeline.md:
# make/other-tools.sh [MIRRORS]. Sources come from GitHub, or from repositories OWNER+NAME/repo below MIRRORS. Nothing is installed.
set -euo pipefail

mirrors=${1:-}
here=$(cd "$(dirname "$0")/.." && pwd)
target=$here/.build/other-tools
mkdir -p "$target"

# Files of a repository at a commit: take OWNER NAME COMMIT PATH...
take() {
	local owner=$1 name=$2 commit=$3 git
	shift 3
	[ -e "$target/$name/.complete" ] && return
	if [ -n "$mirrors" ]; then
		git=$mirrors/$owner+$name/repo
	else
		git=$target/$name.git
		[ -d "$git" ] || git clone --quiet --bare --filter=blob:none "https://github.com/$owner/$name" "$git"
	fi
	rm -rf "${target:?}/$name"
	mkdir -p "$target/$name"
	git --git-dir="$git" archive "$commit" -- "$@" | tar -x -C "$target/$name"
	touch "$target/$name/.complete"
}

# bootchart2 draws with cairo's binding for Python, of which there is no wheel.
take xrmx bootchart 3d2136d0335718fbe1a8e2370ccbc30123a6e593 pybootchartgui.py pybootchartgui/__init__.py \
	pybootchartgui/batch.py pybootchartgui/draw.py pybootchartgui/gui.py pybootchartgui/main.py.in \
	pybootchartgui/parsing.py pybootchartgui/process_tree.py pybootchartgui/samples.py
sed 's/@VER@/0.14.9/' "$target/bootchart/pybootchartgui/main.py.in" >"$target/bootchart/pybootchartgui/main.py"
if [ ! -d "$target/cairo" ]; then
	mkdir -p "$target/debs"
	(cd "$target/debs" && apt-get -qq download python3-cairo)
	dpkg -x "$target"/debs/python3-cairo_*.deb "$target/cairo"
fi

take intel pm-graph 12b15b9508cf7c93c3eb6567dc09758eda881b12 bootgraph.py sleepgraph.py config

# The Firefox Profiler, without what only its own tests and its site need.
take firefox-devtools profiler 97a5c792cc54e413d7c2e4d165ceb86a3dfcc51e package.json tsconfig.json src ':(exclude)src/test' res locales scripts docs-user patches .browserslistrc
if [ ! -e "$target/profiler/dist/index.html" ]; then
	cd "$target/profiler"
	node - <<'JAVASCRIPT'
const fs = require("node:fs");
const all = JSON.parse(fs.readFileSync("package.json", "utf8"));
const builds = ["esbuild", "esbuild-plugin-copy", "esbuild-plugin-wasm", "browserslist-to-esbuild", "browserslist", "caniuse-lite"];
for (const name of builds) if (all.devDependencies?.[name]) all.dependencies[name] = all.devDependencies[name];
for (const name of ["devDependencies", "scripts", "engines", "devEngines"]) delete all[name];
fs.writeFileSync("package.json", JSON.stringify(all, null, 2));
JAVASCRIPT
	npm install --no-audit --no-fund --ignore-scripts --legacy-peer-deps --loglevel=error
	NODE_ENV=production node scripts/build.mjs
fi
