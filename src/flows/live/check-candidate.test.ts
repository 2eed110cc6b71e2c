import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { Block } from '../../shared/blueprint.ts'
import { emptyContent } from '../../shared/empty-content.ts'
import { setFields } from '../../shared/mutation.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { compileBlueprint } from '../compile/compile-blueprint.ts'
import { applyValidationRules } from './check-candidate.ts'
import type { Candidate } from './validation-kinds.ts'
import { createValidationRule, openValidationRules, type Severity } from './validation-rules.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
  await openValidationRules(fixture.database)
})
afterEach(() => fixture.close())

const block: Block = { ...emptyContent, guid: 'k', type: 'storage', fields: { storage: 'orders_2' } }
const { blueprint } = compileBlueprint('b', [block], await loadBlocks())
if (!blueprint) throw new Error('A storage alone compiles.')
const candidate: Candidate = { name: 'Shop', blocks: [block], compiled: blueprint }
const rule = (severity: Severity, message: string) =>
  createValidationRule(
    fixture.database,
    { rule_type: 'naming', parameters: { target: 'storage', pattern: '^[a-z]+$' }, message, severity },
    { guid: 'u', username: 'ann' },
  )
const apply = () => applyValidationRules(fixture.database.session(), candidate)

test('without rules there is nothing to say', async () => {
  expect(await apply()).toEqual({ errors: [], notes: [] })
})

test('errors refuse, warnings and infos are told', async () => {
  await rule('error', 'House')
  await rule('warning', '')
  await rule('info', '')
  const words = 'The storage "orders_2" must fit the pattern ^[a-z]+$.'
  expect(await apply()).toEqual({
    errors: [{ block: '', message: `House (${words})` }],
    notes: [
      { block: '', message: words, level: 'warn' },
      { block: '', message: words, level: 'info' },
    ],
  })
})

test('a rule of a kind that this version does not know says nothing', async () => {
  const fields = setFields({ rule_type: 'of_tomorrow', parameters: {}, severity: 'error' })
  await transact(fixture.database, (session) => session.create(systemStorages.validationRules, fields))
  expect(await apply()).toEqual({ errors: [], notes: [] })
})
