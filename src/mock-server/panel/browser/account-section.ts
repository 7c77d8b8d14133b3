import { useState } from 'preact/hooks';
import { plans } from '../../../generated/service.ts';
import { html, Refusal, Rows, Section, Select } from './html.ts';
import {
  durationText,
  isStillActive,
  MOST_KEYS,
  type MockView,
  type NewKey,
  type SectionProps,
  timeText,
  windowText,
} from './mock-view.ts';
import { type BodySchema, SchemaForm } from './schema-form.ts';

type ShownAccount = MockView['accounts'][number];
type ShownKey = MockView['keys'][number];

/** What a user does in the dashboard of the service, and the usage of each key. */
export function AccountSection(props: SectionProps) {
  const { view, query, bodySchema, refusal, act, newKeys, setNewKeys } = props;
  const [isWhole, setWhole] = useState(true);
  const schema = bodySchema<BodySchema>('/accounts');
  const createKey = async (accountId: string) => {
    const created = await act<Omit<NewKey, 'space'>>('POST', `/accounts/${accountId}/keys`);
    if (created !== undefined) setNewKeys((shown) => [...shown, { ...created, space: query.space }]);
  };
  const signUp = async (body: string) => {
    const account = await act<ShownAccount>('POST', '/accounts', body);
    if (account === undefined) return false;
    if (isWhole && (await act('POST', `/accounts/${account.id}/confirm`)) !== undefined) await createKey(account.id);
    return true;
  };
  const row = (
    account: ShownAccount,
  ) => html`<${AccountRow} key=${account.id} ...${props} account=${account} createKey=${createKey}
    newKeys=${newKeys.filter(({ accountId, space }) => accountId === account.id && space === query.space)} hideKey=${(hidden: NewKey) => setNewKeys((shown) => shown.filter((one) => one !== hidden))} />`;
  return html`<${Section} title="Accounts" hint="As in the dashboard of the service. Without confirmation, an account has no key.">
    ${
      schema !== undefined &&
      html`<${SchemaForm} name="account" label="New account" submit="Sign up" schema=${schema} save=${signUp}
        actions=${html`<label class="check"><input type="checkbox" checked=${isWhole} onChange=${() => setWhole(!isWhole)} />Confirm it and create a key</label>`}>
        <${Refusal} refusal=${refusal} path="/accounts" />
      <//>`
    }
    ${view.keys.length === MOST_KEYS && html`<p class="hint">Only the newest ${MOST_KEYS} keys are shown.</p>`}
    <${Rows} items=${view.accounts.toReversed()} rows=${(shown: readonly ShownAccount[]) => shown.map(row)} empty="No accounts yet." atOnce=${10} attributes=${{ 'aria-label': 'Accounts, newest first' }} />
  <//>`;
}

interface AccountRowProps extends SectionProps {
  readonly account: ShownAccount;
  readonly createKey: (accountId: string) => Promise<void>;
  /** Those of the account. */
  readonly newKeys: readonly NewKey[];
  readonly hideKey: (hidden: NewKey) => void;
}

function AccountRow({ account, createKey, newKeys, hideKey, ...props }: AccountRowProps) {
  const { view, refusal, act } = props;
  const { id, email, plan, confirmed, createdAt } = account;
  const path = `/accounts/${id}`;
  const keys = view.keys.filter(({ accountId }) => accountId === id).toReversed();
  const options = Object.entries(plans).map(([name, { title }]) => [name, title]);
  return html`<li class="key-row">
    <div class="row between">
      <div class="grow"><h3 class="break">${email}</h3>
        <p class="hint">${id}, signed up ${timeText(createdAt)} <span class=${confirmed ? 'badge good' : 'badge bad'}>${confirmed ? 'confirmed' : 'not confirmed'}</span></p></div>
      <div class="row">
        ${!confirmed && html`<button type="button" class="main" onClick=${() => act('POST', `${path}/confirm`)}>Confirm<span class="hidden"> ${id}</span></button>`}
        <${Select} aria-label="Plan of ${id}" options=${options} chosen=${plan} choose=${(name: string) => act('PUT', `${path}/plan`, { plan: name })} />
        <button type="button" onClick=${() => createKey(id)}>Create key<span class="hidden"> for ${id}</span></button>
      </div></div>
    <${Refusal} refusal=${refusal} path=${path} below />
    ${newKeys.filter((one) => isStillActive(one, keys)).map((one) => html`<${OnceShownKey} key=${one.id} created=${one} hide=${hideKey} />`)}
    ${keys.map((key) => html`<${KeyCard} key=${key.id} ...${props} summary=${key} />`)}
  </li>`;
}

function OnceShownKey({ created, hide }: { readonly created: NewKey; readonly hide: (hidden: NewKey) => void }) {
  const id = `new-${created.id}`;
  return html`<div class="note good field"><label for=${id}>New key, shown only once</label>
    <textarea id=${id} class="secret mono" rows="1" readonly spellcheck=${false} value=${created.key} ref=${select}></textarea>
    <div class="row between"><p class="hint">Copy it now. The service stores only its SHA-256.</p>
      <button type="button" onClick=${() => hide(created)}>I have copied it</button></div></div>`;
}

