/** Starts workerd with the bundled worker and asks it once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const workerd = spawn('workerd', ['serve', 'workerd.capnp', '--control-fd=3'], {
  stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
});
try {
  const [line] = await once(workerd.stdio[3].setEncoding('utf8'), 'data');
  const { port } = JSON.parse(line.split('\n')[0]);
  const plan = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  if (plan !== 'free') throw new Error(plan);
} finally {
  workerd.kill();
}
