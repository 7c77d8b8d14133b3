/** Tells the clocks of a mock whether requests come through sockets, where they are on their way for a while unseen. */
export class SocketUse {
  #expecting = 0;

  get areInUse(): boolean {
    return this.#expecting > 0;
  }

  /** Gives a function that ends it. */
  expect(): () => void {
    this.#expecting += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#expecting -= 1;
      isOver = true;
    };
  }
}
