import type { CommandNode } from './command-tree.ts';

/**
 * Every command with its options, and the values of `mock --behaviour`, for help and completion. This loads every
 * command, which is too slow for the TAB key: the build replaces this module by the finished tree.
 */
export async function finishedTree(): Promise<CommandNode> {
  const { programTree } = await import('./program.ts');
  const { createMockServer } = await import('../mock-server/index.ts');
  const known = createMockServer().behaviour.describe();
  const settable = known.filter(({ provenance }) => provenance !== 'documented');
  const values = settable.flatMap(({ name, default: byDefault, alternatives }) =>
    [byDefault, ...alternatives].map((value) => `${name}=${value}`),
  );
  return withChoices(programTree(), '--behaviour', values);
}

function withChoices(tree: CommandNode, name: string, choices: readonly string[]): CommandNode {
  return {
    ...tree,
    options: tree.options.map((option) =>
      option.names.includes(name) ? { ...option, choices: [...option.choices, ...choices] } : option,
    ),
    commands: tree.commands.map((command) => withChoices(command, name, choices)),
  };
}
