import { expect, test } from 'vitest'
import { wantsEvents } from '../server/query-parameters.ts'

test.each([
  [undefined, 'none'],
  ['', 'none'],
  ['*/*', 'none'],
  ['text/*', 'none'],
  ['application/json', 'none'],
  ['text/event-streams', 'none'],
  ['text/event-stream;q=0', 'none'],
  ['text/event-stream;q=2', 'none'],
  ['text/event-stream;q=x', 'none'],
  ['application/json, text/event-stream', 'none'],
  ['text/event-stream;q=0.5, application/json', 'none'],
  ['text/event-stream', 'required'],
  ['Text/Event-Stream', 'required'],
  ['text/event-stream; q=0.1', 'required'],
  ['text/event-stream, text/html', 'required'],
  ['text/event-stream, */*;q=0.1', 'possible'],
  ['text/event-stream, application/*', 'possible'],
  ['text/event-stream, application/json;q=0.9', 'possible'],
])('%j: %s', (accept, wish) => {
  expect(wantsEvents(accept)).toBe(wish)
})
