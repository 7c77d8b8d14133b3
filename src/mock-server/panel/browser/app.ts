import { render } from 'preact';
import { useState } from 'preact/hooks';
import { keepToken, takeToken } from './admin-api.ts';
import { ChartSection } from './chart-section.ts';
import { FaultSection, isOfFaults } from './fault-section.ts';
import { html } from './html.ts';
import { KeySection } from './key-section.ts';
import { ClockSection, JournalSection, OutboxSection } from './mock-sections.ts';
import { SwitchSection } from './switch-section.ts';
import { useMock } from './use-mock.ts';

function App() {
  const sections = location.pathname.endsWith('/outbox') ? [OutboxSection] : SECTIONS;
  const { view, entries, problem, refusal, needsToken, act, connect } = useMock();
  const note = problem === '' && !isOfFaults(refusal) ? refusal?.message : problem;
  return html`<a class="skip" href="#main">Skip to the content</a>
    <header class="bar">
      <a class="brand" href="/__fxrates/">fxrates mock server</a>
      <nav class="row"><a href="/dashboard">Dashboard</a><a href="/__fxrates/outbox">Outbox</a></nav>
    </header>
    <main id="main">
      <h1 class="hidden">Control panel</h1>
      ${note && !(needsToken && takeToken() === '') && html`<p class="note bad wide" role="alert">${note}</p>`}
      ${needsToken && html`<${TokenForm} connect=${connect} />`}
      ${!needsToken && view !== undefined && sections.map((Section) => html`<${Section} view=${view} entries=${entries} refusal=${refusal} act=${act} />`)}
    </main>`;
}

/** For a tab that was opened without the printed address. */
function TokenForm({ connect }: { readonly connect: () => void }) {
  const [token, setToken] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    keepToken(token.trim());
    connect();
  };
  return html`<form class="card" onSubmit=${submit}>
    <div class="field"><label for="token">Admin token</label>
      <input id="token" type="password" autocomplete="off" value=${token}
        onInput=${(event: { currentTarget: HTMLInputElement }) => setToken(event.currentTarget.value)} /></div>
    <p class="hint">It stands after <code>#token=</code> in the line “Clock, switches, journal” that <code>fxrates mock</code> prints.</p>
    <div><button class="main">Open the panel</button></div>
  </form>`;
}

/** The sections of the panel, in their order. */
const SECTIONS = [ClockSection, ChartSection, JournalSection, KeySection, FaultSection, OutboxSection, SwitchSection];

const place = document.getElementById('app');
if (place !== null) render(html`<${App} />`, place);
