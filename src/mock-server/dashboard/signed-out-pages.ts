import { type PlanName, plans } from '../../generated/service.ts';
import type { MockResponse } from '../http/mock-message.ts';
import { isPlan } from '../service/accounts.ts';
import { type Html, html } from '../web/html.ts';
import { type AccountRequest, alert, type DashboardRequest, form, page } from './dashboard-request.ts';

/** The invalid input, which the form shows again. */
export interface FormMistake {
  readonly at: 'sign-up' | 'sign-in';
  readonly text: string;
  readonly status: number;
}

/** The page for users who are not signed in: forms to sign up and to sign in. */
export function welcomePage(request: DashboardRequest, mistake?: FormMistake): MockResponse {
  const plan = request.form.get('plan');
  const content = html`<h1>Exchange rates for your code</h1>
<p class="lead">Create an account, confirm its e-mail address, and create your first API key.</p>
<div class="columns">
<section class="card" aria-labelledby="sign-up-title">
<h2 id="sign-up-title">Sign up</h2>
${mistake?.at === 'sign-up' && alert(mistake.text)}
${form(
  request,
  '/dashboard/sign-up',
  html`${emailField(request, 'sign-up', mistake)}
${planChoice('sign-up-plan', isPlan(plan) ? plan : 'free')}
<button class="main">Create account</button>`,
)}
</section>
<section class="card" aria-labelledby="sign-in-title">
<h2 id="sign-in-title">Sign in</h2>
${mistake?.at === 'sign-in' && alert(mistake.text)}
${form(
  request,
  '/dashboard/sign-in',
  html`${emailField(request, 'sign-in', mistake)}
<p class="hint">This is an emulation: the address is enough to sign in. How users sign in to the real service is not
documented.</p>
<button>Sign in</button>`,
)}
</section>
</div>`;
  return page('Sign up or sign in', content, mistake?.status ?? 200);
}

/** The plans with their limits; `chosen` is selected. */
export function planChoice(id: string, chosen: PlanName): Html {
  const options = Object.entries(plans).map(([name, plan]) => {
    const { title, rateLimitPerMinute, monthlyLimit } = plan;
    const month = monthlyLimit === null ? '' : `, ${formatCount(monthlyLimit)}/month`;
    const text = `${title}: ${formatCount(rateLimitPerMinute)}/min${month}`;
    return html`<option value="${name}"${name === chosen && html` selected`}>${text}</option>`;
  });
  return html`<div class="field"><label for="${id}">Plan</label>
<select id="${id}" name="plan">${options}</select></div>`;
}

function emailField(request: DashboardRequest, name: FormMistake['at'], mistake: FormMistake | undefined): Html {
  const isWrong = mistake?.at === name;
  const value = isWrong ? (request.form.get('email') ?? '') : '';
  return html`<div class="field"><label for="${name}-email">E-mail address</label>
<input id="${name}-email" name="email" type="email" required maxlength="254" value="${value}"${
    isWrong && html` aria-invalid="true"`
  }></div>`;
}

interface Message {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

/** A page with a message and a link back. */
export function messagePage({ status, title, text }: Message): MockResponse {
  return page(
    title,
    html`<section class="card narrow">
<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="/dashboard">To the dashboard</a></p>
</section>`,
    status,
  );
}

/** The page after the sign-up: the address must be confirmed first. */
export function checkMailPage(request: AccountRequest): MockResponse {
  const content = html`<section class="card narrow">
<h1>Check your e-mail</h1>
<p>We sent a link to <strong class="break">${request.account.email}</strong>. Open it to confirm your address. It works
once and expires after 24 hours.</p>
<p class="note">This is an emulation: no e-mail leaves this machine. The e-mail is in the
<a href="/__fxrates/outbox">outbox of the control panel</a>, and in <code>mock.outbox.list()</code>.</p>
<div class="row">
${form(request, '/dashboard/send-again', html`<button>Send it again</button>`)}
<a class="button" href="/dashboard">To your account</a>
</div>
</section>`;
  return page('Check your e-mail', content);
}

/** `1,000` */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 Feb 2026, 00:00 UTC` */
export function formatTime(at: number): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}">${FORMAT.format(date)} UTC</time>`;
}

const FORMAT = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'short' });
