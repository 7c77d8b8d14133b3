import { useState } from 'preact/hooks';
import { keyText, queryPairs } from '../../journal/entry-text.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { html } from './html.ts';
import { curlCommand } from './journal-entries.ts';
import { durationText, type MockView } from './mock-view.ts';

interface EntryDetailsProps {
  readonly entry: JournalEntry;
  /** The request of the same key before it. */
  readonly before: JournalEntry | undefined;
  readonly switches: MockView['switches'];
}

/** What was sent, what was decided, and on what grounds. */
export function EntryDetails({ entry, before, switches }: EntryDetailsProps) {
  const { query, headers, body } = entry;
  return html`<div class="details">
    <${Pairs} title="Decision" pairs=${decision(entry)} />
    <${Pairs} title="Timing" pairs=${timing(entry, before)} />
    <${Pairs} title="Query" pairs=${queryPairs(query)} none="No parameters." isMono />
    <${Pairs} title="Headers" pairs=${Object.entries(headers)} none="No headers." isMono />
    ${body !== undefined && html`<div class="whole"><h3>Body</h3><pre class="block" tabindex="0" aria-label="Body">${body}</pre></div>`}
    <${Assumptions} names=${entry.switches} switches=${switches} />
    <${Curl} entry=${entry} />
  </div>`;
}

type Pair = readonly [string, string];

interface PairsProps {
  readonly title: string;
  readonly pairs: readonly Pair[];
  readonly none?: string;
  readonly isMono?: boolean;
}

function Pairs({ title, pairs, none, isMono = false }: PairsProps) {
  return html`<div><h3>${title}</h3>
    ${pairs.length === 0 && html`<p class="hint">${none}</p>`}
    ${
      pairs.length > 0 &&
      html`<dl class=${isMono ? 'pairs mono' : 'pairs'}>${pairs.map(
        ([name, value]) => html`<div><dt>${name}</dt><dd class="break">${value}</dd></div>`,
      )}</dl>`
    }
  </div>`;
}

function decision(entry: JournalEntry): readonly Pair[] {
  const { why, code, rate, quota, keyTransport, faults, stub } = entry;
  const carried =
    keyTransport === undefined
      ? ''
      : `, ${{ bearer: 'as Bearer', header: 'bare', query: 'in the query' }[keyTransport]}`;
  const rows: readonly (Pair | undefined)[] = [
    ['Why', why],
    code === undefined ? undefined : ['Code', code],
    ['Key', keyText(entry) + carried],
    rate && ['This minute', `${rate.used} of ${rate.limit} used`],
    quota && [
      'This month',
      quota.limit === null ? `${quota.used} used, no limit` : `${quota.used} of ${quota.limit} used`,
    ],
    faults.length === 0 ? undefined : ['Faults', faults.join(', ')],
    stub === undefined ? undefined : ['Stub', stub],
  ];
  return rows.filter((row) => row !== undefined);
}

function timing({ number, at, rate, earlyByMs }: JournalEntry, before: JournalEntry | undefined): readonly Pair[] {
  const rows: readonly (Pair | undefined)[] = [
    ['Request', `number ${number}`],
    ['Received', new Date(at).toISOString().replace('T', ' ')],
    before && ['Since previous', `${durationText(at - before.at)} after request ${before.number} of the key`],
    earlyByMs === undefined ? undefined : ['Too early', `${durationText(earlyByMs)} before Retry-After had passed`],
    rate && ['Full limit', `available ${durationText(Math.max(0, rate.fullAt - at))} later`],
  ];
  return rows.filter((row) => row !== undefined);
}

function Assumptions({ names, switches }: { readonly names: readonly string[] } & Pick<EntryDetailsProps, 'switches'>) {
  if (names.length === 0)
    return html`<div class="whole"><h3>Assumptions</h3><p class="hint">None: the answer depends on documented behaviour only.</p></div>`;
  const known = names.flatMap((name) => switches.filter((one) => one.name === name));
  return html`<div class="whole"><h3>Assumptions</h3>
    <p class="hint">Undocumented behaviour that the answer depends on.</p>
    <ul class="chips">${known.map(
      ({ name, value, provenance, why }) =>
        html`<li class="chip" title=${why}><span class="mono">${name}: ${String(value)}</span> <span class="soft">${provenance}</span></li>`,
    )}</ul></div>`;
}

function Curl({ entry }: { readonly entry: JournalEntry }) {
  const [copied, setCopied] = useState('');
  const command = curlCommand(entry, location.origin);
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => setCopied('Copied.'),
      () => setCopied('The browser did not allow copying; select the text instead.'),
    );
  return html`<div class="whole">
    <div class="row between"><h3>As a command</h3>
      <div class="row"><span class="hint" role="status">${copied}</span>
        <button type="button" onClick=${copy}>Copy as curl</button></div></div>
    <pre class="block" tabindex="0" aria-label="Command">${command}</pre>
  </div>`;
}
