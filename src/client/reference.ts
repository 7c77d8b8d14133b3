/**
 * An element of a Map or Set that is emptied when it is removed. V8 retains replaced tables of a Map or Set, with their
 * elements, until a full garbage collection; an empty reference retains nothing else. It is a class, because V8 may place
 * object literals that survive a few collections, with their contents, in the memory that only a full collection frees.
 */
export class Reference<Value> {
  value: Value | undefined;

  constructor(value: Value) {
    this.value = value;
  }
}
