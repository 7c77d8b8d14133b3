import type { PresetName } from '../../behaviour/switch.ts';
import { html, Refusal, Section, Select } from './html.ts';
import { minuteChart } from './journal-entries.ts';
import { type ClockState, type MockView, type SectionProps, timeOfDay } from './mock-view.ts';

const STEPS = [
  ['+ 1 second', { advanceMs: 1000 }],
  ['+ 1 minute', { advanceMs: 60_000 }],
  ['+ 1 hour', { advanceMs: 3_600_000 }],
  ['+ 1 day', { advanceMs: 86_400_000 }],
  ['To the next window', { advanceTo: 'next-window' }],
  ['To the quota reset', { advanceTo: 'quota-reset' }],
] as const;

export function ClockSection({ view: { clock }, refusal, act }: SectionProps) {
  return html`<${Section} title="Clock" actions=${html`<span class="badge">${paceOf(clock)}</span>`}>
    <p class="now mono"><time datetime=${clock.iso}>${clock.iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time></p>
    <div class="row">
      <button type="button" onClick=${() => act('POST', '/clock', { frozen: !clock.frozen })}>
        ${clock.frozen ? 'Resume' : 'Freeze'}
      </button>
      ${STEPS.map(
        ([text, step]) =>
          html`<button type="button" data-repeats=${'advanceMs' in step} onClick=${() => act('POST', '/clock', step)}>${text}</button>`,
      )}
    </div>
    <${Refusal} refusal=${refusal} path="/clock" />
  <//>`;
}

function paceOf({ mode, frozen }: ClockState): string {
  if (frozen) return 'frozen: moves only when advanced';
  return mode === 'real' ? 'runs in real time' : 'virtual: advances on request, or when idle';
}

type ShownSwitch = MockView['switches'][number];

/** Besides `documented`, which is every switch at its default. */
const PRESETS: readonly PresetName[] = ['lenient', 'hostile'];

/** The switches for undocumented behaviour, by topic. */
export function SwitchSection({ view: { switches }, refusal, act }: SectionProps) {
  const groups = Array.from(new Set(switches.map(({ group }) => group)));
  const changed = switches.filter(isChanged).length;
  const actions = html`${PRESETS.map(
    (preset) =>
      html`<button type="button" onClick=${() => act('PATCH', '/behaviour', { preset })}>Preset ${preset}</button>`,
  )}
    <button type="button" disabled=${changed === 0} onClick=${() => act('PATCH', '/behaviour', { preset: 'documented' })}>
      ${changed === 0 ? 'All switches at default' : `Reset ${changed} to default`}
    </button>`;
  return html`<${Section} title="Switches" actions=${actions}
    hint="Behaviour that the service does not document. Choose how the mock behaves.">
    <${Refusal} refusal=${refusal} path="/behaviour" />
    ${groups.map((group) => html`<${Group} name=${group} switches=${switches.filter((one) => one.group === group)} act=${act} />`)}
  <//>`;
}

interface GroupProps extends Pick<SectionProps, 'act'> {
  readonly name: string;
  readonly switches: readonly ShownSwitch[];
}

function Group({ name, switches, act }: GroupProps) {
  const changed = switches.filter(isChanged).length;
  return html`<details class="group">
    <summary>${name} <span class="hint">${switches.length}${changed > 0 ? `, ${changed} changed` : ''}</span></summary>
    <ul class="plain">${switches.map((known) => html`<${SwitchRow} key=${known.name} known=${known} act=${act} />`)}</ul>
  </details>`;
}

function SwitchRow({ known, act }: Pick<SectionProps, 'act'> & { readonly known: ShownSwitch }) {
  const { name, value, provenance, why } = known;
  const change = (json: string) => act('PATCH', '/behaviour', { [name]: JSON.parse(json) });
  const text = (choice: unknown) =>
    (choice === null ? 'none' : String(choice)) + (choice === known.default ? ' (default)' : '');
  const id = `switch-${name}`;
  return html`<li class="switch">
    <div class="row between">
      <label for=${id} class="mono">${name}</label>
      <span class="row">
        ${isChanged(known) && html`<span class="badge good">changed</span>`}
        <span class="badge">${provenance}</span>
      </span>
    </div>
    <${Select} id=${id} aria-describedby="${id}-why" chosen=${JSON.stringify(value)}
      options=${choices(known).map((choice) => [JSON.stringify(choice), text(choice)])} choose=${change} />
    <p class="hint" id="${id}-why">${why}</p>
  </li>`;
}

function isChanged({ value, default: byDefault }: ShownSwitch): boolean {
  return value !== byDefault;
}

/** A value that is none of the examples was set through the API; it stays to choose. */
function choices({ value, default: byDefault, alternatives }: ShownSwitch): readonly unknown[] {
  return Array.from(new Set([byDefault, ...alternatives, value]));
}

/** The requests that the window of a key counts, against its limit, and those that were not served. */
export function ChartSection({ view, query }: SectionProps) {
  const { seconds, keyId, limit, window, summary } = minuteChart(view, query.key);
  const highest = 1.15 * Math.max(2, limit ?? 0, ...seconds.map(({ all }) => all));
  const bar = (name: string, second: number, [from, to]: readonly [number, number]) =>
    to > from && html`<rect class=${name} x=${second + 0.1} width="0.8" y=${highest - to} height=${to - from} />`;
  const legend = html`<p class="legend hint">
    <span class="swatch served"></span> counted in the ${window}${keyId !== undefined && ` of ${keyId}`}
    <span class="swatch refused"></span> not served
    <span class="swatch pace"></span> limit${limit !== undefined && `, ${limit} per ${window}`}</p>`;
  return html`<${Section} title="Use of the ${window}" actions=${legend}>
    <svg class="chart" role="img" aria-label=${summary} viewBox="0 0 ${seconds.length} ${highest}" preserveAspectRatio="none">
      ${seconds.map(({ used, all }, second) => [bar('used', second, [0, used]), bar('refused', second, [used, all])])}
      ${limit !== undefined && html`<line class="limit" x1="0" x2=${seconds.length} y1=${highest - limit} y2=${highest - limit} />`}
    </svg>
    <div class="row between hint mono" aria-hidden="true">
      ${TICKS.map((second) => html`<span>${timeOfDay((seconds.at(second)?.at ?? 0) * 1000)}</span>`)}</div>
  <//>`;
}

/** The seconds whose time is shown. */
const TICKS = [0, 40, 80, -1];
