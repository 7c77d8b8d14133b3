/** Calls the service at its argument in a process of its own: Node reads NODE_EXTRA_CA_CERTS once, at its start. */
import { FxRates } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

const [baseUrl] = process.argv.slice(2);

process.stdout.write(JSON.stringify(await new FxRates({ baseUrl, apiKey: API_KEY }).latest()));
