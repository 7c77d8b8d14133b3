import { useEffect, useRef } from 'preact/hooks';
import type { JournalEntry } from '../../journal/journal.ts';
import { type DrawnChart, drawChart } from './draw-chart.ts';
import { html } from './html.ts';
import type { SectionProps } from './mock-view.ts';
import { perSecond } from './per-second.ts';

/** Requests per second, served and refused, against the pace that the limit allows. */
export function ChartSection({ view: { clock }, entries }: SectionProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<DrawnChart>(undefined);
  const { columns, summary } = perSecond(entries, clock.now);
  useEffect(() => {
    if (place.current === null) return undefined;
    chart.current = drawChart(place.current);
    return () => chart.current?.remove();
  }, []);
  useEffect(() => chart.current?.show(columns), [entries, clock.now]);
  return html`<section class="card wide">
    <div class="row between"><h2>Requests per second</h2><p class="legend hint">
      <span class="swatch served"></span> served <span class="swatch refused"></span> refused
      <span class="swatch pace"></span> ${paceText(entries)}</p></div>
    <div class="chart" role="img" aria-label=${summary} ref=${place}></div>
  </section>`;
}

function paceText(entries: readonly JournalEntry[]): string {
  const rate = entries.find((entry) => entry.rate !== undefined)?.rate;
  return rate === undefined ? 'pace of the limit' : `pace of the limit, ${rate.limit} a minute`;
}
