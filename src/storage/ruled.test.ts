import { expectTypeOf, test } from 'vitest'
import type { Database } from './database.ts'
import type { RawDatabase, RuledDatabase } from './ruled.ts'

test('a database without the rules is refused where they are needed, and one with them where they are put on', () => {
  // Found by the compiler.
  expectTypeOf<RawDatabase>().not.toExtend<RuledDatabase>()
  expectTypeOf<RuledDatabase>().not.toExtend<RawDatabase>()
  expectTypeOf<Database>().not.toExtend<RuledDatabase>()
  expectTypeOf<RawDatabase>().toExtend<Database>()
  expectTypeOf<RuledDatabase>().toExtend<Database>()
})
