import { expect, test } from 'vitest'
import type { Checked, Problem } from '../../../shared/api/blueprints/blueprints.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import { type FreshBlocks, problemsOf, shownChecks, withLeftField } from './fresh-blocks.ts'

const problem = (block: string, pin?: string): Problem => ({
  block,
  message: `${pin} is needed`,
  ...(pin !== undefined && { pin }),
})

const flow = new Map([
  ['new', { ...emptyContent, type: 'send_mail', in_pins: [{ id: 'to', value: 'not an address' }] }],
  ['old', { ...emptyContent, type: 'send_mail' }],
])

const checked: Checked = {
  problems: [
    problem('new', 'subject'),
    problem('new', 'html'),
    problem('new', 'to'),
    problem('new'),
    problem('old', 'subject'),
  ],
  notes: [],
}

const fieldsOf = (list: readonly Problem[]) => list.map(({ block, pin }) => `${block} ${pin}`)
const added = new Map([['new', new Set<string>()]])

test.each<[string, FreshBlocks, readonly string[]]>([
  ['no block was added here: all are errors', new Map(), []],
  [
    'empty fields of an added block are needed, a wrong value is an error',
    added,
    ['new subject', 'new html'],
  ],
  ['a field that was left is an error', withLeftField(added, 'new', 'html'), ['new subject']],
])('%s', (_what, fresh, needed) => {
  const shown = shownChecks(checked, flow, fresh, flow)
  expect(fieldsOf(shown.needed)).toEqual(needed)
  const rest = fieldsOf(checked.problems).filter((one) => !needed.includes(one))
  expect(fieldsOf(shown.problems)).toEqual(rest)
})

test('a block lists its errors before what is needed, each with its level', () => {
  const levels = problemsOf(shownChecks(checked, flow, added, flow), 'new').map(({ level, pin }) => [
    level,
    pin,
  ])
  expect(levels).toEqual([
    ['error', 'to'],
    ['error', undefined],
    ['needed', 'subject'],
    ['needed', 'html'],
  ])
})

test('a field of a block that was there before changes nothing when it is left', () => {
  expect(withLeftField(added, 'old', 'subject')).toBe(added)
  const left = withLeftField(added, 'new', 'html')
  expect(withLeftField(left, 'new', 'html')).toBe(left)
})

test('a field that was empty when the blocks were checked is no error once it is filled', () => {
  const empty = new Map([['new', { ...emptyContent, type: 'send_mail' }]])
  for (const fresh of [added, withLeftField(added, 'new', 'to'), new Map()]) {
    const shown = shownChecks(checked, flow, fresh, empty)
    expect([...fieldsOf(shown.problems), ...fieldsOf(shown.needed)]).not.toContain('new to')
  }
  // It was filled then: what is wrong with it stays.
  expect(fieldsOf(shownChecks(checked, flow, added, flow).problems)).toContain('new to')
})
