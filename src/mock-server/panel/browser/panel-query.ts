/** What is looked at, as the address of the page has it: a link shows the same again. */
export interface PanelQuery {
  /** Name of a space; empty for the mock itself. */
  readonly space: string;
  /** `served`, `refused`, or a status; empty for all. */
  readonly status: string;
  /** Id of an operation, or `unknown`. */
  readonly operation: string;
  /** Id of a key, `none` or `unknown`. */
  readonly key: string;
  /** Anywhere in a request. */
  readonly text: string;
}

const NAMES = ['space', 'status', 'operation', 'key', 'text'] as const;

export function readQuery(search: string): PanelQuery {
  const given = new URLSearchParams(search);
  const [space = '', status = '', operation = '', key = '', text = ''] = NAMES.map((name) => given.get(name) ?? '');
  return { space, status, operation, key, text };
}

/** With its question mark; empty if everything is shown. */
export function writeQuery(query: PanelQuery): string {
  const given = new URLSearchParams(
    Object.fromEntries(NAMES.filter((name) => query[name] !== '').map((name) => [name, query[name]])),
  );
  return given.size === 0 ? '' : `?${given}`;
}

export type ChangeQuery = (change: Partial<PanelQuery>) => void;
