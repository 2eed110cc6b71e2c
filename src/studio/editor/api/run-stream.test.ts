import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { errorFromReply, unreachable } from '../../api/api-error.ts'
import { eventReader, isRefused, pause } from '../runs/use-run-events.ts'

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

test.each([
  ['who may not see runs', errorFromReply(403, '{}'), true],
  ['a blueprint that is gone', errorFromReply(404, '{}'), true],
  ['too many requests', errorFromReply(429, '{"error":"RATE_LIMITED","message":"Wait."}'), false],
  ['a server that is busy', errorFromReply(503, '{}'), false],
  ['no server', unreachable(), false],
  ['a stream that broke', new TypeError('network error'), false],
])('%s: asked for runs for the last time: %s', (_what, error, refused) => {
  expect(isRefused(error)).toBe(refused)
})

test('a pause leaves nothing at the signal, whether it is over or ended', async () => {
  const abort = new AbortController()
  await pause(0, abort.signal)
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  const ended = pause(1e9, abort.signal)
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1)
  abort.abort()
  await ended
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
})
