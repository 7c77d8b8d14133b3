import { useEffect, useRef, useState } from 'preact/hooks';
import { targetOf } from '../../../text.ts';
import { MOST_BODY_CHARACTERS, valuePairs } from '../../input/masked-keys.ts';
import { keyText, statusText } from '../../journal/entry-text.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { html, Rows, Section, Select, withValue } from './html.ts';
import { curlCommand, isServed, keyFilterOf, matchingEntries, operationFilterOf } from './journal-entries.ts';
import { durationText, type MockView, type PanelQuery, type SectionProps, timeOfDay } from './mock-view.ts';

/** All requests with the reason for the response. A row expands to all details. */
export function JournalSection({ view, spaces, query, setQuery, act }: SectionProps) {
  const { entries } = view;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string>();
  const matching = matchingEntries(entries, query);
  const mayBeInSpaces = query.space === '' && spaces.length > 0;
  const noneText = `No requests yet.${mayBeInSpaces ? ' Those with the key of a space are in the list of that space.' : ''}`;
  const isFiltered = FILTERS.some((name) => query[name] !== '');
  const toggle = (key: string) =>
    setOpen(new Set(open.has(key) ? [...open].filter((one) => one !== key) : [...open, key]));
  // Numbers begin at 1 again in an emptied journal.
  const keyOf = ({ number }: JournalEntry) => `${view.journal} ${number}`;
  const rows = (shown: readonly JournalEntry[]) => {
    // One row is a tab stop: the one that had the focus last, or else the newest.
    const stop = shown.find((entry) => keyOf(entry) === focused) ?? shown[0];
    return shown.map(
      (entry) => html`<${EntryRow} key=${keyOf(entry)} entry=${entry} view=${view}
        isOpen=${open.has(keyOf(entry))} toggle=${() => toggle(keyOf(entry))} isStop=${entry === stop} focus=${() => setFocused(keyOf(entry))} />`,
    );
  };
  const actions = html`<p class="hint" role="status">${countText(view, isFiltered ? matching.length : undefined)}</p>
    ${isFiltered && html`<button type="button" onClick=${() => setQuery(NO_FILTERS)}>Clear filters</button>`}
    <button type="button" disabled=${entries.length === 0} onClick=${() => act('DELETE', '/requests')}>Empty</button>`;
  return html`<${Section} title="Requests" actions=${actions}>
    <${Filters} view=${view} query=${query} setQuery=${setQuery} />
    <${Rows} items=${matching} rows=${rows} empty=${isFiltered ? 'No requests match the filters.' : noneText} atOnce=${100}
      attributes=${{ class: 'plain journal', 'aria-label': 'Requests, newest first', onKeyDown: moveFocus }} />
  <//>`;
}

const FILTERS = ['status', 'operation', 'key', 'text'] as const;
const NO_FILTERS = { status: '', operation: '', key: '', text: '' };

function countText({ entries, total }: MockView, matching: number | undefined): string {
  const newest = entries.length < total ? `newest ${entries.length} of ` : '';
  const found = matching === undefined ? '' : `${matching} of ${newest && 'the '}`;
  return `${found}${newest}${total} ${total === 1 ? 'request' : 'requests'}`;
}

type FiltersProps = Pick<SectionProps, 'view' | 'query' | 'setQuery'>;

function Filters({ view, query, setQuery }: FiltersProps) {
  const { entries } = view;
  const statuses = distinct(entries.map(({ status }) => String(status))).sort();
  const operations = distinct(entries.map(operationFilterOf)).sort();
  const keys = distinct([...view.keys.map(({ id }) => id), ...entries.map(keyFilterOf)]);
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => focusOnSlash(search), []);
  return html`<form class="filters" role="search" aria-label="Requests" onSubmit=${(event: Event) => event.preventDefault()}>
    <input ref=${search} type="search" aria-label="Search requests" placeholder="Search path, reason, header …  ( / )" value=${query.text}
      onInput=${withValue((text) => setQuery({ text }))} />
    <${Choice} name="status" label="Status" all="Any status" query=${query} setQuery=${setQuery}
      options=${[['served', 'Served'], ['refused', 'Not served'], ...statuses.map((status) => [status, statusText(Number(status))])]} />
    <${Choice} name="operation" label="Operation" all="Any operation" query=${query} setQuery=${setQuery}
      options=${operations.map((name) => [name, { unknown: 'unknown path', other: 'other path' }[name] ?? name])} />
    <${Choice} name="key" label="Key" all="Any key" query=${query} setQuery=${setQuery}
      options=${keys.map((key) => [key, { none: 'no key', unknown: 'unknown key' }[key] ?? key])} />
  </form>`;
}

interface ChoiceProps extends Pick<SectionProps, 'query' | 'setQuery'> {
  readonly name: Exclude<keyof PanelQuery, 'space' | 'text'>;
  readonly label: string;
  readonly all: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ name, label, all, options, query, setQuery }: ChoiceProps) {
  return html`<${Select} aria-label=${label} options=${[['', all], ...options]} chosen=${query[name]}
    choose=${(value: string) => setQuery({ [name]: value })} />`;
}

function distinct(values: readonly string[]): string[] {
  return Array.from(new Set(values));
}

interface RequestRowProps extends Pick<SectionProps, 'view'> {
  readonly entry: JournalEntry;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly isStop: boolean;
  readonly focus: () => void;
}

