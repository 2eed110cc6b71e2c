/** What hands everything on keeps every promise of what it is around. */
import { expectTypeOf, test } from 'vitest'
import { openTemporaryStorage } from '../../test/temporary-storage.ts'
import { describeStorage } from './conformance.ts'
import type { Session, Storage } from './storage.ts'
import { TransparentSession } from './wrapped-session.ts'
import { wrappedStorage } from './wrapped-storage.ts'

const wrapped = (storage: Storage) =>
  wrappedStorage(storage, { session: (origin) => new TransparentSession(storage.session(origin)) })

describeStorage('wrapped', async () => {
  const { storage, clock, reopen, close } = await openTemporaryStorage()
  return {
    storage: wrapped(storage),
    clock,
    reopen: async () => wrapped(await reopen()),
    destroy: close,
  }
})

type Arguments<T> = { [K in keyof T]: T[K] extends (...given: infer Given) => unknown ? Given : never }

test('each argument that a session takes is handed on', () => {
  // Found by the compiler: it lets a method take fewer arguments than its interface says.
  expectTypeOf<Arguments<TransparentSession>>().toEqualTypeOf<Arguments<Required<Session>>>()
})
