import { render } from 'preact';
import { App } from './app.ts';
import { html } from './html.ts';

const place = document.getElementById('app');
if (place !== null) render(html`<${App} />`, place);
