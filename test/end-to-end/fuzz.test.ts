/** The short form of `npm run torture -- --only fuzz`: every operation of the OpenAPI document some times, with one seed. */
import { expect, inject, test } from 'vitest'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { openFuzzServerOn } from '../torture/fuzz/fuzz-server.ts'
import { runFuzz } from '../torture/fuzz/run-fuzz.ts'
import { randomSource } from '../torture/random-source.ts'

const ROUNDS = 3

/** How long a turn took says more about the machine here: `npm run torture -- --only fuzz` measures it. */
const untimed = { outcome: () => ({ failures: [], figures: {} }) }

test('good, bad and hostile requests are answered as the OpenAPI document says', async () => {
  const temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  const server = await openFuzzServerOn({ url: temporary?.url })
  try {
    const { address } = server
    let rounds = 0
    const more = () => rounds++ < ROUNDS
    const random = randomSource(1, 'fuzz')
    const result = await runFuzz({ address, guard: untimed, random, documents: 200, more, patience: 60_000 })
    expect(result.failures).toEqual([])
    expect(result.checked).toBeGreaterThan(200)
    expect(result.figures['operations that succeeded']).toBeGreaterThan(20)
    expect(result.figures['in a space']).toBeGreaterThan(2)
    expect(result.figures['with guids of another space']).toBeGreaterThan(20)
    expect(result.figures['of agents']).toBeGreaterThan(10)
  } finally {
    await server.close()
    await temporary?.drop()
  }
})
