/**
 * Plays scenes in a process of its own, because the first to use undici decides who owns the global dispatcher.
 * Arguments: the URL of the server, and the scenes. Prints their endings as one line of JSON.
 */
import { play, type Scene } from '../../helpers/dispatcher-scenes.ts';

const [url = '', ...scenes] = process.argv.slice(2);
const endings: Record<string, unknown> = {};
for (const scene of scenes) endings[scene] = await play(scene as Scene, url);
process.stdout.write(`${JSON.stringify(endings)}\n`);
process.exit(0);
