import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { JournalEntry } from '../../journal/journal.ts';
import { html } from './html.ts';
import { type PerSecond, perSecond } from './journal-entries.ts';
import { type SectionProps, timeOfDay } from './mock-view.ts';

/** Requests per second, served and refused, against the pace that the limit allows. */
export function ChartSection({ view: { clock }, entries }: SectionProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ReturnType<typeof drawChart>>(undefined);
  const { columns, summary } = perSecond(entries, clock.now);
  useEffect(() => {
    if (place.current === null) return undefined;
    chart.current = drawChart(place.current);
    return () => chart.current?.remove();
  }, []);
  useEffect(() => chart.current?.show(columns), [entries, clock.now]);
  return html`<section class="card wide">
    <div class="row between"><h2>Requests per second</h2><p class="legend hint">
      <span class="swatch served"></span> served <span class="swatch refused"></span> refused or broken
      <span class="swatch pace"></span> ${paceText(entries)}</p></div>
    <div class="chart" role="img" aria-label=${summary} ref=${place}></div>
  </section>`;
}

function paceText(entries: readonly JournalEntry[]): string {
  const rate = entries.find((entry) => entry.rate !== undefined)?.rate;
  return rate === undefined ? 'limit' : `limit, ${rate.limit} per minute`;
}

/** Draws the chart in `place`, with its width and the colour scheme of the system. */
function drawChart(place: HTMLElement) {
  const chart = new uPlot(optionsFor(place.clientWidth), [[], [], [], []], place);
  const watcher = new ResizeObserver(([entry]) => {
    chart.setSize({ width: Math.floor(entry?.contentRect.width ?? 0), height: HEIGHT });
  });
  watcher.observe(place);
  const darkness = matchMedia('(prefers-color-scheme: dark)');
  const repaint = () => chart.redraw();
  darkness.addEventListener('change', repaint);
  return {
    show: (columns: PerSecond['columns']) => chart.setData(columns),
    remove() {
      watcher.disconnect();
      darkness.removeEventListener('change', repaint);
      chart.destroy();
    },
  };
}

const HEIGHT = 160;

function optionsFor(width: number): uPlot.Options {
  const axis = { stroke: paint('--soft'), grid: { stroke: paint('--line'), width: 1 }, ticks: { show: false } };
  const times = {
    space: 80,
    size: 28,
    values: (_: uPlot, splits: number[]) => splits.map((at) => timeOfDay(at * 1000)),
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, high) => [0, Math.max(2, high * 1.1)] } },
    axes: [
      { ...axis, ...times },
      { ...axis, size: 40 },
    ],
    // The served requests cover the total, so the rest of the column shows the refused ones.
    series: [
      {},
      bars('all', '--bad'),
      bars('served', '--accent'),
      { label: 'limit', stroke: paint('--text'), dash: [6, 4], width: 1.5, points: { show: false } },
    ],
  };
}

function bars(label: string, color: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.8, 12] });
  const look = { label, stroke: paint(color), fill: paint(color), points: { show: false } };
  return paths === undefined ? look : { ...look, paths };
}

/** Read with each drawing: light and dark may change in between. */
function paint(name: string): () => string {
  return () => getComputedStyle(document.documentElement).getPropertyValue(name);
}
