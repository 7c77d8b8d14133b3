import { HttpResponse, http } from 'msw';

/** A handler for `/hang` that responds when it is released. */
export function hangingHandler() {
  let release = () => {};
  const handler = http.get('/hang', async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return HttpResponse.json({});
  });
  return { handler, release: () => release() };
}
