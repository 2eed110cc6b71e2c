import { expect, test } from 'vitest'
import { eventReader } from '../runs/use-run-events.ts'

const run = 'event: run\ndata: {"guid":"a"}\n\n'
const found = [{ name: 'run', data: '{"guid":"a"}' }]

test.each([
  ['an event', [run], found],
  ['an event in pieces', [run.slice(0, 9), run.slice(9, 30), run.slice(30)], found],
  ['two at once', [run + run], [...found, ...found]],
  ['an event that is not whole yet', [run.slice(0, -1)], []],
  ['a beat and how long to wait', [': still here\n\nretry: 3000\n\n'], []],
  ['data in two lines', ['data: a\ndata: b\n\n'], [{ name: 'message', data: 'a\nb' }]],
])('%s', (_what, pieces, events) => {
  const read = eventReader()
  expect(pieces.flatMap(read)).toEqual(events)
})