function select(field: HTMLTextAreaElement | null): void {
  field?.select();
}

function KeyCard({ summary, ...props }: SectionProps & { readonly summary: ShownKey }) {
  const { view, query, setQuery, refusal, act } = props;
  const { id, masked, state, month, revokedAt } = summary;
  const isShown = query.key === id;
  return html`<div class="key">
    <div class="row between">
      <p class="grow"><code>${masked}</code> <span class="hint">${id}</span></p>
      <div class="row">
        <button type="button" aria-pressed=${isShown} onClick=${() => setQuery({ key: isShown ? '' : id })}>Requests<span class="hidden"> of ${id}</span></button>
        ${
          state === 'active'
            ? html`<${Revoke} id=${id} revoke=${() => act('DELETE', `/keys/${id}`)} />`
            : html`<span class="badge bad">revoked</span>`
        }
      </div></div>
    ${state === 'active' ? html`<${Gauges} summary=${summary} now=${view.clock.now} act=${act} />` : html`<p class="hint">Revoked ${timeText(revokedAt ?? 0)}, ${month.used} requests this month</p>`}
    <${Refusal} refusal=${refusal} path="/keys/${id}" below />
  </div>`;
}

/** Two steps, because a key cannot be reactivated. */
function Revoke({ id, revoke }: { readonly id: string; readonly revoke: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const name = html`<span class="hidden"> ${id}</span>`;
  if (!isAsking)
    return html`<button type="button" class="danger" onClick=${() => setAsking(true)}>Revoke${name}</button>`;
  return html`<button type="button" key="keep" ref=${focus} onClick=${() => setAsking(false)}>Keep${name}</button>
    <button type="button" class="danger" onClick=${revoke}>Revoke forever${name}</button>`;
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}

interface GaugesProps extends Pick<SectionProps, 'act'> {
  readonly summary: ShownKey;
  readonly now: number;
}

/** Both limits of a key as they are now. */
function Gauges({ summary, now, act }: GaugesProps) {
  const { id, minute, month } = summary;
  const isFull = minute.waitMs > 0;
  const isUsedUp = month.limit !== null && month.used >= month.limit;
  const set = (usage: object) => act('PUT', `/keys/${id}/usage`, usage);
  return html`<div class="gauges">
    <${Gauge} name="minute" period=${windowText(summary)} id=${id} use=${minute} isFull=${isFull} set=${set}
      caption=${isFull ? html`<span class="is-bad">429 now; next request accepted in ${durationText(minute.waitMs)}</span>` : minuteCaption(minute, now)} />
    <${Gauge} name="month" period="month" id=${id} use=${month} isFull=${isUsedUp} set=${set}
      caption=${html`${isUsedUp && html`<span class="is-bad">used up; </span>`}resets in ${durationText(month.resetsAt - now)}`} />
  </div>`;
}

function minuteCaption({ used, fullAt }: ShownKey['minute'], now: number): string {
  return used === 0 ? 'nothing used' : `the full limit is available in ${durationText(fullAt - now)}`;
}

interface GaugeProps {
  readonly name: 'minute' | 'month';
  /** In words. */
  readonly period: string;
  readonly id: string;
  readonly use: { readonly used: number; readonly limit: number | null };
  readonly isFull: boolean;
  readonly set: (usage: object) => Promise<unknown>;
  readonly caption: unknown;
}

/** The usage of one limit, and a form to set it. */
function Gauge({ name, period, id, use, isFull, set, caption }: GaugeProps) {
  const { used, limit } = use;
  const [typed, setTyped] = useState<string>();
  const title = `This ${period}`;
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  const submit = async (event: Event) => {
    event.preventDefault();
    const isSet = (await set({ [name]: Number(typed ?? used) })) !== undefined;
    if (isSet) setTyped((now) => (now === typed ? undefined : now));
  };
  return html`<div class="gauge">
    <p class="gauge-head"><span>${title}</span> <strong class=${isFull ? 'is-bad' : ''}>${usedText(use)}</strong></p>
    <div class="meter ${isFull ? 'full' : ''}" role="meter" aria-label="${title} of ${id}" aria-valuemin="0"
      aria-valuemax=${limit ?? Math.max(used, 1)} aria-valuenow=${Math.min(used, limit ?? used)} aria-valuetext=${usedText(use)}>
      <span style=${{ width: `${share * 100}%` }}></span></div>
    <p class="hint">${caption}</p>
    <form class="usage" onSubmit=${submit}>
      <button type="button" disabled=${limit === null} onClick=${() => set({ [name]: limit })}>Use up the ${period}<span class="hidden"> of ${id}</span></button>
      <input type="number" min="0" max=${name === 'minute' ? limit : undefined} step="1" required aria-label="Used this ${period} by ${id}" value=${typed ?? used}
        onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setTyped(currentTarget.value)} />
      <button>Set<span class="hidden"> usage of this ${period} of ${id}</span></button>
    </form>
  </div>`;
}

function usedText({ used, limit }: GaugeProps['use']): string {
  return limit === null ? `${used}, no limit` : `${used} of ${limit}`;
}
