import { operations } from '../../generated/operations.ts';
import type { QuotaData } from '../../generated/types.ts';
import type { Invocation } from '../invocation.ts';
import { tokens } from '../json/tokens.ts';
import { dataOf, printAnswer } from '../output/print-answer.ts';
import { prettyText } from '../output/print-json.ts';
import { type Answer, askService, type ServiceRequest } from '../service/ask-service.ts';
import { requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import type { Palette } from '../terminal/palette.ts';
import { LiveView } from './live-view.ts';
import { type Budget, budgetPace, refusal } from './pace.ts';
import { watch } from './watch.ts';
import type { WatchRequest } from './watch-options.ts';

type Ask = (request: ServiceRequest) => Promise<Answer>;

/** `latest --watch`: spends of the month only what leaves enough until the reset. Asking for the quota is free. */
export async function watchLatest(
  request: ServiceRequest,
  watching: WatchRequest,
  invocation: Invocation,
): Promise<number> {
  const { settings, io, options } = invocation;
  requireBaseUrl(settings);
  const key = await requireKey(settings, io); // once: stdin cannot be read again
  const ask: Ask = (asked) => askService(asked, invocation, { key });
  let budget = await askBudget(ask);
  const refused = options['force'] === true ? undefined : refusal(watching, budget);
  if (refused !== undefined) throw refused;
  const view = new LiveView(invocation);
  const changes = new Changes(invocation.screen.out.palette);
  const { intervalMs, count } = watching;
  const paceNow = async () => {
    if (intervalMs !== undefined) return { intervalMs, reason: 'as asked' };
    budget = await askBudget(ask).catch(() => budget); // the answer is there, and is not to be lost for this
    return budgetPace(budget);
  };
  const round = async () => {
    const answer = await ask(request);
    const pace = await paceNow();
    const json = dataOf(answer.rawBody);
    await view.show({ ...changes.mark(json), json, pace, print: () => printAnswer(answer, invocation) });
    return pace;
  };
  return watch(invocation, { count, round, onRemark: view.keep });
}

async function askBudget(ask: Ask): Promise<Budget> {
  const { quota: operation } = operations;
  const { data, at } = await ask({ operation, path: operation.path, query: {} });
  const { forecastQuota, granularityMs } = await import('../../client/index.ts');
  const quota = data as QuotaData; // parsed with the schema by the client
  return { quota, forecast: forecastQuota(quota, at), snapshotMs: granularityMs(quota.snapshot_granularity) };
}

/** Marks the numbers that differ from those of the answer before. */
class Changes {
  readonly #palette: Palette;
  #before: readonly string[] = [];

  constructor(palette: Palette) {
    this.#palette = palette;
  }

  mark(json: string): { readonly text: string; readonly remark: string | undefined } {
    const before = this.#before;
    const numbers = [...tokens(json)].flatMap(({ kind, start, end }) =>
      kind === 'number' ? [json.slice(start, end)] : [],
    );
    this.#before = numbers;
    // By position; answers of another shape have nothing to compare.
    const isComparable = before.length === numbers.length;
    let index = 0;
    const text = prettyText(json, this.#palette, (lexeme) => {
      const isChanged = isComparable && before[index] !== lexeme;
      index += 1;
      return isChanged ? this.#palette.heading(lexeme) : lexeme;
    });
    const changedCount = isComparable ? numbers.filter((number, at) => number !== before[at]).length : 0;
    return { text, remark: isComparable ? `${changedCount} changed` : undefined };
  }
}
