import { expect, test } from 'vitest'
import { eventWords } from '../shared/names/event-words.ts'
import { documentEventOf, documentEvents, documentEventWords, isDocumentEvent } from './document-event.ts'

test.each(['', 'created', 'on_restored', 'ON_CREATED', null, 1])('%j is no event', (value) => {
  expect(isDocumentEvent(value)).toBe(false)
})

test.each([
  ['created', ['on_updated', 'on_removed', 'on_deleted'], undefined],
  ['created', ['on_saved', 'on_created'], 'on_created'],
  ['created', ['on_saved'], 'on_saved'],
  ['updated', ['on_created'], undefined],
  ['updated', ['on_saved', 'on_updated'], 'on_updated'],
  ['restored', ['on_created', 'on_removed'], undefined],
  ['restored', ['on_updated'], 'on_updated'],
  ['restored', ['on_saved'], 'on_saved'],
  ['removed', ['on_saved', 'on_updated', 'on_deleted'], undefined],
  ['removed', ['on_removed'], 'on_removed'],
  ['deleted', ['on_removed', 'on_saved'], undefined],
  ['deleted', ['on_deleted'], 'on_deleted'],
] as const)('%s, for a trigger of %j, is %s', (happened, listened, event) => {
  expect(documentEventOf(happened, listened)).toBe(event)
})

test('titles of jobs say events as the studio does', () => {
  for (const event of documentEvents) expect(documentEventWords[event]).toBe(eventWords(event))
})
