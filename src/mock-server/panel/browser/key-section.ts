import { useState } from 'preact/hooks';
import { plans } from '../../../generated/service.ts';
import { html } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';

const PLANS = Object.keys(plans);

/** Accounts and keys, with short cuts past the dashboard. */
export function KeySection({ view: { keys, accounts }, act }: SectionProps) {
  const [plan, setPlan] = useState('free');
  const [created, setCreated] = useState('');
  const create = async () => setCreated((await act<{ key: string }>('POST', '/keys', { plan }))?.key ?? '');
  return html`<section class="card">
    <div class="row between"><h2>Keys</h2><a href="/dashboard">Dashboard</a></div>
    <div class="row">
      <select aria-label="Plan of a new key" value=${plan} onChange=${(event: Chosen) => setPlan(event.currentTarget.value)}>
        ${PLANS.map((name) => html`<option value=${name}>${name}</option>`)}
      </select>
      <button type="button" class="main" onClick=${create}>Create key</button>
    </div>
    ${
      created !== '' &&
      html`<div class="field"><label for="created">New key, shown this once</label>
        <textarea id="created" class="secret" rows="2" readonly value=${created}></textarea></div>`
    }
    <ul class="plain">
      ${keys.map((key) => html`<${KeyRow} key=${key.id} summary=${key} account=${accounts.find(({ id }) => id === key.accountId)} act=${act} />`)}
    </ul>
    ${keys.length === 0 && html`<p class="hint">No keys yet.</p>`}
  </section>`;
}

interface Chosen {
  readonly currentTarget: HTMLSelectElement;
}

interface KeyRowProps extends Pick<SectionProps, 'act'> {
  readonly summary: MockView['keys'][number];
  readonly account: MockView['accounts'][number] | undefined;
}

function KeyRow({ summary: { id, masked, state, monthlyUsed }, account, act }: KeyRowProps) {
  const isActive = state === 'active';
  return html`<li class="row between key-row">
    <div class="grow"><code>${masked}</code>
      <p class="hint break">${id}, ${account?.plan}, ${account?.email}<br />${monthlyUsed} this month</p></div>
    ${
      isActive
        ? html`<button type="button" class="danger" onClick=${() => act('DELETE', `/keys/${id}`)}>
            Revoke<span class="hidden"> ${id}</span>
          </button>`
        : html`<span class="badge bad">revoked</span>`
    }
  </li>`;
}
