import { expect } from 'vitest'

/** Milliseconds that a busy machine may take to show what a quiet one shows at once. */
const PATIENCE = 20_000

/** Reads again and again until the value is as expected. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: PATIENCE, interval: 30 })
}
