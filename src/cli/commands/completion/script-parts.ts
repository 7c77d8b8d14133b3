import { allCommands, type CommandNode, type OptionNode } from '../../command-tree.ts';

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
function offers(
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

/** How a shell writes what the scripts of bash and zsh have in common: a walk through the words, by `case`. */
export interface CaseSyntax {
  /** The word under way. */
  readonly current: string;
  /** The head of an arm for any of these patterns. */
  readonly arm: (patterns: readonly string[]) => string;
  /** Takes candidates for what may stand next. */
  readonly offer: (candidates: readonly Candidate[]) => string;
  /** Completes the value of an option. */
  readonly value: (rule: ValueRule) => string;
}

/** The parts of such a script that come from the command tree. */
interface CaseParts {
  readonly optionsWithValue: string;
  readonly commands: string;
  readonly valueArms: string;
  /** Looks up what may stand next: options, or the first argument. */
  readonly lookUp: string;
}

export function caseParts(tree: CommandNode, { current, arm, offer, value }: CaseSyntax): CaseParts {
  const rules = valueRules(tree);
  const commands = tree.commands.flatMap(allCommands).map(wordsOf);
  const arms = (candidatesOf: (command: CommandNode) => readonly Candidate[]) =>
    offers(tree, candidatesOf).map(({ words, candidates }) => {
      return `${arm(words.map(commandPattern))} ${offer(candidates)} ;;`;
    });
  const ofValues = rules.filter(({ kind }) => kind !== 'free').map((rule) => `${arm(rule.names)} ${value(rule)} ;;`);
  return {
    optionsWithValue: arm(rules.flatMap(({ names }) => names)),
    commands: arm(commands.map(commandPattern)),
    valueArms: indented(ofValues, 4),
    lookUp: `if [[ ${current} == -* ]]; then
        case $command in
${indented(arms(optionCandidates), 10)}
        esac
      elif ((arguments == 0)); then
        case $command in
${indented(arms(argumentCandidates), 10)}
        esac
      fi`,
  };
}

/** The script puts a space before each word of a command. */
function commandPattern(words: string): string {
  return words === '' ? "''" : `' ${words}'`;
}
