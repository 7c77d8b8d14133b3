import { useState } from 'preact/hooks';
import { plans } from '../../../generated/service.ts';
import { Gauges } from './gauges.ts';
import { html } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';
import { useNewest } from './use-newest.ts';

const PLANS = Object.keys(plans);

/** Accounts and keys with what they have used, and short cuts past the dashboard. */
export function KeySection({ view, query, setQuery, act }: SectionProps) {
  const [plan, setPlan] = useState('free');
  const [created, setCreated] = useState('');
  const keys = view.keys.toReversed();
  const { shown, button } = useNewest(keys, 10);
  const create = async () => setCreated((await act<{ key: string }>('POST', '/keys', { plan }))?.key ?? '');
  return html`<section class="card" aria-labelledby="keys">
    <div class="row between"><h2 id="keys">Keys</h2>
      <div class="row">
        <select aria-label="Plan of a new key" value=${plan} onChange=${(event: Chosen) => setPlan(event.currentTarget.value)}>
          ${PLANS.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
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

interface Chosen {
  readonly currentTarget: HTMLSelectElement;
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
