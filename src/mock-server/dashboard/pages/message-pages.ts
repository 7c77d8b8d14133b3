import { html } from '../../web/html.ts';
import { type AccountRequest, form, type Page, page } from '../dashboard-request.ts';

interface Message {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

/** A page that only says something, and leads back. */
export function messagePage({ status, title, text }: Message): Page {
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

/** After the sign-up: there is a mail to read first. */
export function checkMailPage(request: AccountRequest): Page {
  const content = html`<section class="card narrow">
<h1>Check your e-mail</h1>
<p>We sent a link to <strong class="break">${request.account.email}</strong>. Follow it to confirm your address; it works
once, within 24 hours.</p>
<p class="note">This is an emulation: no mail leaves this machine. It waits in the
<a href="/__fxrates/outbox">outbox of the control panel</a>, and in <code>mock.outbox.list()</code>.</p>
<div class="row">
${form(request, '/dashboard/send-again', html`<button>Send it again</button>`)}
<a class="button" href="/dashboard">To your account</a>
</div>
</section>`;
  return page('Check your e-mail', content);
}
