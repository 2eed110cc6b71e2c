import fc from 'fast-check'
import { test } from 'vitest'
import { tidyBody, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { whereAgreement } from '../../../../test/where-agreement.ts'

test.each([
  ['tidy documents', tidyBody],
  ['untidy documents', untidyBody],
])('a condition finds what it is true for: %s', async (_, bodies) => {
  await fc.assert(whereAgreement(bodies), { numRuns: 300 })
})
