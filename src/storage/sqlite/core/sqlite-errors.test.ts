/** What the result codes of SQLite become: https://sqlite.org/rescode.html. */
import { expect, test } from 'vitest'
import { QuoinError } from '../../../shared/errors.ts'
import {
  DamagedDatabase,
  isFull,
  isIntegerOverflow,
  isLocked,
  storageError,
  violatedIndex,
} from './sqlite-errors.ts'

const sqlite = (errcode: unknown, message = 'a text with names of columns') =>
  Object.assign(new Error(message), { errcode })

test.each<[string, number, string]>([
  ['SQLITE_BUSY', 5, 'UNAVAILABLE'],
  ['SQLITE_LOCKED', 6, 'UNAVAILABLE'],
  ['SQLITE_READONLY', 8, 'UNAVAILABLE'],
  ['SQLITE_IOERR', 10, 'UNAVAILABLE'],
  ['SQLITE_CORRUPT', 11, 'UNAVAILABLE'],
  ['SQLITE_FULL', 13, 'STORAGE_FULL'],
  ['SQLITE_CANTOPEN', 14, 'UNAVAILABLE'],
  ['SQLITE_TOOBIG', 18, 'INVALID_QUERY'],
  ['SQLITE_NOTADB', 26, 'UNAVAILABLE'],
  ['SQLITE_BUSY_SNAPSHOT, an extended code', 517, 'UNAVAILABLE'],
  ['SQLITE_IOERR_FSYNC, an extended code', 1034, 'UNAVAILABLE'],
])('%s (%i) is %s, without the text of SQLite', (_name, errcode, code) => {
  const error = storageError(sqlite(errcode))
  expect(error).toBeInstanceOf(QuoinError)
  expect(error).toMatchObject({ code })
  expect(String(error)).not.toContain('names of columns')
})

test.each([[1], [7], [19], [2067], [undefined], ['5']])('the code %s is passed on unchanged', (errcode) => {
  const error = sqlite(errcode)
  expect(storageError(error)).toBe(error)
})

test('a damaged file is told from one that cannot be read, and keeps the reason for the log', () => {
  for (const errcode of [11, 26, 267]) {
    const error = storageError(sqlite(errcode, 'malformed'))
    expect(error).toBeInstanceOf(DamagedDatabase)
    expect(error).toMatchObject({ reason: 'malformed' })
  }
  expect(storageError(sqlite(10))).not.toBeInstanceOf(DamagedDatabase)
})

test('the codes that Quoin asks for are told apart', () => {
  const codes = [1, 5, 6, 13, 261, 269]
  expect(codes.filter((code) => isLocked(sqlite(code)))).toEqual([5, 261])
  expect(codes.filter((code) => isFull(sqlite(code)))).toEqual([13, 269])
  expect([isIntegerOverflow(sqlite(1, 'integer overflow')), isIntegerOverflow(sqlite(1))]).toEqual([
    true,
    false,
  ])
  const unique = "UNIQUE constraint failed: index 'ix_1_ab'"
  expect([violatedIndex(sqlite(2067, unique)), violatedIndex(sqlite(1555, unique))]).toEqual([
    'ix_1_ab',
    undefined,
  ])
})
