// Taken when the module loads: a test that fakes timers later must not stop the mock.
const { setImmediate: runNext, setTimeout: runLater } = globalThis;

/** One turn of the event loop: every promise and every event that is ready gets its go. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => runNext(resolve));
}

/** Milliseconds of real time, in which data on its way through a socket of this machine arrives. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    runLater(resolve, ms);
  });
}

/** Whether the system still owes this process something: a file, a name, a connection, a written byte. */
export function isSystemBusy(): boolean {
  return process.getActiveResourcesInfo().some((resource) => SYSTEM_WORK.test(resource));
}

/** Names of libuv's requests, as opposed to sockets and timers, which may wait for ever. */
const SYSTEM_WORK = /^(?:FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap)/;
