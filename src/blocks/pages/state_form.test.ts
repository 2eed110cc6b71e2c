import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/page-content.ts'
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
