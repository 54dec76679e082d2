// Entry point of the page.

import { effect } from "@preact/signals";
import { render } from "preact";
import { signIn, traffic } from "./api";
import { themeChanges } from "./draw/colours";
import { waiting } from "./lib/later";
import { App } from "./shell/app";
import { listenToKeys } from "./shell/keyboard";
import { keepBookmarks } from "./state/bookmarks";
import { dropped } from "./state/page";
import { theme } from "./state/prefs";
import { refreshRecorder } from "./state/recording";
import { showStart, start } from "./state/store";
import { findingOf, goToFinding } from "./state/wanted-finding";
import { VIEWS } from "./views";
import { firstGraphs } from "./views/graphs";

const isDark = matchMedia("(prefers-color-scheme: dark)");

/** The theme of the page: what the reader chose, else what the system says. */
function followTheme(): void {
  const apply = () => {
    const system = isDark.matches ? "dark" : "light";
    document.documentElement.dataset["theme"] = theme.value === "system" ? system : theme.value;
    themeChanges.value = themeChanges.peek() + 1;
  };
  effect(apply);
  for (const query of [
    isDark,
    matchMedia("(forced-colors: active)"),
    matchMedia("(prefers-contrast: more)"),
  ]) {
    query.addEventListener("change", apply);
  }
}

/** Opens a file that is dropped anywhere on the page; by itself the browser would show it in place of the page. */
function takeDrops(): void {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (event.defaultPrevented || file === undefined) return;
    event.preventDefault();
    showStart();
    dropped.value = file;
  });
}

// A link of another start of the server, pasted into this tab, brings its own token.
addEventListener("hashchange", () => {
  if (/[#;]k=/.test(location.hash)) {
    signIn();
    location.reload();
  }
});
signIn();
followTheme();
takeDrops();
listenToKeys();
keepBookmarks();
// Tests and screen readers wait for this.
effect(() => {
  document.documentElement.dataset["busy"] = String(traffic.running.value + waiting.value);
});
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
const wanted = findingOf(location.hash);
if (wanted !== null) goToFinding(wanted);
void start((opening) => ({
  view: VIEWS.find((view) => view.lacks(opening) === null)?.id ?? "",
  graphs: firstGraphs(opening),
}));
void refreshRecorder();
