/** Colours and controls that the dashboard and the control panel share; light and dark follow the system. */
export const BASE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --line: #d9dee6; --text: #1b2430; --soft: #556173;
  --accent: #0b5cad; --on-accent: #ffffff; --focus: #0b5cad;
  --good: #12693c; --good-back: #e3f4ea; --bad: #a3241c; --bad-back: #fdeceb; --note-back: #eaf2fb; --track: #e4e8ee;
  --shadow: 0 1px 2px rgb(20 30 50 / 6%), 0 4px 16px rgb(20 30 50 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11151b; --card: #1a2029; --line: #323b48; --text: #e8ecf2; --soft: #a3afbf;
    --accent: #7ab8f5; --on-accent: #0d1b2a; --focus: #9ccbff;
    --good: #7fd6a4; --good-back: #14301f; --bad: #ff9d94; --bad-back: #3a1816; --note-back: #16283b; --track: #2b3441;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
h1, h2, h3, p { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { font-size: 1.125rem; line-height: 1.3; }
h3 { font-size: 1rem; }
a { color: var(--accent); }
code, .secret, .mono { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; font-size: 0.9375em; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); }
.card { padding: 1.25rem; display: grid; gap: 0.875rem; }
.hint { color: var(--soft); font-size: 0.875rem; }
.break { overflow-wrap: anywhere; }
.row { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.between { justify-content: space-between; }
.badge { border: 1px solid var(--line); border-radius: 99px; padding: 0.0625rem 0.625rem; color: var(--soft); }
.badge { font-size: 0.8125rem; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-back); border-color: transparent; }
.badge.bad { color: var(--bad); background: var(--bad-back); border-color: transparent; }
.note { background: var(--note-back); border-radius: 8px; padding: 0.75rem 1rem; }
.note.good { background: var(--good-back); color: var(--good); }
.note.bad { background: var(--bad-back); color: var(--bad); }
button, .button, input, select, textarea { font: inherit; border-radius: 8px; min-height: 2.5rem; padding: 0.375rem 0.875rem; }
button, .button { border: 1px solid var(--line); background: var(--card); color: var(--text); cursor: pointer; }
button, .button { font-weight: 600; text-decoration: none; display: inline-flex; align-items: center; gap: 0.375rem; }
button:hover, .button:hover { border-color: var(--accent); }
button:disabled { opacity: 0.55; cursor: default; }
.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.danger { color: var(--bad); border-color: var(--bad); }
input, select, textarea { width: 100%; border: 1px solid var(--soft); background: var(--card); color: var(--text); }
.secret { resize: none; overflow-wrap: anywhere; field-sizing: content; }
label { font-weight: 600; font-size: 0.9375rem; }
.field { display: grid; gap: 0.25rem; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; top: 0; background: var(--card); padding: 0.5rem 1rem; z-index: 2; }
.skip:focus { left: 0; }
.bar { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: center; justify-content: space-between; }
.bar { padding: 0.75rem 1.25rem; background: var(--card); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; color: var(--text); text-decoration: none; }
`;
