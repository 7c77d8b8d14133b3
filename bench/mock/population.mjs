/** The seed decides what keys these are: a mock in another process has the same ones. */
export function populate(mock, { spaces, keys }) {
  for (let space = 0; space < spaces; space += 1) mock.space();
  return Array.from({ length: keys }, () => mock.createKey({ plan: 'unlimited' }).key);
}
