import { expect, test } from 'vitest'
import { atOnce } from '../../../shared/in-turns.ts'
import { KnownWords } from './known-words.ts'

const like = (words: KnownWords, token: string) =>
  [...(words.like(token, 1) ?? ['not known'])].sort().join(' ')

test('words that a misspelled one may be are looked for once, and those that are added later are told', () => {
  const words = new KnownWords()
  atOnce(words.add(['apple', 'ample', 'pear', 'ape']))
  expect(like(words, 'aple')).toBe('not known')
  atOnce(words.find('aple', 1))
  expect(like(words, 'aple')).toBe('ample ape apple')
  atOnce(words.add(['aplee', 'maple']))
  expect(like(words, 'aple')).toBe('ample ape aplee apple')
})

test('words that are added between two steps of looking are found', () => {
  const words = new KnownWords()
  atOnce(words.add(Array.from({ length: 3_000 }, (_, at) => `a${at}`)))
  const looking = words.find('aple', 1)
  expect(looking.next().done).toBe(false)
  atOnce(words.add(['apple', 'pear']))
  while (!looking.next().done);
  expect(like(words, 'aple')).toBe('apple')
})

test('where there are too many it tells nothing, also of what it has told before', () => {
  const words = new KnownWords(3)
  atOnce(words.add(['apple', 'ample', 'pear']))
  atOnce(words.find('aple', 1))
  expect([like(words, 'aple'), words.isFull]).toEqual(['ample apple', false])
  atOnce(words.add(['aplee', 'apl']))
  expect([like(words, 'aple'), words.isFull]).toEqual(['not known', true])
  atOnce(words.find('aple', 1))
  expect(like(words, 'aple')).toBe('not known')
})
