import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import type { JsonValue } from '../../shared/json.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_form.ts'

const submit = (label: string) => ({ kind: 'button', action: 'submit', label, tone: 'primary' }) as const

test.each(['', 'a b', '1a', '"><script>', 'a'.repeat(65)])('the name %j is refused', async (form_id) => {
  await expect(runBlock(block, { inputs: { form_id } })).rejects.toThrow()
})

test('a storage of Quoin itself is refused', async () => {
  await expect(runBlock(block, { inputs: { form_id: 'a', storage: '_users' } })).rejects.toThrow(
    'starts with _',
  )
})

test('it holds its content and a button, and gives nothing of its event by itself', async () => {
  const content = appendNode(undefined, { kind: 'text', text: 'in it' })
  const inputs = { form_id: 'task', content, document: { a: 1 }, storage: 'tasks', label: 'A task' }
  const { outputs } = await runBlock(block, { inputs })
  expect(outputs).toEqual({
    state: {
      before: undefined,
      node: {
        kind: 'form',
        id: 'task',
        block: '',
        label: 'A task',
        storage: 'tasks',
        document: { a: 1 },
        content: [{ kind: 'text', text: 'in it' }, submit('Save')],
      },
    },
  })
})

test('a submit button of the content, also deep inside, is the only one', async () => {
  const content = appendNode(undefined, { kind: 'columns', columns: [[submit('Go')]] })
  const { outputs } = await runBlock(block, { inputs: { form_id: 'a', content } })
  expect(outputs).toMatchObject({
    state: { node: { content: [{ kind: 'columns', columns: [[submit('Go')]] }] } },
  })
})

test('it lists its inputs itself, above its content', async () => {
  const content = appendNode(undefined, { kind: 'text', text: 'below' })
  const listed = ['title', { field: 'amount', label: 'Euros', type: 'number', min: 0, help: null }]
  const { outputs } = await runBlock(block, { inputs: { form_id: 'a', inputs: listed, content } })
  expect(outputs).toMatchObject({
    state: {
      node: {
        content: [
          { kind: 'input', name: 'title', label: 'Title', type: 'auto' },
          { kind: 'input', name: 'amount', label: 'Euros', type: 'number', min: 0 },
          { kind: 'text', text: 'below' },
          submit('Save'),
        ],
      },
    },
  })
})

test.each<[JsonValue, string]>([
  [[1], 'must contain names of fields'],
  [[{ label: 'A' }], 'must contain names of fields'],
  [['a..b'], 'which is not a field name'],
  [['_csrf'], 'which starts with _'],
  [['a', { field: 'a' }], 'has the field "a" twice'],
  [[{ field: 'a', lable: 'A' }], 'has the field "a" with the unknown key lable (did you mean label?)'],
  [[{ field: 'a', constructor: 1 }], 'has the field "a" with the unknown key constructor'],
  [[{ field: 'a', type: 'telepathy' }], 'has the field "a", whose type must be one of text, line, number'],
  [[{ field: 'a', required: 'yes' }], 'whose required must be true or false'],
  [[{ field: 'a', max_length: 0 }], 'whose max_length must be a whole number of at least 1'],
  [[{ field: 'a', options: [[1]] }], 'whose options must contain values'],
  [[{ field: 'a', storage: '_users' }], 'starts with _'],
  [Array.from({ length: 201 }, (_, index) => `f${index}`), 'must be at most 200 and are 201'],
  [
    [{ field: 'size', type: 'choice', options: '=env.SIZES' }],
    'must be a list: an expression is the whole pin',
  ],
])('the inputs %j are refused, before a visitor sees them', async (inputs, message) => {
  await expect(runBlock(block, { inputs: { form_id: 'a', inputs } })).rejects.toThrow(message)
  expect(() => block.check?.({ inputs: Array.isArray(inputs) ? inputs : [] }, {})).toThrow(message)
})
