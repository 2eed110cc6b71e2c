import { expect, test } from 'vitest'
import { optionToTake } from './typed-select.ts'

const options = (...texts: readonly string[]) =>
  texts.map((text) => ({ text: text.replace('>', ''), isMarked: text.startsWith('>') }))

test.each([
  ['the marked one', options('Text', '>Reference'), 'ref', 1],
  ['the marked one, whatever is typed', options('>Text', 'Reference'), 'reference', 0],
  ['an equal text before one that only contains it', options('Long text', 'Text'), 'text', 1],
  [
    'the first that contains it, where a server has searched',
    options('Alder', 'Bolt', 'Boltcutter'),
    'ol',
    1,
  ],
  ['none that does not fit: it was found for an earlier key', options('Alder'), 'bo', undefined],
  ['none where nothing was typed', options('Alder'), ' ', undefined],
  ['none of none', [], 'ref', undefined],
])('Enter takes %s', (_, input, typed, taken) => {
  expect(optionToTake(input, typed)).toBe(taken)
})
