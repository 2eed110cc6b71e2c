/**
 * A value now, or a promise of it. SQLite answers at once, PostgreSQL later; a flow that never waits then runs in one
 * turn of the event loop, without a microtask per block.
 */
export type MaybePromise<T> = T | Promise<T>

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/** `next` on the value: at once if it is there, later if it is not. Throws or rejects as `next` does. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** What `work` gives; if it throws or rejects, what `handle` makes of the error. */
export function recover<T, U>(
  work: () => MaybePromise<T>,
  handle: (error: unknown) => MaybePromise<U>,
): MaybePromise<T | U> {
  try {
    const value = work()
    return value instanceof Promise ? value.catch(handle) : value
  } catch (error) {
    return handle(error)
  }
}
