import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import { appendNode, type PageNode, type ShownPage } from '../../shared/pages/page-content.ts'
import block from './state_render_page.ts'

const [one, two] = [
  { kind: 'text', text: 'one' },
  { kind: 'text', text: 'two' },
] as const
const state = appendNode(appendNode(undefined, one), two)

function requestOf(takes: boolean, shown: ShownPage[] = []) {
  const show = (page: ShownPage) => shown.push(page) > 0 && takes
  const visit = {
    beginAgain: () => undefined,
    show,
    proceed: () => undefined,
    finish: () => undefined,
    submitted: undefined,
  }
  return requestWith({ visit })
}

test('outside of a page it is refused', async () => {
  await expect(runBlock(block, { inputs: { state } })).rejects.toThrow('only in the flow of a page')
  await expect(runBlock(block, { inputs: { state }, request: requestWith() })).rejects.toThrow(
    'flow of a page',
  )
})

test.each([199, 600, 'many'])('the status %j is refused', async (code) => {
  await expect(runBlock(block, { inputs: { code }, request: requestOf(false) })).rejects.toThrow('must be')
})

test('a page of more parts than can be drawn at once is refused: shared ones count each time', async () => {
  const card = (content: readonly PageNode[]) => ({ kind: 'card', content }) as const
  const hundred = card(Array.from({ length: 99 }, () => one))
  const parts = (cards: number) => appendNode(undefined, card(Array.from({ length: cards }, () => hundred)))
  const ran = runBlock(block, { inputs: { state: parts(200) }, request: requestOf(false) })
  await expect(ran).rejects.toThrow('holds more than 20,000 parts')
  await runBlock(block, { inputs: { state: parts(199) }, request: requestOf(false) })
})

test('what is looked at is the reply, in order', async () => {
  const inputs = { state, title: 'T', template: 'side' }
  const ran = await runBlock(block, { inputs, request: requestOf(false) })
  const page = { kind: 'show', content: [one, two], title: 'T', template: 'side', status: 200 }
  expect(ran.replies).toEqual([{ code: 200, value: undefined, headers: {}, page }])
  expect(ran.next).toBe('flow')
})

test('when something was sent the page is no reply, and nothing follows it', async () => {
  const shown: ShownPage[] = []
  const ran = await runBlock(block, { inputs: { state }, request: requestOf(true, shown) })
  expect([ran.replies, ran.next]).toEqual([[], null])
  expect(shown).toMatchObject([{ content: [one, two], title: undefined, template: undefined }])
})
