import { useState } from 'preact/hooks';
import { plans } from '../../../generated/service.ts';
import type { KeyUsage, MinuteUse } from '../../service/key-usage.ts';
import { WINDOW_MS } from '../../service/rate-windows.ts';
import { html, Select, useNewest } from './html.ts';
import { durationText, type MockView, type SectionProps } from './mock-view.ts';

const PLANS = Object.keys(plans);

/** Accounts and keys with their usage, and their actions. */
export function KeySection({ view, query, setQuery, act }: SectionProps) {
  const [plan, setPlan] = useState('free');
  const [created, setCreated] = useState('');
  const keys = view.keys.toReversed();
  const { shown, button } = useNewest(keys, 10);
  const create = async () => setCreated((await act<{ key: string }>('POST', '/keys', { plan }))?.key ?? '');
  return html`<section class="card" aria-labelledby="keys">
    <div class="row between"><h2 id="keys">Keys</h2>
      <div class="row">
        <${Select} aria-label="Plan of a new key" options=${PLANS.map((name) => [name, name])} chosen=${plan} choose=${setPlan} />
        <button type="button" class="main" onClick=${create}>Create key</button>
      </div></div>
    ${
      created !== '' &&
      html`<div class="field"><label for="created">New key, shown only once</label>
        <textarea id="created" class="secret" rows="2" readonly value=${created}></textarea></div>`
    }
    <ul class="plain">
      ${shown.map((key) => html`<${KeyRow} key=${key.id} summary=${key} view=${view} query=${query} setQuery=${setQuery} act=${act} />`)}
    </ul>
    ${keys.length === 0 && html`<p class="empty">No keys yet.</p>`}
    ${button}
  </section>`;
}

interface KeyRowProps extends Pick<SectionProps, 'view' | 'query' | 'setQuery' | 'act'> {
  readonly summary: MockView['keys'][number];
}

function KeyRow({ summary: { id, accountId, masked, state, monthlyUsed }, view, query, setQuery, act }: KeyRowProps) {
  const account = view.accounts.find((one) => one.id === accountId);
  const limits = view.limits.find(({ keyId }) => keyId === id);
  const isShown = query.key === id;
  return html`<li class="key-row">
    <div class="row between">
      <div class="grow"><code>${masked}</code> <span class="badge">${account?.plan}</span>
        <p class="hint break">${id}, ${account?.email}</p></div>
      <div class="row">
        <button type="button" aria-pressed=${isShown} onClick=${() => setQuery({ key: isShown ? '' : id })}>Requests<span class="hidden"> of ${id}</span></button>
        ${
          state === 'active'
            ? html`<button type="button" class="danger" onClick=${() => act('DELETE', `/keys/${id}`)}>
                Revoke<span class="hidden"> ${id}</span></button>`
            : html`<span class="badge bad">revoked</span>`
        }
      </div></div>
    ${limits === undefined ? html`<p class="hint">${monthlyUsed} this month</p>` : html`<${Gauges} limits=${limits} now=${view.clock.now} />`}
  </li>`;
}

/** Both limits of a key as they are now: the minute drawn as the kind of window it is, and the month. */
function Gauges({ limits: { keyId, minute, month }, now }: { readonly limits: KeyUsage; readonly now: number }) {
  const isFull = minute.waitMs > 0;
  const isUsedUp = month.limit !== null && month.used >= month.limit;
  return html`<div class="gauges">
    <div class="gauge">
      <p class="gauge-head"><span>This minute</span> <strong class=${isFull ? 'is-bad' : ''}>${usedText(minute)}</strong></p>
      <${Meter} label="This minute of ${keyId}" used=${minute.used} limit=${minute.limit} isFull=${isFull} />
      ${DRAWINGS[minute.kind](minute, now)}
      <p class="hint">${isFull ? html`<span class="is-bad">429 now; next request accepted in ${durationText(minute.waitMs)}</span>` : captionOf(minute, now)}</p>
    </div>
    <div class="gauge">
      <p class="gauge-head"><span>This month</span> <strong class=${isUsedUp ? 'is-bad' : ''}>${usedText(month)}</strong></p>
      <${Meter} label="This month of ${keyId}" used=${month.used} limit=${month.limit} isFull=${isUsedUp} />
      <p class="hint">${isUsedUp ? html`<span class="is-bad">used up; </span>` : ''}resets in ${durationText(month.resetsAt - now)}</p>
    </div>
  </div>`;
}

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number | null;
  readonly isFull: boolean;
}

