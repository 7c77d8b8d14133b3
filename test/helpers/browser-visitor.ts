import type { Fetch } from '../../src/mock-server/index.ts';

/** Content of one page. */
export interface Visited {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly html: string;
}

/**
 * A browser without a screen. It keeps the cookie, follows redirects explicitly, and sends the forms of the last page.
 */
export class Visitor {
  cookie = '';
  page: Visited = { status: 0, url: '', headers: new Headers(), html: '' };
  readonly #fetch: Fetch;
  readonly #origin: string;

  constructor(origin: string, fetchIt: Fetch = fetch) {
    this.#origin = origin;
    this.#fetch = fetchIt;
  }

  get csrf(): string {
    return /name="csrf" value="(\w+)"/.exec(this.page.html)?.[1] ?? '';
  }

  /** The text between the tags of the page. */
  get text(): string {
    return this.page.html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  }

  open(path: string): Promise<Visited> {
    return this.send(path);
  }

  /** Sends a form with the token of the last page. */
  submit(action: string, fields: Readonly<Record<string, string>> = {}): Promise<Visited> {
    return this.post(action, { csrf: this.csrf, ...fields });
  }

  post(action: string, fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
    return this.send(action, { method: 'POST', headers: form, body: new URLSearchParams(fields).toString() });
  }

  async send(path: string, init: RequestInit = {}): Promise<Visited> {
    const headers = new Headers(init.headers);
    if (this.cookie !== '') headers.set('cookie', this.cookie);
    const response = await this.#fetch(this.#origin + path, { ...init, headers, redirect: 'manual' });
    this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.cookie;
    const location = response.headers.get('location');
    if (location !== null) return this.open(location);
    this.page = { status: response.status, url: path, headers: response.headers, html: await response.text() };
    return this.page;
  }

  async signUp(email = 'ada@example.test', plan = 'free'): Promise<Visited> {
    await this.open('/dashboard');
    return await this.submit('/dashboard/sign-up', { email, plan });
  }
}
