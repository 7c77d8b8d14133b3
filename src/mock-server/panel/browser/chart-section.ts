import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { JournalEntry } from '../../journal.ts';
import { html } from './html.ts';
import type { SectionProps } from './mock-view.ts';
import { perSecond } from './per-second.ts';

/** Requests per second, served and refused, against the pace that the limit allows. */
export function ChartSection({ view: { clock }, entries }: SectionProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const data = perSecond(entries, clock.now);
  useEffect(() => {
    if (place.current === null) return undefined;
    const drawn = new uPlot(optionsFor(place.current.clientWidth), data.columns, place.current);
    chart.current = drawn;
    const watcher = new ResizeObserver(([entry]) => {
      drawn.setSize({ width: Math.floor(entry?.contentRect.width ?? 0), height: HEIGHT });
    });
    watcher.observe(place.current);
    return () => {
      watcher.disconnect();
      drawn.destroy();
    };
  }, []);
  useEffect(() => chart.current?.setData(data.columns), [entries, clock.now]);
  return html`<section class="card wide">
    <div class="row between"><h2>Requests per second</h2><p class="legend hint">
      <span class="swatch served"></span> served <span class="swatch refused"></span> refused
      <span class="swatch pace"></span> ${paceText(entries)}</p></div>
    <div class="chart" role="img" aria-label=${data.summary} ref=${place}></div>
  </section>`;
}

function paceText(entries: readonly JournalEntry[]): string {
  const rate = entries.find((entry) => entry.rate !== undefined)?.rate;
  return rate === undefined ? 'pace of the limit' : `pace of the limit, ${rate.limit} a minute`;
}

const HEIGHT = 160;

function optionsFor(width: number): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.8, 12] });
  const axis = {
    stroke: () => color('--soft'),
    grid: { stroke: () => color('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { y: { range: (_chart, _low, high) => [0, Math.max(2, high * 1.1)] } },
    axes: [axis, { ...axis, size: 40 }],
    series: [
      {},
      {
        label: 'all',
        stroke: () => color('--bad'),
        fill: () => color('--bad'),
        points: { show: false },
        ...(bars && { paths: bars }),
      },
      {
        label: 'served',
        stroke: () => color('--accent'),
        fill: () => color('--accent'),
        points: { show: false },
        ...(bars && { paths: bars }),
      },
      { label: 'limit', stroke: () => color('--text'), dash: [6, 4], width: 1.5, points: { show: false } },
    ],
  };
}

function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}