function Meter({ label, used, limit, isFull }: MeterProps) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  return html`<div class="meter ${isFull ? 'full' : ''}" role="meter" aria-label=${label} aria-valuemin="0"
    aria-valuemax=${limit ?? Math.max(used, 1)} aria-valuenow=${Math.min(used, limit ?? used)} aria-valuetext=${usedText({ used, limit })}>
    <span style=${{ width: `${share * 100}%` }}></span></div>`;
}

function usedText({ used, limit }: Pick<MeterProps, 'used' | 'limit'>): string {
  return limit === null ? `${used}, no limit` : `${used} of ${limit}`;
}

type Drawing = (minute: MinuteUse, now: number) => unknown;

const DRAWINGS: Readonly<Record<MinuteUse['kind'], Drawing>> = {
  'sliding-log': drawLog,
  'fixed-epoch': drawFixed,
  'fixed-first-request': drawFixed,
  'sliding-counter': drawCounter,
  'token-bucket': drawBucket,
};

/** The last 60 seconds, one column for each. Requests that leave on the left no longer count. */
function drawLog({ perSecond = [] }: MinuteUse) {
  const most = Math.max(1, ...perSecond);
  return html`<svg class="window" viewBox="0 0 60 16" preserveAspectRatio="none" aria-hidden="true">
    ${perSecond.map((count, second) => {
      const height = count === 0 ? 0 : Math.max(2, (count / most) * 16);
      return height > 0 && html`<rect x=${second + 0.1} y=${16 - height} width="0.8" height=${height} />`;
    })}</svg>`;
}

/** From start to end of the window; the mark is now. */
function drawFixed({ startedAt }: MinuteUse, now: number) {
  const passed = startedAt === undefined ? 0 : Math.min(1, (now - startedAt) / WINDOW_MS);
  return html`<svg class="window" viewBox="0 0 60 16" preserveAspectRatio="none" aria-hidden="true">
    <rect class="soft-fill" x="0" y="6" width=${passed * 60} height="4" />
    <rect x=${Math.min(59.4, passed * 60)} y="0" width="0.6" height="16" /></svg>`;
}

/** The minute before, of which the part right of now still counts, and this one. */
function drawCounter({ startedAt = 0, previous = 0, used, limit }: MinuteUse, now: number) {
  const left = 1 - Math.min(1, (now - startedAt) / WINDOW_MS);
  const counted = Math.min(used, Math.ceil(previous * left));
  const width = (count: number) => (Math.min(count, limit) / limit) * 60;
  return html`<svg class="window" viewBox="0 0 60 16" preserveAspectRatio="none" aria-hidden="true">
    <rect class="soft-fill" x="0" y="2" width=${width(counted)} height="12" />
    <rect x=${width(counted)} y="2" width=${width(used - counted)} height="12" /></svg>`;
}

/** A bucket, narrower at its foot, filled with the tokens that are left. */
function drawBucket({ used, limit }: MinuteUse) {
  const top = 28 - 26 * (1 - used / limit);
  const inset = 3 + ((top - 2) * 5) / 26;
  return html`<svg class="bucket" viewBox="0 0 40 30" aria-hidden="true">
    <path d="M${inset} ${top} H${40 - inset} L32 28 H8 Z" />
    <path class="rim" d="M3 2 L8 28 H32 L37 2" /></svg>`;
}

function captionOf({ kind, startedAt, limit, previous = 0 }: MinuteUse, now: number): string {
  const end = durationText((startedAt ?? now) + WINDOW_MS - now);
  return {
    'sliding-log': 'the last 60 seconds, per second',
    'fixed-epoch': `fixed window: the next one begins in ${end}`,
    'fixed-first-request':
      startedAt === undefined ? 'fixed window: begins with the next request' : `fixed window: ends in ${end}`,
    'sliding-counter': `${previous} requests of the previous minute count in part, for ${end}`,
    'token-bucket': `bucket of ${limit} requests; one is added every ${durationText(WINDOW_MS / limit)}`,
  }[kind];
}
