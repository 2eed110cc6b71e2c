import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import block from './state_redirect.ts'

const visit = {
  beginAgain: () => undefined,
  show: () => false,
  proceed: () => undefined,
  finish: () => undefined,
  submitted: undefined,
}
const request = requestWith({ visit })

test('outside of a page there is no redirect', async () => {
  await expect(runBlock(block, { inputs: { url: '/a' }, request: requestWith() })).rejects.toThrow(
    'Only a page',
  )
})

test.each([
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  '//evil.example',
  '/\\evil.example',
  'mailto:a@b.c',
  ' ',
])('%j is refused', async (url) => {
  await expect(runBlock(block, { inputs: { url }, request })).rejects.toThrow('must be a path')
})

test.each(['/tasks?a=1', 'tasks', '?page=2', 'https://example.org/'])('%j is where it goes', async (url) => {
  const { replies } = await runBlock(block, { inputs: { url }, request })
  expect(replies).toMatchObject([{ code: 303, page: { kind: 'redirect', to: url, notice: undefined } }])
})

test('with a message', async () => {
  const { replies } = await runBlock(block, { inputs: { url: '/', message: 'Saved', tone: 'info' }, request })
  expect(replies).toMatchObject([{ page: { notice: { tone: 'info', text: 'Saved' } } }])
})
