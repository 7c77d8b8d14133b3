import { main } from './generator/main.ts';

process.exitCode = await main(process.argv.slice(2), (line) => process.stderr.write(`${line}\n`));
