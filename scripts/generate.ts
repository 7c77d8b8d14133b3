import { main } from './generator/main.ts';

const args = process.argv.slice(2);
process.exitCode = await main(args, (line) => process.stderr.write(`${line}\n`));
const hasWritten = process.exitCode === 0 && !args.some((arg) => /^--(check|out|help)\b/.test(arg));
// Loads what has just been generated.
if (hasWritten) await import('./reference.ts');
