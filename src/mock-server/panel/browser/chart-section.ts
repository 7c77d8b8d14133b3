import { html, Section } from './html.ts';
import { minuteChart } from './journal-entries.ts';
import { type SectionProps, timeOfDay } from './mock-view.ts';

/** The requests that the minute of a key counts, against its limit, and those that were not served. */
export function ChartSection({ view: { clock, entries }, query }: SectionProps) {
  const { seconds, keyId, limit, summary } = minuteChart(entries, clock.now, query.key);
  const highest = 1.15 * Math.max(2, limit ?? 0, ...seconds.map(({ all }) => all));
  const bar = (name: string, second: number, [from, to]: readonly [number, number]) =>
    to > from && html`<rect class=${name} x=${second + 0.1} width="0.8" y=${highest - to} height=${to - from} />`;
  const legend = html`<p class="legend hint">
    <span class="swatch served"></span> counted in the minute${keyId !== undefined && ` of ${keyId}`}
    <span class="swatch refused"></span> not served
    <span class="swatch pace"></span> limit${limit !== undefined && `, ${limit} per minute`}</p>`;
  return html`<${Section} title="Use of the minute" isWide actions=${legend}>
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
