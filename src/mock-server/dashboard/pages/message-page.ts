import { html } from '../../web/html.ts';
import { type Page, page } from '../dashboard-request.ts';

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
