import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { guardTurns, LONGEST_TURN_MS } from '../../../test/turn-guard.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { visibleOf, visiblePage } from './visible-page.ts'

/** More than is hidden in one turn. */
const FILL = 'x"\\{}[],'.repeat(8_000)
const stored = (documents: readonly unknown[]) => new StoredJson(JSON.stringify(documents))

describe('a page that is parted', () => {
  test('has the same documents as one that is not, whatever their texts are', async () => {
    const document = fc.dictionary(
      fc.constantFrom('margin', 'a"', '{', '\\', 'n'),
      fc.jsonValue({ maxDepth: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(document, { maxLength: 12 }), fc.nat(12), async (documents, at) => {
        const fill = Array.from({ length: 3 }, (_, n) => ({ fill: FILL, margin: n, deep: { margin: n } }))
        const page = stored([...documents.slice(0, at), ...fill, ...documents.slice(at), ...fill])
        for (const hidden of [['margin'], ['deep.margin', 'n']])
          expect((await visiblePage(page, hidden)).value).toEqual(visibleOf(page, hidden).value)
      }),
      { numRuns: 30 },
    )
  })

  test.each<[string, string]>([
    ['a text', '","open":"never closed'],
    ['a document', '","open":{"n":1}'],
  ])('that ends within %s is an error, and is not read without end', async (_what, rest) => {
    const page = new StoredJson(`[{"margin":1,"fill":"${'x'.repeat(200_000)}${rest}`)
    await expect(async () => visiblePage(page, ['margin'])).rejects.toThrow('A stored page ends within a')
  })

  test('takes no turn of over 50 ms, of 15 MB', async () => {
    const document = {
      title: 'A good',
      margin: 1,
      lines: Array.from({ length: 60 }, (_, n) => ({ n, text: 'a "b"' })),
    }
    const page = stored(Array.from({ length: 10_000 }, () => document))
    expect(page.text.length).toBeGreaterThan(15_000_000)
    // Once before, for the compiler.
    await visiblePage(page, ['margin'])
    const guard = guardTurns()
    let longest = Number.POSITIVE_INFINITY
    // A collection of garbage of all that ran in this process before may fall into one of them.
    for (let tries = 0; tries < 3 && longest >= LONGEST_TURN_MS; tries++) {
      await guard.longest()
      const visible = await visiblePage(page, ['margin'])
      longest = await guard.longest()
      expect(visible.text).not.toContain('margin')
    }
    guard.stop()
    expect(longest).toBeLessThan(LONGEST_TURN_MS)
  })
})
