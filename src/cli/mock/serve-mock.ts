import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { logRequests } from './request-log.ts';
import { type MockOptions, type RunningMock, startMock } from './start-mock.ts';

const DEFAULT_PORT = 4010;

/** Serves until Ctrl-C or SIGTERM. A stdout that is read gets exactly one line, when ready; the rest goes to stderr. */
export async function serveMock(options: MockOptions, invocation: Invocation): Promise<number> {
  const { io, screen, settings } = invocation;
  const mock = await startMock(options, options.port ?? DEFAULT_PORT);
  try {
    await tellHowToUse(mock, options, invocation);
    const { url, key, adminUrl, dashboardUrl } = mock;
    const ready = { url, key, plan: options.plan, pid: io.pid, adminUrl, dashboardUrl };
    // On a terminal that shows stderr too, the URL has been said, and would stand among the requests.
    const isSaid = screen.out.isTTY && screen.err.isTTY && settings.quiet === 0;
    if (screen.isJson) await screen.printWithSecret(`${JSON.stringify(ready)}\n`);
    else if (!isSaid) await screen.printWithSecret(`${url}\n`);
    await logRequests(mock.server, invocation, io.interrupts.signal);
  } finally {
    await mock.close();
  }
  return exitCodes.ok;
}

async function tellHowToUse(mock: RunningMock, { plan }: MockOptions, { screen }: Invocation): Promise<void> {
  if (screen.isJson) return;
  const { url, key, adminUrl, dashboardUrl } = mock;
  const { faint, command } = screen.err.palette;
  const lines = [
    `Mock exchange-rate service (invented rates, plan ${plan}). Ctrl-C stops it. In another terminal:`,
    '',
    `  ${command(`export FXRATES_BASE_URL=${url}`)}`,
    `  ${command(`export FXRATES_API_KEY=${key}`)}`,
    `  ${command('fxrates quota')}`,
    '',
    `Keys and plans:  ${dashboardUrl}`,
    `Clock, switches, journal:  ${adminUrl}`,
    '',
    faint('Requests:'),
  ];
  await screen.infoWithSecret(`${lines.join('\n')}\n`);
}
