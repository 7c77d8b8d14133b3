import type { IncomingMessage, ServerResponse } from 'node:http';

export async function answerPanel(_i: IncomingMessage, _o: ServerResponse, _p: string): Promise<boolean> {
  return false;
}
