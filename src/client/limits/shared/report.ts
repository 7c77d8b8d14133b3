import type { Answer, DatedAnswer, LimitCore, RefusedAnswer } from '../limit-core.ts';

/** What became of a granted call, or what was told of the limit: kept until the store has it, too. */
export type Report =
  | { readonly kind: 'ok'; readonly answer: DatedAnswer }
  | { readonly kind: 'limited'; readonly answer: RefusedAnswer }
  | { readonly kind: 'lost'; readonly answer: Answer }
  | { readonly kind: 'unused' }
  | { readonly kind: 'told'; readonly perMinute: number };

/** Whether a call that was in flight is no more. */
export function endsCall({ kind }: Report): boolean {
  return kind !== 'told';
}

export function tell(core: LimitCore, report: Report): void {
  if (report.kind === 'limited') core.limited(report.answer);
  else if (report.kind === 'told') core.tellLimit(report.perMinute);
  else if (report.kind === 'unused') core.unused();
  else core[report.kind](report.answer);
}

/** The same report by a clock that is `byMs` ahead. */
export function shifted(report: Report, byMs: number): Report {
  if (!('answer' in report)) return report;
  const { now, sentAt } = report.answer;
  return answeredAt(report, { now: now + byMs, sentAt: sentAt + byMs });
}

/** What was answered while others wrote counts as answered after they wrote: all see one order. */
export function answeredBetween(report: Report, earliest: number, latest: number): Report {
  if (!('answer' in report)) return report;
  return answeredAt(report, { now: Math.min(latest, Math.max(earliest, report.answer.now)) });
}

type Answered = Extract<Report, { readonly answer: Answer }>;

function answeredAt(report: Answered, times: Partial<Answer>): Report {
  return { ...report, answer: { ...report.answer, ...times } } as Answered; // the kind stays, and so does its answer
}
