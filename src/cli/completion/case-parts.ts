import { allCommands, type CommandNode } from '../command-tree.ts';
import {
  argumentCandidates,
  type Candidate,
  indented,
  offers,
  optionCandidates,
  type ValueRule,
  valueRules,
  wordsOf,
} from './script-parts.ts';

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
export interface CaseParts {
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
