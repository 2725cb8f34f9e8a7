// What the pages gain by a script: live updates, times in words, filters, the keyboard, the theme.
// Every page shows what it has without it; forms of whoever is signed in need the word that it keeps.
// No markup is ever made of data: nodes are built, and texts are set as texts.
"use strict";

(() => {
  const THEMES = ["system", "light", "dark"];
  const MOST_ROWS = 200;

  const stored = () => {
    try {
      const theme = localStorage.getItem("theme");
      return THEMES.includes(theme) ? theme : "system";
    } catch {
      return "system";
    }
  };

  const show = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) {
      button.textContent = theme === "system" ? "◐ Auto" : theme === "light" ? "☀ Light" : "☾ Dark";
      button.setAttribute("aria-label", `Theme: ${theme}. Change it`);
      button.hidden = false;
    }
  };

  // Before the page is drawn, so that it does not flash.
  show(stored());

  const turnTheme = () => {
    const next = THEMES[(THEMES.indexOf(stored()) + 1) % THEMES.length];
    try {
      localStorage.setItem("theme", next);
    } catch {
      // A browser that keeps nothing shows it for this page alone.
    }
    show(next);
  };

  // The word that shows that a form is sent by a page of ours. It comes behind the address after signing in, where no
  // server is told of it, and is kept by this very origin: servers at other ports of this machine get the cookie too.
  const takeWord = () => {
    const given = /^#csrf=([\w-]{43})$/.exec(location.hash)?.[1];
    if (given) history.replaceState(null, "", location.pathname + location.search);
    try {
      if (given) localStorage.setItem("csrf", given);
      return given ?? localStorage.getItem("csrf") ?? "";
    } catch {
      return given ?? "";
    }
  };

  // What would not be seen as itself is spelled out, as on the pages of the server.
  const visible = (text) =>
    String(text ?? "").replace(/[\p{C}\p{DI}\u2028\u2029]/gu, (character) =>
      character === "\n" || character === "\t" ? character : `\\u{${character.codePointAt(0).toString(16)}}`);

  const element = (name, text, className) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = visible(text);
    if (className) node.className = className;
    return node;
  };

  const ago = (ms) => {
    const distance = ms - Date.now();
    const seconds = Math.round(Math.abs(distance) / 1000);
    const [count, unit] =
      seconds < 60 ? [seconds, "s"]
        : seconds < 3600 ? [Math.round(seconds / 60), "min"]
          : seconds < 86400 ? [Math.round(seconds / 3600), "h"]
            : [Math.round(seconds / 86400), "d"];
    if (seconds < 5) return "now";
    return distance > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
  };

  const tellTimes = (root = document) => {
    for (const time of root.querySelectorAll("time[data-ms]")) {
      const ms = Number(time.dataset.ms);
      if (!time.title) {
        time.dateTime = new Date(ms).toISOString();
        time.title = new Date(ms).toLocaleString();
      }
      time.textContent = ago(ms);
    }
  };

  const tone = (word) =>
    ({ allow: "allow", allowed: "allow", ask: "ask", open: "ask", deny: "deny", denied: "deny" })[word] ?? "plain";
  const sign = { allow: "✓", ask: "?", deny: "✗", plain: "·" };

  const timeNode = (ms) => {
    const node = element("time");
    node.dataset.ms = String(ms);
    return node;
  };

  const sessionLink = (session) => {
    const link = element("a", session.length > 18 ? `${session.slice(0, 18)}…` : session);
    link.href = `/sessions/${encodeURIComponent(session)}`;
    return link;
  };

  const fill = (row, href, word, summary, reason, meta) => {
    const link = row.querySelector(".cover");
    link.href = href;
    const chip = row.querySelector(".chip");
    chip.classList.add(tone(word));
    const mark = element("span", sign[tone(word)]);
    mark.setAttribute("aria-hidden", "true");
    chip.append(mark, ` ${visible(word)}`);
    row.querySelector(".what").textContent = visible(summary);
    row.querySelector(".why").textContent = visible(reason);
    row.querySelector(".meta").append(...meta);
    row.classList.add("is-new");
    tellTimes(row);
  };

  const newRow = (id) => {
    const template = document.getElementById("row");
    const row = template.content.firstElementChild.cloneNode(true);
    row.dataset.id = id;
    return row;
  };

  const decisionRow = (record) => {
    const row = newRow(record.id);
    const step = element("span", record.step);
    step.title = "the step that decided it";
    const meta = [timeNode(record.atMs), element("span", record.host), element("span", record.tool), step];
    const answered = record.said === "silence" ? `left to ${record.host}` : `answered ${record.said}`;
    if (record.said !== record.decision) meta.push(element("span", answered));
    if (record.session) meta.push(sessionLink(record.session));
    fill(row, `/decisions/${encodeURIComponent(record.id)}`, record.decision, record.summary, record.reason, meta);
    return row;
  };

  const approvalRow = (approval) => {
    const row = newRow(approval.id);
    const question = approval.question ?? {};
    const meta = [];
    const level = approval.explanation?.level ?? approval.explanation?.riskLevel;
    if (level) {
      const colour = { LOW: "allow", MEDIUM: "ask", HIGH: "deny" }[level] ?? "plain";
      meta.push(element("span", `${level} risk`, `chip ${colour}`));
    }
    meta.push(timeNode(approval.createdAtMs));
    const until = element("span", "until ");
    until.append(timeNode(approval.expiresAtMs));
    meta.push(until, element("span", question.host), element("span", question.cwd));
    if (question.session) meta.push(sessionLink(question.session));
    fill(row, `/approvals/${encodeURIComponent(approval.id)}`, approval.state, question.summary, question.reason, meta);
    return row;
  };

  const rowOf = (list, id) => [...list.children].find((row) => row.dataset.id === id);

  const setEmpty = (list) => {
    const empty = document.getElementById("empty");
    if (empty) empty.hidden = list.children.length > 0;
  };

  // How many questions wait, everywhere it is written.
  const setOpen = (count) => {
    for (const badge of document.querySelectorAll("[data-open]")) {
      badge.dataset.open = String(count);
      badge.textContent = String(count);
      badge.hidden = count === 0;
    }
    for (const text of document.querySelectorAll("[data-open-text]")) text.textContent = String(count);
    const banner = document.getElementById("banner");
    if (banner) banner.hidden = count === 0;
  };

  const openNow = () => Number(document.querySelector("[data-open]")?.dataset.open ?? 0);

  const watch = () => {
    if (!document.querySelector("[data-open]") || !window.EventSource) return;
    const list = document.querySelector("[data-live]");
    const kind = list?.dataset.live;
    const status = document.getElementById("live-status");
    const pause = document.getElementById("pause");
    const known = new Map();
    let isPaused = false;
    let held = [];
    let changes = 0;

    const say = (text, isOn) => {
      if (!status) return;
      status.textContent = text;
      status.classList.toggle("on", isOn);
    };

    const addDecision = (record) => {
      if (rowOf(list, record.id)) return;
      list.prepend(decisionRow(record));
      while (list.children.length > MOST_ROWS) list.lastElementChild.remove();
      const figure = document.querySelector(`[data-count="${tone(record.decision)}"]`);
      const count = Number(figure?.textContent.replace(/\D/g, ""));
      if (figure && Number.isFinite(count)) figure.textContent = (count + 1).toLocaleString("fr-FR");
      setEmpty(list);
      document.dispatchEvent(new CustomEvent("rows"));
    };

    const onDecision = (record) => {
      if (kind !== "decisions") return;
      if (isPaused) {
        held = [...held, record].slice(-MOST_ROWS);
        say(`Paused, ${held.length} held back`, false);
      } else addDecision(record);
    };

    const onApproval = (approval) => {
      changes += 1;
      const before = known.get(approval.id);
      if (before === approval.state) return;
      known.set(approval.id, approval.state);
      const isListed = kind === "approvals" && rowOf(list, approval.id);
      if (approval.state === "open" && !isListed) {
        setOpen(openNow() + 1);
        if (kind === "approvals") list.append(approvalRow(approval));
      } else if (approval.state !== "open") {
        setOpen(Math.max(0, openNow() - 1));
        if (isListed) isListed.remove();
      }
      if (kind === "approvals") setEmpty(list);
      const page = document.querySelector("[data-approval]");
      if (page?.dataset.approval === approval.id && approval.state !== "open" && page.dataset.state === "open") {
        document.getElementById("changed").hidden = false;
        const form = document.getElementById("answer");
        if (form) form.hidden = true;
      }
    };

    if (pause) {
      pause.hidden = false;
      pause.addEventListener("click", () => {
        isPaused = !isPaused;
        pause.setAttribute("aria-pressed", String(isPaused));
        pause.textContent = isPaused ? "Go on" : "Pause";
        if (!isPaused) {
          held.forEach(addDecision);
          held = [];
        }
        say(isPaused ? "Paused" : "Live", !isPaused);
      });
    }

    const ask = async (path) => {
      const response = await fetch(path, { headers: { accept: "application/json" } });
      if (!response.ok) throw new Error(`status ${response.status}`);
      return response.json();
    };

    // What happened before the connection was there, or while it was lost.
    const catchUp = async () => {
      const before = changes;
      const { approvals } = await ask("/v1/approvals?state=open&limit=1000");
      // Something changed while the list was on its way.
      if (changes !== before) return catchUp();
      const open = new Set(approvals.map((approval) => approval.id));
      for (const row of kind === "approvals" ? [...list.children] : []) {
        if (!open.has(row.dataset.id)) row.remove();
      }
      approvals.forEach(onApproval);
      setOpen(approvals.length);
      if (kind === "decisions") {
        const { records } = await ask("/v1/decisions?limit=50");
        const isNew = (record) => !rowOf(list, record.id);
        records.filter(isNew).reverse().forEach((record) => onDecision(record));
      }
      if (list) setEmpty(list);
      return undefined;
    };

    const source = new EventSource("/v1/events");
    source.addEventListener("open", () => {
      // What cannot be asked now is told by events, or when the connection is back.
      catchUp().then(() => say("Live", true), () => say("Live", true));
    });
    source.addEventListener("decision", (event) => onDecision(JSON.parse(event.data)));
    source.addEventListener("approval", (event) => onApproval(JSON.parse(event.data)));
    source.addEventListener("skipped", (event) => {
      if (kind === "decisions") say(`Live, ${Number(JSON.parse(event.data).count)} not shown: too many at once`, true);
      catchUp().catch(() => {});
    });
    source.addEventListener("error", () => {
      say("The connection is lost; trying again", false);
    });
    addEventListener("pagehide", () => source.close());
  };

  const filters = () => {
    for (const input of document.querySelectorAll("input[data-filter]")) {
      input.closest("label").hidden = false;
      const apply = () => {
        const wanted = input.value.toLowerCase();
        for (const row of document.querySelectorAll(`${input.dataset.filter} > li`)) {
          row.hidden = !row.textContent.toLowerCase().includes(wanted);
        }
      };
      input.addEventListener("input", apply);
      document.addEventListener("rows", apply);
    }
  };

  // A dialog asks before an answer that holds for longer than one call.
  const confirmations = () => {
    const dialog = document.getElementById("confirm");
    if (!dialog?.showModal) return;
    for (const button of document.querySelectorAll("button[data-confirm]")) {
      button.addEventListener("click", (event) => {
        if (button.dataset.isConfirmed) return;
        event.preventDefault();
        const { edited, rule: chosen } = button.form.elements;
        const rule = edited?.value.trim() || chosen?.value || "";
        document.getElementById("confirm-text").textContent = `${button.dataset.confirm} ${visible(rule)}`;
        dialog.returnValue = "no";
        dialog.showModal();
        dialog.addEventListener("close", () => {
          if (dialog.returnValue !== "yes") return;
          button.dataset.isConfirmed = "yes";
          button.form.requestSubmit(button);
        }, { once: true });
      });
    }
  };

  const keyboard = () => {
    const help = document.getElementById("help");
    const openHelp = document.getElementById("keys");
    openHelp.hidden = false;
    openHelp.addEventListener("click", () => help.showModal());
    document.getElementById("theme").addEventListener("click", turnTheme);
    const places = { l: "/", a: "/approvals", d: "/decisions", e: "/sessions", s: "/stats", r: "/rules" };
    let hasG = false;

    const move = (by) => {
      const rows = [...document.querySelectorAll("#rows > .row:not([hidden])")];
      if (rows.length === 0) return;
      const at = rows.findIndex((row) => row.classList.contains("is-current"));
      const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
      rows[at]?.classList.remove("is-current");
      next.classList.add("is-current");
      const link = next.querySelector(".cover");
      link.focus();
      link.scrollIntoView({ block: "nearest" });
    };

    const press = (choice) => {
      const button = document.querySelector(`#answer:not([hidden]) button[name="choice"][value="${choice}"]`);
      if (!button || button.closest("details")?.hidden) return;
      button.closest("details")?.setAttribute("open", "");
      button.click();
    };

    const act = {
      j: () => move(1),
      k: () => move(-1),
      a: () => press("once"),
      s: () => press("session"),
      d: () => press("deny"),
      t: turnTheme,
      "?": () => help.showModal(),
      "/": () => document.querySelector("main input[type=search]:not([hidden])")?.focus(),
    };

    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key === "Escape" && isTyping) event.target.blur();
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (hasG) {
        hasG = false;
        if (places[event.key]) {
          event.preventDefault();
          location.assign(places[event.key]);
        }
        return;
      }
      if (event.key === "g") {
        hasG = true;
        setTimeout(() => { hasG = false; }, 1200);
        return;
      }
      if (Object.hasOwn(act, event.key)) {
        event.preventDefault();
        act[event.key]();
      }
    });
  };

  // Passkeys: what goes there and back is bytes, written as base64url.
  const toText = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const toBytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

  const post = async (path, body, word) => {
    const headers = { "content-type": "application/json", "portcullis-csrf": word };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    const value = await response.json();
    if (!response.ok) throw new Error(value.error?.message ?? "it failed");
    return value;
  };

  const said = (credential) => ({
    id: toText(credential.rawId),
    clientDataJSON: toText(credential.response.clientDataJSON),
    authenticatorData: toText(credential.response.authenticatorData ?? credential.response.getAuthenticatorData()),
  });

  const usePasskey = async (word) => {
    const { challenge, site, ids } = await post("/passkeys/challenge", {}, word);
    const allowCredentials = ids.map((id) => ({ type: "public-key", id: toBytes(id) }));
    const publicKey = { challenge: toBytes(challenge), rpId: site, allowCredentials, userVerification: "preferred" };
    const credential = await navigator.credentials.get({ publicKey });
    const body = { ...said(credential), signature: toText(credential.response.signature) };
    return post("/passkeys/use", body, word);
  };

  const addPasskey = async (word) => {
    const { challenge, site, ids } = await post("/passkeys/challenge", {}, word);
    const publicKey = {
      challenge: toBytes(challenge),
      rp: { id: site, name: "Portcullis" },
      user: { id: new TextEncoder().encode("portcullis"), name: "portcullis", displayName: "Portcullis" },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }, { type: "public-key", alg: -8 }],
      excludeCredentials: ids.map((id) => ({ type: "public-key", id: toBytes(id) })),
      authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    };
    const credential = await navigator.credentials.create({ publicKey });
    return post("/passkeys/register", { ...said(credential), publicKey: toText(credential.response.getPublicKey()) }, word);
  };

  const passkeys = (word) => {
    if (!globalThis.PublicKeyCredential) return;
    const problem = document.getElementById("passkey-problem");
    for (const button of document.querySelectorAll("button[data-passkey]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        try {
          const made = await (button.dataset.passkey === "add" ? addPasskey : usePasskey)(word);
          if (made.csrf) localStorage.setItem("csrf", made.csrf);
          if (button.dataset.passkey === "add") problem.textContent = "The passkey is added.";
          else location.assign(/^\/[\w/?=.-]*$/.test(button.dataset.next) ? button.dataset.next : "/approvals");
        } catch (failure) {
          problem.textContent = visible(failure.message);
        }
      });
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    show(stored());
    const word = takeWord();
    for (const input of document.querySelectorAll("input[name=csrf]")) input.value = word;
    tellTimes();
    setInterval(tellTimes, 15000);
    // The newest stands on the right.
    for (const room of document.querySelectorAll(".chart .scroll")) room.scrollLeft = room.scrollWidth;
    filters();
    confirmations();
    keyboard();
    passkeys(word);
    watch();
  });
})();
