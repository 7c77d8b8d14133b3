import { allCommands, type CommandNode, type OptionNode } from '../command-tree.ts';

/** What a script offers; the description is shown where the shell can. */
export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** How the value of an option is completed. */
export interface ValueRule {
  readonly names: readonly string[];
  readonly kind: 'choices' | 'file' | 'profile' | 'free';
  readonly choices: readonly string[];
}

/** Prints the names of the stored profiles; the only thing that a script asks fxrates for. */
export const LIST_PROFILES =
  "fxrates config list 2>/dev/null | sed -n 's/^profiles\\.\\([^.]*\\)\\..*/\\1/p' | sort -u";

/** `auth login`. */
export function wordsOf({ path }: CommandNode): string {
  return path.join(' ');
}

/** What may stand next in place of an option. */
export function argumentCandidates({ commands, argument }: CommandNode): readonly Candidate[] {
  if (commands.length === 0) return (argument?.choices ?? []).map((word) => ({ word, description: '' }));
  return commands.map(({ path, summary }) => ({ word: path.at(-1) ?? '', description: summary }));
}

export function optionCandidates({ options }: CommandNode): readonly Candidate[] {
  return options.flatMap(({ names, description }) => names.map((word) => ({ word, description })));
}

/** What is offered where, with the commands that offer the same taken together; `words` are as `wordsOf` gives them. */
export function offers(
  tree: CommandNode,
  candidatesOf: (command: CommandNode) => readonly Candidate[],
): readonly { readonly words: readonly string[]; readonly candidates: readonly Candidate[] }[] {
  const found = new Map<string, { words: string[]; candidates: readonly Candidate[] }>();
  for (const command of allCommands(tree)) {
    const candidates = candidatesOf(command);
    const offer = found.get(JSON.stringify(candidates)) ?? { words: [], candidates };
    if (candidates.length > 0) found.set(JSON.stringify(candidates), offer);
    offer.words.push(wordsOf(command));
  }
  return [...found.values()];
}

/** The options that take a value, of all commands together: an option of one name is the same everywhere. */
export function valueRules(tree: CommandNode): readonly ValueRule[] {
  const rules = new Map<string, ValueRule>();
  for (const option of allCommands(tree).flatMap(({ options }) => options)) {
    const { names, value, isValueOptional, choices } = option;
    if (value !== undefined && !isValueOptional) rules.set(names.join(), { names, choices, kind: kindOf(option) });
  }
  return [...rules.values()];
}

function kindOf({ names, value, choices }: OptionNode): ValueRule['kind'] {
  if (choices.length > 0) return 'choices';
  if (names.includes('--profile')) return 'profile';
  return value === 'file' ? 'file' : 'free';
}

/** Lines, each `width` further in. */
export function indented(lines: readonly string[], width: number): string {
  return lines.map((line) => ' '.repeat(width) + line).join('\n');
}
