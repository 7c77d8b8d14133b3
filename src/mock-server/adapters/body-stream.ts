import { type Delivery, type MockResponse, piecesOf } from '../http/mock-message.ts';
import { brokenBody } from './broken-connection.ts';

/** A body that arrives as its delivery says: in pieces, or not to the end. */
export function bodyStream(
  response: MockResponse,
  delivery: Delivery,
  gone: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const pieces = piecesOf(response, delivery, gone);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) controller.enqueue(value);
        else if (delivery.ending === 'whole') controller.close();
        else controller.error(brokenBody(delivery.ending));
      } catch {
        // Given up by the reader, or by the mock that was closed.
        controller.error(gone?.aborted ? gone.reason : brokenBody('close'));
      }
    },
    async cancel() {
      await pieces.return();
    },
  });
}