function EntryRow({ entry, view, isOpen, toggle, isStop, focus }: RequestRowProps) {
  const { number, at, method, status, why, earlyByMs, switches } = entry;
  const id = `request-${number}`;
  return html`<li class=${isOpen ? 'entry open' : 'entry'}>
    <button type="button" class="entry-head" tabindex=${isStop ? 0 : -1} onFocus=${focus} aria-expanded=${isOpen} aria-controls=${isOpen ? id : undefined} onClick=${toggle}>
      <span class="mono soft">${timeOfDay(at)}</span>
      <span class="badge ${isServed(entry) ? 'good' : 'bad'}">${statusText(status)}</span>
      <span class="mono target"><b>${method}</b> ${targetOf(entry)}</span>
      <span class="soft who">${keyText(entry)}</span>
      ${switches.includes('unknownParameters') && html`<span class="badge bad">unknown parameter</span>`}
      <span class="why soft">${why}${earlyByMs !== undefined && html`<strong>; ${earlyByMs} ms before Retry-After had passed</strong>`}</span>
    </button>
    ${isOpen && html`<div id=${id}><${EntryDetails} entry=${entry} switches=${view.switches} /></div>`}
  </li>`;
}

/** Arrows go from row to row, Home and End to the first and last. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const rows = Array.from(event.currentTarget.querySelectorAll<HTMLElement>('.entry-head'));
  const place = rows.findIndex((row) => row.contains(document.activeElement));
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (place === -1 || next === undefined || rows[next] === undefined) return;
  event.preventDefault();
  rows[next].focus();
}

function focusOnSlash(search: { readonly current: HTMLInputElement | null }): () => void {
  const listener = (event: KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.current?.focus();
  };
  addEventListener('keydown', listener);
  return () => removeEventListener('keydown', listener);
}

interface EntryDetailsProps {
  readonly entry: JournalEntry;
  readonly switches: MockView['switches'];
}

/** The request, the response and the reason for it. */
function EntryDetails({ entry, switches }: EntryDetailsProps) {
  const { query, headers, body, responseHeaders = {}, responseBody } = entry;
  return html`<div class="details">
    <${Pairs} title="Decision" pairs=${decision(entry)} />
    <${Pairs} title="Query" pairs=${valuePairs(query)} none="No parameters." isMono />
    <${Pairs} title="Request headers" pairs=${Object.entries(headers)} none="No headers." isMono />
    <${Pairs} title="Response headers" pairs=${valuePairs(responseHeaders)} none="No headers." isMono />
    <${Body} title="Request body" text=${body} />
    <${Body} title="Response body" text=${responseBody} />
    <${Assumptions} names=${entry.switches} switches=${switches} />
    <${Curl} entry=${entry} />
  </div>`;
}

function Body({ title, text }: { readonly title: string; readonly text: string | undefined }) {
  if (text === undefined) return null;
  return html`<div class="whole"><h3>${title}</h3><${CutHint} text=${text} /><pre class="block" tabindex="0" aria-label=${title}>${text}</pre></div>`;
}

function CutHint({ text }: { readonly text: string | undefined }) {
  return (
    text?.length === MOST_BODY_CHARACTERS &&
    html`<p class="hint">Only the first ${MOST_BODY_CHARACTERS} characters of the body are in the journal.</p>`
  );
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
  const { at, why, code, rate, quota, earlyByMs, keyTransport, rules } = entry;
  const carried =
    keyTransport === undefined
      ? ''
      : `, ${{ bearer: 'as Bearer', header: 'bare', query: 'in the query' }[keyTransport]}`;
  const rows: readonly (Pair | undefined)[] = [
    ['Received', new Date(at).toISOString().replace('T', ' ')],
    earlyByMs === undefined ? undefined : ['Too early', `${durationText(earlyByMs)} before Retry-After had passed`],
    ['Why', why],
    code === undefined ? undefined : ['Code', code],
    ['Key', keyText(entry) + carried],
    rate && ['This minute', `${rate.used} of ${rate.limit} used`],
    quota && [
      'This month',
      quota.limit === null ? `${quota.used} used, no limit` : `${quota.used} of ${quota.limit} used`,
    ],
    rules.length === 0 ? undefined : ['Rules', rules.join(', ')],
  ];
  return rows.filter((row) => row !== undefined);
}

function Assumptions({ names, switches }: { readonly names: readonly string[] } & Pick<EntryDetailsProps, 'switches'>) {
  const known = names.flatMap((name) => switches.filter((one) => one.name === name));
  const pairs = known.map(({ name, value, provenance, why }) => [`${name}: ${value}`, `${provenance}: ${why}`]);
  return html`<div class="whole"><${Pairs} title="Assumptions about undocumented behaviour" pairs=${pairs}
    none="None: the response depends on documented behaviour only." /></div>`;
}

function Curl({ entry }: { readonly entry: JournalEntry }) {
  const [copied, setCopied] = useState('');
  const command = curlCommand(entry, location.origin);
  if (command === undefined)
    return html`<p class="hint">A terminal or curl would change the request, so there is no command for it.</p>`;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command); // there is no clipboard without https, except on this machine
      setCopied('Copied.');
    } catch {
      setCopied('The browser did not allow copying; select the text instead.');
    }
  };
  const needsKey = command.includes('$FXRATES_API_KEY');
  return html`<div class="whole">
    <div class="row between"><h3>As a command</h3>
      <div class="row"><span class="hint" role="status">${copied}</span>
        <button type="button" onClick=${copy}>Copy as curl</button></div></div>
    <${CutHint} text=${entry.body} />
    ${needsKey && html`<p class="hint">FXRATES_API_KEY must be the key that was sent: ${keyText(entry)}.</p>`}
    <pre class="block" tabindex="0" aria-label="Command">${command}</pre>
  </div>`;
}
