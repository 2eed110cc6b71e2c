import { expectTypeOf, test } from 'vitest'
import type { Database } from './database.ts'
import type { RawDatabase, ValidatedDatabase } from './validated.ts'

test('a database without the rules is refused where they are needed, and one with them where they are put on', () => {
  // Found by the compiler.
  expectTypeOf<RawDatabase>().not.toExtend<ValidatedDatabase>()
  expectTypeOf<ValidatedDatabase>().not.toExtend<RawDatabase>()
  expectTypeOf<Database>().not.toExtend<ValidatedDatabase>()
  expectTypeOf<RawDatabase>().toExtend<Database>()
  expectTypeOf<ValidatedDatabase>().toExtend<Database>()
})
