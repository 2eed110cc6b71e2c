/** Groups of parts, put together, are those of all documents, however they are divided. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aggregatedBodies, someAggregate } from '../../../test/aggregate-agreement.ts'
import { storedDocuments, untidyBody } from '../../../test/arbitrary-documents.ts'
import { groupPlainly } from '../conformance/aggregate-documents.ts'
import { finishAggregate } from './finish-aggregate.ts'
import { canMerge, mergeGroups } from './merge-groups.ts'

test('merged groups are the groups of all', () => {
  const documents = storedDocuments(aggregatedBodies(untidyBody, false))
  const bounds = fc.array(fc.nat(14), { maxLength: 4 }).map((list) => list.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(documents, someAggregate.filter(canMerge), bounds, (all, wanted, cuts) => {
      const parts = [0, ...cuts].map((from, at) => all.slice(from, cuts[at] ?? all.length))
      // A part without documents has no groups, also where the aggregate has no groupings.
      const filled = parts.filter((part) => part.length > 0)
      const merged = mergeGroups(
        wanted,
        filled.map((part) => groupPlainly(part, wanted)),
      )
      expect(finishAggregate(wanted, merged).rows.text).toBe(
        finishAggregate(wanted, groupPlainly(all, wanted)).rows.text,
      )
    }),
    { numRuns: 1_000 },
  )
})
