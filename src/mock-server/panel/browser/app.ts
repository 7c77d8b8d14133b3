import { render } from 'preact';
import { useState } from 'preact/hooks';
import { AccountSection } from './account-section.ts';
import { html, Select, withValue } from './html.ts';
import { JournalSection } from './journal-section.ts';
import { ChartSection, ClockSection, SwitchSection } from './mock-sections.ts';
import { type ChangeQuery, type NewKey, type PanelQuery, readQuery, writeQuery } from './mock-view.ts';
import { RuleSection } from './rule-section.ts';
import { hasToken, keepToken, useMock } from './use-mock.ts';

function App() {
  const [query, setQuery] = usePanelQuery();
  const { problem, needsToken, load, ...mock } = useMock(query.space);
  const [newKeys, setNewKeys] = useState<readonly NewKey[]>([]); // a section ends with the choice of another space
  const props = { ...mock, query, setQuery, newKeys, setNewKeys };
  return html`<a class="skip" href="#main">Skip to the content</a>
    <header class="bar">
      <a class="brand" href="/__fxrates/">fxrates mock server</a>
      ${!needsToken && html`<${SpaceChoice} spaces=${mock.spaces} chosen=${query.space} choose=${(space: string) => setQuery({ space, key: '' })} />`}
    </header>
    <main id="main">
      <h1 class="hidden">Control panel${query.space !== '' && ` of space ${query.space}`}</h1>
      ${problem !== '' && !(needsToken && !hasToken()) && html`<p class="note bad" role="alert">${problem}</p>`}
      ${needsToken && html`<${TokenForm} connect=${load} />`}
      <div class="sections" hidden=${needsToken}>${mock.view !== undefined && SECTIONS.map((Section) => html`<${Section} ...${props} />`)}</div>
    </main>`;
}

function usePanelQuery(): readonly [PanelQuery, ChangeQuery] {
  const [query, setQuery] = useState(() => readQuery(location.search));
  const change: ChangeQuery = (changes) => {
    const next = { ...query, ...changes };
    setQuery(next);
    history.replaceState(null, '', location.pathname + writeQuery(next));
  };
  return [query, change];
}

interface SpaceChoiceProps {
  readonly spaces: readonly string[];
  readonly chosen: string;
  readonly choose: (space: string) => void;
}

/** Shown if there is more than one choice. */
function SpaceChoice({ spaces, chosen, choose }: SpaceChoiceProps) {
  if (spaces.length === 0 && chosen === '') return null;
  return html`<label class="check">Space
    <${Select} options=${[['', 'the mock itself'], ...spaces.map((name) => [name, name])]} chosen=${chosen} choose=${choose} /></label>`;
}

/** For a tab that was opened without the printed address. */
function TokenForm({ connect }: { readonly connect: () => void }) {
  const [token, setToken] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    keepToken(token);
    connect();
  };
  return html`<form class="card" onSubmit=${submit}>
    <div class="field"><label for="token">Admin token</label>
      <input id="token" type="password" autocomplete="off" value=${token}
        onInput=${withValue(setToken)} /></div>
    <p class="hint">The token follows <code>#token=</code> in the address of the control panel that <code>fxrates mock</code> prints.</p>
    <div><button class="main">Open the panel</button></div>
  </form>`;
}

/** The sections of the panel, in their order. */
const SECTIONS = [...[ClockSection, ChartSection, JournalSection], ...[AccountSection, RuleSection, SwitchSection]];

/** The second click of a double click would undo the first, or hit what has moved there. */
function ignoreSecondClick(event: MouseEvent): void {
  if (event.detail < 2 || !(event.target as Element).closest('button:not([data-repeats=true])')) return;
  event.preventDefault();
  event.stopPropagation();
}

/** If the focused control goes or is disabled, such as that of a removed row, the next one gets the focus. */
function keepFocus(page: HTMLElement): void {
  let focused = page;
  let others: readonly HTMLElement[] = [];
  page.addEventListener('focusin', ({ target }) => {
    focused = target as HTMLElement;
    const frames = [focused.closest<HTMLElement>('li'), focused.closest<HTMLElement>('section')];
    others = frames.flatMap((frame) => (frame === null ? [] : controlsBeside(focused, frame)));
  });
  const move = () => {
    const { activeElement, body } = document;
    // The browser takes the focus of a disabled control later.
    const isLost =
      activeElement === focused ? focused.matches(':disabled') : activeElement === body && !focused.isConnected;
    if (!isLost) return;
    for (const other of others) {
      other.focus(); // one that is gone, disabled or hidden does not accept it
      if (document.activeElement === other) return;
    }
  };
  new MutationObserver(move).observe(page, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** The controls of a row or a section: those after one, then those before it. Those beside a title can empty its list. */
function controlsBeside(one: HTMLElement, frame: HTMLElement): readonly HTMLElement[] {
  const controls = frame.querySelectorAll<HTMLElement>('button, input, select, textarea, summary');
  const all = Array.from(controls).filter((other) => other.closest('.actions') === null);
  const isAfter = (other: HTMLElement) => one.compareDocumentPosition(other) === Node.DOCUMENT_POSITION_FOLLOWING;
  const title = frame.querySelector<HTMLElement>('h2');
  return [
    ...all.filter(isAfter),
    ...all.filter((other) => !isAfter(other)).reverse(),
    ...(title === null ? [] : [title]),
  ];
}

const place = document.getElementById('app');
if (place !== null) {
  keepFocus(place);
  place.addEventListener('click', ignoreSecondClick, true);
  render(html`<${App} />`, place);
}
