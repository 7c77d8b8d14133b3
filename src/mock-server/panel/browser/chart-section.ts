import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { html, Section } from './html.ts';
import { type MinuteChart, minuteChart } from './journal-entries.ts';
import { type SectionProps, timeOfDay } from './mock-view.ts';

/** The requests that the minute of a key counts, against its limit, and those that were not served. */
export function ChartSection({ view: { clock }, entries, query }: SectionProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ReturnType<typeof drawChart>>(undefined);
  const { columns, keyId, limit, summary } = minuteChart(entries, clock.now, query.key);
  useEffect(() => {
    if (place.current === null) return undefined;
    chart.current = drawChart(place.current);
    return () => chart.current?.remove();
  }, []);
  useEffect(() => chart.current?.show(columns), [entries, clock.now, query.key]);
  const legend = html`<p class="legend hint">
    <span class="swatch served"></span> counted in the minute${keyId !== undefined && ` of ${keyId}`}
    <span class="swatch refused"></span> not served
    <span class="swatch pace"></span> limit${limit !== undefined && `, ${limit} per minute`}</p>`;
  return html`<${Section} title="Use of the minute" isWide actions=${legend}>
    <div class="chart" role="img" aria-label=${summary} ref=${place}></div>
  <//>`;
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
    show: (columns: MinuteChart['columns']) => chart.setData(columns),
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
    scales: { y: { range: (_, __, high) => [0, Math.max(2, high * 1.15)] } },
    axes: [
      { ...axis, ...times },
      { ...axis, size: 40 },
    ],
    // The used requests cover the sum, so the rest of the column shows those that were not served.
    series: [
      {},
      bars('not served', '--bad'),
      bars('used', '--accent'),
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
