/** Over a real socket with the transport that the client chooses by itself: run by each runtime, and bundled. */
import { FxRates } from 'fxrates';

async function main() {
  const { plan } = await new FxRates({ maxRetries: 0 }).quota();
  if (plan !== 'free') throw new Error(`plan ${plan}`);
}

void main(); // a rejection ends the process with exit code 1
