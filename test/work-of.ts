/** What a piece of work has the processor calculate and the database do, in order: counted, since a time says more about the machine. */
import nodeCrypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { vi } from 'vitest'
import type { Database } from '../src/storage/database.ts'

/** Hears of each call of a method, which does what it always does. */
function heard<T extends object>(target: T, hear: (method: string, first: unknown) => void): T {
  return new Proxy(target, {
    get(from, key) {
      const value: unknown = Reflect.get(from, key)
      if (typeof value !== 'function') return value
      return (...input: unknown[]) => {
        hear(String(key), input[0])
        return Reflect.apply(value, from, input)
      }
    },
  })
}

/** Of `database` and of the functions that cost: passkeys, and hashes of passwords with their cost. */
export async function workOf<T>(
  database: Database,
  attempt: () => Promise<T>,
): Promise<{ readonly reply: T; readonly work: readonly string[] }> {
  const work: string[] = []
  const { subtle } = crypto
  const methods = ['digest', 'importKey', 'verify'] as const
  for (const method of methods) {
    const original: (...input: never[]) => Promise<unknown> = subtle[method].bind(subtle)
    Object.defineProperty(subtle, method, {
      configurable: true,
      value(...input: never[]) {
        work.push(method)
        return original(...input)
      },
    })
  }
  const hash = nodeCrypto.argon2
  vi.spyOn(nodeCrypto, 'argon2').mockImplementation((algorithm, parameters, callback) => {
    const { memory, passes, parallelism } = parameters
    work.push(`${algorithm} of ${memory} KiB, ${passes} passes, ${parallelism} lanes`)
    hash(algorithm, parameters, callback)
  })
  syncBuiltinESMExports()
  const open = database.session.bind(database)
  vi.spyOn(database, 'session').mockImplementation((...input) =>
    heard(open(...input), (method, first) => {
      work.push(typeof first === 'string' ? `${method} ${first}` : method)
    }),
  )
  try {
    return { reply: await attempt(), work }
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
    for (const method of methods) Reflect.deleteProperty(subtle, method)
  }
}
